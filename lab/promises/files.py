"""Hostile files of the formats that people have."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from lab import Found, Task
from lab.found import Table
from lab.promises import promise
from tests import samples

_LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))


def _encrypted_zip() -> bytes:
    data = bytearray(samples.zipped({"a.txt": "secret"}, zipfile.ZIP_STORED))
    for start in (data.index(b"PK\x03\x04") + 6, data.index(b"PK\x01\x02") + 8):
        data[start] |= 1
    return bytes(data)


def _encrypted_pdf() -> bytes:
    whole = samples.pdf(["secret"])
    entry = b"trailer<</Encrypt<</Filter/Standard/V 1/R 2/O(%s)/U(%s)/P -4>>/ID[(a)(a)]" % (b"o" * 32, b"u" * 32)
    return whole.replace(b"trailer<<", entry)


def _odd_names() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name in ("../up.txt", "/root.txt", "a/../../b.txt"):
            file.writestr(name, "out of the archive")
        link = zipfile.ZipInfo("link.txt")
        link.external_attr = 0o120777 << 16
        file.writestr(link, "/etc/passwd")
    return out.getvalue()


# Each is put into a folder next to good.txt, which must be all that is read.
HOSTILE: dict[str, tuple[str, Callable[[], bytes]]] = {
    "ZIP that expands to 300 MB": ("x.zip", lambda: samples.zipped({"a.txt": b" " * (300 << 20)})),
    "XLSX that expands to 300 MB": (
        "x.xlsx", lambda: samples.xlsx({"S": []}, body=samples.sheet_body([["x" * (300 << 20)]])),
    ),
    "DOCX that expands to 300 MB": ("x.docx", lambda: samples.docx([], body=samples.word_body(["x" * (300 << 20)]))),
    "DOCX with nested entities": (
        "x.docx", lambda: samples.docx([], body=f'<!DOCTYPE x [<!ENTITY l0 "lol">{_LAUGHS}]><x>&l9;</x>'),
    ),
    "DOCX with a document type from a URL": (
        "x.docx", lambda: samples.docx([], body='<!DOCTYPE x SYSTEM "http://x.invalid/x.dtd"><x/>'),
    ),
    "DOCX with 100,000 nested elements": ("x.docx", lambda: samples.docx([], body="<a>" * 100_000)),
    "PDF with a stream of 300 MB": ("x.pdf", lambda: samples.pdf(["x"], line=b" " * (300 << 20))),
    "PDF that needs a password": ("x.pdf", _encrypted_pdf),
    "PDF cut short": ("x.pdf", lambda: samples.pdf(["x"])[:150]),
    "ZIP in a ZIP": ("x.zip", lambda: samples.zipped({"in.zip": samples.zipped({"x.txt": "x"})})),
    "ZIP of 10,000 empty files": ("x.zip", lambda: samples.zipped({f"{n}.txt": "" for n in range(10_000)})),
    "TAR.GZ that expands to 300 MB": ("x.tar.gz", lambda: samples.tarred({"a.txt": b" " * (300 << 20)}, "gz")),
    "ZIP with ../ and a link": ("x.zip", _odd_names),
    "encrypted ZIP": ("x.zip", _encrypted_zip),
    "encrypted DOCX": ("x.docx", lambda: b"\xd0\xcf\x11\xe0" + b"\0" * 600),
    "DOCX cut short": ("x.docx", lambda: samples.docx(["a"])[:-30]),
    "RTF with 100,000 nested groups": ("x.rtf", lambda: b"{\\rtf1" + b"{" * 100_000),
    "EPUB without a text": ("x.epub", lambda: samples.epub([])),
}  # fmt: skip
REFUSE = """
import json, resource, sys, warnings
from grampus.text import read_corpus
warnings.simplefilter("ignore")
def seconds():
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in both)
before = seconds()
corpus = read_corpus(sys.argv[1])
own = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
peak = max(int(own.split()[1]), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) / 1024
reasons = [file.reason for file in corpus.files if not file.path.startswith("good")]
print(json.dumps({"texts": list(corpus.texts), "seconds": seconds() - before, "peak": peak, "reasons": reasons,
                  "skipped": dict(corpus.skipped)}))
"""


def refused(name: str, make: Callable[[], bytes]) -> dict[str, Any]:
    """Read a folder with a hostile file and a good one in a fresh process; return CPU seconds, peak MB and reasons."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, name).write_bytes(make())
        Path(folder, "good.txt").write_text("whale song", encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-c", REFUSE, folder], capture_output=True, text=True, check=False, timeout=120
        )
    assert done.returncode == 0, done.stderr[-500:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@promise(
    "refused-files",
    "Bombs, encrypted and broken files in a folder: CPU seconds and memory until each is refused; the rest is read.",
    rests_on=("text",),
    conditions=("nothing-fails", "refused-seconds", "refused-memory"),
)
def refused_files(task: Task) -> Found:
    rows, failed, seconds, peak = [], 0, 0.0, 0.0
    for name, (file, make) in HOSTILE.items():
        found = task.step(name, partial(refused, file, make))
        failed += found["texts"] != ["whale song"]
        seconds, peak = max(seconds, found["seconds"]), max(peak, found["peak"])
        reason = (found["reasons"] or list(found["skipped"]))[0]
        rows.append((name, f"{found['seconds']:.2f}", f"{found['peak']:.0f}", reason[:120]))
    table = Table("A folder with the file and a good one", ("file", "CPU s", "peak MB", "reason"), rows)
    figure = f"{len(rows)} files, at most {seconds:.2f} CPU s and {peak:.0f} MB"
    return Found(figure, {"failed": failed, "seconds": seconds, "peak": peak}, [table])
