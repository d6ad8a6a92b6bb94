"""Folders of files made by real programs: the clusters are those of the same texts as plain files.

The programs are pandoc, LibreOffice, Chromium and Python's mailbox; a format whose program is missing is left out.
Files are made once, in the scratch folder of the lab.
"""

import base64
import mailbox
import os
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Callable
from email.message import EmailMessage
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

from grampus import Corpus, DocumentClusterer, TermVectorizer, metrics, read_corpus
from grampus.documents import Effort
from grampus.text import CorpusWarning
from lab import Found, Task, Unavailable, data, row
from lab.found import Table
from lab.harness import SCRATCH
from tests.browser import browser, chromium

EACH = 50  # texts of each of the five classes
PDFS = 1000
Maker = Callable[[dict[str, str], Path], None]


def write_texts(texts: dict[str, str], folder: Path) -> None:
    """Write the texts as plain files."""
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")


def pandoc(texts: dict[str, str], folder: Path, suffix: str) -> None:
    """Convert plain paragraphs with pandoc."""
    for name, text in texts.items():
        out = folder / f"{name}.{suffix}"
        page = "".join(f"<p>{escape(part)}</p>\n" for part in text.split("\n") if part.strip())
        command = ["pandoc", "-f", "html", "-s", "-M", f"title={subject(text)}", "-o", str(out)]
        subprocess.run(command, input=page.encode(), check=True, capture_output=True)


def office(texts: dict[str, str], folder: Path, suffix: str) -> None:
    """Convert plain files with LibreOffice, all in one process."""
    plain = folder.with_name(f"{folder.name}-plain")
    plain.mkdir(exist_ok=True)
    write_texts(texts, plain)
    files = sorted(map(str, plain.glob("*.txt")))
    profile = f"-env:UserInstallation=file://{folder.with_name('profile')}"
    command = ["soffice", profile, "--headless", "--infilter=Text (encoded):UTF8", "--convert-to", suffix]
    subprocess.run([*command, "--outdir", str(folder), *files], check=True, capture_output=True)
    shutil.rmtree(plain)


def printed(texts: dict[str, str], folder: Path) -> None:
    """Print pages to PDF with Chromium, with its headers and footers."""
    with browser() as page:
        frame = page.call("Page.getFrameTree")["frameTree"]["frame"]["id"]
        for name, text in texts.items():
            body = "".join(f"<p>{escape(part)}</p>" for part in text.split("\n") if part.strip())
            page.call("Page.setDocumentContent", frameId=frame, html=f"<title>{escape(subject(text))}</title>{body}")
            found = page.call("Page.printToPDF", displayHeaderFooter=True, wait=60)
            (folder / f"{name}.pdf").write_bytes(base64.b64decode(found["data"]))


def subject(text: str) -> str:
    """Return the first line of a text."""
    return text.strip().partition("\n")[0].strip()


def message(text: str) -> EmailMessage:
    """Return a mail with a text and an HTML part; the first line is its subject."""
    mail = EmailMessage()
    mail["Subject"], mail["From"], mail["To"] = subject(text), "a@example.org", "b@example.org"
    mail["Date"] = "Thu, 06 Jun 2024 09:30:00 +0200"
    body = text.strip().partition("\n")[2]
    mail.set_content(body)
    mail.add_alternative(f"<p>{escape(body)}</p>", subtype="html")
    return mail


def mails(texts: dict[str, str], folder: Path, kind: str) -> None:
    """Write mails as single files, as an mbox or as a maildir."""
    if kind == "eml":
        for name, text in texts.items():
            (folder / f"{name}.eml").write_bytes(message(text).as_bytes())
        return
    box: Any = mailbox.mbox(folder / "all.mbox") if kind == "mbox" else mailbox.Maildir(folder / "box")
    for text in texts.values():
        box.add(message(text))
    box.close()


MAKERS: dict[str, tuple[str, Maker]] = {
    **{f"pandoc {suffix}": ("pandoc", partial(pandoc, suffix=suffix))
       for suffix in ("docx", "odt", "epub", "rtf", "html", "tex", "md", "rst", "pptx")},
    **{f"LibreOffice {suffix}": ("soffice", partial(office, suffix=suffix))
       for suffix in ("pdf", "docx", "odt", "rtf")},
    "Chromium pdf": ("chromium", printed),
    **{f"mailbox {kind}": ("", partial(mails, kind=kind)) for kind in ("eml", "mbox", "maildir")},
}  # fmt: skip


def sample(each: int) -> dict[str, str]:
    """Return the first texts of every class of bbc, by name."""
    texts, classes = data.texts("bbc")
    chosen = [int(i) for label in sorted(set(classes)) for i in (classes == label).nonzero()[0][:each]]
    return {f"{classes[i]}-{i:04d}": texts[i] for i in chosen}


def made(name: str, texts: dict[str, str], what: str = "articles") -> Path | None:
    """Return the folder of a format, made now or before; None where its program is missing."""
    program, make = MAKERS[name]
    if program and not (chromium() if program == "chromium" else shutil.which(program)):
        return None
    folder = SCRATCH / "formats" / f"{name.replace(' ', '-')}-{what}-{len(texts)}"
    if not folder.exists():
        part = folder.with_name(f"{folder.name}.part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        make(texts, part)
        part.rename(folder)
    return folder


def read(folder: Path) -> tuple[Corpus, float]:
    """Return the documents of a folder and the CPU seconds that reading took, in processes of its own too."""
    began = sum(os.times()[:4])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CorpusWarning)
        return read_corpus(folder), sum(os.times()[:4]) - began


def named(corpus: Corpus, texts: dict[str, str]) -> dict[str, str]:
    """Return the texts of a corpus by their names; a mail in a mailbox is known by its subject."""
    subjects = {subject(text): name for name, text in texts.items()}
    found = {}
    for document in corpus:
        stem = Path(document.id.partition("#")[0]).stem
        found[stem if stem in texts else subjects.get(document.title or "", "")] = document.text
    return {name: found[name] for name in texts if name in found}


def compared(one: list[str], other: list[str]) -> tuple[float, float]:
    """Return the share of texts that have the same terms, and the agreement of five clusters."""
    words = TermVectorizer("txx", min_df=1).fit(one + other)
    differ = abs(words.transform(one) - words.transform(other)).sum(axis=1)
    labels = [
        DocumentClusterer(5, embed=None, effort=Effort(stability=False)).fit(texts).labels_ for texts in (one, other)
    ]
    return float((differ == 0).mean()), float(metrics.nmi(*labels))


@row("quality", "file-formats")
def file_formats(task: Task) -> Found:
    texts, rows = sample(task.trials(EACH, 10)), []
    for name in MAKERS:
        folder = made(name, texts)
        if folder is not None:
            corpus, seconds = read(folder)
            found = named(corpus, texts)  # of the files that the program made
            size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
            rows.append((name, len(found), f"{size / 1e6:.1f}", f"{seconds:.2f}",
                         *compared([texts[one] for one in found], list(found.values()))))  # fmt: skip
    missing = set(MAKERS) - {line[0] for line in rows}
    lowest = min(line[-1] for line in rows)
    columns = ("made by", "documents", "MB", "CPU s", "same terms", "NMI")
    table = Table(f"{len(texts)} texts", columns, [(*line[:-2], *(f"{v:.3f}" for v in line[-2:])) for line in rows])
    notes = [
        "The first line is also the title: formats that print the title have its terms twice. LibreOffice leaves out "
        "files that it takes for other formats; mails with one subject are one."
    ]
    notes += [f"Not installed here: {', '.join(sorted(missing))}."] if missing else []
    return Found(f"{len(rows)} kinds, lowest NMI {lowest:.3f}", {"nmi": lowest}, [table], notes=notes)


@row("quality", "thousand-pdfs")
def thousand_pdfs(task: Task) -> Found:
    folder = made("LibreOffice pdf", {name: text[:2500] for name, text in sample(EACH).items()}, "pages")
    if folder is None:
        raise Unavailable("LibreOffice is not installed")
    files, count = sorted(folder.glob("*.pdf")), task.trials(PDFS, 100)
    with tempfile.TemporaryDirectory() as many:
        for number in range(count):
            shutil.copy(files[number % len(files)], f"{many}/{number:04d}.pdf")
        corpus, seconds = read(Path(many))
    assert len(corpus) == count, corpus.skipped
    return Found(f"{seconds:.1f} CPU s", {"seconds": seconds})
