"""Text to weighted terms, against scikit-learn."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from benchmarks.registry import Agreement, Arrays, Side, row
from benchmarks.text_pipeline import data_folder, load


def same_matrix(ours: Arrays, theirs: Arrays) -> Agreement:
    """Agree when the two sparse matrices are equal to 1e-6."""
    mine, other = (
        sp.csr_array((side["data"], side["indices"], side["indptr"]), shape=tuple(side["shape"]))
        for side in (ours, theirs)
    )
    if mine.shape != other.shape:
        return Agreement(f"shapes {mine.shape} and {other.shape}", False)
    difference = float(abs(mine - other).max())
    return Agreement(f"max abs difference {difference:.1e} (allowed 1e-06)", difference <= 1e-6)


@row(
    "text-to-terms",
    "20ng (18,846 documents): words, SMART stops, stems, min_df 3, (1 + ln tf)(1 + ln(n/df)) at unit length.",
    ours=Side("grampus TermVectorizer", "text_grampus.py", packages=("grampus", "numpy", "scipy", "PyStemmer")),
    peers=[Side("scikit-learn TfidfVectorizer", "text_sklearn.py", promise=2, packages=("scikit-learn", "PyStemmer"))],
    agreement=same_matrix,
)
def inputs(quick: bool) -> Arrays:
    """The texts as UTF-8, end to end."""
    texts = [text.encode("utf-8") for text in load(data_folder())[:: 20 if quick else 1]]
    return {"bytes": np.frombuffer(b"".join(texts), dtype=np.uint8), "ends": np.cumsum([len(text) for text in texts])}
