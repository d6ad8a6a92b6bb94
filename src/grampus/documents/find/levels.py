"""The levels of an answer: how many clusters each has, and their partitions."""

from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._array import Array, take_rows
from ..._check import check_integer, check_matrix
from ..._names import LEVELS
from ..._progress import Progress
from ..._random import seed_words
from ...errors import InputError
from ...gram import Gram
from ...kernels import Kernel
from ...persist import Choice
from ...persist.records import GIVEN
from ...select.evidence import COMPARED, FEWEST, OF_TEXTS, SPLITS, Compared
from ...select.levels import (
    PER_CLUSTER,
    Chosen,
    check_given,
    compared_with,
    documents_needed,
    explain_given,
    explain_levels,
    find_levels,
)
from ...select.splits import keyed_generator
from ...select.ungrouped import deal_words, ungrouped
from ...text import Corpus
from ...text.meaning.maker import MeaningInput
from ..given.effort import BY_LEVELS, Effort
from ..given.inputs import Inputs

STEP = 3  # factor between the levels around a given k
DEALT = 2  # times as many documents without groups are encoded as are compared
MOST_DEALT = 400_000  # bytes of text that are dealt for a draw; at least 30 documents all the same
MOST_ONCE = 4_000_000  # the same where they are dealt once for all draws
ENTROPY = tuple(seed_words(0))  # whether there are groups, and how many, is no matter of the seed
_DEALT = 6  # what a generator is for; see `select.splits`

Partitions = dict[str, NDArray[np.intp]]


def levels_of_inputs(
    gram: Gram, inputs: Inputs, kernel: Kernel, effort: Effort, progress: Progress
) -> tuple[Choice, dict[str, int]]:
    """Choose the numbers of clusters among the distinct documents that have terms; return the record of it too."""
    base, heavy = _distinct(gram, inputs)
    compared = _compared(base, heavy, inputs, kernel)
    chosen = find_levels(base, compared, effort.ks, ENTROPY, progress)
    words = explain_levels(chosen.verdict, chosen.ks, chosen.evidence, len(heavy))
    return _record(chosen, BY_LEVELS, words), chosen.ks


def check_groups(
    gram: Gram, inputs: Inputs, kernel: Kernel, effort: Effort, k: int, progress: Progress
) -> Choice | None:
    """Tell whether the clusters of a given k are groups; None for a single cluster, and without stability."""
    if not effort.stability or k < 2:
        return None
    base, heavy = _distinct(gram, inputs)
    if len(heavy) < documents_needed(k):
        chosen = Chosen("too few", {"middle": k}, None)
    else:
        chosen = check_given(base, _compared(base, heavy, inputs, kernel), k, ENTROPY, progress)
    return _record(chosen, GIVEN, explain_given(chosen, len(heavy)))


def _compared(base: Gram, heavy: NDArray[np.intp], inputs: Inputs, kernel: Kernel) -> Compared:
    """Return what makes Grams of documents and of some without groups.

    To texts without groups, the words of all are dealt at random; of long texts fewer are compared. Where they are
    encoded, draws come from `DEALT` times as many: those of n out of m vary less than others would, by the root of
    (1 − n/m)/(1 + n/m). Meaning and word vectors are weighed as texts are, the rows of any other model as rows.
    """
    maker = inputs.makers.get("embedding")
    worth = None if maker is None or maker.kind == "embedding" else OF_TEXTS
    compare = partial(compared_with, base, kernel, inputs.features, heavy, worth=worth)
    if inputs.vectorizer is None:
        return compare()
    rng, size = keyed_generator(ENTROPY, _DEALT), max(inputs.corpus.texts.nbytes / max(len(inputs.corpus), 1), 1.0)
    encoded = any(isinstance(maker, MeaningInput) for maker in inputs.makers.values())
    few = compared_texts(len(heavy), size, encoded)
    if not encoded:
        again = replace(inputs, vectorizer=inputs.vectorizer.remembering())
        return replace(compare(partial(_dealt_anew, again)), most=few, wide=1.0)
    pool = _dealt_anew(inputs, np.resize(rng.permutation(heavy)[: DEALT * few], DEALT * few), rng)

    def draw(places: NDArray[np.intp], rng: np.random.Generator) -> Any:
        return take_rows(pool, rng.permutation(DEALT * few)[: len(places)])

    return replace(compare(draw), most=few, wide=((DEALT + 1) / (DEALT - 1)) ** 0.5)


def compared_texts(n: int, size: float, encoded: bool) -> int:
    """Return how many of n texts, of so many bytes on average, are compared with texts without groups."""
    return min(n, max(FEWEST, min(COMPARED, int((MOST_ONCE if encoded else MOST_DEALT) / max(size, 1.0)))))


def _dealt_anew(inputs: Inputs, places: NDArray[np.intp], rng: np.random.Generator) -> Any:
    """Return the features of documents at some places after the words of all of them were dealt at random."""
    assert inputs.vectorizer is not None
    texts = inputs.corpus.texts if inputs.prepared is None else inputs.prepared.texts
    corpus = Corpus(deal_words([texts[int(i)] for i in inputs.first[places]], rng))
    terms = check_matrix(inputs.vectorizer.transform(corpus), rows=0)
    if not isinstance(inputs.features, dict):
        return terms
    made = {name: maker.transform(corpus) for name, maker in inputs.makers.items() if isinstance(maker, MeaningInput)}
    others = {name: rows for name, rows in inputs.features.items() if name not in made}
    return {name: ungrouped(take_rows(rows, places), rng) for name, rows in others.items()} | {"terms": terms} | made


def _distinct(gram: Gram, inputs: Inputs) -> tuple[Gram, NDArray[np.intp]]:
    """Return the Gram of the distinct documents that have terms, without its shift, and their places."""
    heavy = np.flatnonzero(inputs.weights > 0)
    base, _ = gram.split_shift()
    return base if len(heavy) == len(base) else base.take(heavy), heavy


def _record(chosen: Chosen, scheme: str, words: str) -> Choice:
    """Return a choice of levels, or the check of a given k, as it is kept in a run."""
    seen, best = chosen.evidence, chosen.ks["middle"]
    if seen is None:
        return Choice(best, scheme, (), (), (), (), (), 0, None, words, (), chosen.verdict)
    ks, splits = tuple(seen.ks.tolist()), SPLITS
    ranking = tuple(ks[i] for i in np.argsort(-seen.merit, kind="stable"))
    plausible = () if scheme == GIVEN else tuple(seen.ks[seen.merit >= seen.merit.max() - seen.close].tolist())
    mean, error, expected = (numbers(values) for values in (seen.mean, seen.standard_error, seen.expected))
    return Choice(best, scheme, ks, mean, error, ranking, plausible, splits, None, words, expected, chosen.verdict)


def numbers(values: Array) -> tuple[float | None, ...]:
    """Return rounded numbers as a run keeps them; None for what is not finite."""
    return tuple(round(float(value), 6) if np.isfinite(value) else None for value in values)


def around(k: int, n: int) -> dict[str, int]:
    """Return the numbers of clusters of the levels around a given k, for n distinct documents."""
    found = {"middle": k}
    if n >= FEWEST and round(k / STEP) > 1:
        found["coarse"] = round(k / STEP)
    if k > 1 and n >= max(FEWEST, PER_CLUSTER * STEP * k):
        found["fine"] = STEP * k
    return found


def sizes_of_levels(n_clusters: Any) -> dict[str, int] | None:
    """Return the number of clusters of every level that was asked for; None where they are to be found.

    Examples
    --------
    >>> from grampus.documents.find.levels import sizes_of_levels
    >>> sizes_of_levels([5, 20, 80]), sizes_of_levels(8)
    ({'coarse': 5, 'middle': 20, 'fine': 80}, {'middle': 8})
    """
    if n_clusters is None:
        return None
    if isinstance(n_clusters, str):
        if n_clusters == "auto":
            return None
        raise InputError(f"n_clusters must be a whole number, a list of them or 'auto'; got {n_clusters!r}.")
    if not np.ndim(n_clusters):
        return {"middle": n_clusters}
    sizes = [check_integer(k, "n_clusters", low=2) for k in n_clusters]
    if not 2 <= len(sizes) <= len(LEVELS) or any(one >= other for one, other in pairwise(sizes)):
        raise InputError(f"Sizes of levels must be two to five rising numbers, such as 5, 20, 80; got {sizes}.")
    first = LEVELS.index("middle") - (len(sizes) - 1) // 2  # of two in the middle, the coarser
    return dict(zip(LEVELS[first:], sizes, strict=False))


def check_level(level: Any, n_clusters: Any) -> None:
    """Refuse a level that is none, or none of those whose sizes are asked for."""
    sizes = sizes_of_levels(n_clusters)
    known = sizes or LEVELS
    if level not in known:
        hint = f"; n_clusters={n_clusters!r} has no other. Give 'auto', or a list such as [5, 20, 80]" if sizes else ""
        raise InputError(f"level must be one of {', '.join(map(repr, known))}; got {level!r}{hint}.")


def neighbours(levels: Partitions, answer: str) -> dict[str, list[Any]]:
    """Return the partitions above and below one of the levels, the nearest first."""
    names = list(levels)
    place = names.index(answer)
    return {
        "above": [levels[name] for name in reversed(names[:place])],
        "below": [levels[name] for name in names[place + 1 :]],
    }
