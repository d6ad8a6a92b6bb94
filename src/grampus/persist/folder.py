"""The run folder: ``manifest.json`` and arrays as ``.npy``, each file with its SHA-256.

Arrays are named after their content (``labels-0f3a….npy``), so a new run can be written into the folder of an old
one: the new files come first, then one rename puts the new manifest in place of the old, then the old files go.
Whenever that is interrupted there is one manifest, and every file it names. The manifest holds a hash of itself and
must be written exactly as this module writes it, so that no byte of a run can change unseen.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
from dataclasses import asdict, is_dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from .._files import locked, new_folder, sync_folder, temporary, write_file, write_synced
from ..errors import InputError, RunError
from ..text import Texts

FORMAT = "grampus run"
MANIFEST = "manifest.json"
WAIT = 30.0  # seconds for another writer to finish
_FILE = re.compile(r"[a-z_.]+-[0-9a-f]{16}\.npy", re.ASCII)
_TEMPORARY = re.compile(r"\.(manifest\.json|[a-z_.]+-[0-9a-f]{16}\.npy)\.[0-9a-f]{12}\.tmp", re.ASCII)
_BYTES, _ENDS = ".bytes", ".ends"  # of an array of texts


def write_folder(path: str | PathLike[str], schema: int, plain: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Write values and arrays (or Texts) as a run folder, in one step, as the only writer."""
    place = Path(os.path.realpath(path))
    named = dict(_named(arrays))
    place.parent.mkdir(parents=True, exist_ok=True)
    outside = os.access(place.parent, os.W_OK) or not place.is_dir()
    with locked((place.parent if outside else place) / f".{place.name}.lock", WAIT) as alone:
        if not alone:
            raise RunError(f"{path} is being written by another process. Wait for it, or choose another folder.")
        if not is_run(place):
            with new_folder(place) as fresh:
                _fill(fresh, schema, plain, named)
            return
        try:
            _fill(place, schema, plain, named)
        finally:  # after an error, what was begun; after success, what the old run had
            _sweep(place)


def read_folder(path: str | PathLike[str], schema: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the values and arrays of a run folder, after checking every byte."""
    place = Path(path)
    manifest = _read_manifest(place, schema)
    arrays: dict[str, Any] = {}
    for name, entry in manifest["arrays"].items():
        arrays[name] = _read_array(place, name, entry)
    return manifest["run"], _joined(place, arrays)


def is_run(place: Path) -> bool:
    """Return whether a folder holds a run; refuse one that holds anything else."""
    if not place.exists() and not place.is_symlink():
        return False
    if not place.is_dir():
        raise RunError(f"A run needs a folder; {place} is a file. Choose another place.")
    if (place / MANIFEST).exists():
        return True
    if any(place.iterdir()):
        raise RunError(f"A run is written into a new or empty folder, or over another run; {place} holds other files.")
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
    """Put texts together again."""
    for name in [name.removesuffix(_BYTES) for name in arrays if name.endswith(_BYTES)]:
        try:
            arrays[name] = Texts.from_arrays(arrays.pop(name + _BYTES), arrays.pop(name + _ENDS))
        except (InputError, KeyError):
            raise RunError(f"{place}: the texts '{name}' cannot be read. Make the run anew.") from None
    return arrays


def _fill(folder: Path, schema: int, plain: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Write the arrays, then the manifest that names them."""
    entries = {}
    for name, array in arrays.items():
        data = io.BytesIO()
        np.save(data, array, allow_pickle=False)
        digest = hashlib.sha256(data.getbuffer()).hexdigest()
        entries[name] = {"file": f"{name}-{digest[:16]}.npy", "sha256": digest}
        target = folder / entries[name]["file"]
        beside = temporary(target)
        try:
            write_synced(beside, data.getbuffer())
            beside.replace(target)
        except BaseException:
            with contextlib.suppress(OSError):
                beside.unlink()
            raise
    sync_folder(folder)
    content = {"format": FORMAT, "schema": schema, "run": plain, "arrays": entries}
    write_file(folder / MANIFEST, _encode(content))


def _sweep(folder: Path) -> None:
    """Remove the arrays that the manifest does not name; nothing, if there is no telling."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        entries = json.loads((folder / MANIFEST).read_bytes())["arrays"]
        named = {entry["file"] for entry in entries.values()}
        for file in folder.iterdir():
            if file.name not in named and (_FILE.fullmatch(file.name) or _TEMPORARY.fullmatch(file.name)):
                file.unlink()


def _encode(content: dict[str, Any]) -> bytes:
    """Return the manifest's one spelling, with the hash of the rest of it."""
    text = _dump(content)
    return _dump({**json.loads(text), "sha256": hashlib.sha256(text.encode()).hexdigest()}).encode()


def _dump(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=1, sort_keys=True, allow_nan=False, default=_plain) + "\n"


def _plain(value: Any) -> Any:
    """Turn records and NumPy's numbers into what JSON knows."""
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a run cannot keep {value!r} ({type(value).__name__})")


def _read_manifest(place: Path, schema: int) -> dict[str, Any]:
    try:
        raw = (place / MANIFEST).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise RunError(f"There must be a run folder at {place}; it has no {MANIFEST}.") from None
    try:
        manifest = json.loads(raw)
        known = manifest["format"] == FORMAT
        found = manifest["schema"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise RunError(f"{place}: {MANIFEST} was changed or is not a run's. Make the run anew.") from None
    if known and isinstance(found, int) and found > schema:
        raise RunError(
            f"{place} was made by a newer Grampus (schema {found}; this one reads up to {schema}). Upgrade Grampus."
        )
    manifest.pop("sha256", None)
    try:
        whole = known and _encode(manifest) == raw and found == schema
    except (ValueError, TypeError):  # not a number, or a lone surrogate
        whole = False
    if not whole or not isinstance(manifest.get("run"), dict) or not isinstance(manifest.get("arrays"), dict):
        raise RunError(f"{place}: {MANIFEST} is not as it was written. Make the run anew.")
    return dict(manifest)


def _read_array(place: Path, name: str, entry: Any) -> Any:
    file = entry.get("file") if isinstance(entry, dict) else None
    if not isinstance(file, str) or not _FILE.fullmatch(file):
        raise RunError(f"{place}: '{name}' names no file of a run. Make the run anew.")
    try:
        raw = (place / file).read_bytes()
    except FileNotFoundError:
        raise RunError(f"{place}: {file} is missing. Make the run anew.") from None
    if hashlib.sha256(raw).hexdigest() != entry.get("sha256"):
        raise RunError(f"{place}: {file} is not as it was written. Make the run anew.")
    try:
        return np.load(io.BytesIO(raw), allow_pickle=False)
    except (ValueError, EOFError, TypeError, SyntaxError):
        raise RunError(f"{place}: {file} is not a plain array. Make the run anew.") from None
