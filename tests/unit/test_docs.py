"""The reference lists every public name."""

from __future__ import annotations

import importlib
import inspect
import re
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).parents[2] / "docs" / "api").glob("*.md"))


def test_the_command_reference_is_what_the_help_says():
    from docs.record import COMMANDS, reference

    said, page = reference(), COMMANDS.read_text(encoding="utf-8")
    names = re.compile(r"^  (?:-\w, )?(--[\w-]+)|^## (.+)$", re.MULTILINE)
    assert names.findall(page) == names.findall(said)
    lock = (PAGES[0].parents[2] / "requirements" / "dev.lock").read_text(encoding="utf-8")
    if f"\nclick=={version('click')} " in lock:  # others lay out their help in other ways
        assert page == said  # python -m docs.record writes it anew


def test_figures_are_those_of_the_committed_results():
    from docs.figures import pages, refreshed
    from lab.harness import discover

    discover()
    texts = {page: page.read_text(encoding="utf-8") for page in pages()}
    changed = [str(page) for page, text in texts.items() if refreshed(text) != text]
    assert changed == []  # python -m docs.figures refreshes them
    page = "| what | figure | made by |\n|---|---|---|\n| x | 1 s | `python -m lab speed --only sparse-k-means` |"
    assert ") s |" in refreshed(page)
    assert "×" in refreshed(page.replace("figure", "ratio"))


def test_the_figures_of_the_readme_are_those_of_the_committed_results():
    from lab.harness import RESULTS, ROOT, ROWS, discover, load

    discover()
    items = re.split(r"^- ", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    found = [(item, made) for item in items if (made := re.search(r"`python -m lab (\w+) --only ([\w-]+)`", item))]
    assert len(found) == 4
    for item, made in found:
        shown = re.findall(r"\*\*([-\d][^*]*)\*\*", item)
        record = load(ROWS[made[1], made[2]], RESULTS)
        assert shown
        assert record is not None
        assert [figure for figure in shown if figure not in record.figure] == []


def test_stale_figures_are_listed(monkeypatch):
    from docs import figures
    from lab.harness import ROWS, discover

    discover()
    page = "x (`python -m lab speed --only sparse-k-means`)"
    record = figures.load(ROWS["speed", "sparse-k-means"], figures.RESULTS)
    monkeypatch.setattr(figures, "load", lambda row, place: replace(record, key=row.key()))
    assert figures.stale(page) == []
    monkeypatch.setattr(figures, "load", lambda row, place: replace(record, key="other"))
    assert figures.stale(page) == ["speed sparse-k-means"]


def test_a_release_fails_where_a_page_quotes_a_figure_of_other_code(monkeypatch, tmp_path, capsys):
    from docs import figures
    from lab.harness import ROWS, discover

    discover()
    page = tmp_path / "page.md"
    page.write_text("x (`python -m lab speed --only sparse-k-means`)")
    record = figures.load(ROWS["speed", "sparse-k-means"], figures.RESULTS)
    monkeypatch.setattr(figures, "ROOT", tmp_path)
    monkeypatch.setattr(figures, "pages", lambda: iter([page]))
    for key, status, said in (
        (ROWS["speed", "sparse-k-means"].key(), 0, ""),
        ("other", 1, "page.md: speed sparse-k-means"),
    ):
        monkeypatch.setattr(figures, "load", lambda row, place, key=key: replace(record, key=key))
        assert figures.main(["--stale"]) == status
        assert capsys.readouterr().err.strip() == said


def test_decisions_are_short():
    assert len((PAGES[0].parents[1] / "decisions.md").read_text(encoding="utf-8").split()) <= 5000


@pytest.mark.parametrize("page", [page for page in PAGES if page.stem != "index"], ids=lambda page: page.stem)
def test_the_page_lists_what_the_module_exports(page):
    text = page.read_text(encoding="utf-8")
    modules = re.findall(r"^\.\. currentmodule:: (\S+)$", text, re.MULTILINE)
    assert modules, "a page of the reference names its module"
    listed = set(re.findall(r"^   (\w[\w.]*)$", text, re.MULTILINE))
    exported = {name for module in modules for name in importlib.import_module(module).__all__}
    assert listed == exported


MODULES = [f"grampus.{page.stem}" for page in PAGES if page.stem not in ("index", "grampus")]


def undocumented(function) -> list[str]:
    """Return the parameters of a function that its docstring does not name in its list."""
    doc = inspect.getdoc(function) or ""
    listed = doc.partition("\nParameters\n----------\n")[2].partition("\n\n")[0]
    lines = re.findall(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: : .*)?$", listed, re.MULTILINE)
    names = {name.lstrip("*") for line in lines for name in line.split(", ")}
    return [name for name in inspect.signature(function).parameters if name not in ("self", *names)]


@pytest.mark.parametrize("module", MODULES)
def test_every_public_function_says_what_its_parameters_are(module):
    found = importlib.import_module(module)
    functions = [getattr(found, name) for name in found.__all__ if inspect.isfunction(getattr(found, name))]
    assert {function.__name__: missing for function in functions if (missing := undocumented(function))} == {}


def test_the_check_of_parameters_can_fail():
    def lacking(x, y):
        """Do it.

        Parameters
        ----------
        x : int
            One.
        """

    assert undocumented(lacking) == ["y"]


def test_the_tables_of_peers_are_those_of_the_committed_row():
    from lab.harness import RESULTS, ROOT, ROWS, discover, load

    discover()
    record = load(ROWS["quality", "peers"], RESULTS)
    assert record is not None
    confirming = record.body.partition("choosing half")[0]
    measured = {row[0]: row for line in confirming.splitlines() if len(row := line.strip("| ").split(" | ")) == 11}
    page = (ROOT / "docs" / "peers.md").read_text(encoding="utf-8").replace("**", "")
    page, _, vectors = (
        page.partition("## How well")[2].partition("## What it does")[0].partition("## The number of groups")
    )
    shown = [row for line in page.splitlines() if (row := line.strip("| ").split(" | "))[0] in measured]
    named = [row for row in shown if row[0] != "way"]
    assert {row[0] for row in named} == set(measured) - {"way", "---"}
    for way, *figures in named:
        assert figures == [*measured[way][5 if way.endswith(", k") else 1 : 6], measured[way][9]]
    again = load(ROWS["quality", "levels-vectors"], RESULTS)
    assert again is not None
    confirming = again.body.partition("confirming half")[2].partition("**On vectors")[0]
    measured = {row[0]: row for line in confirming.splitlines() if len(row := line.strip("| ").split(" | ")) == 9}
    named = [row for line in vectors.splitlines() if (row := line.strip("| ").split(" | "))[0] in measured]
    assert {row[0] for row in named} == set(measured) - {"way", "---"}
    for way, *figures in named:
        assert figures == [*measured[way][1:4], *measured[way][5:]]
