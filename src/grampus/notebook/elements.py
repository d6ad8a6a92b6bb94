"""The elements that tables in a notebook are made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from xml.etree.ElementTree import Element, tostring

import numpy as np

from ..report.tables import add

ROWS = 40  # rows of a table; the rest is counted
COLOUR = "#0072b2"  # readable on white and on black
_BAR = 120


def html(*parts: Element) -> str:
    """Return elements as HTML, one after the other."""
    return "".join(tostring(part, encoding="unicode", method="html") for part in parts)


def paragraph(text: str) -> Element:
    """Return a paragraph."""
    return add(Element("div"), "p", text)


def table(title: str, head: Sequence[str], rows: Iterable[Sequence[object]], left_out: int = 0) -> Element:
    """Return a titled table of at most `ROWS` rows of text, numbers or elements, and the count of the rest.

    `left_out` adds to that count.
    """
    body = Element("div")
    add(body, "p", title)
    frame = add(body, "table")
    line = add(add(frame, "thead"), "tr")
    for name in head:
        add(line, "th", name, scope="col")
    inside = add(frame, "tbody")
    given = list(rows)
    for row in given[:ROWS]:
        line = add(inside, "tr")
        for cell in row:
            if isinstance(cell, Element):
                add(line, "td").append(cell)
            else:
                add(line, "td", str(cell))
    more = left_out + max(len(given) - ROWS, 0)
    if more:
        add(body, "p", f"… and {more} more")
    return body


def bar(share: float, text: str) -> Element:
    """Return a horizontal bar of a share in [0, 1], with its text for screen readers."""
    drawing = _drawing(10, text)
    add(drawing, "rect", width=f"{_BAR * min(max(share, 0.0), 1.0):.1f}", height="10", fill=COLOUR)
    return drawing


def line(values: Any, text: str) -> Element:
    """Return a small line chart that starts at zero."""
    heights = np.asarray(values, dtype=float)
    top = float(heights.max(initial=0.0)) or 1.0
    steps = np.linspace(2.0, _BAR - 2.0, max(len(heights), 2))
    points = " ".join(f"{x:.1f},{26.0 - 24.0 * y / top:.1f}" for x, y in zip(steps, heights, strict=False))
    drawing = _drawing(28, text)
    add(drawing, "polyline", points=points, fill="none", stroke=COLOUR, stroke_width="1.5")
    return drawing


def _drawing(height: int, text: str) -> Element:
    return Element("svg", {"width": str(_BAR), "height": str(height), "role": "img", "aria-label": text})


def left(text: str, depth: int = 0) -> Element:
    """Return left-aligned text, indented by its depth; notebooks align cells to the right."""
    style = f"text-align:left;padding-left:{1.2 * depth:.1f}em"
    return add(Element("div"), "div", text, style=style)


def number(value: float) -> str:
    """Return a number for reading."""
    return f"{value:.6g}"


def counted(count: int, one: str, many: str = "") -> str:
    """Return a count with its noun."""
    return f"{count} {one if count == 1 else many or one + 's'}"
