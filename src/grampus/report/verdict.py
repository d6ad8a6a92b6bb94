"""The verdict: what a run found and how far to trust it, in plain words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from .. import metrics
from ..persist import Choice, Run
from ..select.results import explain_choice, join_words

Kind = Literal["good", "plain", "warning"]
STABLE, SHAKY = 0.75, 0.5  # of a document's companions that stay when half of the collection is clustered
SIGNIFICANT = 0.05
LARGE = 0.6  # of the documents in one cluster


@dataclass(frozen=True)
class Statement:
    """A sentence of the verdict; the kind chooses its mark."""

    text: str
    kind: Kind = "plain"


def verdict(run: Run) -> tuple[Statement, ...]:
    """Return what a reader should know, the most important first."""
    found = [*_number(run), *_stability(run), *_classes(run), *_shape(run), *_outcome(run)]
    return tuple(found + [Statement(text, "warning") for text in run.warnings])


def _number(run: Run) -> list[Statement]:
    k, choice = run.n_clusters, run.choice
    if choice is None:
        return [Statement(f"The number of clusters, {k}, was given, not found.")]
    if not choice.ks:
        return [Statement(choice.verdict or f"There were too few documents to choose k; {k} was taken.", "warning")]
    others = len(choice.plausible) - 1
    kind: Kind = "good" if others < 1 else "plain" if others <= 2 else "warning"
    said = [Statement(explain_choice(choice), kind)]
    if choice.p_value is not None and choice.p_value > SIGNIFICANT:
        said.append(
            Statement(f"That there are no groups at all cannot be ruled out (p = {choice.p_value:.2g}).", "warning")
        )
    return said


def _stability(run: Run) -> list[Statement]:
    measured = [cluster for cluster in run.clusters if cluster.stability is not None]
    if not measured:
        return []
    values = np.array([cluster.stability for cluster in measured], dtype=float)
    sizes = np.array([cluster.size for cluster in measured], dtype=float)
    mean = float(values @ sizes / sizes.sum())
    shaky = [cluster.label or str(cluster.number + 1) for cluster in measured if (cluster.stability or 0) < SHAKY]
    word = "stable" if mean >= STABLE else "fairly stable" if mean >= SHAKY else "not stable"
    kind: Kind = "good" if mean >= STABLE else "plain" if mean >= SHAKY else "warning"
    said = [
        Statement(
            f"The clusters are {word}: in halves of the collection a document keeps {mean:.0%} of its companions.", kind
        )
    ]
    if shaky and len(shaky) < len(measured):
        names = join_words([f"“{name}”" for name in shaky[:3]])
        hold = "holds" if len(shaky) == 1 else "hold"
        more = f" and {len(shaky) - 3} more" if len(shaky) > 3 else ""
        said.append(Statement(f"Read with care: {names}{more} {hold} together less than half of the time.", "warning"))
    return said


def _classes(run: Run) -> list[Statement]:
    if run.classes is None:
        return []
    known = np.array([bool(value) for value in run.classes])
    classes = [value for value in run.classes if value]
    if len(set(classes)) < 2:
        return []
    table = metrics.contingency_table(classes, run.labels[known])
    name = f"the {len(set(classes))} values of “{run.columns['label']}”" if "label" in run.columns else "the labels"
    left = "" if known.all() else f" ({len(known) - len(classes):,} documents have none)"
    score = f"NMI {metrics.nmi(table):.2f}, ARI {metrics.ari(table):.2f}"
    return [Statement(f"Agreement with {name}: {score}{left}.")]


def _shape(run: Run) -> list[Statement]:
    said = []
    sizes = np.array([cluster.size for cluster in run.clusters])
    if run.n_clusters > 1 and len(run) and sizes.max() > LARGE * len(run):
        share = sizes.max() / len(run)
        said.append(
            Statement(f"One cluster holds {share:.0%} of the documents; it may be what is left over.", "warning")
        )
    if len(run.duplicates):
        pairs = len(run.duplicates)
        said.append(Statement(f"{pairs:,} {'pair' if pairs == 1 else 'pairs'} of documents are nearly the same."))
    return said


def _outcome(run: Run) -> list[Statement]:
    if run.outcome == "converged":
        return []
    what = "went back and forth between two answers" if run.outcome == "oscillated" else "ran out of iterations"
    return [Statement(f"The clustering {what}; a few documents on the borders may change sides.", "warning")]


def plausible_range(choice: Choice | None) -> str:
    """Return the plausible numbers of clusters, or nothing where the number was given."""
    if choice is None or not choice.plausible:
        return ""
    low, high = min(choice.plausible), max(choice.plausible)
    return str(low) if low == high else f"{low}–{high}"
