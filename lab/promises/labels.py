"""Twelve clusterings whose labels must not change: their hashes were recorded at commit 5f63358.

Texts are counted as they are and k is chosen by prediction strength, since cleaning and levels are newer than the
record; languages are found, and words alone are compared.
"""

import hashlib
import tomllib
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import grampus
from grampus import PDDP, DocumentClusterer, KernelKMeans, SpectralKMeans, TermVectorizer
from grampus.datasets import scipy_docstrings
from grampus.documents import Effort, default_terms
from grampus.select import Splits
from lab import Found, Task, data
from lab.promises import promise

RECORDED: dict[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def bbc() -> list[str]:
    """Return the texts of bbc."""
    return list(data.texts("bbc")[0])


def terms() -> Any:
    """Return the weighted terms of bbc."""
    return TermVectorizer("lfc", min_df=3).fit_transform(bbc())


def kmeans(kernel: str, rule: str = "plain") -> Any:
    """Return the labels of kernel k-means on bbc."""
    return KernelKMeans(5, kernel=kernel, rule=rule, random_state=0).fit(terms()).labels_


def choice() -> Any:
    """Return the choice of RED-S on bbc and its scores, to nine digits."""
    found = grampus.choose_k(terms(), scheme="RED-S", splits=Splits(20), random_state=0, null=False)
    return [found.best, *np.round(np.asarray(found.scores).ravel() * 1e9).astype(np.int64)]


def strings() -> Any:
    """Return the labels of kernel k-means on substrings of 600 texts of bbc."""
    model = KernelKMeans(5, kernel="spectrum(5)|normalise|shift", random_state=0, n_init=5)
    return model.fit(bbc()[:600]).labels_


def documents(texts: Any, k: int | str = "auto", effort: Effort | None = None) -> Any:
    """Return the labels of DocumentClusterer without cleaning."""
    terms = default_terms(len(texts)).set_params(clean=False, numbers=True)
    return DocumentClusterer(k, method="kernel-kmeans", terms=terms, embed=None, effort=effort).fit(texts).labels_


def demo() -> Any:
    """Return the labels of the demo."""
    return documents(scipy_docstrings(), effort=Effort(ks=range(6, 16), n_splits=16, scheme="auto"))


CLUSTERINGS: dict[str, Callable[[], Any]] = {
    "demo": demo,
    "bbc-20": lambda: documents(bbc(), 20),
    "20ng-20": lambda: documents(list(data.texts("20ng")[0]), 20),
    "bbc-DS": lambda: kmeans("cosine|shift"),
    "bbc-DSM": lambda: kmeans("cosine|shift|map"),
    "bbc-AA": lambda: kmeans("cosine", rule="adjusted"),
    "bbc-SPM": lambda: kmeans("cosine|power(0.6)|map"),
    "PDDP_OCPC(2)": lambda: PDDP(5, n_components=2, cut="projection").fit(terms()).labels_,
    "KPDDP": lambda: PDDP(5, kernel="gaussian(1)").fit(terms()[:1000]).labels_,
    "spectral": lambda: SpectralKMeans(5, laplacian="random-walk", random_state=0).fit(terms()).labels_,
    "RED-S": choice,
    "spectrum(5)": strings,
}


@promise("label-hashes")
def labels(task: Task) -> Found:
    warnings.simplefilter("ignore")
    names = [name for name in CLUSTERINGS if not task.quick or name != "20ng-20"]
    found = {name: task.step(name, partial(hashed, name)) for name in names}
    apart = [name for name in names if found[name] != RECORDED[name]]
    return Found(f"{len(apart)} of {len(names)} differ", {"different": len(apart)}, notes=apart)


def hashed(name: str) -> str:
    """Return the first digits of the hash of a clustering's labels."""
    values = np.ascontiguousarray(CLUSTERINGS[name](), dtype="<i8")
    return hashlib.sha256(values.tobytes()).hexdigest()[:16]
