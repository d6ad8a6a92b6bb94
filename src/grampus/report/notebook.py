"""A run that shows itself in a notebook: its verdict, its clusters, the chart of k. No script.

The classes live in a layer below; what shows them is registered here, so that nothing imports upwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any
from xml.etree.ElementTree import Element, tostring

import numpy as np

from ..persist import Choice, Run
from .page import page_of
from .tables import MARKS, add

ROWS = 30  # clusters that are shown
ACCENT = "#2f8aa0"  # can be read on white and on black
STYLE = "border-collapse:collapse;text-align:left"


def choice_html(choice: Choice) -> str:
    """Return the choice of k as a chart with standard errors, and what it means."""
    known = [
        (k, float(mean), float(error or 0.0))  # a single split has no standard error
        for k, mean, error in zip(choice.ks, choice.mean, choice.standard_error, strict=True)
        if mean is not None and np.isfinite(mean)
    ]
    body = Element("div")
    if known:
        body.append(_chart(known, choice.best))
    add(body, "p", choice.verdict or f"k = {choice.best}")
    return _text(body)


def run_html(run: Run) -> str:
    """Return a run as its verdict and a table of its clusters."""
    page = page_of(run, "none")
    body = Element("div")
    add(add(body, "p"), "strong", f"{page.title}: {page.headline}")
    said = add(body, "ul", style="list-style:none;padding-left:0")
    for statement in page.statements:
        add(said, "li", f"{MARKS[statement.kind]} {statement.text}")
    rows = []
    for cluster in run.evidence.clusters:
        stable = "–" if cluster.stability is None else f"{cluster.stability:.0%}"
        words = ", ".join(term.text for term in cluster.terms[:8])
        rows.append((cluster.label, words, stable, f"{cluster.size:,}", float(cluster.size)))
    body.append(_table(("cluster", "words", "stability", "documents", ""), rows))
    return _text(body)


def _text(element: Element) -> str:
    return tostring(element, encoding="unicode", method="html")


def _table(headings: Sequence[str], rows: Iterable[Sequence[str | float]]) -> Element:
    """Return a table whose last column is a bar, as long as its number is large."""
    given = list(rows)
    table = Element("table", {"style": STYLE})
    line = add(add(table, "thead"), "tr")
    for heading in headings:
        add(line, "th", heading)
    inside = add(table, "tbody")
    most = max((float(row[-1]) for row in given), default=1.0) or 1.0
    for row in given[:ROWS]:
        line = add(inside, "tr")
        for value in row[:-1]:
            add(line, "td", str(value), style="text-align:left")
        width = max(1, round(120 * float(row[-1]) / most))
        add(add(line, "td"), "div", style=f"width:{width}px;height:9px;background:{ACCENT}")
    if len(given) > ROWS:
        add(add(inside, "tr"), "td", f"… and {len(given) - ROWS} more", colspan=str(len(headings)))
    return table


def _chart(known: list[tuple[int, float, float]], best: int) -> Element:
    """Return scores over k as SVG."""
    width, height, left, foot, head = 420, 200, 46, 34, 12
    low, high = min(m - e for _, m, e in known), max(m + e for _, m, e in known)
    span, wide = (high - low) or 1.0, (known[-1][0] - known[0][0]) or 1
    places = [
        (
            left + 14 + (width - left - 28) * (k - known[0][0]) / wide,
            head + (height - head - foot) * (high - mean) / span,
            (height - head - foot) * error / span,
        )
        for k, mean, error in known
    ]
    words = f"Scores of {len(known)} numbers of clusters; the best is {best}."
    size = {"width": str(width), "height": str(height), "viewBox": f"0 0 {width} {height}"}
    chart = Element("svg", {"role": "img", "aria-label": words, **size})
    path = " ".join(f"{'L' if i else 'M'}{x:.1f} {y:.1f}" for i, (x, y, _) in enumerate(places))
    add(chart, "path", d=path, fill="none", stroke=ACCENT)
    for (k, mean, error), (x, y, reach) in zip(known, places, strict=True):
        add(chart, "line", x1=f"{x:.1f}", x2=f"{x:.1f}", y1=f"{y - reach:.1f}", y2=f"{y + reach:.1f}", stroke=ACCENT)
        dot = add(chart, "circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r="6" if k == best else "3", fill=ACCENT)
        add(dot, "title", f"{k} clusters: {mean:.3f}" + (f" ± {error:.3f}" if error else ""))
        add(chart, "text", str(k), x=f"{x:.1f}", y=str(height - 12), text_anchor="middle", fill="currentColor", **_FONT)
    for value, y in ((high, head + 4), (low, height - foot + 4)):
        add(chart, "text", f"{value:.2f}", x=str(left - 6), y=str(y), text_anchor="end", fill="currentColor", **_FONT)
    return chart


_FONT = {"font_size": "11", "font_family": "sans-serif"}
SHOWN: dict[type, Callable[[Any], str]] = {
    Choice: choice_html,
    Run: run_html,
}


def register() -> None:
    """Let runs show themselves."""
    for kind, show in SHOWN.items():
        setattr(kind, "_repr_html_", show)  # noqa: B010  (the classes do not know of it)
