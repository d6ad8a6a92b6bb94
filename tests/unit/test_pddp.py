"""Trees: bad input, determinism, variants, formats, the estimators' manners."""

import json
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.cluster import hierarchy
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import grampus
from grampus import PDDP, BisectingKernelKMeans, KernelKMeans
from grampus.cluster import bisecting_kernel_kmeans, kernel_kmeans, pddp
from grampus.cluster.trees.formats import Outline, newick, render_outline
from grampus.cluster.trees.pddp import VARIANTS
from grampus.cluster.trees.tree import Split, _number
from grampus.errors import InputError, MissingExtraError
from grampus.gram import DenseGram, FunctionGram, LinearGram, centre, eigenpairs, empirical_map, normalise
from grampus.kernels import parse_kernel
from tests import memory
from tests.estimators import expected_failures, texts_like

X = texts_like(300, 90)
KERNELS = ["linear", "cosine", "gaussian(4)", "polynomial(2)", "linear|normalise(1)", "cosine|shift", "cosine|centre"]
CUTS = ["zero", "full", "projection"]


def shape_of(tree):
    """Everything about a tree that must be the same again."""
    return [(n.members.tolist(), n.children, n.order, round(n.scatter, 6)) for n in tree.nodes]


def sets(tree):
    return {frozenset(leaf.members.tolist()) for leaf in tree.leaves}


# -- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_clusters": 0}, r"n_clusters must be between 1 and 300 \(the number of documents\); got 0"),
        ({"n_clusters": 301}, r"between 1 and 300 \(the number of documents\); got 301"),
        ({"n_clusters": 2.5}, "n_clusters must be a whole number"),
        ({"n_clusters": None}, "n_clusters must be a whole number"),
        ({"n_components": 0}, "n_components must be between 1 and 16; got 0"),
        ({"n_components": 40}, "n_components must be between 1 and 16; got 40"),
        ({"cut": "half"}, "cut must be one of 'zero', 'full', 'projection'; got 'half'"),
        ({"choose": "depth"}, "choose must be one of 'scatter', 'size', 'gain'; got 'depth'"),
        ({"refine": "yes"}, "refine must be"),
        ({"refine": True, "max_iter": 0}, "max_iter must be at least 1"),
    ],
)
def test_bad_parameters(arguments, message):
    given = {"n_clusters": 3, **arguments}
    with pytest.raises(InputError, match=message):
        pddp(LinearGram(X), given.pop("n_clusters"), **given)


def test_bad_parameters_of_bisecting():
    for k, given, message in (
        (301, {}, "between 1 and 300"),
        (3, {"n_init": 0}, "n_init must be at least 1"),
        (3, {"init": "pca"}, "init must be one of 'random'"),
        (3, {"choose": "depth"}, "choose must be one of"),
        (3, {"random_state": "seed"}, "random_state"),
    ):
        with pytest.raises(InputError, match=message):
            bisecting_kernel_kmeans(LinearGram(X), k, **given)


GROWERS = {
    **{f"{cut}{'+refine' * refine}": (cut, refine) for cut in CUTS for refine in (False, True)},
    "bisecting": None,
}


def grown(how, gram, k, n_components=1):
    if GROWERS[how] is None:
        return bisecting_kernel_kmeans(gram, k, random_state=0, n_init=3)
    cut, refine = GROWERS[how]
    return pddp(gram, k, cut=cut, refine=refine, n_components=n_components)


@pytest.mark.parametrize("how", GROWERS)
@pytest.mark.parametrize("copies", [1, 3, 50])
def test_identical_documents_end_the_tree_honestly(how, copies):
    for distinct in (np.zeros((1, 2)), np.ones((1, 2)) / 3, np.array([[1.0, 0.1], [2.0, 0.7], [0.3, 0.3]]) * 1e3):
        x = np.repeat(distinct, copies, axis=0)
        for form in (LinearGram(x), LinearGram(sp.csr_array(x)), DenseGram(x @ x.T)):
            if len(x) == len(distinct):
                tree = grown(how, form, len(x))
                assert tree.complete
            else:
                with pytest.warns(UserWarning, match=f"Only {len(distinct)} of {len(x)} clusters"):
                    tree = grown(how, form, len(x))
                assert not tree.complete
            assert len(tree.leaves) == len(distinct)
            assert tree.objective == pytest.approx(0, abs=1e-9)


def test_one_document_and_one_cluster():
    for how in GROWERS:
        assert grown(how, LinearGram(np.ones((1, 3))), 1).labels.tolist() == [0]
        tree = grown(how, LinearGram(X), 1)
        assert len(tree) == 1
        assert tree.root.is_leaf
        assert (tree.labels == 0).all()


def test_as_many_clusters_as_documents():
    x = np.random.default_rng(0).standard_normal((40, 3))
    for how in GROWERS:
        tree = grown(how, LinearGram(x), 40)
        assert sorted(tree.labels) == list(range(40))
        assert all(leaf.size == 1 and leaf.scatter == pytest.approx(0, abs=1e-9) for leaf in tree.leaves)


@pytest.mark.parametrize("n", [9, 200])
def test_more_directions_than_the_rank(n):
    x = np.random.default_rng(0).standard_normal((n, 2)) @ np.array([[1.0, 2.0, 0.5, 1.0], [0.0, 1.0, 3.0, 1.0]])
    for cut in CUTS:
        tree = pddp(LinearGram(x), 8, n_components=5, cut=cut)
        assert all(node.split.coefficients.shape == (node.size, len(node.split.eigenvalues)) for node in tree.splits)
        assert len(tree.root.split.eigenvalues) == 2
        assert len(tree.leaves) >= 8


def test_ties_at_the_cut_go_left_together():
    x = np.array([[-1.0], [0.0], [0.0], [0.0], [1.0]])
    tree = pddp(LinearGram(x), 2)
    assert sorted(map(sorted, sets(tree))) in ([[0, 1, 2, 3], [4]], [[0], [1, 2, 3, 4]])
    for cut in ("full", "projection"):  # equal projections are never separated
        labels = pddp(LinearGram(x), 2, cut=cut).labels
        assert labels[1] == labels[2] == labels[3]


@pytest.mark.parametrize("form", [LinearGram, lambda x: LinearGram(sp.csr_array(x)), lambda x: DenseGram(x @ x.T)])
@pytest.mark.parametrize("n", [20, 60])
def test_documents_on_the_cut_go_left_whatever_rounding_says(n, form):
    rng = np.random.default_rng(n)
    spread = np.zeros((n, 6))
    spread[:, 0] = 5 + rng.random(n)  # far along the first axis, in pairs of opposites
    flat = np.hstack([np.zeros((n, 1)), rng.standard_normal((n, 5)) / 10])  # beside it, in pairs too
    centre_of_all = 10 * rng.random(6)
    x = np.vstack([spread, -spread, flat, -flat]) + centre_of_all
    tree = pddp(form(x), 2)
    left = tree.nodes[tree.root.children[0]].members
    assert set(range(2 * n, 4 * n)) <= set(left.tolist())
    assert len(left) == 3 * n
    if form is LinearGram:
        model = PDDP(2).fit(x)
        assert (model.predict(x[2 * n :]) == model.labels_[-1]).all()
        assert (model.labels_[2 * n :] == model.labels_[-1]).all()


@pytest.mark.parametrize("n", [30, 300])
def test_no_variance_in_feature_space(n):
    flat = DenseGram(np.ones((n, n)))
    with pytest.warns(UserWarning, match="Only 1 of 2"):
        assert len(pddp(flat, 2).leaves) == 1
    negative = DenseGram(-np.eye(n))  # no direction with positive variance
    with pytest.warns(UserWarning, match="Only 1 of 2"):
        assert len(pddp(negative, 2).leaves) == 1


def test_indefinite_grams_are_divided_along_their_positive_directions():
    rng = np.random.default_rng(0)
    for n in (30, 120):
        a, b = rng.standard_normal((n, 3)), 0.3 * rng.standard_normal((n, 2))
        tree = pddp(DenseGram(a @ a.T - b @ b.T), 4)
        assert len(tree.leaves) == 4
        assert all((node.split.eigenvalues > 0).all() for node in tree.splits)


def test_directions_without_positive_variance_are_left_out():
    rng = np.random.default_rng(0)
    a, Q = rng.standard_normal((300, 1)), np.linalg.qr(rng.standard_normal((300, 300)))[0]
    K = 400 * a @ a.T - (Q * np.linspace(1, 2, 300)) @ Q.T
    found = eigenpairs(DenseGram(K), 3, start=rng.standard_normal(300), floor=1e-8, probe=False)
    assert len(found.values) == 1
    assert found.products < 40
    tree = pddp(DenseGram(K), 2, n_components=3)
    assert len(tree.root.split.eigenvalues) == 1
    assert len(tree.root.children) == 2


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_features_in_single_precision_are_added_in_double(form):
    """Also where the documents are so few that their matrix would be quicker to read than their terms."""
    x = np.random.default_rng(0).random((6, 200)).astype(np.float32)
    tree = pddp(LinearGram(form(x)), 6)
    assert [leaf.scatter for leaf in tree.leaves] == pytest.approx([0.0] * 6, abs=1e-13)
    assert tree.root.scatter == pytest.approx(((x - x.mean(axis=0, dtype=float)) ** 2).sum(), rel=1e-12)


def test_far_from_the_origin():
    x = np.random.default_rng(0).standard_normal((200, 5))
    near, far = pddp(LinearGram(x), 6), pddp(LinearGram(x + 1e5), 6)
    assert sets(near) == sets(far)
    assert far.root.scatter == pytest.approx(near.root.scatter, rel=1e-6)


# -- what does not change the tree -----------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_runs_and_orders_of_the_documents_give_one_tree(kernel, cut):
    model = PDDP(6, kernel=kernel, cut=cut, refine=cut == "zero")
    expected = model.fit(X).tree_
    assert not expected.close_calls
    assert shape_of(model.fit(X).tree_) == shape_of(expected)
    for seed in range(2):
        order = np.random.default_rng(seed).permutation(300)
        labels = model.fit_predict(X[order])
        assert np.array_equal(labels, expected.labels[order])
        if kernel == "linear":  # sparse rows: the same to the last bit
            for a, b in zip(expected.nodes, model.tree_.nodes, strict=True):
                assert a.scatter == b.scatter
                assert a.split is None or np.array_equal(a.split.eigenvalues, b.split.eigenvalues)


@pytest.mark.parametrize("kernel", ["cosine", "gaussian(4)"])
def test_bisecting_does_not_depend_on_the_order(kernel):
    model = BisectingKernelKMeans(5, kernel=kernel, n_init=3, random_state=0)
    expected = model.fit(X).tree_
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(300)
        found = model.fit(X[order]).tree_
        assert {frozenset(order[list(leaf)].tolist()) for leaf in sets(found)} == sets(expected)


def test_kernel_and_linear_trees_are_the_same():
    dense = X.toarray()
    function = FunctionGram(lambda a, b: a @ b.T, dense, lambda a: (a**2).sum(axis=1))
    for cut in CUTS:
        for n_components in (1, 2, 3):
            expected = pddp(LinearGram(X), 8, cut=cut, n_components=n_components)
            for gram in (LinearGram(dense), DenseGram(dense @ dense.T), function):
                assert sets(pddp(gram, 8, cut=cut, n_components=n_components)) == sets(expected)
        with grampus.config(memory="1MB", tile=20_000):  # nothing fits: products alone
            assert sets(pddp(function, 8, cut=cut, n_components=n_components)) == sets(expected)


def test_transforms_that_do_not_commute_with_taking():
    for gram in (centre(normalise(LinearGram(X))), empirical_map(normalise(LinearGram(X)))):
        stored = DenseGram(gram.dense())
        with grampus.config(memory="1MB"):
            free = pddp(gram, 4)
        assert sets(free) == sets(pddp(stored, 4))


def test_float32_gives_the_same_tree():
    single = X.astype(np.float32)
    assert sets(pddp(LinearGram(single), 6)) == sets(pddp(LinearGram(X), 6))
    K = (X @ X.T).toarray()
    assert sets(pddp(DenseGram(K.astype(np.float32)), 6)) == sets(pddp(DenseGram(K), 6))


@pytest.mark.slow
@pytest.mark.skipif(not memory.available(), reason="needs Linux's record of peak memory")
def test_memory_is_that_of_the_stored_entries():
    figures = memory.rise(
        """
        import numpy as np, scipy.sparse as sp
        from grampus.cluster import pddp
        from grampus.gram import LinearGram
        rng = np.random.default_rng(0)
        pddp(LinearGram(sp.csr_array(rng.poisson(0.1, (200, 50)).astype(float))), 3)
        n, m, row = 30000, 20000, 40
        x = sp.csr_array((rng.random(n * row), rng.integers(0, m, n * row), np.arange(n + 1) * row), shape=(n, m))
        x.sum_duplicates()
        input_bytes = x.data.nbytes + x.indices.nbytes + x.indptr.nbytes
        """,
        "pddp(LinearGram(x), 4, cut='full')",
    )
    # one ordered copy, the nodes' parts, and a basis of 65 vectors: n² would be 7.2 GB
    assert figures["rise"] < 6 * figures["input"] + 65 * 8 * 30000


# -- choosing the leaf, cutting the tree ------------------------------------------------------------------------------


def test_the_leaf_that_is_divided_next():
    by = {choose: pddp(LinearGram(X), 7, choose=choose) for choose in ("scatter", "size", "gain")}
    for choose, measure in {"scatter": lambda n: n.scatter, "size": lambda n: n.size, "gain": lambda n: n.gain}.items():
        tree = by[choose]
        assert len(tree.leaves) == 7
        live = [tree.root]
        for node in tree.splits:
            candidates = [other for other in live if choose != "gain" or not other.is_leaf]
            assert measure(node) == max(map(measure, candidates))
            live = [other for other in live if other is not node] + [tree.nodes[child] for child in node.children]
    assert len({frozenset(sets(tree)) for tree in by.values()}) > 1


def test_size_passes_over_documents_that_cannot_be_told_apart():
    x = np.vstack([np.zeros((30, 2)), np.random.default_rng(0).standard_normal((6, 2)) + 9])
    tree = pddp(LinearGram(x), 7, choose="size")
    assert len(tree.leaves) == 7
    assert max(leaf.size for leaf in tree.leaves) == 30


def test_cuts_of_a_tree():
    tree = pddp(LinearGram(X), 8)
    assert np.array_equal(tree.cut(8), tree.labels)
    for k in range(1, 9):
        labels = tree.cut(k)
        assert len(np.unique(labels)) == k
        smaller = pddp(LinearGram(X), k)
        assert np.array_equal(labels, smaller.labels)
    gains = sorted((node.gain for node in tree.splits), reverse=True)
    assert len(np.unique(tree.cut(gain=gains[0] + 1))) == 1
    assert np.array_equal(tree.cut(gain=0), tree.labels)
    middle = tree.cut(gain=gains[3])
    assert 1 < len(np.unique(middle)) <= 5
    for bad in ({}, {"n_clusters": 2, "gain": 1.0}):
        with pytest.raises(InputError, match="exactly one of"):
            tree.cut(**bad)
    with pytest.raises(InputError, match=r"between 1 and 8 \(the leaves of the tree\); got 9"):
        tree.cut(9)
    wide = pddp(LinearGram(X), 10, n_components=2)
    assert len(np.unique(wide.cut(3))) == len(wide.root.children)


def test_sign_patterns_without_documents_are_not_kept():
    x = np.array([[-2.0, 0.1], [-2.1, 0.0], [2.0, 0.05], [2.2, 0.0], [0.0, 3.0]])
    tree = pddp(LinearGram(x), 4, n_components=2)
    assert all(leaf.size > 0 for leaf in tree.leaves)
    assert len(tree.root.children) < 4
    assert len(tree.leaves) >= 4


# -- new documents ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("refine", [False, True])
@pytest.mark.parametrize("kernel", [*KERNELS, "polynomial(3)"])
def test_new_documents_go_where_their_projections_say(kernel, refine):
    model = PDDP(5, kernel=kernel, refine=refine, cut="projection").fit(X[:200])
    new = X[200:]
    labels = model.predict(new)
    cross, _ = model.kernel_.extend(new, model.gram_)
    node, split = model.tree_.root, model.tree_.root.split
    if kernel in ("polynomial(2)", "polynomial(3)"):
        degree, x = int(kernel[-2]), X[:200].toarray()
        mean = x.mean(axis=0)
        if not refine:
            assert split.input_centred
            cross = ((new.toarray() - mean) @ (x - mean).T + 1) ** degree
    if refine:
        K = model.gram_.dense() - getattr(model.gram_, "sigma", 0.0) * np.eye(200)
        parts = [model.tree_.nodes[child].members for child in node.children]
        distances = [K[np.ix_(p, p)].mean() - 2 * cross[:, p].mean(axis=1) for p in parts]
        expected = np.argmin(distances, axis=0)
    else:
        expected = (cross @ split.coefficients[:, 0] - split.offset[0] > split.thresholds[0]).astype(int)
    side = np.array(
        [int(set(leaf.members) <= set(model.tree_.nodes[node.children[1]].members)) for leaf in model.tree_.leaves]
    )
    assert np.array_equal(side[labels], expected)
    assert np.array_equal(model.predict(new.toarray()), labels)
    assert np.array_equal(model.predict(new, n_clusters=2), expected)


def test_directions_over_the_terms():
    model = PDDP(4, kernel="cosine", n_components=2).fit(X)
    u = model.direction()
    np.testing.assert_allclose(u.T @ u, np.eye(2), atol=1e-8)
    x = X.toarray() / np.maximum(np.linalg.norm(X.toarray(), axis=1), 1e-300)[:, None]
    basis = np.linalg.svd(x - x.mean(axis=0))[2][:2].T
    np.testing.assert_allclose(np.abs(basis.T @ u), np.eye(2), atol=1e-7)
    refined = PDDP(2, kernel="cosine", refine=True).fit(X)
    for column, child in zip(refined.direction().T, refined.tree_.root.children, strict=True):
        np.testing.assert_allclose(column, x[refined.tree_.nodes[child].members].mean(axis=0), atol=1e-12)
    with pytest.raises(InputError, match="Only linear and cosine kernels"):
        PDDP(2, kernel="gaussian(4)").fit(X).direction()
    with pytest.raises(InputError, match="is a leaf"):
        model.direction(len(model.tree_) - 1)


def test_unseen_sign_patterns_go_to_the_child_they_miss_by_least():
    x = np.array([[-2.0, 0.1], [-2.1, 0.0], [2.0, 0.05], [2.2, 0.0], [0.0, 3.0]])
    model = PDDP(2, n_components=2).fit(x)
    assert len(model.tree_.root.children) < 4
    grid = np.array([[a, b] for a in (-5.0, 5.0) for b in (-5.0, 5.0)])
    assert set(model.predict(grid)) <= set(model.labels_)


def test_precomputed_kernels_predict_from_similarities():
    K = (X @ X.T).toarray()
    model = PDDP(4, kernel="precomputed").fit(K[:200, :200])
    plain = PDDP(4).fit(X[:200])
    assert sets(model.tree_) == sets(plain.tree_)
    assert np.array_equal(model.predict(K[200:, :200]), plain.predict(X[200:]))
    with pytest.raises(InputError, match="must be square"):
        PDDP(3, kernel="precomputed").fit(K[:, :100])
    scaled = PDDP(4, kernel="precomputed|normalise").fit(K[:200, :200])
    cosine = PDDP(4, kernel="cosine").fit(X[:200])
    assert np.array_equal(scaled.predict((K[200:, :200], K.diagonal()[200:])), cosine.predict(X[200:]))


def test_strings_grow_trees():
    texts = ["whale song", "whales sing", "a whale", "tax law", "the tax", "taxes and laws"]
    model = PDDP(2, kernel="spectrum(3)").fit(texts)
    assert model.labels_[0] == model.labels_[2] != model.labels_[3]
    assert model.predict(["whale", "tax"])[1] == model.labels_[3]
    with pytest.raises(InputError, match="centring='input' needs vectors"):
        PDDP(2, kernel="spectrum(3)", centring="input").fit(texts)


def test_input_centring_needs_vectors():
    with pytest.raises(InputError, match="centring must be one of"):
        PDDP(2, centring="both").fit(X)
    with pytest.raises(InputError, match="centring='input' needs vectors under"):
        PDDP(2, kernel="precomputed", centring="input").fit((X @ X.T).toarray())
    with pytest.raises(InputError, match="polynomial"):
        PDDP(2, kernel="polynomial(2)|normalise(1)", centring="input").fit(X)
    assert not PDDP(2, kernel="polynomial(2)", centring="feature").fit(X).tree_.root.split.input_centred
    assert PDDP(2, kernel="polynomial(2)").fit(X).tree_.root.split.input_centred


# -- variants --------------------------------------------------------------------------------------------------------


def test_the_papers_names_are_a_table_of_parameters():
    assert VARIANTS == {
        "PDDP": {"cut": "zero", "refine": False},
        "PDDP_2MEANS": {"cut": "zero", "refine": True},
        "PDDP_OC": {"cut": "full", "refine": False},
        "PDDP_OC_2MEANS": {"cut": "full", "refine": True},
        "PDDP_OCPC": {"cut": "projection", "refine": False},
        "PDDP_OCPC_2MEANS": {"cut": "projection", "refine": True},
    }
    for variant in VARIANTS.values():
        assert len(PDDP(3, n_components=2, **variant).fit(X).tree_.leaves) >= 3


def test_kernel_k_means_can_start_from_a_tree():
    model = KernelKMeans(5, kernel="cosine", init="pddp").fit(X)
    assert len(model.result_.runs) == 1
    again = KernelKMeans(5, kernel="cosine", init="pddp", random_state=7).fit(X)
    assert np.array_equal(model.labels_, again.labels_)
    assert model.objective_ <= PDDP(5, kernel="cosine").fit(X).objective_ + 1e-9
    weights = np.ones(300)
    weights[:50] = 0
    weighted = kernel_kmeans(parse_kernel("cosine").gram(X), 5, init="pddp", sample_weight=weights)
    alone = kernel_kmeans(parse_kernel("cosine").gram(X[50:]), 5, init="pddp")
    assert weighted.objective == pytest.approx(alone.objective)


# -- formats ---------------------------------------------------------------------------------------------------------


def small_tree(**options):
    return pddp(LinearGram(np.array([[0.0, 0.0], [1.0, 0.0], [9.0, 0.2], [12.0, 0.0], [30.0, 1.0]])), 4, **options)


def test_linkage_is_what_scipy_reads():
    tree = pddp(LinearGram(X), 9)
    Z = tree.linkage()
    assert Z.shape == (8, 4)
    assert hierarchy.is_valid_linkage(Z)
    assert hierarchy.is_monotonic(Z)
    assert Z[-1, 2] == pytest.approx(tree.root.scatter)
    drawn = hierarchy.dendrogram(Z, no_plot=True)
    assert sorted(map(int, drawn["ivl"])) == list(range(9))
    full = tree.linkage(of="documents")
    assert full.shape == (299, 4)
    assert hierarchy.is_valid_linkage(full)
    for k in (2, 5, 9):
        flat = hierarchy.fcluster(full, k, "maxclust")
        pairs = set(zip(flat.tolist(), tree.cut(k).tolist(), strict=True))
        assert len(pairs) == k
    for choose in ("size", "gain"):  # not in the order of scatter
        other = pddp(LinearGram(X), 40, choose=choose).linkage()
        assert hierarchy.is_valid_linkage(other)
        assert hierarchy.is_monotonic(other)
    wide = pddp(LinearGram(X), 8, n_components=2).linkage()
    assert hierarchy.is_valid_linkage(wide)
    assert pddp(LinearGram(X), 1).linkage().shape == (0, 4)
    with pytest.raises(InputError, match="of must be"):
        tree.linkage(of="words")


def test_branches_in_newick_are_differences_of_heights():
    nodes = [Outline("", 5, 3.0, (1, 2)), Outline("", 3, 1.0, (3, 4)), Outline("c", 2, 0.0, ()),
             Outline("a", 1, 0.0, ()), Outline("b", 2, 1.5, ())]  # fmt: skip
    assert newick(nodes) == "((a:1,b:0):2,c:3);"


def test_a_tree_as_text_draws_its_branches():
    nodes = [Outline("all", 5, 3.0, (1, 2)), Outline("", 3, 1.0, (3, 4)), Outline("c", 2, 0.0, ()),
             Outline("a", 1, 0.0, ()), Outline("b", 2, 1.5, ())]  # fmt: skip
    lines = [line.partition("]")[0] for line in render_outline(nodes).splitlines()]
    assert [line[: line.index("[") if "[" in line else 4] for line in lines] == [
        "", "├── ", "│   ├── ", "│   └── ", "└── ",
    ]  # fmt: skip
    assert lines[2:] == ["│   ├── [a", "│   └── [b", "└── [c"]


def test_newick_json_graphviz_and_text():
    tree = small_tree()
    text = tree.newick()
    assert text.count("(") == text.count(")") == len(tree.splits)
    assert text.endswith(";")
    named = tree.newick(["a", "it's", "b c", "d"])
    assert "'it''s'" in named
    assert "'b c'" in named
    back = json.loads(tree.json())
    assert back == tree.to_dict()
    assert back["size"] == 5
    found = []

    def collect(entry):
        if "children" not in entry:
            found.append((entry["label"], entry["members"]))
        for child in entry.get("children", []):
            collect(child)

    collect(back)
    assert sorted(member for _, members in found for member in members) == list(range(5))
    assert [label for label, _ in found] == list(range(4))
    assert '"members"' not in tree.json(members=False)
    dot = tree.graphviz(['say "a"', "b", "c", "d"])
    assert dot.startswith("digraph")
    assert dot.count("->") == len(tree) - 1
    assert '\\"a\\"' in dot
    drawn = tree.render().splitlines()
    assert len(drawn) == len(tree)
    assert str(tree) == tree.render()
    assert sum("[" in row for row in drawn) == 4
    with pytest.raises(InputError, match="one name for each of the 4 leaves; got 2"):
        tree.render(["a", "b"])
    assert json.loads(bisecting_kernel_kmeans(LinearGram(X), 2, random_state=0).json())["eigengap"] is None


def test_frames_are_an_extra(monkeypatch):
    pytest.importorskip("pandas")
    tree = small_tree()
    frame = tree.to_frame()
    assert len(frame) == len(tree)
    assert frame["size"].iloc[0] == 5
    assert sorted(frame.loc[frame["label"] >= 0, "label"]) == [0, 1, 2, 3]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"grampus\[frames\]"):
        tree.to_frame()


def test_splits_tell_how_they_came_about():
    tree = pddp(LinearGram(X), 4, cut="projection", n_components=2)
    for node in tree.splits:
        split = node.split
        scores = (X[node.members] @ (X[node.members].T @ split.coefficients)) - split.offset
        np.testing.assert_allclose((scores**2).sum(axis=0), split.eigenvalues, rtol=1e-8)
        np.testing.assert_allclose(scores.mean(axis=0), 0, atol=1e-9)
        child = split.choose(scores + split.offset)
        for position, index in enumerate(node.children):
            assert np.array_equal(node.members[child == position], tree.nodes[index].members)
        assert 0 <= split.eigengap <= 1
    with pytest.raises(AttributeError):
        tree.root.scatter = 0


# -- the estimators --------------------------------------------------------------------------------------------------


@parametrize_with_checks(
    [
        PDDP(3),
        PDDP(3, kernel="cosine|shift", cut="projection"),  # with n_components > 1 a split may make more than k leaves
        PDDP(3, kernel="polynomial(2)", refine=True),
        PDDP(3, kernel="gaussian(1.5)", cut="full"),
        PDDP(3, kernel="precomputed"),
        BisectingKernelKMeans(3, n_init=2, random_state=0),
        BisectingKernelKMeans(3, kernel="precomputed", n_init=2, random_state=0),
    ],
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("ignore:Only . of . clusters")  # some checks fit fewer distinct rows than clusters
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_estimators_clone_and_report():
    model = clone(PDDP(4, kernel=parse_kernel("cosine|shift"), n_components=2, cut="projection")).fit(X)
    assert str(model.kernel_) == "cosine|shift"
    assert (
        model.inertia_
        == model.objective_
        == pytest.approx(grampus.gram.objective(parse_kernel("cosine").gram(X), model.labels_))
    )
    with pytest.raises(InputError, match="did you mean 'cosine'"):
        PDDP(3, kernel="cosin").fit(X)
    with pytest.raises(ValueError, match="90 features"):
        model.predict(X[:, :50])
    with pytest.raises(InputError, match="between 1 and 4"):
        PDDP(4).fit(X).predict(X, n_clusters=9)


def test_a_pattern_without_documents_goes_where_it_misses_least():
    split = Split(
        coefficients=np.eye(2), offset=np.zeros(2), thresholds=np.array([5.0, -5.0]), patterns=np.array([0, 3]),
        ties=np.zeros(2), eigenvalues=np.ones(2), eigengap=0.5, gain=1.0,
    )  # fmt: skip
    # right of the first threshold and left of the second: by 1 and 3, then by 3 and 1
    assert split.choose(np.array([[6.0, -8.0], [8.0, -6.0]])).tolist() == [0, 1]


def test_rounding_is_shown_as_0():
    assert [_number(value) for value in (1e-15, -1e-15, 2.5, 1e-3)] == ["0", "0", "2.5", "0.001"]
