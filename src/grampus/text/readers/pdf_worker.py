"""The process that reads PDF files: run as a script, it imports pypdfium2 and nothing of Grampus.

A request is a line of JSON with a path, or with a size and then as many bytes. The answer is a line for the document, a
line per page and a line for the end, or one line with the error.
"""

import contextlib
import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from typing import IO, Any

_MEMORY = 160 << 20  # beyond what the process has when it starts


def _limit_memory() -> None:
    """Let the process end, instead of the machine's memory."""
    try:
        import resource

        with open("/proc/self/statm", encoding="ascii") as file:
            size = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + _MEMORY, size + _MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, OSError, ValueError):
        pass  # not on every system


def _pages(pdfium: Any, given: Any) -> Iterator[dict[str, Any]]:
    document = pdfium.PdfDocument(given)
    try:
        about = document.get_metadata_dict()
        yield {"pages": len(document), "title": about.get("Title", ""), "date": about.get("CreationDate", "")}
        for number in range(len(document)):
            yield _page(pdfium, document, number)
    finally:
        document.close()


def _page(pdfium: Any, document: Any, number: int) -> dict[str, Any]:
    try:
        page = document[number]
    except pdfium.PdfiumError:
        return {"text": "", "damaged": True}
    try:
        text_page = page.get_textpage()
        text = text_page.get_text_bounded()
        text_page.close()
        picture = not text.strip() and any(True for _ in page.get_objects([pdfium.raw.FPDF_PAGEOBJ_IMAGE], max_depth=3))
    except pdfium.PdfiumError:
        return {"text": "", "damaged": True}
    finally:
        page.close()
    return {"text": text, "picture": picture}


def _end_with_parent() -> None:
    """End as soon as the process that asks is gone, also in the middle of a page."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    if os.name == "posix":
        threading.Thread(target=watch, daemon=True).start()


def serve(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Answer requests until there are no more."""
    import pypdfium2 as pdfium

    _limit_memory()

    def answer(line: dict[str, Any]) -> None:
        answers.write(json.dumps(line).encode("ascii") + b"\n")
        answers.flush()

    while line := requests.readline():
        request = json.loads(line)
        given = request["path"] if "path" in request else requests.read(request["size"])
        try:
            for found in _pages(pdfium, given):
                answer(found)
            answer({"end": True})
        except Exception as error:
            answer({"error": str(error)[:300] or type(error).__name__})


if __name__ == "__main__":
    _end_with_parent()
    private = os.dup(1)
    with contextlib.suppress(OSError):
        os.dup2(2, 1)  # so that nothing that a library prints is taken for an answer
    serve(sys.stdin.buffer, os.fdopen(private, "wb"))
