"""The dynamic programme with NumPy: each pair once, along y in a loop over columns, along x in a loop over rows."""

import numpy as np


def prepare(inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
    return np.split(inputs["points"], inputs["ends"][:-1])


def similarity(x: np.ndarray, y: np.ndarray, length: int = 3, decay: float = 0.5) -> float:
    equal = x[:, None] == y[None, :]
    ended = np.where(equal, decay**2, 0.0)
    for _ in range(length - 1):
        sums = np.zeros((len(x) + 1, len(y) + 1))
        for j in range(1, len(y) + 1):
            sums[1:, j] = decay * sums[1:, j - 1] + ended[:, j - 1]
        for i in range(1, len(x) + 1):
            sums[i] += decay * sums[i - 1]
        ended = np.where(equal, decay**2 * sums[:-1, :-1], 0.0)
    return float(ended.sum())


def run(texts: list[np.ndarray]) -> dict[str, np.ndarray]:
    gram = np.zeros((len(texts), len(texts)))
    for i, x in enumerate(texts):
        for j in range(i, len(texts)):
            gram[i, j] = gram[j, i] = similarity(x, texts[j])
    return {"gram": gram}
