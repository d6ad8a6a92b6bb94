"""Collections in parts: exact sums, pieces in memory, on disk and on workers, and the same answer for all of them."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest
import scipy.sparse as sp

from grampus import DocumentClusterer, load
from grampus._progress import as_progress
from grampus.cluster.kmeans.in_parts import assign, kmeans_parts
from grampus.documents import Effort, Guide, default_terms, piece, update_run
from grampus.documents.scaled import cut, plan_parts, write_tables
from grampus.errors import CorpusError, InputError, MemoryBudgetError, PartsError, RunError
from grampus.gram.in_parts import leading_directions, sparse_rows
from grampus.scale import Disk, Memory, Scratch, exact_step, snap
from grampus.text import Corpus, TermVectorizer, read_pieces
from grampus.text.terms.in_parts import fit_parts, pack_corpus, pack_rows

TOPICS = ("whale song ocean deep krill fluke", "bird nest branch egg feather wing", "train track station signal rail")


def texts(count: int, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    words = [topic.split() for topic in TOPICS]
    common = [f"word{number}" for number in range(40)]
    made = []
    for number in range(count):
        own = rng.choice(words[number % 3], 6).tolist() + rng.choice(common, 4).tolist()
        made.append(" ".join(own))
    return made


def parts_of(documents, pieces, kind=Memory, scratch=None):
    corpus = documents if isinstance(documents, Corpus) else Corpus(documents)
    parts = kind(scratch or Scratch(None, {}))
    parts.begin("texts", lambda whole: cut(whole, -(-len(whole) // pieces)), [corpus])
    return parts


def model(**options) -> DocumentClusterer:
    return DocumentClusterer(3, effort=Effort(stability=False), **options)


# -- exact sums


@pytest.mark.parametrize("count", [10, 10**6, 10**9])
def test_sums_on_the_grid_are_exact_in_any_order(count):
    step = exact_step(count)
    rng = np.random.default_rng(count)
    values = snap(rng.random(5000) * rng.choice([1.0, 1e-3, 1e-6], 5000), step)
    whole = sum(int(value / step) for value in values)
    for _ in range(3):
        shuffled = rng.permutation(values)
        assert int(np.cumsum(shuffled)[-1] / step) == whole
    assert count / step < 2**53


def test_a_coarser_grid_where_more_is_added():
    assert exact_step(10) == 2.0**-24
    assert exact_step(2**40) > exact_step(2**30)
    assert exact_step(2**30, largest=1024.0) > exact_step(2**30)


# -- scratch


def test_scratch_is_removed_and_keeps_what_is_finished(tmp_path):
    scratch = Scratch(tmp_path / "new", {"k": 3})
    assert scratch.once("sum", lambda: {"x": np.arange(3)})["x"].tolist() == [0, 1, 2]
    scratch.close(finished=False)
    again = Scratch(tmp_path / "new", {"k": 3})
    assert again.resumed
    assert again.once("sum", lambda: pytest.fail("computed twice"))["x"].tolist() == [0, 1, 2]
    other = Scratch(tmp_path / "new", {"k": 4})
    assert other.folder != again.folder
    assert not other.resumed
    other.close(finished=True)
    again.close(finished=True)
    assert list(tmp_path.glob("new/*")) == []


def test_a_scratch_folder_is_bounded():
    scratch = Scratch(None, {}, limit=1000)
    try:
        with pytest.raises(MemoryBudgetError, match=r"must fit into 1\.0 kB of scratch space; step 'rows'"):
            scratch.write("rows", 0, {"x": np.zeros(1000)})
    finally:
        scratch.close(finished=True)
    assert not scratch.folder.exists()


def test_a_damaged_checkpoint_is_named(tmp_path):
    scratch = Scratch(tmp_path, {})
    (scratch.folder / "sum.npz").write_bytes(b"no archive")
    with pytest.raises(PartsError, match=r"sum\.npz cannot be read .*Delete"):
        scratch.once("sum", dict)


def test_finished_pieces_are_not_computed_again(tmp_path):
    seen = []

    def square(rows, last):
        seen.append(int(rows["x"][0]))
        if rows["x"][0] == last:
            raise RuntimeError("interrupted")
        return {"x": rows["x"] ** 2}

    def squares(last):
        with Disk(Scratch(tmp_path, {})) as parts:
            parts.begin("rows", lambda source: [{"x": np.array([number])} for number in source], [range(5)])
            parts.derive("squares", square, ["rows"], last)
            return [int(one) for one in parts.each(lambda squares: squares["x"][0], ["squares"])]

    with pytest.raises(RuntimeError, match="interrupted"):
        squares(3)
    assert squares(-1) == [0, 1, 4, 9, 16]
    assert seen.count(3) == 2
    assert len(seen) < 10


# -- terms


@pytest.mark.parametrize("pieces", [1, 4])
def test_terms_are_those_of_the_whole(pieces):
    documents = [*texts(150), "", "Die Wale sind in allen Meeren der Welt zu Hause und nicht in den Seen."]
    words = default_terms(len(documents))
    with parts_of(documents, pieces) as parts:
        found = fit_parts(parts, words, len(documents))
        rows = np.concatenate([sparse_rows(rows).toarray() for rows in parts.each(dict, ["rows"])])
    whole = words.fit_transform(documents)
    assert list(found.vectorizer.vocabulary_) == list(words.vocabulary_)
    np.testing.assert_allclose(rows, whole.toarray(), atol=2**-24)
    new = ["whales sing of tracks", ""]
    np.testing.assert_allclose(found.vectorizer.transform(new).toarray(), words.transform(new).toarray(), atol=1e-12)


@pytest.mark.parametrize("weighting", ["lec", "tfc", "lgc", "bnc", "dpc"])
def test_every_global_weight_can_be_learned_in_parts(weighting):
    documents = texts(60)
    words = TermVectorizer(weighting, ngram_range=(1, 2), max_features=70)
    with parts_of(documents, 3) as parts:
        found = fit_parts(parts, words, len(documents)).vectorizer
    words.fit_transform(documents)
    assert found.vocabulary_ == words.vocabulary_
    np.testing.assert_allclose(found.weighting_.global_weights_, words.weighting_.global_weights_, rtol=1e-12)


# -- components and k-means


def test_directions_are_the_leading_singular_vectors():
    with parts_of(texts(200), 3) as parts:
        width = fit_parts(parts, default_terms(200), 200).width
        directions, values = leading_directions(parts, width, 4, np.random.default_rng(0), as_progress(None))
        rows = np.concatenate([sparse_rows(rows).toarray() for rows in parts.each(dict, ["rows"])])
    _, singular, right = np.linalg.svd(rows)
    np.testing.assert_allclose(values, singular[:4] ** 2, rtol=1e-6)
    np.testing.assert_allclose(np.abs(np.sum(right[:4].T * directions, axis=0)), 1.0, atol=1e-5)


def rows_in(pieces, rows):
    def read(whole):
        for some in np.array_split(whole, pieces):
            yield {"x": some.astype(np.float32), "squares": np.array(snap((some**2).sum(axis=1), 2.0**-24).sum())}

    parts = Memory(Scratch(None, {}))
    parts.begin("features", read, [rows])
    return parts


@pytest.mark.parametrize("pieces", [1, 5])
def test_kmeans_in_parts_is_lloyds_algorithm(pieces):
    rng = np.random.default_rng(0)
    rows = snap(rng.normal(size=(400, 3)) / 8, 2.0**-20)
    start = rows[:6]
    with rows_in(pieces, rows) as parts:
        found = kmeans_parts(parts, start)
    means = start
    for _ in range(100):
        nearest = ((rows[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
        new = np.stack([rows[nearest == c].mean(axis=0) for c in range(6)])
        if np.allclose(new, means, atol=1e-15):
            break
        means = new
    np.testing.assert_allclose(found.means, means, atol=1e-12)
    assert assign(rows, found.means).tolist() == nearest.tolist()
    assert found.outcome.value == "converged"
    np.testing.assert_allclose(found.objective, ((rows - means[nearest]) ** 2).sum(), rtol=1e-5)


@pytest.mark.parametrize("most", [0, 1])
def test_counts_are_those_of_the_assignment_also_before_convergence(most):
    rows = snap(np.random.default_rng(1).normal(size=(300, 3)) / 8, 2.0**-20)
    with rows_in(3, rows) as parts:
        found = kmeans_parts(parts, rows[:5], max_iter=most)
    labels = assign(rows, found.means)
    assert found.counts.tolist() == np.bincount(labels, minlength=5).tolist()
    assert found.outcome.value == "max_iter"
    np.testing.assert_allclose(found.objective, ((rows - found.means[labels]) ** 2).sum(), rtol=1e-5)


@pytest.mark.parametrize("pieces", [1, 4])
def test_an_empty_cluster_gets_the_farthest_row(pieces):
    rows = np.concatenate([np.zeros((10, 2)), np.full((10, 2), 0.25), [[0.0, 1.0]]])
    with rows_in(pieces, rows) as parts:
        found = kmeans_parts(parts, np.array([[0.0, 0.0], [0.25, 0.25], [9.0, 9.0]]))
    assert sorted(found.counts.tolist()) == [1, 10, 10]


# -- the whole


@pytest.fixture(scope="module")
def fitted():
    documents = texts(180)
    with parts_of(documents, 1) as parts:
        return documents, model().fit(parts)


def answer(found):
    return found.labels_.tolist(), [cluster.label for cluster in found.clusters_], found.run_.evidence.objective


@pytest.mark.parametrize(("pieces", "kind"), [(3, Disk), (17, Memory)])
def test_the_answer_does_not_depend_on_the_cut(fitted, pieces, kind):
    documents, whole = fitted
    with parts_of(documents, pieces, kind) as parts:
        assert answer(model().fit(parts)) == answer(whole)


def test_the_answer_does_not_depend_on_the_order(fitted):
    documents, whole = fitted
    order = np.random.default_rng(3).permutation(len(documents))
    with parts_of(Corpus([documents[i] for i in order], [str(i + 1) for i in order]), 2) as parts:
        other = model().fit(parts)
    assert other.labels_.tolist() == whole.labels_[order].tolist()
    assert answer(other)[1:] == answer(whole)[1:]


def test_the_groups_are_found_counted_and_predicted(fitted, tmp_path):
    documents, whole = fitted
    assert len({tuple(sorted(set(whole.labels_[number::3]))) for number in range(3)}) == 3
    assert whole.run_.sizes == tuple(np.bincount(whole.labels_).tolist())
    assert whole.run_.n_documents == 180
    assert whole.run_.provenance.collection["where"] == "memory"
    assert whole.predict(documents).tolist() == whole.labels_.tolist()
    assert whole.assign(["", "whale song"]).known.tolist() == [False, True]
    whole.save(tmp_path / "run")
    again = load(tmp_path / "run")
    assert again.predict(documents).tolist() == whole.labels_.tolist()
    assert again.run_.sizes == whole.run_.sizes
    whole.report(tmp_path / "page.html")


def test_more_documents_than_are_shown(monkeypatch):
    monkeypatch.setattr("grampus.documents.in_parts.SAMPLE", 120)
    monkeypatch.setattr("grampus.documents.in_parts.SHOWN", 60)
    monkeypatch.setattr("grampus.documents.in_parts.SHOWN_OF_EACH", 10)
    found = []
    for pieces in (1, 5):
        with parts_of(texts(300), pieces) as parts:
            found.append(model().fit(parts))
    assert answer(found[0]) == answer(found[1])
    run = found[0].run_
    assert len(run) == 60
    assert sum(run.sizes) == run.n_documents == len(found[0].labels_) == 300
    assert any("the counts are those of all 300" in note for note in run.evidence.warnings)
    assert any("found on 120 of 300" in note for note in run.evidence.warnings)
    assert any("Near-duplicates were looked for among the documents shown" in note for note in run.evidence.warnings)


def test_tables_of_all_documents(fitted, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    documents, whole = fitted
    with parts_of(documents, 4) as parts:
        found = model().fit(parts)
        assert write_tables(parts, tmp_path / "all.parquet", found.run_) == 4
    table = parquet.read_table(tmp_path / "all.parquet").to_pydict()
    assert table["id"] == [str(number + 1) for number in range(180)]
    assert table["cluster"] == whole.labels_.tolist()
    assert table["copies"][:3] == [1, 1, 1]
    assert table["cluster_name"][0] == whole.clusters_[table["cluster"][0]].label
    assert min(table["margin"]) >= 0
    assert max(table["oddness"]) <= 1


def test_an_interrupted_fit_resumes(fitted, tmp_path, monkeypatch):
    documents, whole = fitted
    for number, name in enumerate(("a", "b")):
        lines = (json.dumps({"id": str(at), "text": documents[at]}) for at in range(number * 90, number * 90 + 90))
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    pieces = read_pieces(str(tmp_path / "*.jsonl"), text="text")
    real = kmeans_parts

    def fails(parts, means, **options):
        real(parts, means, **{**options, "max_iter": 1})
        raise KeyboardInterrupt

    monkeypatch.setattr("grampus.documents.in_parts.kmeans_parts", fails)
    with pytest.raises(KeyboardInterrupt):
        model().fit(pieces, scratch=tmp_path / "scratch")
    monkeypatch.setattr("grampus.documents.in_parts.kmeans_parts", real)
    monkeypatch.setattr("grampus.documents.in_parts.leading_directions", lambda *_: pytest.fail("computed twice"))
    found = model().fit(pieces, scratch=tmp_path / "scratch")
    assert found.labels_.tolist() == whole.labels_.tolist()
    assert list((tmp_path / "scratch").iterdir()) == []


# -- what does not work, and what cannot be read


@pytest.mark.parametrize(
    ("options", "given", "message"),
    [
        (
            {"kernel": "cosine|shift"},
            {},
            r"must be 'cosine\|principal\(r\)\|normalise', with any r; got 'cosine\|shift'",
        ),
        ({"outliers": "auto"}, {}, r"outliers does not work in parts; leave it out \(the tables"),
        ({"effort": Effort(level="fine")}, {}, "middle level"),
        ({}, {"guide": Guide(seeds={"sea": ["whale"]})}, "guide does not work in parts"),
    ],
)
def test_what_does_not_work_in_parts_says_so(tmp_path, options, given, message):
    with pytest.raises(InputError, match=message):
        DocumentClusterer(3, **options).fit(texts(9), scratch=tmp_path, **given)
    assert list(tmp_path.iterdir()) == []


def test_other_texts_never_find_an_earlier_job(tmp_path, monkeypatch):
    monkeypatch.setattr("grampus.documents.in_parts.kmeans_parts", lambda *_, **__: 1 / 0)
    for seed in (0, 1):
        with pytest.raises(ZeroDivisionError):
            model().fit(texts(30, seed), scratch=tmp_path)
    assert len(list(tmp_path.iterdir())) == 2


def test_numbers_are_refused_in_parts(tmp_path):
    with pytest.raises(InputError, match="In parts X must be texts"):
        model().fit(np.eye(5), scratch=tmp_path)


def test_a_part_that_cannot_be_read_is_named_or_skipped(tmp_path):
    good = "\n".join(json.dumps({"text": text}) for text in texts(60))
    (tmp_path / "a.jsonl").write_text(good, encoding="utf-8")
    (tmp_path / "b.jsonl").write_bytes(b'{"text": "broken')
    with pytest.raises(CorpusError, match=r"b\.jsonl"):
        model().fit(read_pieces(tmp_path / "*.jsonl"), scratch=tmp_path / "s")
    found = model().fit(read_pieces(tmp_path / "*.jsonl", skip=True), scratch=tmp_path / "s")
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


def test_memory_is_preferred_while_it_suffices(tmp_path):
    from grampus import config

    (tmp_path / "a.csv").write_text("text\n" + "\n".join(texts(3000)), encoding="utf-8")
    pieces = read_pieces(tmp_path / "*.csv")
    assert not plan_parts(pieces, False, None, on_workers=False).in_parts
    with config(memory="1MB"):
        planned = plan_parts(pieces, False, tmp_path, on_workers=False)
    assert planned.in_parts
    assert "memory would need" in planned.sentence
    assert str(tmp_path) in planned.sentence


@pytest.mark.slow
def test_dask_workers_give_the_same_answer(fitted):
    pytest.importorskip("distributed")
    from grampus.scale.dask import connect

    documents, whole = fitted
    client = connect("threads", 2)
    try:
        found = model().fit(documents, client=client)
        assert answer(found) == answer(whole)
        assert found.run_.provenance.collection["where"] == "Dask workers"
        assert found.run_.provenance.collection["traffic"]["bytes_received"]["k-means"] > 0
        bag = pytest.importorskip("dask.bag").from_sequence(documents, npartitions=3)
        assert model().fit(bag, client=client).labels_.tolist() == whole.labels_.tolist()
    finally:
        cluster = client.cluster
        client.close()
        cluster.close()


@pytest.mark.slow
def test_settings_and_loggers_of_dask_are_left_as_they_were():
    dask, distributed = pytest.importorskip("dask"), pytest.importorskip("distributed")
    from grampus.scale.dask import connected

    def state():
        names = ("scheduler.allowed-failures", "scheduler.worker-ttl", "worker.use-file-locking")
        levels = [logging.getLogger(name).level for name in ("distributed", "distributed.client")]
        return [dask.config.get(f"distributed.{name}") for name in names], levels

    before = state()
    with connected("threads", 1) as client:
        assert client.submit(sum, [1, 2]).result() == 3
        assert dask.config.get("distributed.scheduler.allowed-failures") != before[0][0]
    assert state() == before
    with pytest.raises(InputError, match="address of a scheduler"), connected("no address"):
        pass
    assert state() == before
    assert isinstance(client, distributed.Client)
    assert client.status == "closed"


@pytest.mark.slow
def test_workers_that_die_at_the_start_are_one_line(monkeypatch):
    distributed = pytest.importorskip("distributed")
    from grampus.scale.dask import connect

    def dies(**_):
        raise RuntimeError("Nanny failed to start.")

    monkeypatch.setattr(distributed, "LocalCluster", dies)
    with pytest.raises(PartsError, match=r"could not be started \(Nanny failed to start\.\)\. Run it again"):
        connect("local", 2)


def test_a_run_in_parts_is_not_updated_by_halves(fitted):
    _, whole = fitted
    with pytest.raises(RunError, match=r"made in parts and holds 180 of its 180 documents\. Assign new documents"):
        update_run(whole.run_, ["a new whale"])


@pytest.mark.slow
def test_a_cluster_without_workers_gets_others_and_does_not_hang(monkeypatch):
    distributed = pytest.importorskip("distributed")
    from grampus.scale import dask

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
        with pytest.raises(PartsError, match=r"^The Dask cluster has had no workers for 300 s\.$"):
            dask.OnDask(client, Scratch(None, {})).begin("texts", dict, [({},)])
        assert client.cluster.scale.call_count == (10 if ours else 0)
    client.cluster.scale.assert_called_with(4)
    assert len(looks) == 2 + 30 + 30


@pytest.mark.slow
def test_a_result_that_is_lost_on_its_way_is_waited_for_again(monkeypatch):
    distributed = pytest.importorskip("distributed")
    from grampus.scale.dask import OnDask

    monkeypatch.setattr(distributed, "wait", lambda futures, timeout: None)
    waits, late = [], iter([TimeoutError(), TimeoutError()])

    def result(timeout):
        waits.append(timeout)
        if error := next(late, None):
            raise error
        return 7

    future = Mock(status="finished", result=result)
    client = Mock(**{"submit.return_value": future, "nthreads.side_effect": [{"a": 1}] * 3 + [{}] + [{"a": 1}] * 9})
    parts = OnDask(client, Scratch(None, {}))
    parts.begin("texts", dict, [({},)])
    assert (parts.total(len, ["texts"]), waits) == (7, [10.0, 20.0, 10.0])


@pytest.mark.parametrize("name", ["FuturesCancelledError", "FutureCancelledError", "ClosedClientError", None])
def test_a_lost_scheduler_is_one_line(tmp_path, name):
    from grampus.scale.dask import OnDask

    kind = OSError if name is None else type(name, (Exception,), {})

    def gone():
        raise kind("1 Future\ncancelled")

    parts = OnDask(Mock(), Scratch(tmp_path, {}))
    with pytest.raises(
        PartsError, match=r"cannot be reached \(1 Future cancelled\)\. Run it again to resume from \S+$"
    ):
        parts._reached(gone)


def test_documents_that_are_read_do_not_keep_their_piece_in_memory():
    rows = sp.csr_array(np.eye(1000, dtype=np.float32))
    record = {**pack_rows(rows), "name": np.arange(1000, dtype=np.uint64)}
    documents = pack_corpus(Corpus([f"text {number}" for number in range(1000)]))
    found = piece.gather(documents, {}, record, np.array([3, 5], np.uint64))
    assert [(one[0], one[1], one[-1][0].tolist()) for one in found] == [(3, "text 3", [3]), (5, "text 5", [5])]
    for *_, held in found:
        for array in held:
            assert (array if array.base is None else array.base).nbytes <= 64
