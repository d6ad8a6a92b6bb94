"""The runner of reproductions: honest when there is none, and ready for the first."""

from __future__ import annotations

import pytest

from reproductions import __main__ as command
from reproductions import data, registry
from reproductions.outcome import Cell, Claim, Outcome, Table
from reproductions.steps import Steps


@pytest.fixture
def empty(monkeypatch):
    monkeypatch.setattr(registry, "REPRODUCTIONS", {})
    monkeypatch.setattr(command, "discover", lambda: list(registry.REPRODUCTIONS.values()))


@pytest.mark.usefixtures("empty")
@pytest.mark.parametrize("arguments", [[], ["--list"], ["--quick"], ["dominance", "table2"]])
def test_nothing_is_there_yet(capsys, arguments):
    assert command.main(arguments) == 0
    assert capsys.readouterr().out == "No reproduction is written yet.\n"


@pytest.mark.usefixtures("empty")
def test_what_is_registered_runs_and_is_saved(capsys, tmp_path):
    calls = []

    def table1(steps):
        calls.append(("table1", steps.quick))
        table = Table("Scores", ("set", "NMI"), [("bbc", Cell(0.8051, 0.81, 0.002)), ("a|b", Cell(0.7, 0.81))])
        return Outcome([table], [Claim("It rises.", False, "0.7 < 0.8")], ["A note."])

    def table2(steps):
        calls.append(("table2", steps.quick, steps.trials(250, 5)))
        return Outcome()

    places = {"results": tmp_path / "results", "store": tmp_path / "store"}
    registry.reproduction("paper", "table1", "Some scores.")(table1)
    registry.reproduction("paper", "table2", "Other scores.")(table2)
    assert command.main(["--list"], **places) == 0
    assert capsys.readouterr().out == "paper table1: Some scores.\npaper table2: Other scores.\n"
    assert calls == []
    assert command.main(["paper", "table2", "--quick"], **places) == 0
    assert not places["results"].exists()
    assert command.main([], **places) == 0
    assert calls == [("table2", True, 5), ("table1", False), ("table2", False, 250)]
    text = (places["results"] / "paper-table1.md").read_text()
    assert "| bbc | 0.805 ± 0.002 (0.81, -0.005) |" in text
    assert "| a\\|b | 0.700 (0.81, -0.110 !) |" in text
    assert "1 of 2 within 0.03." in text
    assert "| It rises. | **not held** | 0.7 < 0.8 |" in text
    assert "A note." in text
    assert "`python -m reproductions paper table1`, seed 0, commit " in text
    with pytest.raises(SystemExit):
        command.main(["paper", "table3"], **places)
    assert "no reproduction called paper table3" in capsys.readouterr().err
    with pytest.raises(ValueError, match="paper table1 is there already"):
        registry.reproduction("paper", "table1", "Again.")(table1)


@pytest.mark.usefixtures("empty")
def test_missing_data_is_said_and_nothing_is_saved(capsys, tmp_path, monkeypatch):
    monkeypatch.delenv("GRAMPUS_DATA", raising=False)

    def table1(steps):
        data.table("iris")
        return Outcome()

    data.table.cache_clear()
    registry.reproduction("paper", "table1", "Some scores.")(table1)
    assert command.main([], results=tmp_path / "results", store=tmp_path) == 2
    assert "GRAMPUS_DATA names no folder" in capsys.readouterr().err
    assert not (tmp_path / "results").exists()


def test_a_step_is_computed_once(tmp_path):
    calls = []

    def count():
        calls.append(1)
        return {"n": len(calls)}

    first = Steps("paper-table1", store=tmp_path, key="a", say=lambda text: None)
    assert first.step("bbc/DS", count) == first.step("bbc/DS", count) == {"n": 1}
    assert Steps("paper-table1", store=tmp_path, key="b", say=lambda text: None).step("bbc/DS", count) == {"n": 2}
    assert Steps("paper-table1", True, store=tmp_path, key="a", say=lambda text: None).step("bbc/DS", count) == {"n": 3}


def test_discovery_finds_the_modules():
    assert registry.discover() == list(registry.REPRODUCTIONS.values())
