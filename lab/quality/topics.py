"""What topics are worth: names of classes alone, a few labels, half of the names, and how far probabilities hold."""

from __future__ import annotations

import json
import warnings
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.linear_model import LogisticRegression
from sklearn.semi_supervised import LabelSpreading

from grampus import DocumentClusterer, TermVectorizer
from grampus.documents import Effort, Guide
from grampus.text.meaning.encoder import load_encoder
from grampus.text.meaning.opening import opening
from lab import Found, Table, Task, data, row
from lab.environments import environment
from lab.harness import ROOT
from lab.quality.draws import pair, scores
from lab.quality.meaning import CHOSEN_ON, CONFIRMED_ON, FILES
from lab.quality.names import ask

MOST = 1000  # documents of a set
WORDS = 5  # of a class
PEERS = ROOT / "requirements" / "peers.txt"
FOLDS, BINS = 5, 10
COMPUTING = ("20ng", "arxiv24", "stackoverflow")  # sets with classes about computers


def named(name: str) -> tuple[list[str], Any, dict[str, str]]:
    """Return texts of a set, their classes by name, and the names of all classes; none where there are no names."""
    file = FILES.get(name, f"dev/{name}")
    texts, labels = data.texts(file)
    names = json.loads(data.source("class_names.json").read_text(encoding="utf-8")).get(file, {})
    index = np.sort(np.random.default_rng(0).permutation(len(labels))[:MOST])
    return [texts[int(i)] for i in index], np.array([names.get(labels[i], labels[i]) for i in index]), names


def fit(texts: list[str], k: Any, guide: Any = None) -> DocumentClusterer:
    """Return a fitted clusterer; nothing is measured beyond the labels."""
    warnings.simplefilter("ignore")
    return DocumentClusterer(k, effort=Effort(stability=False)).fit(texts, guide=guide)


def told(model: DocumentClusterer) -> Any:
    """Return the name of every document's cluster, '' for none."""
    return np.array([*(one.name for one in model.clusters_), ""])[model.labels_]


def by_names(name: str) -> dict[str, Any]:
    """Return NMI and ARI without a guide, of the encoder's nearest name, and of names as topics, at the same k.

    Beside them what BERTopic's zero-shot modelling makes of the names, on the encoder's vectors.
    """
    texts, classes, _ = named(name)
    topics = [str(one) for one in np.unique(classes)]
    encode = load_encoder().encode
    rows, names = encode([opening(text) for text in texts]), encode(topics)
    nearest = (rows @ names.T).argmax(axis=1)
    given = {"texts": texts, "rows": rows.tolist(), "topics": topics, "names": names.tolist()}
    zero_shot = ask(environment("peers", PEERS), "zero_shot", **given)["labels"]
    answers = {"no guide": fit(texts, len(topics)).labels_, "nearest name": nearest,
               "BERTopic": np.array(zero_shot), "topics": fit(texts, len(topics), topics).labels_}  # fmt: skip
    return {way: scores(classes, labels) for way, labels in answers.items()}


@row("quality", "topics-names")
def topics_names(task: Task) -> Found:
    sets = [name for name in (*CHOSEN_ON, *CONFIRMED_ON) if named(name)[2]] if not task.quick else ["bbcsport"]
    found = {name: task.step(f"names {name}", partial(by_names, name)) for name in sets}
    mean = {way: np.mean([one[way] for one in found.values()], axis=0) for way in found[sets[0]]}
    gain, over = mean["topics"] - mean["no guide"], mean["topics"] - mean["nearest name"]
    rows = [(name, *map(pair, one.values())) for name, one in {**found, **halves(found), "mean": mean}.items()]
    zero_shot = mean["topics"] - mean["BERTopic"]
    measures = {"nmi": gain[0], "ari": gain[1], "over nearest": over[0], "over zero-shot": zero_shot[0]}
    text = f"gain {pair(gain, '+')}, over the nearest name {pair(over, '+')}"
    return Found(text, measures, [Table("NMI / ARI", ("set", *mean), rows)])


def halves(found: dict[str, Any]) -> dict[str, Any]:
    """Return the means over the sets of each half."""
    ways = {"mean, chosen on": CHOSEN_ON, "mean, confirmed on": CONFIRMED_ON}
    inside = {half: [one for name, one in found.items() if name in names] for half, names in ways.items()}
    return {half: {way: np.mean([one[way] for one in some], axis=0) for way in some[0]}
            for half, some in inside.items() if some}  # fmt: skip


def class_words(texts: Any, classes: Any) -> dict[str, list[str]]:
    """Return the five words of each class that most of its documents and fewest of the others have."""
    counts = TermVectorizer("txx", min_df=3, stemmer=None).fit(texts)
    held, names, found = (counts.transform(texts) > 0).astype(np.float64), counts.get_feature_names_out(), {}
    for one in np.unique(classes):
        inside, outside = (np.asarray(held[np.flatnonzero(some)].mean(axis=0)).ravel()
                           for some in (classes == one, classes != one))  # fmt: skip
        found[str(one)] = [str(names[i]) for i in np.argsort(outside - inside, kind="stable")[:WORDS]]
    return found


def by_words(name: str) -> dict[str, Any]:
    """Return NMI and ARI without a guide and with five words of each class as topics, at the same k."""
    texts, classes, _ = named(name)
    k, topics = len(np.unique(classes)), class_words(texts, classes)
    answers = {"no guide": fit(texts, k).labels_, "words": fit(texts, k, topics).labels_}
    return {way: scores(classes, labels) for way, labels in answers.items()}


@row("quality", "topics-words")
def topics_words(task: Task) -> Found:
    sets = (*CHOSEN_ON, *CONFIRMED_ON) if not task.quick else ("bbcsport",)
    found = {name: task.step(f"words {name}", partial(by_words, name)) for name in sets}
    mean = {way: np.mean([one[way] for one in found.values()], axis=0) for way in ("no guide", "words")}
    gain = mean["words"] - mean["no guide"]
    rows = [(name, *map(pair, one.values())) for name, one in {**found, **halves(found), "mean": mean}.items()]
    return Found(f"gain {pair(gain, '+')}", {"gain": float(gain[0])}, [Table("NMI / ARI", ("set", *mean), rows)])


def labelled(name: str, share: float, wrong: float) -> dict[str, float]:
    """Return the NMI without a guide, with some labels, and of two peers with these on the same features."""
    texts, classes, _ = named(name)
    topics, at = np.unique(classes, return_inverse=True)
    rng = np.random.default_rng(0)
    some = [int(rng.choice(np.flatnonzero(at == topic))) for topic in range(len(topics))]
    others = np.setdiff1d(np.arange(len(at)), some)
    some += rng.permutation(others)[: max(round(share * len(at)) - len(some), 0)].tolist()
    known = {one: int(at[one]) for one in some}
    for one in some[: round(wrong * len(some))]:
        known[one] = int((known[one] + rng.integers(1, len(topics))) % len(topics))
    usual = fit(texts, len(topics))
    guided = fit(texts, len(topics), Guide(labels={one: str(topics[topic]) for one, topic in known.items()}))
    features = usual._made.gram.split_shift()[0].features()  # type: ignore[union-attr]
    x = (np.asarray(features.rows) * features.scale[:, None])[usual._made.inputs.group]  # type: ignore[union-attr]
    target = np.full(len(at), -1)
    target[list(known)] = list(known.values())
    logistic = LogisticRegression(C=10.0, max_iter=300).fit(x[target >= 0], target[target >= 0]).predict(x)
    spread = LabelSpreading(kernel="knn", n_neighbors=10, max_iter=100).fit(x, target).transduction_
    answers = {"no guide": usual.labels_, "labels": guided.labels_, "logistic": logistic, "spreading": spread}
    return {way: scores(classes, labels)[0] for way, labels in answers.items()}


@row("quality", "topics-labels")
def topics_labels(task: Task) -> Found:
    sets = ("20ng", "bbc", "stackoverflow", "snips7", "gnad10_de", "thucnews_zh", "agnews8000", "bbcsport", "classic4",
            "searchsnippets", "biomedical", "masakhane_fr")[: task.trials(12, 1)]  # fmt: skip
    ways = {"1 %": (0.01, 0.0), "5 %": (0.05, 0.0), "5 %, a fifth wrong": (0.05, 0.2)}
    found = {way: [task.step(f"{name} {way}", partial(labelled, name, *given)) for name in sets]
             for way, given in ways.items()}  # fmt: skip
    mean = {way: {one: float(np.mean([each[one] for each in some])) for one in some[0]} for way, some in found.items()}
    five = mean["5 %"]
    measures = {"gain": mean["1 %"]["labels"] - mean["1 %"]["no guide"],
                "over peers": five["labels"] - max(five["logistic"], five["spreading"]),
                "wrong": mean["5 %, a fifth wrong"]["labels"] - five["labels"]}  # fmt: skip
    rows = [(way, *(f"{value:.3f}" for value in one.values())) for way, one in mean.items()]
    text = ", ".join(f"{name} {value:+.3f}" for name, value in measures.items())
    return Found(text, measures, [Table("NMI, mean", ("labels", *five), rows)])


def half_given(name: str, seed: int) -> dict[str, float]:
    """Return the precision of topics when all and when half are given, and whether topics that are not there are empty.

    One is a class whose documents are taken out, which may leave some about nearly the same; the other is a class of
    another field.
    """
    texts, classes, _ = named(name)
    topics = np.random.default_rng(seed).permutation(np.unique(classes))
    some = list(topics[: len(topics) // 2])
    whole, half = told(fit(texts, len(topics), list(topics))), told(fit(texts, "auto", some))
    inside = np.isin(half, some)
    left = [text for text, one in zip(texts, classes, strict=True) if one != topics[0]]
    gone = told(fit(left, "auto", some))
    names = sorted(set(named("bbcsport" if name in COMPUTING else "stackoverflow")[2].values()))
    foreign = str(np.random.default_rng(seed).choice(names))
    other = told(fit(texts, "auto", [foreign, *some]))
    return {"all": float(np.mean(whole == classes)), "half": float(np.mean((half == classes)[inside])),
            "empty": float(not (gone == topics[0]).any()), "foreign": float(not (other == foreign).any())}  # fmt: skip


@row("quality", "topics-half")
def topics_half(task: Task) -> Found:
    sets = [name for name in (*CHOSEN_ON, *CONFIRMED_ON) if named(name)[2]] if not task.quick else ["bbcsport"]
    found = [{"set": name, **task.step(f"{name} {seed}", partial(half_given, name, seed))}
             for name in sets for seed in range(task.trials(4, 1))]  # fmt: skip
    clear = [one["half"] for one in found if one["all"] >= 0.85]
    measures = {"precision": float(np.mean(clear)) if clear else 0.0}
    measures |= {way: float(np.mean([one[way] for one in found])) for way in ("empty", "foreign")}
    rows = [(one["set"], *(f"{one[way]:.2f}" for way in ("all", "half", "empty", "foreign"))) for one in found]
    text = (f"precision {measures['precision']:.2f} where all reach 0.85; {measures['empty']:.0%} of topics taken out "
            f"empty, {measures['foreign']:.0%} of another field's")  # fmt: skip
    heads = ("set", "all given", "half given", "one taken out is empty", "another field's is empty")
    return Found(text, measures, [Table("Precision", heads, rows)])


def calibrated(name: str) -> list[list[float]]:
    """Return mean probability and share that a refit agrees with, in ten bins of equal count."""
    texts, classes, _ = named(name)
    k = len(np.unique(classes))
    model = fit(texts, k)
    shares = model.memberships_
    best, part = shares.argmax(axis=1), np.random.default_rng(1).permutation(len(texts)) % FOLDS
    again = np.full(len(texts), -1)
    for out in range(FOLDS):
        rest = np.flatnonzero(part != out)
        other = fit([texts[i] for i in rest], k)
        table = np.zeros((k, k))
        inside = (other.labels_ >= 0) & (model.labels_[rest] >= 0)
        np.add.at(table, (other.labels_[inside], model.labels_[rest][inside]), 1)
        same = dict(zip(*linear_sum_assignment(table, maximize=True), strict=True))
        away = np.flatnonzero(part == out)
        again[away] = [same.get(label, -1) for label in other.predict([texts[i] for i in away])]
    order = np.argsort(shares.max(axis=1), kind="stable")
    return [[float(shares.max(axis=1)[some].mean()), float((again == best)[some].mean())]
            for some in np.array_split(order, BINS)]  # fmt: skip


@row("quality", "topics-memberships")
def topics_memberships(task: Task) -> Found:
    found = {
        name: np.array(task.step(f"memberships {name}", partial(calibrated, name)))
        for name in CONFIRMED_ON[: task.trials(9, 1)]
    }
    error = {name: float(np.abs(bins[:, 0] - bins[:, 1]).mean()) for name, bins in found.items()}
    mean = np.mean(list(found.values()), axis=0)[:, 1]
    measures = {"error": float(np.mean(list(error.values()))), "falls": float((np.diff(mean) < 0).sum())}
    rows = [
        (name, f"{error[name]:.3f}", " ".join(f"{value:.2f}" for value in bins[:, 1])) for name, bins in found.items()
    ]
    text = f"expected error {measures['error']:.3f}; {measures['falls']:.0f} of 9 steps fall"
    return Found(text, measures, [Table("Ten bins", ("set", "error", "share that a refit agrees with"), rows)])
