"""A thousand mutated files per reader: a corpus or a one-line CorpusError, nothing else, and soon."""

from __future__ import annotations

import random

import pytest

from verify.issue_02_text import READERS, fuzz_reader, mutate

INPUTS = 1000


@pytest.mark.parametrize("name", READERS)
def test_fuzzed_files(name):
    for module in {"parquet": ["pyarrow"], "duckdb": ["duckdb"]}.get(name, []):
        pytest.importorskip(module)
    found = fuzz_reader(name, INPUTS, seed=1)
    assert found["corpora"] + found["errors"] == INPUTS
    assert found["errors"] > 0
    assert found["corpora"] > 0
    assert found["slowest_seconds"] < 10


def test_mutation_changes_files():
    rng = random.Random(0)
    data = bytes(range(256))
    assert sum(mutate(data, rng) != data for _ in range(200)) > 150
