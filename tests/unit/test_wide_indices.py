"""Sparse matrices with 64-bit indices, as ``load_svmlight_file`` makes them, give what 32-bit ones give."""

import io
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from grampus import DocumentClusterer, KernelKMeans
from grampus.cluster import PDDP, BisectingKernelKMeans, KernelPCAKMeans, SpectralKMeans
from grampus.errors import InputError
from grampus.gram import neighbour_graph
from grampus.kernels import parse_kernel
from grampus.select import Splits, choose_k, choose_levels
from grampus.select.ungrouped import ungrouped


def topics():
    """Return 90 documents of three topics, with 40 terms."""
    rng, rows = np.random.default_rng(0), np.zeros((90, 40))
    for place in range(90):
        rows[place, rng.choice(13, 6, replace=False) + place % 3 * 13] = rng.integers(1, 4, 6)
    return sp.csr_array(rows)


def widened(rows, *parts):
    wide = rows.copy()
    for part in parts:
        setattr(wide, part, getattr(wide, part).astype(np.int64))
    return wide


def from_svmlight(rows):
    file = io.BytesIO()
    dump_svmlight_file(rows, np.zeros(rows.shape[0]), file)
    file.seek(0)
    wide, _ = load_svmlight_file(file, n_features=rows.shape[1])  # 64 bits wide, but for old SciPy
    return wide


WIDE = {
    "indices": lambda rows: widened(rows, "indices"),
    "indptr": lambda rows: widened(rows, "indptr"),
    "both": lambda rows: widened(rows, "indices", "indptr"),
    "svmlight": from_svmlight,
}
ANSWERS = {
    "documents": lambda rows: DocumentClusterer(random_state=0).fit(rows).labels_,
    "documents, k given": lambda rows: DocumentClusterer(3, random_state=0).fit(rows).labels_,
    "documents, outliers": lambda rows: DocumentClusterer(3, outliers="auto", random_state=0).fit(rows).labels_,
    "predict": lambda rows: DocumentClusterer(3, random_state=0).fit(rows).predict(rows),
    "kernel k-means": lambda rows: KernelKMeans(3, random_state=0).fit(rows).labels_,
    "PDDP": lambda rows: PDDP(3).fit(rows).labels_,
    "bisecting": lambda rows: BisectingKernelKMeans(3, random_state=0).fit(rows).labels_,
    "spectral": lambda rows: SpectralKMeans(3, random_state=0).fit(rows).labels_,
    "kernel PCA": lambda rows: KernelPCAKMeans(3, random_state=0).fit(rows).labels_,
    "choose_k": lambda rows: choose_k(rows, ks=(2, 3), splits=Splits(n=3), random_state=0).scores,
    "choose_levels": lambda rows: choose_levels(rows, random_state=0).middle.labels,
    "neighbours": lambda rows: neighbour_graph(parse_kernel("cosine").gram(rows), 5).dense(),
    "without groups": lambda rows: ungrouped(rows, np.random.default_rng(0)).toarray(),
    **{
        spelling: lambda rows, spelling=spelling: parse_kernel(spelling).gram(rows).dense()
        for spelling in ("linear", "cosine", "polynomial(2)", "gaussian(1)", "selftuning(3)", "cosine|principal(3)")
    },
}


@cache
def narrow(answer):
    return ANSWERS[answer](topics())


@pytest.mark.parametrize(
    ("answer", "wide"),
    [(answer, kind) for i, answer in enumerate(ANSWERS) for kind in ("both", ("indices", "indptr", "svmlight")[i % 3])],
)
def test_answers_do_not_depend_on_the_type_of_indices(answer, wide):
    np.testing.assert_array_equal(ANSWERS[answer](WIDE[wide](topics())), narrow(answer))


@pytest.mark.parametrize("answer", ["documents", "kernel k-means", "PDDP", "spectral", "choose_levels", "linear"])
def test_more_columns_than_32_bits_can_count_are_refused(answer):
    wide = sp.csr_array((np.ones(9), np.arange(9, dtype=np.int64) * 2**29, np.arange(10)), shape=(9, 2**33))
    with pytest.raises(InputError, match=r"fewer than 2³¹ rows and columns; got shape \(9, 8589934592\)") as refused:
        ANSWERS[answer](wide)
    assert "bug in Grampus" not in str(refused.value)
