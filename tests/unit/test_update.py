"""Updates: new documents, the old answer as start, and documents that are forgotten."""

import json
import re

import numpy as np
import pytest
import scipy.sparse as sp

from grampus import DocumentClusterer
from grampus.documents import Effort, Guide, update_run
from grampus.documents.later import stages
from grampus.errors import InputError, RunError
from grampus.metrics import ari
from grampus.persist import Edit, Run, trends
from grampus.report import report_html
from grampus.text import Corpus, Embedder
from grampus.text.embed.store import Store, forget_texts, text_key
from tests.pages import TOPICS

QUICK = Effort(stability=False)


def made_up(n, first=0, seed=0):
    rng = np.random.default_rng(seed)
    every = " ".join(TOPICS.values()).split()
    topics = list(TOPICS)
    texts = [
        " ".join([*rng.choice(TOPICS[topics[i % 4]].split(), 9), *rng.choice(every, 2)])
        for i in range(first, first + n)
    ]
    return Corpus(
        texts,
        [f"id{i}" for i in range(first, first + n)],
        labels=[topics[i % 4] for i in range(first, first + n)],
        titles=[f"Number {i} of all" for i in range(first, first + n)],
        dates=[f"{2020 + i % 3}-05-01" for i in range(first, first + n)],
    )


@pytest.fixture(scope="module")
def run():
    return DocumentClusterer(4, random_state=0).fit(made_up(120)).run_


def test_numbers_and_names_of_surviving_clusters_stay(run):
    later = update_run(run, made_up(40, 120, 1))
    assert len(later) == 160
    assert [c.name for c in later.evidence.clusters] == [c.name for c in run.evidence.clusters]
    assert (later.evidence.labels[:120] == run.evidence.labels).mean() > 0.97
    entry = later.history[-1]
    assert (entry.added, entry.deleted, entry.documents) == (40, 0, 160)
    assert {one.kind for one in entry.changes} <= {"kept", "grown", "shrunken"}
    assert all(0 <= one.drift < 0.5 for one in entry.changes)
    assert np.array_equal(later.layout.coordinates[:120], run.layout.coordinates)


def test_a_much_larger_run_learns_its_terms_anew(run):
    later = update_run(run, made_up(130, 120, 1))
    assert int(later.model["words.n_documents"]) == 250
    assert int(update_run(run, made_up(10, 120, 1)).model["words.n_documents"]) == 120
    assert [c.name for c in later.evidence.clusters] == [c.name for c in run.evidence.clusters]


def some_topics(n, topics, seed):
    rng = np.random.default_rng(seed)
    names = [list(TOPICS)[i] for i in topics]
    labels = [names[i % len(names)] for i in range(n)]
    texts = [" ".join(rng.choice(TOPICS[label].split(), 9)) for label in labels]
    return Corpus(texts, [f"{seed}-{i}" for i in range(n)], labels=labels)


def test_a_much_larger_run_finds_what_the_old_answer_could_not_lead_to():
    halves = DocumentClusterer(4, effort=QUICK, random_state=0).fit(some_topics(100, (0, 1), 1)).run_
    more = some_topics(300, (0, 1, 2, 3), 2)
    later = update_run(halves, more)
    assert ari(list(later.documents.classes), later.evidence.labels) == 1.0
    kinds = [one.kind for one in later.history[-1].changes]
    assert kinds.count("dead") == 2
    anew = DocumentClusterer(4, random_state=0).fit(Corpus(later.documents.texts))
    assert ari(anew.labels_, later.evidence.labels) == 1.0


@pytest.mark.parametrize(("added", "times"), [(10, 0), (119, 0), (120, 1)])
def test_the_method_clusters_anew_where_a_run_has_doubled(run, monkeypatch, added, times):
    asked, method = [], stages._anew
    monkeypatch.setattr(stages, "_anew", lambda *given: asked.append(1) or method(*given))
    later = update_run(run, made_up(added, 120, 1))
    assert len(asked) == times
    same = later.evidence.labels[:120] == run.evidence.labels
    assert same.mean() > 0.97


def test_clusters_only_follow_where_documents_are_deleted_or_a_run_was_guided(run, monkeypatch):
    monkeypatch.setattr(stages, "_anew", None)
    assert len(update_run(run, made_up(150, 120, 1), delete=["id3"])) == 269
    guide = Guide(labels={"id0": "a", "id1": "b"})
    guided = DocumentClusterer(4, effort=QUICK, random_state=0).fit(made_up(120), guide=guide).run_
    assert len(update_run(guided, made_up(150, 120, 1))) == 270


@pytest.mark.parametrize("method", ["kernel-kmeans", "pddp"])
def test_any_method_clusters_anew(method):
    run = (
        DocumentClusterer(3, method=method, embed=None, effort=QUICK, random_state=0)
        .fit(some_topics(60, (0, 1, 2), 1))
        .run_
    )
    later = update_run(run, some_topics(90, (0, 1, 2), 2))
    assert np.array_equal(later.evidence.labels[:60], run.evidence.labels)


def test_documents_in_no_cluster_stay_out_where_clusters_are_found_anew():
    corpus = some_topics(99, (0, 1, 2), 1)
    strange = [f"quartz {a} {b}" for a, b in (("xenon", "yttrium"), ("yttrium", "zircon"), ("zircon", "xenon"))]
    given = Corpus([*corpus.texts, *strange], [*corpus.ids, "x", "y", "z"])
    run = DocumentClusterer(3, kernel="cosine", outliers=0.03, effort=QUICK, random_state=0).fit(given).run_
    assert np.flatnonzero(run.evidence.labels < 0).tolist() == [99, 100, 101]
    later = update_run(run, some_topics(150, (0, 1, 2), 2))
    assert np.flatnonzero(later.evidence.labels < 0).tolist() == [99, 100, 101]
    assert later.n_clusters == 3


@pytest.mark.parametrize("added", [40, 130])
def test_branches_of_an_updated_tree_are_named_after_its_clusters(run, added):
    later = update_run(run, made_up(added, 120, 1))
    names = [branch.name for branch in later.evidence.tree]
    assert all(names)
    assert not [name for name in names if re.search(r"cluster \d", name)]


def test_a_new_document_is_drawn_beside_old_ones_of_its_cluster(run):
    later = update_run(run, made_up(40, 120, 1))
    for at in range(120, 160):
        old = later.layout.coordinates[:120][later.evidence.labels[:120] == later.evidence.labels[at]]
        place = later.layout.coordinates[at]
        assert (old.min(axis=0) - 1e-4 <= place).all()
        assert (place <= old.max(axis=0) + 1e-4).all()


def test_texts_of_an_update_are_those_given(run):
    new = made_up(20, 120, 1)
    later = update_run(run, Corpus(["Ünïcødé whale krill", *list(new.texts)[1:]], ["id4", *list(new.ids)[1:]]))
    assert list(later.documents.ids) == [f"id{i}" for i in range(120) if i != 4] + ["id4", *list(new.ids)[1:]]
    assert later.documents.texts[119] == "Ünïcødé whale krill"
    assert later.documents.titles[118] == "Number 119 of all"
    assert later.documents.titles[119] == ""
    assert [text[:9] for text in later.documents.excerpts] == [text[:9] for text in later.documents.texts]


def test_the_order_of_new_documents_does_not_matter(run):
    new = made_up(30, 120, 1)
    a, b = update_run(run, new), update_run(run, new.take(np.arange(30)[::-1]))
    labels = [dict(zip(each.documents.ids, each.evidence.labels.tolist(), strict=True)) for each in (a, b)]
    assert labels[0] == labels[1]


def test_edits_are_applied_again_and_new_documents_follow_them(run):
    edited = run.edited(Edit("merge", (0, 1)), Edit("noise", documents=("id0",)))
    later = update_run(edited, made_up(20, 120, 1))
    assert later.edits == edited.edits
    assert later.n_clusters == 3
    assert later.evidence.labels[0] == -1
    assert later.undone(2).n_clusters == 4


def test_a_document_with_a_known_id_takes_the_place_of_the_old_one(run):
    later = update_run(run, Corpus(["krill whale tide krill"], ["id5"]))
    assert len(later) == 120
    assert list(later.documents.texts).count("krill whale tide krill") == 1


def test_updates_that_cannot_be_are_refused(run):
    with pytest.raises(InputError, match="ids of the run"):
        update_run(run, delete=["nobody"])
    with pytest.raises(InputError, match="deletes all"):
        update_run(run, delete=list(run.documents.ids))
    with pytest.raises(RunError, match="no texts"):
        update_run(run.without_texts(), ["one more"])
    with pytest.raises(InputError, match="must be texts"):
        update_run(run, np.ones((2, 2)))


def everything(folder, run):
    saved = b"\n".join(file.read_bytes() for file in folder.iterdir())
    return saved.decode("utf-8", "ignore") + report_html(run, texts="none")


def test_nothing_of_a_forgotten_document_is_left(tmp_path):
    corpus = made_up(120)
    secret = "zyzzyva quokka zyzzyva floccinaucinihilipilification quokka borborygmus zyzzyva"
    texts = [f"{text} {secret}" if i == 7 else text for i, text in enumerate(corpus.texts)]
    given = Corpus(texts, ids=[f"name-{i}-" for i in range(120)], titles=[f"Title {i} here" for i in range(120)])
    run = DocumentClusterer(4, random_state=0).fit(given).run_
    run = run.edited(Edit("noise", documents=("name-7-", "name-8-")), Edit("rename", (1,), name="Title 7 here"))
    run = update_run(run, ["krill whale tide", "flour dough oven"])
    run.save(tmp_path / "run")
    traces = ("zyzzyva", "quokka", "name-7-", "Title 7 here")
    assert all(trace in everything(tmp_path / "run", run) for trace in traces)
    update_run(Run.load(tmp_path / "run"), delete=["name-7-"]).save(tmp_path / "run")
    later = Run.load(tmp_path / "run")
    held = everything(tmp_path / "run", later)
    assert not [trace for trace in traces if trace in held]
    assert later.edits == (Edit("noise", documents=("name-8-",)),)
    assert later.history[-1].deleted == 1
    assert not re.search("floccinauc", json.dumps([str(value) for value in later.model]))


def test_forgetting_removes_rows_from_the_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("GRAMPUS_CACHE", str(tmp_path))
    long, short = " ".join(f"word{i}" for i in range(50)), "a short one"
    embedder = Embedder(lambda texts: np.ones((len(texts), 3)), key="test", longest=20)
    embedder.embed([long, short])
    before = (tmp_path / "embeddings" / "rows.sqlite").read_bytes()
    keys = [text_key(" ".join(long.split()[a:b])) for a, b in ((0, 17), (17, 34), (34, 50))]
    assert len(Store(embedder.sha256).read(keys)) == 3
    assert keys[0] in before
    forget_texts([long])
    after = (tmp_path / "embeddings" / "rows.sqlite").read_bytes()
    assert not any(key in after for key in keys)
    assert len(Store(embedder.sha256).read([text_key(short)])) == 1


def test_trends_have_shares_and_intervals(run):
    shares = trends(run, "year")
    assert {one.period for one in shares} == {"2020", "2021", "2022"}
    for period in ("2020", "2021", "2022"):
        assert sum(one.share for one in shares if one.period == period) == pytest.approx(1)
    assert all(one.low <= one.share <= one.high for one in shares)
    assert len(trends(run, "label")) == 16
    assert trends(run, "half", ["a", "b"] * 60)[0].total == 60
    with pytest.raises(InputError, match="year, quarter"):
        trends(run, "colour")


@pytest.mark.parametrize("added", [30, 130])
@pytest.mark.parametrize("sparse", [False, True])
def test_rows_of_numbers_are_added_with_their_documents(added, sparse, tmp_path):
    def rows(n, first=0):
        made = np.eye(4)[np.arange(first, first + n) % 4] + np.arange(first, first + n)[:, None] / 1000
        return sp.csr_array(made) if sparse else made

    corpus = made_up(120).with_input("embedding", rows(120))
    run = DocumentClusterer(4, effort=QUICK).fit(corpus).run_
    run.save(tmp_path / "run")
    run, new = Run.load(tmp_path / "run"), made_up(added, 120, 1)
    with pytest.raises(InputError, match="must have the input 'embedding'"):
        update_run(run, new)
    later = update_run(run, new.with_input("embedding", rows(added, 120)), delete=["id1"])
    assert later.provenance.kernel == run.provenance.kernel
    assert ari(later.evidence.labels, [*np.delete(np.arange(120), 1) % 4, *np.arange(120, 120 + added) % 4]) == 1
    again = DocumentClusterer.of_run(later).predict(new.with_input("embedding", rows(added, 120)))
    np.testing.assert_array_equal(again, later.evidence.labels[119:])
