"""CuPy: whether it has a GPU, arrays there, and the compiled functions that run on it.

Arrays are used as they come: NumPy's functions and operators work on CuPy's arrays too.
"""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from .._array import is_sparse
from .._config import format_size
from ..errors import InputError, MemoryBudgetError

INSTALL = 'pip install "grampus[gpu]"'
_SHARED = 48 * 1024  # bytes of shared memory that a function may use unasked
_SPARE = 0.9  # of the free memory of the device may be used


@lru_cache(maxsize=1)
def _library() -> Any:
    """Return CuPy with a working device, or the line that says why there is none."""
    try:
        library = importlib.import_module("cupy")
    except ImportError:
        return f"needs CuPy: {INSTALL}."
    except Exception as error:
        return f"needs a CuPy that can be imported; it says: {_first_line(error)}"
    try:
        if library.cuda.runtime.getDeviceCount() < 1:
            return "needs a GPU; none was found."
        library.zeros(1)
    except Exception as error:
        return f"needs a GPU with a driver that this CuPy can use; it says: {_first_line(error)}"
    return library


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0]


def library(required: bool) -> Any:
    """Return the array library of the GPU; where there is none, None, or an error that says what is missing."""
    found = _library()
    if not isinstance(found, str):
        return found
    if required:
        raise InputError(f"device='cuda' {found} Without one, use device='cpu'.")
    return None


def card_name() -> str | None:
    """Return the name of the GPU that could be used; None where there is none."""
    library = _library()
    if isinstance(library, str):
        return None
    return str(library.cuda.runtime.getDeviceProperties(0)["name"].decode())


def free_memory(xp: Any) -> int:
    """Return how many bytes may be allocated on the device."""
    pool = xp.get_default_memory_pool()
    return int(_SPARE * xp.cuda.runtime.memGetInfo()[0]) + int(pool.free_bytes())


def require_device_memory(xp: Any, size: float, what: str, instead: str) -> None:
    """Raise MemoryBudgetError if `size` bytes do not fit on the device."""
    free = free_memory(xp)
    if size > free:
        needs = f"{what} needs {format_size(size)} on the GPU, which has {format_size(free)} free"
        raise MemoryBudgetError(f"{needs}. {instead}.")


@contextmanager
def within_memory(xp: Any, what: str) -> Iterator[None]:
    """Turn an allocation that fails on the device into one line that says what did not fit."""
    try:
        yield
    except Exception as error:
        if type(error).__name__ != "OutOfMemoryError":
            raise
        raise MemoryBudgetError(
            f"{what} does not fit on the GPU, which has {format_size(free_memory(xp))} free. Use fewer documents or "
            "clusters, or device='cpu'."
        ) from None


def on_device(xp: Any, array: Any) -> Any:
    """Copy an array of NumPy or a CSR array of SciPy to the device."""
    if not is_sparse(array):
        return xp.asarray(array)
    if hasattr(xp, "sparse_rows"):
        return xp.sparse_rows(array)
    return importlib.import_module("cupyx.scipy.sparse").csr_matrix(array)


def half_product(xp: Any, a: Any, b: Any, out: Any) -> None:
    """Compute b @ a.T of half precision, summed in single precision by the matrix units.

    Parameters
    ----------
    a, b : array of float16, of shape (p, m) and (q, m)
        p and m are multiples of 16.
    out : array of float32, of shape (q, p)
    """
    if hasattr(xp, "half_product"):
        xp.half_product(a, b, out)
        return
    blas, one, zero = xp.cuda.cublas, np.ones(1, dtype=np.float32), np.zeros(1, dtype=np.float32)
    (p, m), q, half, single = a.shape, len(b), 2, 0  # CUDA_R_16F, CUDA_R_32F
    blas.gemmEx(
        xp.cuda.get_cublas_handle(), blas.CUBLAS_OP_T, blas.CUBLAS_OP_N, p, q, m, one.ctypes.data,
        a.data.ptr, half, m, b.data.ptr, half, m, zero.ctypes.data, out.data.ptr, single, p,
        blas.CUBLAS_COMPUTE_32F, blas.CUBLAS_GEMM_DEFAULT,
    )  # fmt: skip


@lru_cache(maxsize=8)
def _module(xp: Any, path: Path) -> Any:
    return xp.RawModule(code=path.read_text(encoding="utf-8"), options=("-std=c++17",))


@lru_cache(maxsize=64)
def function(xp: Any, path: Path, name: str) -> Any:
    """Return a function of a file of CUDA, compiled for the device."""
    return _module(xp, path).get_function(name)


def call(compiled: Any, grid: tuple[int, ...], block: int, *args: Any, shared: int = 0) -> None:
    """Run a compiled function; Python's numbers become 64-bit ones, and None a null pointer."""
    if shared > _SHARED and shared > compiled.max_dynamic_shared_size_bytes:
        compiled.max_dynamic_shared_size_bytes = shared
    compiled(grid, (block,), tuple(_argument(arg) for arg in args), shared_mem=shared)


def _argument(value: Any) -> Any:
    if value is None:
        return np.intp(0)
    if isinstance(value, bool):
        return np.int32(value)
    if isinstance(value, float):
        return np.float64(value)
    return value
