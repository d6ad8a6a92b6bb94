"""The parts of a page that need no script: the verdict, a table for every cluster, and the provenance.

Everything is built as elements and serialised at the end, so that text can never become markup.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

import numpy as np

from .._names import number_of
from .oddities import copy_groups, outliers
from .page import Page, readable
from .verdict import Statement, first_notes

DOCUMENTS = 10  # in the table of a cluster
TERMS = 10
VALUES = 12  # of the label column, most frequent first
GROUPS, COPIES = 50, 5  # of near-copies, and documents of each
LONGEST = 400  # characters of a text in a table
MARKS = {"good": "✓", "plain": "•", "warning": "!"}
KINDS = {"good": "Good: ", "plain": "", "warning": "Take care: "}


def fragments(page: Page) -> dict[str, str]:
    """Return the static parts of the page as HTML, by their names in the template."""
    parts = {
        "statements": statements(first_notes(page.statements)[0]),
        "details": statements(first_notes(page.statements)[1]),
        "lead": lead_paragraph(page),
        "cluster_list": cluster_list(page),
        "choice_table": choice_table(page),
        "cluster_tables": cluster_tables(page),
        "label_table": label_table(page),
        "pair_table": pair_table(page),
        "odd_table": odd_table(page),
        "facts": facts(page),
    }
    return {name: tostring(part, encoding="unicode", method="html") for name, part in parts.items()}


def add(parent: Element, tag: str, text: str = "", **attributes: str) -> Element:
    """Append an element to another; underscores in attribute names become hyphens, a trailing one is dropped."""
    named = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
    element = SubElement(parent, tag, named)
    if text:
        element.text = readable(text)
    return element


def scrolling_table(headings: Sequence[str], rows: Iterable[Sequence[str]], caption: str, numbers: int = 0) -> Element:
    """Return a table in a scrolling frame; the last `numbers` columns are numbers."""
    frame = Element("div", {"class": "scroll", "tabindex": "0", "role": "region", "aria-label": readable(caption)})
    body = add(frame, "table")
    add(body, "caption", caption)
    line = add(add(body, "thead"), "tr")
    first_number = len(headings) - numbers
    for place, heading in enumerate(headings):
        add(line, "th", heading, scope="col", class_="number" if place >= first_number else "")
    inside = add(body, "tbody")
    for row in rows:
        line = add(inside, "tr")
        for place, value in enumerate(row):
            number = place >= first_number
            add(line, "td", value, **({"class_": "number"} if number else {"dir": "auto"}))
    return frame


def statements(said: Iterable[Statement]) -> Element:
    """Return sentences of the verdict as a list."""
    body = Element("ul", {"class": "statements"})
    for statement in said:
        line = add(body, "li", class_=statement.kind)
        add(line, "span", MARKS[statement.kind], class_="mark", aria_hidden="true")
        sentence = add(line, "span")
        if KINDS[statement.kind]:
            add(sentence, "span", KINDS[statement.kind], class_="unseen").tail = statement.text
        else:
            sentence.text = statement.text
    return body


def cluster_list(page: Page) -> Element:
    """Return the clusters with size and stability, for the first screen."""
    body = Element("ol", {"class": "found-list", "id": "found-list"})
    for label in page.labels:
        cluster = page.run.evidence.clusters[label] if label >= 0 else None
        size = page.run.n_unassigned if cluster is None else page.run.sizes[label]
        line = add(body, "li", class_="found-line")
        named = add(line, "span", dir="auto")
        add(named, "span", page.name(label), class_="found-name")
        add(named, "span", "" if cluster is None else ", ".join(cluster.words), class_="found-words")
        add(line, "span", f"{size:,}", class_="number")
        stable = "" if cluster is None or cluster.stability is None else f"{cluster.stability:.0%} stable"
        add(line, "span", "mixed" if cluster is not None and cluster.mixed else stable, class_="found-sure")
    return body


def lead_paragraph(page: Page) -> Element:
    """Return how far to believe the clusters, in a sentence."""
    body = Element("p", {"class": f"lead {page.lead.kind}", "id": "lead"})
    body.text = readable(page.lead.text)
    return body


def choice_table(page: Page) -> Element:
    """Return the scores of the values of k that were tried."""
    choice = page.run.evidence.choice
    if choice is None:
        return Element("div")
    rows = [
        (f"{k}{' (taken)' if k == choice.best else ''}", _figure(mean), _figure(error))
        for k, mean, error in zip(choice.ks, choice.mean, choice.standard_error, strict=True)
    ]
    return scrolling_table(("clusters", "mean score", "standard error"), rows, f"Scores of {choice.scheme}", numbers=2)


def cluster_tables(page: Page) -> Element:
    """Return a table of ten documents for every cluster, and for the documents in no cluster."""
    body = Element("div", {"class": "static"})
    evidence = page.run.evidence
    for label in page.labels:
        members = np.flatnonzero(evidence.labels == label)
        part = add(body, "section", class_="plain-cluster")
        add(part, "h3", page.name(label), dir="auto")
        counted = number_of(len(members), "document")
        words = ", ".join(term.text for term in evidence.clusters[label].terms[:TERMS]) if label >= 0 else ""
        add(part, "p", f"{counted}. {words}" if words else f"{counted}.", class_="quiet", dir="auto")
        if not len(members):
            continue
        central = evidence.clusters[label].central if label >= 0 else ()
        rest = members[np.argsort(-evidence.margin[members], kind="stable")][: DOCUMENTS + len(central)]
        shown = list(dict.fromkeys([*central, *rest.tolist()]))[:DOCUMENTS]
        titles = ["title"] if page.titles is not None else []
        headings = ["id", *titles, *(["text"] if page.texts is not None else [])]
        rows = [_document(page, place) for place in shown]
        caption = f"Central documents of {page.name(label)}" if label >= 0 else "Documents in no cluster"
        part.append(scrolling_table(headings, rows, caption))
    return body


def label_table(page: Page) -> Element:
    """Return clusters by values of the label column."""
    run = page.run
    if run.documents.classes is None:
        return Element("div")
    counts = Counter(run.documents.classes)
    shown = [value for value, _ in counts.most_common(VALUES)]
    inside = {value: number for number, value in enumerate(shown)}
    codes = np.array([inside.get(value, len(shown)) for value in run.documents.classes], dtype=np.int64)
    headings = ["cluster", *(value or "(none)" for value in shown), *(["other"] if len(counts) > VALUES else [])]
    rows = []
    for label in page.labels:
        row = np.bincount(codes[run.evidence.labels == label], minlength=len(shown) + 1)
        rows.append((page.name(label), *(f"{count:,}" for count in row[: len(headings) - 1])))
    name = run.provenance.columns.get("label", "label")
    return scrolling_table(headings, rows, f"Documents by cluster and {name}", numbers=len(headings) - 1)


def pair_table(page: Page) -> Element:
    """Return the groups of near-copies."""
    groups = copy_groups(page.run)[:GROUPS]
    if not groups:
        return Element("div")
    rows = []
    for group in groups:
        more = len(group.documents) - COPIES
        named = [_short_name(page, place) for place in group.documents[:COPIES]]
        told = [*named, f"and {more:,} more"] if more > 0 else named
        rows.append(("; ".join(told), f"{len(group.documents):,}", f"{group.similarity:.3f}"))
    return scrolling_table(("documents", "copies", "similarity"), rows, "Near-copies", numbers=2)


def odd_table(page: Page) -> Element:
    """Return the documents that stand out from their cluster."""
    places = outliers(page.run)[:GROUPS].tolist()
    if not places:
        return Element("div")
    rows = [(_short_name(page, place), f"{float(page.run.evidence.oddness[place]):.2f}") for place in places]
    return scrolling_table(("document", "oddness"), rows, "Odd documents", numbers=1)


def facts(page: Page) -> Element:
    """Return the provenance as a list."""
    run = page.run
    entries = [
        ("Source", run.provenance.source),
        *((f"Column for {role}", name) for role, name in run.provenance.columns.items()),
        ("Documents", run.provenance.fingerprint),
        ("Compared", run.compared),
        ("Kernel", run.provenance.kernel),
        ("Seed", "none" if run.provenance.seed is None else str(run.provenance.seed)),
        ("Outcome", f"{run.evidence.outcome}, objective {run.evidence.objective:.6g}"),
        ("Same label as a new document", f"{run.evidence.agreement:.1%} of the documents"),
        ("Created", f"{run.provenance.created}, in {run.provenance.seconds:.1f} s"),
        ("Parameters", _listed(run.provenance.parameters)),
        ("Versions", _listed(run.provenance.versions)),
    ]
    body = Element("dl", {"class": "facts"})
    for name, value in entries:
        pair = add(body, "div")
        add(pair, "dt", name)
        add(pair, "dd", value, dir="auto")
    return body


def _document(page: Page, place: int) -> list[str]:
    run = page.run
    titles = [page.titles[place]] if page.titles is not None else []
    texts = [page.texts[place][:LONGEST]] if page.texts is not None else []
    return [run.documents.ids[place], *titles, *texts]


def _short_name(page: Page, place: int) -> str:
    title = page.titles[place] if page.titles is not None else ""
    text = page.texts[place][:80] if page.texts is not None else ""
    return " · ".join(part for part in (page.run.documents.ids[place], title or text) if part)


def _listed(values: Mapping[str, Any]) -> str:
    """Return names and values in one line; mappings inside in brackets."""
    plain = {name: f"({_listed(value)})" if isinstance(value, Mapping) else value for name, value in values.items()}
    return ", ".join(f"{name} {value}" for name, value in plain.items())


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
