"""check_reader: one suite for every reader of `grampus.text`."""

import gzip
import io
import os
import random
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from ..errors import CorpusError
from ..text import BadRecord, CorpusWarning, Reader, ReadOptions, Record, Source, read_corpus, register_reader
from ..text.readers import READERS

_HEAD = 16
_DAMAGED = 100


def check_reader(
    reader: Reader, data: bytes, texts: Sequence[str], *, query: str | None = None, random_state: int = 0
) -> None:
    """Check that a reader does what `grampus.text.read_corpus` expects, on one small file of its format.

    The file is read by format, by name and by its first bytes, twice, as a stream and compressed, as a member of a
    folder, and damaged in a hundred ways, each as far as the reader's row says it applies.

    Parameters
    ----------
    reader : Reader
        The reader under test; it need not be registered.
    data : bytes
        A valid file.
    texts : sequence of str
        The texts of its documents.
    query : str, optional
        For a reader that takes one.
    random_state : int
        Seed of the damage.

    Raises
    ------
    AssertionError
        With the rule that the reader breaks.

    Examples
    --------
    >>> from grampus.testing import check_reader
    >>> from grampus.text import Reader, Record, Table
    >>> def open_shout(source):
    ...     lines = "".join(source.text()).split("!")
    ...     return Table("shout", ("text",), (Record(n, {"text": line}) for n, line in enumerate(lines, 1)))
    >>> check_reader(Reader("shouts", open_shout, (".shout",)), b"whale!bird", ["whale", "bird"])
    """
    _check_row(reader, data)
    expected = list(texts)
    with tempfile.TemporaryDirectory() as folder, _registered(reader):
        path = Path(folder, "file").with_suffix(reader.suffixes[0] if reader.suffixes else "")
        path.write_bytes(data)
        _check_table(reader, path, query)
        for attempt in ("first", "second"):
            _equal(_read(path, format=reader, query=query), expected, f"the {attempt} time")
        _check_closed(path)
        if reader.suffixes:
            _equal(_read(path, query=query), expected, f"found by its suffix {path.suffix}")
        if reader.magic:
            unnamed = Path(folder, "unnamed")
            unnamed.write_bytes(data)
            _equal(_read(unnamed, query=query), expected, "found by its first bytes")
        if not reader.needs_path:
            _equal(_read(io.BytesIO(data), format=reader, query=query), expected, "as a stream")
            _equal(_read(io.BytesIO(gzip.compress(data)), format=reader, query=query), expected, "compressed")
        if reader.in_folder:
            members = Path(folder, "folder")
            members.mkdir()
            (members / path.name).write_bytes(data)
            _equal(_read(members), expected, "in a folder")
        _check_damage(reader, path, data, query, random.Random(random_state))  # noqa: S311


def _require(holds: bool, rule: str) -> None:
    if not holds:
        raise AssertionError(rule)


def _check_row(reader: Reader, data: bytes) -> None:
    _require(bool(reader.name), "a reader must have a name")
    for suffix in reader.suffixes:
        _require(
            suffix.startswith(".") and suffix.islower(), f"suffixes must be in lower case, with the dot: {suffix!r}"
        )
    if reader.magic:
        offset, magic = reader.magic
        _require(bool(magic) and offset + len(magic) <= _HEAD, f"magic must lie within the first {_HEAD} bytes")
        _require(reader.recognises(data), "magic must be in the example")


@contextmanager
def _registered(reader: Reader) -> Iterator[None]:
    if READERS.get(reader.name) is reader:
        yield
        return
    register_reader(reader)
    try:
        yield
    finally:
        del READERS[reader.name]


def _read(source: Any, **options: Any) -> list[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CorpusWarning)
        return list(read_corpus(source, options=ReadOptions(empty="keep"), **options).texts)


def _equal(found: list[str], expected: list[str], how: str) -> None:
    _require(found == expected, f"read {how}, the texts must be {expected!r}; got {found!r}")


def _check_table(reader: Reader, path: Path, query: str | None) -> None:
    """Check that records are numbered from 1 on, and have no columns but those of the table."""
    with ExitStack() as cleanup:
        stream = cleanup.enter_context(path.open("rb"))
        table = reader.open(Source(path.name, stream, str(path), query=query, cleanup=cleanup))
        _require(bool(table.unit), "a table must name its unit")
        last = 0
        for item in table.records:
            _require(isinstance(item, Record | BadRecord), f"records must be Record or BadRecord; got {item!r}")
            _require(item.number > last, f"records must have rising numbers from 1 on; got {item.number} after {last}")
            last = item.number
            if isinstance(item, Record) and table.columns is not None:
                unknown = set(item.values) - set(table.columns)
                _require(not unknown, f"records must have the table's columns; got also {sorted(unknown)}")


def _check_closed(path: Path) -> None:
    descriptors = Path("/proc/self/fd")
    if descriptors.is_dir():
        still = [link for link in descriptors.iterdir() if os.path.realpath(link) == os.path.realpath(path)]
        _require(not still, "files must be closed after reading; enter them into source.cleanup")


def _check_damage(reader: Reader, path: Path, data: bytes, query: str | None, rng: random.Random) -> None:
    """Check that damaged files give a corpus or a `CorpusError` of one line."""
    for _ in range(_DAMAGED):
        damaged = bytearray(data[: rng.randrange(len(data) + 1)] if rng.random() < 0.3 else data)
        for _ in range(rng.randrange(4)):
            if damaged:
                damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        path.write_bytes(damaged)
        try:
            _read(path, format=reader, query=query)
        except CorpusError as error:
            _require("\n" not in str(error), f"errors must be one line; got {str(error)!r}")
        except Exception as error:
            raise AssertionError(f"a damaged file must raise a CorpusError; got {error!r} for {damaged!r}") from error
