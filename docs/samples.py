"""The files that the recipes work on, small and made up: ``python -m docs.samples FOLDER`` writes them.

Prose is from the World Factbook, so that there are groups to find. Everything is the same each time.
"""

from __future__ import annotations

import csv
import json
import random
import shutil
import sys
import sysconfig
from email.message import EmailMessage
from pathlib import Path

import numpy as np

from grampus.datasets import world_factbook
from tests.samples import docx, pdf

EACH = 18  # texts of a chapter
GERMAN = {
    "der Zug fuhr verspätet ab": ["am Bahnhof in Köln", "auf dem Gleis nach Berlin", "wegen einer Störung der Weiche"],
    "die Suppe kochte auf dem Herd": ["mit Zwiebeln und Salz", "in der Küche", "aus frischem Gemüse und Kräutern"],
    "der Verein gewann das Spiel": ["durch ein Tor in der Nachspielzeit", "im Stadion", "gegen den Meister der Liga"],
}


def chosen() -> list[tuple[str, str, str]]:
    """Return ids, texts and chapters of a small part of the Factbook."""
    count: dict[str, int] = {}
    found = []
    for document in world_factbook():
        count[str(document.label)] = count.get(str(document.label), 0) + 1
        if count[str(document.label)] <= EACH:
            found.append((str(document.id), document.text, str(document.label)))
    return found


def table(path: Path, header: list[str], rows: list[list[str]]) -> None:
    """Write a CSV file."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def jsonl(path: Path, rows: list[dict[str, str]]) -> None:
    """Write a JSONL file."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def prose(folder: Path, texts: list[tuple[str, str, str]]) -> None:
    """Write tickets, answers, abstracts, two weeks of notes, embeddings and what is known of some documents."""
    days = [f"2026-{month:02}-{day:02}" for month in range(1, 7) for day in (3, 9, 14, 21, 28)]
    rows = [
        [str(number), name, text, label, days[number % len(days)]] for number, (name, text, label) in enumerate(texts)
    ]
    table(folder / "tickets.csv", ["ticket", "subject", "body", "queue", "opened"], rows)
    table(folder / "answers.csv", ["person", "answer"], [[row[0], row[2].split(". ")[0].split(";")[0]] for row in rows])
    records = [dict(zip(("id", "title", "abstract", "field", "year"), row, strict=True)) for row in rows]
    jsonl(folder / "abstracts.jsonl", [{**each, "year": each["year"][:4]} for each in records])
    weeks = [{"id": row[0], "text": row[2], "date": row[4]} for row in rows]
    jsonl(folder / "monday.jsonl", weeks[::2])
    jsonl(folder / "friday.jsonl", weeks[1::4])
    labels = sorted({label for _, _, label in texts})
    rows_of = np.eye(len(labels), 16)[[labels.index(label) for _, _, label in texts]]
    np.save(folder / "embeddings.npy", rows_of + np.random.default_rng(0).normal(0, 0.1, rows_of.shape))
    topics = {"Flags": ["flag", "stripe", "band", "star"], "Courts": ["court", "judge", "justice"]}
    (folder / "topics.json").write_text(json.dumps(topics), encoding="utf-8")


def files(folder: Path, texts: list[tuple[str, str, str]]) -> None:
    """Write a folder of PDF and DOCX files, and an mbox."""
    (folder / "papers").mkdir()
    plain = str.maketrans({"’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "€": "EUR"})
    for number, (name, text, _) in enumerate(texts[::2]):
        stem = name.replace(": ", "-").replace(" ", "_")
        body = text.translate(plain)
        if number % 2:
            (folder / "papers" / f"{stem}.docx").write_bytes(docx(body.split("\n"), title=name))
        else:
            line = body.replace("(", "\\(").replace(")", "\\)").replace("\n", " ")
            (folder / "papers" / f"{stem}.pdf").write_bytes(pdf([line]))
    with (folder / "mail.mbox").open("wb") as box:
        for name, text, _ in texts:
            message = EmailMessage()
            message["From"], message["To"], message["Subject"] = "ann@example.org", "bob@example.org", name
            message.set_content(text)
            box.write(b"From ann@example.org Mon Jan  5 10:00:00 2026\n" + bytes(message) + b"\n")


def strings(folder: Path) -> None:
    """Write a log, source files, sequences and German sentences."""
    draw = random.Random(0)
    kinds = ["connection from 10.0.{a}.{b} refused by port {p}", "cache miss for key user-{a}-{p} after {b} ms",
             "disk sd{b} is {a} percent full, cleaning {p} files"]  # fmt: skip
    lines = [
        f"2026-01-05 10:{draw.randrange(60):02}:{draw.randrange(60):02} "
        + draw.choice(kinds).format(a=draw.randrange(99), b=draw.randrange(9), p=draw.randrange(9999))
        for _ in range(120)
    ]
    (folder / "app.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
    library = Path(sysconfig.get_paths()["stdlib"])
    for package in ("email", "json", "unittest", "asyncio"):
        for source in sorted((library / package).glob("*.py"))[:10]:
            place = folder / "project" / package / source.name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, place)
    motifs = ["".join(draw.choice("ACGT") for _ in range(60)) for _ in range(3)]
    reads = [
        [f"read{n}", "".join(b if draw.random() < 0.95 else draw.choice("ACGT") for b in motifs[n % 3])]
        for n in range(60)
    ]
    table(folder / "reads.csv", ["id", "sequence"], reads)
    pairs = [f"{start} {end}" for start, ends in GERMAN.items() for end in ends]
    both = [
        f"{one}, und {two}" for one in pairs for two in pairs if one != two and one.split(" ")[1] == two.split(" ")[1]
    ]
    table(folder / "meldungen.csv", ["id", "text"], [[str(n), text] for n, text in enumerate(pairs * 2 + both * 2)])


def write_samples(folder: Path) -> None:
    """Write all files into an existing folder."""
    texts = chosen()
    prose(folder, texts)
    files(folder, texts)
    strings(folder)


if __name__ == "__main__":
    place = Path(sys.argv[1])
    place.mkdir(parents=True, exist_ok=True)
    write_samples(place)
