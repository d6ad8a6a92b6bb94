"""What the browser gets: the page with the scripts of the app, and what a change makes of it."""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from ..persist import Run
from ..report.build import SCRIPTS, STYLES, Shell, asset, joined, policy, render
from ..report.island import answer, packed
from ..report.levels import levels_of
from ..report.page import Page, page_of
from ..report.tables import KINDS, MARKS
from ..report.verdict import first_notes, lead, verdict
from ..text.languages.detect import detect_languages
from ..text.languages.table import LANGUAGES
from .columns import table_columns

APART = ("replay.js", "edit_bar.js")  # the page's own store of edits
SPACE = 0x20  # bytes up to this end a word
OWN = ("live.js", "long.js", "facets.js", "drop.js")


@cache
def own_asset(name: str) -> str:
    """Return a file of the app."""
    return files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


@cache
def app_script() -> str:
    """Return the scripts of the page, with the server in place of its own store of edits."""
    *before, last = (name for name in SCRIPTS if name not in APART)
    return joined([*map(asset, before), *map(own_asset, OWN), asset(last)])


@cache
def app_style() -> str:
    """Return the style of the page and of the app."""
    return "\n".join([*map(asset, STYLES), own_asset("app.css")])


def live_page(run: Run, revision: str, place: str, back: int = 0) -> tuple[bytes, str]:
    """Return the page of a run that is open, and its policy; `back` answers can be brought back."""
    kept = f"Served by grampus open on this computer alone; every change is saved in {place}."
    live = {**live_state(run, revision), "back": back}
    page = render(page_of(run), Shell(app_script(), app_style(), "'self'", kept, {"live": live}))
    return page.encode("utf-8", "replace"), policy((asset("mark.js"), app_script()), app_style(), "'self'")


def waiting_page() -> tuple[bytes, str]:
    """Return the page that is shown while a run is made, and its policy."""
    script, style = own_asset("waiting.js"), own_asset("waiting.css")
    allowed = policy((script,), style, "'self'")
    page = own_asset("waiting.html").replace("$style", style).replace("$script", script)
    return page.encode(), allowed


def live_state(run: Run, revision: str) -> dict[str, Any]:
    """Return which run this is, and what became of it."""
    documents = f"{run.provenance.fingerprint} {len(run)}"
    return {"revision": revision, "documents": documents, "edits": len(run.edits), "done": list(run.done)}


def live_answer(run: Run, revision: str) -> dict[str, Any]:
    """Return everything on the page that edits change."""
    levels, own = levels_of(run)
    documents = run.documents
    page = Page(run, documents.titles, documents.excerpts, False, None, verdict(run), lead(run), levels, own)
    return {
        **live_state(run, revision),
        "lead": [page.lead.kind, page.lead.text],
        "statements": [
            [[one.kind, MARKS[one.kind], KINDS[one.kind], one.text] for one in part]
            for part in first_notes(page.statements)
        ],
        **answer(page, fresh=False),
    }


def news(answer: Mapping[str, Any], before: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return an answer without the long parts that are as in an earlier one, which the page shows."""
    if before is None:
        return answer
    levels, old = answer["levels"], before["levels"]
    same = len(levels) == len(old)
    return {
        **_without_same(answer, before, ("certainty", "second", "heatmap")),
        "levels": [_without_same(*pair, ("labels",)) for pair in zip(levels, old, strict=True)] if same else levels,
        "tree": answer["tree"] and _without_same(answer["tree"], before["tree"] or {}, ("leaf",)),
    }


def _without_same(new: Mapping[str, Any], old: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: value for name, value in new.items() if name not in names or name not in old or value != old[name]}


def columns_of(run: Run, place: Path) -> dict[str, Any]:
    """Return columns to filter by that the page does not hold: length, language, and those of the run's table."""
    texts, excerpts = run.documents.texts, run.documents.excerpts
    found: list[dict[str, Any]] = []
    if texts is not None and len(texts):
        data, ends = texts.to_arrays()
        gaps = np.concatenate(([0], np.cumsum(np.frombuffer(data, np.uint8) <= SPACE)))
        lengths = np.diff(gaps[ends]) + 1
        found.append({"name": "words", "kind": "number", "numbers": packed(lengths, np.float64)})
    if excerpts is not None:
        codes = detect_languages(excerpts)
        names = [LANGUAGES[code].name if code in LANGUAGES else "unknown" for code in codes]
        values, rows = np.unique(names, return_inverse=True)
        column = {"name": "language", "kind": "category", "values": values.tolist(), "codes": packed(rows)}
        found += [column] if len(values) > 1 else []
    others, note = table_columns(run, place)
    return {"columns": found + others, "note": note}
