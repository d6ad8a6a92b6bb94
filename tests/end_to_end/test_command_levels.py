"""Levels whose sizes are asked for, and documents in no cluster, from the command to the page and back."""

from __future__ import annotations

import csv
import json
import re
from itertools import pairwise

import numpy as np
import pytest

from grampus.persist import Run
from tests.command import answer

TOPICS = [[f"{topic}{letter}" for letter in "abcdefghijkl"] for topic in ("whale", "bird", "judge", "rail")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write 120 texts on four topics, and two without a word that counts."""
    rng, folder = np.random.default_rng(0), tmp_path_factory.mktemp("levels")
    rows = [f"d{number},{' '.join(rng.choice(TOPICS[number % 4], 7))}" for number in range(120)]
    (folder / "news.csv").write_text("\n".join(["id,text", *rows, "none1,the of and", "none2,of"]) + "\n")
    (folder / "more.csv").write_text("id,text\nnew,whalea whaleb whalec\nnone3,and the\n")
    return folder


def here(folder, capsys, monkeypatch, *arguments):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "100")
    return answer(capsys, *arguments)


def nests(upper, lower):
    return len(set(zip(upper, lower, strict=True))) == len(set(lower))


@pytest.mark.parametrize("pieces", [(), ("--scratch", "there")])
def test_sizes_from_the_command_to_page_table_tree_and_update(folder, capsys, monkeypatch, pieces):
    line = ["cluster", "news.csv", "--meaning", "off", "--levels", "2,4,8,16", "--level", "fine", "--no-stability"]
    files = ["--out", "run", "--report", "page.html", "--results", "table.csv"]
    status, out, error = here(folder, capsys, monkeypatch, *line, *files[: 4 if pieces else 6], *pieces)
    assert (status, error) == (0, "")
    assert "122 documents from news.csv, 8 clusters, 2 in no cluster" in out
    assert "Next:" in out
    assert "2 documents have no usable word: in no cluster" in out
    page = (folder / "page.html").read_text()
    levels = json.loads(re.search(r'<script[^>]*id="data"[^>]*>(.*?)</script>', page, re.DOTALL)[1])["levels"]
    assert [level["name"] for level in levels] == ["coarse", "middle", "fine", "finest"]
    real = [sum(not cluster.get("none") for cluster in level["clusters"]) for level in levels]
    assert real == [2, 4, 8, 16]
    run = Run.load(folder / "run")
    assert (run.level, run.n_clusters, run.n_unassigned) == ("fine", 8, 2)
    if not pieces:
        with (folder / "table.csv").open() as file:
            rows = list(csv.DictReader(file))
        assert rows[-1]["name"] == rows[-1]["name_coarse"] == "no cluster"
        parts = [
            [row[name] for row in rows] for name in ("cluster_coarse", "cluster_middle", "cluster", "cluster_finest")
        ]
        assert all(nests(upper, lower) for upper, lower in pairwise(parts))
    status, out, _ = here(folder, capsys, monkeypatch, "tree", "run")
    assert status == 0
    status, out, error = here(folder, capsys, monkeypatch, "update", "run", "more.csv")
    assert (status, error) == (0, "")
    later = Run.load(folder / "run")
    assert (later.levels, later.level, later.n_unassigned) == (run.levels, "fine", 3)
    assert nests(later.level_labels("middle"), later.level_labels("finest"))
    status, out, _ = here(folder, capsys, monkeypatch, "assign", "run", "more.csv", "--json")
    assert [one["cluster"] is None for one in json.loads(out)["documents"]] == [False, True]
