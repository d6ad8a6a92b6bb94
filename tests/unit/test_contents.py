"""What the documents behind a Gram are, also behind its parts: equal ones are told, and their order does not matter."""

from __future__ import annotations

import numpy as np
import pytest
from grampus._content import content_names
from grampus.gram.contents import contents, names_of

import grampus
from grampus import DocumentClusterer, KernelKMeans, choose_k, parse_kernel
from grampus.gram import DenseGram
from grampus.select import Splits, stability
from grampus.text import Corpus

KERNELS = ["linear", "cosine|shift", "linear|centre", "cosine|map", "linear|principal(3)", "gaussian(9)"]
LOW_RANK = ["gaussian(9)|nystrom(20)", "gaussian(9)|nystrom(20)|normalise"]
QUICK = {"ks": [2, 3, 4], "splits": Splits(6), "null": False, "random_state": 0}
WORDS = ["whale song of the sea", "bird nest in a tree"]
TEXTS = [f"{WORDS[i % 2]} {i}" for i in range(60)]


def clouds(each=30):
    rng = np.random.default_rng(0)
    return np.repeat(np.eye(4) * 9, each, axis=0) + rng.normal(size=(4 * each, 4))


@pytest.mark.parametrize("kernel", KERNELS)
def test_parts_and_parts_of_parts_know_their_documents(kernel):
    x = clouds(5)
    gram, index = parse_kernel(kernel).gram(x), np.random.default_rng(1).permutation(20)[:12]
    np.testing.assert_array_equal(names_of(gram), content_names(x))
    np.testing.assert_array_equal(names_of(gram.take(index)), content_names(x[index]))
    np.testing.assert_array_equal(names_of(gram.take(index).take([3, 1, 2])), content_names(x[index[[3, 1, 2]]]))


def test_what_is_not_known_has_no_names():
    x = clouds(5)
    assert names_of(DenseGram(x @ x.T)) is None
    for kernel in LOW_RANK:
        gram = parse_kernel(kernel).gram(x)
        assert contents(gram) is None
        assert names_of(gram.take([4, 2])) is None


@pytest.mark.parametrize("kernel", [*KERNELS, *LOW_RANK])
def test_the_order_of_rows_does_not_matter(kernel):
    x, order = clouds(), np.random.default_rng(2).permutation(120)
    found, mixed = choose_k(x, kernel=kernel, **QUICK), choose_k(x[order], kernel=kernel, **QUICK)
    np.testing.assert_array_equal(found.mean, mixed.mean)
    assert found.best == 4
    labels, gram = np.repeat(range(4), 30), parse_kernel(kernel).gram(x)
    whole, part = stability(gram, labels, random_state=0), stability(gram.take(order), labels[order], random_state=0)
    np.testing.assert_allclose(whole.documents[order], part.documents, atol=1e-12)
    if kernel in KERNELS:
        np.testing.assert_array_equal(choose_k(gram, **QUICK).mean, choose_k(gram.take(order), **QUICK).mean)


@pytest.mark.parametrize(
    "form", [tuple, Corpus, iter, np.array, lambda texts: np.array(texts, dtype=object)], ids=range(5)
)
def test_strings_may_come_in_any_form(form):
    way = {"kernel": "spectrum(3)|normalise", **QUICK}
    np.testing.assert_array_equal(choose_k(form(TEXTS), **way).mean, choose_k(TEXTS, **way).mean)
    if form not in (Corpus, iter):
        model = KernelKMeans(2, kernel="spectrum(3)|normalise|shift", random_state=0)
        assert grampus.metrics.nmi(model.fit(form(TEXTS)).labels_, np.arange(60) % 2) == pytest.approx(1)


@pytest.mark.parametrize("kernel", [DocumentClusterer().kernel, "cosine|centre", "cosine|map", "cosine|nystrom(20)"])
def test_a_document_without_terms_is_set_aside(kernel):
    model = DocumentClusterer(ks=[2, 3], n_splits=6, kernel=kernel).fit([*TEXTS, "the of and"])
    assert model.selection_.ks == (2, 3)
    assert model.stability_ is not None
    assert not any("Stability was not measured" in note for note in model.run_.evidence.warnings)
