"""Ours without the [fast] extra."""

import runpy
from pathlib import Path

from grampus.cluster import fast

fast.available = lambda: False  # type: ignore[assignment]
_same = runpy.run_path(str(Path(__file__).with_name("sparse_kmeans_grampus.py")))
prepare, run = _same["prepare"], _same["run"]
