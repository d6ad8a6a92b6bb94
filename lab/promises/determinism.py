"""One hash of labels over threads, backends, hash seeds, orders of rows and locales; symmetric data included."""

from __future__ import annotations

import hashlib
import json
import locale
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from itertools import combinations, product
from typing import Any

import joblib
import numpy as np

import grampus
from grampus import PDDP, BisectingKernelKMeans, DocumentClusterer, KernelKMeans, SpectralKMeans, choose_k
from grampus.documents import Effort
from grampus.scale.dask import connect
from grampus.select import Splits
from grampus.text import Corpus, TermVectorizer
from lab import Found, Task
from lab.found import Table
from lab.harness import ROOT
from lab.promises import promise

COMBINATIONS = 320
LOCALES = ("C", "POSIX", "C.UTF-8", "en_US.UTF-8", "de_DE.UTF-8", "tr_TR.UTF-8")
HASH_SEEDS = ("0", "1", "2", "42", "1000", "4294967295")
ORDERS = tuple(range(8))  # 0 is the order given, 1 the reverse, the others are drawn
WORDS = {
    "sea": "whale calf song ocean deep wave tide krill fin pod",
    "garden": "rose soil seed bloom petal prune compost bulb hedge moss",
    "sky": "star comet orbit planet lens galaxy lunar dust nova ring",
}


def installed() -> tuple[str, ...]:
    """Return the locales that can be set here."""
    found = []
    for name in LOCALES:
        try:
            locale.setlocale(locale.LC_ALL, name)
        except locale.Error:
            continue
        found.append(name)
    locale.setlocale(locale.LC_ALL, "C")
    return tuple(found)


def drawn(settings: Sequence[Sequence[Any]], count: int, seed: int) -> list[tuple[Any, ...]]:
    """Return combinations in which every pair of values of two settings occurs; then more at random."""
    rng = np.random.default_rng(seed)
    pairs = {
        (i, j, a, b)
        for (i, first), (j, second) in combinations(enumerate(settings), 2)
        for a, b in product(first, second)
    }
    found: list[tuple[Any, ...]] = []
    while pairs or len(found) < count:
        some = [tuple(values[int(rng.integers(len(values)))] for values in settings) for _ in range(60 if pairs else 1)]
        best = max(some, key=lambda one: len(pairs & _pairs(one)))
        if pairs & _pairs(best) or not pairs:
            found.append(best)
            pairs -= _pairs(best)
    return found


def _pairs(one: tuple[Any, ...]) -> set[tuple[Any, ...]]:
    return {(i, j, a, b) for (i, a), (j, b) in combinations(enumerate(one), 2)}


def documents() -> list[str]:
    """Return 48 short texts on three topics, with copies and ties."""
    rng = np.random.default_rng(5)
    texts = [" ".join(rng.choice(words.split(), 6)) for words in WORDS.values() for _ in range(15)]
    return [*texts, texts[0], texts[20], texts[40]]


def symmetric() -> dict[str, Any]:
    """Return data in which everything ties."""
    angles = 2 * np.pi * np.arange(24) / 24
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return {"circle": circle, "eye": np.eye(24), "copies": np.repeat(np.eye(6), 4, axis=0)}


def labels(order: int, **where: Any) -> list[list[float]]:
    """Cluster everything with its rows in another order; return labels and scores in the order given.

    One clustering works in parts: on a Dask `client`, or in a `scratch` folder.
    """
    texts, found = documents(), []

    def arranged(n: int) -> Any:
        if order < 2:
            return np.arange(n)[:: -1 if order else 1]
        return np.random.default_rng(order).permutation(n)

    at = arranged(len(texts))
    corpus = Corpus([texts[i] for i in at], [f"d{i}" for i in at])
    back = np.argsort(at)
    for k, effort in ((3, Effort(stability=False)), ("auto", Effort(ks=range(2, 5), n_splits=4, stability=False))):
        found.append(DocumentClusterer(k, effort=effort, random_state=0).fit(corpus).labels_[back].tolist())
    parts = DocumentClusterer(3, effort=Effort(stability=False), random_state=0).fit(corpus, **where)
    found.append(parts.labels_[back].tolist())
    terms = TermVectorizer().fit_transform(corpus.texts)
    for scheme in ("KKM-S", "RED-S"):
        choice = choose_k(terms, ks=(2, 3, 4), scheme=scheme, splits=Splits(6), null=False, random_state=0)
        found.append([choice.best, *np.round(np.asarray(choice.scores).ravel(), 9).tolist()])
    models = (
        KernelKMeans(4, kernel="gaussian(1)", polish=True, random_state=0),
        KernelKMeans(4, kernel="cosine|shift", rule="adjusted", random_state=0),
        PDDP(4, kernel="gaussian(1)"),
        BisectingKernelKMeans(4, kernel="cosine", random_state=0),
    )
    for name, x in symmetric().items():
        at = arranged(len(x))
        some = (*models, SpectralKMeans(4, kernel="gaussian(1)", random_state=0)) if name == "circle" else models
        found += [model.fit(x[at]).labels_[np.argsort(at)].tolist() for model in some]
    return found


def hashed(threads: int, backend: str, order: int, place: str) -> str:
    """Return the hash of all labels under these settings."""
    locale.setlocale(locale.LC_ALL, place)
    with ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        where: dict[str, Any] = {"scratch": stack.enter_context(tempfile.TemporaryDirectory())}
        if backend == "dask":
            client = connect("threads", threads)
            stack.callback(client.cluster.close)
            stack.callback(client.close)
            where = {"client": client}
        stack.enter_context(grampus.config(threads=threads))
        stack.enter_context(joblib.parallel_config(backend, n_jobs=threads))
        found = labels(order, **where)
    return hashlib.sha256(json.dumps(found).encode()).hexdigest()[:16]


def in_process(seed: str, some: Sequence[tuple[int, str, int, str]]) -> list[str]:
    """Return the hashes of combinations in a process with one hash seed."""
    environment = {**os.environ, "PYTHONHASHSEED": seed, "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "lab.promises.determinism"]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, input=json.dumps(some), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found: list[str] = json.loads(done.stdout)
    return found


@promise(
    "determinism",
    "Hashes of the labels of documents and of symmetric data over combinations of threads {1, 2, 4, 8}, joblib "
    "backends {sequential, threading, loky, Dask}, hash seeds, orders of rows and locales; every pair of settings "
    "occurs.",
    rests_on=("cluster", "select", "documents", "gram", "scale", "text"),
    conditions=("one-hash", "combinations"),
    timeout=2 * 3600,
)
def determinism(task: Task) -> Found:
    places = installed()
    backends = ("sequential", "threading", "loky", "dask")
    count = task.trials(COMBINATIONS, 8)
    every = drawn(((1, 2, 4, 8), backends, ORDERS, places, HASH_SEEDS), count, task.seed)
    every = every[:count] if task.quick else every
    hashes: dict[tuple[Any, ...], str] = {}
    for seed in HASH_SEEDS:
        mine = sorted(
            (one[:4] for one in every if one[4] == seed), key=lambda one: (one[1], one[0])
        )  # keep loky's pools
        if mine:
            found = task.step(f"hash seed {seed}", partial(in_process, seed, mine))
            hashes |= {(*one, seed): text for one, text in zip(mine, found, strict=True)}
    rows = []
    for at, name in enumerate(("threads", "backend", "order of rows", "locale", "hash seed")):
        values = dict.fromkeys(one[at] for one in every)
        rows += [(name, value, len({text for one, text in hashes.items() if one[at] == value})) for value in values]
    table = Table("Hashes by setting", ("setting", "value", "hashes"), rows)
    distinct = len(set(hashes.values()))
    figure = f"{distinct} hash over {len(every)} combinations ({len(places)} locales: {', '.join(places)})"
    return Found(figure, {"hashes": distinct, "combinations": len(every)}, [table])


if __name__ == "__main__":
    print(json.dumps([hashed(*one) for one in json.load(sys.stdin)]))
