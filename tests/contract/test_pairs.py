"""A net: all pairs of options and kinds of input of ``cluster``, and every command that can follow, on small input.

Every command does its work or is refused in one line, leaves nothing half-written, and the runs it saves load. A fault
is reported as the line that shows it, to be pasted. The table is in tests/pairs.py, the input in tests/kinds.py.
"""

from __future__ import annotations

import random
import re

import pytest

from grampus import _native
from grampus.cli import grampus as group
from grampus.cli.settings import known_tables
from tests.pairs import ALWAYS, LEFT_OUT, MORE, TABLE, THEN, Case, Net, clashing, cover, pairs_of

ROWS = cover(TABLE, clashing())
CHUNKS = 24
FIRST: Case = {name: next(iter(values)) for name, values in TABLE.items()} | {"k": "2"}
WILD = 48  # rows of random values, whether they go together or not


@pytest.fixture
def net(tmp_path, record_property):
    """A folder where rows are run; what became of the commands is added up at the end of the session."""
    net = Net(tmp_path)
    yield net
    ends = {0: "done", 1: "refused", 2: "refused"}
    for outcome in net.outcomes:
        record_property(f"{outcome.line.words[0]} {ends.get(outcome.status, 'broken')}", 1)
    record_property("commands with faults", len(net.faults))
    record_property("seconds of processor time", sum(outcome.seconds for outcome in net.outcomes))


def report(net: Net) -> str:
    """Return the lines that broke, to be pasted."""
    return "\n".join(["", *net.faults, f"{len(net.faults)} faults in {len(net.outcomes)} commands"])


def test_the_rows_hold_every_pair_that_goes_together():
    every = {pair for case in ROWS for pair in pairs_of(case)}
    assert not every & clashing()
    values = [(name, value) for name, listed in TABLE.items() for value in listed]
    wanted = {frozenset((one, other)) for one in values for other in values if one[0] != other[0]} - clashing()
    assert every == wanted
    assert len(ROWS) >= 250
    assert cover(TABLE, clashing()) == ROWS


def test_the_table_names_every_option_of_cluster():
    words = [word for values in (*TABLE.values(), *MORE.values()) for value in values.values() for word in value]
    assert {re.split(r"\W", word)[1] for word in words if word.startswith("[")} == set(known_tables())
    named = {word for word in words if word.startswith("-") and word != "-"}
    options = [set(option.opts) for option in group.commands["cluster"].params if option.name != "source"]
    assert [opts for opts in options if not opts & (named | set(LEFT_OUT))] == []
    assert (named | set(LEFT_OUT)) - set().union(*options) == set()
    commands = {line[0] for line in (*ALWAYS, *(line for lines in THEN.values() for line in lines))}
    assert set(group.commands) - commands == {"demo", "doctor", "open"}


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_every_pair(net, chunk):
    firsts = [net.cast(case, number) for number, case in enumerate(ROWS) if number % CHUNKS == chunk]
    assert not net.faults, report(net)
    refused = [f"{first.line}\n    {first.err}" for first in firsts if first.status]
    assert len(refused) <= len(firsts) / 4, "\n".join(refused)  # or the rows would show little


@pytest.mark.slow
def test_pairs_that_clash_are_refused(net):
    for number, pair in enumerate(sorted(map(sorted, clashing()))):
        first = net.cast(FIRST | dict(pair), number)
        if first.status == 0:
            net.faults.append(f"{first.line}\n    works: leave {pair} out of CLASHES")
    assert not net.faults, report(net)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(3))
def test_rows_of_anything(net, chunk):
    rng = random.Random(chunk)
    for number in range(WILD // 3):
        net.cast({name: rng.choice([FIRST[name], *values]) for name, values in TABLE.items()}, number)
    assert not net.faults, report(net)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(6))
def test_rows_on_dask(net, chunk):
    rows = [case for case in ROWS if case["place"] != "memory" and case["output"] != "predicted"]
    net.cast(dict(rows[chunk * len(rows) // 6]) | {"place": "dask", "texts": "plain"}, 0)
    assert not net.faults, report(net)
    assert net.outcomes[0].status == 0, net.outcomes[0].err


def test_a_fault_is_reported_as_the_line_that_shows_it(tmp_path, monkeypatch):
    net, trade = Net(tmp_path), _native.trade

    def wide(indptr, columns, pairs, rng):
        trade(indptr, columns.astype("int64"), pairs, rng)  # as work in parts and other programs have them

    monkeypatch.setattr(_native, "trade", wide)
    net.cast(FIRST | {"k": "chosen"}, 0)
    assert f"cd {net.folder} && grampus cluster plain.jsonl --no-stability -q --out 0/run\n    bug in Gram" in report(
        net
    )
    assert "Error: columns must be int32; got int64. This is a bug in Grampus.\n1 faults in 1 commands" in report(net)
