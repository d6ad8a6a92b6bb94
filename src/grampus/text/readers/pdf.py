"""PDF: the text of its pages, by PDFium in a process of its own, so that a crash or a hang costs one file."""

import contextlib
import json
import os
import queue
import re
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ...errors import CorpusError, MissingExtraError
from .extract import Extract, bad_table, document_table, tidy
from .lines import first_heading
from .log import quoted
from .registry import Reader, Source, Table, read_head
from .streams import Expansion, is_compressed, too_large

_WORKER = Path(__file__).with_name("pdf_worker.py")
_PAGE_BYTES = 1024  # counted for each page, so that a page that is named a million times ends
_START_SECONDS = 60.0
_DATE = re.compile(r"D?:?(\d{4})(\d\d)?(\d\d)?(?:(\d\d)(\d\d)(\d\d)?)?")
_HYPHEN = re.compile("[\ufffe\x02\xad](?:\r?\n)?(\\w{0,60})")
_LAST_WORD = re.compile(r"\w*\Z")
_LONGEST = 60  # characters of a part of a divided word
_WORD = re.compile(r"\w+(?:-\w+)*")
# What a browser prints around a page: date, time and title above, address and page number below.
_PRINTED_ABOVE = re.compile(r"\d{1,4}[/.-]\d{1,2}[/.-]\d{1,4},? \d{1,2}[:.]\d\d\b.*")
_PRINTED_BELOW = re.compile(r"\S+ \d{1,5}/\d{1,5}")
# Ligatures of a PDF made by LaTeX whose fonts do not say which letters they are, by their places in its encoding T1;
# and those that Unicode has, which would keep a word from being found.
_LIGATURES = dict(
    zip("\x1b\x1c\x1d\x1e\x1f\ufb00\ufb01\ufb02\ufb03\ufb04", 2 * ("ff", "fi", "fl", "ffi", "ffl"), strict=True)
)
_LIGATURE = re.compile("(?<=[^\\W\\d_])[\x1b-\x1f]|[\x1b-\x1f](?=[^\\W\\d_])|[\ufb00-\ufb04]")
_DIGITS = re.compile(r"\d+")
_EDGE = 2  # lines at the top and at the bottom of a page that may stand on every page
_DIVIDED = 0.08  # of the lines end in a hyphen where a program divides words
_FEWEST_PAGES = 3  # that show what is on every page
_NO_TITLE = re.compile(r"\s*(?:untitled|microsoft \w+ - .*|.*\.\w{2,5})?\s*\Z", re.IGNORECASE)


class PdfWorker:
    """A process that reads one PDF after another; started when needed, and again after a crash."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._answers: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()

    def _start(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self.close()
        process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-P", str(_WORKER)],  # -P: the files next to the script are not its modules
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        answers: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()

        def listen() -> None:
            assert process.stdout is not None
            with process.stdout:
                for line in process.stdout:
                    answers.put(line)
            answers.put(None)

        threading.Thread(target=listen, daemon=True).start()
        self._process, self._answers, self._first = process, answers, True
        return process

    def read(self, name: str, request: dict[str, Any], data: bytes, seconds: float) -> Iterator[dict[str, Any]]:
        """Yield the answers for one file; raise if there is none in time, or the process ends."""
        process = self._start()
        assert process.stdin is not None
        with contextlib.suppress(OSError):  # where it has ended, there is no answer
            process.stdin.write(json.dumps(request).encode("ascii") + b"\n" + data)
            process.stdin.flush()
        while True:
            try:
                line = self._answers.get(timeout=seconds + (_START_SECONDS if self._first else 0))
            except queue.Empty:
                self.close()
                late = f"{name} must be readable in {seconds:g} s a page (max_seconds); it is not."
                raise CorpusError(late) from None
            if line is None:
                self.close()
                raise CorpusError(f"{name} must be a valid PDF; reading it crashed, or took too much memory.")
            self._first = False
            answer = json.loads(line)
            if answer.get("end"):
                return
            yield answer

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            with contextlib.suppress(OSError):
                assert process.stdin is not None
                process.stdin.close()


def open_pdf(source: Source) -> Table:
    """Read a PDF; a scan, which has pictures of pages and no text, is left out as one."""
    if find_spec("pypdfium2") is None:
        raise MissingExtraError("pypdfium2 must be installed to read PDF; run: pip install 'grampus[files]'")
    worker = None if source.shared is None else source.shared.get("pdf")
    if worker is None:
        worker = PdfWorker()
        if source.shared is None:
            source.cleanup.callback(worker.close)
        else:
            source.shared["pdf"] = worker
    pages, about, pictures = _read(worker, source)
    if not any(pages):
        return bad_table("a scan without text (run OCR first)" if pictures else "a PDF without text")
    title = "" if _NO_TITLE.match(about["title"]) else about["title"]
    return document_table(Extract(tuple(pages), title or first_heading(pages[0]), _date(about["date"])), source)


def _read(worker: PdfWorker, source: Source) -> tuple[list[str], dict[str, str], int]:
    path, data = source.path, b""
    packed = source.stream is not None and source.stream.seekable() and is_compressed(read_head(source.stream))
    if path is None or source.stream is None or source.archive is not None or packed:
        path = None
        data = source.content()
    request = {"size": len(data)} if path is None else {"path": os.path.abspath(path)}
    size = len(data) if path is None else os.path.getsize(path)
    guard = Expansion(source.name, source.limits, size, source.archive)
    about, pages, pictures, total = {"title": "", "date": ""}, list[str](), 0, 0
    for answer in worker.read(source.name, request, data, source.limits.max_seconds):
        if "error" in answer:
            raise CorpusError(_refusal(source.name, answer["error"]))
        if "pages" in answer:
            about = {name: str(answer[name]) for name in about}
            continue
        text = _LIGATURE.sub(lambda found: _LIGATURES[found[0]], answer["text"])
        pages.append(text)
        pictures += bool(answer.get("picture"))
        total += len(text)
        try:
            guard.add(_PAGE_BYTES + len(text))
        except CorpusError:
            worker.close()  # it would go on
            raise
        if total > source.limits.max_document_bytes:
            worker.close()
            raise too_large(source.name, source.limits.max_document_bytes, what=" of text")
    return _joined(without_margins(pages)), about, pictures


def without_margins(pages: list[str]) -> list[str]:
    r"""Remove what stands around the text of pages: a browser's two lines, and lines that more than half of them share.

    Only the first and last two lines of a page are looked at. Lines that differ in numbers alone are the same line, and
    shared lines are removed where there are three pages or more. Pages that would all be empty stay as they are.

    Examples
    --------
    >>> from grampus.text.readers.pdf import without_margins
    >>> without_margins([f"Annual report\n{text}\nPage {n}" for n, text in enumerate(("Whales", "Birds", "Deer"), 1)])
    ['Whales', 'Birds', 'Deer']
    >>> without_margins(["Whales sing.\n6/6/24, 9:30 AM Whales\nhttps://example.org 1/1"])
    ['Whales sing.']
    """
    lines = [page.replace("\r\n", "\n").replace("\r", "\n").strip().split("\n") for page in pages]
    shared: set[str] = set()
    if len(pages) >= _FEWEST_PAGES:
        seen = Counter(line for page in lines for line in {_numberless(page[at]) for at in _edges(page)} if line)
        shared = {line for line, count in seen.items() if 2 * count > len(pages)}
    inside = ["\n".join(_inside(page, shared)) for page in lines]
    return inside if any(inside) else ["\n".join(page) for page in lines]


def _edges(page: list[str]) -> set[int]:
    return {at for at in (*range(_EDGE), *range(len(page) - _EDGE, len(page))) if 0 <= at < len(page)}


def _numberless(line: str) -> str:
    return _DIGITS.sub("0", line.strip())


def _inside(page: list[str], shared: set[str]) -> list[str]:
    edges = _edges(page)
    above = [at for at in edges if _PRINTED_ABOVE.fullmatch(page[at].strip())]
    below = [at for at in edges if _PRINTED_BELOW.fullmatch(page[at].strip())]
    gone = {*above[:1], *below[-1:]} if above and below else set()
    gone |= {at for at in edges if _numberless(page[at]) in shared}
    return [line for at, line in enumerate(page) if at not in gone]


def _joined(pages: list[str]) -> list[str]:
    """Join the words that line ends divide; PDFium marks every hyphen there, also that of a compound.

    The hyphen stays if the compound stands elsewhere in the document, or both its parts do and the whole word does not.
    Where few lines end in a hyphen, words were not divided by the program, and it stays unless the whole word is known.
    """
    marks = sum(page.count(mark) for page in pages for mark in "\ufffe\x02\xad")
    if not marks:
        return [tidy(page) for page in pages]
    rare = marks < _DIVIDED * sum(page.count("\n") + 1 for page in pages)
    words = {word.casefold() for page in pages for word in _WORD.findall(_replaced(page, lambda *_: " "))}

    def join(first: str, second: str) -> str:
        whole, compound = (first + second).casefold(), f"{first}-{second}".casefold()
        parts = first.casefold() in words and second.casefold() in words
        keep = compound in words or ((parts or rare) and whole not in words)
        return f"{first}-{second}" if keep else first + second

    return [tidy(_replaced(page, join)) for page in pages]


def _replaced(page: str, join: Callable[[str, str], str]) -> str:
    """Return a page with ``join(first, second)`` for the two parts of every divided word."""
    parts, end = [], 0
    for match in _HYPHEN.finditer(page):
        before = page[max(end, match.start() - _LONGEST) : match.start()]
        first = before[_LAST_WORD.search(before).start() :]  # type: ignore[union-attr]  # it matches nothing, too
        parts += [page[end : match.start() - len(first)], join(first, match[1])]
        end = match.end()
    return "".join([*parts, page[end:]])


def _refusal(name: str, error: str) -> str:
    if "password" in error.lower() or "security" in error.lower():
        return f"{name} must not be encrypted; it needs a password."
    return f"{name} must be a valid PDF ({quoted(error)})."


def _date(written: str) -> str:
    """Return a date of a PDF in ISO 8601; empty if it is none."""
    match = _DATE.match(written)
    if match is None:
        return ""
    year, month, day, hour, minute, _ = match.groups()
    days = "-".join(part for part in (year, month, day) if part)
    return f"{days}T{hour}:{minute}" if day and hour and minute else days


FORMATS = (Reader("pdf", open_pdf, (".pdf",), (0, b"%PDF-"), in_folder=True),)
