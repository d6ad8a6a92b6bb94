"""The command on patterns of files, in memory and in parts."""

from __future__ import annotations

import json

import numpy as np
import pytest

from grampus.cli import main
from grampus.errors import InputError

TOPICS = (["whale", "song", "ocean", "krill", "fluke"], ["bird", "nest", "branch", "egg", "feather"])


@pytest.fixture
def news(tmp_path):
    rng = np.random.default_rng(0)
    for number in range(3):
        words = [" ".join(rng.choice(TOPICS[at % 2], 6)) for at in range(40)]
        lines = "\n".join(json.dumps({"text": text}) for text in words)
        (tmp_path / f"part-{number}.jsonl").write_text(lines, encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(capsys):
    def run(*words):
        """Run the command in this process; return its status and all that it printed."""
        with pytest.raises(SystemExit) as stop:
            main(["cluster", *map(str, words)])
        seen = capsys.readouterr()
        return stop.value.code, seen.out + seen.err

    return run


def test_a_pattern_is_clustered_in_parts_and_in_memory(news, run):
    pytest.importorskip("pyarrow")
    given = (news / "*.jsonl", "-k", "2", "--no-stability")
    status, out = run(*given, "--scratch", news / "scratch", "--out", news / "run", "--tables", news / "all.parquet")
    assert (status, "Working in parts on disk" in out) == (0, True), out
    assert "120 documents from" in out
    assert len(list((news / "all.parquet").iterdir())) == 3
    assert not (news / "scratch").exists()
    status, out = run(*given)
    assert (status, "parts" in out) == (0, False), out


@pytest.mark.parametrize("options", [("--scratch", "s"), pytest.param(("--dask", "local"), marks=pytest.mark.slow)])
def test_parts_choose_the_number_of_clusters(news, run, monkeypatch, options):
    if "--dask" in options:
        pytest.importorskip("distributed")
    monkeypatch.chdir(news)
    status, out = run("*.jsonl", *options)
    assert (status, "2 clusters" in out) == (0, True), out
    assert not (news / "s").exists()


@pytest.mark.parametrize("made_before", [False, True])
def test_an_error_leaves_no_scratch(news, run, monkeypatch, made_before):
    def fails(*_, **__):
        raise InputError("There is nothing to cluster.")

    monkeypatch.setattr("grampus.documents.in_parts.kmeans_parts", fails)
    scratch = news / "s"
    if made_before:
        scratch.mkdir()
    status, out = run(news / "*.jsonl", "-k", "2", "--scratch", scratch)
    assert (status, "There is nothing to cluster." in out) == (1, True), out
    assert (list(scratch.iterdir()) == []) if made_before else not scratch.exists()


def test_a_dry_run_in_parts_predicts_and_stops(news, run):
    given = (news / "*.jsonl", "-k", "2", "--scratch", news / "scratch", "--dry-run", "--out", news / "run")
    status, out = run(*given)
    assert (status, out.startswith("Working in parts on disk")) == (0, True), out
    assert list(json.loads(run(*given, "--json")[1])) == ["plan"]
    assert not (news / "run").exists()
    assert not (news / "scratch").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--tables", "all"), "--tables cannot be used in memory"),
        (("--scratch", "s", "--results", "a.csv"), "--results cannot be used in parts"),
        (("--scratch", "s", "--kernel", "cosine|shift"), "In parts the kernel must be"),
    ],
)
def test_what_does_not_go_together_is_one_line(news, run, monkeypatch, options, message):
    monkeypatch.chdir(news)
    status, out = run("*.jsonl", "-k", "2", *options)
    assert status in (1, 2)
    assert len(out.splitlines()) == 1
    assert message in out
    assert not (news / "s").exists()


def test_standard_input_has_no_parts(news, run):
    assert "--scratch and --dask need a file" in run("-", "--scratch", news)[1]
