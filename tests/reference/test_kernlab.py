"""kernlab's own numbers: 2,464 values of stringdot (kernlab 0.9.32, R 4.2.2) on 44 pairs of strings."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from grampus.kernels import parse_kernel

RECORDS = json.loads((Path(__file__).parent / "kernlab_stringdot.json").read_text(encoding="utf-8"))["records"]
APPENDS_NEWLINE = {"spectrum", "boundrange", "constant", "exponential"}
OURS = {"sequence": "subsequence"}


def spelling(record) -> str:
    name = OURS.get(record["type"], record["type"])
    parameters = [] if record["length"] is None else [str(record["length"])]
    if record["lambda"] is not None:
        parameters.append(f"decay={record['lambda']!r}")
    return f"{name}({', '.join(parameters)})" if parameters else name


def by_kernel() -> dict[str, list[dict]]:
    groups = defaultdict(list)
    for record in RECORDS:
        groups[spelling(record)].append(record)
    return dict(groups)


GROUPS = by_kernel()


def test_there_are_as_many_records_as_promised():
    assert len(RECORDS) == 2464
    assert sum(map(len, GROUPS.values())) == 2464
    assert len({(r["x"], r["y"]) for r in RECORDS}) == 44


@pytest.mark.parametrize("kernel", GROUPS)
def test_every_value_is_kernlabs(kernel):
    records = GROUPS[kernel]
    end = "\n" if records[0]["type"] in APPENDS_NEWLINE else ""
    strings = sorted({record[side] for record in records for side in "xy"})
    place = {string: i for i, string in enumerate(strings)}
    documents = [string + end for string in strings]
    gram = parse_kernel(kernel).gram(documents)
    K, cross = gram.dense(), parse_kernel(kernel).extend(documents, gram)[0]
    cosine = parse_kernel(kernel + "|normalise").gram(documents).dense()
    for number, record in enumerate(records):
        i, j = place[record["x"]], place[record["y"]]
        expected = [record[key] for key in ("k_xx", "value", "value_yx", "k_yy")]
        for matrix in (K, cross):
            got = [matrix[i, i], matrix[i, j], matrix[j, i], matrix[j, j]]
            np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9)
        if number % 4 == 0:
            alone = parse_kernel(kernel).gram([record["x"] + end, record["y"] + end]).block([0], [1])
            np.testing.assert_allclose(alone, [[record["value"]]], rtol=1e-9, atol=1e-9)
        if record["normalized"] is not None and math.isfinite(record["normalized"]):
            np.testing.assert_allclose(cosine[i, j], record["normalized"], rtol=1e-9, atol=1e-9)
