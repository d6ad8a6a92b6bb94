"""The sets on which answers are judged, at most 2,500 documents of each, always the same; and what others would run.

Half of the sets (`CHOSEN_ON`) served to choose the design; the other half only confirms it.
"""

from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from grampus.kernels import parse_kernel
from grampus.metrics import ari, nmi
from grampus.text import TermVectorizer, Weighting
from lab import data

MOST = 2500
KERNEL = "cosine|principal(30)|normalise"  # the default of choose_levels
TEXTS: dict[str, tuple[str, tuple[str, ...] | None]] = {
    **{name: (name, None) for name in ("20ng", "bbc", "bbcsport", "classic4")},
    **{name: (f"dev/{file}", None) for name, file in (
        ("agnews", "agnews8000"), ("arxiv", "arxiv24"), ("banking", "banking77"), ("snippets", "searchsnippets"),
        ("stackoverflow", "stackoverflow"), ("webkb", "webkb_stemmed"),
    )},
    "ohsumed": ("ohsumed_single23", None), "r52": ("r52_raw_9052", None), "ng3": ("20ng", data.NG3),
    "ng17-19": ("20ng", data.POLITICS), "classic3": ("classic4", ("cisi", "cran", "med")),
}  # fmt: skip
COUNTS = {name: f"dev/{name}" for name in ("fbis", "k1b", "re1", "tr31", "tr41")}
COUNTS |= {"cstr": "cstr", "reviews": "reviews"}
SETS = tuple(sorted((*TEXTS, *COUNTS)))
CHOSEN_ON, CONFIRMED_ON = SETS[::2], SETS[1::2]


@cache
def draw(name: str) -> tuple[Any, NDArray[Any]]:
    """Return the documents of a set, texts or counts, and their classes."""
    documents: Any
    documents, labels = data.texts(*TEXTS[name]) if name in TEXTS else data.counts(COUNTS[name])
    index = np.sort(np.random.default_rng(0).permutation(len(labels))[:MOST])
    if sp.issparse(documents):
        return sp.csr_array(documents)[index], labels[index]
    return [documents[int(i)] for i in index], labels[index]


def given(name: str) -> tuple[Any, NDArray[Any], int]:
    """Return a set as DocumentClusterer gets it, texts or weighted terms, its classes, and their number."""
    documents, labels = draw(name)
    return weighted(documents) if name in COUNTS else documents, labels, len(np.unique(labels))


def frequent(counts: Any, least: int) -> Any:
    """Return the counts of terms in at least so many documents, and in no more than half of them: there is no list."""
    frequency = np.bincount(counts.indices, minlength=counts.shape[1])
    return counts[:, np.flatnonzero((frequency >= least) & (frequency <= 0.5 * counts.shape[0]))]


def weighted(documents: Any) -> Any:
    """Return weighted terms as DocumentClusterer makes them."""
    if sp.issparse(documents):
        return Weighting("lec", dtype=np.float64).fit_transform(frequent(documents, 3))
    fewest = min(3, 1 + len(documents) // 100)
    return TermVectorizer("lec", min_df=fewest, dtype=np.float64).fit_transform(list(documents))


def components(x: Any) -> NDArray[np.float64]:
    """Return the leading components of rows under the default kernel."""
    found = parse_kernel(KERNEL).gram(x).features()
    assert found is not None
    return np.asarray(found.rows) * found.scale[:, None]


def scores(classes: Any, labels: Any) -> list[float]:
    """Return NMI and ARI."""
    return [float(nmi(classes, labels)), float(ari(classes, labels))]


def pair(values: Any, sign: str = "") -> str:
    """Return NMI and ARI, or a gain in both, as text."""
    return f"{values[0]:{sign}.3f} / {values[1]:{sign}.3f}"


def recipes(documents: Any, k: int, seed: int, reduce: bool) -> Any:
    """Return the labels of scikit-learn's recipe for texts, with or without SVD, as its own example has it."""
    from sklearn.cluster import KMeans
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer
    from sklearn.preprocessing import normalize

    if sp.issparse(documents):
        x = TfidfTransformer().fit_transform(frequent(documents, 5))
    else:
        x = TfidfVectorizer(max_df=0.5, min_df=5, stop_words="english").fit_transform(documents)
    if reduce:
        x = normalize(TruncatedSVD(min(100, x.shape[1] - 1), random_state=seed).fit_transform(x))
    return KMeans(k, n_init=10, random_state=seed).fit_predict(x)
