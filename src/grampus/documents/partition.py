"""A partition of the distinct documents, with its inputs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..gram import Gram
from ..persist import Choice
from .inputs import Inputs
from .levels import Partitions
from .methods import Found
from .predict import Predictor


@dataclass(frozen=True)
class Partition:
    """Distinct documents and their clusters; `notes` collects remarks for the reader.

    Attributes
    ----------
    inputs : Inputs
    gram : Gram
    labels : array of shape (m,)
        Clusters of the distinct documents, the largest first; −1 for none.
    levels : dict of str to array of shape (m,)
        The partition of every level, from coarse to fine.
    answer : str
        The level of `labels`.
    found : Found
        The result of the method.
    predictor : Predictor
    choice : Choice or None
    seed : int
    notes : list of str
    """

    inputs: Inputs
    gram: Gram
    labels: NDArray[np.intp]
    levels: Partitions
    answer: str
    found: Found
    predictor: Predictor
    choice: Choice | None
    seed: int
    notes: list[str]
