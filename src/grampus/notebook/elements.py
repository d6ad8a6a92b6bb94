"""The elements that tables in a notebook are made of."""

from collections.abc import Iterable, Sequence
from typing import Any
from xml.etree.ElementTree import Element, tostring

import numpy as np

from ..report.tables import add

ROWS = 40  # rows of a table; the rest is counted
COLOUR = "#0072b2"  # readable on white and on black
# Okabe and Ito's colours can be distinguished with every kind of colour blindness.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#666666")
GREY = "#bbbbbb"
DOTS = 1500  # points of a map; every second, third, … of more
_BAR = 120
_MAP, _RIM = 360, 12


def to_html(*parts: Element) -> str:
    """Return elements as HTML, one after the other."""
    return "".join(tostring(part, encoding="unicode", method="html") for part in parts)


def paragraph(text: str) -> Element:
    """Return a paragraph."""
    return add(Element("div"), "p", text)


def titled_table(title: str, head: Sequence[str], rows: Iterable[Sequence[object]], left_out: int = 0) -> Element:
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
    listed = list(rows)
    for row in listed[:ROWS]:
        line = add(inside, "tr")
        for cell in row:
            if isinstance(cell, Element):
                add(line, "td").append(cell)
            else:
                add(line, "td", str(cell))
    more = left_out + max(len(listed) - ROWS, 0)
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


def _drawing(height: int, text: str, width: int = _BAR) -> Element:
    return Element("svg", {"width": str(width), "height": str(height), "role": "img", "aria-label": text})


def swatch(group: int, text: str) -> Element:
    """Return left-aligned text after a dot in the colour of a group."""
    body = left("")
    add(body, "span", "●", style=f"color:{colour(group)};margin-right:.4em")
    add(body, "span", text)
    return body


def colour(group: int) -> str:
    """Return the colour of a group; that of no group is grey. Colours repeat after seven."""
    return GREY if group < 0 else COLOURS[group % len(COLOURS)]


def dots(places: Any, groups: Any, text: str) -> Element:
    """Return points on a square map, coloured by their groups, with the number of each group at its middle."""
    points, of = np.asarray(places, dtype=float), np.asarray(groups)
    low, high = points.min(axis=0, initial=np.inf), points.max(axis=0, initial=-np.inf)
    wide = float((high - low).max(initial=0.0)) or 1.0
    spots = (points - (low + high) / 2) / wide * (_MAP - 2 * _RIM) + _MAP / 2
    spots[:, 1] = _MAP - spots[:, 1]
    drawing = _drawing(_MAP, text, _MAP)
    step = -(-len(points) // DOTS) or 1
    for group in np.unique(of).tolist():
        inside = add(drawing, "g", fill=colour(group), fill_opacity="0.6")
        for x, y in spots[of == group][::step]:
            add(inside, "circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r="2.2")
    for group in np.unique(of[of >= 0]).tolist():
        x, y = spots[of == group].mean(axis=0)
        style = "font:bold 13px sans-serif;paint-order:stroke;stroke:#fff;stroke-width:3px"
        add(drawing, "text", str(group), x=f"{x:.1f}", y=f"{y:.1f}", text_anchor="middle", style=style)
    return drawing


def left(text: str, depth: int = 0) -> Element:
    """Return left-aligned text, indented by its depth; notebooks align cells to the right."""
    style = f"text-align:left;padding-left:{1.2 * depth:.1f}em"
    return add(Element("div"), "div", text, style=style)


def number(value: float) -> str:
    """Return a number for reading."""
    return f"{value:.6g}"
