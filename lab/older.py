"""Names as commit 5f63358 made them, for given texts and clusters: what names are compared with.

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


def older_names(texts: list[str], labels: Any) -> list[str]:
    """Return the names of clusters 0 … k−1 as that version made them."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        input=json.dumps({"texts": texts, "labels": [int(label) for label in labels]}),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(sources())},
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-1000:])
    names: list[str] = json.loads(done.stdout)
    return names
