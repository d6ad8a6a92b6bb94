"""The pages: what a reader could type works, and the notebooks run."""

import json

import pytest

from docs.blocks import ROOT, Block, blocks_of, pages, run_page, sample_folder
from docs.notebooks import notebooks, page, run


@pytest.fixture
def samples():
    with sample_folder() as folder:
        yield folder


@pytest.mark.parametrize("place", pages(), ids=lambda place: str(place.relative_to(ROOT)))
def test_commands_and_code_of_a_page_run(place, samples, monkeypatch):
    monkeypatch.setenv("COLUMNS", "96")
    assert run_page(place, samples) > 0


def test_a_wrong_command_is_noticed(samples, tmp_path):
    place = tmp_path / "page.md"
    place.write_text("```console\n$ grampus cluster nowhere\n```\n")
    with pytest.raises(AssertionError, match="status 1"):
        run_page(place, samples)


def test_kinds_of_blocks(tmp_path):
    place = tmp_path / "page.md"
    place.write_text("```python\n>>> 1\n1\n```\n\n```python\nx = 1\n```\n\n```console\n$ ls\n```\n\n```\nshown\n```\n")
    assert [block.kind for block in blocks_of(place)] == ["doctest", "python", "console", "shown"]
    assert Block("text", "").kind == "shown"


@pytest.mark.parametrize("place", notebooks(), ids=lambda place: place.stem)
def test_notebooks_run_and_their_pages_are_what_they_hold(place):
    stored = json.loads(place.read_text(encoding="utf-8"))
    assert place.with_suffix(".md").read_text(encoding="utf-8") == page(stored, place.stem)
    outputs = [cell.get("outputs") for cell in stored["cells"]]
    done = run(stored)
    kinds = [[sorted(each.get("data", each)) for each in cell.get("outputs", ())] for cell in done["cells"]]
    assert kinds == [[sorted(each.get("data", each)) for each in cell or ()] for cell in outputs]


def test_a_notebook_shows_only_its_own_figures():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.figure()
    done = run({"cells": [{"cell_type": "code", "source": ["1 + 1"]}]})
    assert [sorted(output["data"]) for output in done["cells"][0]["outputs"]] == [["text/plain"]]


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 450


def test_the_pictures_of_the_guide_can_be_drawn(tmp_path):
    from docs.pictures.make import PICTURES, draw

    for name in PICTURES:
        assert draw(name, tmp_path).stat().st_size > 2_000
