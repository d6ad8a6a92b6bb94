"""Hostile files for the readers: mutated files of every format, and a gzip bomb."""

from __future__ import annotations

import gzip
import io
import json
import random
import resource
import signal
import sqlite3
import sys
import tempfile
import time
import warnings
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from grampus.errors import CorpusError
from grampus.text import CorpusWarning, ReadLimits, ReadOptions, read_corpus
from tests import samples

_RECORDS: list[dict[str, Any]] = [
    {"id": "a", "text": "The whale sang, \"loud\" and low.", "label": "sea", "n": 1},
    {"id": "b", "text": "Ein Vögelchen – 鳥 – sang,\nzu zweit; à deux", "label": "air", "n": 2.5},
    {"id": "c", "text": "x", "label": None, "n": None},
]  # fmt: skip
_TOKENS = [
    b"", b"\0", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b'"', b"'", b",", b";", b"\t", b"\r", b"\n", b"\r\n", b"{", b"}",
    b"[", b"]", b"[" * 3000, b":", b"\\", b"\\ud800", b"\\u0000", b"null", b"NaN", b"1e999", b"9" * 5000, b"-", b"true",
    b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x80\xa8", b"\x1a", b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b'{"text":"',
]  # fmt: skip


def mutate(data: bytes, rng: random.Random) -> bytes:
    """Return `data` with a few bytes flipped, inserted, deleted, copied or cut off."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        at = rng.randrange(len(changed) + 1)
        to = min(len(changed), at + rng.choice((1, 1, 2, 4, 16, 64)))
        kind = rng.randrange(6)
        if kind == 0 and at < len(changed):
            changed[at] ^= 1 << rng.randrange(8)
        elif kind == 1 and at < len(changed):
            changed[at] = rng.randrange(256)
        elif kind == 2:
            del changed[at:to]
        elif kind == 3:
            changed[at:at] = rng.choice(_TOKENS)
        elif kind == 4:
            changed[at:at] = changed[to : to + rng.choice((1, 8, 64))]
        elif rng.random() < 0.3:
            del changed[at:]
    return bytes(changed)


def _csv(delimiter: str) -> bytes:
    import csv

    out = io.StringIO()
    writer = csv.DictWriter(out, ["id", "text", "label", "n"], delimiter=delimiter)
    writer.writeheader()
    writer.writerows(_RECORDS)
    return out.getvalue().encode()


def _jsonl() -> bytes:
    return "\n".join(json.dumps(record, ensure_ascii=False) for record in _RECORDS).encode()


def _sqlite() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "seed.db"
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA page_size = 512")
        connection.execute("CREATE TABLE documents (id TEXT, text TEXT, label TEXT, n REAL)")
        rows = [(f"{r['id']}{n}", r["text"], r["label"], r["n"]) for n in range(8) for r in _RECORDS]
        connection.executemany("INSERT INTO documents VALUES (?, ?, ?, ?)", rows)
        connection.commit()
        connection.close()
        return path.read_bytes()


def _parquet() -> bytes:
    import pyarrow
    import pyarrow.parquet

    out = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(_RECORDS), out, compression="snappy")
    return out.getvalue()


def _arrow() -> bytes:
    import pyarrow

    out = io.BytesIO()
    table = pyarrow.Table.from_pylist(_RECORDS)
    with pyarrow.ipc.new_file(out, table.schema) as file:
        file.write_table(table)
    return out.getvalue()


def _duckdb() -> bytes:
    import duckdb

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "seed.duckdb"
        connection = duckdb.connect(str(path))
        connection.execute("CREATE TABLE documents (id VARCHAR, text VARCHAR, label VARCHAR)")
        rows = [(r["id"], r["text"], r["label"]) for r in _RECORDS]
        connection.executemany("INSERT INTO documents VALUES (?, ?, ?)", rows)
        connection.close()
        return path.read_bytes()


def _packed(name: str, data: bytes) -> bytes:
    import bz2
    import lzma

    return {"gz": gzip.compress(data, mtime=0), "bz2": bz2.compress(data), "xz": lzma.compress(data)}[name]


@dataclass(frozen=True)
class Reader:
    """A reader under fuzz: a valid file, its name, how it is read, and what is put around it after it was mutated.

    `batch` files of a folder are read at a time, where a reading starts a process.
    """

    seed: Callable[[], bytes]
    name: str
    options: dict[str, Any] = field(default_factory=dict)
    pack: Callable[[bytes], bytes] = bytes
    batch: int = 1


_PAGE = b"""<!DOCTYPE html><html><head><meta charset=utf-8><title>x</title><script>a<b</script></head>
<body class='a > b'><nav><a href="x">home</a></nav><main><h1>Whales</h1><!-- no --><p>They &lt;sing&gt;<br>low</main>
</body></html>"""
_MAIL = (
    b"Subject: =?utf-8?q?caf=C3=A9?=\nDate: Thu, 06 Jun 2024 09:30:00 +0200\nMIME-Version: 1.0\n"
    b"Content-Type: multipart/alternative; boundary=B\n\n--B\nContent-Type: text/plain; charset=utf-8\n"
    b"Content-Transfer-Encoding: base64\n\nV2hhbGVzIHNpbmcu\n--B\nContent-Type: text/html\n\n<p>Whales</p>\n--B--\n"
)
READERS: dict[str, Reader] = {
    "csv": Reader(lambda: _csv(","), "x.csv", {"label": "label"}),
    "tsv": Reader(lambda: _csv("\t"), "x.tsv", {"label": "label"}),
    "jsonl": Reader(_jsonl, "x.jsonl", {"label": "label", "title": "n"}),
    "json": Reader(lambda: json.dumps(_RECORDS, ensure_ascii=False).encode(), "x.json", {"label": "label"}),
    "json map": Reader(lambda: json.dumps({r["id"]: r for r in _RECORDS}, indent=1).encode(), "y.json", {}),
    "lines": Reader("One line.\nZwei Läufer, été.\n\nthree\n".encode, "x.txt", {}),
    "stream": Reader(_jsonl, "", {}),
    "gzip": Reader(lambda: _packed("gz", _jsonl() * 3), "x.jsonl.gz", {}),
    "bzip2": Reader(lambda: _packed("bz2", _csv(",")), "x.csv.bz2", {}),
    "xz": Reader(lambda: _packed("xz", _jsonl()), "x.jsonl.xz", {}),
    "folder": Reader(lambda: "Grüße aus der Tiefe. Ça va très bien.".encode("cp1252"), "folder/x.txt", {}),
    "sqlite": Reader(_sqlite, "x.sqlite", {"query": "SELECT id, text, label FROM documents"}),
    "parquet": Reader(_parquet, "x.parquet", {"label": "label"}),
    "arrow": Reader(_arrow, "x.arrow", {"label": "label"}),
    "duckdb": Reader(_duckdb, "x.duckdb", {"query": "SELECT id, text, label FROM documents"}),
    "markdown": Reader(b"---\ntitle: x\n---\n# Whales\n\nThey *sing* [low](x).\n\n- a\n- b\n".__bytes__, "x.md"),
    "rst": Reader(b"Whales\n======\n\nThey *sing*, :ref:`low <x>`.\n\n.. note:: x\n".__bytes__, "x.rst"),
    "latex": Reader(b"\\title{x}\\begin{document}\\section{y} They $x$ \\emph{sing}\\end{document}".__bytes__, "x.tex"),
    "subtitles": Reader(b"1\n00:00:01,000 --> 00:00:02,000\n<i>They</i> sing.\n".__bytes__, "x.srt"),
    "html": Reader(lambda: _PAGE, "x.html"),
    "mail": Reader(lambda: _MAIL, "x.eml"),
    "mbox": Reader(lambda: (b"From a@b Thu Jun 6 09:30:00 2024\n" + _MAIL + b"\n") * 2, "x.mbox"),
    "rtf": Reader(lambda: samples.rtf(["Whales söng", "{x}"], title="x"), "x.rtf"),
    "docx": Reader(lambda: samples.docx(["Whales sing."]), "x.docx"),
    "docx text": Reader(
        lambda: samples.word_body(["Whales", "sing"], "x").encode(), "x.docx",
        pack=lambda body: samples.docx([], body=body or b"?"),
    ),
    "odt text": Reader(
        lambda: samples.odf_body(["Whales", "sing"], "x").encode(), "x.odt",
        pack=lambda body: samples.odt([], body=body or b"?"),
    ),
    "xlsx": Reader(lambda: samples.xlsx({"S": [["id", "text"], ["a", "whales sing"]]}), "x.xlsx"),
    "xlsx sheet": Reader(
        lambda: samples.sheet_body([["id", "text"], ["a", "whales"], ["b", "birds"]]).encode(), "x.xlsx",
        pack=lambda body: samples.xlsx({"S": []}, body=body or b"?"),
    ),
    "pptx": Reader(lambda: samples.pptx([("Whales", "They sing.")]), "x.pptx"),
    "epub": Reader(lambda: samples.epub(["Whales sing.", "Birds fly."]), "x.epub"),
    "zip": Reader(lambda: samples.zipped({"a.txt": "whales", "b/c.md": "# birds"}, 0), "x.zip"),
    "tar": Reader(lambda: samples.tarred({"a.txt": "whales", "b/c.md": "# birds"}), "x.tar"),
    "tar.gz": Reader(lambda: samples.tarred({"a.txt": "whales", "b.eml": _MAIL}), "x.tar.gz", pack=gzip.compress),
    "csv in a folder": Reader(lambda: _csv(","), "folder/x.csv"),
    "json in a folder": Reader(lambda: json.dumps(_RECORDS[0]).encode(), "folder/x.json"),
    "parquet in a folder": Reader(_parquet, "folder/x.parquet"),
    "pdf": Reader(lambda: samples.pdf(["Whales sing.", "Birds fly."], packed=False), "folder/x.pdf", batch=20),
}  # fmt: skip
FOLDERS = ("folder", "pdf", "csv in a folder", "json in a folder", "parquet in a folder")  # read as a folder
# The readers of documents and archives.
DOCUMENTS = (
    "arrow", "markdown", "rst", "latex", "subtitles", "html", "mail", "mbox", "rtf", "docx", "docx text", "odt text",
    "xlsx", "xlsx sheet", "pptx", "epub", "zip", "tar", "tar.gz", "pdf", "csv in a folder", "json in a folder",
    "parquet in a folder",
)  # fmt: skip
_SMALL = ReadLimits(max_document_bytes=1 << 20, max_total_bytes=1 << 24)


class HangError(BaseException):
    """A reader did not return. Not an `Exception`, so that no reader can catch it."""


@contextmanager
def no_longer_than(seconds: float, clock: float = 300) -> Iterator[None]:
    """Limit the processor time of a block, and the time of the clock: machines may be busy."""

    def stop(_: int, __: FrameType | None) -> None:
        raise HangError(f"not done after {seconds} s")

    before = {sign: signal.signal(sign, stop) for sign in (signal.SIGALRM, signal.SIGPROF)}
    signal.setitimer(signal.ITIMER_REAL, clock)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for sign, handler in before.items():
            signal.signal(sign, handler)


def _write(path: Path, data: bytes) -> None:
    """Write a file; recreate its folder if something removed it."""
    try:
        path.write_bytes(data)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def fuzz_reader(name: str, inputs: int, seed: int = 0) -> dict[str, Any]:
    """Read mutated files; raise on anything but a corpus or a one-line `CorpusError`."""
    reader = READERS[name]
    data, rng = reader.seed(), random.Random(f"{name} {seed}")
    corpora = errors = 0
    slowest = 0.0
    with tempfile.TemporaryDirectory(prefix="grampus-fuzz-", ignore_cleanup_errors=True) as folder:
        path = Path(folder) / (reader.name or "stream")
        source = path.parent if name in FOLDERS else path
        for done in range(0, inputs, reader.batch):
            on_error = rng.choice(("raise", "skip"))
            for number in range(min(reader.batch, inputs - done)):
                mutated = reader.pack(mutate(data, rng))
                _write(path.with_stem(f"{path.stem}{number or ''}"), mutated)
            start = time.process_time()
            with no_longer_than(10), warnings.catch_warnings():
                warnings.simplefilter("ignore", CorpusWarning)
                try:
                    given: Any = io.BytesIO(mutated) if name == "stream" else source
                    options = ReadOptions(limits=_SMALL, on_error=on_error)
                    corpus = read_corpus(given, options=options, **reader.options)
                except CorpusError as error:
                    errors += 1
                    if "\n" in str(error) or len(str(error)) > 1000:
                        raise AssertionError(f"not one line: {error!r}") from error
                else:
                    corpora += 1
                    if not len(corpus) or len(corpus.ids) != len(corpus) or not corpus.fingerprint:
                        raise AssertionError(f"not a corpus: {corpus!r}")
                    if any(not isinstance(document.text, str) for document in corpus):
                        raise AssertionError("a text is not a string")
            slowest = max(slowest, time.process_time() - start)
    return {"corpora": corpora, "errors": errors, "slowest_seconds": round(slowest, 3), "peak_mb": round(_peak())}


def _peak() -> float:
    """Return the largest memory of this process and of those that it started, in MB."""
    both = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return max(both) / 1024


def write_bomb(path: Path, expanded: int = 10 * 2**30) -> int:
    """Write `expanded` zeros as gzip without ever compressing them one by one; return the file's size.

    A block compressed with a full flush can be repeated byte for byte.
    """
    block = 16 * 2**20
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = squeeze.compress(b" " * block) + squeeze.flush(zlib.Z_FULL_FLUSH)
    with path.open("wb") as out:
        out.write(b"\x1f\x8b\x08\0\0\0\0\0\x02\xff")
        for _ in range(expanded // block):
            out.write(piece)
        out.write(squeeze.flush(zlib.Z_FINISH))
        out.write(b"\0" * 4 + (expanded % 2**32).to_bytes(4, "little"))
    return path.stat().st_size


if __name__ == "__main__":  # python -m tests.fuzz READER INPUTS [SEED]
    print(json.dumps(fuzz_reader(sys.argv[1], *map(int, sys.argv[2:]))))
