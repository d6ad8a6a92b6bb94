"""Dense decompositions: every kind of short or wrong answer from LAPACK is planted, and must not get out."""

import numpy as np
import pytest
import scipy.linalg

from grampus.errors import ConvergenceError, InputError
from grampus.gram import DenseGram, LinearGram, eigenpairs, eigenvalues, nystrom
from grampus.gram.lapack import symmetric_eigh, symmetric_eigvalsh

RNG = np.random.default_rng(0)
MATRIX = RNG.standard_normal((40, 40))
MATRIX = MATRIX + MATRIX.T
VALUES = np.linalg.eigvalsh(MATRIX)


def fail(*_, **options):
    raise np.linalg.LinAlgError("did not converge")


FAULTS = {
    "none": lambda values, vectors: (values[:0], vectors[:, :0]),
    "short": lambda values, vectors: (values[1:], vectors[:, 1:]),
    "values NaN": lambda values, vectors: (values * np.nan, vectors),
    "vectors NaN": lambda values, vectors: (values, vectors * np.nan),
    "not orthogonal": lambda values, vectors: (values, vectors + 1e-6 * vectors[:, -1:]),
    "repeated": lambda values, vectors: (values, np.repeat(vectors[:, -1:], len(values), axis=1)),
    "wrong values": lambda values, vectors: (values * (1 + 1e-6), vectors),
    "wrong vectors": lambda values, vectors: (values, np.roll(vectors, 1, axis=0)),
    "LinAlgError": fail,
}


def plant(monkeypatch, fault, *, in_numpy, in_scipy, drivers=("evr", "ev", None)):
    """Let LAPACK's eigh answer with a fault: the subset driver, the full one, or both."""
    theirs, ours = np.linalg.eigh, scipy.linalg.eigh

    def wrong(matrix, **options):
        found = ours(matrix, **options)
        return FAULTS[fault](*found) if options.get("driver") in drivers else found

    if in_scipy:
        monkeypatch.setattr(scipy.linalg, "eigh", wrong)
    if in_numpy:
        monkeypatch.setattr(np.linalg, "eigh", lambda matrix: FAULTS[fault](*theirs(matrix)))


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("count", [1, 5, None])
def test_a_wrong_answer_leads_to_the_next_driver(monkeypatch, fault, count):
    plant(monkeypatch, fault, in_numpy=True, in_scipy=True, drivers=(None,))
    values, vectors = symmetric_eigh(MATRIX, count)
    wanted = VALUES[-(count or 40) :]
    np.testing.assert_allclose(values, wanted, atol=1e-12)
    np.testing.assert_allclose(MATRIX @ vectors, vectors * values, atol=1e-12)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(wanted)), atol=1e-12)


@pytest.mark.parametrize("fault", FAULTS)
def test_eigenpairs_survive_a_wrong_subset(monkeypatch, fault):
    plant(monkeypatch, fault, in_numpy=False, in_scipy=True)
    pairs = eigenpairs(DenseGram(MATRIX), 3)
    np.testing.assert_allclose(pairs.values, VALUES[::-1][:3], atol=1e-12)
    assert pairs.residual < 1e-12


@pytest.mark.parametrize("fault", FAULTS)
def test_only_wrong_answers_are_an_error(monkeypatch, fault):
    plant(monkeypatch, fault, in_numpy=True, in_scipy=True)
    with pytest.raises(ConvergenceError, match="LAPACK found no eigenvectors of a 40 × 40 matrix"):
        symmetric_eigh(MATRIX)
    with pytest.raises(ConvergenceError, match="LAPACK found no eigenvectors"):
        eigenpairs(DenseGram(MATRIX), 40)
    with pytest.raises(ConvergenceError, match="LAPACK found no eigenvectors"):
        nystrom(LinearGram(RNG.random((60, 4))), 30, choose="leverage", random_state=0)


@pytest.mark.parametrize(
    "fault", [lambda v: v[1:], lambda v: v * np.nan, lambda v: v * (1 + 1e-6), lambda v: np.roll(v, 1) * 0.9, fail]
)
def test_wrong_eigenvalues_are_replaced(monkeypatch, fault):
    theirs = np.linalg.eigvalsh
    monkeypatch.setattr(np.linalg, "eigvalsh", lambda matrix: fault(theirs(matrix)))
    np.testing.assert_allclose(symmetric_eigvalsh(MATRIX), VALUES, atol=1e-12)
    np.testing.assert_allclose(eigenvalues(DenseGram(MATRIX)), VALUES[::-1], atol=1e-12)


@pytest.mark.parametrize("unit", [0.0, 1e-300, 1.0, 1e300])
def test_any_scale_and_multiple_eigenvalues(unit):
    blocks = unit * np.kron(np.eye(3), np.ones((10, 10)))
    for count in (1, 2, 3, 4, 30):
        values, vectors = symmetric_eigh(blocks, count)
        assert vectors.shape == (30, count)
        np.testing.assert_allclose(values[-3:], 10 * unit, rtol=1e-12)
    assert symmetric_eigvalsh(blocks)[-1] == pytest.approx(10 * unit)


def test_rounding_between_the_triangles_is_averaged():
    uneven = MATRIX + 1e-7 * np.triu(np.ones((40, 40)), 1)
    values, vectors = symmetric_eigh(uneven, 2)
    np.testing.assert_allclose((uneven + uneven.T) / 2 @ vectors, vectors * values, atol=1e-12)


def test_input_that_is_not_finite_is_refused():
    for matrix in (np.full((3, 3), np.nan), np.full((3, 3), np.inf)):
        for function in (symmetric_eigh, symmetric_eigvalsh):
            with pytest.raises(InputError, match="must be finite"):
                function(matrix)
