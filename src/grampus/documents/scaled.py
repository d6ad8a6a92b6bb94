"""Fit a DocumentClusterer in parts: where the pieces come from, and where they are held."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from .._config import format_size, settings
from .._files import new_folder
from .._parallel import thread_count
from .._progress import Progress
from ..errors import InputError, MemoryBudgetError, MissingExtraError
from ..persist import Run
from ..scale import Disk, Parts, Record, Scratch
from ..scale.dask import OnDask
from ..scale.parts import is_final
from ..text import Corpus, Texts
from ..text.readers.pieces import DOCUMENTS, Pieces, replace_ids
from ..text.terms.in_parts import pack_corpus
from .frames import read_rows
from .in_parts import Settings, check_kernel, cluster_parts
from .inputs import as_corpus
from .piece import document_tables

TEXTS = "texts"
IN_MEMORY, ON_DISK = 15.0, 5.0  # bytes for each byte of text, an estimate on the safe side
SECONDS, FIXED = 0.6, 60.0  # of a core for each megabyte of text, and for samples; likewise (docs/scale.md)


def is_dask(X: Any) -> bool:
    """Return whether X is a Dask bag or data frame."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(X, "to_delayed")


def is_in_parts(X: Any, client: Any, scratch: Any) -> bool:
    """Return whether documents are to be clustered in parts: they come so, or it was asked for."""
    return client is not None or scratch is not None or isinstance(X, Pieces | Parts) or is_dask(X)


def fit_in_parts(
    model: Any, X: Any, unused: dict[str, Any], text: str | None, client: Any, scratch: Any, progress: Progress
) -> Any:
    """Fit a clusterer to documents in pieces and return it.

    Parameters
    ----------
    model : DocumentClusterer
    X : Pieces, Dask bag or frame, Parts, or texts
    unused : dict
        Options of ``fit`` that do not work in parts; refused where they are given.
    text : str, optional
        Column of the texts in a frame.
    client : distributed.Client, optional
    scratch : path, optional
    progress : callable
    """
    began = time.perf_counter()
    settings = check_model(model, unused)
    if isinstance(X, Parts):
        _set_fitted(model, X, settings, began, progress)
        return model
    with open_parts(X, {**model.get_params(), "text": text}, text, client, scratch) as parts:
        _set_fitted(model, parts, settings, began, progress)
    return model


def check_model(model: Any, unused: dict[str, Any]) -> Settings:
    """Check the parameters of a clusterer before any work; refuse what does not work in parts."""
    kernel, method, effort, seed = model._check()
    given = {**unused, **{name: getattr(model, name) for name in ("vectors", "embed", "outliers")}}
    named = [name for name, value in given.items() if value is not None and value != "off"]
    if named:
        instead = " (the tables of all documents say how odd each is)" if named[0] == "outliers" else ""
        raise InputError(
            f"{named[0]} does not work in parts; leave it out{instead}, or leave out scratch and client (--scratch, "
            "--dask) to work in memory."
        )
    if effort.level != "middle":
        raise InputError("In parts the answer is the middle level; the others are in the run. Leave out level.")
    most = max(effort.ks or (1,)) if model.n_clusters == "auto" else int(model.n_clusters)
    kernel = kernel.for_clusters(most, method.components())
    return Settings(kernel, method, effort, seed, check_kernel(kernel))


def open_parts(X: Any, job: dict[str, Any], text: str | None, client: Any, scratch: Any) -> Parts:
    """Return the pieces of documents, read: on workers if there is a client, else on disk."""
    X = X if isinstance(X, Pieces) or is_dask(X) else _texts(X, text)
    place = Scratch(scratch, {"parameters": {name: repr(value) for name, value in job.items()}, "state": _state(X)})
    try:
        if is_dask(X) or client is not None:
            return _on_workers(X, text, client, place)
        parts = Disk(place)
        if isinstance(X, Pieces):
            parts.begin(TEXTS, X.reader, X.files)
        else:
            parts.begin(TEXTS, cut, [X])
    except BaseException as error:
        place.close(finished=is_final(type(error)))
        raise
    return parts


def _state(X: Any) -> Any:
    """Return what tells whether an interrupted job had the same documents."""
    if isinstance(X, Pieces):
        return X.state()
    if isinstance(X, Corpus):
        return [hashlib.sha256(part.tobytes()).hexdigest() for part in (*X.texts.to_arrays(), *X.ids.to_arrays())]
    return os.urandom(8).hex()  # a Dask collection: nobody knows


def _on_workers(X: Any, text: str | None, client: Any, place: Scratch) -> Parts:
    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        raise MissingExtraError(
            "Dask must be installed to work on its collections; run: pip install 'grampus[dask]'"
        ) from None
    if client is None:
        try:
            client = distributed.default_client()
        except ValueError:
            raise InputError("A Dask collection needs client=…; there is no distributed.Client.") from None
    parts = OnDask(client, place)
    if is_dask(X):
        futures = client.compute(list(X.to_delayed()))
        parts.begin(TEXTS, _partition, [(place, text, future) for place, future in enumerate(futures)])
    elif isinstance(X, Pieces):
        parts.begin(TEXTS, X.reader.whole, [(file,) for file in X.files])
    else:
        parts.begin(TEXTS, dict, [(parts.keep(dict(record)),) for record in cut(X)])
    return parts


def _texts(X: Any, text: str | None) -> Corpus:
    corpus = as_corpus(read_rows(X, text).X)
    if corpus is None:
        raise InputError(f"In parts X must be texts, a Dask bag or frame, or read_pieces(…); got {type(X).__name__}.")
    return corpus


def cut(corpus: Corpus, documents: int = DOCUMENTS) -> Iterator[Record]:
    """Yield the pieces of a corpus.

    Parameters
    ----------
    corpus : Corpus
    documents : int
        Of a piece, at most.
    """
    for first in range(0, len(corpus), documents):
        inside = slice(first, first + documents)
        columns: dict[str, Any] = {
            name: None if values is None else values[inside]
            for name, values in ((name, getattr(corpus, name)) for name in ("labels", "titles", "dates"))
        }
        ids = corpus.ids[inside]
        yield pack_corpus(replace_ids(Corpus(corpus.texts[inside], **columns), ids))


def _partition(number: int, text: str | None, values: Any) -> Record:
    """Return a partition of a bag or frame as a piece."""
    if hasattr(values, "columns"):
        name = text or "text"
        if name not in values.columns:
            raise InputError(f"text must name a column of the frame, one of {', '.join(map(str, values.columns))}.")
        texts, ids = values[name].tolist(), [str(one) for one in values.index]
    else:
        held = list(values)
        texts = [one.get(text or "text") if isinstance(one, dict) else one for one in held]
        ids = [str(one.get("id", place)) if isinstance(one, dict) else str(place) for place, one in enumerate(held)]
    kept = [(one, name) for one, name in zip(texts, ids, strict=True) if isinstance(one, str) and one.strip()]
    corpus = Corpus(Texts(one for one, _ in kept))
    return pack_corpus(replace_ids(corpus, Texts(f"{number}:{name}" for _, name in kept)))


def _set_fitted(model: Any, parts: Parts, settings: Settings, began: float, progress: Progress) -> None:
    """Cluster, and set the attributes of the fitted clusterer."""
    found = cluster_parts(model, parts, settings, progress)
    run = found.run
    made = replace(run.provenance, seconds=round(time.perf_counter() - began, 3))
    model.predictor_, model.result_, model.confidence_, model.index_ = found.predictor, None, None, None
    model._set_fitted(replace(run, provenance=made))
    model.labels_ = found.labels.astype(np.intp)


def write_tables(parts: Parts, folder: Path, run: Run) -> int:
    """Write the results of all documents as a folder of Parquet files, one for each piece; return how many.

    The folder appears whole or not at all, and replaces an older one of such files; after an error the older one is
    there.

    Parameters
    ----------
    parts : Parts
        As they are after a fit.
    folder : Path
    run : Run
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtraError(
            "pyarrow must be installed to write Parquet; run: pip install 'grampus[parquet]'"
        ) from None
    if folder.exists() and not all(file.suffix == ".parquet" for file in folder.iterdir()):
        raise InputError(f"The tables need a folder of their own; {folder} holds other files.")
    count = 0
    with new_folder(folder, over=True) as fresh:
        for count, columns in enumerate(document_tables(parts, run), 1):
            parquet.write_table(pyarrow.table(columns), fresh / f"part-{count - 1:05d}.parquet")
    return count


@dataclass(frozen=True)
class Planned:
    """Whether documents are clustered in parts, and what that will take, in a sentence."""

    in_parts: bool
    sentence: str = ""


def plan_parts(pieces: Pieces, asked: bool, scratch: Any, *, on_workers: bool) -> Planned:
    """Choose between memory and parts by the size of the files and the budget; refuse what fits neither.

    Parameters
    ----------
    pieces : Pieces
    asked : bool
        Whether parts were asked for.
    scratch : path, optional
    on_workers : bool
        Whether the pieces go to Dask workers.
    """
    size = pieces.text_size
    memory, budget = IN_MEMORY * size, settings().memory
    if not asked and memory <= budget:
        return Planned(False)
    place = Path(scratch or tempfile.gettempdir())
    room = shutil.disk_usage(next(above for above in (place, *place.absolute().parents) if above.exists())).free
    if not on_workers and ON_DISK * size > room:
        raise MemoryBudgetError(
            f"{pieces.source} needs about {format_size(memory)} of memory (the budget is {format_size(budget)}) or "
            f"{format_size(ON_DISK * size)} of disk ({place} has {format_size(room)}). Name another folder with "
            "scratch=… (--scratch), or use Dask."
        )
    where = "on Dask workers" if on_workers else f"on disk, {format_size(ON_DISK * size)} in {place}"
    reason = "" if asked else f" (memory would need {format_size(memory)}, the budget is {format_size(budget)})"
    minutes = max(1, round((FIXED + SECONDS * size / 1e6) / 60 / max(thread_count(), 1)))
    return Planned(True, f"Working in parts {where}{reason}; about {minutes} min on {thread_count()} cores.")
