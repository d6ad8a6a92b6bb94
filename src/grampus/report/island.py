"""The data of a page for its script: small values as JSON, numbers per document as bytes, texts compressed."""

import base64
import html
import json
from collections.abc import Callable, Sequence
from operator import is_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..describe import Cluster
from ..persist import Branch, Choice, Run
from ..persist.edits import digest
from ..persist.regrow import preorder
from ..run import Apart, forks_for, returned
from ..run.runner import COPY_BYTES
from ..text import Corpus, Texts
from .colours import level_marks
from .compressed import compressed
from .levels import ShownLevel
from .oddities import MOST_GROUPS, MOST_OUTLIERS, copy_groups, outliers
from .page import Page
from .places import places_of
from .words import packed_index

GRID = 65535  # positions are rounded to 16 bits, finer than a screen
LARGEST_HEATMAP = 320  # rows; more are averaged
TERMS = 12
ENCODED = 5_000  # documents whose entries are encoded at a time
ENTITIES = ("titles", "texts")  # columns that may hold HTML's
_ESCAPES = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def json_text(value: Any) -> str:
    r"""Return JSON that can stand inside a script element: nothing in it can end the element or open a comment.

    Examples
    --------
    >>> from grampus.report.island import json_text
    >>> print(json_text({"a": "</script><!--"}))
    {"a":"\u003c/script\u003e\u003c!--"}
    """
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).translate(_ESCAPES)


def texts(page: Page) -> str:
    """Return columns of the documents as compressed JSON in base 64; lone surrogates become question marks.

    Ids, titles, dates and texts; and what a table of results has of every document, in its rounding.
    """
    documents, seen, n = page.run.documents, page.run.evidence, len(page.run)
    columns: dict[str, Any] = {
        "ids": documents.ids, "titles": page.titles, "dates": documents.dates, "texts": page.texts,
        **{name: None if np.isnan(values).all() else values for name, values in seen.figures().items()},
    }  # fmt: skip

    def encoded(first: int) -> dict[str, str]:
        """Return the entries of some documents, of every column that is there."""
        some = slice(first, min(first + ENCODED, n))
        return {
            name: json.dumps(_plain(name, values[some]), ensure_ascii=False, separators=(",", ":"))[1:-1]
            for name, values in columns.items()
            if values is not None
        }

    starts = range(0, n, ENCODED)
    parts = list(forks_for(len(starts)).map(encoded, starts))
    filled = (
        f'"{name}":' + ("null" if values is None else f"[{','.join(part[name] for part in parts)}]")
        for name, values in columns.items()
    )
    return compressed(f"{{{','.join(filled)}}}".encode("utf-8", "replace"))


def _plain(name: str, values: Any) -> list[Any]:
    """Return some entries of a column as plain values: text without entities, numbers rounded."""
    if isinstance(values, np.ndarray):
        return _rounded(values)
    return [html.unescape(text) if "&" in text else text for text in values] if name in ENTITIES else list(values)


def _rounded(values: NDArray[Any]) -> list[float | None]:
    """Return numbers with four digits after the point, as `round` has them; None for NaN."""
    exact = values.astype(np.float64)
    found: list[float | None] = np.round(exact, 4).tolist()
    near = exact * 1e4
    tied = np.abs(near - np.floor(near) - 0.5) < 1e-6 * (1.0 + np.abs(near))  # NumPy rounds a product
    for place in np.flatnonzero(tied | np.isnan(exact)).tolist():
        value = float(exact[place])
        found[place] = None if value != value else round(value, 4)  # noqa: PLR0124
    return found


def index(page: Page) -> str:
    """Return the words of all documents, whole even where the page holds excerpts; "" for a page without texts."""
    documents = page.run.documents
    source = documents.texts if documents.texts is not None else documents.excerpts
    if page.texts is None or source is None:
        return ""
    return packed_index(_columns(documents.ids, page.titles, source))


def begin_index(documents: Corpus) -> Callable[[Page], str]:
    """Begin the index of these documents in a copy of this process; return what waits for that of their page."""
    columns = _columns(documents.ids, documents.titles, documents.texts)
    pays = sum(column.nbytes for column in columns) >= COPY_BYTES
    begun = Apart(lambda: returned(packed_index(columns)), pays, compiled=True)

    def waited(page: Page) -> str:
        own = _columns(page.run.documents.ids, page.titles, page.run.documents.texts)
        same = page.texts is not None and len(own) == len(columns) and all(map(is_, own, columns))
        return begun() if same else index(page)

    return waited


def _columns(*columns: Texts | None) -> list[Texts]:
    """Return the columns that the index covers, without those that are not there."""
    return [column for column in columns if column is not None]


def island(page: Page) -> dict[str, Any]:
    """Return everything but the texts, in the form that the script reads."""
    run, evidence, documents = page.run, page.run.evidence, page.run.documents
    label, places = run.provenance.columns.get("label", "label"), places_of(run.layout.coordinates)
    return {
        "run": run.provenance.fingerprint,
        "created": run.provenance.created[:10],
        "n": len(run),
        "positions": packed(places.at * GRID, np.uint16),
        "room": round(places.room * GRID),
        "islets": [[round(x * GRID), round(y * GRID), times] for x, y, times in places.islets],
        "days": None if page.days is None else packed(page.days, np.int32),
        "column": None if documents.classes is None else _column(label, *documents.coded_classes),
        "choice": None if evidence.choice is None else _choice(evidence.choice),
        "whole": page.whole,
        "hasTexts": page.texts is not None,
        "hasIndex": page.texts is not None and documents.texts is not None,
        "answer": digest(run),
        **answer(page),
    }


def answer(page: Page, *, fresh: bool = True) -> dict[str, Any]:
    """Return what edits of the run change; a page that is not fresh has marks of the run's own clusters."""
    run, evidence = page.run, page.run.evidence
    copies, odd, order = copy_groups(run), outliers(run), preorder(evidence.tree)
    return {
        "levels": [
            _level(run, level, order, page.texts is not None, fresh or place != page.own)
            for place, level in enumerate(page.levels)
        ],
        "level": page.own,
        "certainty": packed(np.clip(np.nan_to_num(evidence.margin), 0, 1) * GRID, np.uint16),
        "second": packed(_numbered(evidence.second, run.n_clusters)),
        "tree": _tree(evidence.tree, evidence.leaves, order),
        "heatmap": _heatmap(run),
        "copies": [[list(group.documents), _short(group.similarity)] for group in copies[:MOST_GROUPS]],
        "copiesFound": len(copies),
        "odd": [[int(place), _short(float(evidence.oddness[place]))] for place in odd[:MOST_OUTLIERS]],
        "oddFound": len(odd),
    }


def _level(run: Run, level: ShownLevel, order: Sequence[int], quotes: bool, marks: bool) -> dict[str, Any]:
    place = {index: number for number, index in enumerate(order)}
    none = [_NO_CLUSTER] if (level.labels < 0).any() else []
    return {
        "name": level.name,
        "labels": packed(_numbered(level.labels, len(level.clusters))),
        "clusters": [*(_cluster(cluster, quotes) for cluster in level.clusters), *none],
        "branches": [place.get(branch, -1) for branch in level.branches],
        "marks": level_marks(run, level.labels, len(level.clusters)) if marks else [],
    }


def _cluster(cluster: Cluster, quotes: bool) -> dict[str, Any]:
    return {
        "name": cluster.name or f"Cluster {cluster.number + 1}",
        "words": list(cluster.words),
        "terms": [[term.text, _short(term.score)] for term in cluster.terms[:TERMS]],
        "phrases": [term.text for term in cluster.phrases[:4]],
        "sentence": html.unescape(cluster.sentence) if quotes else "",
        "central": list(cluster.central),
        "borderline": list(cluster.borderline),
        "stability": _short(cluster.stability),
        "alike": _short(cluster.alike),
        "mixed": cluster.mixed,
        "said": _short(cluster.name_share),
        "sayable": _short(cluster.centre_share),
        "weak": cluster.has_weak_name,
        "cohesion": _short(cluster.cohesion),
        "separation": _short(cluster.separation),
        "nearest": cluster.nearest,
    }


# Documents in no cluster are one more cluster to the script, which marks it apart.
_NO_CLUSTER = {
    "name": "No cluster", "none": True, "words": [], "terms": [], "phrases": [], "sentence": "", "central": [],
    "borderline": [], "stability": None, "alike": None, "mixed": False, "said": None, "sayable": None, "weak": False,
    "cohesion": None, "separation": None, "nearest": -1,
}  # fmt: skip


def _numbered(labels: NDArray[Any], last: int) -> NDArray[Any]:
    """Return labels with the number after the last in place of −1."""
    return np.where(labels < 0, last, labels)


def packed(values: NDArray[Any], kind: Any = None) -> str:
    """Return an array as little-endian bytes in base 64; numbers become whole where the kind is.

    Without a kind, they are numbers from 0 on, in as few bytes as the largest needs.
    """
    dtype = np.dtype(kind or np.min_scalar_type(values.max(initial=0))).newbyteorder("<")
    rounded = np.rint(values) if values.dtype.kind == "f" and dtype.kind != "f" else values
    return base64.b64encode(rounded.astype(dtype).tobytes()).decode("ascii")


def _short(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else round(float(value), 4)


def _column(name: str, values: Sequence[str], codes: NDArray[Any]) -> dict[str, Any]:
    return {"name": name, "values": list(values), "codes": packed(codes)}


def _tree(tree: Sequence[Branch], leaves: NDArray[np.int32], order: Sequence[int]) -> dict[str, Any] | None:
    """Return the branches in preorder, so that the leaves of a branch are consecutive, and each document's leaf."""
    if len(tree) < 2:
        return None
    place = {index: number for number, index in enumerate(order)}
    ends = [index for index in order if not tree[index].children]
    top = max(branch.gain for branch in tree) or 1.0
    number = np.zeros(len(tree), dtype=np.int64)
    number[ends] = np.arange(len(ends))
    return {
        "nodes": [
            [place.get(b.parent, -1), b.order, b.size, b.cluster, b.name, _short(b.gain / top), b.words]
            for b in (tree[index] for index in order)
        ],
        "leaf": packed(np.where(leaves < 0, len(ends), number[leaves])),
    }


def _choice(choice: Choice) -> dict[str, Any]:
    return {
        "best": choice.best,
        "scheme": choice.scheme,
        "ks": list(choice.ks),
        "mean": [_short(value) for value in choice.mean],
        "error": [_short(value) for value in choice.standard_error],
        "plausible": list(choice.plausible),
        "expected": [_short(value) for value in choice.expected],
        "splits": choice.n_splits,
        "verdict": choice.verdict,
    }


def _heatmap(run: Run) -> dict[str, Any] | None:
    if len(run.layout.sample) < 2:
        return None
    clusters = _numbered(run.evidence.labels, run.n_clusters)[run.layout.sample]
    edges = np.flatnonzero(np.diff(clusters)) + 1
    bins = np.arange(len(clusters)) * min(len(clusters), LARGEST_HEATMAP) // len(clusters)
    values = _averaged(np.nan_to_num(run.layout.heatmap), bins)
    off = values[~np.eye(len(values), dtype=bool)]
    # The diagonal is 1 under most kernels and says nothing; a scale that ends near the largest other values does.
    low, high = float(min(0.0, np.quantile(off, 0.01))), float(np.quantile(off, 0.995))
    span = (high - low) or 1.0
    bounds = [0, *(int(bins[edge]) for edge in edges), len(values)]
    return {
        "size": len(values),
        "values": packed(np.clip((values - low) / span, 0, 1) * 255, np.uint8),
        "low": _short(low),
        "high": _short(high),
        "bounds": bounds,
        "order": [int(clusters[start]) for start in (0, *edges)],
        "sampled": len(run.layout.sample),
    }


def _averaged(values: NDArray[np.float32], bins: NDArray[np.intp]) -> NDArray[np.float64]:
    """Average rows and columns that fall into one bin."""
    starts = np.flatnonzero(np.diff(bins, prepend=-1))
    counts = np.diff(starts, append=len(bins))
    rows = np.add.reduceat(values.astype(np.float64), starts, axis=0) / counts[:, None]
    return np.asarray(np.add.reduceat(rows, starts, axis=1) / counts)
