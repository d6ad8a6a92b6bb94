"""DocumentClusterer as the measurements use it: without stability, one place for the names of its options."""

from typing import Any

from grampus import DocumentClusterer
from grampus.documents import Effort, KernelKMeansMethod


def document_clusterer(k: int | str = "auto", seed: int = 0, **options: Any) -> DocumentClusterer:
    """Return the estimator with its defaults but for `options`: kernel, terms, init, n_init, polish."""
    method = KernelKMeansMethod(options.pop("init", "auto"))
    effort = {name: options.pop(name) for name in ("n_init", "polish") if name in options}
    given = {"embed": None, "effort": Effort(stability=False, **effort), **options}  # words alone
    return DocumentClusterer(k, method=method, random_state=seed, **given)
