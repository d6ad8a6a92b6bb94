"""One function a package: what it makes of texts, their vectors and, if it has to be told, the number of classes.

A function yields the labels of each way, −1 for a document in no group; ways that end in ", k" are told the number of
classes, and left out of the repeats (`told`) where a package has others. Settings are the package's defaults or the
advice of its documentation; the only addition is the seed. Names have no part in labels: where a package wants an
encoder for words as well, it is given `Lookup`.
"""

from __future__ import annotations

import json
import lzma
import re
import resource
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

Ways = Iterator[tuple[str, Any]]
FOLLOWING = ("bertopic", "umap")  # a way begins with what the one before it has made, which counts as its cost
SHARE = 0.8  # of the documents in a draw
SILHOUETTE = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 70, 100)


class Lookup:
    """An encoder that knows the vectors of the documents; words get random ones, which names alone are made of."""

    def __init__(self, texts: list[str], rows: Any):
        self.rows, self.width = dict(zip(texts, rows, strict=True)), rows.shape[1]

    def encode(self, texts: Any, **_: Any) -> Any:
        """Return the rows of texts."""
        other = np.random.default_rng(0).normal(size=(len(texts), self.width)).astype(np.float32)
        return np.array([self.rows.get(text, row) for text, row in zip(texts, other, strict=True)])

    __call__ = encode


def bertopic(texts: list[str], rows: Any, k: int, seed: int, told: bool) -> Ways:
    from bertopic import BERTopic
    from umap import UMAP

    umap = UMAP(n_neighbors=15, n_components=5, min_dist=0.0, metric="cosine", random_state=seed)
    model = BERTopic(umap_model=umap)
    topics, _ = model.fit_transform(texts, rows)
    yield "BERTopic", topics
    placed = len({*topics} - {-1}) > 0 and -1 in topics
    for strategy in ("distributions", "embeddings"):
        given = {"embeddings": rows} if strategy == "embeddings" else {}
        found = model.reduce_outliers(texts, topics, strategy=strategy, **given) if placed else topics
        yield f"BERTopic, reduce_outliers by {strategy}", found


def evoc(texts: list[str], rows: Any, k: int, seed: int, told: bool) -> Ways:
    from evoc import EVoC

    yield "EVōC", EVoC(random_state=seed).fit_predict(rows)


def top2vec(texts: list[str], rows: Any, k: int, seed: int, told: bool) -> Ways:
    from top2vec import Top2Vec

    umap = {"n_neighbors": 15, "n_components": 5, "metric": "cosine", "random_state": seed}
    yield "Top2Vec", Top2Vec(texts, embedding_model=Lookup(texts, rows), umap_args=umap, verbose=False).doc_top


def turftopic(texts: list[str], rows: Any, k: int, seed: int, told: bool) -> Ways:
    from turftopic import ClusteringTopicModel, Topeax

    for name, model in (("Topeax", Topeax), ("ClusteringTopicModel", ClusteringTopicModel)):
        fitted = model(encoder=Lookup(texts, rows), random_state=seed)
        fitted.fit(texts, embeddings=rows)
        yield f"Turftopic, {name}", fitted.labels_


def fastopic(texts: list[str], rows: Any, k: int, seed: int, told: bool) -> Ways:
    import torch
    from fastopic import FASTopic

    torch.manual_seed(seed)
    model = FASTopic(k, doc_embed_model=Lookup(texts, rows), device="cpu")
    yield "FASTopic, k", model.fit_transform(texts, preset_doc_embeddings=rows)[1].argmax(axis=1)


def tomotopy(texts: list[str], rows: Any, k: int, seed: int, told: bool) -> Ways:
    import tomotopy as tp

    words = [re.findall(r"\w\w+", text.lower()) for text in texts]
    for name, model in (
        ("HDP", tp.HDPModel(min_cf=3, rm_top=5, seed=seed)),
        ("LDA, k", tp.LDAModel(min_cf=3, rm_top=5, k=k, seed=seed)),
    )[: 1 + told]:
        labels = np.full(len(texts), -1)
        at = [i for i, some in enumerate(words) if some and model.add_doc(some) is not None]
        model.train(100, workers=1)
        # A document whose words were all rare is not in the model, though it was given a number.
        kept = dict(zip(at, model.docs, strict=False)) if len(model.docs) == len(at) else {}
        for i, some in enumerate(words):
            doc = kept.get(i) or (model.make_doc(some) if some else None)
            if doc is not None and i not in kept:
                model.infer(doc, workers=1)
            labels[i] = -1 if doc is None or not len(doc.words) else int(np.argmax(doc.get_topic_dist()))
        yield f"tomotopy, {name}", labels


def recipes(texts: list[str], rows: Any, k: int, seed: int, told: bool) -> Ways:
    from sklearn.cluster import HDBSCAN, KMeans
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.metrics import silhouette_score
    from sklearn.preprocessing import normalize

    found = [KMeans(m, random_state=seed).fit_predict(rows) for m in SILHOUETTE if m < len(texts)]
    yield "scikit-learn, KMeans, k by silhouette", max(found, key=lambda labels: silhouette_score(rows, labels))
    yield "scikit-learn, HDBSCAN", HDBSCAN(copy=True).fit_predict(rows)
    if told:
        x = TfidfVectorizer(max_df=0.5, min_df=5, stop_words="english").fit_transform(texts)
        yield "scikit-learn, TF-IDF + KMeans, k", KMeans(k, n_init=5, random_state=seed).fit_predict(x)
        reduced = normalize(TruncatedSVD(min(100, x.shape[1] - 1), random_state=seed).fit_transform(x))
        yield "scikit-learn, TF-IDF + SVD + KMeans, k", KMeans(k, n_init=5, random_state=seed).fit_predict(reduced)
        yield "scikit-learn, KMeans, k", KMeans(k, n_init=5, random_state=seed).fit_predict(rows)


def umap(texts: list[str], rows: Any, k: int, seed: int, told: bool) -> Ways:
    import fast_hdbscan
    from hdbscan import HDBSCAN
    from umap import UMAP

    # As UMAP's page on clustering has it: there 500 of 70,000 are the smallest cluster.
    flat = UMAP(n_neighbors=30, min_dist=0.0, n_components=2, metric="cosine", random_state=seed).fit_transform(rows)
    least = max(5, len(texts) * 500 // 70_000)
    yield "UMAP + HDBSCAN", HDBSCAN(min_samples=10, min_cluster_size=least).fit_predict(flat)
    yield "UMAP + fast-hdbscan", fast_hdbscan.HDBSCAN().fit_predict(flat)


def grampus(texts: list[str], rows: Any, k: int, seed: int, told: bool) -> Ways:
    from grampus import DocumentClusterer
    from grampus.text import Corpus

    for name, given in (
        ("as installed", texts),
        ("words and MiniLM", Corpus(texts, inputs={"embedding": rows})),
        ("MiniLM", rows),
    ):
        for suffix, number in (("", "auto"), (", k", k))[: 1 + told]:
            yield f"Grampus, {name}{suffix}", DocumentClusterer(number, random_state=seed).fit(given).labels_


FITS: dict[str, Callable[..., Ways]] = {
    fit.__name__: fit for fit in (grampus, bertopic, umap, evoc, turftopic, top2vec, fastopic, recipes, tomotopy)
}


# -- one job, in a process that does many


@lru_cache(maxsize=32)
def documents(work: str, name: str) -> tuple[list[str], Any, Any]:
    """Return texts, classes and vectors of a set."""
    read = json.loads(lzma.decompress(Path(work, f"{name}.json.xz").read_bytes()))
    return read["texts"], np.array(read["classes"]), np.load(Path(work, f"{name}.npy")).astype(np.float32)


def chosen(kind: str, repeat: int, n: int) -> Any:
    """Return the rows of a repeat: all, all in another order, or a draw of them."""
    rng = np.random.default_rng([repeat, len(kind)])
    return {"seed": np.arange(n), "order": rng.permutation(n), "draw": rng.permutation(n)[: int(SHARE * n)]}[kind]


def answers(work: str, fit: str, name: str, kind: str, repeat: int, most: int) -> Iterator[dict[str, Any]]:
    """Yield the labels of every way of a package, in the order of the documents, −2 for those that were not drawn."""
    warnings.simplefilter("ignore")
    texts, classes, rows = documents(work, name)
    at = chosen(kind, repeat, min(most, len(texts)))
    given = [texts[i] if texts[i].strip() else "." for i in at]
    used, vectors = np.unique(classes[at]).size, np.ascontiguousarray(rows[at])
    seed, told = (repeat, repeat == 0) if kind == "seed" else (0, False)
    before, began, started = counted_anew()
    try:
        for way, labels in FITS[fit](given, vectors, used, seed, told):
            cost = {"cpu": time.process_time() - began, "wall": time.perf_counter() - started}
            found = np.full(min(most, len(texts)), -2)
            found[at] = np.asarray(labels)
            cost["memory"] = memory("VmHWM") - before
            yield {"way": way, "labels": found.tolist(), **cost}
            if fit not in FOLLOWING:
                before, began, started = counted_anew()
    except Exception as error:
        yield {"way": fit, "error": f"{type(error).__name__}: {error}"[-300:]}


def counted_anew() -> tuple[float, float, float]:
    """Return memory and times of now, and forget the highest memory so far."""
    Path("/proc/self/clear_refs").write_text("5")
    return memory("VmRSS"), time.process_time(), time.perf_counter()


def memory(what: str) -> float:
    """Return a size of this process in MB."""
    found = re.search(rf"{what}:\s+(\d+)", Path("/proc/self/status").read_text())
    return int(found[1]) / 1e3 if found else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def main(work: str) -> None:
    """Answer jobs, one a line, until the input ends; the first of a package is a small one that is not counted."""
    sys.stdout, answer = sys.stderr, sys.stdout  # packages print
    ready = set()
    for line in sys.stdin:
        job = json.loads(line)
        if job["fit"] not in ready:
            began = time.process_time()
            list(answers(work, job["fit"], job["name"], "seed", 0, 200))
            ready.add(job["fit"])
            job["start"] = time.process_time() - began
        found = list(answers(work, job["fit"], job["name"], job["kind"], job["repeat"], job["most"]))
        print(json.dumps({**job, "found": found}), file=answer, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
