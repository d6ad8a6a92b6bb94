from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]

def instruction_set() -> str: ...
def use_best(best: bool) -> None: ...

class Outcome(IntEnum):
    CONVERGED = 0
    OSCILLATED = 1
    MAX_ITER = 2
    NOT_FINITE = 3
    RUNNING = 4

class Documents:
    @property
    def n(self) -> int: ...

class Stored(Documents):
    def __init__(self, matrix: NDArray[Any] | None, diagonal: _Floats, weights: _Floats) -> None: ...

class Dense(Documents):
    def __init__(self, rows: _Floats, diagonal: _Floats, weights: _Floats) -> None: ...

class Sparse(Documents):
    def __init__(
        self,
        data: NDArray[Any],
        indices: NDArray[np.int32],
        indptr: NDArray[np.int64],
        scale: _Floats,
        terms: int,
        diagonal: _Floats,
        weights: _Floats,
    ) -> None: ...

class Run:
    def __init__(
        self,
        documents: Documents,
        start: NDArray[np.int32],
        k: int,
        adjusted: bool,
        tolerance: float,
        shift: float,
        spherical: bool,
        centroid: float,
        max_iter: int,
        two_cycles: int,
        bounded: bool,
    ) -> None: ...
    def follow(self, first: int, last: int) -> None: ...
    def measure(self) -> bool: ...
    def assign(self, first: int, last: int) -> None: ...
    def advance(self) -> None: ...
    @property
    def outcome(self) -> Outcome: ...
    @property
    def members(self) -> int: ...
    @property
    def anew(self) -> bool: ...
    @property
    def screened(self) -> list[int]: ...
    @property
    def sums(self) -> _Floats: ...
    @property
    def labels(self) -> NDArray[np.int32]: ...
    @property
    def predicted(self) -> NDArray[np.int32]: ...
    @property
    def moves(self) -> NDArray[np.int64]: ...
    @property
    def objectives(self) -> _Floats: ...

def run_all(runs: list[Run]) -> None: ...

class Postings:
    def __init__(self, documents: Sparse) -> None: ...
    @property
    def n(self) -> int: ...
    def rows(self, documents: NDArray[np.int64], out: _Floats) -> None: ...
    def nearest(self, first: int, columns: NDArray[np.int64], values: _Floats) -> None: ...

class Heads:
    def __init__(self, documents: Sparse, threshold: float) -> None: ...
    def pairs(self, first: int, last: int) -> tuple[NDArray[np.int64], NDArray[np.int64], _Floats]: ...

def largest(values: _Floats, tie: float, margin: float, places: NDArray[np.int64]) -> None: ...

class Seeds:
    def __init__(self, diagonal: NDArray[np.float64], mass: NDArray[np.float64]) -> None: ...
    def draw(self, uniform: NDArray[np.float64], centres: NDArray[np.int64]) -> bool: ...
    def take(self, similar: NDArray[np.float64], centres: NDArray[np.int64]) -> None: ...
    def spread(
        self, rows: NDArray[np.float64], uniform: NDArray[np.float64], k: int, trials: int, multiply: int
    ) -> None: ...
    def labels(self) -> NDArray[np.int32]: ...

def join(points: _Floats, apart: bool, ward: bool, joins: NDArray[np.int64]) -> None: ...
def ward(
    total: NDArray[np.float64], sizes: NDArray[np.float64], groups: NDArray[np.int64], joins: NDArray[np.int64]
) -> None: ...
def lay_out(
    heads: NDArray[np.int32],
    tails: NDArray[np.int32],
    weights: NDArray[np.float32],
    fixed: int,
    epochs: int,
    repulsions: int,
    seed: int,
    places: NDArray[np.float32],
) -> None: ...
def name_sparse(
    indptr: NDArray[np.int64],
    columns: NDArray[Any],
    values: NDArray[Any],
    first: int,
    last: int,
    names: NDArray[np.uint8],
) -> None: ...
def name_dense(rows: NDArray[Any], first: int, last: int, names: NDArray[np.uint8]) -> None: ...
def trade(indptr: NDArray[np.int64], terms: NDArray[np.int32], pairs: NDArray[np.int64], bits: object) -> None: ...
def subsequence(xs: NDArray[np.int32], ys: NDArray[np.int32], length: int, decay: float, out: _Floats) -> None: ...

class Vocabulary:
    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def read(
        self,
        text: NDArray[np.uint8],
        ends: NDArray[np.int64],
        blanks: NDArray[np.uint8],
        bits: NDArray[np.uint8],
        lengths: NDArray[np.int64],
    ) -> NDArray[np.int32]: ...
    def joined(self, first: int) -> bytes: ...

def count_known(
    known: Vocabulary,
    kind: NDArray[np.uint8],
    text: NDArray[np.uint8],
    ends: NDArray[np.int64],
    counts: NDArray[np.int32],
) -> None: ...

class Index:
    def __init__(self) -> None: ...
    def add(
        self, columns: list[tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.uint8]]], count: int, first: int
    ) -> None: ...
    def packed(self) -> bytes: ...

class DenseRows:
    def __init__(self, rows: _Floats, far: _Floats) -> None: ...
    @property
    def n(self) -> int: ...
    def nearest(
        self,
        rough: NDArray[np.float32],
        lost: _Floats,
        first: int,
        tie: float,
        margin: float,
        columns: NDArray[np.int64],
        values: _Floats,
    ) -> int: ...

_Weights = tuple[NDArray[np.int8], _Floats, NDArray[np.int32], int]

def encoder_instructions() -> str: ...
def use_encoder(level: int) -> None: ...
def rough_products(
    rows: NDArray[np.int8],
    scales: _Floats,
    begins: _Floats,
    columns: _Weights,
    others: _Floats,
    products: NDArray[np.float32],
) -> None: ...

class Pieces:
    def __init__(self, model: NDArray[np.uint8]) -> None: ...
    def __len__(self) -> int: ...
    def normalised(self, text: bytes) -> bytes: ...
    def split(
        self, text: NDArray[np.uint8], ends: NDArray[np.int64], most: int, starts: NDArray[np.int64]
    ) -> NDArray[np.int32]: ...

class Meaning:
    def __init__(
        self,
        tables: list[NDArray[np.uint8]],
        layers: list[_Weights],
        numbers: list[_Floats],
        epsilon: float,
        kept: object,
    ) -> None: ...
    @property
    def pieces(self) -> int: ...
    def encode(self, pieces: NDArray[np.int32], starts: NDArray[np.int64], rows: NDArray[np.float32]) -> None: ...
