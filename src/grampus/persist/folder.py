"""The run folder: ``manifest.json`` and arrays as ``.npy``, each file with its SHA-256.

Array files are named after their content (``evidence.labels-0f3a….npy``), so a new run can be written into the folder
of an old one: write the new arrays, replace the manifest with one rename, delete the old arrays. At every moment there
is one manifest, and every file it names exists. The manifest contains its own hash and must be spelled exactly as this
module spells it, so that no changed byte goes unnoticed. Writers hold a lock; readers need none.
"""

import contextlib
import hashlib
import io
import json
import math
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, is_dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from .._config import settings
from .._files import locked, new_folder, open_regular, replace_file, sync_folder
from .._outputs import MANIFEST, RUN_FORMAT
from ..errors import InputError, RunError
from ..text import Texts

LARGEST_MANIFEST = 2**28
WAIT = 30.0  # seconds for another writer to finish
_FILE = re.compile(r"[a-z_.]+-[0-9a-f]{16}\.npy", re.ASCII)
_TEMPORARY = re.compile(r"\.(manifest\.json|[a-z_.]+-[0-9a-f]{16}\.npy)\.[0-9a-f]{12}\.tmp", re.ASCII)
_END = "\n}\n"  # of a manifest
_BYTES, _ENDS = ".bytes", ".ends"  # of an array of texts


@contextlib.contextmanager
def writing(path: str | PathLike[str], wait: float = WAIT) -> Iterator[Path]:
    """Hold the lock of a run folder; other writers wait for their turn.

    Raises
    ------
    RunError
        Another process holds it for longer than `wait` seconds.
    """
    place = Path(os.path.realpath(path))
    place.parent.mkdir(parents=True, exist_ok=True)
    outside = os.access(place.parent, os.W_OK) or not place.is_dir()
    with locked((place.parent if outside else place) / f".{place.name}.lock", wait) as alone:
        if not alone:
            raise RunError(f"{path} is being written by another process. Wait for it, or choose another folder.")
        yield place


def write_folder(place: Path, schema: int, plain: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Write values and arrays (or Texts) as a run folder, in one step; hold its lock (`writing`) meanwhile."""
    named = dict(_named(arrays))
    if not is_run(place):
        with new_folder(place) as fresh:
            _fill(fresh, schema, plain, named)
        return
    old = _ours(place)  # listed now: after the manifest is replaced nothing should fail
    try:
        kept = _fill(place, schema, plain, named)
    except BaseException:
        finish(place)  # removes the new arrays
        raise
    _sweep(old, kept)  # they may hold what was to be forgotten


def replace_value(place: Path, schema: int, name: str, value: Any, seen: str) -> str:
    """Replace one value of a run folder whose manifest is as it was seen; hold its lock meanwhile.

    Returns the digest of the new manifest, as `manifest_digest` does.
    """
    old = _read_bytes(place / MANIFEST, LARGEST_MANIFEST)
    if hashlib.sha256(old).hexdigest() != seen:  # nor one that nobody has checked
        raise RunError(f"{place} was changed by another process meanwhile. Nothing was written.")
    manifest = json.loads(old)
    del manifest["sha256"]
    raw = _encode({**manifest, "schema": schema, "run": {**manifest["run"], name: value}})
    replace_file(place / MANIFEST, raw)
    sync_folder(place)
    return hashlib.sha256(raw).hexdigest()


def manifest_digest(path: str | PathLike[str]) -> str:
    """Return the SHA-256 of a run's manifest: another one whenever anything of the run is another."""
    try:
        return hashlib.sha256(_read_bytes(Path(path) / MANIFEST, LARGEST_MANIFEST)).hexdigest()
    except (FileNotFoundError, NotADirectoryError):
        raise RunError(f"There must be a run folder at {path}; it has no {MANIFEST}.") from None


def finish(place: Path) -> None:
    """Remove what an interrupted writer left, such as the arrays of deleted documents; hold the lock meanwhile."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):  # a reader says what is wrong
        _sweep(_ours(place), json.loads(_read_bytes(place / MANIFEST, LARGEST_MANIFEST)))


def _finish_later(place: Path, manifest: dict[str, Any]) -> None:
    """Remove what an interrupted writer left, if there is anything, and nobody is writing or forbids it.

    Where the file system has no locks, files newer than the manifest may belong to a writer: they stay.
    """
    named = {entry["file"] for entry in manifest["arrays"].values()}
    with contextlib.suppress(OSError):
        since = (place / MANIFEST).stat().st_mtime_ns
        if any(file.name not in named and file.stat().st_mtime_ns < since for file in _ours(place)):
            with contextlib.suppress(RunError), writing(place, wait=0.0):
                finish(place)


def read_folder(path: str | PathLike[str], newest: int) -> tuple[int, dict[str, Any]]:
    """Return the schema of a run folder and its content, after checking every byte.

    An array named ``part.name`` is found in ``content[part][name]``. What an interrupted writer left is removed.
    """
    place, manifest = Path(path), None
    while True:
        before, manifest = manifest, _read_manifest(place, newest)
        try:
            arrays = {name: _read_array(place, name, entry) for name, entry in manifest["arrays"].items()}
        except FileNotFoundError as error:
            if manifest != before:  # it may have been replaced by a new run while we read
                continue
            raise RunError(f"{place}: {Path(error.filename).name} is missing. Recreate the run.") from None
        _finish_later(place, manifest)
        return manifest["schema"], _placed(place, manifest["run"], _joined(place, arrays))


def as_read(plain: dict[str, Any], arrays: dict[str, Any]) -> dict[str, Any]:
    """Return the content that `read_folder` will return for what `write_folder` is given."""
    return _placed(Path(), json.loads(_dump(plain)), arrays)


def _placed(place: Path, content: dict[str, Any], arrays: dict[str, Any]) -> dict[str, Any]:
    """Put arrays among the other values, in the parts that their names say."""
    for name, array in arrays.items():
        part, dot, field = name.partition(".")
        parent = content.setdefault(part, {}) if dot else content
        if not isinstance(parent, dict) or (field or part) in parent:
            raise RunError(f"{place}: {MANIFEST} has an array and another value for {name[:80]!r}. Recreate the run.")
        parent[field or part] = array
    return content


def is_run(place: Path) -> bool:
    """Return whether a folder holds a run; refuse one that holds anything else."""
    if not place.exists() and not place.is_symlink():
        return False
    if not place.is_dir():
        raise RunError(f"A run needs a folder; {place} is a file. Choose another folder.")
    if (place / MANIFEST).exists():
        return True
    if any(place.iterdir()):
        raise RunError(f"A run needs a new folder, an empty one, or one that holds a run; {place} holds other files.")
    return False


def _named(arrays: dict[str, Any]) -> Any:
    """Yield the name and content of every file; texts are two arrays."""
    for name, value in arrays.items():
        if isinstance(value, Texts):
            data, ends = value.to_arrays()
            yield name + _BYTES, data
            yield name + _ENDS, ends
        else:
            yield name, np.asarray(value)


def _joined(place: Path, arrays: dict[str, Any]) -> dict[str, Any]:
    """Join the two arrays of every column of texts."""
    for name in [name.removesuffix(_BYTES) for name in arrays if name.endswith(_BYTES)]:
        try:
            arrays[name] = Texts.from_arrays(arrays.pop(name + _BYTES), arrays.pop(name + _ENDS))
        except (InputError, KeyError):
            raise RunError(f"{place}: the texts {name[:80]!r} cannot be read. Recreate the run.") from None
    return arrays


def _fill(folder: Path, schema: int, plain: dict[str, Any], arrays: dict[str, Any]) -> dict[str, Any]:
    """Write the arrays, then the manifest that names them, which is returned."""
    entries = {}
    for name, array in arrays.items():
        data = io.BytesIO()
        np.save(data, array, allow_pickle=False)
        with data.getbuffer() as content:  # given back at once: Python 3.12 may crash where an error still holds it
            digest = hashlib.sha256(content).hexdigest()
            entries[name] = {"file": _file(name, digest), "sha256": digest}
            replace_file(folder / entries[name]["file"], content)
    sync_folder(folder)
    manifest = {"format": RUN_FORMAT, "schema": schema, "run": plain, "arrays": entries}
    replace_file(folder / MANIFEST, _encode(manifest))
    sync_folder(folder)
    return manifest


def _file(name: str, digest: str) -> str:
    return f"{name}-{digest[:16]}.npy"


def _ours(folder: Path) -> list[Path]:
    """Return the arrays of a folder, and what killed writers left."""
    return [file for file in folder.iterdir() if _FILE.fullmatch(file.name) or _TEMPORARY.fullmatch(file.name)]


def _sweep(files: list[Path], manifest: dict[str, Any]) -> None:
    """Remove files that the manifest does not name; after an error or an interrupt the others first."""
    named = {entry["file"] for entry in manifest["arrays"].values()}
    failed: BaseException | None = None
    for file in files:
        if file.name not in named:
            try:
                file.unlink(missing_ok=True)
            except BaseException as error:
                failed = error
                with contextlib.suppress(OSError):
                    file.unlink(missing_ok=True)
    if failed is not None:
        raise failed


def _encode(content: dict[str, Any]) -> bytes:
    """Return the manifest in its only spelling, with a hash of the rest."""
    text = _dump(content)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return f'{text.removesuffix(_END)},\n "sha256": "{digest}"{_END}'.encode()  # its key is the last in their order


def _dump(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=1, sort_keys=True, allow_nan=False, default=_plain) + "\n"


def _plain(value: Any) -> Any:
    """Turn records and NumPy numbers into JSON values."""
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a run cannot store {value!r} ({type(value).__name__})")


def _read_manifest(place: Path, newest: int) -> dict[str, Any]:
    """Return the manifest, if it is spelled exactly as this module spells it."""
    try:
        raw = _read_bytes(place / MANIFEST, LARGEST_MANIFEST)
    except (FileNotFoundError, NotADirectoryError):
        raise RunError(f"There must be a run folder at {place}; it has no {MANIFEST}.") from None
    altered = RunError(f"{place}: {MANIFEST} is not as it was written. Recreate the run.")
    try:
        manifest = json.loads(raw)
        if manifest["format"] != RUN_FORMAT or type(manifest["schema"]) is not int or manifest["schema"] < 1:
            raise altered
        if manifest["schema"] > newest:
            raise RunError(
                f"{place} was written by a newer version of Grampus (schema {manifest['schema']}; this version reads "
                f"up to {newest}). Upgrade Grampus."
            )
        del manifest["sha256"]
        whole = _encode(manifest) == raw and isinstance(manifest["run"], dict) and isinstance(manifest["arrays"], dict)
    except (ValueError, KeyError, TypeError, RecursionError) as error:  # NaN, a missing key, no object, too deep
        raise error if isinstance(error, RunError) else altered from None
    if not whole:
        raise altered
    return dict(manifest)


def _read_array(place: Path, name: str, entry: Any) -> Any:
    """Return an array whose file is as its entry says; FileNotFoundError if there is none."""
    digest = entry.get("sha256") if isinstance(entry, dict) else None
    if (
        not isinstance(digest, str)
        or not _FILE.fullmatch(_file(name, digest))
        or entry.get("file") != _file(name, digest)
    ):
        raise RunError(f"{place}: {MANIFEST} has no valid file for the array {name[:80]!r}. Recreate the run.")
    raw = _read_bytes(place / entry["file"], settings().memory)
    if hashlib.sha256(raw).hexdigest() != digest:
        raise RunError(f"{place}: {entry['file']} is not as it was written. Recreate the run.")
    try:
        return _parse_array(raw)
    except (ValueError, TypeError, SyntaxError, LookupError, AttributeError, RecursionError, OverflowError):
        raise RunError(f"{place}: {entry['file']} is not an array of numbers. Recreate the run.") from None


def _parse_array(raw: bytes) -> Any:
    """Return the array of an ``.npy`` file; unlike ``np.load``, allocate nothing that the file does not hold."""
    stream = io.BytesIO(raw)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError("version")
    shape, columns_first, dtype = np.lib.format.read_array_header_1_0(stream)
    data = memoryview(raw)[stream.tell() :]
    if dtype.kind not in "biuf" or math.prod(shape) * dtype.itemsize != len(data) or min(shape, default=0) < 0:
        raise ValueError("shape")
    return np.frombuffer(data, dtype).reshape(shape, order="F" if columns_first else "C").copy()


def _read_bytes(file: Path, limit: int) -> bytes:
    """Return the content of a regular file; FileNotFoundError and NotADirectoryError pass."""
    try:
        with open_regular(file, limit) as stream:
            return stream.read()
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        raise RunError(f"{file} cannot be read: {error.strerror}.") from None
