"""Embedder: texts to rows, in batches, long texts in pieces, each computed once."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._array import unit_rows
from ..._backend import pays
from ..._check import check_integer
from ..._progress import Progress, as_progress
from ...errors import InputError
from ...run import runner_for
from ..corpus import Corpus
from .model import Model, find_model
from .store import Store, cut_words, text_key

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Embedder:
    """Turn texts into rows by a model of any kind.

    A text longer than the model takes is cut into pieces of equal length, and its row is their mean. Rows have unit
    length; an empty text is a row of zeros. Every distinct piece is computed once, and kept in the cache under the
    digests of the model and the piece, so that the second run computes nothing and does not even load the model.

    Parameters
    ----------
    model : callable, path or str
        A function from a list of texts to an array with a row for each; a folder with a static model
        (``tokenizer.json`` and safetensors), an ONNX model (``.onnx`` and ``tokenizer.json``) or a
        sentence-transformers model; an ``.onnx`` file; the name of a sentence-transformers model on this machine; or
        "auto" for the encoder of the extra ``[meaning]``.
    key : str, optional
        Identifies what a function computes, so that its rows can be cached. Other models have their digest.
    longest : int, optional
        Words of a piece; by default what the model takes, and whole texts for a function.
    batch_size : int, default=32
        Pieces computed at a time.
    download : bool, default=False
        Whether a model may be downloaded by its name. Otherwise the network is not used.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.text import Embedder
    >>> letters = Embedder(lambda texts: np.array([[len(text), text.count("a")] for text in texts]))
    >>> letters.embed(["abc", "aaaa", ""]).round(2).tolist()
    [[0.95, 0.32], [0.71, 0.71], [0.0, 0.0]]
    """

    model: Any
    key: str | None = None
    longest: int | None = None
    batch_size: int = 32
    download: bool = False

    def __post_init__(self) -> None:
        check_integer(self.batch_size, "batch_size", low=1)
        if self.longest is not None:
            check_integer(self.longest, "longest", low=1)
        if self.key is not None and not (callable(self.model) and isinstance(self.key, str)):
            raise InputError("key must be a string that identifies a function; other models are identified by content.")

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # not the model that was found

    @cached_property
    def found(self) -> Model:
        """The model, found but not loaded."""
        return find_model(self.model, download=self.download)

    @property
    def name(self) -> str:
        """The model as it was named."""
        return self.found.name

    @cached_property
    def sha256(self) -> str | None:
        """Digest of the model, or of the key of a function; None for a function without a key."""
        if self.key is not None:
            return sha256(b"function\0" + self.key.encode()).hexdigest()
        return self.found.sha256

    def embed(
        self, texts: Iterable[str] | Corpus, progress: Progress | None = None, notes: list[str] | None = None
    ) -> Floats:
        """Return a row of unit length for each text.

        Parameters
        ----------
        texts : iterable of str or Corpus
        progress : callable, optional
            Called as ``progress("embedding", done, total)``, in pieces.
        notes : list of str, optional
            Gets a sentence if the cache could not be used.

        Returns
        -------
        float64 array of shape (n, d)
        """
        longest = self.found.longest if self.longest is None else self.longest
        every = [pieces(text, longest) for text in (texts.texts if isinstance(texts, Corpus) else texts)]
        # In this order batches hold texts of about one length, and do not depend on the order of the documents.
        distinct = sorted({piece for own in every for piece in own}, key=lambda piece: (len(piece), piece))
        place = {piece: number for number, piece in enumerate(distinct)}
        rows = self._rows(distinct, as_progress(progress), notes)
        found = np.zeros((len(every), rows.shape[1]))
        whole = [number for number, own in enumerate(every) if len(own) == 1]
        found[whole] = rows[[place[every[number][0]] for number in whole]]
        for number, own in enumerate(every):
            if len(own) > 1:
                found[number] = rows[[place[piece] for piece in own]].mean(axis=0)
        return unit_rows(found)

    def _rows(self, distinct: list[str], progress: Progress, notes: list[str] | None) -> Floats:
        """Return the unit rows of different pieces, from the cache or computed."""
        keys = [text_key(piece) for piece in distinct]
        again = self.found.anywhere and pays(len(distinct))  # sooner than the cache
        store = None if self.sha256 is None or again else Store(self.sha256)
        rows = {} if store is None else _complete(store.read(keys))
        missing = [number for number, key in enumerate(keys) if key not in rows]
        batches = [missing[start : start + self.batch_size] for start in range(0, len(missing), self.batch_size)]
        encoded = self._encoded([[distinct[i] for i in some] for some in batches])
        for number, some in enumerate(batches):
            progress("embedding", number * self.batch_size, len(missing))
            made = self._check(next(encoded), len(some))
            fresh = {keys[i]: row.tobytes() for i, row in zip(some, made, strict=True)}
            rows |= fresh
            if store is not None:
                store.write(fresh)
        if missing:
            progress("embedding", len(missing), len(missing))
        if store is not None and store.problem and notes is not None:
            notes.append(store.problem)
        if len({len(row) for row in rows.values()}) > 1:
            raise InputError(f"embed must give rows of one length; {self.name} gives several.")
        width = len(next(iter(rows.values()))) // 4 if rows else 0
        values = np.frombuffer(b"".join(rows[key] for key in keys), "<f4").reshape(len(keys), width)
        return unit_rows(values.astype(np.float64))

    def _encoded(self, batches: list[list[str]]) -> Iterator[Any]:
        """Yield the rows of batches; the model is loaded for the first, or by workers where they give the same bits."""
        if self.found.anywhere:
            yield from runner_for(0).map(_encode, batches, self.found)
        elif batches:
            yield from map(self.found.load(), batches)

    def _check(self, rows: Any, count: int) -> NDArray[np.float32]:
        try:
            found = np.asarray(rows, dtype="<f4")
        except (TypeError, ValueError) as error:
            given = f"{self.name} gives {type(rows).__name__}"
            raise InputError(f"embed must give an array of numbers; {given}.") from error
        if found.ndim != 2 or len(found) != count or found.shape[1] == 0:
            given = f"{self.name} gives an array of shape {found.shape}"
            raise InputError(f"embed must give a row for each of {count} texts; {given}.")
        if not np.isfinite(found).all():
            raise InputError(f"embed must give finite numbers; {self.name} gives NaN or infinity.")
        return np.ascontiguousarray(found)


def _encode(texts: list[str], model: Model) -> Any:
    return model.load()(texts)


def _complete(rows: dict[bytes, Any]) -> dict[bytes, bytes]:
    """Leave out what is no row: everything, if the lengths differ or are not those of float32."""
    sizes = {len(row) if isinstance(row, bytes) else 0 for row in rows.values()}
    return rows if len(sizes) == 1 and min(sizes) > 0 and min(sizes) % 4 == 0 else {}


def pieces(text: str, longest: int | None) -> list[str]:
    """Cut a text into pieces of nearly equal length, at most `longest` words each; none if it is blank.

    Examples
    --------
    >>> from grampus.text.embed.embedder import pieces
    >>> pieces("one two three four five", 3)
    ['one two three', 'four five']
    >>> pieces(" ", 3), pieces(" one  two ", None)
    ([], ['one  two'])
    """
    words = text.split()
    if not words:
        return []
    if longest is None or len(words) <= longest:
        return [text.strip()]
    return cut_words(words, -(-len(words) // longest))


def as_embedder(embed: Any) -> Embedder:
    """Return an Embedder as it is, or one of a model."""
    return embed if isinstance(embed, Embedder) else Embedder(embed)
