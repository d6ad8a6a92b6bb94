"""The documents behind a Gram: names by content, copies, the canonical order, also behind parts and transforms."""

import hashlib
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

import grampus
from grampus import KernelKMeans, parse_kernel
from grampus.gram import Collection, DenseGram, LinearGram
from grampus.gram.collection import content_names

KERNELS = [
    "linear", "cosine|shift", "linear|centre", "cosine|map", "linear|principal(3)", "gaussian(9)", "selftuning(3)",
    "gaussian(9)|nystrom(12)", "gaussian(9)|nystrom(12)|normalise",
]  # fmt: skip
TEXTS = [f"{('whale song of the sea', 'bird nest in a tree')[i % 2]} {i}" for i in range(60)]


def clouds(each=5):
    rng = np.random.default_rng(0)
    return np.repeat(np.eye(4) * 9, each, axis=0) + rng.normal(size=(4 * each, 4))


def test_names_are_equal_exactly_for_equal_content():
    x = clouds()
    x[3], x[4] = x[7], 0.0
    names = content_names(x)
    assert names[3] == names[7]
    assert len(set(names.tolist())) == 19
    stored = sp.csr_array(x)
    for other in (x.astype(np.float64), np.asfortranarray(x), stored, sp.csc_array(x).tocsr()):
        np.testing.assert_array_equal(content_names(other), names)
    explicit = stored.copy()
    explicit.data[:2] = 0.0  # zeros that are stored are no content
    np.testing.assert_array_equal(content_names(explicit), content_names(explicit.toarray()))
    np.testing.assert_array_equal(
        content_names(x.astype(np.float32)), content_names(x.astype(np.float32).astype(float))
    )
    moved = sp.csr_array((stored.data, (stored.indices + 1) % 4, stored.indptr), shape=stored.shape)
    assert not set(content_names(moved).tolist()) & set(names[:3].tolist())


def digests(x):
    """Name rows by the library's own digest: columns that do not hold 0, then what they hold."""
    names = []
    for row in x:
        (columns,) = np.nonzero(row)
        said = columns.astype("<i8").tobytes() + row[columns].astype("<f8").tobytes()
        names.append(hashlib.blake2b(said, digest_size=16).hexdigest().encode())
    return names


@pytest.mark.parametrize("columns", [0, 1, 7, 8, 9, 16, 17, 40])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_names_are_those_of_hashlib(columns, dtype):
    """Rows of up to 40 entries: messages that end inside a block of 128 bytes, at its end, and after several."""
    rng = np.random.default_rng(columns)
    x = (rng.normal(size=(50, columns)) * 9 * (rng.random((50, columns)) < 0.9)).astype(dtype)
    wanted = digests(x)
    assert content_names(x).tolist() == wanted
    stored = sp.csr_array(x)
    assert content_names(stored).tolist() == wanted
    stored.indices, stored.indptr = stored.indices.astype(np.int64), stored.indptr.astype(np.int64)
    assert content_names(stored).tolist() == wanted
    assert content_names(stored[:0]).shape == (0,)


def test_rows_that_must_be_copied_are_named_some_at_a_time():
    x = np.asfortranarray(np.random.default_rng(0).integers(0, 9, size=(4000, 250), dtype=np.uint8))
    with grampus.config(tile=100_000):
        tracemalloc.start()
        found = content_names(x)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 1_000_000 < 8 * x.size
    assert found[-3:].tolist() == digests(x[-3:])


def test_names_in_threads_are_the_same():
    x = np.random.default_rng(0).normal(size=(20_000, 3))
    with grampus.config(threads=1):
        alone = content_names(x)
    with grampus.config(threads=4):
        np.testing.assert_array_equal(content_names(x), alone)
    assert alone[-5:].tolist() == digests(x[-5:])


@pytest.mark.parametrize("documents", [["a", "b", "a", "", "é"], [b"a", b"b", b"a", b"", b"\xff"]])
def test_strings_and_bytes_have_names(documents):
    found = Collection.of(documents)
    assert found.n == 5
    assert found.group[0] == found.group[2]
    assert sorted(found.copies.tolist()) == [1, 1, 1, 2]


def test_the_canonical_order_is_that_of_the_contents():
    x = clouds()
    x[3] = x[7]
    found, order = Collection.of(x), np.random.default_rng(1).permutation(20)
    mixed = Collection.of(x[order])
    np.testing.assert_array_equal(x[found.order], x[order][mixed.order])
    np.testing.assert_array_equal(found.group[order], mixed.group)
    np.testing.assert_array_equal(found.copies, mixed.copies)
    np.testing.assert_array_equal(x[found.first], x[order][mixed.first])
    assert found.copies.sum() == 20
    assert found.order.tolist().index(3) + 1 == found.order.tolist().index(7)  # copies by position
    assert found.take(found.order).is_canonical
    assert not found.take(found.order[::-1]).is_canonical


def test_unknown_documents_are_their_positions():
    found = Collection.unknown(5)
    assert found.is_canonical
    assert found.order.tolist() == found.group.tolist() == found.first.tolist() == [0, 1, 2, 3, 4]
    assert found.copies.tolist() == [1] * 5
    assert found.take([3, 1]).n == 2
    x = clouds()
    gram = DenseGram(x @ x.T)
    assert gram.documents().names is None
    assert gram.canonical()[0] is gram
    assert gram.named(Collection.of(x)).take([4, 2]).documents().names.tolist() == content_names(x[[4, 2]]).tolist()


@pytest.mark.parametrize("kernel", KERNELS)
def test_parts_and_parts_of_parts_know_their_documents(kernel):
    x = clouds()
    gram, index = parse_kernel(kernel).gram(x), np.random.default_rng(1).permutation(20)[:12]
    names = content_names(x)
    np.testing.assert_array_equal(gram.documents().names, names)
    np.testing.assert_array_equal(gram.take(index).documents().names, names[index])
    np.testing.assert_array_equal(gram.take(index).take([3, 1, 2]).documents().names, names[index[[3, 1, 2]]])
    ordered, order = gram.canonical()
    assert ordered.documents().is_canonical
    np.testing.assert_array_equal(ordered.documents().names, names[order])


@pytest.mark.parametrize("kernel", KERNELS)
def test_what_is_learned_does_not_depend_on_the_order_of_rows(kernel):
    """Equal to the last bit once in canonical order, on symmetric data too."""
    for x in (clouds(), np.eye(16), np.repeat(np.eye(4), 5, axis=0) + np.tile(np.eye(5), (4, 1)) @ np.ones((5, 4)) / 9):
        order = np.random.default_rng(2).permutation(len(x))
        plain, mixed = (parse_kernel(kernel).gram(rows).canonical()[0] for rows in (x, x[order]))
        np.testing.assert_array_equal(plain.dense(), mixed.dense())
        np.testing.assert_array_equal(plain.diagonal(), mixed.diagonal())


@pytest.mark.parametrize(
    "form", [list, tuple, np.array, lambda texts: np.array(texts, dtype=object)], ids=["list", "tuple", "str", "object"]
)
def test_strings_may_come_in_any_form(form):
    model = KernelKMeans(2, kernel="spectrum(3)|normalise|shift", random_state=0)
    labels = model.fit(form(TEXTS)).labels_
    np.testing.assert_array_equal(labels, labels[0] ^ (np.arange(60) % 2))


def test_a_named_gram_is_that_of_the_documents():
    x = clouds()
    units = LinearGram(x / np.linalg.norm(x, axis=1, keepdims=True))
    assert units.documents().names.tolist() != content_names(x).tolist()
    assert units.named(Collection.of(x)).documents().names.tolist() == content_names(x).tolist()


def test_names_of_texts_are_digests_of_16_bytes():
    wanted = [hashlib.blake2b(text.encode(), digest_size=16).hexdigest() for text in ("abc", "é")]
    assert [name.decode() for name in content_names(["abc", "é"])] == wanted
