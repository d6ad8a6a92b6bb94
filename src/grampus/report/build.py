"""Build the page: template, style, script and data in one file, with a policy that forbids every request."""

import base64
import hashlib
import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from os import PathLike
from pathlib import Path
from string import Template
from typing import Any

from .._files import write_file
from .._names import EMBEDS
from .._parallel import MANY, meanwhile
from .._version import __version__
from ..errors import InputError
from ..persist import Edit, Run
from ..run import Apart, returned
from .island import index, island, json_text, texts
from .oddities import outliers
from .page import Embed, Page, page_of
from .tables import fragments

__all__ = ["report_html", "write_report"]

# In the order in which they are read; they share one scope.
SCRIPTS = (
    "base.js", "palette.js", "model.js", "branches.js", "replay.js", "edits.js",
    "edit_bar.js", "moving.js", "statements.js", "glyphs.js", "contours.js", "points.js", "room.js",
    "names.js", "map.js", "gestures.js", "search.js", "filters.js", "documents.js", "reading.js", "legend.js",
    "found.js", "tree.js", "cuts.js", "cluster_table.js", "cards.js", "charts.js", "heatmap.js", "counts.js",
    "trends.js", "oddities.js", "results.js", "pictures.js", "link.js", "main.js",
)  # fmt: skip
STYLES = (
    "colours.css", "frame.css", "verdict.css", "map.css", "side.css", "tree.css", "cards.css", "evidence.css",
    "narrow.css",
)  # fmt: skip


@dataclass(frozen=True)
class Shell:
    """What a page is made of besides its data.

    Attributes
    ----------
    script, style : str
    connect : str
        Where its requests may go, as in a content security policy; nowhere by default.
    kept : str
        What becomes of it, in a sentence.
    more : mapping
        Further data for its script.
    """

    script: str
    style: str
    connect: str = ""
    kept: str = "This page is one file and makes no network requests."
    more: Mapping[str, Any] = field(default_factory=dict)


def report_html(run: Run, *, texts: Embed = "excerpts", edits: Sequence[Edit] = ()) -> str:
    """Return the report of a run as one HTML document.

    It contains its style, script and data and makes no requests; its content security policy forbids them. Without
    JavaScript it shows tables.

    Parameters
    ----------
    run : Run
    texts : "excerpts", "full" or "none"
        How much of each document to include. Search covers every word of every document as long as the run has texts;
        "none" leaves out titles and the index of words, too. "full" needs a run with texts.
    edits : sequence of Edit
        Applied before the page is made; `read_edits` reads those of an earlier page.

    Returns
    -------
    str

    Examples
    --------
    >>> from grampus import DocumentClusterer
    >>> from grampus.report import report_html
    >>> run = DocumentClusterer(2, random_state=0).fit(["whale", "a whale", "bird", "birds"]).run_
    >>> page = report_html(run)
    >>> "4 documents in 2 clusters" in page, "default-src 'none'" in page
    (True, True)
    """
    return render(checked_page(run, texts, edits))


def checked_page(run: Run, texts: Embed, edits: Sequence[Edit]) -> Page:
    """Return the content of a page; raise where the run has not what it is to show."""
    if texts not in EMBEDS:
        raise InputError(f"texts must be 'excerpts', 'full' or 'none'; got {texts!r}.")
    if texts == "full" and run.documents.texts is None:
        raise InputError("texts='full' needs a run with texts; this one was saved without them.")
    return page_of(run, texts, edits)


def write_report(run: Run, path: str | PathLike[str], *, texts: Embed = "excerpts", edits: Sequence[Edit] = ()) -> None:
    """Write the report of a run to a file, atomically; see `report_html`.

    Parameters
    ----------
    run : Run
        What to show.
    path : path
        The HTML file.
    texts : "excerpts", "full" or "none"
        How much of each document to include.
    edits : sequence of Edit
        Names and merges to apply.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from grampus import DocumentClusterer
    >>> from grampus.report import write_report
    >>> run = DocumentClusterer(2, random_state=0).fit(["whale", "a whale", "bird", "birds"]).run_
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(run, Path(folder, "page.html"))
    ...     [file.name for file in Path(folder).iterdir()]
    ['page.html']
    """
    write_page(checked_page(run, texts, edits), path)


def write_page(page: Page, path: str | PathLike[str], begun: Callable[[Page], str] | None = None) -> None:
    """Write a page to a file, atomically; `begun` waits for its index of words, where that was begun before."""
    write_file(Path(path), render(page, index=begun or index).encode("utf-8", "replace"))


def render(page: Page, shell: Shell | None = None, index: Callable[[Page], str] = index) -> str:
    """Fill the template; `index` makes the words of all documents."""
    shell = shell or Shell(joined(page_scripts()), page_style())
    mark, worker = asset("mark.js"), asset("worker.js")
    run, words = page.run, meanwhile(lambda: index(page))  # compiled, while Python writes the rest
    data = Apart(lambda: returned(json_text({**island(page), **shell.more})), len(run) >= MANY)
    shown = {
        "title": html.escape(page.title),
        "headline": html.escape(page.headline),
        "command": html.escape(run.provenance.command),
        "version": __version__,
        "created": html.escape(run.provenance.created[:10]),
        "has_choice": "" if run.evidence.choice is not None and len(run.evidence.choice.ks) > 1 else "hidden",
        "has_classes": "" if run.documents.classes is not None else "hidden",
        "has_days": "" if page.days is not None else "hidden",
        "has_command": "" if run.provenance.command else "hidden",
        "has_pairs": "" if len(run.evidence.duplicates) or len(outliers(run)) else "hidden",
        "map_note": html.escape(page.map_note),
        "text_note": html.escape(page.text_note),
        "label_name": html.escape(run.provenance.columns.get("label", "label")),
        "kept": html.escape(shell.kept),
    }
    return Template(asset("page.html")).substitute(
        shown,
        policy=policy((mark, shell.script), shell.style, shell.connect),
        mark=mark,
        style=shell.style,
        script=shell.script,
        worker=worker,
        texts=texts(page),
        index=words(),
        **fragments(page),
        data=data(),
    )


def policy(scripts: Sequence[str], style: str, connect: str = "") -> str:
    """Return the content security policy of a page: these scripts and this style, and no requests but to `connect`."""
    hashes, asked = " ".join(map(_hash, scripts)), f"connect-src {connect}; " if connect else ""
    return (
        f"default-src 'none'; script-src {hashes}; style-src {_hash(style)}; {asked}"
        "img-src data:; worker-src blob:; base-uri 'none'; form-action 'none'"
    )


def joined(scripts: Iterable[str]) -> str:
    """Return scripts that share one scope, which nothing outside can reach."""
    return '"use strict";\n(() => {\n' + "\n".join(scripts) + "\n})();\n"


@cache
def asset(name: str) -> str:
    """Return a file of the page."""
    return files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


def page_scripts() -> list[str]:
    """Return the scripts of the page, in their order."""
    return list(map(asset, SCRIPTS))


@cache
def page_style() -> str:
    """Return the style of the page."""
    return "\n".join(map(asset, STYLES))


def _hash(content: str) -> str:
    """Return the source expression of the policy that allows exactly this content."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode('ascii')}'"
