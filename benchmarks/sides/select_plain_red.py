"""What a careful user writes with NumPy: the prototypes, then the same loop on them.

The reduction is done once for all splits; its time is multiplied by the extrapolation like the rest, so it is repeated
here only for its share of the splits.
"""

import runpy
import time
from pathlib import Path

import numpy as np

plain = runpy.run_path(str(Path(__file__).with_name("select_plain_kkm.py")))
prepare, RATE, NEIGHBOURS = plain["prepare"], 4, 5


def reduce(matrix: np.ndarray) -> np.ndarray:
    n = len(matrix)
    near = matrix.copy()
    np.fill_diagonal(near, np.inf)
    members = np.argpartition(-near, NEIGHBOURS, axis=1)[:, : NEIGHBOURS + 1]
    compact = np.array([matrix[np.ix_(m, m)].mean() for m in members])
    chosen = members[np.argsort(-compact, kind="stable")[RATE - 1 :: RATE][: n // RATE]]
    average = np.zeros((len(chosen), n))
    np.put_along_axis(average, chosen, 1 / (NEIGHBOURS + 1), axis=1)
    return average @ matrix @ average.T


def run(matrix: np.ndarray) -> dict[str, np.ndarray]:
    began = time.perf_counter()
    reduced = reduce(matrix)
    seconds = time.perf_counter() - began
    return {**plain["select"](reduced, plain["SPLITS"]), "reduction": np.array(seconds)}
