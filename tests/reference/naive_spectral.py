"""Spectral embeddings written as the textbook has them, on dense matrices."""

from __future__ import annotations

import numpy as np


def neighbour_graph(matrix: np.ndarray, neighbours: int) -> np.ndarray:
    """Keep K_ij if j is among the nearest of i or i among those of j; the first of equals; never oneself."""
    n = len(matrix)
    kept = np.zeros((n, n), dtype=bool)
    for i in range(n):
        others = sorted((j for j in range(n) if j != i), key=lambda j: (-round(matrix[i, j], 11), j))
        kept[i, others[:neighbours]] = True
    return np.where((kept | kept.T) & (matrix > 0), matrix, 0.0)


def embedding(
    matrix: np.ndarray, count: int, laplacian: str, *, loops: bool = False, neighbours: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the smallest eigenvalues of the Laplacian and the coordinates, for a connected graph."""
    weights = np.maximum(matrix, 0.0)
    if neighbours is not None:
        weights = neighbour_graph(weights, neighbours)
    np.fill_diagonal(weights, matrix.diagonal() if loops else 0.0)
    degree = weights.sum(axis=1)
    if laplacian == "unnormalised":
        values, vectors = np.linalg.eigh(np.diag(degree) - weights)
        return values[:count], vectors[:, :count]
    root = 1.0 / np.sqrt(degree)
    values, vectors = np.linalg.eigh(np.eye(len(matrix)) - root[:, None] * weights * root)
    vectors = vectors[:, :count]
    if laplacian == "symmetric":
        return values[:count], vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return values[:count], root[:, None] * vectors
