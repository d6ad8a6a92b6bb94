"""The papers' sets have the sizes the papers give, where they are held exactly."""

from __future__ import annotations

import numpy as np
import pytest

from grampus.gram import LinearGram
from reproductions import data, dominance, protocol, search, shares, terms

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


# -- terms as the first two papers made them


def test_words_are_runs_without_hyphens_and_full_stops():
    text = "A 16-year-old's £2.5m U.S. deal, 100,000 in all: I don't"
    assert terms.words(text) == ["16yearold", "£25m", "us", "deal", "100", "000", "in", "all", "don"]


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("possibly", "possibl"),  # the original rules say possibli
        ("technology", "technolog"),
        ("technologies", "technolog"),
        ("trilogy", "trilogi"),  # too short a stem for that rule
        ("friday", "fridai"),
        ("running", "run"),
        ("us", "us"),
        ("as", "as"),
    ],
)
def test_stems_are_those_of_porters_program(word, stem):
    assert terms.stem(word) == stem


@needs_data
def test_recovered_terms_are_those_published():
    seen = terms.differences()
    assert (seen["common"], seen["missing"], seen["added"]) == (9635, 0, 1)
    assert seen["same"] >= 9610
    assert {"the", "said", "new", "mr"} <= terms.stop_words()
    assert not {"two", "first"} & terms.stop_words()
    counts, _ = protocol.counted("bbcsport", "recovered", "kept")
    assert counts.shape == (737, 4613)  # as published, for a set the rules were not made from


def test_headers_are_cut():
    post = "From: someone\nSubject: tides\nLines: 2\n\nThe sea\n\nrises"
    assert protocol.beheaded(post, ()) == "The sea\n\nrises"
    assert protocol.beheaded(post, ("from:", "subject:")) == "From: someone\nSubject: tides\nThe sea\n\nrises"


def test_weights_by_hand():
    import scipy.sparse as sp

    counts = sp.csr_array(np.array([[1.0, 4.0], [0.0, 1.0], [0.0, 2.0]]))
    found = protocol.weighted(counts, "(1+log2 tf) · (1+log10(n/df))").toarray()
    assert np.allclose(found, [[1 + np.log10(3), 3], [0, 1], [0, 2]])


def test_starts_from_documents_put_each_to_the_most_similar():
    gram = LinearGram(np.repeat(np.eye(3), 4, axis=0))
    setting = protocol.Setting("recovered", "kept", "tf · ln(n/df)", "documents", "ten iterations")
    how = setting.starts(gram, 2, 5, seed=0)
    assert how["init"].shape == (5, 12)
    assert how["max_iter"] == 10
    assert all(len(np.unique(start.reshape(3, 4)[row])) == 1 for start in how["init"] for row in range(3))
    assert protocol.Setting("recovered", "kept", "", "partition", "no document moves").starts(gram, 2, 5, 0) == {
        "init": "random",
        "n_init": 5,
        "max_iter": 100,
        "random_state": 0,
        "centroid_weight": 1.0,
    }


def test_balanced_starts_have_clusters_of_equal_size():
    gram = LinearGram(np.eye(11))
    setting = protocol.Setting(
        "recovered", "kept", "tf · ln(n/df)", protocol.BALANCED, "ten iterations", centroid=protocol.ONCE
    )
    how = setting.starts(gram, 3, 4, seed=0)
    assert [sorted(np.bincount(start)) for start in how["init"]] == [[3, 4, 4]] * 4
    assert len(np.unique(how["init"], axis=0)) == 4
    assert how["centroid_weight"] == 0.5


def test_grids_have_at_most_two_hundred_settings():
    assert len(search.GRID) == 180
    assert len({*search.GRID, *search.GRID_ONCE}) == 200
    assert protocol.FIRST in search.GRID
    assert protocol.CHOSEN in search.LAST
    assert set(search.LAST) <= set(search.GRID_ONCE)


def test_shares_are_counted_from_the_committed_tables(tmp_path, monkeypatch):
    monkeypatch.setattr(shares, "RESULTS", tmp_path)
    for table in (2, 3):
        for suffix, columns, off in (("-eqn4", dominance.COLUMNS, 0.05), ("", dominance.PLAIN, 0.01)):
            lines = ["# dominance", "| set | " + " | ".join(columns) + " |", "| --- |"]
            for name in dominance.PUBLISHED:
                row = dominance.published(name, table + 1)
                lines.append(f"| {name} | " + " | ".join(f"{row[c] + off:.3f} ± 0.001 (0, +0)" for c in columns) + " |")
            lines.append("| AA is marginally above DS. | held | bbc 1 |")
            (tmp_path / f"dominance-table{table}{suffix}.md").write_text("\n".join(lines))
    equation, confirmed = shares.gaps(confirmed=False), shares.gaps(confirmed=True)
    assert len(equation) == len(confirmed) == 140
    assert shares.shares(equation.values()) == [0.0, 100.0]
    assert shares.shares(confirmed.values()) == pytest.approx([30.0, 100.0])
    assert shares.shares([0.03, 0.0304, 0.0305001, 0.07]) == [50.0, 75.0]
