"""Results of choosing k: scores, what they rest on, and how far to trust them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from .._array import Array
from .._check import check_number
from .._draw import Drawable
from .._frame import data_frame
from ..errors import InputError
from .prototypes import Reduction

LEVEL = 0.05  # of every test here
PERFECT = 0.98  # mean scores from which on values of k are equal: one document of a cluster, in every third split
_BAR = 24
_ROWS = 14  # of a chart at most
_MOST = 2.0 / 3.0  # of the splits a winner must win to be called separated


@dataclass(frozen=True)
class Contest:
    """The winner against another value of k, over the same splits.

    Attributes
    ----------
    winner, other : int
        Values of k.
    difference : float
        Mean of the paired differences of their scores.
    standard_error : float
        Its standard error over the splits alone: whether more splits would turn the order.
    wins : float
        Share of the splits on which the winner scores higher; ties count half.
    p_value : float
        One-sided, of the paired t-test over the splits. It holds for other splits of this collection, not for other
        collections: splits overlap (Nadeau & Bengio 2003).

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.select import Contest
    >>> rng = np.random.default_rng(0)
    >>> Contest.of(3, 4, np.full(50, 0.9), 0.5 + 0.1 * rng.normal(size=50)).separated
    True
    """

    winner: int
    other: int
    difference: float
    standard_error: float
    wins: float
    p_value: float

    @classmethod
    def of(cls, winner: int, other: int, scores: Array, others: Array) -> Contest:
        """Compare two columns of scores."""
        differences = scores - others
        count, mean = len(differences), float(differences.mean())
        spread = float(differences.std(ddof=1)) if count > 1 else np.inf
        wins = float((differences > 0).mean() + 0.5 * (differences == 0).mean())
        if spread == 0.0:
            p_value = 0.0 if mean > 0 else 0.5
        else:
            p_value = float(special.stdtr(max(count - 1, 1), -mean / (spread / np.sqrt(count))))
        return cls(winner, other, mean, spread / np.sqrt(count), wins, p_value)

    @property
    def separated(self) -> bool:
        """Whether the winner is better: at the 5 % level on average, and on at least two thirds of the splits."""
        return self.p_value <= LEVEL and self.wins >= _MOST


@dataclass(frozen=True)
class NullTest:
    """Whether the documents predict each other better than a single cloud of the same spectrum does.

    Attributes
    ----------
    p_value : float
        Share of reference draws, the documents among them, that do as well as the documents.
    statistic : float
        Largest excess over k of the documents' score, in standard deviations of all sets.
    reference_mean, reference_sd : array of shape (ks,)
        Scores of the draws at each k: adjusted Rand indices of clusterings and predictions.
    observed : array of shape (ks,)
        The documents' scores on the same number of splits and documents.
    n_draws, n_splits, n_documents : int
        How many reference sets, splits of each, and documents in each.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus import choose_k
    >>> from grampus.select import Splits
    >>> X = np.random.default_rng(0).normal(size=(150, 4))
    >>> choose_k(X, kernel="linear", ks=range(2, 5), scheme="KKM-S", splits=Splits(20), random_state=0).null.structure
    False
    """

    p_value: float
    statistic: float
    reference_mean: Array
    reference_sd: Array
    observed: Array
    n_draws: int
    n_splits: int
    n_documents: int

    @property
    def structure(self) -> bool:
        """Whether the single cloud is rejected at the 5 % level."""
        return self.p_value <= LEVEL


class Score(NamedTuple):
    """One row of the chart of k; see `score_rows`.

    Examples
    --------
    >>> from grampus.select import Score
    >>> Score(3, 0.9, 0.01, "chosen", "").k
    3
    """

    k: int
    mean: float | None
    error: float | None
    """Standard error of the mean; None for a single split."""
    standing: str
    """"chosen", "highest" (where one cloud was not rejected), "close" or ""."""
    note: str
    expected: float | None = None
    """Score of data without groups; None if that was not measured."""


def score_rows(choice: Any) -> list[Score]:
    """Return the rows that every chart of k shows.

    Parameters
    ----------
    choice : Selection or Choice
        Or anything with ``ks``, ``mean``, ``standard_error``, ``best``, ``ranking`` and ``plausible``.

    Examples
    --------
    >>> from grampus.persist import Choice
    >>> from grampus.select import score_rows
    >>> [row[:4] for row in score_rows(Choice(2, "RED-S", (2, 3), (0.9, 0.4), (0.1, None), (2, 3), (2, 3), 20))]
    [(2, 0.9, 0.1, 'chosen'), (3, 0.4, None, 'close')]
    """
    runs, without = getattr(choice, "degenerate", None), getattr(choice, "expected", ())
    levels, rows = bool(getattr(choice, "answer", "")), []
    for i, (k, mean, error) in enumerate(zip(choice.ks, choice.mean, choice.standard_error, strict=True)):
        highest = k == choice.ranking[0] and not levels
        close = "highest" if highest else "close" if k in choice.plausible and not levels else ""
        standing, expected = "chosen" if k == choice.best else close, without[i] if without else None
        note = f"{runs[i]} of {2 * choice.n_splits} runs degenerate" if runs is not None and runs[i] else ""
        rows.append(Score(k, _finite(mean), _finite(error), standing, note, expected))
    return rows


def _finite(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else float(value)


def score_chart(choice: Any) -> str:
    """Return the scores as bars, one line for each k.

    Parameters
    ----------
    choice : Selection or Choice
        What `score_rows` takes.

    Examples
    --------
    >>> from grampus.persist import Choice
    >>> from grampus.select import score_chart
    >>> print(score_chart(Choice(2, "RED-S", (2, 3), (0.9, 0.45), (0.01, 0.02), (2, 3), (2,), 20)))
      k  score
      2  0.900 ± 0.010  ██████████████████████    ◀ chosen
      3  0.450 ± 0.020  ███████████

    Bars are as long as the scores, from 0 to 1; a line marks the score of data without groups where that is known.
    Of many values, those around the chosen one and some of the others are shown.
    """
    rows = _shown(score_rows(choice))
    lines = ["  k  score"]
    for row in rows:
        if row.mean is None:
            lines.append(f"{row.k:3d}  –")
            continue
        bar = "█" * round(_BAR * min(max(row.mean, 0.0), 1.0))
        if row.expected is not None:
            column = min(round(_BAR * max(row.expected, 0.0)), _BAR - 1)
            bar = f"{bar:<{_BAR}}"[:column] + "│" + f"{bar:<{_BAR}}"[column + 1 :]
        spread = "" if row.error is None else f" ± {row.error:.3f}"
        mark = "◀ chosen" if row.standing == "chosen" else row.standing
        notes = ", ".join(part for part in (mark, row.note) if part)
        lines.append(f"{row.k:3d}  {row.mean:.3f}{spread}  {bar:<{_BAR}}  {notes}".rstrip())
    return "\n".join(lines)


def _shown(rows: list[Score]) -> list[Score]:
    """Leave out some of many rows: all up to 8, then about every second; the chosen one and its neighbours stay."""
    if len(rows) <= _ROWS:
        return rows
    chosen = next((place for place, row in enumerate(rows) if row.standing == "chosen"), 0)
    evenly = {round(place) for place in np.linspace(0, len(rows) - 1, _ROWS - 3)}
    kept = sorted(evenly | {min(max(chosen + step, 0), len(rows) - 1) for step in (-1, 0, 1)})
    return [rows[place] for place in kept]


def explain_choice(choice: Any) -> str:
    """Return in one sentence which k the splits favour and which they cannot rule out.

    Parameters
    ----------
    choice : Selection or Choice
        What `score_rows` takes, with ``n_splits``.

    Examples
    --------
    >>> from grampus.persist import Choice
    >>> from grampus.select import explain_choice
    >>> explain_choice(Choice(2, "RED-S", (2, 3), (0.9, 0.45), (0.01, 0.02), (2, 3), (2,), 20))[-30:]
    '; no other number comes close.'
    """
    if getattr(choice, "answer", ""):
        return str(choice.verdict)
    first, ks = choice.ranking[0], choice.ks
    tried = f"{choice.n_splits} random halvings of the documents, {ks[0]} to {ks[-1]} clusters tried"
    found = f"{first} {'cluster agrees' if first == 1 else 'clusters agree'} best between halves ({tried})"
    others = [k for k in choice.plausible if k != first]
    if not others:
        return f"{found}; no other number comes close."
    return f"{found}, but {_ranges(others)} cannot be ruled out: the data do not settle the number."


def _ranges(values: list[int]) -> str:
    """Return numbers in words, consecutive ones as a range: 2, 4 to 7 and 9."""
    runs: list[list[int]] = []
    for value in sorted(values):
        if runs and value == runs[-1][-1] + 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    words = [[f"{run[0]} to {run[-1]}"] if len(run) > 2 else map(str, run) for run in runs]
    return join_words([word for part in words for word in part])


def join_words(words: Sequence[str]) -> str:
    """Return words as an enumeration: a, b and c."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


@dataclass(frozen=True)
class Selection(Drawable):
    """How many clusters, and what the answer rests on.

    Attributes
    ----------
    best : int
        The first of the ranking, or 1 if the null was not rejected.
    ks : tuple of int
        The values tried, rising.
    ranking : tuple of int
        The same, highest mean score first; of equals the larger k. Scores of 0.98 and more are equal: nearly perfect.
    scores : array of shape (splits, ks)
        Score of every split at every k, the mean of both directions; corrected for chance but for KM-P.
    strength : array of shape (splits, ks)
        The same before the correction.
    chance, chance_error : array of shape (ks,)
        The expected score of random partitions, and its standard error (`CHANCE_PAIRS` pairs).
    degenerate : array of shape (ks,)
        In how many of the 2 · splits runs a cluster had fewer than two documents.
    null : NullTest or None
        The comparison with a single cloud; None with ``null=False``.
    scheme, kernel : str
        The scheme that ran ("auto" is never one), and the kernel it ran on.
    reduction : Reduction or None
        The prototypes of RED-S, in the order of the documents given.
    n_splits : int
    seed : tuple of int
        What fixed everything random.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus import choose_k
    >>> from grampus.select import Splits
    >>> rng = np.random.default_rng(0)
    >>> X = np.repeat(np.eye(3) * 9, 40, axis=0) + rng.normal(size=(120, 3))
    >>> selection = choose_k(X, kernel="linear", ks=range(2, 6), scheme="KKM-S", splits=Splits(20), random_state=0)
    >>> selection.best, selection.ranking[0], selection.scores.shape
    (3, 3, (20, 4))
    """

    ks: tuple[int, ...]
    scores: Array
    strength: Array
    chance: Array
    chance_error: Array
    degenerate: NDArray[np.int64]
    null: NullTest | None
    scheme: str
    kernel: str
    seed: tuple[int, ...]
    reduction: Reduction | None = field(default=None, repr=False)

    @property
    def n_splits(self) -> int:
        """τ, how many splits were made."""
        return len(self.scores)

    @property
    def mean(self) -> Array:
        """Mean score of every k."""
        return np.asarray(self.scores.mean(axis=0))

    @property
    def standard_error(self) -> Array:
        """Standard error of the mean over the splits; NaN for a single split."""
        if self.n_splits < 2:
            return np.full(len(self.ks), np.nan)
        return np.asarray(self.scores.std(axis=0, ddof=1) / np.sqrt(self.n_splits))

    @property
    def ranking(self) -> tuple[int, ...]:
        """The values of k, highest mean score first; of equals the larger k, as in Tibshirani's rule.

        Nearly perfect scores, of 0.98 and more, are equal. Where clusters lie well apart, some of them as one are as
        easy to predict, and a document on a border must not decide.
        """
        return tuple(self.ks[i] for i in np.lexsort((-np.array(self.ks), -np.minimum(self.mean, PERFECT).round(9))))

    @property
    def structure(self) -> bool | None:
        """Whether there are any groups; None with ``null=False``."""
        return None if self.null is None else self.null.structure

    @property
    def best(self) -> int:
        """The chosen k: the first of the ranking, or 1 if a single cloud was not rejected."""
        return 1 if self.structure is False else self.ranking[0]

    def contest(self, k: int) -> Contest:
        """Return the comparison of the first of the ranking with another k."""
        if k not in self.ks:
            raise InputError(f"k must be one of {self.ks}; got {k!r}.")
        first = self.ranking[0]
        return Contest.of(first, k, self.scores[:, self.ks.index(first)], self.scores[:, self.ks.index(k)])

    @property
    def runner_up(self) -> Contest | None:
        """The comparison of the first of the ranking with the second; None if one k was tried."""
        return self.contest(self.ranking[1]) if len(self.ks) > 1 else None

    @property
    def close(self) -> tuple[int, ...]:
        """Values of k that are not separated from the first of the ranking, best first; see `Contest.separated`."""
        return tuple(k for k in self.ranking[1:] if not self.contest(k).separated)

    @property
    def plausible(self) -> tuple[int, ...]:
        """The first of the ranking and the values close to it, rising."""
        return tuple(sorted((self.ranking[0], *self.close)))

    @property
    def confidence(self) -> str:
        """How far to believe the choice, in words."""
        first = self.ranking[0]
        index = self.ks.index(first)
        score, error = self.mean[index], self.standard_error[index]
        spread = f" ± {error:.2f}" if np.isfinite(error) else ""  # a single split has none
        words = [explain_choice(self), f"The score of k = {first} is {score:.2f}{spread}."]
        perfect = [str(k) for k, mean in zip(self.ks, self.mean, strict=True) if k != first and mean >= PERFECT]
        contest = self.runner_up
        if perfect:
            words.append(f"k = {join_words(perfect)} also predicts nearly perfectly; the largest such k is chosen.")
        elif contest is not None:
            words.append(
                f"The runner-up, k = {contest.other}, is {contest.difference:.2f} lower and loses on "
                f"{100 * contest.wins:.0f} % of the splits: {'' if contest.separated else 'not '}separated (paired "
                f"t-test, p = {contest.p_value:.2g})."
            )
        if self.null is not None:
            than = "better than" if self.null.structure else "no better than"
            words.append(
                f"The documents predict each other {than} a single cloud of the same spectrum (p = "
                f"{self.null.p_value:.2g}, {self.null.n_draws} draws)" + ("." if self.null.structure else ": k = 1.")
            )
        return " ".join(words)

    def threshold_rule(self, threshold: float = 0.8) -> int:
        """Return Tibshirani's choice: the largest k whose uncorrected strength plus standard error reaches a threshold.

        Tibshirani & Walther (2005) use 0.8 to 0.9; 1 if no k reaches it.
        """
        threshold = check_number(threshold, "threshold", low=0.0, high=1.0)
        error = self.strength.std(axis=0, ddof=1) / np.sqrt(self.n_splits) if self.n_splits > 1 else 0.0
        reached = np.flatnonzero(self.strength.mean(axis=0) + error >= threshold)
        return self.ks[int(reached[-1])] if len(reached) else 1

    def to_frame(self) -> Any:
        """Return one row for each k as a pandas DataFrame; pandas is an extra (``grampus[frames]``)."""
        table = {
            "score": self.mean,
            "standard_error": self.standard_error,
            "strength": self.strength.mean(axis=0),
            "chance": self.chance,
            "degenerate": self.degenerate,
            "rank": [self.ranking.index(k) + 1 for k in self.ks],
            "close": [k == self.ranking[0] or k in self.close for k in self.ks],
        }
        return data_frame(table, self.ks, "k")

    def chart(self) -> str:
        """Return the scores as bars, one line for each k."""
        return score_chart(self)

    def __str__(self) -> str:
        head = f"{self.scheme} on {self.kernel}: k = {self.best}"
        if self.best == 1:
            head += " (no structure)"
        return f"{head}\n{self.chart()}\n{self.confidence}"
