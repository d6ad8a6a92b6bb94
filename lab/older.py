"""Clusters and names as commit 5f63358 made them: what today's are compared with.

The sources of that commit are unpacked into the scratch folder of the lab and run in a process of their own.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import numpy as np

from lab.harness import ROOT, SCRATCH

COMMIT = "5f63358"
# Central documents are those of the weighted terms: what the clusters were found by is not known to that version.
SCRIPT = """
import json, sys, warnings
sys.meta_path[:] = [one for one in sys.meta_path if "editable" not in type(one).__module__]  # finds this checkout
warnings.simplefilter("ignore")
import numpy as np
from grampus.describe import evidence
from grampus.documents.collect import collect
from grampus.documents.compose import READ, _spelling
from grampus.describe import describe
from grampus.gram import LinearGram
from grampus.kernels import parse_kernel
from grampus.text.stopwords import stop_words

given = json.load(sys.stdin)
found = collect(given["texts"], parse_kernel("cosine"), None)
labels = np.array(given["labels"])[found.first]
gram = LinearGram(found.described)
seen = evidence(gram, labels, found.weights)
clusters = describe(
    gram, labels, weights=found.described, terms=found.names, texts=found.texts(), stop_words=stop_words("smart"),
    spelling=_spelling(found, seen), counts=found.weights, found=seen,
)
json.dump([cluster.label for cluster in clusters], sys.stdout)
"""
LABELS = """
import json, sys, warnings
sys.meta_path[:] = [one for one in sys.meta_path if "editable" not in type(one).__module__]
warnings.simplefilter("ignore")
import scipy.sparse as sp
from grampus import DocumentClusterer

given = json.load(sys.stdin)

def rows(x):
    return sp.csr_array((x["data"], x["indices"], x["indptr"]), shape=x["shape"]) if isinstance(x, dict) else x

model = DocumentClusterer(given["k"] or "auto", stability=False, random_state=given["seed"])
model.fit(rows(given["documents"]))
predicted = [] if given["new"] is None else model.predict(rows(given["new"])).tolist()
json.dump({"labels": model.labels_.tolist(), "predicted": predicted}, sys.stdout)
"""


def sources() -> Path:
    """Return the folder with the sources of the commit, unpacked now or before."""
    folder = SCRATCH / "older" / COMMIT
    if not folder.exists():
        packed = subprocess.run(["git", "archive", COMMIT, "src"], cwd=ROOT, capture_output=True, check=True).stdout
        part = folder.with_name(f"{COMMIT}.part")
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(part, filter="data")
        part.rename(folder)
    return folder / "src"


def _answer(script: str, given: dict[str, Any]) -> Any:
    """Run a script with the older sources; return what it prints as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(sources())},
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-1000:])
    return json.loads(done.stdout)


def older_names(texts: list[str], labels: Any) -> list[str]:
    """Return the names of clusters 0 … k−1 as that version made them."""
    names: list[str] = _answer(SCRIPT, {"texts": texts, "labels": [int(label) for label in labels]})
    return names


def older_labels(documents: Any, k: int | None = None, seed: int = 0, new: Any = None) -> tuple[Any, Any]:
    """Return the labels of texts or weighted rows by that version's default, and those it predicts for others."""
    given = {"k": k, "seed": seed, "documents": _plain(documents), "new": None if new is None else _plain(new)}
    answer = _answer(LABELS, given)
    return np.array(answer["labels"]), np.array(answer["predicted"])


def _plain(documents: Any) -> Any:
    if not hasattr(documents, "indptr"):
        return list(documents)
    parts = {name: getattr(documents, name).tolist() for name in ("data", "indices", "indptr")}
    return {**parts, "shape": list(documents.shape)}
