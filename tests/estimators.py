"""What tests of the estimators share."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp


def texts_like(n: int, m: int, seed: int = 0) -> sp.csr_array:
    """Return sparse rows in three groups, with copies and an empty one."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n)
    rate = 0.05 + 0.4 * (np.arange(m) // (m // 3) == group[:, None])
    x = rng.poisson(rate).astype(float)
    x[1], x[2] = x[0], 0.0
    return sp.csr_array(x)


def expected_failures(estimator: Any) -> dict[str, str]:
    """Return the checks of scikit-learn that cannot hold, with the reason."""
    if estimator.kernel != "precomputed":
        return {}
    checks = ("check_clustering", "check_clustering(readonly_memmap=True)")
    return dict.fromkeys(checks, "fits vectors where a precomputed kernel needs a square matrix")
