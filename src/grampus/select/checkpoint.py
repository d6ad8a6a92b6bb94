"""Finished work kept on disk: one file for each finished k, whole or not there at all."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from .._array import Array, tiles
from .._files import write_file
from .._version import __version__
from ..errors import InputError
from ..gram import Gram

FORMAT = 1
_MANIFEST = "selection.json"
_TEMPORARY = ".tmp"
# What a reader is told when an entry of the manifest differs.
_MEANINGS = {
    "format": "the format of the files",
    "grampus": "the version of Grampus",
    "corpus": "the corpus (or its kernel)",
    "documents": "the number of documents",
    "scheme": "the scheme",
    "kernel": "the kernel",
    "shift": "the shift",
    "centroid_weight": "the weight of the centroids",
    "rate": "the reduction rate",
    "neighbours": "the number of neighbours",
    "n_splits": "the number of splits",
    "init": "the way halves start",
    "seed": "the random_state",
}


class Checkpoint:
    """A folder with a manifest and the arrays of everything that is finished."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def open(cls, path: Any, manifest: dict[str, Any]) -> Checkpoint:
        """Begin a folder, or go on with one that was begun for the same job; any other is refused."""
        checkpoint = cls(Path(path))
        if checkpoint.folder.exists() and not checkpoint.folder.is_dir():
            raise InputError(f"checkpoint must be a folder; {checkpoint.folder} is a file.")
        checkpoint.folder.mkdir(parents=True, exist_ok=True)
        found = read_manifest(checkpoint.folder)
        manifest = {"format": FORMAT, "grampus": __version__, **manifest}
        if found is None:
            if any(file.suffix != _TEMPORARY for file in checkpoint.folder.iterdir()):
                raise InputError(
                    f"checkpoint {checkpoint.folder} is not empty and holds no {_MANIFEST}. Name an empty folder."
                )
            write_file(checkpoint.folder / _MANIFEST, json.dumps(manifest, indent=1).encode())
        else:
            for key, meaning in _MEANINGS.items():
                if found.get(key) != manifest.get(key):
                    raise InputError(
                        f"checkpoint {checkpoint.folder} belongs to another job: {meaning} differs "
                        f"({_short(found.get(key))} there, {_short(manifest.get(key))} here). Name another folder."
                    )
        for leftover in checkpoint.folder.glob(f"*{_TEMPORARY}"):  # of a process that was killed
            leftover.unlink(missing_ok=True)
        return checkpoint

    def save(self, name: str, arrays: dict[str, Array]) -> None:
        """Write arrays under a name, all at once."""
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)  # type: ignore[arg-type]  # names, not allow_pickle
        write_file(self.folder / f"{name}.npz", buffer.getbuffer())

    def load(self, name: str) -> dict[str, Array] | None:
        """Return the arrays of a name, or None if it is not finished."""
        file = self.folder / f"{name}.npz"
        if not file.exists():
            return None
        try:
            with np.load(file, allow_pickle=False) as stored:
                return dict(stored)
        except Exception as error:
            raise InputError(
                f"checkpoint file {file} cannot be read ({error}). Delete it to have it made anew."
            ) from error


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """Return the manifest of a folder, or None if it has none."""
    file = folder / _MANIFEST
    if not file.exists():
        return None
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"checkpoint file {file} cannot be read ({error}). Name another folder.") from error
    if not isinstance(found, dict):
        raise InputError(f"checkpoint file {file} is no manifest. Name another folder.")
    return found


def fingerprint(gram: Gram, names: Array | None) -> str:
    """Return what tells one collection under one kernel from another."""
    digest = hashlib.blake2b(digest_size=16)
    if names is not None:
        for name in names.tolist():
            digest.update(str(name).encode())
    elif hasattr(gram.source, "matrix"):
        matrix = gram.source.matrix
        for rows in tiles(len(matrix), 8 * len(matrix)):
            digest.update(np.ascontiguousarray(matrix[rows], dtype=np.float64).tobytes())
    digest.update(np.round(gram.diagonal().astype(np.float64), 9).tobytes())
    return digest.hexdigest()


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:37]}…"
