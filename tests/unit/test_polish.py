"""Single moves after convergence: they end, they lower the objective, and rounding is no gain."""

import numpy as np
import pytest

from grampus import DocumentClusterer
from grampus.cluster.kmeans import polish
from grampus.cluster.kmeans.polish import MOST, polish_labels
from grampus.documents import Effort
from grampus.gram import DenseGram, LinearGram, objective


@pytest.fixture
def moves(monkeypatch):
    """Count the moves, and fail instead of running for ever."""
    made = []
    apply = polish._Walk.apply

    def counted(walk, document, cluster):
        made.append(document)
        assert len(made) <= MOST * len(walk.labels), "the moves do not end"
        apply(walk, document, cluster)

    monkeypatch.setattr(polish._Walk, "apply", counted)
    return made


def test_a_high_power_of_a_cosine_ends(moves):
    lines = [f"{'bird nest egg' if i % 2 else 'whale sea song'} {i}" for i in range(12)]
    model = DocumentClusterer(2, kernel="cosine|power(1000000)", effort=Effort(stability=False), random_state=0).fit(
        lines
    )
    assert len(np.unique(model.labels_)) == 2


def test_near_copies_in_float32_end(moves):
    rng = np.random.default_rng(0)
    rng.random((200, 5)), rng.standard_normal((100, 5))
    x = rng.random((60, 300)).astype("float32")
    x[30:] = x[:30] + np.float64(1e-7) * rng.standard_normal((30, 300)).astype("float32")
    model = DocumentClusterer(5, kernel="cosine|power(50)", effort=Effort(stability=False), random_state=0).fit(x)
    assert len(np.unique(model.labels_)) == 5


class Noisy(DenseGram):
    """Single rows claim to be more similar to the second half than products know."""

    def _block(self, rows, cols):
        block = super()._block(rows, cols)
        return block if len(block) > 1 else block + 1e-3 * np.sign(np.arange(len(self)) - len(self) / 2)[None, cols]


def test_gains_that_are_rounding_are_taken_back(moves):
    x = np.random.default_rng(0).standard_normal((40, 3))
    gram = Noisy(x @ x.T)
    start = np.arange(40) % 3
    labels, gain = polish_labels(gram, gram.diagonal(), start, 3, np.ones(40), 1e-12)
    assert gain > 0
    assert objective(gram, start) - objective(gram, labels) == pytest.approx(gain)


def test_long_walks_are_checked_on_the_way_and_end_in_a_local_optimum(moves):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((50, 2)) + 4 * rng.integers(0, 3, (50, 2))
    gram, start = LinearGram(x), rng.integers(0, 9, 50)
    labels, gain = polish_labels(gram, gram.diagonal(), start, 9, np.ones(50), 1e-10)
    assert len(moves) > 50
    assert objective(gram, start) - objective(gram, labels) == pytest.approx(gain)
    for document in range(50):
        for cluster in range(9):
            other = labels.copy()
            other[document] = cluster
            if len(np.unique(other)) == len(np.unique(labels)):
                assert objective(gram, other) >= objective(gram, labels) - 1e-9
