"""Near-copies as groups, and outliers that are outliers."""

import numpy as np
import pytest

from grampus.report import report_html
from grampus.report.oddities import copy_groups, outliers
from tests.pages import example_run
from tests.runs import changed, small_run


def test_pairs_that_share_a_document_are_one_group():
    pairs = np.array([[0, 3], [1, 2], [3, 4]], dtype=np.int32)
    run = small_run(duplicates=pairs, duplicate_similarity=np.array([0.99, 1.0, 0.91], dtype=np.float32))
    groups = copy_groups(run)
    assert [group.documents for group in groups] == [(0, 3, 4), (1, 2)]
    assert [group.similarity for group in groups] == pytest.approx([0.91, 1.0])
    none = small_run(duplicates=np.zeros((0, 2), dtype=np.int32), duplicate_similarity=np.zeros(0, dtype=np.float32))
    assert copy_groups(none) == []


def with_oddness(values):
    """Return four clusters of 40, the first with these values."""
    run = example_run()
    oddness = np.zeros(len(run), dtype=np.float32)
    first = np.flatnonzero(run.evidence.labels == 0)
    oddness[first] = np.resize(np.asarray(values, dtype=np.float32), len(first))
    return changed(run, oddness=oddness), first


def test_a_document_far_from_a_tight_cluster_is_an_outlier():
    values = np.linspace(0.0, 0.12, 38)
    run, first = with_oddness([*values, 0.7, 0.55])
    assert outliers(run).tolist() == [first[38], first[39]]


def test_a_loose_cluster_has_no_outliers():
    run, _ = with_oddness(np.linspace(0.0, 0.95, 40))
    assert outliers(run).tolist() == []


def test_a_cluster_of_few_documents_has_no_outliers():
    assert outliers(small_run(oddness=np.array([0, 0, 0, 0.9, 1], dtype=np.float32))).tolist() == []
    run, first = with_oddness([*np.zeros(39), 0.9])
    assert outliers(run).tolist() == [first[39]]


def test_the_page_without_script_lists_groups():
    page = report_html(small_run())
    assert "Near-copies" in page
    assert "Near-duplicates" not in page
