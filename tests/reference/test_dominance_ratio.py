"""The dominance ratio of bbc, close to the published 24.18 (`dominance`, table 1)."""

import numpy as np
import pytest
from scipy.io import mmread
from scipy.sparse import csr_array

from grampus.gram import dominance_ratio
from grampus.kernels import parse_kernel


@pytest.mark.corpus
def test_bbc(corpora):
    counts = csr_array(mmread(corpora / "bbc.mtx.gz"))
    n = counts.shape[0]
    documents = np.bincount(counts.indices, minlength=counts.shape[1])
    weights = (1 + np.log(counts.data)) * (1 + np.log(n / documents[counts.indices]))
    weighted = csr_array((weights, counts.indices, counts.indptr), shape=counts.shape)
    assert dominance_ratio(parse_kernel("cosine").gram(weighted)) == pytest.approx(26.6, abs=0.1)
