"""Finished parts of a selection on disk: written whole or not at all."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from .._array import Array, tiles
from .._files import write_file
from .._version import __version__
from ..errors import InputError
from ..gram import Gram

T = TypeVar("T")
FORMAT = 2
_MANIFEST = "selection.json"
_TEMPORARY = ".tmp"
# What a user reads when an entry of the manifest differs.
_MEANINGS = {
    "format": "the format of the files",
    "grampus": "the version of Grampus",
    "corpus": "the corpus (or its kernel)",
    "documents": "the number of documents",
    "scheme": "the scheme",
    "kernel": "the kernel",
    "seeds": "the choice of the prototypes' seeds",
    "rule": "the shift or the rule",
    "rate": "the reduction rate",
    "n_neighbors": "the number of neighbours",
    "n_splits": "the number of splits",
    "init": "the start of the halves",
    "seed": "the random_state",
}


class Checkpoint:
    """A folder with a manifest and the arrays of everything that is finished; without a folder, nothing is kept."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder

    @classmethod
    def open(cls, path: str | Path, manifest: Mapping[str, Any]) -> Checkpoint:
        """Begin a folder, or continue one that was begun for the same job; any other is refused."""
        folder = Path(path)
        if folder.exists() and not folder.is_dir():
            raise InputError(f"checkpoint must be a folder; {folder} is a file.")
        folder.mkdir(parents=True, exist_ok=True)
        begun = read_manifest(folder)
        manifest = {"format": FORMAT, "grampus": __version__, **manifest}
        if begun is None:
            if any(file.suffix != _TEMPORARY for file in folder.iterdir()):
                raise InputError(f"checkpoint {folder} is not empty and holds no {_MANIFEST}. Use an empty folder.")
            write_file(folder / _MANIFEST, json.dumps(manifest, indent=1).encode())
        else:
            for key, meaning in _MEANINGS.items():
                if begun.get(key) != manifest.get(key):
                    raise InputError(
                        f"checkpoint {folder} belongs to another job: {meaning} differs "
                        f"({_short(begun.get(key))} there, {_short(manifest.get(key))} here). Use another folder."
                    )
        for leftover in folder.glob(f"*{_TEMPORARY}"):  # of a process that was killed
            leftover.unlink(missing_ok=True)
        return cls(folder)

    def save(self, name: str, values: Mapping[str, Any]) -> None:
        """Write arrays and numbers under a name, all at once."""
        if self.folder is not None:
            buffer = io.BytesIO()
            np.savez(buffer, **values)
            with buffer.getbuffer() as content:  # given back at once, as in persist/folder.py
                write_file(self.folder / f"{name}.npz", content)

    def load(self, name: str, kind: Callable[..., T]) -> T | None:
        """Return what was saved under a name as an object of its kind, or None if it is not finished."""
        file = None if self.folder is None else self.folder / f"{name}.npz"
        if file is None or not file.exists():
            return None
        try:
            with np.load(file, allow_pickle=False) as stored:
                return kind(**{key: value if value.ndim else value.item() for key, value in stored.items()})
        except Exception as error:
            raise InputError(f"checkpoint file {file} cannot be read ({error}). Delete it to recompute it.") from error


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """Return the manifest of a folder, or None if it has none."""
    file = folder / _MANIFEST
    if not file.exists():
        return None
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"checkpoint file {file} cannot be read ({error}). Use another folder.") from error
    if not isinstance(found, dict):
        raise InputError(f"checkpoint file {file} is not a manifest. Use another folder.")
    return found


def fingerprint(gram: Gram, names: Array | None) -> str:
    """Return a digest that distinguishes collections and kernels."""
    digest = hashlib.blake2b(digest_size=16)
    if names is not None:
        for name in names.tolist():
            digest.update(str(name).encode())
    elif hasattr(gram.source, "matrix"):
        matrix = gram.source.matrix
        for rows in tiles(len(matrix), 8 * len(matrix)):
            digest.update(np.ascontiguousarray(matrix[rows], dtype=np.float64).tobytes())
    else:  # similarities of unknown documents, which are nowhere stored
        digest.update(np.round(gram @ np.linspace(1.0, 2.0, len(gram)), 9).tobytes())
    digest.update(np.round(gram.diagonal().astype(np.float64), 9).tobytes())
    return digest.hexdigest()


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:37]}…"
