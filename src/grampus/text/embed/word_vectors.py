"""Word vectors in a text file: a word and its numbers in every line, as GloVe, word2vec and fastText write them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from ..._files import open_regular
from ...errors import InputError

_LONGEST = 1 << 20  # bytes of a line
_MOST_DIMENSIONS = 1 << 14
_FORMS = (str, str.lower, str.capitalize, str.upper)  # how a word of a text may be written in a file


@dataclass(frozen=True)
class FoundVectors:
    """Vectors that were looked up in a file.

    Attributes
    ----------
    known : bool array of shape (w,)
        Which words have a vector.
    rows : float32 array of shape (known words, d)
        The vectors of these, in their order.
    sha256 : str
        Digest of the file.
    """

    known: NDArray[np.bool_]
    rows: NDArray[np.float32]
    sha256: str


def look_up_vectors(path: str | PathLike[str], words: Sequence[str]) -> FoundVectors:
    r"""Return the vectors of words in a file, in one pass; only the lines of these words are converted to numbers.

    A word is looked for as it is, in lower case, capitalised and in capitals, in this order. The first line may be a
    header, the number of words and of dimensions.

    Parameters
    ----------
    path : path
    words : sequence of str

    Examples
    --------
    >>> import tempfile
    >>> from grampus.text.embed.word_vectors import look_up_vectors
    >>> with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
    ...     print("whale 1 0\nbird 0 1", file=file, flush=True)
    ...     found = look_up_vectors(file.name, ["Bird", "xyz"])
    >>> found.known.tolist(), found.rows.tolist()
    ([True, False], [[0.0, 1.0]])
    """
    place = Path(path)
    wanted = {form(word).encode("utf-8", "replace") for word in words for form in _FORMS}
    digest, vectors = sha256(), dict[bytes, NDArray[np.float32]]()
    with open_regular(place) as file:
        header, width = _shape(file, place)
        count = 0
        for number, line in enumerate(iter(partial(file.readline, _LONGEST), b""), 1):
            digest.update(line)
            if number == 1 and header is not None:
                continue
            count += 1
            if line.rstrip().count(b" ") < width:
                raise _damaged(place, f"line {number} must hold a word and {width} numbers")
            word = line[: line.index(b" ")]
            if word in wanted and word not in vectors:
                vectors[word] = _numbers(line, place, number, width)
    if header is not None and count != header:
        raise _damaged(place, f"its header announces {header} words, and it holds {count}")
    every = [[form(word).encode("utf-8", "replace") for form in _FORMS] for word in words]
    found = [next((vectors[form] for form in forms if form in vectors), None) for forms in every]
    rows = [row for row in found if row is not None]
    stacked = np.array(rows, np.float32).reshape(len(rows), width)
    return FoundVectors(np.array([row is not None for row in found], dtype=bool), stacked, digest.hexdigest())


def _shape(file: IO[bytes], path: Path) -> tuple[int | None, int]:
    """Return the number of words that a header announces, None without one, and the number of dimensions."""
    fields = file.readline(_LONGEST).split()
    header = len(fields) == 2 and all(field.isdigit() and len(field) < 12 for field in fields)
    width = int(fields[1]) if header else len(fields) - 1
    if not header:
        file.seek(0)
        try:
            float(fields[-1])
        except (LookupError, ValueError):
            width = 0
    if not 1 <= width <= _MOST_DIMENSIONS:
        form = "a word and its numbers in every line"
        raise InputError(f"{path.name} must hold word vectors as text, {form}; it does not.")
    file.seek(0)
    return int(fields[0]) if header else None, width


def _numbers(line: bytes, path: Path, number: int, width: int) -> NDArray[np.float32]:
    """Return the numbers of a line."""
    try:
        row = np.array(line.split()[-width:], dtype=np.float32)
    except ValueError:
        raise _damaged(path, f"line {number} must hold a word and {width} numbers") from None
    if not np.isfinite(row).all():
        raise _damaged(path, f"line {number} holds NaN or infinity")
    return row


def _damaged(path: Path, why: str) -> InputError:
    return InputError(f"{path.name} must be a complete file of word vectors; {why}.")
