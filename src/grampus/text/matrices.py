"""Read a matrix of embeddings, a row for each document: ``.npy``, ``.npz``, ``.safetensors`` and Parquet."""

import math
import re
import zipfile
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from .._config import require_memory
from .._files import open_regular
from ..errors import InputError
from .inputs import row_places
from .readers.tables import first_line, import_extra
from .safetensors import read_header, read_tensor

_NAMES = ("embeddings", "embedding", "vectors", "vector")
_ID = "id"
_OTHER = (_ID, "__index_level_0__")  # pandas writes its index as a column
_NUMBER = re.compile("half|float|double|u?int")
_ADVICE = "Read a part of it"


Matrix = tuple[NDArray[Any], list[str] | None]  # rows, and the ids of their documents, if the file has some


def read_embeddings(path: str | PathLike[str], ids: Sequence[str] | None = None) -> NDArray[Any]:
    """Return the embeddings of documents from a file; rows with ids are put in the order of the documents.

    =====================  =======================================================================================
    ``.npy``               an array that ``numpy.save`` wrote
    ``.npz``               one matrix, or the one called ``embeddings``; perhaps an array ``ids``
    ``.safetensors``       one matrix, or the one called ``embeddings``
    ``.parquet``, ``.pq``  a column of lists (``embedding``), or all columns of numbers; perhaps a column ``id``
    =====================  =======================================================================================

    Pickled objects are never read.

    Parameters
    ----------
    path : path
    ids : sequence of str, optional
        The documents' ids. Without them, or if the file has none, the rows are in the order of the documents.

    Returns
    -------
    float array of shape (n, d)

    Raises
    ------
    InputError
        The file is damaged, or holds no matrix of finite numbers, or no row for a document.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from grampus.text import read_embeddings
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/rows.npz", embeddings=np.eye(2), ids=np.array(["b", "a"]))
    ...     read_embeddings(f"{folder}/rows.npz", ids=["a", "b"]).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    place = Path(path)
    read = _READERS.get(place.suffix.lower())
    if read is None:
        raise InputError(f"embeddings must be a file {', '.join(_READERS)}; got {place.name!r}.")
    found, own = read(place)
    rows = _check(found, place)
    if own is not None and len(own) != len(rows):
        raise InputError(f"{place.name} must have an id for each of its {len(rows)} rows; it has {len(own)}.")
    if ids is None:
        return rows
    if own is not None:
        return rows[row_places(place.name, own, ids)]
    if len(rows) != len(ids):
        raise InputError(f"{place.name} must have a row for each of the {len(ids)} documents; it has {len(rows)}.")
    return rows


def _check(rows: NDArray[Any], path: Path) -> NDArray[Any]:
    if rows.dtype.kind not in "fiu":
        raise InputError(f"{path.name} must hold numbers; got {rows.dtype}.")
    if rows.ndim != 2 or 0 in rows.shape:
        raise InputError(f"{path.name} must hold a matrix, a row for each document; got shape {rows.shape}.")
    require_memory(8 * rows.size, f"The matrix of {path.name}", _ADVICE)
    rows = rows if rows.dtype in (np.float32, np.float64) else rows.astype(np.float64)
    bad = ~np.isfinite(rows).all(axis=1)
    if bad.any():
        raise InputError(f"{path.name} must hold finite numbers; row {int(np.flatnonzero(bad)[0]) + 1} does not.")
    return np.asarray(rows)


# -- formats


def _array(file: IO[bytes], name: str) -> NDArray[Any]:
    """Read an array after its header has shown that it has numbers or texts, and fits into the budget."""
    try:
        version = np.lib.format.read_magic(file)
        header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = header(file)
        if dtype.hasobject:
            raise InputError(f"{name} must hold numbers; it holds pickled objects, which are never read.")
        size = math.prod(shape, start=dtype.itemsize)
        require_memory(size, f"The array of {name}", _ADVICE)
        data = file.read(size)
        if len(data) != size:
            raise ValueError("it is cut off")
        return np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C")
    except (ValueError, TypeError, EOFError, SyntaxError, OverflowError, zipfile.BadZipFile) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{name} must be an array that NumPy wrote ({first_line(error)}).") from error


def _read_npy(path: Path) -> Matrix:
    with open_regular(path) as file:
        return _array(file, path.name), None


def _read_npz(path: Path) -> Matrix:
    try:
        with open_regular(path) as file, zipfile.ZipFile(file) as archive:
            arrays = {}
            for member in archive.namelist():
                with archive.open(member) as stream:
                    arrays[member.removesuffix(".npy")] = _array(stream, path.name)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError) as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise
        raise InputError(f"{path.name} must be an archive that numpy.savez wrote ({first_line(error)}).") from error
    names = next((array for name, array in arrays.items() if name in (_ID, "ids")), None)
    rows = arrays[_choose({name: array.ndim for name, array in arrays.items() if array.dtype.kind != "U"}, path)]
    return rows, None if names is None else [str(name) for name in names.reshape(-1).tolist()]


def _read_safetensors(path: Path) -> Matrix:
    header = read_header(path)
    chosen = _choose({name: len(entry["shape"]) for name, entry in header.items()}, path)
    return read_tensor(path, chosen, header), None


def _choose(dimensions: dict[str, int], path: Path) -> str:
    """Return the array to take: by name, or the only matrix."""
    matrices = [name for name, number in dimensions.items() if number == 2]
    named = [name for name in matrices if name in _NAMES]
    if len(named or matrices) != 1:
        raise InputError(
            f"{path.name} must hold one matrix, or one called {_NAMES[0]!r}; it has {len(matrices)} "
            f"({', '.join(matrices)[:80] or 'none'})."
        )
    return (named or matrices)[0]


def _read_parquet(path: Path) -> Matrix:
    """Read a column of lists, or the columns of numbers."""
    parquet: Any = import_extra("pyarrow.parquet", "parquet")
    try:
        with open_regular(path) as file:
            table = parquet.ParquetFile(file)
            schema = table.schema_arrow
            columns = {name: schema.field(number).type for number, name in enumerate(schema.names)}
            lists = [name for name, kind in columns.items() if "list" in str(kind)]
            named = [name for name in lists if name in _NAMES] or lists
            if len(named) > 1:
                held = ", ".join(named)
                raise InputError(f"{path.name} must have one column of lists, or 'embedding'; it has {held}.")
            single = [name for name, kind in columns.items() if _NUMBER.match(str(kind)) and name not in _OTHER]
            chosen = named or single
            size = sum(table.metadata.row_group(g).total_byte_size for g in range(table.metadata.num_row_groups))
            require_memory(2 * size, f"The table of {path.name}", _ADVICE)
            found = table.read([*chosen, *([_ID] if _ID in columns else [])])
            rows = _stack(found.column(named[0]).to_pylist(), path) if named else _columns(found, chosen)
            ids = [str(name) for name in found.column(_ID).to_pylist()] if _ID in columns else None
    except Exception as error:  # pyarrow raises many kinds for damaged files
        if isinstance(error, InputError) or (isinstance(error, OSError) and error.filename is not None):
            raise
        raise InputError(f"{path.name} must be a valid Parquet file ({first_line(error)}).") from error
    return rows, ids


def _columns(table: Any, names: list[str]) -> NDArray[Any]:
    values = [np.asarray(table.column(name).to_numpy()) for name in names]
    return np.column_stack(values).astype(np.float64) if values else np.empty((0, 0))


def _stack(rows: list[Any], path: Path) -> NDArray[Any]:
    lengths = {None if row is None else len(row) for row in rows}
    if len(lengths) != 1 or None in lengths:
        raise InputError(f"{path.name} must have lists of one length in every row; it has several, or none in some.")
    return np.array(rows, dtype=np.float64)


_READERS = {
    ".npy": _read_npy,
    ".npz": _read_npz,
    ".safetensors": _read_safetensors,
    ".parquet": _read_parquet,
    ".pq": _read_parquet,
}
