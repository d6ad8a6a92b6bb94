"""The runner of reproductions: honest when there is none, and ready for the first."""

from __future__ import annotations

import pytest

from reproductions import __main__ as command
from reproductions import registry


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
def test_what_is_registered_runs(capsys):
    calls = []
    registry.reproduction("paper", "table1", "Some scores.")(lambda quick: calls.append(("table1", quick)))
    registry.reproduction("paper", "table2", "Other scores.")(lambda quick: calls.append(("table2", quick)))
    assert command.main(["--list"]) == 0
    assert capsys.readouterr().out == "paper table1: Some scores.\npaper table2: Other scores.\n"
    assert calls == []
    assert command.main(["paper", "table2", "--quick"]) == 0
    assert command.main([]) == 0
    assert calls == [("table2", True), ("table1", False), ("table2", False)]
    with pytest.raises(SystemExit):
        command.main(["paper", "table3"])
    assert "no reproduction called paper table3" in capsys.readouterr().err
    with pytest.raises(ValueError, match="paper table1 is there already"):
        registry.reproduction("paper", "table1", "Again.")(lambda quick: None)


def test_discovery_finds_the_modules():
    assert registry.discover() == list(registry.REPRODUCTIONS.values())
