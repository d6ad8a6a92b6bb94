"""Keywords of clusters."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from grampus.describe import keywords
from grampus.errors import InputError


def test_keywords_are_the_terms_with_the_largest_contrast():
    x = np.array([[0.9, 0.1, 0.0], [0.8, 0.2, 0.0], [0.0, 0.2, 0.9]])
    assert keywords(x, ["b", "b", "a"], ["x", "y", "z"], top=2) == [["z", "y"], ["x"]]
    assert keywords(sp.csr_array(x), [1, 1, 0], ["x", "y", "z"], top=1) == [["z"], ["x"]]


def test_one_cluster_is_described_by_its_own_terms():
    assert keywords(np.array([[2.0, 1.0]]), [0], ["x", "y"], top=5) == [["x", "y"]]


def test_terms_must_fit():
    with pytest.raises(InputError, match="each of the 2 columns"):
        keywords(np.eye(2), [0, 1], ["x"])
