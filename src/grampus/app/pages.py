"""A run from the data of a page: what a page shows can be opened and edited. Its scripts are not read."""

import base64
import json
import zlib
from html.parser import HTMLParser
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._files import open_regular
from ..describe import Cluster, Term
from ..errors import InputError, RunError
from ..persist import Branch, Choice, Documents, Layout, Level, Provenance, Run, RunEvidence
from ..persist.records import FIGURES
from ..report.island import GRID
from ..text import Texts

LARGEST_PAGE = 10**9  # bytes, and those of its texts


def run_of_page(path: str | PathLike[str]) -> Run:
    """Return what a page shows as a run, without what only a saved run has: the model that assigns new documents.

    Raises
    ------
    InputError
        It is no page, or one of another version.

    Examples
    --------
    >>> import tempfile
    >>> from grampus import DocumentClusterer
    >>> from grampus.app.pages import run_of_page
    >>> model = DocumentClusterer(2).fit(["whale song", "whales sing", "bird nest", "nests of birds"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.report(f"{folder}/page.html")
    ...     run = run_of_page(f"{folder}/page.html")
    >>> run.evidence.labels.tolist() == model.run_.evidence.labels.tolist()
    True
    """
    with open_regular(path, LARGEST_PAGE) as file:
        found = _Parts()
        found.feed(file.read().decode("utf-8", "replace"))
    try:
        data = json.loads(found.kept["data"])
        return _run(data, json.loads(_inflated(found.kept["texts"])), found)
    except RunError as error:
        raise InputError(f"{path}: the data of the page do not fit together: {error}") from None
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError, zlib.error):
        raise InputError(f"{path} must be a page that this version of Grampus made; write it again.") from None


class _Parts(HTMLParser):
    """The data of a page, and its list of facts."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.kept: dict[str, str] = {"data": "", "texts": "", "command": ""}
        self.facts: dict[str, str] = {}
        self._inside = self._name = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        name = dict(attrs).get("id") or ""
        self._inside = name if tag in ("script", "code") and name in self.kept else tag if tag in ("dt", "dd") else ""
        self._name = "" if tag == "dt" else self._name

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "dt":
            self._name += data
        elif self._inside == "dd":
            self.facts[self._name] = self.facts.get(self._name, "") + data
        elif self._inside:
            self.kept[self._inside] += data


def _inflated(text: str) -> bytes:
    """Return the bytes of a compressed part; refuse one that grows without end."""
    unpack = zlib.decompressobj()
    found = unpack.decompress(base64.b64decode(text, validate=True), LARGEST_PAGE)
    if unpack.unconsumed_tail:
        raise ValueError("too large")
    return found


def _numbers(text: str, n: int, kind: str = "") -> NDArray[Any]:
    """Return numbers of documents; without a kind, of as many bytes as there are for each."""
    raw = base64.b64decode(text, validate=True)
    values = np.frombuffer(raw, kind or f"<u{len(raw) // max(n, 1)}")
    if len(values) != n:
        raise ValueError("length")
    return values


def _texts(values: Any, n: int) -> Texts | None:
    if values is None:
        return None
    if len(values) != n or not all(isinstance(value, str) for value in values):
        raise ValueError("texts")
    return Texts(values)


def _figures(values: Any, n: int) -> NDArray[np.float32]:
    """Return figures of the documents; what is unknown is NaN."""
    return np.array([np.nan] * n if values is None else values, dtype=np.float32)


def _run(data: dict[str, Any], columns: dict[str, Any], page: _Parts) -> Run:
    n, own = data["n"], data["levels"][data["level"]]
    shown = [one for one in own["clusters"] if not one.get("none")]
    labels = _labels(own["labels"], n, len(shown))
    sizes = np.bincount(labels[labels >= 0], minlength=len(shown)).tolist()
    clusters = tuple(map(_cluster, range(len(shown)), sizes, shown))
    tree, leaves = _tree(data["tree"], labels, clusters)
    pairs = [(group[0], one, alike) for group, alike in data["copies"] for one in group[1:]]
    column, classes = data["column"], None
    if column is not None:
        classes = np.array(column["values"], dtype=object)[_numbers(column["codes"], n)]
    positions = _numbers(data["positions"], 2 * n, "<u2").reshape(n, 2)
    words = _texts(columns["texts"], n)
    return Run(
        provenance=Provenance(
            kernel=page.facts["Kernel"], parameters={}, seed=None, command=page.kept["command"],
            source=page.facts["Source"], columns={} if column is None else {"label": column["name"]},
            fingerprint=data["run"], created=page.facts["Created"].partition(",")[0], seconds=0.0, versions={},
        ),
        documents=Documents(
            ids=Texts(columns["ids"]), titles=_texts(columns["titles"], n), dates=_texts(columns["dates"], n),
            classes=None if classes is None else _texts(classes.tolist(), n),
            texts=words if data["whole"] else None,
            excerpts=None if words is None else Texts(" ".join(text.split())[:160] for text in words),
        ),
        evidence=RunEvidence(
            labels=labels, clusters=clusters, choice=_choice(data["choice"]), tree=tree, leaves=leaves,
            levels=tuple(Level(one["name"], tuple(one["branches"])) for one in data["levels"] if one["name"]),
            second=_labels(data["second"], n, len(clusters)), **{name: _figures(columns[name], n) for name in FIGURES},
            duplicates=np.array([pair[:2] for pair in pairs], dtype=np.int32).reshape(-1, 2),
            duplicate_similarity=np.array([pair[2] or 1.0 for pair in pairs], dtype=np.float32),
            outcome="converged", objective=0.0, agreement=1.0,
            warnings=("Opened from a page: figures that it does not hold are unknown.",),
        ),
        layout=Layout(
            coordinates=(positions / GRID).astype(np.float32), sample=np.empty(0, np.int32),
            heatmap=np.empty((0, 0), np.float32),
        ),
    )  # fmt: skip


def _labels(text: str, n: int, k: int) -> NDArray[np.int32]:
    """Return clusters of documents; the number after the last, and whatever is beyond, is none."""
    values = _numbers(text, n)
    return np.where(values < k, values, np.uint32(0xFFFFFFFF)).astype(np.int32)


def _cluster(number: int, size: int, one: dict[str, Any]) -> Cluster:
    known = {name: float("nan") if one[name] is None else float(one[name]) for name in ("cohesion", "separation")}
    return Cluster(
        number, size, str(one["name"]), tuple(Term(str(text), float(score)) for text, score in one["terms"]), (),
        tuple(Term(str(text), 1.0) for text in one["phrases"]), tuple(map(int, one["central"])),
        tuple(map(int, one["borderline"])), (), known["cohesion"], int(one["nearest"]), known["separation"],
        stability=one["stability"], sentence=str(one["sentence"]), alike=one["alike"], mixed=bool(one["mixed"]),
        name_share=one["said"], centre_share=one["sayable"], words=tuple(map(str, one["words"])),
    )  # fmt: skip


def _tree(
    given: dict[str, Any] | None, labels: NDArray[np.int32], clusters: tuple[Cluster, ...]
) -> tuple[tuple[Branch, ...], NDArray[np.int32]]:
    """Return the branches in the order of the page, and the leaf of every document."""
    if given is None:
        size = int((labels >= 0).sum())
        return (Branch(0, -1, (), size, -1, 0.0, 0.0, 0, clusters[0].name, clusters[0].words),), labels.copy()
    below: dict[int, list[int]] = {}
    for index, node in enumerate(given["nodes"]):
        below.setdefault(node[0], []).append(index)
    tree = tuple(
        Branch(index, parent, tuple(below.get(index, ())), size, order, 0.0, float(gain or 0.0), cluster, name,
               tuple(words))
        for index, (parent, order, size, cluster, name, gain, words) in enumerate(given["nodes"])
    )  # fmt: skip
    ends = np.array([*(branch.index for branch in tree if not branch.children), -1], dtype=np.int32)
    return tree, ends[np.minimum(_numbers(given["leaf"], len(labels)), len(ends) - 1)]


def _choice(given: dict[str, Any] | None) -> Choice | None:
    if given is None:
        return None
    scores = dict(zip(given["ks"], given["mean"], strict=True))
    ranking = sorted(scores, key=lambda k: (scores[k] is None, -(scores[k] or 0.0), k))
    return Choice(
        given["best"], given["scheme"], tuple(given["ks"]), tuple(given["mean"]), tuple(given["error"]),
        tuple(ranking), tuple(given["plausible"]), given["splits"], verdict=given["verdict"],
        expected=tuple(given["expected"]),
    )  # fmt: skip
