"""Every command within 80 columns at 50 clusters, with nothing lost; and a bar for every step that takes long."""

import csv
import io
import re
import sys

import numpy as np
import pytest

from grampus.persist import Run
from tests.command import command
from tests.end_to_end.test_command import Terminal

K, EACH = 50, 6
TO_COPY = ("Again: ", "Saved: ", "Page: ")  # lines that are to be copied are not broken


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Documents of 50 topics with long words and long labels, and two runs of them."""
    folder = tmp_path_factory.mktemp("many")
    (folder / "few.toml").write_text("[effort]\nn_splits = 4\n")
    rng = np.random.default_rng(0)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    words = ["".join(rng.choice(letters, size)) for size in rng.integers(6, 15, 8 * K)]
    with (folder / "many.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "body", "section"])
        for topic in range(K):
            own = words[8 * topic : 8 * topic + 8]
            for i in range(EACH):
                table.writerow([f"document-{topic}-{i}", " ".join(rng.choice(own, 12)), f"the section of {own[0]}"])
    common = ["cluster", str(folder / "many.csv"), "--label", "section", "--kernel", "cosine", "--no-stability", "-q"]
    for name, k in (("run", K), ("other", K - 3)):
        assert command(*common, "-k", k, "--out", folder / name) == 0
    return folder


COMMANDS = {
    "cluster": ("cluster", "many.csv", "--label", "section", "--kernel", "cosine", "--no-stability", "-k", str(K)),
    "choose-k": ("choose-k", "many.csv", "--ks", "2-4", "--settings", "few.toml"),
    "evaluate": ("evaluate", "run"),
    "evaluate a source": ("evaluate", "run", "many.csv", "--label", "section"),
    "compare": ("compare", "run", "other"),
    "assign": ("assign", "run", "many.csv"),
    "inspect": ("inspect", "many.csv"),
    "tree": ("tree", "run"),
    "tree of documents": ("tree", "many.csv", "-k", "30"),
    "report": ("report", "run", "--out", "page.html"),
    "doctor": ("doctor",),
    "kernel": ("inspect", "--kernel", "0.5 * cosine|principal(30)|normalise + 0.5 * spectrum(4)|normalise(inf)"),
}


@pytest.fixture
def said(place, capsys, monkeypatch):
    def printed(*words):
        monkeypatch.chdir(place)
        monkeypatch.setenv("COLUMNS", "80")
        status, out = command(*words), capsys.readouterr().out
        assert status == 0, out
        return out

    return printed


def rows_of(out):
    """Rows of a drawn table, each cell in one piece and without blanks."""
    rows = []
    for line in out.splitlines():
        if not line.startswith("│"):
            continue
        cells = [cell.strip() for cell in line.strip("│").split("│")]
        if cells[0] or not rows:
            rows.append(cells)
        else:
            rows[-1] = [a + b for a, b in zip(rows[-1], cells, strict=True)]
    return [[cell.replace(" ", "") for cell in row] for row in rows]


@pytest.mark.parametrize("name", COMMANDS)
def test_it_fits_80_columns(name, said):
    lines = said(*COMMANDS[name]).splitlines()
    assert lines
    assert [line for line in lines if len(line) > 80 and not line.startswith(TO_COPY)] == []


def test_clusters_are_shown_whole(said, place):
    clusters = Run.load(place / "run").evidence.clusters
    rows = rows_of(said(*COMMANDS["cluster"]))
    assert [(int(row[0]), int(row[1])) for row in rows] == [(c.number, c.size) for c in clusters]
    assert [row[2] for row in rows] == [c.name.replace(" ", "") for c in clusters]


def test_classes_and_flows_are_shown_whole(said, place):
    run = Run.load(place / "run")
    rows = rows_of(said(*COMMANDS["evaluate"]))
    assert {row[0] for row in rows} == {value.replace(" ", "") for value in run.documents.classes}
    assert sum(int(count) for row in rows for count in re.findall(r"\((\d+)\)", row[2])) == len(run)
    flows = re.findall(r"│ +(\d+) │ (?:stays|moves) +│", said(*COMMANDS["compare"]))
    assert sum(map(int, flows)) == len(run)


def test_trees_are_shown_whole(said, place):
    out = re.sub(r"[\s│├└─…]", "", said(*COMMANDS["tree"]))
    for branch in Run.load(place / "run").evidence.tree:
        if branch.cluster >= 0:
            assert f"[{branch.cluster}:{branch.name.replace(' ', '')}]{branch.size}document" in out


STEPS = {
    "cluster": {"reading", "reading terms", "clustering", "describing", "drawing the map", "saving", "writing the page",
                "writing the table"},
    "report": {"reading the run", "writing the page"},
    "assign": {"reading the run", "reading", "assigning"},
    "compare": {"reading the runs"},
    "evaluate a source": {"reading"},
    "inspect": {"reading", "reading terms"},
    "choose-k": {"reading", "reading terms"},
}  # fmt: skip


@pytest.mark.parametrize("name", STEPS)
def test_long_steps_have_bars(name, place, monkeypatch, tmp_path):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.chdir(place)
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    words = list(COMMANDS[name])
    if name == "cluster":
        places = {"--out": "run", "--report": "page.html", "--results": "documents.csv"}
        words += [word for option, name in places.items() for word in (option, str(tmp_path / name))]
    status, shown = command(*words), sys.stderr.getvalue()
    assert status == 0, shown
    assert {step for step in STEPS[name] if step not in shown} == set()
