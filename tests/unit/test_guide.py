"""A guide: links, labels and seeds; contradictions; what any method and kernel must keep."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from grampus import DocumentClusterer
from grampus.datasets import world_factbook
from grampus.documents import Effort, Guide
from grampus.documents.given.topics import read_topics
from grampus.errors import InputError
from grampus.gram import DenseGram, LinearGram
from grampus.gram.merged import merge
from grampus.metrics import ari
from grampus.testing import check_gram
from tests.command import answer

TOPICS = (
    ("whale", "sea", "ship", "song", "wave", "deep"),
    ("bird", "nest", "wing", "egg", "fly", "tree"),
    ("code", "bug", "test", "loop", "call", "type"),
)
QUICK = Effort(stability=False, n_init=2)


def texts_of(each: int = 12) -> list[str]:
    rng = np.random.default_rng(0)
    return [" ".join(rng.choice(topic, 5)) for topic in TOPICS for _ in range(each)]


def fit(guide: Guide | None, k: int = 3, **options: object) -> DocumentClusterer:
    return DocumentClusterer(k, effort=QUICK, **options).fit(texts_of(), guide=guide)  # type: ignore[arg-type]


def test_without_constraints_nothing_changes():
    assert fit(Guide()).labels_.tolist() == fit(None).labels_.tolist()


def test_seeds_of_words_and_documents_name_the_clusters():
    model = fit(Guide(seeds={"Sea": ["whale", "wave"], "Air": {"documents": [12]}}))
    names = [model.clusters_[label].name for label in model.labels_]
    assert names[:12] == ["Sea"] * 12
    assert names[12:24] == ["Air"] * 12


def test_documents_of_one_name_are_one_cluster_whatever_they_are_like():
    model = fit(Guide(labels=dict.fromkeys(range(24), "One")))
    assert len(set(model.labels_[:24])) == 1
    assert model.clusters_[model.labels_[0]].name == "One"


@pytest.mark.parametrize("embed", ["auto", None])
def test_topics_may_be_given_as_they_stand(embed):
    model = DocumentClusterer(3, effort=QUICK, embed=embed)
    for guide in ({"Whale": ["sea", "wave"], "Bird": []}, ["Whale", "Bird"]):
        model.fit(texts_of(), guide=guide)
        names = [model.clusters_[label].name for label in model.labels_]
        assert names[:12] == ["Whale"] * 12
        assert names[12:24] == ["Bird"] * 12
        assert {*names[24:]}.isdisjoint({"Whale", "Bird"})


def test_a_topic_says_what_it_is_by_words_examples_documents_and_a_description():
    topics = {
        "One": {"examples": ["a ship on a wave of the deep sea"]},
        "Two": {"description": "The nest of a bird in a tree."},
        "Three": {"documents": [24]},
    }
    model = DocumentClusterer(3, effort=QUICK, embed=None).fit(texts_of(), guide=topics)
    names = [model.clusters_[label].name for label in model.labels_]
    assert names == ["One"] * 12 + ["Two"] * 12 + ["Three"] * 12


@pytest.mark.parametrize(
    ("each", "topic"), [(35, {"Trade": ["export", "trade"]}), (30, {"Courts": ["court", "judge"]})]
)
def test_one_topic_leaves_the_others_their_clusters(each, topic):
    """Centres of one document each never win documents from the mean of a topic's many: other starts are needed."""
    corpus, classes = world_factbook(), ("courts", "economy", "elections", "flag")
    places = [at for name in classes for at in [i for i, label in enumerate(corpus.labels) if label == name][:each]]
    texts = [" ".join(corpus.texts[at].split()[:40]) for at in places]
    model = DocumentClusterer(4, embed=None, effort=QUICK).fit(texts, guide=topic)
    assert next(iter(topic)) in [cluster.name for cluster in model.clusters_]
    assert ari([corpus.labels[at] for at in places], model.labels_) > 0.9


def test_only_topics_leave_the_rest_in_none():
    guide = Guide(seeds={"Sea": ["whale", "wave", "ship"]}, only=True)
    model = DocumentClusterer(effort=QUICK, embed=None).fit(texts_of(40), guide=guide)
    assert [cluster.name for cluster in model.clusters_] == ["Sea"]
    assert (model.labels_[:40] == 0).mean() > 0.9
    assert (model.labels_[40:] == -1).all()


def test_a_topic_without_documents_is_named_in_a_note():
    model = DocumentClusterer(effort=QUICK, embed=None).fit(
        texts_of(40), guide={"Sea": ["whale", "wave", "ship"], "Space": ["zebra"]}
    )
    assert "No documents fit 'Space': this topic has none." in model.run_.evidence.warnings
    assert "Sea" in [cluster.name for cluster in model.clusters_]
    assert model.n_clusters_ > 1


def test_a_topic_without_words_takes_no_name_from_another():
    for topics in (
        {"Sea": ["whale"], "Space": ["zebra"], "Code": ["bug", "loop"]},
        {"Space": ["zebra"], "Sea": ["whale"]},
    ):
        model = DocumentClusterer(3, effort=QUICK, embed=None).fit(texts_of(), guide=topics)
        names = [model.clusters_[label].name for label in model.labels_]
        assert "Space" not in names
        assert set(names[:12]) == {"Sea"}


def test_an_update_keeps_topics_and_their_numbers():
    from grampus.documents import update_run
    from grampus.text import Corpus

    texts = texts_of(40)
    old, new = (
        Corpus(texts[::2], ids=[f"o{i}" for i in range(60)]),
        Corpus(texts[1::2], ids=[f"n{i}" for i in range(60)]),
    )
    run = DocumentClusterer(effort=QUICK, embed=None).fit(old, guide={"Sea": ["whale", "wave"], "Air": ["bird"]}).run_
    again = update_run(run, new)
    names = [cluster.name for cluster in run.evidence.clusters]
    assert [cluster.name for cluster in again.evidence.clusters][: len(names)] == names
    assert {"Sea", "Air"} <= {*names}
    assert (again.evidence.labels[:60] == run.evidence.labels).mean() > 0.8


def test_topics_have_levels_and_outliers():
    odd = [f"zebra{number} quark{number} lemma{number}" for number in range(3)]
    model = DocumentClusterer([2, 4, 8], effort=QUICK, embed=None, outliers="auto", level="fine")
    found = model.fit([*texts_of(40), *odd], guide={"Sea": ["whale", "wave"], "Air": ["bird"]})
    assert found.n_clusters_ == 8
    assert {"coarse", "middle", "fine"} <= {*found.run_.levels}


def test_topics_that_mean_the_same_and_labels_that_contradict_are_told():
    model = fit({"Sea": ["whale", "wave"], "Ocean": ["whale", "wave"], "Air": ["bird"]}, embed=None)  # type: ignore[arg-type]
    assert any("'Sea' and 'Ocean'" in note for note in model.run_.evidence.warnings)
    labels = {0: "Sea", 1: "Sea", 2: "Sea", 3: "Air", 12: "Air", 13: "Air", 14: "Air"}
    notes = fit(Guide(labels=labels)).run_.evidence.warnings
    assert any(note.startswith("1 of 7 documents with a known topic are in another cluster") for note in notes)


@pytest.mark.parametrize(
    ("topics", "message"),
    [
        ("whale", "a list of names"),
        ({"a": "whale"}, "lists of words"),
        ({"a": {"word": ["whale"]}}, "lists of words"),
        ({"": ["whale"]}, "empty"),
        ([3], "not a text"),
    ],
)
def test_topics_that_are_none_are_refused(topics, message):
    with pytest.raises(InputError, match=message):
        Guide(seeds=topics)


def test_files_of_topics(tmp_path):
    whole = {"Flags": {"words": ["flag", "star"], "examples": ["a red flag"], "description": "Of countries."}}
    kinds = {
        "json": json.dumps(whole),
        "txt": "Flags; flag, star; a red flag; Of countries.\n",
        "csv": 'name,description,words,examples\nFlags,Of countries.,"flag, star",a red flag\n',
    }
    for kind, text in kinds.items():
        (tmp_path / f"topics.{kind}").write_text(text)
        assert read_topics(str(tmp_path / f"topics.{kind}")) == whole, kind
    (tmp_path / "names.txt").write_text("Flags\nCourts\n")
    assert list(read_topics(str(tmp_path / "names.txt"))) == ["Flags", "Courts"]
    with pytest.raises(InputError, match="no such file"):
        read_topics("none.json")


def test_a_wrong_label_is_overruled_unless_fixed():
    labels = {0: "Sea", 1: "Sea", 2: "Sea", 3: "Air", 12: "Air", 13: "Air", 14: "Air"}
    free, fixed = fit(Guide(labels=labels)), fit(Guide(labels=labels, fixed=True))
    assert free.labels_[3] == free.labels_[0]
    assert fixed.labels_[3] == fixed.labels_[12] != fixed.labels_[0]


@pytest.mark.parametrize("method", ["kernel-kmeans", "consensus", "pddp", "bisecting", "spectral", "kernel-pca"])
def test_links_hold_under_every_method(method):
    found = fit(Guide(must_link=[(0, 13), (13, 30)], cannot_link=[(1, 2)]), method=method).labels_
    assert found[0] == found[13] == found[30]
    assert found[1] != found[2]


@pytest.mark.parametrize("kernel", ["cosine|shift", "spectrum(3)|normalise"])
def test_links_hold_under_every_kernel(kernel):
    found = fit(Guide(must_link=[(0, 13)], cannot_link=[(1, 2)], labels={5: "x", 30: "y"}), kernel=kernel).labels_
    assert found[0] == found[13]
    assert found[1] != found[2]


def test_the_order_of_documents_does_not_matter():
    texts, labels, pairs = texts_of(), {0: "Sea", 12: "Air"}, [(0, 13), (4, 30)]
    order = np.random.default_rng(1).permutation(len(texts))
    place = {int(old): new for new, old in enumerate(order)}
    model = DocumentClusterer(3, effort=QUICK)
    one = model.fit(texts, guide=Guide(labels=labels, must_link=pairs)).labels_
    moved = Guide(
        labels={place[at]: name for at, name in labels.items()}, must_link=[(place[a], place[b]) for a, b in pairs]
    )
    other = model.fit([texts[i] for i in order], guide=moved).labels_
    assert one[order].tolist() == other.tolist()


@pytest.mark.parametrize(
    ("guide", "message"),
    [
        (Guide(must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)]), "'1' – '2' – '3'"),
        (Guide(labels={0: "a", 1: "b"}, must_link=[(0, 1)]), "they are linked"),
        (Guide(labels={0: "a", 1: "a"}, cannot_link=[(0, 1)]), "both are 'a'"),
        (Guide(must_link=[("1", "nobody")]), "'nobody'"),
        (Guide(must_link=[(0, 99)]), "99"),
        (Guide(must_link=["ab"]), "pairs"),
        (Guide(labels=["a"]), "36 entries"),
        (Guide(labels={at: str(at) for at in (0, 5, 9, 14)}), "at least 4"),
    ],
)
def test_contradictions_and_unknown_documents_are_named(guide, message):
    with pytest.raises(InputError, match=message):
        fit(guide)


def test_too_few_clusters_for_the_links_are_noted():
    model = fit(Guide(cannot_link=[(a, b) for a in range(5) for b in range(a)]))
    assert any("belong apart" in note for note in model.run_.evidence.warnings)


def test_a_merged_gram_is_a_gram_with_means_as_features():
    x = np.random.default_rng(0).normal(size=(7, 3))
    group, weights = np.array([0, 1, 1, 2, 0, 3, 1]), np.array([1.0, 2, 1, 1, 3, 1, 1])
    means = np.array([np.average(x[group == g], axis=0, weights=weights[group == g]) for g in range(4)])
    for base in (LinearGram(x), DenseGram(x @ x.T)):
        merged = merge(base, group, weights)
        check_gram(merged, means @ means.T)


def test_long_chains_of_links_cost_no_square_of_memory():
    n, rng = 20_000, np.random.default_rng(0)
    x = rng.normal(size=(n, 8)) + 6.0 * np.eye(8)[np.arange(n) % 8]
    first = rng.permutation(n)[: 4 * n // 5]  # a fifth is linked to nothing, so that single documents are moved
    chains = Guide(must_link=np.column_stack([first, (first + 8) % n]))
    model = DocumentClusterer(8, kernel="linear", method="kernel-kmeans", effort=Effort(stability=False, n_init=1))
    tracemalloc.start()
    try:
        labels = model.fit(x, guide=chains).labels_
        assert tracemalloc.get_traced_memory()[1] < 60e6
    finally:
        tracemalloc.stop()
    assert (labels[first] == labels[(first + 8) % n]).all()


def test_the_command_reads_a_guide(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lines = (json.dumps({"id": f"d{i}", "text": text}) + "\n" for i, text in enumerate(texts_of()))
    Path("docs.jsonl").write_text("".join(lines))
    Path("topics.json").write_text('{"Sea life": ["whale", "wave"]}')
    Path("pairs.csv").write_text("d0,d13\n")
    Path("linked.toml").write_text("[effort]\nn_init = 1\n[guide]\nmust_link = 'pairs.csv'\n")
    Path("apart.toml").write_text(Path("linked.toml").read_text() + "cannot_link = [['d13', 'd0']]\n")
    words = ["cluster", "docs.jsonl", "-k", "3", "--no-stability", "--json"]
    _, out, _ = answer(capsys, *words, "--topics", "topics.json", "--settings", "linked.toml")
    found = json.loads(out)
    assert "Sea life" in [cluster["name"] for cluster in found["clusters"]]
    assert found["documents"][0]["cluster"] == found["documents"][13]["cluster"]
    status, out, error = answer(capsys, *words, "--settings", "apart.toml")
    assert (status, out) == (1, "")
    assert "contradict each other" in error
    Path("topics.json").write_text("no json")
    status, out, error = answer(capsys, *words, "--topics", "topics.json")
    assert (status, out) == (1, "")
    assert error == "Error: topics.json cannot be read: it is not JSON.\n"


def test_the_command_sorts_into_topics(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lines = (json.dumps({"id": f"d{i}", "text": text}) + "\n" for i, text in enumerate(texts_of(40)))
    Path("docs.jsonl").write_text("".join(lines))
    Path("topics.txt").write_text("Sea; whale, wave, ship\nAir; bird, nest, wing\n")
    words = ["cluster", "docs.jsonl", "--no-stability", "--meaning", "off", "--json"]
    found = json.loads(answer(capsys, *words, "--topics", "topics.txt", "--only-topics")[1])
    assert {cluster["name"] for cluster in found["clusters"]} == {"Sea", "Air"}
    assert [row["cluster"] for row in found["documents"][80:]] == [None] * 40
    found = json.loads(answer(capsys, *words, "--topics", "whale, bird")[1])
    assert {"whale", "bird"} < {cluster["name"] for cluster in found["clusters"]}
    status, _, error = answer(capsys, *words, "--only-topics")
    assert status == 2
    assert "--only-topics needs topics to sort into: --topics NAMES|FILE." in error
    status, _, error = answer(capsys, *words, "--seed-terms", "topics.txt")
    assert status == 2
    assert "--topics FILE" in error
