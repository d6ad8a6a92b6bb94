"""Cluster ten piles of ten kinds, by one command each, and write what is printed: `python -m docs.piles [PILE …]`.

The piles are what a Debian machine has, and two of the research corpora (GRAMPUS_DATA). Pages change with the packages
that are installed; nothing here is a promise, so no test compares them.
"""

import csv
import gzip
import json
import mailbox
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

from grampus._workbook import xlsx_bytes

PAGE = Path(__file__).with_name("results") / "piles.md"
DOC, DATA = Path("/usr/share/doc"), Path(os.environ.get("GRAMPUS_DATA", "data"))
MANUALS = Path(os.environ.get("GRAMPUS_MANUALS", "/usr/share/man"))
INTRODUCTION = """# Piles

Ten piles of ten kinds, each by one command, as it prints on a terminal of 80 columns. The files are those of a Debian
machine, drawn at random; mail and questions are from the [corpora](quality.md). The chart of k is left out, and the
names of the clusters, largest first, stand in place of the table; every sentence and note is as printed. The seconds
are those of a busy machine with two cores. `python -m docs.piles` makes this page.
"""


def copied(place, files, most, named=lambda path: "_".join(path.parts[-5:]), size=200_000):
    place.mkdir()
    some = sorted(path for path in files if path.is_file() and path.stat().st_size < size)
    for path in random.Random(0).sample(some, min(most, len(some))):
        shutil.copy(path, place / named(path))


def drawn(corpus, most):
    with gzip.open(DATA / corpus, "rt", encoding="utf-8") as lines:
        return random.Random(0).sample([json.loads(line) for line in lines], most)


def packages():
    listed = subprocess.run(["dpkg-query", "-W", "-f", r"${Package}\t${Section}\t${Description}\t\t"],
                            capture_output=True, text=True, check=True).stdout  # fmt: skip
    for record in listed.split("\t\t")[:-1]:
        name, section, description = record.split("\t", 2)
        summary, _, rest = description.partition("\n")
        yield name, section, summary, re.sub(r"\n (\.$)?", "\n", "\n" + rest).strip()


def manuals(place):
    copied(place, MANUALS.glob("*/man[1-8]/*.gz"), 400)


def mail(place):
    with_headers = mailbox.mbox(place)
    for post in drawn("20ng.jsonl.gz", 600):
        with_headers.add(post["text"].encode())
    with_headers.flush()


def sources(place):
    copied(place, Path("/usr/lib/python3").rglob("*.py"), 400)


def table(place):
    with place.open("w", newline="") as out:
        csv.writer(out).writerows([("package", "section", "description"), *((n, s, d) for n, s, _, d in packages())])


def workbook(place):
    rows = [["Package", "What it is"], *([name, summary] for name, _, summary, _ in packages())]
    place.write_bytes(xlsx_bytes(["Packages installed on this machine", ""], rows))


def papers(place):
    copied(place, [*DOC.rglob("*.pdf"), *DOC.rglob("*.pdf.gz")], 20, size=5_000_000)


def pages(place):
    copied(place, DOC.rglob("*.html"), 300)


def questions(place):
    place.write_text("\n".join(json.dumps({"question": one["text"]}) for one in drawn("dev/banking77.jsonl.gz", 1500)))


def changelogs(place):
    copied(place, DOC.glob("*/changelog*.gz"), 250, lambda path: f"{path.parent.name}-{path.name}")


def licences(place):
    copied(place, DOC.glob("*/copyright"), 400, lambda path: f"{path.parent.name}.txt")


PILES = {
    "man": ("Manual pages in seven languages, `.gz`", manuals),
    "inbox.mbox": ("A mailbox", mail),
    "code": ("Python sources", sources),
    "packages.csv": ("Descriptions of packages, CSV", table),
    "packages.xlsx": ("Their summaries, a workbook with a title row", workbook),
    "pdf --split pages": ("Manuals as PDF, some compressed, by page", papers),
    "html": ("Documentation as HTML", pages),
    "questions.jsonl": ("Questions to a bank, JSONL", questions),
    "changelogs": ("Changelogs, `.gz`", changelogs),
    "licences": ("Licences, plain text", licences),
}


def main(asked):
    written = dict(re.findall(r"^## (.+)\n\n```text\n([\s\S]+?)\n```$", PAGE.read_text(), re.MULTILINE))
    with tempfile.TemporaryDirectory() as folder:
        for pile, (title, make) in PILES.items():
            name, *options = pile.split()
            if asked and name not in asked:
                continue
            make(Path(folder, name))
            command = [sys.executable, "-m", "grampus", "cluster", name, *options]
            wide = os.environ | {"COLUMNS": "80"}
            printed = subprocess.run(command, cwd=folder, env=wide, capture_output=True, text=True, check=True).stdout
            written[title] = f"$ grampus cluster {pile}\n" + shortened(printed)
            print(written[title], flush=True)
            body = [
                f"## {title}\n\n```text\n{written[title]}\n```\n" for title, _ in PILES.values() if title in written
            ]
            PAGE.write_text("\n".join([INTRODUCTION, *body]))


def shortened(printed):
    """Return what was printed without the chart, and with the names in place of the table."""
    lines = [line.rstrip() for line in printed.splitlines() if not re.match(r" *(k|\d+)  (score|[01]\.\d{3} )", line)]
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in lines if line.startswith("│")]
    names = []
    for number, size, name, *_ in rows:
        if number:
            names.append([size, name])
        else:
            names[-1][1] += f" {name}" if name else ""
    shown = "; ".join(f"{name} ({size})" for size, name in names)
    kept = [line for line in lines if not re.match("[┏┃┡│└]", line)]
    at = next(number for number, line in enumerate(kept) if re.search(r"\d clusters?$", line)) + 1
    return "\n".join([*kept[:at], *textwrap.wrap(shown, 80), *kept[at:]]).strip()


if __name__ == "__main__":
    main(sys.argv[1:])
