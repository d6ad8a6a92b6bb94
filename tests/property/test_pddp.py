"""Divisive trees against their naive twins, brute force, and what the paper says."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from grampus import PDDP
from grampus.cluster import bisecting_kernel_kmeans, kernel_kmeans, pddp
from grampus.cluster.trees.cuts import cut_documents, cut_projections
from grampus.cluster.trees.grow import _gap
from grampus.cluster.trees.node import Part
from grampus.gram import DenseGram, FunctionGram, LinearGram, centre, eigenpairs, normalise, objective, shift
from grampus.kernels import parse_kernel
from tests.reference import naive_pddp

seeds = st.integers(0, 2**32 - 1)


def points(seed, n, m=4, groups=3):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, m)) + 3.0 * np.eye(groups, m)[rng.integers(0, groups, n)]


def sets(tree):
    return {frozenset(leaf.members.tolist()) for leaf in tree.leaves}


def forms(x):
    return {
        "dense features": LinearGram(x),
        "sparse features": LinearGram(sp.csr_array(x)),
        "matrix": DenseGram(x @ x.T),
        "function": FunctionGram(lambda a, b: a @ b.T, x, lambda a: (a**2).sum(axis=1)),
    }


@settings(max_examples=40)
@given(seeds, st.integers(4, 40), st.sampled_from(["zero", "projection", "full"]))
def test_every_form_grows_the_naive_tree(seed, n, cut):
    x = points(seed, n)
    expected = naive_pddp.tree_leaves(x @ x.T, 4, cut)
    for name, gram in forms(x).items():
        assert sets(pddp(gram, 4, cut=cut)) == expected, name


@settings(max_examples=40)
@given(seeds, st.integers(3, 60), st.booleans())
def test_the_cut_of_the_projections_is_the_best_of_all(seed, n, copies):
    p = np.random.default_rng(seed).standard_normal(n)
    if copies:
        p = np.repeat(p, 2)
    p -= p.mean()
    threshold = cut_projections(p, None)
    measure = naive_pddp.projection_objective(p)
    best, left = naive_pddp.best_cut(p, measure)
    assert measure(p <= threshold) == pytest.approx(best, rel=1e-12)
    assert np.array_equal(p <= threshold, left)


@settings(max_examples=40)
@given(seeds, st.integers(3, 60), st.booleans())
def test_the_cut_of_the_documents_is_the_best_of_all(seed, n, negative):
    x = points(seed, n)
    x = x if negative else np.abs(x)
    K = x @ x.T
    rng = np.random.default_rng(seed)
    for gram in forms(x).values():
        whole = Part.of(gram)
        p = rng.standard_normal(n)
        threshold = cut_documents(p, whole)
        part = K[np.ix_(whole.members, whole.members)]
        best, _ = naive_pddp.best_cut(p, lambda left, part=part: naive_pddp.explained(part, left))
        assert naive_pddp.explained(part, p <= threshold) == pytest.approx(best, rel=1e-9)


def test_the_cut_of_many_documents_crosses_blocks():
    x = np.abs(points(3, 300, m=30))
    p = x @ np.arange(30.0)
    for gram in (LinearGram(x), LinearGram(sp.csr_array(x)), DenseGram(x @ x.T)):
        whole = Part.of(gram)
        K, q = (x @ x.T)[np.ix_(whole.members, whole.members)], p[whole.members]
        _, left = naive_pddp.best_cut(q, lambda left, K=K: naive_pddp.explained(K, left))
        assert np.array_equal(q <= cut_documents(q, whole), left)


@settings(max_examples=40)
@given(seeds, st.integers(2, 40), st.sampled_from(["linear", "gaussian(2)", "polynomial(2)", "polynomial(3)"]))
def test_scatter_is_the_explicit_sum_of_squares(seed, n, spelling):
    x = points(seed, n)
    gram = parse_kernel(spelling).gram(x)
    K = gram.dense()
    tree = pddp(gram, min(3, n))
    for node in tree.nodes:
        part = K[np.ix_(node.members, node.members)]
        assert node.scatter == pytest.approx(naive_pddp.kernel_scatter(part), rel=1e-9, abs=1e-9)
        if spelling == "linear":
            assert node.scatter == pytest.approx(naive_pddp.scatter(x[node.members]), rel=1e-9, abs=1e-9)
    if spelling in ("linear", "polynomial(3)"):
        assert n < 8 or (K < 0).any()
    assert tree.objective == pytest.approx(objective(gram, tree.labels), rel=1e-9, abs=1e-8)
    assert sum(node.gain for node in tree.splits) == pytest.approx(tree.root.scatter - tree.objective, abs=1e-7)


def components(K, count, start, **options):
    """Return the components that a node with this Gram is divided along."""
    return eigenpairs(centre(DenseGram(K)), count, method="lanczos", start=start, tolerance=1e-10, **options)


@settings(max_examples=25)
@given(seeds, st.integers(10, 400), st.integers(1, 4), st.booleans())
def test_components_are_those_of_the_whole_matrix(seed, n, count, probe):
    x = points(seed, n, m=40)
    K = x @ x.T
    start = np.random.default_rng(0).standard_normal(n)
    found = components(K, count, start, probe=probe)
    values, vectors = naive_pddp.components(K, count + 1)
    np.testing.assert_allclose(found.values, values[:count], rtol=1e-10)
    for j in range(count):
        assert abs(found.vectors[:, j] @ vectors[:, j]) == pytest.approx(1, abs=1e-6)
        residual = K @ found.vectors[:, j]
        residual -= residual.mean() + found.values[j] * found.vectors[:, j]
        assert np.linalg.norm(residual) <= 2e-10 * found.values[0]
    gaps = -np.diff(values) / values[0]
    assert _gap(found) == pytest.approx(gaps.min(), rel=0.2, abs=1e-6)


@pytest.mark.parametrize("rank", [1, 2, 5])
def test_components_stop_at_the_rank(rank):
    x = np.random.default_rng(1).standard_normal((300, rank))
    K = x @ x.T
    found = components(K, 8, np.random.default_rng(0).standard_normal(300), floor=1e-10)
    values, _ = naive_pddp.components(K, rank)
    np.testing.assert_allclose(found.values, values, rtol=1e-9)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(rank), atol=1e-8)


def test_a_probe_finds_what_the_start_missed():
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(np.hstack([np.ones((200, 1)), rng.standard_normal((200, 40))]))[0][:, 1:]
    values = np.linspace(2, 1, 40)
    K = (Q * values) @ Q.T
    start = Q[:, 1:] @ rng.standard_normal(39)  # nothing of the first component
    blind, seeing = (components(K, 1, start, probe=probe) for probe in (False, True))
    assert blind.values[0] == pytest.approx(values[1])
    assert seeing.values[0] == pytest.approx(values[0])
    assert _gap(seeing) == pytest.approx(1 - values[1] / values[0], rel=0.3)


def test_multiple_eigenvalues_of_few_kinds_of_documents_are_seen():
    """Four orthogonal groups of the same size: the leading eigenvalue is threefold."""
    tree = pddp(LinearGram(np.repeat(np.eye(4), 50, axis=0)), 2)
    assert tree.root.eigengap < 1e-6
    assert tree.close_calls == (tree.root,)


@pytest.mark.parametrize("copies", [2, 3, 4])
def test_mirror_images_are_a_close_call(copies):
    """Copies that are similar to nothing but themselves: the leading eigenvalue is (copies − 1)-fold."""
    x = points(0, 60, m=30)
    K = np.kron(np.eye(copies), x @ x.T)
    tree = pddp(DenseGram(K), 2)
    values, _ = naive_pddp.components(K, 2)
    assert (tree.root.eigengap < 1e-6) == (copies > 2)
    assert tree.root.eigengap == pytest.approx(1 - values[1] / values[0], abs=1e-7)


@settings(max_examples=30)
@given(seeds, st.integers(8, 60), st.sampled_from([1, 2, 3]))
def test_refining_never_raises_a_splits_objective(seed, n, n_components):
    gram = LinearGram(points(seed, n))
    for cut in ("zero", "full", "projection"):
        plain = pddp(gram, 2**n_components, cut=cut, n_components=n_components)
        refined = pddp(gram, 2**n_components, cut=cut, n_components=n_components, refine=True)
        assert refined.root.gain >= plain.root.gain - 1e-9


@settings(max_examples=30)
@given(seeds, st.integers(6, 60))
def test_the_full_cut_gains_at_least_as_much_as_the_others_at_the_root(seed, n):
    gram = LinearGram(points(seed, n))
    gains = {cut: pddp(gram, 2, cut=cut).root.gain for cut in ("zero", "full", "projection")}
    assert gains["full"] >= max(gains.values()) - 1e-9


@settings(max_examples=30)
@given(seeds, st.integers(2, 60), st.sampled_from([1, 2, 3]), st.integers(1, 20))
def test_the_number_of_leaves(seed, n, n_components, k):
    k = min(k, n)
    tree = pddp(LinearGram(points(seed, n)), k, n_components=n_components)
    assert len(tree.leaves) >= k
    step = 2**n_components - 1
    assert len(tree.leaves) <= -(-(k - 1) // step) * step + 1  # `pddp`, Table 1
    assert all(leaf.size for leaf in tree.leaves)
    assert sorted(np.concatenate([leaf.members for leaf in tree.leaves]).tolist()) == list(range(n))
    for node in tree.splits:
        together = np.sort(np.concatenate([tree.nodes[child].members for child in node.children]))
        assert np.array_equal(together, node.members)
        assert 2 <= len(node.children) <= 2**n_components


@settings(max_examples=25)
@given(seeds, st.integers(5, 50), st.sampled_from([1, 2]), st.sampled_from(["zero", "full", "projection"]))
def test_fitted_documents_are_routed_back(seed, n, n_components, cut):
    x = points(seed, n)
    for kernel in ("linear", "cosine", "gaussian(2)", "polynomial(2)", "polynomial(2)|normalise(1)"):
        model = PDDP(4, kernel=kernel, n_components=n_components, cut=cut).fit(x)
        assert np.array_equal(model.predict(x), model.labels_), kernel
        assert np.array_equal(model.predict(sp.csr_array(x)), model.labels_), kernel


@settings(max_examples=25)
@given(seeds, st.integers(8, 40))
def test_a_trailing_shift_changes_no_direction(seed, n):
    gram = normalise(LinearGram(points(seed, n)))
    assert sets(pddp(shift(gram), 4)) == sets(pddp(gram, 4))
    assert pddp(shift(gram), 4).objective == pytest.approx(pddp(gram, 4).objective)


@settings(max_examples=15)
@given(seeds, st.integers(8, 40))
def test_bisecting_by_pddp_starts_is_pddp_with_2_means(seed, n):
    gram = LinearGram(points(seed, n))
    bisected = bisecting_kernel_kmeans(gram, 4, init="pddp", random_state=0)
    assert sets(bisected) == sets(pddp(gram, 4, refine=True))


@settings(max_examples=20)
@given(seeds, st.integers(8, 60))
def test_kernel_k_means_started_by_pddp_only_improves_it(seed, n):
    gram = LinearGram(points(seed, n))
    tree, result = pddp(gram, 4), kernel_kmeans(gram, 4, init="pddp")
    assert len(result.runs) == 1
    assert result.history.objective[0] == pytest.approx(tree.objective)
    assert result.objective <= tree.objective + 1e-9
    assert np.array_equal(result.labels, kernel_kmeans(gram, 4, init="pddp", random_state=9, n_init=3).labels)


@settings(max_examples=20)
@given(seeds, st.integers(5, 40))
def test_input_centring_matters_for_polynomials_alone(seed, n):
    x = points(seed, n)
    for kernel in ("linear", "gaussian(2)", "polynomial(1)"):
        a, b = (PDDP(3, kernel=kernel, centring=centring).fit(x).labels_ for centring in ("input", "feature"))
        assert np.array_equal(a, b)
    model = PDDP(2, kernel="polynomial(2)", centring="input").fit(x)
    centred = x - x.mean(axis=0)
    expected = naive_pddp.tree_leaves((centred @ centred.T + 1) ** 2, 2)
    assert sets(model.tree_) == expected
    K = (x @ x.T + 1) ** 2
    assert model.tree_.root.scatter == pytest.approx(naive_pddp.kernel_scatter(K))  # of φ(a), not of φ(a − c)
    plain = PDDP(2, kernel="polynomial(2)", centring="feature").fit(x)
    assert sets(plain.tree_) == naive_pddp.tree_leaves(K, 2)


def test_input_centring_does_change_a_polynomial_split():
    x = points(0, 30)
    a, b = (PDDP(2, kernel="polynomial(2)", centring=c).fit(x).labels_ for c in ("input", "feature"))
    assert min((a != b).sum(), (a == b).sum()) > 0


def test_no_warning_is_silenced_or_raised_on_good_input():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pddp(LinearGram(points(0, 50)), 5, n_components=2, cut="full", refine=True)
