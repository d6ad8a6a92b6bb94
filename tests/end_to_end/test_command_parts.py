"""The command on patterns of files: in memory, from a scratch folder, on Dask, and by a sample."""

import json

import numpy as np
import pytest

from grampus.documents.given import large
from grampus.errors import InputError
from grampus.persist import Run
from tests.command import answer

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
        status, out, error = answer(capsys, "cluster", *words)
        return status, out + error

    return run


@pytest.mark.parametrize("k", [("-k", "2"), ()])
@pytest.mark.parametrize("way", [(), ("--scratch", "scratch"), ("--dask", "local")])
def test_a_pattern_is_clustered_alike_on_every_runner(news, run, monkeypatch, k, way):
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(news)
    if "--dask" in way:
        pytest.importorskip("distributed")
    status, out = run("*.jsonl", *k, *way, "--out", "run", "--tables", "all.parquet", "--results", "all.csv")
    assert status == 0, out
    assert "120 documents from *.jsonl" in out
    assert not (news / "scratch").exists()
    labels = Run.load(news / "run").evidence.labels.tolist()
    status, _ = run("*.jsonl", *k, "--out", "plain")
    assert Run.load(news / "plain").evidence.labels.tolist() == labels
    from pyarrow import parquet

    assert parquet.read_table(news / "all.parquet").to_pydict()["cluster"] == labels


def test_a_collection_that_is_too_large_is_clustered_by_a_sample(news, run, monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(news)
    monkeypatch.setattr(large, "HELD_DOCUMENTS", 100)
    monkeypatch.setattr(large, "SAMPLE", 80)
    status, out = run("*.jsonl", "--scratch", "s", "--out", "run", "--report", "page.html", "--tables", "all")
    assert (status, "120 documents from" in out) == (0, True), out
    assert "The clusters were found on 80 different documents of 120" in " ".join(out.split())
    assert len(list((news / "all").iterdir())) == 3
    assert (news / "page.html").exists()
    status, out = run("*.jsonl", "--scratch", "s", "--results", "all.csv")
    assert status == 2
    assert "--results cannot be used for 120 documents; --tables writes results of all" in out
    assert not (news / "s").exists()


@pytest.mark.parametrize("made_before", [False, True])
def test_an_error_leaves_no_scratch(news, run, monkeypatch, made_before):
    def fails(*_, **__):
        raise InputError("There is nothing to cluster.")

    monkeypatch.setattr("grampus.documents.pipeline.run_method", fails)
    scratch = news / "s"
    if made_before:
        scratch.mkdir()
    status, out = run(news / "*.jsonl", "-k", "2", "--scratch", scratch)
    assert (status, "There is nothing to cluster." in out) == (1, True), out
    assert (list(scratch.iterdir()) == []) if made_before else not scratch.exists()


def test_a_dry_run_from_scratch_predicts_and_stops(news, run):
    given = (news / "*.jsonl", "-k", "2", "--scratch", news / "scratch", "--dry-run", "--out", news / "run")
    status, out = run(*given)
    assert (status, "Predicted: about" in out) == (0, True), out
    assert "memory" in json.loads(run(*given, "--json")[1])
    assert not (news / "run").exists()
    assert not (news / "scratch").exists()


def test_standard_input_has_no_parts(news, run):
    assert "--scratch and --dask need a file" in run("-", "--scratch", news)[1]
