"""The reference lists every public name."""

from __future__ import annotations

import importlib
import re
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


@pytest.mark.parametrize("name", ["speed", "scale", "pages"])
def test_figures_are_those_of_the_committed_results(name):
    from docs.figures import filled

    page, text = filled(name)
    assert page.read_text(encoding="utf-8") == text  # python -m docs.figures writes it anew


def test_figures_know_their_sources():
    from benchmarks.registry import discover as rows
    from docs.figures import PAGES as PAGES_OF_REPORTS
    from docs.figures import SCALE, SPEED
    from verify.registry import discover as lines

    known = {line.id for line in lines()} | set(rows())
    assert {source for _, source in (*SPEED, *SCALE, *PAGES_OF_REPORTS)} <= known


@pytest.mark.parametrize("page", [page for page in PAGES if page.stem != "index"], ids=lambda page: page.stem)
def test_the_page_lists_what_the_module_exports(page):
    text = page.read_text(encoding="utf-8")
    modules = re.findall(r"^\.\. currentmodule:: (\S+)$", text, re.MULTILINE)
    assert modules, "a page of the reference names its module"
    listed = set(re.findall(r"^   (\w[\w.]*)$", text, re.MULTILINE))
    exported = {name for module in modules for name in importlib.import_module(module).__all__}
    assert listed == exported
