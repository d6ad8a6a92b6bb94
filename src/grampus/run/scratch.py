"""A folder for pieces that do not stay in memory; bounded by the disk, and removed at the end."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._files import naming, new_folder, remove_folder, write_file
from .._version import __version__
from ..errors import PartsError

Record = Mapping[str, NDArray[Any]]

_MANIFEST = "job.json"
_INTERRUPTED = (KeyboardInterrupt, OSError, MemoryError, PartsError)  # another try may end better


class Scratch:
    """Records of arrays by step and place, each written whole or not at all, and read as memory maps.

    Two jobs never share a folder: its name is a digest of what the job depends on. A job that was interrupted finds
    what it has finished. Without a place, a folder of the system is used, and nothing is left after an error either.

    Parameters
    ----------
    place : path, optional
        Where to make the folder.
    job : dict
        What the job depends on, as JSON values.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.run import Scratch
    >>> with Scratch(None, {}) as scratch:
    ...     scratch.write("squares", 0, {"x": np.arange(3) ** 2})
    ...     scratch.has("squares", 0), scratch.read("squares", 0)["x"].tolist()
    (True, [0, 1, 4])
    """

    def __init__(self, place: str | os.PathLike[str] | None, job: Mapping[str, Any]) -> None:
        content = json.dumps({"grampus": __version__, **job}, sort_keys=True, default=str)
        self.kept, self._alone = place is not None, False
        if place is None:
            self.folder = Path(tempfile.mkdtemp(prefix="grampus-"))
        else:
            digest = hashlib.blake2b(content.encode(), digest_size=8).hexdigest()
            self.folder = Path(place) / f"grampus-{digest}"
            self._alone = not self.folder.parent.exists()
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            manifest = self.folder / _MANIFEST
            self.resumed = manifest.exists()
            if not self.resumed:
                write_file(manifest, content.encode())
        except BaseException:
            if not self.kept or not os.path.lexists(self.folder / _MANIFEST):
                self._remove()
            raise

    def __enter__(self) -> Scratch:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close(resumable=kind is not None and issubclass(kind, _INTERRUPTED))

    def write(self, step: str, place: int, record: Record) -> None:
        """Write a record, whole or not at all; one that is there stays."""
        if self.has(step, place):
            return
        with new_folder(self._path(step, place)) as fresh:
            for name, array in record.items():
                _write_array(fresh / f"{name}.npy", array)

    def has(self, step: str, place: int) -> bool:
        """Return whether a record is finished."""
        return self._path(step, place).is_dir()

    def read(self, step: str, place: int) -> Record:
        """Return a record, memory-mapped."""
        return {file.stem: _mapped(file) for file in sorted(self._path(step, place).glob("*.npy"))}

    def remove(self, step: str) -> None:
        """Delete the records of a step."""
        remove_folder(self.folder / step)

    def finish(self, step: str, count: int) -> None:
        """Remember that a step is finished, with so many records."""
        write_file(self.folder / f"{step}.done", str(count).encode())

    def finished(self, step: str) -> int | None:
        """Return the number of records of a finished step; None for one that is not."""
        mark = self.folder / f"{step}.done"
        with naming(mark):
            return int(mark.read_text()) if mark.exists() else None

    def close(self, *, resumable: bool = False) -> None:
        """Delete the folder; a job that was interrupted keeps the one that was asked for."""
        if not (resumable and self.kept):
            self._remove()

    def _remove(self) -> None:
        remove_folder(self.folder)
        if self._alone:
            with contextlib.suppress(OSError):  # other jobs may be in it
                self.folder.parent.rmdir()

    def _path(self, step: str, place: int) -> Path:
        return self.folder / step / f"{place:06d}"


def _write_array(file: Path, array: NDArray[Any]) -> None:
    """Write an array as .npy; unlike ``np.save``, say why where it fails."""
    kept = np.ascontiguousarray(array).reshape(array.shape)
    with file.open("xb") as out:
        np.lib.format.write_array_header_1_0(out, np.lib.format.header_data_from_array_1_0(kept))
        out.write(kept.reshape(-1).view(np.uint8).data)


def _mapped(file: Path) -> NDArray[Any]:
    with naming(file):
        try:
            return np.asarray(np.load(file, mmap_mode="r", allow_pickle=False))
        except ValueError:  # an empty array cannot be mapped
            return np.asarray(np.load(file, allow_pickle=False))
