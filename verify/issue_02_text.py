"""Acceptance of "2 of 11, text" at full size.

Each function returns what it measured. ``python -m verify.issue_02_text`` runs them all and prints one line each;
with names of functions it runs those.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import warnings
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from grampus.errors import CorpusError
from grampus.text import Corpus, CorpusWarning, ReadLimits, ReadOptions, Texts, read_corpus
from verify import Figure, line

SOURCES = tuple(f"src/grampus/{part}" for part in ("text", "errors.py"))


@dataclass(frozen=True)
class Measured:
    """One acceptance line: what was found, and whether it holds."""

    line: str
    holds: bool
    figures: dict[str, Any]


# ---- memory -------------------------------------------------------------------------------------------------


def _resident(key: str) -> int:
    """Return VmHWM (peak) or VmRSS (now) of this process in bytes."""
    for entry in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if entry.startswith(key):
            return int(entry.split()[1]) * 1024
    raise OSError(f"{key} is not to be had on this system")


def _in_process(function: str, *arguments: str) -> dict[str, Any]:
    """Run one of this module's private measurements in a fresh process."""
    command = [sys.executable, "-m", "verify.issue_02_text", "--measure", function, *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _measure_read(path: str) -> dict[str, Any]:
    before = _resident("VmRSS")
    start = time.perf_counter()
    try:
        corpus: Corpus | None = read_corpus(path)
        message = ""
    except CorpusError as error:
        corpus, message = None, str(error)
    return {
        "seconds": time.perf_counter() - start,
        "before_mb": before / 2**20,
        "peak_mb": _resident("VmHWM") / 2**20,
        "documents": len(corpus) if corpus is not None else 0,
        "text_mb": corpus.texts.nbytes / 2**20 if corpus is not None else 0.0,
        "message": message,
    }


def reading_memory(documents: int = 1_000_000, characters: int = 200) -> Measured:
    """Peak memory of reading JSONL, less what the process had before, over the UTF-8 bytes of the texts."""
    rng = random.Random(0)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 9))) for _ in range(5000)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.jsonl"
        with path.open("w", encoding="utf-8") as out:
            for number in range(documents):
                text = " ".join(rng.choices(words, k=characters // 4))[:characters].ljust(characters, "x")
                out.write(json.dumps({"id": f"document-{number}", "text": text}) + "\n")
        found = _in_process("read", str(path))
    found["ratio"] = (found["peak_mb"] - found["before_mb"]) / found["text_mb"]
    holds = found["documents"] == documents and found["ratio"] < 2
    return Measured("1,000,000 JSONL documents of 200 characters: peak memory under 2 × the text", holds, found)


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


def gzip_bomb(expanded: int = 10 * 2**30) -> Measured:
    """A small file that would become 10 GB is refused early."""
    figures: dict[str, Any] = {}
    holds = True
    with tempfile.TemporaryDirectory() as folder:
        for name in ("bomb.jsonl.gz", "bomb.csv.gz", "bomb.json.gz", "bomb.txt.gz"):
            path = Path(folder) / name
            size = write_bomb(path, expanded)
            found = _in_process("read", str(path))
            figures[name] = {"file_mb": size / 2**20, **found}
            refused = "max_ratio" in found["message"] or "max_document_bytes" in found["message"]
            holds &= refused and found["seconds"] < 1 and found["peak_mb"] < 200
    return Measured("a 10 GB gzip bomb is refused in under 1 s and 200 MB", holds, figures)


# ---- fuzz ---------------------------------------------------------------------------------------------------

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
    """A reader under fuzz: a valid file, its name, and how it is read."""

    seed: Callable[[], bytes]
    name: str
    options: dict[str, Any]


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
    "duckdb": Reader(_duckdb, "x.duckdb", {"query": "SELECT id, text, label FROM documents"}),
}
_SMALL = ReadLimits(max_document_bytes=1 << 20, max_total_bytes=1 << 24)


class HangError(BaseException):
    """A reader did not come back; no reader that catches every `Exception` may take it for one of its own."""


@contextmanager
def _no_longer_than(seconds: int) -> Iterator[None]:
    def stop(_: int, __: FrameType | None) -> None:
        raise HangError(f"not done after {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _write(path: Path, data: bytes) -> None:
    """Write a file; its folder is made anew if something cleaned it away."""
    try:
        path.write_bytes(data)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def fuzz_reader(name: str, inputs: int, seed: int = 0) -> dict[str, Any]:
    """Read mutated files. Anything but a corpus or a one-line `CorpusError` leaves this function as it is."""
    reader = READERS[name]
    data, rng = reader.seed(), random.Random(f"{name} {seed}")
    corpora = errors = 0
    slowest = 0.0
    with tempfile.TemporaryDirectory(prefix="grampus-fuzz-", ignore_cleanup_errors=True) as folder:
        path = Path(folder) / (reader.name or "stream")
        source = path.parent if name == "folder" else path
        for _ in range(inputs):
            mutated = mutate(data, rng)
            on_error = rng.choice(("raise", "skip"))
            _write(path, mutated)
            start = time.perf_counter()
            with _no_longer_than(30), warnings.catch_warnings():
                warnings.simplefilter("ignore", CorpusWarning)
                try:
                    given: Any = io.BytesIO(mutated) if name == "stream" else source
                    corpus = read_corpus(given, options=ReadOptions(on_error=on_error, limits=_SMALL), **reader.options)
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
            slowest = max(slowest, time.perf_counter() - start)
    return {"corpora": corpora, "errors": errors, "slowest_seconds": round(slowest, 3)}


def fuzz(inputs: int = 100_000, readers: tuple[str, ...] = tuple(READERS)) -> Measured:
    """Run every reader in a process of its own, so that a crash in a library is seen as one."""

    def run(name: str) -> dict[str, Any]:
        command = [sys.executable, "-m", "verify.issue_02_text", "--measure", "fuzz", name, str(inputs)]
        start = time.perf_counter()
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        found = json.loads(done.stdout) if done.returncode == 0 else {"failed": done.stderr[-2000:]}
        return {**found, "total_seconds": round(time.perf_counter() - start, 1)}

    slowest_first = sorted(readers, key=lambda name: name != "duckdb")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        figures = dict(zip(slowest_first, pool.map(run, slowest_first), strict=True))
    holds = all(found.get("corpora", 0) > 0 for found in figures.values())  # one that reads nothing was not tried
    return Measured(f"{inputs} fuzzed inputs per reader: a corpus or a one-line error", holds, figures)


# ---- weights ------------------------------------------------------------------------------------------------


def shuffled_rows(name: str = "bbc") -> Measured:
    """Shuffling gives the same fingerprint and, bit for bit, the same weights per document, in every weighting."""
    import numpy as np

    from grampus.text import Terms, Weighting
    from grampus.text.terms.weighting import GLOBAL, LOCAL, NORMALISATION

    corpus = read_corpus(Path(os.environ["GRAMPUS_DATA"]) / f"{name}.jsonl.gz")
    order = np.random.default_rng(0).permutation(len(corpus))
    other = corpus.take(order)
    ours, theirs = Terms(min_df=2), Terms(min_df=2)
    counts, shuffled = ours.fit_transform(corpus), theirs.fit_transform(other)
    holds = other.fingerprint == corpus.fingerprint and ours.vocabulary_ == theirs.vocabulary_
    checked = 0
    for code in (a + b + c for a in LOCAL for b in GLOBAL for c in NORMALISATION):
        left = Weighting(code).fit_transform(counts)[order]
        holds &= (left != Weighting(code).fit_transform(shuffled)).nnz == 0
        checked += 1
    figures = {"documents": len(corpus), "terms": counts.shape[1], "weightings": checked}
    return Measured("a shuffled corpus has the same fingerprint and the same weights", bool(holds), figures)


def pipeline_speed(rounds: int = 5) -> Measured:
    """Text to weighted matrix of 20ng against scikit-learn."""
    from benchmarks.text_pipeline import compare

    found = compare(rounds)
    holds = found.speed_ratio >= 2 and found.memory_ratio <= 1.2 and found.largest_difference <= 1e-6
    line = "20ng to weighted matrix: at least 2 × scikit-learn, equal to 1e-6, at most 1.2 × its memory"
    return Measured(line, holds, asdict(found))


def compact_texts() -> Measured:
    """A million short strings take their own bytes and eight more each."""
    texts = Texts(f"{number:020d}" for number in range(1_000_000))
    extra = (sys.getsizeof(texts._buffer) + texts._ends.itemsize * len(texts._ends)) / texts.nbytes
    return Measured("texts are stored compactly", extra < 1.6, {"stored_over_bytes": extra})


# ---- the lines of `make verify` -----------------------------------------------------------------------------


def _figure(found: Measured, value: str) -> Figure:
    return Figure(value, found.holds, json.dumps(found.figures))


@line(
    sources=SOURCES,
    issue=2,
    name="text-memory",
    text="Reading 1,000,000 JSONL documents of 200 characters: peak memory under 2 × the text.",
)
def memory_line() -> Figure:
    found = reading_memory()
    return _figure(found, f"{found.figures['ratio']:.2f} × the UTF-8 bytes")


@line(sources=SOURCES, issue=2, name="text-bomb", text="A 10 GB gzip bomb is refused in under 1 s and 200 MB.")
def bomb_line() -> Figure:
    found = gzip_bomb()
    worst = [max(run[key] for run in found.figures.values()) for key in ("seconds", "peak_mb")]
    return _figure(found, f"{worst[0]:.2f} s, {worst[1]:.0f} MB")


@line(
    sources=SOURCES,
    issue=2,
    name="text-shuffled",
    text="A shuffled corpus: same fingerprint, same weights per document.",
    needs_data=True,
)
def shuffled_line() -> Figure:
    found = shuffled_rows()
    return _figure(found, f"equal to the last bit in {found.figures['weightings']} weightings")


@line(
    sources=SOURCES,
    issue=2,
    name="text-speed",
    text="20ng to a weighted matrix: at least 2 × scikit-learn, same matrix to 1e-6, memory at most 1.2 ×.",
    needs_data=True,
    watches=("benchmarks/text_pipeline.py",),
)
def speed_line() -> Figure:
    found = pipeline_speed()
    ratios = found.figures["speed_ratio"], found.figures["memory_ratio"], found.figures["largest_difference"]
    return _figure(found, "{:.2f} ×, memory {:.2f} ×, difference {:.0e}".format(*ratios))


@line(
    sources=SOURCES,
    issue=2,
    name="text-fuzz",
    text="100,000 fuzzed inputs per reader: a corpus or a one-line error.",
    timeout=7200.0,
)
def fuzz_line() -> Figure:
    found = fuzz()
    return _figure(found, f"{len(found.figures)} readers")


CHECKS: tuple[Callable[[], Measured], ...] = (
    reading_memory,
    gzip_bomb,
    shuffled_rows,
    pipeline_speed,
    compact_texts,
    fuzz,
)


def main(arguments: list[str]) -> int:
    if arguments[:2] == ["--measure", "read"]:
        print(json.dumps(_measure_read(arguments[2])))
        return 0
    if arguments[:2] == ["--measure", "fuzz"]:
        print(json.dumps(fuzz_reader(arguments[2], int(arguments[3]))))
        return 0
    chosen = [check for check in CHECKS if not arguments or check.__name__ in arguments]
    failed = 0
    for check in chosen:
        found = check()
        failed += not found.holds
        print("holds" if found.holds else "FAILS", "|", found.line, "|", json.dumps(found.figures), flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
