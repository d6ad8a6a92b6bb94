"""Read safetensors: eight bytes with the length of a JSON header, the header, and raw arrays."""

import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._config import require_memory
from .._files import open_regular
from ..errors import InputError

_TYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "u1", "BOOL": "?",
}  # fmt: skip
_LONGEST = 100_000_000  # bytes of a header, as in the format's own limit


def read_header(path: Path) -> dict[str, Any]:
    """Return the arrays of a file: name to ``dtype``, ``shape`` and ``data_offsets``, checked against its size.

    Raises
    ------
    InputError
        The file is not safetensors, or is cut off.
    """
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        length = int.from_bytes(file.read(8), "little")
        if not 2 <= length <= min(_LONGEST, size - 8):
            raise _damaged(path, "its header is not where it must be")
        try:
            header = json.loads(file.read(length))
            header.pop("__metadata__", None)
            for name, entry in header.items():
                begin, end = entry["data_offsets"]
                count = math.prod(entry["shape"])
                whole = all(type(axis) is int and axis >= 0 for axis in (*entry["shape"], begin, end))
                if entry["dtype"] in _TYPES and end - begin != count * np.dtype(_TYPES[entry["dtype"]]).itemsize:
                    whole = False
                if not whole or not 0 <= begin <= end <= size - 8 - length:
                    raise _damaged(path, f"the array {name[:40]!r} does not lie inside it")
                entry["start"] = 8 + length + begin
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            if isinstance(error, InputError):
                raise
            raise _damaged(path, "its header is not that of arrays") from error
    return dict(header)


def read_tensor(path: Path, name: str, header: dict[str, Any] | None = None) -> NDArray[Any]:
    """Return one array, memory-mapped; bfloat16, which NumPy lacks, as float32.

    Parameters
    ----------
    path : Path
    name : str
    header : dict, optional
        From `read_header`, if it has been read.
    """
    entry = (read_header(path) if header is None else header)[name]
    kind, shape = entry["dtype"], tuple(entry["shape"])
    if kind not in _TYPES:
        found = f"the array {name[:40]!r} is {str(kind)[:20]!r}"
        raise InputError(f"{path.name} must hold numbers of a known type; {found}.")
    if 0 in shape:
        return np.empty(shape, _TYPES[kind])
    mapped: NDArray[Any] = np.memmap(path, _TYPES[kind], "r", entry["start"], shape)
    if kind != "BF16":
        return mapped
    require_memory(4 * mapped.size, f"The array {name!r}", "Store it as float32")
    return (mapped.astype("<u4") << 16).view("<f4")


def _damaged(path: Path, why: str) -> InputError:
    return InputError(f"{path.name} must be a complete safetensors file; {why}.")
