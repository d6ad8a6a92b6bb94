"""Kernel k-means on the papers' corpora."""

import numpy as np
import pytest

from grampus.cluster import kernel_kmeans
from grampus.kernels import parse_kernel
from grampus.metrics import nmi
from lab import data
from lab.papers.dominance import COLUMNS, PRINTED


@pytest.mark.corpus
def test_mean_nmi_is_near_the_published_one(corpora, monkeypatch):
    monkeypatch.setenv("GRAMPUS_DATA", str(corpora))
    found = data.documents("bbcsport")
    for column in ("orig", "DS", "DSM", "AA", "p=0.6"):
        kernel, adjusted = COLUMNS[column]
        rule = "adjusted" if adjusted else "plain"
        runs = kernel_kmeans(parse_kernel(kernel).gram(found.x), 5, n_init=40, rule=rule, random_state=0).runs
        ours = np.mean([nmi(found.labels, run) for run in runs.labels])
        published = PRINTED["table2"]["bbcsport"][list(COLUMNS).index(column)]
        assert ours == pytest.approx(published, abs=0.06), column  # 40 starts instead of 250


@pytest.mark.corpus
def test_a_dominant_diagonal_freezes_plain_starts(corpora, monkeypatch):
    """20 acq and 20 crude documents: plain starts stop after about 3 iterations, shifted ones after 12."""
    monkeypatch.setenv("GRAMPUS_DATA", str(corpora))
    words, labels = data.texts("r52_raw_9052", ("acq", "crude"))
    texts = [words[i] for name in ("acq", "crude") for i in np.flatnonzero(labels == name)[:20]]
    moves = {}
    for kernel in ("spectrum(4)|normalise", "spectrum(4)|normalise|shift"):
        runs = kernel_kmeans(parse_kernel(kernel).gram(texts), 2, n_init=250, random_state=0).runs
        moves[kernel] = [history.moves for history in runs.histories]
    plain, shifted = moves.values()
    iterations = [np.mean([np.count_nonzero(run) for run in runs]) for runs in (plain, shifted)]
    assert iterations[0] <= 3
    assert iterations[0] < iterations[1] / 3
    assert np.mean([run.sum() for run in shifted]) > 5 * np.mean([run.sum() for run in plain])
