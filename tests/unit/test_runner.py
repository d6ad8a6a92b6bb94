"""Runners and pieces: one answer for every runner, number of workers and cut; and collections too large to be held."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

from grampus import DocumentClusterer, config
from grampus.documents import Guide, cluster_within, keep_answer, update_run
from grampus.documents.given import large
from grampus.errors import CorpusError, InputError, PartsError, RunError
from grampus.run import Processes, Scratch, ThisThread, runner_for, using
from grampus.text import Corpus, TermVectorizer, read_pieces
from grampus.text.spool import Spool, cut_corpus, join_corpora, pack_corpus, unpack_corpus

TOPICS = ("whale song ocean deep krill fluke", "bird nest branch egg feather wing", "train track station signal rail")
GERMAN = "Die Wale sind in allen Meeren der Welt zu Hause und nicht in den Seen, wo es keine gibt."
GOLDEN = Path(__file__).parents[1] / "golden"


def texts(count: int, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    words = [topic.split() for topic in TOPICS]
    common = [f"word{number}" for number in range(40)]
    return [
        " ".join(rng.choice(words[number % 3], 6).tolist() + rng.choice(common, 4).tolist()) for number in range(count)
    ]


def answer(run):
    """Return everything that is found as plain values, floats to the bit."""
    evidence = run.evidence
    arrays = (evidence.labels, evidence.leaves, evidence.second, evidence.margin, evidence.oddness, evidence.stability)
    return (
        [array.tobytes() for array in (*arrays, run.layout.coordinates, evidence.duplicate_similarity)],
        [replace(cluster, stability=None) for cluster in evidence.clusters],
        evidence.tree,
        evidence.levels,
        evidence.choice,
        evidence.warnings,
    )


# -- runners


def test_pieces_are_cut_by_size():
    assert ThisThread().cut([5, 5, 5]) == [slice(0, 3)]
    assert ThisThread(10).cut([5, 5, 5, 5, 50, 1]) == [slice(0, 1), slice(1, 3), slice(3, 4), slice(4, 6)]
    assert ThisThread(10).cut([]) == [slice(0, 0)]


def test_the_runner_follows_size_and_settings():
    assert isinstance(runner_for(10), ThisThread)
    with config(workers=3):
        runner = runner_for(10)
        assert isinstance(runner, Processes)
        assert runner.workers == 3
    with config(workers=1):
        assert isinstance(runner_for(1e12), ThisThread)
    given = ThisThread(7)
    with using(given):
        assert runner_for(1e12) is given


@pytest.mark.parametrize(("cores", "least"), [(1, None), (2, 80e6), (16, 43e6)])
def test_processes_start_where_they_take_over_enough(monkeypatch, cores, least):
    monkeypatch.setattr("grampus.run.runner.core_count", lambda: cores)
    with config(threads=16):
        assert isinstance(runner_for(0.99 * least if least else 1e12), ThisThread)
        assert least is None or runner_for(least).workers == cores


def _joined(piece, sign, table):
    return sign.join(piece) + str(len(table))


@pytest.mark.slow
@pytest.mark.parametrize("size", [10, 200_000])  # what all share travels with each piece, or in a file
def test_processes_keep_the_order_and_share_what_is_large(size):
    found = list(Processes(2).map(_joined, [["a", "b"], ["c"], ["d"]], "-", "x" * size))
    assert found == [f"{text}{size}" for text in ("a-b", "c", "d")]


# -- terms


@pytest.mark.parametrize("piece", [1, 500, 3000])
@pytest.mark.parametrize("options", [{}, {"ngram_range": (1, 2), "max_features": 90}, {"weighting": "tfc"}])
def test_terms_have_the_same_bits_in_pieces(piece, options):
    documents = [*texts(120), "", GERMAN, *[f"{GERMAN} {word}" for word in "abcdefghijkl"]]
    documents += ["Subject: whales\n\nwhale song\n-- \nmy signature"] * 3
    given = {"weighting": "lec", "stop_words": "auto", "stemmer": "auto", "clean": True, "min_df": 2} | options

    def fitted(runner):
        with using(runner):
            words = TermVectorizer(**given)
            prepared = words.prepare(documents)
            rows, new = words.fit_transform(prepared), words.transform(["whales sing of Meere", ""])
        forms = words.forms_
        return (
            [part.tobytes() for part in (rows.data, rows.indices, rows.indptr, new.data, new.indices)],
            list(words.vocabulary_),
            list(forms.words), list(forms.stems), forms.counts.tolist(),
            list(prepared.texts), prepared.language.tolist(), prepared.preparation, prepared.notes(),
        )  # fmt: skip

    assert fitted(ThisThread(piece)) == fitted(ThisThread())


# -- the whole answer


@pytest.fixture(scope="module")
def documents():
    return texts(180)


@pytest.fixture(scope="module")
def whole(documents):
    """The answers in memory, by k."""
    return {k: answer(DocumentClusterer(k).fit(documents).run_) for k in (3, "auto")}


@pytest.mark.parametrize(("k", "piece"), [(3, 1), (3, 5000), ("auto", 1), ("auto", 900)])
def test_the_answer_does_not_depend_on_the_pieces(documents, whole, k, piece):
    with using(ThisThread(piece)):
        assert answer(DocumentClusterer(k).fit(documents).run_) == whole[k]


@pytest.mark.parametrize("k", [3, "auto"])
def test_scratch_changes_nothing_and_is_removed(documents, whole, tmp_path, k):
    found = DocumentClusterer(k).fit(documents, scratch=tmp_path / "new" / "scratch")
    assert answer(found.run_) == whole[k]
    assert not (tmp_path / "new" / "scratch").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "given"),
    [
        ({"kernel": "cosine|shift"}, {}),
        ({"kernel": "gaussian(1)|nystrom(40)"}, {}),
        ({"kernel": "spectrum(3)|normalise"}, {}),
        ({"kernel": "0.5 * cosine|principal(auto)|normalise + 0.5 * cosine@embedding"}, {}),
        ({"embed": lambda some: np.array([[len(text), text.count("a"), text.count("e")] for text in some])}, {}),
        ({"outliers": 0.05}, {}),
        ({"outliers": "auto", "n_clusters": 3}, {}),
        ({"level": "fine"}, {}),
        ({"n_clusters": [2, 5, 12], "level": "fine"}, {}),
        ({"method": "pddp", "n_clusters": 3}, {}),
        ({"method": "spectral", "n_clusters": 3}, {}),
        ({"terms": TermVectorizer("tfc", ngram_range=(1, 2), min_df=2)}, {}),
        ({}, {"guide": Guide(seeds={"Sea": ["whale"], "Air": ["bird"]})}),
        ({"n_clusters": 3}, {"guide": Guide(labels={"1": "Sea", "2": "Air"}, must_link=[("4", "7")])}),
        ({"outliers": 0.05, "level": "fine"}, {"guide": {"Sea": ["whale"]}}),
        ({"kernel": "0.7 * gaussian(1)|nystrom(40) + 0.3 * cosine@embedding", "outliers": "auto"}, {}),
        ({"method": "kernel-kmeans"}, {"guide": Guide(seeds={"Sea": ["whale"]}, cannot_link=[("4", "7")])}),
    ],
)
def test_every_feature_is_the_same_in_memory_and_in_pieces(documents, tmp_path, options, given):
    corpus = Corpus(documents).with_input("embedding", np.random.default_rng(0).normal(size=(180, 8)))
    whole = answer(DocumentClusterer(**options).fit(corpus, **given).run_)
    with using(ThisThread(2000)):
        assert answer(DocumentClusterer(**options).fit(corpus, scratch=tmp_path, **given).run_) == whole


@pytest.mark.parametrize("given", [{}, {"guide": {"Sea": ["whale"]}}])
def test_updates_are_the_same_in_memory_and_in_pieces(documents, tmp_path, given):
    def updated(**options):
        run = DocumentClusterer().fit(documents[:150], **given, **options).run_
        run = update_run(run, documents[150:])
        return answer(update_run(run, delete=["3", "5"]))

    whole = updated()
    with using(ThisThread(2000)):
        assert updated(scratch=tmp_path) == whole


@pytest.mark.slow
def test_parts_and_kept_answers_are_the_same_in_memory_and_in_pieces(documents, tmp_path):
    def followed(**options):
        first = DocumentClusterer(3, outliers=0.05).fit(documents[:150], **options).run_
        inside = cluster_within(first, 0, DocumentClusterer(2))
        return answer(inside), answer(keep_answer(DocumentClusterer(3).fit(documents, **options).run_, first))

    whole = followed()
    with using(ThisThread(2000)):
        assert followed(scratch=tmp_path) == whole


def test_a_worker_that_counts_loads_no_scikit_learn():
    code = "import sys, grampus.run.runner; from grampus.text.terms.prepare import count_apart; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "scipy.sparse" in loaded
    assert not {"sklearn", "pandas", "scipy.stats"} & {*loaded}


@pytest.mark.slow
@pytest.mark.parametrize(("workers", "piece"), [(1, 3000), (2, 3000), (4, 900)])
def test_processes_give_the_same_answer(documents, whole, workers, piece):
    with using(Processes(workers, piece)):
        assert answer(DocumentClusterer().fit(documents).run_) == whole["auto"]


@pytest.mark.slow
def test_dask_workers_give_the_same_answer(documents, monkeypatch):
    pytest.importorskip("distributed")
    from grampus.run.dask import connected

    whole = DocumentClusterer().fit(documents)
    with connected("threads", 2) as client:
        assert answer(DocumentClusterer().fit(documents, client=client).run_) == answer(whole.run_)
        bag = pytest.importorskip("dask.bag").from_sequence(documents, npartitions=3)
        assert DocumentClusterer().fit(bag, client=client).labels_.tolist() == whole.labels_.tolist()
        _hold(monkeypatch, 100)
        few = DocumentClusterer(3).fit(documents).labels_.tolist()
        assert DocumentClusterer(3).fit(documents, client=client).labels_.tolist() == few


# -- collections that are too large to be held


def _hold(monkeypatch, count, sample=90):
    monkeypatch.setattr(large, "HELD_DOCUMENTS", count)
    monkeypatch.setattr(large, "SAMPLE", sample)
    monkeypatch.setattr(large, "PIECE", 50)


def test_a_large_collection_is_clustered_by_a_sample_and_assigned(documents, monkeypatch, tmp_path):
    whole = DocumentClusterer().fit(documents)
    _hold(monkeypatch, 100)
    model = DocumentClusterer().fit([*documents, documents[0]])
    assert len(model.labels_) == 181
    assert model.labels_[180] == model.labels_[0]
    assert len(set(zip(model.labels_.tolist(), [*whole.labels_.tolist(), int(whole.labels_[0])], strict=True))) == 3
    collection = model.run_.provenance.collection
    assert (collection["documents"], sum(collection["sizes"]), collection["shown"]) == (181, 181, 90)
    assert collection["sizes"] == np.bincount(model.labels_).tolist()
    assert any("drawn by content" in note for note in model.run_.evidence.warnings)
    model.save(tmp_path / "run")
    again = DocumentClusterer.load(tmp_path / "run")
    assert again.predict(documents[:20]).tolist() == model.labels_[:20].tolist()
    with pytest.raises(RunError, match="cannot be updated"):
        update_run(model.run_, ["a whale"])


def test_the_sample_depends_on_content_alone(documents, monkeypatch):
    _hold(monkeypatch, 100)
    model = DocumentClusterer(3).fit(documents)
    order = np.random.default_rng(1).permutation(180)
    shuffled = DocumentClusterer(3).fit([documents[at] for at in order])
    assert shuffled.labels_.tolist() == model.labels_[order].tolist()
    monkeypatch.setattr(large, "PIECE", 17)
    assert DocumentClusterer(3).fit(documents).labels_.tolist() == model.labels_.tolist()


def test_outliers_of_a_large_collection_are_in_no_cluster(documents, monkeypatch):
    odd = [f"zebra{number} quark{number} lemma{number}" for number in range(12)]
    _hold(monkeypatch, 100, 150)
    model = DocumentClusterer(3, outliers=0.2).fit([*documents, *odd])
    assert (model.labels_[180:] == -1).mean() > 0.8
    assert (model.labels_[:180] >= 0).mean() > 0.95


def test_levels_of_a_large_collection_nest(documents, monkeypatch, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    _hold(monkeypatch, 100)
    with Spool() as spool:
        spool.read(cut_corpus(Corpus(documents), [slice(0, 60), slice(60, 180)]))
        model = DocumentClusterer([3, 6, 12, 24]).fit(spool)
        large.write_tables(spool, tmp_path / "all", model.run_)
    table = parquet.read_table(tmp_path / "all").to_pydict()
    upper = table["coarse"]
    for name in ("cluster", "fine", "finest"):
        assert len(set(zip(upper, table[name], strict=True))) == len(set(table[name])), name
        upper = table[name]
    assert model.labels_.tolist() == table["cluster"]


def test_a_guide_of_documents_is_refused_for_a_sample(documents, monkeypatch):
    _hold(monkeypatch, 100)
    with pytest.raises(InputError, match="must name words, not documents"):
        DocumentClusterer(3).fit(documents, guide=Guide(labels={"1": "Sea"}))
    model = DocumentClusterer(3).fit(documents, guide=Guide(seeds={"Sea": ["whale"]}))
    assert "Sea" in {cluster.name for cluster in model.clusters_}


@pytest.mark.parametrize("held", [100, 1000])
def test_tables_of_all_documents(documents, monkeypatch, tmp_path, held):
    parquet = pytest.importorskip("pyarrow.parquet")
    _hold(monkeypatch, held)
    with Spool() as spool:
        spool.read(cut_corpus(Corpus(documents), [slice(0, 60), slice(60, 180)]))
        fitted = spool if held == 100 else spool.corpus()
        model = DocumentClusterer().fit(fitted)
        assert large.write_tables(fitted, tmp_path / "all", model.run_) == (2 if held == 100 else 1)
    table = parquet.read_table(tmp_path / "all").to_pydict()
    assert table["id"] == [str(number + 1) for number in range(180)]
    assert table["cluster"] == model.labels_.tolist()
    assert table["copies"][:3] == [1, 1, 1]
    assert table["name"][0] == model.clusters_[table["cluster"][0]].name
    assert min(table["margin"]) >= 0
    assert {"coarse", "fine"} & set(table) == set(model.run_.levels) - {"middle"}
    (tmp_path / "all" / "other.txt").write_text("")
    with pytest.raises(InputError, match="folder of their own"):
        large.write_tables(fitted, tmp_path / "all", model.run_)


def test_runs_that_0_2_made_in_parts_are_read_and_assign():
    model = DocumentClusterer.load(GOLDEN / "run-2-parts")
    assert np.bincount(model.labels_).tolist() == [30, 30, 30]
    assert model.predict(["whale krill fluke", "station rail signal", "egg nest wing"]).tolist() == [1, 2, 0]
    with pytest.raises(RunError, match="cannot be updated"):
        update_run(model.run_, ["a whale"])


# -- pieces and scratch


def test_corpora_are_packed_cut_and_joined():
    corpus = Corpus(["a", "bé", "c"], ["1", "2", "x"], labels=["u", "v", "u"], titles=["A", "B", "C"], notes=["seen"])
    corpus = corpus.with_input("embedding", np.eye(3))
    again = unpack_corpus(pack_corpus(corpus), corpus.source)
    assert again == corpus
    parts = list(cut_corpus(corpus, [slice(0, 1), slice(1, 3)]))
    assert replace(join_corpora(parts, corpus.source), notes=corpus.notes) == corpus


def test_pieces_beyond_the_budget_are_on_disk(documents):
    with config(memory="1MB"), Spool() as spool:
        many = Corpus(documents * 40, [str(at) for at in range(180 * 40)])
        spool.read(cut_corpus(many, [slice(first, first + 900) for first in range(0, 7200, 900)]))
        folder = spool._scratch.folder
        assert folder.is_dir()
        assert spool.corpus().texts == many.texts
    assert not folder.exists()


def test_an_interrupted_job_resumes(documents, tmp_path, monkeypatch):
    lines = (json.dumps({"text": text}) for text in documents)
    (tmp_path / "a.jsonl").write_text("\n".join(lines), encoding="utf-8")
    pieces = read_pieces(tmp_path / "a.jsonl")
    with monkeypatch.context() as patch:
        patch.setattr("grampus.documents.pipeline.choose_ks", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            DocumentClusterer().fit(pieces, scratch=tmp_path / "s")
    assert len(list((tmp_path / "s").iterdir())) == 1
    with monkeypatch.context() as patch:
        patch.setattr("grampus.text.readers.pieces.PieceReader.corpora", Mock(side_effect=AssertionError("read twice")))
        model = DocumentClusterer().fit(pieces, scratch=tmp_path / "s")
    assert model.labels_.tolist() == DocumentClusterer().fit(documents).labels_.tolist()
    assert not (tmp_path / "s").exists() or not list((tmp_path / "s").iterdir())


def test_results_of_an_interrupted_job_are_computed_again(tmp_path):
    pieces = [Corpus(["whale song"], ["a"]), Corpus(["bird nest"], ["b"])]

    def interrupted():
        yield {"cluster": np.array([7])}
        raise KeyboardInterrupt

    first = Spool(tmp_path)
    first.read(pieces)
    with pytest.raises(KeyboardInterrupt), first:
        first.keep("found", interrupted())
    with Spool(tmp_path) as spool:  # the same documents, with other parameters
        spool.read(pieces)
        spool.keep("found", ({"cluster": np.array([place])} for place in range(2)))
        assert [int(record["cluster"][0]) for record in spool.kept("found")] == [0, 1]


def test_other_texts_never_find_an_earlier_job(tmp_path, monkeypatch):
    monkeypatch.setattr("grampus.documents.pipeline.run_method", Mock(side_effect=KeyboardInterrupt))
    for seed in (0, 1):
        with pytest.raises(KeyboardInterrupt):
            DocumentClusterer(2).fit(texts(30, seed), scratch=tmp_path)
    assert len(list(tmp_path.iterdir())) == 2


def test_scratch_holds_records_and_is_removed(tmp_path):
    with Scratch(tmp_path / "new", {"k": 3}) as scratch:
        scratch.write("squares", 0, {"x": np.arange(3)})
        assert scratch.read("squares", 0)["x"].tolist() == [0, 1, 2]
        assert scratch.finished("squares") is None
        scratch.finish("squares", 1)
        assert scratch.finished("squares") == 1
        assert Scratch(tmp_path / "new", {"k": 3}).resumed
        other = Scratch(tmp_path / "new", {"k": 4})
        assert not other.resumed
        other.close()
    assert not (tmp_path / "new").exists()
    with pytest.raises(InputError), Scratch(tmp_path / "new", {}):
        raise InputError("wrong")  # what cannot be mended is not resumed
    assert not (tmp_path / "new").exists()


# -- files


def test_a_file_that_cannot_be_read_is_named_or_skipped(tmp_path):
    good = "\n".join(json.dumps({"text": text}) for text in texts(60))
    (tmp_path / "a.jsonl").write_text(good, encoding="utf-8")
    (tmp_path / "b.jsonl").write_bytes(b'{"text": "broken')
    with pytest.raises(CorpusError, match=r"b\.jsonl"):
        DocumentClusterer(3).fit(read_pieces(tmp_path / "*.jsonl"), scratch=tmp_path / "s")
    found = DocumentClusterer(3).fit(read_pieces(tmp_path / "*.jsonl", skip=True), scratch=tmp_path / "s")
    assert len(found.labels_) == 60
    assert any("b.jsonl was left out" in note for note in found.run_.evidence.warnings)


def test_numbers_run_on_from_piece_to_piece(tmp_path):
    (tmp_path / "a.csv").write_text("text\n" + "\n".join(texts(7)), encoding="utf-8")
    reader = replace(read_pieces(tmp_path / "a.csv").reader, documents=3)
    ids = [list(corpus.ids) for corpus in reader.corpora(str(tmp_path / "a.csv"))]
    assert ids == [["1", "2", "3"], ["4", "5", "6"], ["7"]]


def test_patterns_name_files(tmp_path):
    with pytest.raises(CorpusError, match="must match at least one file"):
        read_pieces(tmp_path / "*.csv")


def test_no_documents_at_all(tmp_path):
    (tmp_path / "a.jsonl").write_text("", encoding="utf-8")
    with pytest.raises((InputError, CorpusError)):
        DocumentClusterer(3).fit(read_pieces(tmp_path / "a.jsonl"), scratch=tmp_path / "s")
    assert not (tmp_path / "s").exists()


# -- Dask


@pytest.mark.slow
def test_workers_that_die_at_the_start_are_one_line(monkeypatch):
    distributed = pytest.importorskip("distributed")
    from grampus.run.dask import connected

    monkeypatch.setattr(distributed, "LocalCluster", Mock(side_effect=RuntimeError("Nanny failed to start.")))
    message = r"could not be started \(Nanny failed to start\.\)\. Run it again"
    with pytest.raises(PartsError, match=message), connected("local", 2):
        pass


@pytest.mark.slow
def test_a_cluster_without_workers_gets_others_and_does_not_hang(monkeypatch):
    distributed = pytest.importorskip("distributed")
    from grampus.run import dask

    looks = []

    def never(futures, timeout):
        looks.append(timeout)
        raise TimeoutError

    monkeypatch.setattr(distributed, "wait", never)
    workers = iter([{"tcp://a": 1}] * 3)
    client = Mock(**{"nthreads.side_effect": lambda: next(workers, {})})
    client.cluster.worker_spec = {0: "a", 1: "b"}
    for ours in (False, True):
        if ours:
            monkeypatch.setitem(dask._own, client.cluster, 2)
        with pytest.raises(PartsError, match=r"^The Dask cluster has had no workers for 300 s\. Run it again\.$"):
            list(dask.OnDask(client).map(len, [[]]))
        assert client.cluster.scale.call_count == (10 if ours else 0)
    client.cluster.scale.assert_called_with(4)
    assert len(looks) == 2 + 30 + 30


@pytest.mark.slow
def test_a_result_that_is_lost_on_its_way_is_waited_for_again(monkeypatch):
    distributed = pytest.importorskip("distributed")
    from grampus.run.dask import OnDask

    monkeypatch.setattr(distributed, "wait", lambda futures, timeout: None)
    waits, late = [], iter([TimeoutError(), TimeoutError()])

    def result(timeout):
        waits.append(timeout)
        if error := next(late, None):
            raise error
        return 7

    future = Mock(status="finished", result=result)
    client = Mock(**{"submit.return_value": future, "nthreads.side_effect": [{"a": 1}] * 2 + [{}] + [{"a": 1}] * 9})
    assert (list(OnDask(client).map(len, [[]])), waits) == ([7], [10.0, 20.0, 10.0])


@pytest.mark.parametrize("name", ["FuturesCancelledError", "FutureCancelledError", "ClosedClientError", None])
def test_a_lost_scheduler_is_one_line(name):
    from grampus.run.dask import OnDask

    kind = OSError if name is None else type(name, (Exception,), {})
    with pytest.raises(PartsError, match=r"cannot be reached \(1 Future cancelled\)\. Run it again\.$"):
        OnDask(Mock())._reached(Mock(side_effect=kind("1 Future\ncancelled")))


@pytest.mark.slow
def test_nothing_of_the_process_is_changed_by_a_cluster():
    dask, logging = pytest.importorskip("dask"), pytest.importorskip("logging")
    pytest.importorskip("distributed")
    from grampus.run.dask import connected

    def state():
        return dask.config.get("distributed.scheduler.worker-ttl", "none"), logging.getLogger("distributed").level

    before = state()
    with connected("threads", 1):
        pass
    assert state() == before
