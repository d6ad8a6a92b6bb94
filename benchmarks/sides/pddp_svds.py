"""The peer: what one would write with SciPy, a loop of svds on the centred operator of the node's sparse rows."""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, svds


def prepare(inputs: dict[str, np.ndarray]) -> tuple[sp.csr_array, int]:
    parts = (inputs["data"], inputs["indices"], inputs["indptr"])
    return sp.csr_array(parts, shape=tuple(inputs["shape"])), int(inputs["k"])


def first_component(x: sp.csr_array) -> np.ndarray:
    mean, columns = np.asarray(x.mean(axis=0)).ravel(), x.T
    centred = LinearOperator(
        x.shape,
        matvec=lambda v: x @ v.ravel() - mean @ v.ravel(),
        rmatvec=lambda w: columns @ w.ravel() - mean * w.sum(),
        dtype=np.float64,
    )
    start = np.random.default_rng(0).standard_normal(min(x.shape))
    return svds(centred, k=1, tol=1e-10, v0=start)[0][:, 0]


def scatter(x: sp.csr_array) -> float:
    total = np.asarray(x.sum(axis=0)).ravel()
    return float((x.data**2).sum() - total @ total / x.shape[0])


def run(state: tuple[sp.csr_array, int]) -> dict[str, np.ndarray]:
    x, k = state
    leaves, scatters = [np.arange(x.shape[0])], [scatter(x)]
    while len(leaves) < k:
        worst = int(np.argmax(scatters))
        members = leaves.pop(worst)
        scatters.pop(worst)
        component = first_component(x[members])
        for part in (members[component <= 0], members[component > 0]):
            leaves.append(part)
            scatters.append(scatter(x[part]))
    labels = np.empty(x.shape[0], dtype=np.int64)
    for number, members in enumerate(leaves):
        labels[members] = number
    return {"labels": labels}
