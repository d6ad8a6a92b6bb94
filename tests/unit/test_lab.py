"""The harness of lab: rows run in their own process, conditions decide, staleness follows the named modules."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace

import pytest

from lab import __main__ as command
from lab import claims
from lab.conditions import DECISIONS, Condition, complaints, conditions, recorded
from lab.found import Cell, Claim, Found, Table
from lab.harness import ROOT, ROWS, TABLE, Record, Task, discover, load, records, same, stands, store
from lab.speed import scale

discover()
LINES = ROWS["promises", "code-lines"]  # needs no corpus and takes a second


def git_status() -> str:
    return subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def any_size(monkeypatch):
    """Let the row pass whatever the size of the lab is."""
    loose = {name: replace(one, bound=1e9) for name, one in conditions().items() if name in LINES.conditions}
    monkeypatch.setattr(command, "conditions", lambda: {**conditions(), **loose})


@pytest.mark.usefixtures("any_size")
def test_a_row_runs_leaves_the_checkout_clean_is_not_run_again_and_is_saved(tmp_path, capsys, monkeypatch):
    store(replace(LINES, name="older"), Record("done", "1 s"), tmp_path / "saved")
    before, folders = git_status(), {"scratch": tmp_path / "scratch", "results": tmp_path / "kept"}
    assert command.main(["promises", "--only", "code-lines"], **folders) == 0
    assert git_status() == before
    assert not folders["results"].exists()
    record = load(LINES, folders["scratch"])
    assert record.status == "done"
    assert record.measures["src"] > 10_000
    assert {"command", "commit", "cpu", "date", "versions", "seconds"} <= set(record.made)
    assert "| code-lines |" in (folders["scratch"] / "promises.md").read_text(encoding="utf-8")
    assert command.main(["promises", "--only", "code-lines"], **folders) == 0
    assert load(LINES, folders["scratch"]) == record
    command.main(["promises", "--only", "code-lines", "--list"], **folders)
    assert "current" in capsys.readouterr().out.splitlines()[-1]
    saved = tmp_path / "saved"
    assert command.main(["promises", "--only", "code-lines", "--save"], scratch=folders["scratch"], results=saved) == 0
    assert sorted(records("promises", saved)) == ["code-lines", "older"]
    assert load(LINES, saved) == record
    assert (saved / "promises.md").exists()
    assert [path.name for path in saved.iterdir() if path.is_dir()] == []
    strict = Condition("code-lines-lab", "lab", "below", 0.0)
    monkeypatch.setattr(command, "conditions", lambda: {**conditions(), "code-lines-lab": strict})
    assert command.main(["promises", "--only", "code-lines"], **folders) == 1


@pytest.mark.parametrize(
    ("record", "verdict"),
    [
        (Record("done", measures={"lab": 5000, "scripts": 700}), "passed"),
        (Record("done", measures={"lab": 5201, "scripts": 700}), "failed: lab 5201, not at most 5200"),
        (Record("done", measures={"src": 1}), "failed: lab was not measured; "),
        (Record("crashed", detail="boom"), "crashed: boom"),
        (None, "no result"),
    ],
)
def test_verdicts(record, verdict):
    assert command.verdict(LINES, record).startswith(verdict)


def test_a_row_without_its_corpora_is_not_run(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("GRAMPUS_DATA", raising=False)
    assert command.main(["promises", "--only", "label-hashes"], scratch=tmp_path, results=tmp_path / "kept") == 0
    assert "not run: set GRAMPUS_DATA" in capsys.readouterr().out


def test_staleness_follows_the_named_modules_only(tmp_path):
    row = replace(LINES, rests_on=("metrics",))
    for module in ("metrics/__init__.py", "metrics/deep/x.py", "cluster/__init__.py"):
        (tmp_path / module).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / module).write_text("x = 1\n")
    key = row.key(root=tmp_path)
    (tmp_path / "cluster" / "__init__.py").write_text("x = 2\n")
    assert row.key(root=tmp_path) == key
    (tmp_path / "metrics" / "deep" / "x.py").write_text("x = 2\n")
    assert row.key(root=tmp_path) != key
    assert row.key(quick=True, root=tmp_path) != row.key(root=tmp_path)
    with pytest.raises(ValueError, match="no module of Grampus"):
        replace(row, rests_on=("nowhere",)).key(root=tmp_path)


def test_a_result_stands_while_its_witness_finds_the_same_answers(tmp_path):
    row, witness = replace(LINES, witness="one-answer"), ROWS["promises", "one-answer"]
    record = Record("done", key="of other sources", answers=row.answers())

    def found(different: int, key: str = "") -> bool:
        store(witness, Record("done", measures={"different": different}, key=key or witness.key()), tmp_path)
        return stands(row, record, tmp_path)

    assert not stands(row, record, tmp_path)  # the witness was not asked
    assert [found(1), found(0, "of other sources"), found(0)] == [False, False, True]
    for other in (replace(record, answers="other"), replace(record, answers="")):
        assert not stands(row, other, tmp_path)
    assert not stands(LINES, record, tmp_path)  # no witness
    assert stands(LINES, replace(record, key=LINES.key()), tmp_path)


def test_what_a_witness_cannot_see_has_none():
    for row in ROWS.values():
        assert row.section != "speed" or not row.witness, row.name
        assert not row.witness or ("promises", row.witness) in ROWS


def test_every_row_names_modules_and_conditions_that_exist():
    known = conditions()
    for row in ROWS.values():
        assert row.sources()
        assert set(row.conditions) <= set(known), row.name
        assert re.fullmatch(r"[a-z0-9-]+", row.name)
    assert set(known) == {name for row in ROWS.values() for name in row.conditions}
    assert {(section, name) for section, rows in TABLE.items() for name in rows} <= set(ROWS)


def test_conditions_are_as_recorded_or_explained():
    assert complaints(conditions(), recorded(), DECISIONS.read_text(encoding="utf-8")) == []


def test_a_weakened_condition_without_a_paragraph_is_caught():
    before = {"speed": Condition("speed", "ratio", "at least", 10), "time": Condition("time", "seconds", "below", 2)}
    weaker = {"speed": replace(before["speed"], bound=9), "time": replace(before["time"], bound=3)}
    assert [text.split()[0] for text in complaints(weaker, before, "")] == ["speed", "time"]
    assert complaints(weaker, before, "Why condition `speed` is 9, and condition `time` is 3: noise.") == []
    stronger = {"speed": replace(before["speed"], bound=11), "time": replace(before["time"], bound=1)}
    assert complaints(stronger, before, "") == []
    assert len(complaints({"speed": before["speed"]}, before, "")) == 1  # one is gone
    turned = {**before, "time": replace(before["time"], quantity="steps")}
    assert len(complaints(turned, before, "")) == 1
    assert complaints({**before, "new": before["time"]}, before, "") == ["new is not in conditions.lock"]


def test_steps_are_kept(tmp_path):
    calls: list[int] = []
    task = Task(store=tmp_path)
    assert [task.step("a/b", lambda: calls.append(1) or [1]) for _ in range(2)] == [[1], [1]]
    assert len(calls) == 1
    assert Task(seed=1, store=tmp_path).step("a/b", lambda: [2]) == [2]


def test_steps_of_older_sources_stand_where_those_computed_anew_are_equal(tmp_path):
    older, calls = Task(store=tmp_path / "older"), []
    for number in range(40):
        older.step(f"step {number}", lambda number=number: [number])
    task = Task(store=tmp_path / "now", before=tmp_path / "older")
    for number in range(40):
        assert task.step(f"step {number}", lambda number=number: calls.append(number) or [number]) == [number]
    assert calls[0] == 0
    assert 4 < len(calls) < 16  # one in 5
    changed = Task(store=tmp_path / "changed", before=tmp_path / "older")
    with pytest.raises(RuntimeError, match="'step 0' has changed"):
        changed.step("step 0", lambda: [-1])
    assert changed.step("a step that is new", lambda: [1]) == [1]


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ({"nmi": [0.5], "seconds": 1.0}, {"nmi": [0.5 + 1e-16], "seconds": 2.0}, True),
        ({"nmi": [0.5]}, {"nmi": [0.5001]}, False),
        ([1, 2], [1], False),
        ({"nmi": 1.0}, {"ari": 1.0}, False),
        ("a", "b", False),
    ],
)
def test_values_of_steps_are_compared_without_times(one, other, equal):
    assert same(one, other) is equal


def test_markdown_of_a_result():
    table = Table("T", ("a|b", "c"), [("x|y", Cell(0.5, 0.55, 0.01)), (None, Cell(0.51, 0.5))])
    found = Found(tables=[table], claims=[Claim("It holds.", False, "no")], notes=["A note."])
    text = found.markdown()
    assert "0.500 ± 0.010 (0.55, -0.050 !)" in text
    assert "x\\|y" in text
    assert "**not held**" in text
    assert found.summary() == "1 of 2 cells within 0.03, 0 of 1 claims held"


@pytest.mark.parametrize("words", [["nothing"], ["--only", "nothing"], ["--quick", "--save"]])
def test_bad_words_are_refused(words, tmp_path):
    with pytest.raises(SystemExit):
        command.main(words, scratch=tmp_path, results=tmp_path)


def test_claims_are_listed_with_their_verdicts(tmp_path):
    sentence = replace(
        LINES, section="papers", name="dominance-a", shows="It holds (§4).", conditions=("code-lines-lab",)
    )
    table = replace(sentence, name="dominance-b", shows="A table.")
    body = Found(claims=[Claim("One.", True, "1 of 1"), Claim("Two.", False, "word " * 50)]).markdown()
    store(sentence, Record("done", "1 s", {"lab": 9e9}, made={"commit": "abc"}), tmp_path)
    store(table, Record("done", measures={"lab": 1.0}, body=body, made={"commit": "def"}), tmp_path)
    text = claims.page([sentence, table], tmp_path)
    assert "1 of 3 held." in text
    assert "| It holds (§4). | **not held** | 1 s | `dominance-a`, abc |" in text
    assert "| One. | held | 1 of 1 | `dominance-b`, def |" in text
    assert "| Two. | **not held** | word word" in text
    assert " … |" in text


def test_a_killer_kills_workers_when_it_is_time(monkeypatch):
    killed = []
    monkeypatch.setattr(scale.os, "kill", lambda victim, _: killed.append(victim))
    monkeypatch.setattr(scale, "family", lambda root: [root, 8, 9])
    monkeypatch.setattr(scale, "_words", lambda one: b"fit.py" if one == 7 else b"spawn_main")
    harm = scale.Killer([1.0, 2.0])
    for seconds in (0.5, 1.5, 1.6, 2.5, 3.0):
        harm(7, seconds)
    assert harm.made == len(killed) == 2
    assert set(killed) <= {8, 9}
    scale.Killer([1.0], whole=True)(7, 1.0)
    assert killed[2:] == [9, 8, 7]
