"""The harness of lab: rows run in their own process, conditions decide, staleness follows the named modules."""

from __future__ import annotations

import json
import random
import re
import subprocess
import threading
import tomllib
from dataclasses import asdict, replace
from unittest.mock import Mock

import pytest

from lab import __main__ as command
from lab import claims
from lab.conditions import DECISIONS, Condition, complaints, conditions, recorded
from lab.found import Cell, Claim, Found, Table
from lab.harness import ROOT, ROWS, Record, Task, discover, load, write
from lab.mutants import mutants, mutated
from lab.promises.mutation import Outcomes, met_by
from lab.speed import scale

discover()
ANMI = ROWS["promises", "anmi"]  # needs no corpus and takes a second


def git_status() -> str:
    return subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_a_row_runs_leaves_the_checkout_clean_and_is_not_run_again(tmp_path, capsys):
    before, folders = git_status(), {"scratch": tmp_path / "scratch", "results": tmp_path / "kept"}
    assert command.main(["promises", "--only", "anmi"], **folders) == 0
    assert git_status() == before
    assert not folders["results"].exists()
    record = load(ANMI, folders["scratch"])
    assert record.status == "done"
    assert record.measures["difference"] < 1e-12
    assert {"command", "commit", "cpu", "date", "versions", "seconds"} <= set(record.made)
    assert "| anmi |" in (folders["scratch"] / "promises.md").read_text(encoding="utf-8")
    made = (folders["scratch"] / "promises" / "anmi.json").stat().st_mtime_ns
    assert command.main(["promises", "--only", "anmi"], **folders) == 0
    assert (folders["scratch"] / "promises" / "anmi.json").stat().st_mtime_ns == made
    command.main(["promises", "--only", "anmi", "--list"], **folders)
    assert "current" in capsys.readouterr().out.splitlines()[-1]


def test_saving_copies_results_and_page(tmp_path):
    assert command.main(["promises", "--only", "anmi", "--save"], scratch=tmp_path / "a", results=tmp_path / "b") == 0
    assert load(ANMI, tmp_path / "b").status == "done"
    assert (tmp_path / "b" / "promises.md").exists()


def test_saving_keeps_what_was_measured_before_and_parts_whose_module_is_gone(tmp_path):
    scratch, kept = tmp_path / "scratch", tmp_path / "kept"
    command.main(["promises", "--only", "anmi"], scratch=scratch, results=kept)
    kept.mkdir()
    gone = "<!-- gone -->\n\n## gone\n\n| row |\n\n### a-table\n\nfigures\n\n<!-- end of gone -->"
    module = ANMI.module.rpartition(".")[2]
    old = f"<!-- {module} -->\n\n## {module}\n\nold\n\n<!-- end of {module} -->"
    (kept / "promises.md").write_text(f"# Title\n\n{old}\n\n{gone}\n", encoding="utf-8")
    for _ in range(2):
        command.main(["promises", "--only", "anmi", "--save"], scratch=scratch, results=kept)
        text = (kept / "promises.md").read_text(encoding="utf-8")
        assert text.count(gone) == 1
        assert "\nold\n" not in text
    assert load(ANMI, kept) == load(ANMI, scratch)


def test_a_row_that_fails_makes_the_command_fail(tmp_path, monkeypatch):
    strict = Condition("anmi-seconds", "seconds", "below", 0.0)
    monkeypatch.setattr(command, "conditions", lambda: {**conditions(), "anmi-seconds": strict})
    assert command.main(["promises", "--only", "anmi"], scratch=tmp_path, results=tmp_path / "kept") == 1


@pytest.mark.parametrize(
    ("record", "verdict"),
    [
        (Record("promises", "anmi", "done", measures={"seconds": 1, "difference": 0}), "passed"),
        (
            Record("promises", "anmi", "done", measures={"seconds": 3, "difference": 0}),
            "failed: seconds 3, not below 2",
        ),
        (Record("promises", "anmi", "done", measures={"peak_mb": 1}), "failed: seconds was not measured; "),
        (Record("promises", "anmi", "crashed", detail="boom"), "crashed: boom"),
        (None, "no result"),
    ],
)
def test_verdicts(record, verdict):
    assert command.verdict(ANMI, record).startswith(verdict)


def test_a_row_without_its_corpora_is_not_run(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("GRAMPUS_DATA", raising=False)
    assert command.main(["promises", "--only", "dominance-ratio"], scratch=tmp_path, results=tmp_path / "kept") == 0
    assert "not run: set GRAMPUS_DATA" in capsys.readouterr().out


def test_staleness_follows_the_named_modules_only(tmp_path):
    for module in ("metrics/__init__.py", "metrics/deep/x.py", "cluster/__init__.py"):
        (tmp_path / module).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / module).write_text("x = 1\n")
    key = ANMI.key(root=tmp_path)
    (tmp_path / "cluster" / "__init__.py").write_text("x = 2\n")
    assert ANMI.key(root=tmp_path) == key
    (tmp_path / "metrics" / "deep" / "x.py").write_text("x = 2\n")
    assert ANMI.key(root=tmp_path) != key
    assert ANMI.key(quick=True, root=tmp_path) != ANMI.key(root=tmp_path)
    with pytest.raises(ValueError, match="no module of Grampus"):
        replace(ANMI, rests_on=("nowhere",)).key(root=tmp_path)


def test_every_row_names_modules_and_conditions_that_exist():
    known = conditions()
    for row in ROWS.values():
        assert row.sources()
        assert set(row.conditions) <= set(known), row.name
        assert re.fullmatch(r"[a-z0-9-]+", row.name)
    assert set(known) == {name for row in ROWS.values() for name in row.conditions}


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


SOURCE = '''"""A docstring with 1 + 1."""
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from x import y
__all__ = ["f" * 2]

@decorated(True)
def f(a: int = 3, b: "x < 2" = None) -> bool:
    """Return 1."""
    if a > 4 and not b:
        raise ValueError(f"{a + 1} is wrong")
    assert a < 5
    a += 1
    return a in b
'''


def test_mutants_change_results_and_nothing_else():
    found = [(one.line, one.kind, one.text) for one in mutants(SOURCE)]
    assert found == [
        (8, "constant", "3 → 4"),
        (10, "condition", "if a > 4 and (not b): → if not (a > 4 and (not b)):"),
        (10, "boolean", "a > 4 and (not b) → a > 4 or not b"),
        (10, "comparison", "a > 4 → a >= 4"),
        (10, "constant", "4 → 5"),
        (13, "arithmetic", "a += 1 → a -= 1"),
        (13, "constant", "1 → 2"),
        (14, "return", "return a in b → return None"),
        (14, "comparison", "a in b → a not in b"),
    ]
    assert len({mutated(SOURCE, one) for one in range(len(found))}) == len(found)
    with pytest.raises(ValueError, match="no mutant 9"):
        mutated(SOURCE, 9)


def test_a_mutant_meets_the_tests_of_its_module():
    table = {"gram": {"tests": ["a"]}, "gram.eigen": {"tests": ["b", "c"]}}
    assert met_by("gram.base", table) == ["tests/a"]
    assert met_by("gram.eigen", table) == ["tests/b", "tests/c"]
    assert met_by("gram.eigenvalues", table) == ["tests/a"]
    known = tomllib.loads((ROOT / "lab" / "promises" / "mutation.toml").read_text(encoding="utf-8"))
    assert [name for entry in known.values() for name in entry["tests"] if not (ROOT / "tests" / name).exists()] == []


def test_an_outcome_is_kept_while_what_it_rests_on_is_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr("lab.promises.mutation.ROOT", tmp_path)
    tests = ["one.py", "two.py"]
    for name in tests:
        (tmp_path / name).write_text("1")
    record = Outcomes(tmp_path / "kept")
    record.save("source", 0, tests, "one.py::test")
    record.save("source", 1, tests, "")
    (tmp_path / "two.py").write_text("2")
    assert record.load("source", 0, tests) == "one.py::test"
    assert record.load("source", 1, tests) is None
    assert record.load("other", 0, tests) is None
    (tmp_path / "one.py").write_text("2")
    assert record.load("source", 0, tests) is None


def test_claims_are_listed_with_their_verdicts(tmp_path):
    sentence = replace(ANMI, section="papers", name="dominance-a", text="It holds (§4).", conditions=("anmi-seconds",))
    table = replace(sentence, name="dominance-b", text="A table.")
    body = Found(claims=[Claim("One.", True, "1 of 1"), Claim("Two.", False, "word " * 50)]).markdown()
    for row, record in (
        (sentence, Record("papers", sentence.name, "done", "1 s", {"seconds": 9.0}, made={"commit": "abc"})),
        (table, Record("papers", table.name, "done", measures={"seconds": 1.0}, body=body, made={"commit": "def"})),
    ):
        write(tmp_path / "papers" / f"{row.name}.json", json.dumps(asdict(record)))
    text = claims.page([sentence, table], tmp_path)
    assert "1 of 3 held." in text
    assert "| It holds (§4). | **not held** | 1 s | `dominance-a`, abc |" in text
    assert "| One. | held | 1 of 1 | `dominance-b`, def |" in text
    assert "| Two. | **not held** | word word" in text
    assert " … |" in text
    text = claims.page([sentence, replace(table, name="dominance-c")], tmp_path)
    assert "| abc | – | `dominance-a` |\n| not run yet | – | `dominance-c` |" in text


@pytest.mark.parametrize("ended", [None, 0])
def test_workers_are_killed_when_they_are_connected_and_not_before(tmp_path, ended):
    process, ready, seen, polls = Mock(), tmp_path / "ready", [], iter([None] * 3)
    process.poll.side_effect = lambda: next(polls, ended)
    timer = threading.Timer(0.1, ready.touch)
    if ended is None:
        timer.start()
    scale._harm(process, ready, lambda one: seen.append((one, ready.exists())))
    assert seen == ([(process, True)] if ended is None else [])
    timer.cancel()


def test_a_killer_counts_its_victims(monkeypatch):
    killed, process = [], Mock(pid=7)
    process.poll.return_value = None
    monkeypatch.setattr(scale.time, "sleep", lambda seconds: None)
    monkeypatch.setattr(scale.os, "kill", lambda victim, _: killed.append(victim))
    monkeypatch.setattr(scale, "family", lambda root: [root, 8, 9])
    monkeypatch.setattr(scale, "_words", lambda one: b"fit.py" if one == 7 else b"spawn_main")
    harm = scale.Killer(5, 10.0, random.Random(0))
    harm(process)
    assert harm.made == len(killed) == 5
    assert set(killed) <= {8, 9}
