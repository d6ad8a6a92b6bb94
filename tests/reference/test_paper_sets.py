"""The papers' sets have the sizes the papers give, where they are held exactly."""

from __future__ import annotations

import numpy as np
import pytest

from reproductions import data

needs_data = pytest.mark.usefixtures("corpora")


@needs_data
@pytest.mark.parametrize(
    ("name", "documents", "classes"),
    [
        ("bbc", 2225, 5),
        ("bbcsport", 737, 5),
        ("classic3", 3891, 3),
        ("ng3", 2900, 3),
        ("ng17-19", 2625, 3),
        ("cstr", 475, 4),
    ],
)
def test_sets_of_dominance(name, documents, classes):
    found = data.documents(name)
    assert found.x.shape[0] == len(found.labels) == documents
    assert found.k == classes


@needs_data
def test_sets_of_pddp():
    assert [(found := data.reut(n)).x.shape[0] for n in (1, 2, 3, 4)] == [840, 1000, 1200, 3034]
    assert found.k == 25


@needs_data
def test_strings_and_tables():
    found = data.strings()
    names, sizes = np.unique(found.labels, return_counts=True)
    assert dict(zip(names, sizes, strict=True)) == {"coffee": 112, "crude": 374, "interest": 271}
    assert data.table("segment").x.shape == (2310, 18)
    assert [data.table(name).k for name in data.TABLES] == [3, 8, 2, 10, 7]
    assert np.allclose(data.table("iris").x.std(axis=0), 1)


def test_missing_data_is_named(monkeypatch, tmp_path):
    monkeypatch.delenv("GRAMPUS_DATA", raising=False)
    with pytest.raises(data.MissingDataError, match="GRAMPUS_DATA names no folder"):
        data.source("iris.csv")
    monkeypatch.setenv("GRAMPUS_DATA", str(tmp_path))
    with pytest.raises(data.MissingDataError, match=r"r52_stemmed\.jsonl\.gz: Cardoso"):
        data.source("bbc.mtx.gz")
