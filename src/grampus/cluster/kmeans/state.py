"""The rules of assignment, and the records of finished runs."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ... import _native
from ..._check import check_choice
from ..results import History, Outcome, Runs

Labels = NDArray[np.int32]
# Two distances that differ by less than this share of their size are a tie, whatever order they were summed in.
TIE = 1e-12
TWO_CYCLES = 5  # consecutive ones end a run (`dominance`, §4)
JOINS = _native.JOINS  # the label of a document that is to join the nearest of those that have one


@dataclass(frozen=True)
class Rule:
    """How documents are assigned.

    Attributes
    ----------
    adjusted : bool
        Leave-one-out distances (`dominance`, Eqn 12) instead of plain ones (Eqn 4).
    tolerance : float
        Distances that differ by no more than this share of K_ii + ‖μ_c‖², c the nearest cluster, are a tie. The lowest
        cluster number wins, so that equal documents end up together; with `adjusted`, a document stays unless another
        cluster is nearer (Eqn 12).
    shift : float
        The trailing shift σ of the Gram. Sums are those of the unshifted Gram, which keeps objectives comparable and
        allows a stored matrix to be used as it is; σ enters where distances are computed.
    spherical : bool
        Assign to the centroid with the largest cosine, x·μ_c/‖μ_c‖, instead of the nearest one: k-means as
        `validation` runs it on texts (KM-S, KM-P). Only without shift and `adjusted`.
    centroid : float
        Weight of ‖μ_c‖² in a distance, above 0 and at most 1: 1 as in Eqn 4, ½ when every pair of a cluster counts
        once.
    """

    adjusted: bool = False
    tolerance: float = TIE
    shift: float = 0.0
    spherical: bool = False
    centroid: float = 1.0


RULES = {
    "plain": Rule(),  # `dominance`, Eqn 4
    "adjusted": Rule(adjusted=True),  # AA, `dominance`, Eqn 12
    "cosine": Rule(spherical=True),  # KM-S and KM-P, `validation`, §4
}


def check_rule(name: Any) -> Rule:
    """Return a rule of the table by its name."""
    return RULES[check_choice(name, "rule", RULES)]


@dataclass(frozen=True)
class Finished:
    """One finished start."""

    index: int
    labels: Labels
    predicted: Labels
    objective: float
    outcome: Outcome
    history: History


class Engine(Protocol):
    """What runs partitions of the documents it was made for."""

    def bytes_per_start(self, k: int) -> int:
        """Return the memory of one start."""

    def run(self, starts: Labels, k: int, rule: Rule, max_iter: int, threads: int | None) -> Iterator[Finished]:
        """Run every start (starts, n) until it stops; yield each when it does."""


def gather(finished: list[Finished]) -> Runs:
    """Sort finished runs into the order of their starts."""
    ordered = sorted(finished, key=lambda run: run.index)
    return Runs(
        labels=np.array([run.labels for run in ordered], dtype=np.intp),
        objective=np.array([run.objective for run in ordered]),
        n_iter=np.array([len(run.history.moves) for run in ordered], dtype=np.intp),
        outcomes=tuple(run.outcome for run in ordered),
        histories=tuple(run.history for run in ordered),
    )
