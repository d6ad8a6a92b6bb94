"""Kernel k-means: what does not change the labels, bad input, the estimator's manners."""

import hashlib

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import grampus
from grampus import KernelKMeans
from grampus.cluster import kernel_kmeans
from grampus.errors import InputError
from grampus.gram import DenseGram, FunctionGram, LinearGram, normalise, shift
from grampus.kernels import parse_kernel
from tests.estimators import expected_failures, texts_like


def label_hash(result):
    return hashlib.sha256(result.runs.labels.astype(np.int64).tobytes() + result.labels.tobytes()).hexdigest()


X = texts_like(150, 60)


@pytest.mark.parametrize("rule", ["plain", "adjusted"])
@pytest.mark.parametrize("spelling", ["cosine", "cosine|shift"])
def test_labels_depend_on_the_seed_alone(spelling, rule):
    kernel, dense = parse_kernel(spelling), X.toarray()
    matrix = DenseGram(dense @ dense.T).named(kernel.gram(X).documents())
    function = FunctionGram(lambda a, b: a @ b.T, dense, lambda a: (a**2).sum(axis=1))
    made = [shift(normalise(gram)) if "shift" in spelling else normalise(gram) for gram in (matrix, function)]
    hashes = set()
    for gram in (*made, kernel.gram(X), kernel.gram(dense)):
        for settings in ({}, {"tile": 1000}, {"memory": "1MB"}, {"threads": 1}, {"threads": 2}, {"threads": 4}):
            with grampus.config(**settings):
                result = kernel_kmeans(gram, 4, n_init=12, random_state=3, rule=rule)
            hashes.add(label_hash(result))
    assert len(hashes) == 1


def test_another_seed_gives_other_starts_and_none_gives_new_ones():
    gram = parse_kernel("cosine").gram(X)
    first, second = (kernel_kmeans(gram, 4, n_init=3, random_state=s) for s in (0, 1))
    assert not np.array_equal(first.runs.labels, second.runs.labels)
    free = [kernel_kmeans(gram, 4, n_init=3) for _ in range(2)]
    assert not np.array_equal(free[0].runs.labels, free[1].runs.labels)


def test_more_starts_begin_with_the_same_ones():
    gram = parse_kernel("cosine").gram(X)
    few, many = (kernel_kmeans(gram, 4, n_init=n, random_state=0) for n in (3, 9))
    assert np.array_equal(few.runs.labels, many.runs.labels[:3])


def test_dominant_diagonals_freeze_and_a_shift_frees_them():
    rng = np.random.default_rng(0)
    x = sp.csr_array(rng.poisson(0.02, (60, 2000)).astype(float))
    frozen, freed = (
        kernel_kmeans(parse_kernel(s).gram(x), 2, n_init=5, random_state=0) for s in ("cosine", "cosine|shift")
    )
    assert np.mean([h.moves.sum() for h in freed.runs.histories]) > 3 * np.mean(
        [h.moves.sum() for h in frozen.runs.histories]
    )


def test_restarts_are_ranked_without_the_shift():
    result = kernel_kmeans(parse_kernel("cosine|shift").gram(X), 4, n_init=20, random_state=0)
    assert result.objective == pytest.approx(result.runs.objective.min(), abs=1e-7)
    again = [grampus.gram.objective(parse_kernel("cosine").gram(X), labels) for labels in result.runs.labels]
    np.testing.assert_allclose(result.runs.objective, again, atol=1e-8)


def test_indefinite_grams_are_allowed_and_their_outcome_reported():
    K = np.array([[0.0, 1.0], [1.0, 0.0]])
    K = np.kron(np.ones((3, 3)), K) - 0.5 * np.eye(6)
    result = kernel_kmeans(DenseGram(K), 2, n_init=20, max_iter=40, random_state=0)
    assert {str(outcome) for outcome in result.runs.outcomes} <= {"converged", "oscillated", "max_iter"}
    assert "oscillated" in result.runs.outcomes
    oscillating = result.runs.histories[result.runs.outcomes.index("oscillated")]
    assert len(oscillating.moves) >= 6
    assert kernel_kmeans(DenseGram(K), 2, n_init=20, max_iter=1, random_state=0).outcome == "max_iter"


def test_k_means_plus_plus_draws_distinct_centres_and_does_better():
    gram = parse_kernel("linear").gram(np.repeat(np.eye(5) * 9, 4, axis=0))
    result = kernel_kmeans(gram, 5, init="k-means++", n_init=5, random_state=0)
    assert (result.runs.objective < 1e-9).all()


def test_given_starts():
    start = np.arange(150) % 4
    one = kernel_kmeans(parse_kernel("cosine").gram(X), 4, init=start)
    assert len(one.runs) == 1
    both = kernel_kmeans(parse_kernel("cosine").gram(X), 4, init=np.array([start, start[::-1]]), n_init=2)
    assert len(both.runs) == 2
    assert np.array_equal(both.runs.labels[0], one.labels)


def test_progress_is_told():
    seen = []
    kernel_kmeans(parse_kernel("cosine").gram(X), 3, n_init=5, random_state=0, progress=lambda *a: seen.append(a))
    assert seen == [("clustering", done, 5) for done in range(1, 6)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_clusters": 0}, r"n_clusters must be between 1 and 150 \(the number of documents\); got 0"),
        ({"n_clusters": 151}, r"between 1 and 150 \(the number of documents\); got 151"),
        ({"n_clusters": 2.5}, "n_clusters must be a whole number; got 2.5"),
        ({"n_clusters": "auto"}, "n_clusters must be a whole number"),
        ({"n_clusters": True}, "n_clusters must be a whole number"),
        ({"n_init": 0}, "n_init must be at least 1"),
        ({"max_iter": 0}, "max_iter must be at least 1"),
        ({"init": "pca"}, "init must be one of 'random', 'k-means\\+\\+', 'pddp' or an array"),
        ({"init": np.zeros(3)}, "150 entries"),
        ({"init": np.arange(150)}, "init has 150 different labels; n_clusters allows 3"),
        ({"init": np.zeros((3, 150))}, "one partition or one for each of the 10 starts; got 3"),
        ({"sample_weight": np.ones(3)}, "150 entries"),
        ({"sample_weight": -np.ones(150)}, "at least 0"),
        ({"sample_weight": np.zeros(150)}, "not zero for every"),
        ({"sample_weight": np.full(150, np.nan)}, "finite"),
        ({"random_state": "seed"}, "random_state"),
        ({"rule": "leave-one-out"}, "rule must be one of 'plain', 'adjusted', 'cosine'; got 'leave-one-out'"),
        ({"rule": "adjusted", "polish": 1}, "polish must be"),
        ({"rule": "cosine", "polish": True}, "polish lowers the k-means objective, which rule='cosine' does not"),
        ({"rule": None}, "rule must be"),
        ({"rule": ["plain"]}, "rule must be"),
        ({"polish": 1}, "polish must be"),
        ({"init": [[0, 1], [0]]}, "init"),
        ({"init": [None] * 150}, "init"),
        ({"sample_weight": "abc"}, "sample_weight"),
        ({"sample_weight": [[1], [1, 2]]}, "sample_weight"),
    ],
)
def test_bad_parameters(arguments, message):
    given = {"n_clusters": 3, **arguments}
    with pytest.raises(InputError, match=message):
        kernel_kmeans(parse_kernel("cosine").gram(X), given.pop("n_clusters"), **given)


def test_fewer_distinct_documents_than_clusters():
    for same in (np.ones((6, 2)), np.zeros((6, 2)), np.repeat([[1.0], [2.0]], 3, axis=0)):
        distinct = len(np.unique(same, axis=0))
        with pytest.warns(UserWarning, match=f"Only {distinct} of 4 clusters"):
            result = kernel_kmeans(LinearGram(same), 4, n_init=3, random_state=0)
        assert len(np.unique(result.labels)) == distinct
        assert result.objective == pytest.approx(0, abs=1e-12)


def test_one_cluster_and_one_document_each():
    gram = parse_kernel("cosine").gram(X[3:20])
    assert (kernel_kmeans(gram, 1).labels == 0).all()
    assert sorted(kernel_kmeans(gram, 17, n_init=2, random_state=0).labels) == list(range(17))
    assert kernel_kmeans(gram.take([0]), 1).labels.tolist() == [0]


# -- the estimator ---------------------------------------------------------------------------------------------------


@parametrize_with_checks(
    [
        KernelKMeans(3, n_init=2, random_state=0),
        KernelKMeans(3, kernel="cosine|shift", n_init=2, random_state=0),
        KernelKMeans(3, kernel="gaussian(1.5)", n_init=2, rule="adjusted", random_state=0),
        KernelKMeans(3, kernel="precomputed", n_init=2, random_state=0),
    ],
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("ignore:Only . of . clusters")  # some checks fit fewer distinct rows than clusters
def test_scikit_learn_checks(estimator, check):
    check(estimator)


KERNELS = ["linear", "cosine", "cosine|shift", "polynomial(2)|normalise(1)", "gaussian(2)", "selftuning(5)|shift"]


@pytest.mark.parametrize("kernel", [*KERNELS, "cosine|shift|map", "cosine|power(0.6)|map", "linear|centre"])
def test_predict_is_the_nearest_centroid(kernel):
    model = KernelKMeans(3, kernel=kernel, n_init=3, random_state=0).fit(X[:120])
    new = X[120:]
    gram = model.kernel_.gram(X[:120])
    cross, own = model.kernel_.extend(new, gram)
    dense = gram.dense()
    expected = np.empty((30, 3))
    for c in range(3):
        members = np.flatnonzero(model.labels_ == c)
        expected[:, c] = own + dense[np.ix_(members, members)].mean() - 2 * cross[:, members].mean(axis=1)
    assert np.array_equal(model.predict(new), expected.argmin(axis=1))
    sigma = getattr(gram, "sigma", 0.0)
    np.testing.assert_allclose(model.transform(new) ** 2, np.maximum(expected - sigma, 0), atol=1e-8)
    assert model.score(new) == pytest.approx(-(expected - sigma).min(axis=1).sum())
    assert np.array_equal(model.predict(new.toarray()), model.predict(new))


@pytest.mark.parametrize("kernel", ["linear", "cosine", "gaussian(2)", "polynomial(2)"])
def test_converged_labels_are_predicted_again(kernel):
    model = KernelKMeans(3, kernel=kernel, random_state=0).fit(X)
    assert model.result_.outcome == "converged"
    assert np.array_equal(model.predict(X), model.labels_)


def test_precomputed_kernels_predict_from_similarities():
    K = (X @ X.T).toarray()
    model = KernelKMeans(3, kernel="precomputed", random_state=0).fit(K[:100, :100])
    plain = KernelKMeans(3, kernel="linear", init=model.labels_).fit(X[:100])
    assert np.array_equal(model.labels_, plain.labels_)
    assert np.array_equal(model.predict(K[100:, :100]), plain.predict(X[100:]))
    own = K.diagonal()[100:]
    np.testing.assert_allclose(model.transform((K[100:, :100], own)), plain.transform(X[100:]), atol=1e-9)
    with pytest.raises(ValueError, match="features"):
        model.predict(K[100:, :50])
    with pytest.raises(InputError, match="must be square"):
        KernelKMeans(3, kernel="precomputed").fit(K[:, :100])
    K[0, 1] += 1
    with pytest.raises(InputError, match="must be symmetric"):
        KernelKMeans(3, kernel="precomputed").fit(K)


def test_another_vocabulary_is_refused():
    model = KernelKMeans(3, kernel="cosine", random_state=0).fit(X)
    with pytest.raises(ValueError, match="60 features"):
        model.predict(X[:, :59])


def test_works_in_a_pipeline_a_search_and_with_frames():
    dense = X.toarray()
    pipe = make_pipeline(StandardScaler(), KernelKMeans(3, kernel="gaussian(5)", random_state=0))
    assert pipe.fit_predict(dense).shape == (150,)
    copy = clone(KernelKMeans(3, kernel=parse_kernel("cosine|shift")))
    assert str(copy.kernel) == "cosine|shift"
    assert KernelKMeans(3, random_state=0).fit(dense).get_feature_names_out().tolist() == [
        "kernelkmeans0",
        "kernelkmeans1",
        "kernelkmeans2",
    ]
    with pytest.raises(InputError, match="did you mean 'cosine'"):
        KernelKMeans(3, kernel="cosin").fit(dense)


@pytest.mark.parametrize("init", ["random", "k-means++"])
@pytest.mark.parametrize("kernel", ["cosine|shift", "gaussian(2)", "linear"])
def test_the_order_of_the_documents_does_not_matter(kernel, init):
    model = KernelKMeans(4, kernel=kernel, init=init, n_init=3, random_state=0)
    expected = model.fit_predict(X)
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(150)
        assert np.array_equal(model.fit_predict(X[order]), expected[order])
    assert np.array_equal(model.fit_predict(X.toarray()), expected)
    assert np.array_equal(model.fit_predict(X.astype(np.float32)), expected)


WORDS = ["whale song", "whale sing", "a whale", "bird nest", "a bird in a nest", "nest of birds", "whales", "birds"]


@pytest.mark.parametrize(
    "kernel",
    ["spectrum(3)|normalise", "boundrange(4)|normalise|shift", "constant|normalise|map", "subsequence(2)|normalise"],
)
def test_strings_are_clustered_and_predicted(kernel):
    model = KernelKMeans(2, kernel=kernel, random_state=0).fit(WORDS)
    assert model.labels_[0] == model.labels_[1] == model.labels_[2] != model.labels_[3]
    new = ["whale whale", "bird's nest", ""]
    cross, own = model.kernel_.extend(new, model.gram_)
    dense = model.gram_.dense()
    expected = np.array(
        [
            own + dense[np.ix_(members, members)].mean() - 2 * cross[:, members].mean(axis=1)
            for members in (np.flatnonzero(model.labels_ == c) for c in range(2))
        ]
    ).T
    assert np.array_equal(model.predict(new), expected.argmin(axis=1))
    assert model.predict(new)[0] == model.labels_[0]
    with grampus.config(memory="1MB", tile=64):
        assert np.array_equal(model.predict(new * 5), np.tile(expected.argmin(axis=1), 5))
    order = np.random.default_rng(0).permutation(8)
    again = KernelKMeans(2, kernel=kernel, random_state=0).fit_predict([WORDS[i] for i in order])
    assert np.array_equal(again, model.labels_[order])
    with pytest.raises(InputError, match="string"):
        KernelKMeans(2, kernel=kernel).fit(np.eye(4))
    for rule in ("plain", "cosine"):
        assert KernelKMeans(2, kernel=kernel, rule=rule, random_state=0).fit(WORDS).predict([]).tolist() == []


def test_scikit_learn_callbacks_hear_of_every_start():
    model = KernelKMeans(3, kernel="cosine", n_init=4, random_state=0)
    if not hasattr(model, "set_callbacks"):
        import sklearn

        assert tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 9)
        return
    heard = []

    class Listener:
        def setup(self, estimator, context):
            heard.append("setup")

        def on_fit_task_begin(self, estimator, context, **more):
            pass

        def on_fit_task_end(self, estimator, context, **more):
            heard.append(context.task_name)

        def teardown(self, estimator, context):
            heard.append("teardown")

    expected = clone(model).fit_predict(X)
    assert np.array_equal(model.set_callbacks(Listener()).fit_predict(X), expected)
    assert heard == ["setup", "start", "start", "start", "start", "fit", "teardown"]


def test_a_gram_that_turns_out_nan_or_is_none_is_refused():
    broken = FunctionGram(lambda a, b: np.full((len(a), len(b)), np.nan), np.ones((5, 1)), lambda a: np.ones(len(a)))
    with pytest.raises(InputError, match="must be finite"):
        kernel_kmeans(broken, 2, random_state=0)
    with pytest.raises(InputError, match=r"got ndarray.*DenseGram\(K\)"):
        kernel_kmeans(np.eye(3), 2)


def test_clusters_far_from_the_origin_and_beside_a_huge_document_are_found():
    assert len(set(KernelKMeans(2, random_state=0).fit_predict([[1e6], [1e6 + 1], [1e6 + 10], [1e6 + 11]]))) == 2
    rng = np.random.default_rng(0)
    blobs = np.r_[rng.normal(0, 0.1, (20, 2)), rng.normal(3, 0.1, (20, 2)), [[1e7, 0]]]
    assert KernelKMeans(3, random_state=0).fit(blobs).objective_ < 1.0
    single = np.r_[rng.normal(1000, 0.05, (20, 2)), rng.normal(1000.5, 0.05, (20, 2))].astype(np.float32)
    labels = KernelKMeans(2, random_state=0).fit_predict(single)
    assert len(set(labels[:20])) == len(set(labels[20:])) == 1
    assert labels[0] != labels[20]


def test_indefinite_grams_fill_their_clusters_too():
    for seed in range(30):
        A = np.random.default_rng(seed).standard_normal((10, 10))
        result = kernel_kmeans(DenseGram(A + A.T), 5, n_init=1, random_state=seed)
        assert (result.sizes > 0).all()


@pytest.mark.parametrize("kind", ["binary", "points"])
def test_k_means_plus_plus_does_not_depend_on_the_form_of_the_gram(kind):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        x = (rng.random((40, 6)) < 0.35) * 1.0 if kind == "binary" else rng.random((40, 6))
        gram = parse_kernel("cosine").gram(x)
        forms = [gram, DenseGram(gram.dense()).named(gram.documents()), parse_kernel("cosine").gram(sp.csr_array(x))]
        found = [kernel_kmeans(form, 5, init="k-means++", n_init=3, random_state=0) for form in forms]
        assert len({label_hash(result) for result in found}) == 1


def test_distances_of_precomputed_documents_need_their_self_similarity():
    points = np.array([[0.0, 0], [0, 1], [4, 0], [4, 1]])
    K = points @ points.T
    model = KernelKMeans(2, kernel="precomputed", random_state=0).fit(K)
    expected = KernelKMeans(2, init=model.labels_).fit(points).transform(points)
    np.testing.assert_allclose(model.transform((K, K.diagonal())), expected, atol=1e-9)
    relative = expected**2 - (expected**2).min(axis=1, keepdims=True)
    np.testing.assert_allclose(model.transform(K[:2]) ** 2, relative[:2], atol=1e-9)
    with pytest.raises(InputError, match=r"self-similarities K\(x, x\) of the new documents"):
        list(model.centroids_.new(K[:2]))
    assert model.score((K, K.diagonal())) == pytest.approx(-model.objective_)
    assert model.score(K) == pytest.approx(np.trace(K) - model.objective_)
    assert model.predict(K[:2]).tolist() == model.labels_[:2].tolist()


def test_a_score_is_never_positive():
    x = np.random.default_rng(0).random((12, 4))
    assert KernelKMeans(6, kernel="cosine|shift", random_state=0).fit(x).score(x) <= 0


def test_weights_of_any_scale():
    x = np.random.default_rng(0).random((300, 3)).astype(np.float32)
    plain = kernel_kmeans(LinearGram(x), 6, n_init=5, random_state=0, polish=True)
    for scale in (1 / 2000, 1e-9, 1e-90):
        light = kernel_kmeans(
            LinearGram(x), 6, n_init=5, random_state=0, polish=True, sample_weight=np.full(300, scale)
        )
        assert np.array_equal(light.labels, plain.labels)
        assert light.objective / scale == pytest.approx(plain.objective, rel=1e-9)
        assert light.polish_gain / scale == pytest.approx(plain.polish_gain, rel=1e-6)
    with pytest.raises(InputError, match="must reach 1e-100"):
        kernel_kmeans(LinearGram(x), 6, sample_weight=np.full(300, 1e-170))


def test_documents_without_weight_follow_the_polished_centroids():
    x = np.random.default_rng(3).random((60, 3))
    weights = (np.arange(60) % 4 > 0).astype(float)
    result = kernel_kmeans(LinearGram(x), 5, n_init=1, random_state=1, polish=True, sample_weight=weights)
    assert result.polish_gain > 0
    heavy = weights > 0
    centres = np.array([x[heavy & (result.labels == c)].mean(axis=0) for c in range(5)])
    nearest = ((x[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    assert np.array_equal(result.labels[~heavy], nearest[~heavy])


def test_given_starts_are_the_same_in_every_batch():
    starts = np.random.default_rng(0).integers(0, 4, (10, 150))
    gram = parse_kernel("cosine").gram(X)
    whole = kernel_kmeans(gram, 4, init=starts)
    with grampus.config(memory="1MB"):
        assert label_hash(kernel_kmeans(gram, 4, init=starts)) == label_hash(whole)
        assert len(kernel_kmeans(gram, 4, init=starts[:1]).runs) == 1


def test_wide_features_stay_within_the_budget():
    import tracemalloc

    rng = np.random.default_rng(0)
    wide = sp.csr_array(
        (rng.random(20_000), rng.integers(0, 2**18, 20_000), np.arange(0, 20_001, 10)), shape=(2000, 2**18)
    )
    gram = parse_kernel("cosine").gram(wide)
    with grampus.config(memory="200MB"):
        tracemalloc.start()
        kernel_kmeans(gram, 5, n_init=10, random_state=0, max_iter=3)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 200e6


def test_the_fitted_k_is_kept_and_a_failed_fit_is_no_fit():
    from sklearn.exceptions import NotFittedError

    model = KernelKMeans(2.0, random_state=0).fit(np.eye(4))
    assert model.set_params(n_clusters=9).transform(np.eye(4)).shape == (4, 2)
    broken = KernelKMeans(99, kernel="linear")
    with pytest.raises(InputError):
        broken.fit(np.eye(4))
    with pytest.raises(NotFittedError):
        broken.predict(np.eye(4))


def test_zero_vectors_and_nan():
    assert KernelKMeans(2, kernel="cosine", random_state=0).fit_predict(sp.csr_array(X)).max() == 1
    with pytest.raises(ValueError, match="NaN"):
        KernelKMeans(2, kernel="precomputed").fit(np.full((3, 3), np.nan))


def test_new_documents_are_assigned_by_the_rule_that_clustered():
    rng = np.random.default_rng(0)
    angle = np.concatenate([rng.normal(0.2, 0.1, 40), rng.normal(1.3, 0.1, 40)])
    rows = np.column_stack([np.cos(angle), np.sin(angle)]) * rng.uniform(0.05, 20.0, (80, 1))
    model = KernelKMeans(2, rule="cosine", random_state=0).fit(rows)
    assert np.array_equal(model.predict(rows), model.labels_)
    assert not np.array_equal(model._squared(rows).argmin(axis=1), model.labels_)  # lengths would mislead
    similar = rows @ rows.T
    own = KernelKMeans(2, kernel="precomputed", rule="cosine", random_state=0).fit(similar)
    assert np.array_equal(own.predict(similar), own.labels_)


def test_a_centroid_of_0_has_no_direction():
    model = KernelKMeans(2, kernel="linear", random_state=0).fit(np.array([[1.0, 0.0], [-1.0, 0.0], [5.0, 9.0]]))
    apart = np.array([model.labels_[0] == model.labels_[1] != model.labels_[2]])
    assert apart.all()
    (cosines,) = model.centroids_.cosines(model._new(np.array([[1.0, 2.0]])))
    assert cosines[0, model.labels_[0]] == -np.inf
    assert np.isfinite(cosines[0, model.labels_[2]])
