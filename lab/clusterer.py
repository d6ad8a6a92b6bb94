"""DocumentClusterer as the measurements use it: without stability, one place for the names of its options."""

from __future__ import annotations

from typing import Any

from grampus import DocumentClusterer


def document_clusterer(k: int | str = "auto", seed: int = 0, **options: Any) -> DocumentClusterer:
    """Return the estimator with its defaults but for `options`: kernel, init, n_init, polish."""
    return DocumentClusterer(k, stability=False, random_state=seed, **options)
