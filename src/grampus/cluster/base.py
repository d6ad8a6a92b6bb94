"""The base class of all estimators over a kernel, following scikit-learn's conventions."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import validate_data

from .._array import is_sparse
from .._check import FLOATS, refuse_texts
from ..errors import InputError
from ..gram import Gram
from ..kernels import Kernel, parse_kernel


class KernelEstimator(ClusterMixin, BaseEstimator):
    """Base of the estimators over a kernel: parses ``kernel`` and fits it to the data."""

    kernel: str | Kernel

    def _gram(self, X: Any) -> Gram:
        """Parse the kernel, validate the data as scikit-learn does, and return the fitted Gram."""
        self.kernel_ = parse_kernel(self.kernel)
        k = getattr(self, "n_clusters", None)
        if isinstance(k, int | np.integer):
            self.kernel_ = self.kernel_.for_clusters(int(k))
        if not self.kernel_.reads_only_texts:
            X = self._validated(X, reset=True)
        self.gram_ = self.kernel_.gram(X)
        return self.gram_

    def _validated(self, X: Any, *, reset: bool) -> Any:
        if isinstance(X, Mapping) and not is_sparse(X):
            return X  # inputs by name, which the kernel checks
        if isinstance(X, tuple) and self.kernel_.is_precomputed:
            return X  # similarities and self-similarities of new documents
        refuse_texts(X)
        return validate_data(self, X, reset=reset, accept_sparse="csr", dtype=list(FLOATS))

    def _options(self, *names: str) -> dict[str, Any]:
        """Return some of the parameters, as the function behind the estimator takes them."""
        return {name: getattr(self, name) for name in names}

    def _new(self, X: Any) -> Any:
        return X if self.kernel_.reads_only_texts else self._validated(X, reset=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            kernel = parse_kernel(self.kernel)
        except InputError:
            kernel = parse_kernel("linear")  # a misspelt kernel is reported by fit, not here
        tags.input_tags.pairwise = kernel.is_precomputed
        tags.input_tags.string = tags.input_tags.one_d_array = kernel.reads_only_texts
        tags.input_tags.two_d_array = tags.input_tags.sparse = not kernel.reads_only_texts
        return tags
