"""One hash of labels over threads, backends, kinds of Gram, hash seeds, orders of rows and locales; ties included."""

import hashlib
import json
import locale
import os
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

import joblib
import numpy as np

import grampus
from grampus import PDDP, BisectingKernelKMeans, DocumentClusterer, KernelKMeans, SpectralKMeans, choose_k, load
from grampus.cluster import kernel_kmeans
from grampus.documents import Effort
from grampus.gram import DenseGram, FunctionGram, LinearGram, normalise, shift
from grampus.kernels import parse_kernel
from grampus.run.dask import connected
from grampus.select import Splits
from grampus.text import Corpus, TermVectorizer
from lab import Found, Table, Task, data, printed
from lab.harness import ROOT
from lab.promises import promise

COMBINATIONS = 540
SETTINGS: dict[str, tuple[Any, ...]] = {
    "threads": (1, 2, 4, 8),
    "backend": ("sequential", "threading", "loky", "dask"),
    "order of rows": tuple(range(8)),  # 0 is the order given, 1 the reverse, the others are drawn
    "locale": ("C", "POSIX", "C.UTF-8", "en_US.UTF-8", "de_DE.UTF-8", "tr_TR.UTF-8"),
    "Gram": ("stored", "tiled", "matrix-free"),
    "hash seed": ("0", "1", "2", "42", "1000", "4294967295"),
}
WORDS = (
    "whale calf song ocean deep wave tide krill fin pod",
    "rose soil seed bloom petal prune compost bulb hedge moss",
    "star comet orbit planet lens galaxy lunar dust nova ring",
)


def settable(name: str) -> bool:
    """Return whether a locale can be set here."""
    try:
        locale.setlocale(locale.LC_ALL, name)
    except locale.Error:
        return False
    return locale.setlocale(locale.LC_ALL, "C") == "C"


def texts() -> list[str]:
    """Return 48 short texts on three topics, with copies and ties."""
    rng = np.random.default_rng(5)
    made = [" ".join(rng.choice(words.split(), 6)) for words in WORDS for _ in range(15)]
    return [*made, made[0], made[20], made[40]]


def symmetric() -> Iterator[tuple[Any, list[Any]]]:
    """Yield data in which everything ties, and models to cluster them."""
    models = [
        KernelKMeans(4, kernel="gaussian(1)", polish=True, random_state=0),
        KernelKMeans(4, kernel="cosine|shift", rule="adjusted", random_state=0),
        BisectingKernelKMeans(4, kernel="cosine", random_state=0),
        *(PDDP(4, kernel="gaussian(1)", cut=cut) for cut in ("zero", "full", "projection")),
        PDDP(4, refine=True),
    ]
    angles = 2 * np.pi * np.arange(24) / 24
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    yield circle, [*models, SpectralKMeans(4, kernel="gaussian(1)", random_state=0)]
    yield np.eye(24), models
    yield np.repeat(np.eye(6), 4, axis=0), models


def arranged(n: int, order: int) -> Any:
    """Return an order of n rows."""
    return np.arange(n)[:: -1 if order else 1] if order < 2 else np.random.default_rng(order).permutation(n)


def of_gram(kind: str) -> list[int]:
    """Return the labels of ten starts on bbcsport, for one kind of Gram."""
    x = data.documents("bbcsport").x
    dense = x.toarray()
    if kind == "stored":  # a matrix does not know its documents, and starts are drawn by content: it is told them
        gram: Any = shift(normalise(DenseGram(dense @ dense.T).named(LinearGram(x).documents())))
    elif kind == "tiled":
        gram = shift(normalise(FunctionGram(lambda a, b: a @ b.T, dense, lambda a: (a**2).sum(axis=1))))
    else:
        gram = parse_kernel("cosine|shift").gram(x)
    result = kernel_kmeans(gram, 5, n_init=10, random_state=0)
    return [*result.labels.tolist(), *result.runs.labels.ravel().tolist()]


def labels(order: int, folder: str, **where: Any) -> list[list[float]]:
    """Cluster everything with its rows in another order; return labels and scores in the order given.

    One clustering works in pieces: on a Dask `client`, or in a `scratch` folder. One is saved and loaded.
    """
    made, found = texts(), list[list[float]]()
    at = arranged(len(made), order)
    corpus, back = Corpus([made[i] for i in at], [f"d{i}" for i in at]), np.argsort(at)
    for k, effort in ((3, Effort(stability=False)), ("auto", Effort(ks=range(2, 5), n_splits=4, stability=False))):
        model = DocumentClusterer(k, embed=None, effort=effort, random_state=0).fit(corpus)
        found.append(model.labels_[back].tolist())
    model.save(f"{folder}/run")
    found.append(load(f"{folder}/run").predict(corpus)[back].tolist())
    in_pieces = DocumentClusterer(3, effort=Effort(stability=False), random_state=0).fit(corpus, **where)
    found.append(in_pieces.labels_[back].tolist())
    terms = TermVectorizer().fit_transform(corpus.texts)
    for scheme in ("KKM-S", "RED-S"):
        choice = choose_k(terms, ks=(2, 3, 4), scheme=scheme, splits=Splits(6), null=False, random_state=0)
        found.append([choice.best, *np.round(np.asarray(choice.scores).ravel(), 9).tolist()])
    for x, models in symmetric():
        at = arranged(len(x), order)
        found += [model.fit(x[at]).labels_[np.argsort(at)].tolist() for model in models]
    return found


def hashed(threads: int, backend: str, order: int, place: str, kind: str) -> str:
    """Return the hash of all labels under these settings."""
    locale.setlocale(locale.LC_ALL, place)
    with ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        where: dict[str, Any] = {"scratch": folder}
        if backend == "dask":
            where = {"client": stack.enter_context(connected("threads", threads))}
        stack.enter_context(grampus.config(threads=threads))
        stack.enter_context(joblib.parallel_config(backend, n_jobs=threads))
        found = [*labels(order, folder, **where), of_gram(kind)]
    return hashlib.sha256(json.dumps(found).encode()).hexdigest()[:16]


def in_process(seed: str, some: Sequence[Sequence[Any]]) -> list[str]:
    """Return the hashes of combinations in a process with one hash seed."""
    environment = {**os.environ, "PYTHONHASHSEED": seed, "OPENBLAS_NUM_THREADS": "1"}
    given = {"cwd": ROOT, "env": environment, "input": json.dumps(some)}
    return list(json.loads(printed("-m", "lab.promises.determinism", **given)))


@promise("same-labels")
def same_labels(task: Task) -> Found:
    settings = SETTINGS | {"locale": tuple(filter(settable, SETTINGS["locale"]))}
    rng = np.random.default_rng(task.seed)
    drawn = (tuple(values[rng.integers(len(values))] for values in settings.values()) for _ in range(10 * COMBINATIONS))
    every = list(dict.fromkeys(drawn))[: task.trials(COMBINATIONS, 8)]  # so many that every pair of values occurs
    hashes: dict[tuple[Any, ...], str] = {}
    for seed in settings["hash seed"]:
        own = sorted((one for one in every if one[-1] == seed), key=lambda one: (one[1], one[0]))  # keep loky's pools
        if own:
            found = task.step(f"hash seed {seed}", partial(in_process, seed, [one[:-1] for one in own]))
            hashes |= dict(zip(own, found, strict=True))
    rows = []
    for place, (name, values) in enumerate(settings.items()):
        rows += [(name, one, len({text for key, text in hashes.items() if key[place] == one})) for one in values]
    different = len(set(hashes.values()))
    figure = f"{different} hash over {len(every)} runs ({', '.join(settings['locale'])})"
    table = Table("Hashes by setting", ("setting", "value", "hashes"), rows)
    return Found(figure, {"hashes": different, "combinations": len(every)}, [table])


if __name__ == "__main__":
    print(json.dumps([hashed(*one) for one in json.load(sys.stdin)]))
