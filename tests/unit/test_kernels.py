"""What kernels answer about themselves, so that nobody asks which kind they are."""

import numpy as np
import pytest

from grampus import parse_kernel
from grampus.kernels import Normalise
from grampus.select import choose_levels

ROWS = np.array([[1.0, 0.0], [0.0, 0.0], [0.5, 2.0]])


@pytest.mark.parametrize(
    ("spelling", "texts", "precomputed", "names", "parts"),
    [
        ("cosine|shift", False, False, False, 0),
        ("cosine@terms", False, False, False, 0),
        ("cosine@embedding", False, False, True, 0),
        ("spectrum(3)|normalise", True, False, False, 0),
        ("(spectrum(3) + subsequence(2))|normalise", True, False, False, 2),
        ("cosine + spectrum(3)", False, False, True, 2),
        ("linear * cosine", False, False, False, 2),
        ("0.5 * precomputed + precomputed|shift", False, True, False, 2),
    ],
)
def test_what_a_kernel_reads(spelling, texts, precomputed, names, parts):
    kernel = parse_kernel(spelling)
    assert kernel.reads_only_texts == texts
    assert kernel.is_precomputed == precomputed
    assert kernel.reads_names == names
    assert len(kernel.parts) == parts


@pytest.mark.parametrize(
    ("spelling", "rank", "spare", "landmarks"),
    [
        ("cosine|shift", 0, 0, False),
        ("cosine|principal(50)|normalise", 50, 60, False),
        ("cosine|principal(auto)", 30, 60, False),
        ("cosine|nystrom(200)", 200, 200, True),
        ("gaussian(1)|nystrom(200, rank=20)", 20, 20, True),
        ("0.5 * cosine|principal(40) + linear|principal(70)", 70, 70, False),
    ],
)
def test_the_rank_of_a_kernel(spelling, rank, spare, landmarks):
    kernel = parse_kernel(spelling).for_clusters(2, 60)
    assert (kernel.rank(), kernel.rank(spare=True), kernel.has_landmarks) == (rank, spare, landmarks)


@pytest.mark.parametrize(
    ("spelling", "empty", "from_texts"),
    [
        ("cosine", True, True),
        ("cosine|principal(2)|normalise", True, True),
        ("linear|power(0.5)|map", True, True),
        ("linear", False, True),
        ("linear|shift|normalise", False, True),  # the shift moves the origin before rows are normalised
        ("polynomial(2)|normalise", False, True),  # K(0, 0) = 1
        ("cosine + gaussian(1)", False, True),
        ("cosine * gaussian(1)", True, True),
        ("precomputed|normalise", False, False),
    ],
)
def test_which_rows_are_empty(spelling, empty, from_texts):
    kernel = parse_kernel(spelling)
    assert kernel.empty(ROWS).tolist() == [False, empty, False]
    assert kernel.empty(ROWS, from_texts=True).tolist() == [False, from_texts, False]


def test_texts_and_no_rows_are_never_empty():
    assert parse_kernel("spectrum(3)").empty(["abc", ""]).tolist() == [False, False]
    assert parse_kernel("cosine").empty(ROWS[:0]).tolist() == []


def test_the_part_without_reduction():
    kernel = parse_kernel("(cosine|principal(3) + 0.5 * spectrum(2)|shift)|normalise")
    assert str(kernel.unreduced()) == "linear + 0.5 * spectrum(2)"
    assert str(kernel.unreduced(Normalise(1))) == "linear|normalise(1) + 0.5 * spectrum(2)|normalise(1)"


def test_fitted_documents_as_new_ones():
    gram = np.array([[2.0, 1.0], [1.0, 3.0]])
    precomputed, cosine = parse_kernel("precomputed|shift"), parse_kernel("cosine")
    rows, diagonal = precomputed.as_new(gram, np.array([1]))
    assert rows.tolist() == [[1.0, 3.0]]
    assert diagonal.tolist() == [3.0]
    assert precomputed.knows_diagonal((rows, diagonal))
    assert not precomputed.knows_diagonal(rows)
    assert cosine.knows_diagonal(rows)
    assert cosine.as_new(gram, slice(1, 2)).tolist() == [[1.0, 3.0]]


def test_american_spellings_are_read_and_british_ones_written():
    kernel = parse_kernel("cosine|center|normalize(1)")
    assert kernel == parse_kernel("cosine|centre|normalise(1)")
    assert str(kernel) == "cosine|centre|normalise(1)"


def test_levels_of_a_named_input():
    rows = np.random.default_rng(0).normal(size=(100, 5))
    named = choose_levels({"embedding": rows}, kernel="linear@embedding", random_state=0)
    assert named.sentence == choose_levels(rows, kernel="linear", random_state=0).sentence
