"""Levels: the evidence, the verdict, nesting, and data without groups."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from click.testing import CliRunner
from sklearn.base import clone

from grampus import DocumentClusterer, choose_levels
from grampus.cli import grampus as command
from grampus.cluster import nested_tree
from grampus.describe import typicality as fit_of
from grampus.documents import Effort, update_run
from grampus.documents.find.levels import check_groups
from grampus.documents.given.inputs import collect
from grampus.errors import InputError
from grampus.gram import DenseGram, LinearGram, normalise
from grampus.kernels import parse_kernel
from grampus.metrics import ari
from grampus.report.verdict import lead, verdict
from grampus.select import evidence as evidence_of
from grampus.select.evidence import (
    FEWEST,
    OF_ROWS,
    OF_TEXTS,
    Evidence,
    _Judge,
    explained,
    grid,
    leading_points,
    measure_evidence,
)
from grampus.select.leftover import share_left_over
from grampus.select.levels import Chosen, compared_with, decide, explain_given, explain_levels
from grampus.select.nested import coarser, finer
from grampus.select.ungrouped import ungrouped, ungrouped_gram
from grampus.select.ward import WardTree
from grampus.text import Corpus


def blobs(k, n=240, d=8, seed=0, apart=12.0):
    rng = np.random.default_rng(seed)
    centres = np.zeros((k, d)) if k == 1 else rng.normal(size=(k, d))
    if k > 1:
        distances = np.sqrt(((centres[:, None] - centres) ** 2).sum(axis=-1))
        centres *= apart / distances[~np.eye(k, dtype=bool)].min()
    classes = np.arange(n) % k
    return centres[classes] + rng.normal(size=(n, d)), classes


def texts(rng, topics, n, words=30):
    """Return texts of `topics` topics; 0 for random words."""
    vocabulary = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in "bdfgklmnprst"]
    found, classes = [], []
    for i in range(n):
        topic = i % topics if topics else -1
        own = vocabulary[40 * topic : 40 * topic + 40] if topics else vocabulary[:300]
        found.append(" ".join(rng.choice(own, words)))
        classes.append(topic)
    return found, classes


# ---- the answer ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 5, 11])
def test_separated_groups_are_the_middle_level(k):
    x, classes = blobs(k)
    found = choose_levels(x, kernel="linear", random_state=0)
    assert (found.verdict, found.middle.n_clusters) == ("groups", k)
    assert ari(classes, found.middle.labels) == 1.0
    assert found.sentence.startswith(f"{k} groups")


def test_one_cloud_has_no_groups():
    x, _ = blobs(1)
    found = choose_levels(x, kernel="linear", random_state=0)
    assert (found.verdict, [level.n_clusters for level in found.levels]) == ("no groups", [1])
    assert not found.middle.labels.any()
    assert found.sentence.startswith("No clear groups")


def test_random_words_are_one_cluster_and_topics_are_not():
    rng = np.random.default_rng(3)
    nothing = DocumentClusterer().fit(texts(rng, 0, 200)[0])
    assert (nothing.choice_.answer, nothing.n_clusters_) == ("no groups", 1)
    assert not nothing.labels_.any()
    some, classes = texts(rng, 4, 200)
    found = DocumentClusterer().fit(some)
    assert (found.choice_.answer, found.n_clusters_) == ("groups", 4)
    assert ari(classes, found.labels_) == 1.0


def test_few_documents_are_too_few_to_tell():
    found = choose_levels(np.random.default_rng(0).normal(size=(FEWEST - 1, 3)), kernel="linear")
    assert (found.verdict, found.evidence, found.middle.n_clusters) == ("too few", None, 1)
    assert found.sentence == f"Too few documents to tell whether there are groups: {FEWEST - 1} different, " \
        f"and at least {FEWEST} are needed."  # fmt: skip
    model = DocumentClusterer().fit(["whale song", "whales sing", "bird nest"])
    assert (model.choice_.answer, model.n_clusters_) == ("too few", 1)


def test_a_given_k_is_kept_and_has_levels_around_it():
    some, _ = texts(np.random.default_rng(1), 6, 300)
    model = DocumentClusterer(6, effort=Effort(stability=False)).fit(some)
    assert (model.choice_, model.n_clusters_) == (None, 6)
    assert model.run_.levels == ("coarse", "middle", "fine")
    assert [len(model.run_.level_names(name)) for name in model.run_.levels] == [2, 6, 18]
    with pytest.raises(InputError, match="level must be one of 'coarse', 'middle', 'fine'; got 'finest'"):
        model.run_.level_labels("finest")


# ---- a given k ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("topics", "k", "answer", "words"), [
    (4, 4, "groups", "The 4 clusters you asked for are groups. Two random halves of your documents give the same"),
    (0, 10, "no groups", "No clear groups: your documents are no closer to each other than random ones."),
    (4, 21, "too few", "Too few documents to tell whether 21 clusters are groups: 200 different, and at least 210"),
])  # fmt: skip
def test_a_given_k_is_marked(topics, k, answer, words):
    some, _ = texts(np.random.default_rng(3), topics, 200)
    model = DocumentClusterer(k, effort=Effort(n_splits=2)).fit(some)
    assert (model.choice_.answer, model.choice_.given, model.n_clusters_) == (answer, True, k)
    assert model.choice_.verdict.startswith(words)
    said = [statement.text for statement in verdict(model.run_) if statement.kind != "good"]
    assert model.choice_.verdict in said
    first = lead(model.run_)
    assert (first.kind == "good") is (answer == "groups")
    if answer == "no groups":
        assert first.text.startswith("No clear groups")
        assert all(statement.kind != "good" for statement in verdict(model.run_))


def test_a_given_k_that_is_not_the_number_of_the_groups_says_so():
    x, _ = blobs(8, n=240)
    model = DocumentClusterer(3, kernel="linear", effort=Effort(n_splits=2)).fit(x)
    assert model.choice_.answer in ("groups", "weak groups")  # there are groups, and three clusters are some of them
    own = evidence([3], [0.1], beyond=9.0)
    words = explain_given(Chosen("weak groups", {"middle": 3}, own), 200)
    assert words.startswith("There are groups, but 3 is probably not their number. Two random halves")


def test_many_clusters_are_marked():
    cloud, (x, _) = blobs(1, n=1000)[0], blobs(12, n=1000)
    for rows, answer in ((cloud, "no groups"), (x, "weak groups")):
        kernel = parse_kernel("linear")
        inputs = collect(rows, kernel, None)
        gram = kernel.gram(inputs.features, inputs.collection)
        assert check_groups(gram, inputs, kernel, Effort(), 100, lambda *_: None).answer == answer
    assert check_groups(gram, inputs, kernel, Effort(stability=False), 12, lambda *_: None) is None


def test_the_mark_of_a_given_k_does_not_depend_on_the_order_of_documents():
    x, _ = blobs(3, n=1200, apart=3.0)  # more than are looked at
    order = np.random.default_rng(1).permutation(len(x))
    found = []
    for rows in (x, x[order]):
        kernel = parse_kernel("linear")
        inputs = collect(rows, kernel, None)
        gram = kernel.gram(inputs.features, inputs.collection)
        found.append(check_groups(gram, inputs, kernel, Effort(), 3, lambda *_: None))
    assert found[0] == found[1] is not None


@pytest.mark.parametrize("level", ["coarse", "middle", "fine"])
def test_any_level_can_be_the_answer_and_all_nest(level):
    rng = np.random.default_rng(0)
    far, _ = blobs(3, n=480, apart=60.0)
    place = np.arange(480)[:, None]
    x = far + np.where(place // 3 % 2, 9.0, -9.0) * np.eye(8)[0] + (place // 6 % 3 - 1) * 2.6 * np.eye(8)[1]
    x += 0.1 * rng.normal(size=x.shape)
    model = DocumentClusterer(kernel="linear", level=level, effort=Effort(stability=False)).fit(x)
    run = model.run_
    assert level in run.levels
    assert (run.level_labels(level) == model.labels_).all()
    assert run.n_clusters == len(run.level_names(level))
    for upper, lower in zip(run.levels, run.levels[1:], strict=False):
        above, below = run.level_labels(upper), run.level_labels(lower)
        assert all(len(set(above[below == c].tolist())) == 1 for c in range(below.max() + 1))


def test_a_level_that_does_not_exist_is_said():
    model = DocumentClusterer(level="fine").fit(texts(np.random.default_rng(3), 0, 120)[0])
    assert "There is no fine level; the middle one is shown." in model.run_.evidence.warnings
    with pytest.raises(InputError, match="'coarse', 'middle', 'fine', 'finest'; got 'f'"):
        DocumentClusterer(level="f").fit(["a whale"])
    with pytest.raises(InputError, match="level must be one of 'middle', 'fine'; got 'coarse'"):
        DocumentClusterer([2, 4], level="coarse").fit(["a whale"])
    with pytest.raises(InputError, match=r"got 'fine'; n_clusters=3 has no other. Give 'auto', or a list such as \[5"):
        DocumentClusterer(3, level="fine").fit(["a whale"])


def test_none_finds_the_number_like_auto():
    some, _ = texts(np.random.default_rng(1), 6, 120)
    model = DocumentClusterer(level="coarse", effort=Effort(stability=False))
    auto, none = (clone(model).set_params(n_clusters=k).fit(some) for k in ("auto", None))
    assert none.labels_.tolist() == auto.labels_.tolist()
    assert none.run_.levels == auto.run_.levels


@pytest.mark.parametrize(
    ("sizes", "names"),
    [
        ((3, 9), ("middle", "fine")),
        ([2, 6, 18], ("coarse", "middle", "fine")),
        (np.array([2, 5, 20, 60]), ("coarse", "middle", "fine", "finest")),
        (range(3, 16, 3), ("coarsest", "coarse", "middle", "fine", "finest")),
    ],
)
@pytest.mark.parametrize("level", ["middle", "fine"])
def test_levels_have_the_sizes_that_are_asked_for_and_nest(sizes, names, level, tmp_path):
    some, _ = texts(np.random.default_rng(1), 6, 200)
    model = DocumentClusterer(sizes, level=level, embed=None, effort=Effort(stability=False)).fit(some)
    run = model.run_
    assert (run.levels, run.level) == (names, level)
    assert [len(run.level_names(name)) for name in names] == list(sizes)
    assert (run.level_labels(level) == model.labels_).all()
    model.save(tmp_path / "run")
    again = DocumentClusterer.load(tmp_path / "run")
    assert (again.n_clusters, again.level) == (list(sizes), level)
    later = update_run(again.run_, [f"{some[0]} {some[1]}"])
    for made in (run, later):
        assert (made.levels, made.level) == (names, level)
        for upper, lower in pairwise(names):
            above, below = made.level_labels(upper), made.level_labels(lower)
            assert all(len(set(above[below == c].tolist())) == 1 for c in range(below.max() + 1))
            assert all(branch in _inside(made, upper) for branch in _inside(made, lower))


def _inside(run, name):
    """Return the branches of a level, and all inside them."""
    found = {index for level in run.evidence.levels if level.name == name for index in level.branches}
    for branch in run.evidence.tree:
        found |= {branch.index} if branch.parent in found else set()
    return found


@pytest.mark.parametrize(
    ("sizes", "named"),
    [([5], "two to five rising numbers"), ([9, 3], "rising"), ([1, 4], "at least 2"), (range(2, 9), "two to five"),
     ([3, 900], "between 1 and 60"), ("many", "a list of them or 'auto'")],
)  # fmt: skip
def test_sizes_that_are_no_levels_are_refused(sizes, named):
    some, _ = texts(np.random.default_rng(1), 3, 60)
    with pytest.raises(InputError, match=named):
        DocumentClusterer(sizes).fit(some)


def test_neither_order_nor_threads_change_the_levels():
    from grampus import config

    x, _ = blobs(4, n=120)
    order = np.random.default_rng(5).permutation(len(x))
    first = choose_levels(x, kernel="linear", random_state=0)
    with config(threads=1):
        again = choose_levels(x[order], kernel="linear", random_state=0)
    assert (first.evidence.merit == again.evidence.merit).all()
    for one, other in zip(first.levels, again.levels, strict=True):
        assert ari(one.labels[order], other.labels) == 1.0


def test_the_command_and_the_function_agree():
    x, _ = blobs(3, n=150)
    levels = choose_levels(x, kernel="linear", random_state=0)
    choice = DocumentClusterer(kernel="linear").choose(x)
    assert (choice.best, choice.answer) == (levels.middle.n_clusters, levels.verdict)
    assert choice.ks == tuple(levels.evidence.ks.tolist())


@pytest.mark.slow
@pytest.mark.parametrize(("topics", "n", "verdict"), [(5, 150, "groups"), (0, 150, "no groups"), (3, 20, "too few")])
def test_function_clusterer_and_command_give_one_answer(topics, n, verdict, tmp_path):
    some, _ = texts(np.random.default_rng(topics), topics, n)
    place = tmp_path / "texts.jsonl"
    place.write_text("".join(json.dumps({"text": text}) + "\n" for text in some), encoding="utf-8")
    done = CliRunner().invoke(command, ["choose-k", str(place), "--json"], prog_name="grampus", obj=[])
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    model = DocumentClusterer(effort=Effort(stability=False)).fit(some)
    levels = choose_levels(model.predictor_.vectorizer.transform(some), random_state=0)
    assert (said["best"], said["answer"]) == (model.n_clusters_, model.choice_.answer)
    assert (said["ks"], said["mean"]) == (list(model.choice_.ks), list(model.choice_.mean))
    assert (levels.middle.n_clusters, levels.verdict) == (model.n_clusters_, verdict)
    assert model.choice_.answer == verdict
    assert ari(levels.middle.labels, model.labels_) == 1.0
    for one, other in pairwise(levels.levels):
        assert len(set(zip(one.labels.tolist(), other.labels.tolist(), strict=True))) == other.n_clusters


def test_ks_limit_the_range():
    x, _ = blobs(6, n=150)
    found = choose_levels(x, kernel="linear", ks=range(2, 5), random_state=0)
    assert found.evidence.ks.tolist() == [2, 3, 4]
    with pytest.raises(InputError, match="Each half must hold"):
        choose_levels(x, kernel="linear", ks=[100])


@pytest.mark.parametrize("kind", ["stored", "texts"])
def test_grams_and_strings(kind):
    x, _ = blobs(3, n=90)
    if kind == "stored":
        found = choose_levels(DenseGram(x @ x.T), random_state=0)
    else:
        found = choose_levels(
            texts(np.random.default_rng(0), 3, 90, 12)[0], kernel="spectrum(3)|normalise", random_state=0
        )
    assert found.middle.n_clusters == 3


# ---- reading the evidence -----------------------------------------------------------------------------------


def evidence(ks, means, merit=None, *, expected=0.1, error=0.01, beyond=9.0, steady=False):
    means, flat = np.array(means, dtype=float), np.ones(len(ks))
    merit = means if merit is None else np.array(merit)
    return Evidence(np.array(ks), means, error * flat, expected * flat, merit, beyond, 1000, steady)


@pytest.mark.parametrize("k", ["auto", 2])
def test_kernels_of_similarities_that_are_not_negative_choose_k_on_dense_rows(k):
    rng = np.random.default_rng(0)
    rows = np.abs(np.repeat(np.eye(3), 20, axis=0) + 0.2 * rng.standard_normal((60, 3)))
    for kernel in ("cosine|power(0.6)|map", "cosine|power(0.6) + linear|centre"):
        model = DocumentClusterer(k, kernel=kernel).fit(rows)
        assert len(set(model.labels_)) == (3 if k == "auto" else 2)


def test_centres_explain_what_scatter_around_them_leaves():
    points, labels = np.random.default_rng(0).normal(size=(60, 4)), np.arange(60) % 5
    middles = np.array([points[labels == c].mean(axis=0) for c in range(5)])
    within = sum(((points[labels == c] - middles[c]) ** 2).sum() for c in range(5))
    assert explained(points, labels, middles) == pytest.approx(1.0 - within / (points**2).sum())
    assert explained(middles, np.arange(5), middles) == 1.0
    assert explained(points, labels, np.zeros((5, 4))) == 0.0


def test_rows_of_numbers_and_texts_with_embeddings_are_weighed_differently_from_texts(monkeypatch, tmp_path):
    seen = []
    monkeypatch.setattr(
        "grampus.select.levels.measure_evidence",
        lambda gram, compared, *more: (seen.append(compared.worth), measure_evidence(gram, compared, *more))[1],
    )
    rng = np.random.default_rng(0)
    rows, words = (
        rng.normal(size=(40, 6)),
        ["apple", "bridge", "candle", "dragon", "engine", "forest", "garden", "harbour"],
    )
    texts = [" ".join(rng.choice(words, 6)) for _ in range(40)]
    effort = Effort(stability=False)
    DocumentClusterer(effort=effort).fit(rows)
    DocumentClusterer(effort=effort).fit(Corpus(texts, inputs={"embedding": rows}))
    DocumentClusterer(embed=lambda some: rows[: len(some)], effort=effort).fit(texts)  # as if they had been given
    DocumentClusterer(embed=None, effort=effort).fit(texts)
    DocumentClusterer(embed=_vectors(tmp_path, words), effort=effort).fit(texts)
    DocumentClusterer(effort=effort).fit(sp.csr_array(np.abs(rows)))
    assert seen == [OF_ROWS] * 3 + [OF_TEXTS] * 3


def _vectors(folder, words):
    path = folder / "vectors.txt"
    path.write_text("".join(f"{word} {at} 1 {-at}\n" for at, word in enumerate(words)))
    return path


def test_levels_are_apart_and_supported():
    ks = [2, 3, 4, 6, 8, 12, 20, 30]
    found = decide(evidence(ks, [0.5, 0.7, 0.5, 0.5, 0.8, 0.5, 0.5, 0.7]))
    assert (found.verdict, found.ks) == ("groups", {"coarse": 3, "middle": 8, "fine": 30})
    assert decide(evidence(ks, [0.3] * 8)).verdict == "weak groups"
    unsteady = decide(evidence(ks, [0.5, 0.7, 0.5, 0.5, 0.8, 0.1, 0.1, 0.1]))
    assert unsteady.ks == {"coarse": 3, "middle": 8}
    ks = [2, 3, 5, 8, 9, 16, 20, 40, 60]
    found = decide(evidence(ks, [0.5, 0.5, 0.7, 0.5, 0.5, 0.8, 0.5, 0.7, 0.7]))
    assert found.ks == {"coarsest": 2, "coarse": 5, "middle": 16, "fine": 40}
    found = decide(evidence([*ks, 90], [0.5, 0.5, 0.7, 0.5, 0.5, 0.8, 0.5, 0.7, 0.7, 0.6]))
    assert list(found.ks.values()) == [2, 5, 16, 40, 90]


def test_two_groups_are_not_dismissed_because_a_long_cloud_agrees_as_well():
    assert decide(evidence([2, 3], [0.91, 0.5], expected=0.9)).ks["middle"] == 2
    assert decide(evidence([2, 3], [0.81, 0.5], expected=0.9)).verdict == "no groups"
    assert decide(evidence([2, 3], [0.91, 0.5], expected=0.9, beyond=2.0)).verdict == "no groups"
    seen = replace(evidence([2, 3], [0.7, 0.5], expected=0.9), nearer=np.array([0.3, 0.1]))
    found = decide(seen)
    assert (found.verdict, found.ks["middle"]) == ("weak groups", 2)
    assert "Neighbours share a group far more often" in explain_levels(found.verdict, found.ks, seen, 400)


@pytest.mark.slow
def test_the_number_of_groups_is_no_matter_of_the_seed():
    rows = np.random.default_rng(5).normal(size=(400, 6))
    rows += 2.2 * np.random.default_rng(6).normal(size=(9, 6))[np.arange(400) % 9]  # 8 or 9, as halves have it
    found = [DocumentClusterer(random_state=seed, effort=Effort(stability=False)).fit(rows) for seed in range(4)]
    assert len({model.choice_ for model in found}) == 1
    assert len({choose_levels(rows, random_state=seed).evidence.mean[0] for seed in range(4)}) == 4


def test_numbers_with_a_large_heap_are_passed_over():
    seen = evidence([2, 4, 6, 9], [0.9, 0.8, 0.7, 0.6])
    assert decide(replace(seen, left_over=np.array([0.25, 0.0, 0.0, 0.0]))).ks["middle"] == 2
    assert decide(replace(seen, left_over=np.array([0.45, 0.3, 0.2, 0.0]))).ks["middle"] == 6
    assert decide(replace(seen, left_over=np.full(4, 0.5))).ks["middle"] == 2  # there is none without
    nothing = replace(evidence([2, 4], [0.9, 0.8], beyond=1.0), left_over=np.array([0.5, 0.0]))
    assert decide(nothing).verdict == "no groups"


def test_another_number_of_groups_is_shown_where_halves_do_not_agree_on_the_best():
    seen = replace(evidence([2, 3, 4], [0.3, 0.8, 0.5], [1.2, 1.1, 1.0]), expected=np.array([0.4, 0.2, 0.2]))
    assert decide(seen).ks["middle"] == 3


def test_of_nearly_equal_values_the_fewest_groups_are_shown_unless_halves_agree_perfectly():
    merit = [0.9, 0.97, 0.98, 1.0, 0.8]
    assert decide(evidence([2, 3, 4, 5, 6], [0.6] * 5, merit)).ks["middle"] == 3
    assert decide(evidence([2, 3, 4, 5, 6], [1.0] * 5, merit)).ks["middle"] == 5


@pytest.mark.parametrize(
    ("beyond", "means", "steady", "verdict"),
    [
        (9.0, [0.8, 0.8], False, "groups"),
        (2.9, [0.8, 0.8], False, "no groups"),
        (9.0, [0.11, 0.11], False, "no groups"),
        (-np.inf, [0.8, 0.8], True, "groups"),
        (-np.inf, [0.3, 0.3], True, "no groups"),
    ],
)
def test_groups_need_near_neighbours_and_halves_that_agree(beyond, means, steady, verdict):
    assert decide(evidence([2, 3], means, beyond=beyond, steady=steady)).verdict == verdict


def test_words_of_every_verdict():
    seen = evidence([2, 3, 4], [0.5, 0.9, 0.5])
    words = explain_levels("groups", {"middle": 3, "fine": 9}, seen, 500)
    assert words.startswith("3 groups (9 if finer). Two random halves of your documents give the same groups (")
    assert explain_levels("weak groups", {"middle": 3}, seen, 500).startswith("3 weak groups. Two random halves")
    assert explain_levels("groups", {"middle": 7}, None, 500) == "7 groups."


@pytest.mark.parametrize(("n", "last"), [(30, 7), (100, 25), (2500, 625)])
def test_every_number_up_to_a_quarter_of_the_documents_is_in_reach(n, last):
    ks = grid(n)
    assert ks[0] == 2
    assert 0.85 * last <= ks[-1] <= last
    assert list(ks) == sorted(set(ks))


# ---- partitions around a partition --------------------------------------------------------------------------


def test_coarser_and_finer_nest():
    x, classes = blobs(6, n=300)
    gram = LinearGram(x)
    above, below = coarser(gram, classes, 2), finer(gram, classes, 15, 0)
    assert (above.max() + 1, below.max() + 1) == (2, 15)
    assert all(len(set(above[classes == c].tolist())) == 1 for c in range(6))
    assert all(len(set(classes[below == c].tolist())) == 1 for c in range(15))
    assert (np.diff(np.bincount(below)) <= 0).all()


def test_documents_in_no_cluster_stay_there():
    x, classes = blobs(4, n=120)
    classes = np.where(np.arange(120) < 10, -1, classes)
    gram = LinearGram(x)
    for found in (coarser(gram, classes, 2), finer(gram, classes, 8, 0)):
        assert ((found < 0) == (classes < 0)).all()


def test_a_cluster_of_few_documents_is_not_divided():
    gram = LinearGram(np.random.default_rng(0).normal(size=(12, 2)))
    assert finer(gram, np.zeros(12, dtype=np.intp), 9, 0).max() + 1 == 2


@pytest.mark.parametrize("features", [True, False])
def test_a_tree_follows_its_levels(features):
    x, middle = blobs(6, n=240)
    gram, above = LinearGram(x) if features else DenseGram(x @ x.T), np.array([0, 1, 0, 1, 2, 2])[middle]
    below = finer(gram, middle, 12, 0)
    tree = nested_tree(gram, middle, above=[above], below=[below])
    assert [ari(tree.cut(k), level) for k, level in ((3, above), (6, middle), (12, below))] == [1.0, 1.0, 1.0]
    for node in tree.nodes:  # from sums between the finest groups, as from the documents themselves
        own = x[node.members]
        assert node.scatter == pytest.approx(((own - own.mean(axis=0)) ** 2).sum(), abs=1e-8)
    with pytest.raises(InputError, match="Partitions above must be unions"):
        nested_tree(gram, middle, above=[np.arange(240) % 7])
    with pytest.raises(InputError, match="Partitions below must be parts"):
        nested_tree(gram, middle, below=[np.arange(240) % 7])


# ---- data without groups ------------------------------------------------------------------------------------


def test_traded_terms_keep_their_margins_and_their_weights():
    rng = np.random.default_rng(0)
    rows = sp.csr_array(rng.random((80, 50)) * (rng.random((80, 50)) < 0.15))
    mixed = ungrouped(rows, np.random.default_rng(1))
    assert ((mixed > 0).sum(axis=0) == (rows > 0).sum(axis=0)).all()
    assert ((mixed > 0).sum(axis=1) == (rows > 0).sum(axis=1)).all()
    assert (mixed != rows).nnz > rows.nnz
    assert mixed.has_sorted_indices


def test_traded_terms_lose_their_topics():
    some, _ = texts(np.random.default_rng(0), 4, 120)
    from grampus import TermVectorizer

    rows = TermVectorizer(min_df=1).fit_transform(some)
    own, mixed = ((part @ part.T).toarray() for part in (rows, ungrouped(rows, np.random.default_rng(0))))
    classes = np.arange(120) % 4
    same = classes[:, None] == classes
    assert own[same].mean() > 20 * own[~same].mean()
    assert mixed[same].mean() < 2 * mixed[~same].mean()


@pytest.mark.parametrize("shape", [(400, 3), (20, 50)])
def test_one_gaussian_keeps_mean_and_covariance(shape):
    rng = np.random.default_rng(0)
    x = rng.normal(size=shape) @ rng.normal(size=(shape[1], shape[1])) + 5.0
    drawn = np.concatenate([ungrouped(x, np.random.default_rng(seed)) for seed in range(200)])
    assert np.abs(drawn.mean(axis=0) - x.mean(axis=0)).max() < 0.1 * x.std()
    assert np.abs(np.cov(drawn.T) - np.cov(x.T, ddof=0)).max() < 0.1 * np.cov(x.T).max()


def test_dealt_words_keep_their_number():
    mixed = ungrouped(["a b c", "d e", "f"], np.random.default_rng(0))
    assert [len(text.split()) for text in mixed] == [3, 2, 1]
    assert sorted(" ".join(mixed).split()) == list("abcdef")
    strings = ungrouped(["acgt", "ac"], np.random.default_rng(0))
    assert ([len(text) for text in strings], sorted("".join(strings))) == ([4, 2], list("aaccgt"))


def test_a_gram_without_features_becomes_one_cloud():
    x, _ = blobs(3, n=60)
    rows = x / np.linalg.norm(x, axis=1, keepdims=True)
    drawn = ungrouped_gram(DenseGram(rows @ rows.T), np.random.default_rng(0))
    assert len(drawn) == 60
    np.testing.assert_allclose(drawn.diagonal(), 1.0, rtol=1e-9)


def test_texts_that_share_nothing_have_no_groups():
    alone = [" ".join(f"w{chr(97 + i % 26)}{chr(97 + i // 26)}{chr(97 + j)}" for j in range(8)) for i in range(120)]
    model = DocumentClusterer(embed=None, effort=Effort(stability=False)).fit(alone)
    assert (model.choice_.answer, model.n_clusters_) == ("no groups", 1)


# ---- what is left over --------------------------------------------------------------------------------------


def heap(rng, n=300, groups=3, each=33):
    """Return rows of which three quarters have nothing in common, and the rest form tight groups; and the clusters."""
    rows = rng.normal(size=(n, 20)) + 0.3
    tight = np.repeat(np.eye(20)[:groups] * 12, each, axis=0) + rng.normal(size=(groups * each, 20))
    return np.concatenate([rows, tight]), np.repeat(np.arange(groups + 1), [n, *[each] * groups])


def test_a_heap_of_leftovers_is_mixed_however_often_it_is_found_again():
    rows, labels = heap(np.random.default_rng(0))
    gram = normalise(LinearGram(rows))
    found = fit_of(gram, labels)
    assert found.mixed.tolist() == [True, False, False, False]
    assert found.alike[0] < 0.1
    assert (found.alike[1:] > 0.5).all()
    assert fit_of(gram, np.zeros(len(rows), dtype=int)).mixed.tolist() == [False]  # nothing to compare it with
    tight = fit_of(gram.take(np.flatnonzero(labels > 0)), labels[labels > 0] - 1)
    assert not tight.mixed.any()
    noise = fit_of(gram.take(np.arange(300)), np.arange(300) % 3)
    assert not noise.mixed.any()  # all alike: that there are no groups is said elsewhere


def test_a_broad_class_is_no_heap():
    rng = np.random.default_rng(0)
    tight, broad = rng.normal(size=(100, 10)) + 3 * np.eye(10)[0], rng.normal(size=(100, 10)) + 1.2 * np.eye(10)[1]
    gram = normalise(LinearGram(np.concatenate([tight, broad])))
    found = fit_of(gram, np.repeat([0, 1], 100))
    anyone = gram.dense()[~np.eye(200, dtype=bool)].mean()
    assert found.cohesion(1) < anyone + 0.1 * (1.0 - anyone)  # hardly more alike than any two
    assert not found.mixed.any()  # but more than two of different clusters


@pytest.mark.parametrize("k", [2, 4, 30])
def test_the_share_that_is_left_over_is_that_of_the_mixed_clusters(k):
    gram = normalise(LinearGram(heap(np.random.default_rng(k))[0]))
    labels = WardTree(leading_points(gram)).cut(k)
    fit = fit_of(gram, labels)
    assert share_left_over(gram, labels) == pytest.approx(fit.mixed[labels].mean())
    assert fit.mixed.any() == (k < 30)


@pytest.mark.parametrize("kernel", ["spectrum(3)|normalise", "subsequence(2)|normalise"])
def test_heaps_are_looked_for_without_comparing_strings_again(kernel, monkeypatch):
    given, found = texts(np.random.default_rng(0), 3, 60, 6)[0], []
    monkeypatch.setattr(evidence_of, "share_left_over", lambda gram, labels: found.append(gram) or 0.0)
    choose_levels(given, kernel=kernel, random_state=0)
    assert found
    assert all(gram.features() is not None for gram in found)


def test_the_level_that_is_shown_has_no_large_heap():
    rows, labels = heap(np.random.default_rng(0))
    some = np.concatenate([rows[:150], rows[labels > 0]])
    shown = DocumentClusterer(kernel="cosine", effort=Effort(stability=False)).fit(some)
    left = sum(cluster.size for cluster in shown.clusters_ if cluster.mixed)
    assert shown.choice_.answer != "no groups"
    assert left <= 0.25 * len(some)


def test_cohesion_beyond_chance_is_nothing_for_random_groups_of_any_size():
    rng = np.random.default_rng(0)
    gram = normalise(LinearGram(np.abs(rng.normal(size=(400, 5)))))
    found = fit_of(gram, np.repeat([0, 1, 2], [300, 80, 20])[rng.permutation(400)])
    assert np.abs(found.alike).max() < 0.05 < found.chance


def test_a_mixed_cluster_is_called_so_and_gets_no_tick():
    rows, _ = heap(np.random.default_rng(0))
    model = DocumentClusterer(4, kernel="cosine", effort=Effort(n_splits=4)).fit(rows)
    assert [cluster.mixed for cluster in model.clusters_] == [True, False, False, False]
    said = verdict(model.run_)
    assert any("is what was left over: its documents have little in common" in statement.text for statement in said)
    assert not any(statement.kind == "good" for statement in (lead(model.run_), *said))
    assert "of the documents are left over: they have little in common" in lead(model.run_).text


def test_the_number_of_groups_gets_no_tick_where_one_is_mixed():
    x, _ = blobs(4, n=200)
    run = DocumentClusterer(kernel="linear", effort=Effort(n_splits=4)).fit(x).run_
    assert verdict(run)[0].kind == "good"
    first, *others = run.evidence.clusters
    heap = replace(run, evidence=replace(run.evidence, clusters=(replace(first, mixed=True), *others)))
    assert verdict(heap)[0].kind == "plain"


def test_a_cluster_that_stays_empty_leaves_no_hole():
    from grampus.select.nested import nested

    x = np.repeat(np.eye(4), 6, axis=0)
    labels = np.repeat([0, 1, 3, 4], 6)  # nothing in 2
    found = nested(LinearGram(x), labels, {"coarse": 2, "middle": 5}, 0)
    assert len(np.unique(found["coarse"])) == 2


def test_the_search_counts_its_steps():
    x, seen = np.random.default_rng(0).normal(size=(60, 3)), []
    gram = LinearGram(x)
    measure_evidence(gram, compared_with(gram, None, x), (2, 3), (0,), lambda *step: seen.append(step))
    assert seen == [("looking for groups", done, 3) for done in range(4)]


def test_lengths_are_kept_where_documents_differ_in_length():
    x = np.random.default_rng(0).normal(size=(40, 3))
    assert np.ptp(ungrouped_gram(LinearGram(x), np.random.default_rng(1)).diagonal()) > 0.1
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    np.testing.assert_allclose(ungrouped_gram(LinearGram(unit), np.random.default_rng(1)).diagonal(), 1.0)


@pytest.mark.parametrize(("beyond", "looked_at", "best"), [(0.9, 10, 10), (0.99, 20, 18)])
def test_more_groups_are_looked_at_while_the_last_are_about_as_good(beyond, looked_at, best):
    """Of groups of eight, 25 neighbours say little: their numbers are asked for if halves speak for those before."""
    judge = object.__new__(_Judge)
    judge.worth, judge.merits = OF_TEXTS, {}
    judge._rough = lambda k: 1.0 - 0.05 * abs(k - 4)
    merit = {k: 1.0 if k < 10 else 1.2 if k == best == 18 else beyond for k in range(2, 21)}
    judge._look = lambda ks, splits: judge.merits.update({k: merit[k] for k in list(ks)})
    judge._look_at_ward(range(2, 21, 2), free=True)
    assert max(judge.merits) == looked_at
    assert (max(judge.merits, key=judge.merits.get) == 18) == (best == 18)


def test_trees_are_kept_while_threads_add_others():
    from grampus.select.ward import KEPT, WardTree, _grown, tree_of

    many = [np.random.default_rng(seed).normal(size=(12, 2)) for seed in range(2 * KEPT)]
    wanted = [WardTree(points).cut(3).tolist() for points in many]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda number: tree_of(many[number % len(many)], "ward"), range(20 * len(many))))
    assert [tree.cut(3).tolist() for tree in found] == 20 * wanted
    last = many[-1]
    assert tree_of(last, "ward") is tree_of(last.copy(), "ward")
    assert len(_grown) <= KEPT
