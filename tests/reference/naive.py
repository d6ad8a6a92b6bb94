"""Naive twins: every kernel and transform from its formula, entry by entry or with whole matrices.

A collection is a dense array. A twin carries three things through a chain: the matrix K of the fitted documents, the
block C of new against fitted ones, and the self-similarities d of the new ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass
class Twin:
    K: np.ndarray
    C: np.ndarray
    d: np.ndarray


def source(name: str, fitted: np.ndarray, new: np.ndarray, **parameters: float) -> Twin:
    """Evaluate a kernel on every pair, one at a time."""
    kernel = {
        "linear": lambda x, y: float(np.dot(x, y)),
        "polynomial": lambda x, y: float((np.dot(x, y) + parameters.get("coef0", 1)) ** parameters["degree"]),
        "gaussian": lambda x, y: math.exp(-parameters["rate"] * float(((x - y) ** 2).sum())),
        "distance": lambda x, y: float(((x - y) ** 2).sum()),
    }[name]
    pairs = lambda a, b: np.array([[kernel(x, y) for y in b] for x in a]).reshape(len(a), len(b))  # noqa: E731
    return Twin(pairs(fitted, fitted), pairs(new, fitted), np.array([kernel(x, x) for x in new]))


def shift(twin: Twin, sigma: float | str | None = None) -> Twin:
    if sigma is None:
        sigma = -np.trace(twin.K) / len(twin.K)
    elif sigma == "psd":
        sigma = max(0.0, -np.linalg.eigvalsh(twin.K).min())
    return Twin(twin.K + sigma * np.eye(len(twin.K)), twin.C, twin.d + sigma)


def power_mean(a: float, b: float, t: float) -> float:
    if t == 0:
        return math.sqrt(a * b)
    if math.isinf(t):
        return max(a, b)
    top = max(a, b)
    return top * (((a / top) ** t + (b / top) ** t) / 2) ** (1 / t) if top else 0.0


def normalise(twin: Twin, t: float = 0) -> Twin:
    own = twin.K.diagonal()

    def divide(K, left):
        return np.array(
            [
                [
                    K[i, j] / power_mean(left[i], own[j], t) if left[i] > 0 and own[j] > 0 else 0.0
                    for j in range(len(own))
                ]
                for i in range(len(left))
            ]
        ).reshape(K.shape)

    return Twin(divide(twin.K, own), divide(twin.C, twin.d), (twin.d > 0).astype(float))


def power(twin: Twin, p: float) -> Twin:
    return Twin(twin.K**p, twin.C**p, twin.d**p)


def centre(twin: Twin) -> Twin:
    n = len(twin.K)
    H = np.eye(n) - np.ones((n, n)) / n
    mean = twin.K.mean(axis=0)  # similarity of each fitted document to the mean
    C = twin.C - twin.C.mean(axis=1, keepdims=True) - mean + twin.K.mean()
    return Twin(H @ twin.K @ H, C, twin.d - 2 * twin.C.mean(axis=1) + twin.K.mean())


def unit_rows(A: np.ndarray) -> np.ndarray:
    norms = np.linalg.norm(A, axis=1, keepdims=True)
    return np.where(norms > 0, A / np.where(norms > 0, norms, 1), 0.0)


def map_(twin: Twin) -> Twin:
    R, N = unit_rows(twin.K), unit_rows(twin.C)
    return Twin(R @ R.T, N @ R.T, (N**2).sum(axis=1))


def principal(twin: Twin, rank: int) -> Twin:
    """Keep the largest positive eigenvalues, of a full decomposition."""
    values, vectors = np.linalg.eigh(twin.K)
    kept = [i for i in np.argsort(-values)[:rank] if values[i] > 1e-9 * values.max()]
    F, new = vectors[:, kept] * np.sqrt(values[kept]), twin.C @ vectors[:, kept] / np.sqrt(values[kept])
    for rows in (F, new):  # what is nothing but rounding is nothing
        rows[(rows**2).sum(axis=1) < 1e-20 * values.max()] = 0.0
    return Twin(F @ F.T, new @ F.T, (new**2).sum(axis=1))


def selftune(twin: Twin, p: int = 7) -> Twin:
    """`twin` holds squared distances."""
    widths = np.sqrt(np.sort(twin.K, axis=1)[:, p])
    smallest = widths[widths > 0].min() if (widths > 0).any() else 1.0
    widths = np.where(widths > 0, widths, smallest)
    new = np.sqrt(np.sort(twin.C, axis=1)[:, p - 1])
    new = np.where(new > 0, new, smallest)
    K = np.exp(-twin.K / np.outer(widths, widths))
    return Twin(K, np.exp(-twin.C / np.outer(new, widths)), np.ones(len(new)))


def nystrom(twin: Twin, landmarks, rank: int | None = None, rounding: float = 1e-11) -> Twin:
    """C W⁺ Cᵀ with the symmetric root of W⁺; of a rank, by the leading eigenvectors of the features."""
    values, vectors = np.linalg.eigh(twin.K[np.ix_(landmarks, landmarks)])
    inverse = np.array([v**-0.5 if v > rounding * abs(values).max() else 0.0 for v in values])
    root = vectors @ np.diag(inverse) @ vectors.T
    F, N = twin.K[:, landmarks] @ root, twin.C[:, landmarks] @ root
    if rank is not None:
        leading = np.linalg.eigh(F.T @ F)[1][:, -rank:]
        F, N = F @ leading, N @ leading
    return Twin(F @ F.T, N @ F.T, (N**2).sum(axis=1))


def objective(K: np.ndarray, labels) -> float:
    """Σ over documents of the squared distance to their centroid, straight from `dominance`, Eqn 3–4."""
    labels = np.asarray(labels)
    total = 0.0
    for i in range(len(K)):
        mates = np.flatnonzero(labels == labels[i])
        total += K[i, i] + K[np.ix_(mates, mates)].sum() / len(mates) ** 2 - 2 * K[i, mates].sum() / len(mates)
    return total
