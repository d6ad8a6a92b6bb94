"""Kernel k-means on the papers' corpora: samples of what `make verify` measures in full."""

from __future__ import annotations

import pytest

from verify import issue_04_kmeans


@pytest.mark.corpus
def test_mean_nmi_is_near_the_published_one(corpora, monkeypatch):
    monkeypatch.setenv("GRAMPUS_DATA", str(corpora))
    for column, (ours, published) in issue_04_kmeans.mean_nmi("bbcsport", 40).items():
        assert ours == pytest.approx(published, abs=0.06), column  # 40 starts instead of 250


@pytest.mark.corpus
def test_a_dominant_diagonal_freezes_plain_starts(corpora, monkeypatch):
    monkeypatch.setenv("GRAMPUS_DATA", str(corpora))
    found = issue_04_kmeans.freezing()
    assert found["plain"]["iterations"] <= 3
    assert found["shift"]["moves"] > 5 * found["plain"]["moves"]
