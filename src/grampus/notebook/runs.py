"""A run, and a fitted clusterer, as the verdict, the list of clusters and the map."""

from xml.etree.ElementTree import Element

from .. import _draw
from ..persist import Run
from ..report.page import page_of
from ..report.tables import MARKS, add
from ..report.verdict import first_notes
from .elements import bar, dots, left, swatch, titled_table, to_html

WORDS = 8


@_draw.html.register
def _run(run: Run) -> str:
    page = page_of(run, "none")
    verdict = Element("ul", {"style": "list-style:none;padding-left:0"})
    for statement in (page.lead, *first_notes(page.statements)[0]):
        add(verdict, "li", f"{MARKS[statement.kind]} {statement.text}")
    largest = max((cluster.size for cluster in run.evidence.clusters), default=1) or 1
    rows: list[tuple[object, ...]] = [
        (
            cluster.number,
            swatch(cluster.number, cluster.name),
            left(", ".join(dict.fromkeys([*cluster.words, *(term.text for term in cluster.terms)][:WORDS]))),
            "–" if cluster.stability is None else f"{cluster.stability:.0%}",
            f"{cluster.size:,}",
            bar(cluster.size / largest, str(cluster.size)),
        )
        for cluster in run.evidence.clusters
    ]
    if run.n_unassigned:
        share = bar(run.n_unassigned / largest, str(run.n_unassigned))
        rows.append(("", swatch(-1, "in no cluster"), left(""), "–", f"{run.n_unassigned:,}", share))
    head = ("", "cluster", "words", "stability", "documents", "")
    picture = Element("div")
    picture.append(dots(run.layout.coordinates, run.evidence.labels, f"map of the documents: {page.headline}"))
    return to_html(verdict, titled_table(f"{page.title}: {page.headline}", head, rows), picture)
