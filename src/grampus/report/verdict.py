"""The verdict: what a run found and how reliable it is, in plain words."""

import re
from dataclasses import dataclass
from typing import Literal

import numpy as np

from .. import metrics
from .._names import number_of
from ..describe import Cluster
from ..describe.duplicates import MOST_PAIRS
from ..persist import Run
from ..select.results import explain_choice, join_words

Kind = Literal["good", "plain", "warning"]
STABLE, UNSTABLE = 0.75, 0.5  # share of cluster mates that stay in halves of the documents, beyond chance
SIGNIFICANT = 0.05
LARGE = 0.6  # of the documents in one cluster
FEW = 3  # notes on the first screen
# What was read or computed, not what to watch.
REMARK = re.compile(
    "^(Not counted|Languages?|[Tt]ext|Reading):|^reading the column|is a document|title above the names|is the column|"
    "wrote earlier|clustered together|Copies always share|UTF-8|were numbered|have no label|surrogates|"
    "if they were new|The best start ended"
)
# Options of the command and of Python: nothing that a reader of a page could use.
_NAMED = r"(?:--\w|\b\w+=)"
OPTION = re.compile(rf"\s*\([^()]*{_NAMED}[^()]*\)|;\s[^;.]*{_NAMED}[^;.]*|(?<=\.)\s[^.]*{_NAMED}.*?\.(?=\s|$)")
_LEFT_OUT = re.compile(r"([\d,]+) .*: in no cluster \(label −1\)\.$")  # the notes of `given.inputs.empty_notes`
LEFT_OVER = 0.2  # of the documents in mixed clusters, from which the first sentence says so
FITTING = ((0.8, "The names fit well"), (0.6, "The names fit fairly well"), (-np.inf, "The names are vague"))
CLEARNESS: tuple[tuple[float, str, str, Kind], ...] = (
    (STABLE, "clear", "most", "good"),
    (UNSTABLE, "fairly clear", "more than half", "plain"),
    (-np.inf, "vague", "less than half", "warning"),
)


@dataclass(frozen=True)
class Statement:
    """A sentence of the verdict; the kind chooses its mark, and what is `technical` is never on the first screen."""

    text: str
    kind: Kind = "plain"
    technical: bool = False


LEADS = {
    "too few": Statement("There are too few documents to tell whether they form groups.", "warning"),
    "no groups": Statement("No clear groups: your documents are no closer to each other than random ones.", "warning"),
    "weak groups": Statement("These groups are weak: two random halves of the documents only partly agree on them."),
}
ASKED_FOR = Statement(
    "No clear groups: there are as many clusters as you asked for, but your documents are no closer to each other than "
    "random ones.",
    "warning",
)


def verdict(run: Run) -> tuple[Statement, ...]:
    """Return what a reader should know, most important first."""
    found = [*_number(run), *_stability(run), *_classes(run), *_shape(run), *_outcome(run)]
    remarks = (_remark(text) for text in run.evidence.warnings)
    return (*found, *sorted(remarks, key=lambda remark: remark.kind == "plain"))


def _remark(text: str) -> Statement:
    technical = REMARK.search(text) is not None
    return Statement(OPTION.sub("", text), "plain" if technical else "warning", technical)


def first_notes(statements: tuple[Statement, ...]) -> tuple[tuple[Statement, ...], tuple[Statement, ...]]:
    """Return the few notes that a reader must see, warnings first, and the others.

    That the groups are good is said by the first sentence of the page, and figures are for those who ask.

    Examples
    --------
    >>> from grampus.report.verdict import Statement, first_notes
    >>> shown, others = first_notes((Statement("Stable.", "good"), Statement("Torn."), Statement("Mixed.", "warning")))
    >>> [one.text for one in shown], [one.text for one in others]
    (['Mixed.', 'Torn.'], ['Stable.'])
    """
    wanted = [one for one in statements if one.kind != "good" and not one.technical]
    shown = sorted(wanted, key=lambda one: one.kind != "warning")[:FEW]
    return tuple(shown), tuple(one for one in statements if one not in shown)


def lead(run: Run) -> Statement:
    """Return how far to believe the clusters, in one sentence."""
    choice = run.evidence.choice
    answer = "" if choice is None else choice.answer
    if choice is not None and choice.given and answer == "no groups":
        return ASKED_FOR
    if answer in LEADS:
        return LEADS[answer]
    if not has_groups(run):
        return LEADS["no groups"]
    measured = [cluster for cluster in run.evidence.clusters if cluster.stability is not None]
    if run.n_clusters == 1 or not measured:
        alone = "All documents are in one cluster."
        return Statement(alone if run.n_clusters == 1 else "How stable these clusters are was not measured.")
    return _clearness(run, measured)


def _clearness(run: Run, measured: list[Cluster]) -> Statement:
    groups = [cluster for cluster in measured if not cluster.mixed] or measured
    mean = sum((c.stability or 0.0) * c.size for c in groups) / (sum(c.size for c in groups) or 1)
    word, kept, kind = next((word, kept, kind) for least, word, kept, kind in CLEARNESS if mean >= least)
    share = sum(cluster.size for cluster in measured if cluster.mixed) / max(len(run), 1)
    if share >= LEFT_OVER:
        left = f"{share:.0%} of the documents are left over: they have little in common"
        return Statement(f"These groups are {word}, but {left}.", "warning" if kind == "warning" else "plain")
    again = "comes back together when half of the documents are clustered again"
    return Statement(f"These groups are {word}: {kept} of each {again}.", kind)


def has_groups(run: Run) -> bool:
    """Return False where the choice of k shows that there may be no groups at all."""
    choice = run.evidence.choice
    if choice is None:
        return True
    if choice.answer:
        return choice.answer in ("groups", "weak groups")
    if choice.best not in choice.ks:
        return True
    place = choice.ks.index(choice.best)
    mean, error = choice.mean[place], choice.standard_error[place]
    vague = mean is not None and mean - 2.0 * (error or 0.0) <= 0.0
    return not vague and (choice.p_value is None or choice.p_value <= SIGNIFICANT)


def _number(run: Run) -> list[Statement]:
    k, choice = run.n_clusters, run.evidence.choice
    kind: Kind
    if choice is None or choice.given:
        said = [Statement(f"You asked for {number_of(k, 'cluster')}; the number was not chosen.")]
        if choice is not None:
            said.append(Statement(choice.verdict, "plain" if has_groups(run) else "warning"))
        return said
    if not choice.ks:
        return [Statement(choice.verdict or f"There were too few documents to choose k; k = {k} was used.", "warning")]
    if choice.answer:
        mixed = any(cluster.mixed for cluster in run.evidence.clusters)
        sure = choice.answer == "groups" and len(choice.ks) > 1 and not mixed
        kind = "good" if sure else "plain" if choice.answer.endswith("groups") and choice.best > 1 else "warning"
        return [Statement(choice.verdict, kind, technical=kind != "warning")]
    others = len(choice.plausible) - 1
    sure = others < 1 and len(choice.ks) > 1 and has_groups(run)
    kind = "good" if sure else "plain" if others <= 2 and has_groups(run) else "warning"
    said = [Statement(explain_choice(choice), kind)]
    if choice.p_value is not None and choice.p_value > SIGNIFICANT:
        doubt = f"That there are no groups at all cannot be ruled out (p = {choice.p_value:.2g})."
        said.append(Statement(doubt, "warning"))
    return said


def _stability(run: Run) -> list[Statement]:
    measured = [cluster for cluster in run.evidence.clusters if cluster.stability is not None]
    if not measured:
        return []
    values = np.array([cluster.stability for cluster in measured], dtype=float)
    sizes = np.array([cluster.size for cluster in measured], dtype=float)
    mean = float(values @ sizes / sizes.sum())
    weak = [cluster for cluster in measured if (cluster.stability or 0) < UNSTABLE]
    word = "stable" if mean >= STABLE else "fairly stable" if mean >= UNSTABLE else "not stable"
    sure = mean >= STABLE and has_groups(run) and not any(cluster.mixed for cluster in measured)
    kind: Kind = "good" if sure else "plain" if mean >= UNSTABLE else "warning"
    again = f"when half of the documents are clustered again, {mean:.0%} of those that were together stay together"
    # Technical: the first sentence says it in words.
    said = [Statement(f"The clusters are {word}: {again} (0% is chance).", kind, technical=True)]
    if weak and len(weak) < len(measured):
        stay = "stays" if len(weak) == 1 else "stay"
        said.append(Statement(f"Read with care: {_named(weak)} {stay} together less than half of the time.", "warning"))
    return said


def _named(clusters: list[Cluster]) -> str:
    """Return the names of clusters, the first three of many."""
    names = [f"“{cluster.name or cluster.number + 1}”" for cluster in clusters[:3]]
    return join_words([*names, *([f"{len(clusters) - 3} more"] if len(clusters) > 3 else [])])


def _classes(run: Run) -> list[Statement]:
    if run.documents.classes is None:
        return []
    values, codes = run.documents.coded_classes
    known = np.array([bool(value) for value in values])[codes]
    inside = known & (run.evidence.labels >= 0)
    count = len(np.unique(codes[inside]))
    if count < 2:
        return []
    table = metrics.contingency_table(codes[inside], run.evidence.labels[inside])
    column = run.provenance.columns.get("label")
    name = f"the {count} values of “{column}”" if column is not None else "the labels"
    left = "" if known.all() else f" ({len(known) - int(known.sum()):,} documents have none)"
    score = f"NMI {metrics.nmi(table):.2f}, ARI {metrics.ari(table):.2f}"
    return [Statement(f"Agreement with {name}: {score}{left}.", technical=True)]


def _shape(run: Run) -> list[Statement]:
    said = mixtures(run)
    sizes = np.array([cluster.size for cluster in run.evidence.clusters])
    if not said and run.n_clusters > 1 and len(run) and sizes.max() > LARGE * len(run):
        holds = f"One cluster holds {sizes.max() / len(run):.0%} of the documents"
        said.append(Statement(f"{holds}; it may just be what is left over.", "warning"))
    told = (_LEFT_OUT.match(note) for note in run.evidence.warnings)
    if run.n_unassigned > sum(int(note[1].replace(",", "")) for note in told if note):
        are = "is" if run.n_unassigned == 1 else "are"
        said.append(Statement(f"{number_of(run.n_unassigned, 'document')} {are} in no cluster."))
    if len(run.evidence.duplicates):
        are = "is" if len(run.evidence.duplicates) == 1 else "are"
        pairs = pairs_found(run)
        said.append(Statement(f"{pairs[0].upper()}{pairs[1:]} of documents {are} nearly identical."))
    return [*said, *said_by_names(run)]


def pairs_found(run: Run) -> str:
    """Return how many pairs of near-duplicates there are; no more than `MOST_PAIRS` were looked for."""
    count = len(run.evidence.duplicates)
    return f"{'at least ' if count >= MOST_PAIRS else ''}{number_of(count, 'pair')}"


def said_by_names(run: Run) -> list[Statement]:
    """Return how many documents the names alone would put into their cluster, if that was measured of all names."""
    clusters = run.evidence.clusters
    sizes = [cluster.size for cluster in clusters]
    by_name = [cluster.name_share for cluster in clusters if cluster.name_share is not None]
    by_centre = [cluster.centre_share for cluster in clusters if cluster.centre_share is not None]
    if not clusters or len(by_name) < len(sizes) or len(by_centre) < len(sizes):
        return []
    found, possible = (float(np.average(shares, weights=sizes)) for shares in (by_name, by_centre))
    words = next(words for least, words in FITTING if found >= least)
    how = f"by its name alone, {found:.0%} of the documents would be put in the right cluster"
    return [Statement(f"{words}: {how} ({possible:.0%} by its centre).", technical=True)]


def mixtures(run: Run) -> list[Statement]:
    """Return which clusters hold what is left over, if any."""
    mixed = [cluster for cluster in run.evidence.clusters if cluster.mixed]
    if not mixed:
        return []
    share = sum(cluster.size for cluster in mixed) / max(len(run), 1)
    what = "is what was left over: its" if len(mixed) == 1 else "are what was left over: their"
    text = f"{_named(mixed)} ({share:.0%} of the documents) {what} documents have little in common."
    return [Statement(text, "warning")]


def _outcome(run: Run) -> list[Statement]:
    if run.evidence.outcome == "converged":
        return []
    ends = {"oscillated": "oscillated between two solutions"}
    what = ends.get(run.evidence.outcome, "reached the limit of iterations")
    return [Statement(f"The clustering {what}; a few borderline documents may belong elsewhere.", "warning")]
