"""Updating runs: ten parts of 20ng one after the other, and documents that are forgotten."""

import base64
import os
import re
import tempfile
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from grampus import DocumentClusterer
from grampus.documents import update_run
from grampus.metrics import ari
from grampus.persist import Edit, Run
from grampus.report import write_report
from grampus.text import Corpus, Embedder
from grampus.text.embed.embedder import pieces
from grampus.text.embed.store import text_key
from lab import Found, Table, Task, data
from lab.promises import promise

PARTS, K = 10, 20


@promise("update-20ng")
def ten_parts(task: Task) -> Found:
    words, labels = (values[:: task.trials(1, 10)] for values in data.texts("20ng"))
    ids = [str(number) for number in range(len(words))]
    corpus = Corpus(list(words), ids, labels=list(labels))
    order = np.random.default_rng(task.seed).permutation(len(corpus))
    parts = np.array_split(order, PARTS)
    run = DocumentClusterer(K, random_state=task.seed).fit(corpus.take(parts[0])).run_
    rows, costs, kept, survived = [], [], 0, 0
    for number, part in enumerate(parts[1:], 2):
        names = {cluster.name for cluster in run.evidence.clusters}
        began = time.process_time()
        run = update_run(run, corpus.take(part))
        costs.append(time.process_time() - began)
        lived = [one for one in run.history[-1].changes if one.kind in ("kept", "grown", "shrunken", "merged")]
        survived, kept = survived + len(lived), kept + sum(one.name in names for one in lived)
        rows.append((number, len(run), f"{costs[-1]:.1f}", len(lived), run.history[-1].moved))
    full, seconds = [], []
    for seed in (task.seed, task.seed + 1):
        began = time.process_time()
        full.append(DocumentClusterer(K, random_state=seed).fit(corpus).run_)
        seconds.append(time.process_time() - began)
    place = {one: at for at, one in enumerate(run.documents.ids)}
    updated = run.evidence.labels[[place[one] for one in ids]]
    anew, other = (one.evidence.labels for one in full)
    agreed, seeds = ari(updated, anew), ari(anew, other)
    cost = max(costs) / float(np.mean(seconds))
    mean = float(np.mean(costs)) / float(np.mean(seconds))
    classes = f"with the classes: updated {ari(list(labels), updated):.3f}, anew {ari(list(labels), anew):.3f}"
    return Found(
        f"ARI {agreed:.3f} of {seeds:.3f} between seeds ({agreed / seeds:.2f}); an update costs {mean:.2f} of a full "
        f"run of {np.mean(seconds):.0f} s on average, {cost:.2f} at most; {kept} of {survived} names kept; {classes}",
        {"ratio": agreed / seeds, "cost": mean, "largest": cost, "names": kept / max(1, survived)},
        tables=[Table("Updates", ("part", "documents", "seconds", "survive", "moved"), rows)],
    )


SECRET = "zyzzyva quokka {n} ombrophobous floccinaucinihili {n} pilification borborygmus {n} absquatulate"
_WORD = re.compile(r"\w+")


@promise("forgetting")
def forgetting(task: Task) -> Found:
    rng, every = np.random.default_rng(task.seed), data.texts("20ng")
    order = rng.permutation(len(every[0]))[:2_000]
    words, labels = [every[0][i] for i in order], every[1][order]
    gone = {int(at) for at in rng.choice(len(words), 100, replace=False)}
    texts = [f"{text}\n{SECRET.format(n=f'k{i}')}" if i in gone else text for i, text in enumerate(words)]
    ids = [f"document-{i:05d}-id" for i in range(len(texts))]
    titles = [f"Title of the number {i * 7919} here" for i in range(len(texts))]
    corpus = Corpus(texts, ids, labels=list(labels), titles=titles)
    traces = _traces(corpus, gone)
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, GRAMPUS_CACHE=f"{folder}/cache"):
        place = Path(folder, "run")
        embedder = Embedder(_embed, key="lab", longest=64, batch_size=4096)
        embedder.embed(corpus)
        run = DocumentClusterer(10, random_state=task.seed).fit(corpus.take(np.arange(1_500))).run_
        some = [ids[i] for i in sorted(gone) if i < 1_500]
        run = run.edited(Edit("noise", documents=tuple(some[:5])), Edit("move", (1,), tuple(some[5:9])))
        first = next(i for i in sorted(gone) if i < 1_500)
        run = run.edited(Edit("rename", (2,), name=titles[first]), Edit("merge", (3, 4)))
        run = update_run(run, corpus.take(np.arange(1_500, 2_000)))
        run.save(place)
        write_report(run, Path(folder, "run.html"), texts="full")
        before = _found(Path(folder), traces)
        vectors = _vectors(run, [ids[i] for i in gone])
        update_run(Run.load(place), delete=[ids[i] for i in gone]).save(place)
        later = Run.load(place)
        write_report(later, Path(folder, "run.html"), texts="full")
        after = _found(Path(folder), traces)
        held = (later.original or later).model["data"].tobytes()
        rows = sum(vector in held for vector in vectors)
    kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(before.items()))
    traces_left = sum(after.values()) + rows
    return Found(f"{traces_left} traces of 100 documents (before: {kinds})", {"traces": traces_left})


def _embed(texts: list[str]) -> Any:
    return np.array([[len(text), sum(map(ord, text)) % 997, 1.0] for text in texts], dtype=np.float64)


def _traces(corpus: Corpus, gone: set[int]) -> dict[str, set[bytes]]:
    """Return what only the deleted documents have, as bytes to look for."""
    kept, own = set[str](), set[str]()
    for at, document in enumerate(corpus):
        (own if at in gone else kept).update(_sequences(document.text))
    return {
        "sequences": {one.encode() for one in own - kept},
        "ids": {corpus.ids[i].encode() for i in gone},
        "titles": {(corpus.titles or corpus.ids)[i].encode() for i in gone},
        "keys": {text_key(piece) for i in gone for piece in pieces(corpus.texts[i], 64)},
    }


def _sequences(text: str) -> set[str]:
    """Return the sequences of five words of a text."""
    words = _WORD.findall(text)
    return {" ".join(words[i : i + 5]) for i in range(len(words) - 4)}


def _found(folder: Path, traces: dict[str, set[bytes]]) -> dict[str, int]:
    """Return how many traces of each kind are in the files of a folder, in the texts inside them too."""
    seen = b"\n".join(_contents(folder))
    held = {one.encode() for one in _sequences(seen.decode("utf-8", "ignore"))}
    counts = {kind: sum(trace in seen for trace in some) for kind, some in traces.items() if kind != "sequences"}
    return counts | {"sequences": len(held & traces["sequences"])}


def _contents(folder: Path) -> Iterator[bytes]:
    for file in sorted(file for file in folder.rglob("*") if file.is_file()):
        raw = file.read_bytes()
        yield raw
        # Texts and the word index are compressed inside the page.
        for block in re.findall(rb">([A-Za-z0-9+/=]{200,})<", raw) if file.suffix == ".html" else ():
            with suppress(ValueError, zlib.error):
                yield zlib.decompress(base64.b64decode(block)).replace(b"\\n", b" ")


def _vectors(run: Run, ids: list[str]) -> list[bytes]:
    """Return the weighted terms of documents, as they are in the model."""
    place = {one: at for at, one in enumerate(run.documents.ids)}
    model = (run.original or run).model
    group, start = model["group"], model["indptr"]
    rows = [int(group[place[one]]) for one in ids if one in place]
    return [model["data"][start[row] : start[row + 1]].tobytes() for row in rows if start[row + 1] - start[row] > 3]
