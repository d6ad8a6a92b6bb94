"""The order of rows changes no label, on symmetric data too, where everything ties."""

import warnings

import numpy as np
import pytest

from grampus import PDDP, BisectingKernelKMeans, KernelKMeans, KernelPCAKMeans, SpectralKMeans

ANGLES = 2 * np.pi * np.arange(24) / 24
DATA = {
    "eye": np.eye(24),
    "circle": np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1),
    "line": np.arange(64.0)[:, None],
    "copies": np.repeat(np.eye(6), 4, axis=0),
}
MODELS = {
    "shift": ("eye circle line copies", lambda kernel: KernelKMeans(4, kernel=kernel + "|shift", random_state=0)),
    "polish": ("eye circle line copies", lambda kernel: KernelKMeans(4, kernel=kernel, polish=True, random_state=0)),
    "adjusted": (
        "eye circle line copies",
        lambda kernel: KernelKMeans(4, kernel=kernel, rule="adjusted", random_state=0),
    ),
    "plus": ("eye circle line copies", lambda kernel: KernelKMeans(4, kernel=kernel, init="k-means++", random_state=0)),
    "pddp": ("eye circle line copies", lambda kernel: PDDP(4, kernel=kernel)),
    "pddp full": ("eye circle line", lambda kernel: PDDP(4, kernel=kernel, cut="full", refine=True, n_components=2)),
    "bisecting": ("eye circle line copies", lambda kernel: BisectingKernelKMeans(4, kernel=kernel, random_state=0)),
    "kernel-pca": ("eye circle line copies", lambda kernel: KernelPCAKMeans(4, kernel=kernel, random_state=0)),
    "spectral": ("circle line", lambda kernel: SpectralKMeans(4, kernel=kernel, random_state=0)),
    "neighbours": ("circle line", lambda kernel: SpectralKMeans(4, kernel=kernel, n_neighbors=4, random_state=0)),
}
KERNELS = (
    "cosine", "gaussian(1)", "linear|principal(3)", "gaussian(1)|nystrom(8)", "gaussian(1)|centre", "gaussian(1)|map",
)  # fmt: skip
# Of every three cases one, so that every two of model, data and kernel meet.
CASES = [
    (model, data, kernel)
    for i, (model, (suits, _)) in enumerate(MODELS.items())
    for j, data in enumerate(DATA)
    for kernel in KERNELS[-(i + j) % 3 :: 3]
    if data in suits
    and not (data == "line" and kernel == "cosine")  # every cosine is 1
    and not (model in ("spectral", "neighbours") and kernel in ("cosine", "linear|principal(3)"))  # negative links
]


@pytest.mark.parametrize(("model", "data", "kernel"), CASES)
def test_the_order_of_rows_changes_no_label(model, data, kernel):
    x, make = DATA[data], MODELS[model][1]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Only . of . clusters|The graph has|.*similarities are negative|The links of")
        expected = make(kernel).fit(x).labels_
        for seed in range(5):
            order = np.random.default_rng(seed).permutation(len(x))
            found = make(kernel).fit(x[order]).labels_
            np.testing.assert_array_equal(found, expected[order])
    assert len(np.unique(expected)) > 1
