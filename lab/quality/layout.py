"""The map: do neighbours stay neighbours, does noise look like noise, and how long does it take."""

import time
import warnings
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.manifold import trustworthiness
from sklearn.metrics import silhouette_score

from grampus import TermVectorizer
from grampus.cluster import kernel_kmeans
from grampus.documents.tell.layout import coordinates
from grampus.gram import LinearGram
from lab import Found, Task, data, row
from lab.quality.draws import components
from lab.quality.embeddings import installed


def features(x: Any) -> Any:
    """Return the default features of documents, without empty ones."""
    rows = components(x)
    return rows[np.abs(rows).sum(axis=1) > 0]


@row("quality", "layout-trust")
def trust(task: Task) -> Found:
    umap, made = installed("umap"), {"digits": features(load_digits().data)}
    for name in ("bbc", "20ng"):
        made[name] = features(TermVectorizer().fit_transform(list(data.texts(name)[0])))
    rng, most, texts, gaps = np.random.default_rng(0), task.trials(5000, 500), [], []
    for name, rows in made.items():
        x = rows[np.sort(rng.choice(len(rows), min(most, len(rows)), replace=False))]
        times = [time.process_time()]
        ours = coordinates(LinearGram(x))
        times.append(time.process_time())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = umap.UMAP(metric="cosine", random_state=0).fit_transform(x)
        times.append(time.process_time())
        a, b = (float(trustworthiness(x, places, metric="cosine")) for places in (ours, theirs))
        gaps.append(a - b)
        texts.append(f"{name}: {a:.4f} in {times[1] - times[0]:.1f} CPU s, UMAP {b:.4f} in {times[2] - times[1]:.1f}")
    return Found("; ".join(texts), {"gap": min(gaps)})


@row("quality", "layout-noise")
def noise(task: Task) -> Found:
    rng = np.random.default_rng(0)
    words = np.array([f"w{i}" for i in range(2000)])
    x = features(
        TermVectorizer().fit_transform([" ".join(rng.choice(words, 12)) for _ in range(task.trials(2000, 400))])
    )
    labels = kernel_kmeans(LinearGram(x), 10, random_state=0).labels
    score = float(silhouette_score(coordinates(LinearGram(x)), labels))
    return Found(f"{score:.3f}", {"silhouette": score})


@row("quality", "layout-seconds")
def seconds(task: Task) -> Found:
    measures = {}
    for name, count in (("20k", 20_000), ("100k", 100_000)):
        rng, n = np.random.default_rng(0), task.trials(count, count // 20)
        x = rng.normal(size=(200, 30))[rng.integers(0, 200, n)] + 0.7 * rng.normal(size=(n, 30))
        gram = LinearGram(x / np.linalg.norm(x, axis=1, keepdims=True))
        began = time.process_time()
        places = coordinates(gram)
        measures[f"seconds_{name}"] = time.process_time() - began
        if name == "20k":
            measures["different"] = float((places != coordinates(gram)).any(axis=1).sum())
    figure = f"20,000: {measures['seconds_20k']:.1f}, 100,000: {measures['seconds_100k']:.1f}"
    return Found(f"{figure}; {measures['different']:.0f} documents elsewhere the second time", measures)
