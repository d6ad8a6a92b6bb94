"""The command ``python -m lab``."""

import argparse
import shutil
import sys
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from lab import claims
from lab.conditions import conditions
from lab.harness import RESULTS, ROWS, SCRATCH, SECTIONS, Record, Row, discover, load, run, stands, store, write

TITLES = {
    "promises": "What Grampus promises",
    "speed": "Speed next to other packages",
    "quality": "Quality on corpora with known classes",
    "papers": "The papers' tables and figures",
}


def verdict(found: Row, record: Record | None, quick: bool = False) -> str:
    """Return passed, failed with the reason, shown (a row without conditions), or why there is nothing to judge."""
    if record is None:
        return "no result"
    if record.status != "done":
        return f"{record.status}: {record.detail}"
    if quick or not found.conditions or not record.measures:
        return record.detail or "shown"  # results older than this harness have no measures, only their verdict
    known = conditions()
    missed = [text for name in found.conditions if (text := known[name].missed(record.measures))]
    return f"failed: {'; '.join(missed)}" if missed else "passed"


def bad(text: str) -> bool:
    """Whether a verdict makes the command fail."""
    return text.startswith(("failed", "crashed", "timed out"))


def page(section: str, rows: Sequence[Row], folder: Path, quick: bool = False) -> str:
    """Return the Markdown page of a section: a table of its rows for each module, and what they found below it."""
    parts = [f"# {TITLES[section]}", f"Written by `python -m lab {section} --save`."]
    for module, members in groupby(rows, key=lambda found: found.module.rpartition(".")[2]):
        lines = ["| row | shows | figure | result | made |", "|---|---|---|---|---|"]
        bodies = []
        for found in members:
            record = load(found, folder)
            if record is None:
                continue
            date, name, seconds = (record.made.get(key, "–") for key in ("date", "commit", "seconds"))
            made, judged = f"{date}, {name}, {seconds} s", verdict(found, record, quick)
            cells = (found.name, found.shows, record.figure, judged, made)
            lines.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
            if record.body:
                bodies.append(f"### {found.name}\n\n{found.shows}\n\n{record.body}\n\n{_made(record)}")
        if len(lines) == 2:
            continue  # nothing was measured yet
        parts += [f"<!-- {module} -->\n\n## {module}", "\n".join(lines), *bodies, f"<!-- end of {module} -->"]
    return "\n\n".join(parts) + "\n"


def _made(record: Record) -> str:
    made = record.made
    versions = ", ".join(f"{name} {version}" for name, version in made.get("versions", {}).items())
    place = "; ".join(part for part in (made.get("cpu", ""), versions) if part)
    return f"`{made['command']}`, commit {made['commit']}, {made['date']}; {place}."


def state(found: Row, quick: bool, folders: Sequence[Path]) -> tuple[str, Record | None]:
    """Return current, stale or new, and the newest result that fits best."""
    records = [record for folder in folders if (record := load(found, folder)) is not None]
    records.sort(key=lambda record: record.status != "done")  # what was done comes before what crashed
    done = [record for record in records if record.status == "done"]
    current = [record for record in done if record.key == found.key(quick) or (not quick and stands(found, record))]
    return ("current", current[0]) if current else ("stale", records[0]) if records else ("new", None)


def main(arguments: Sequence[str] | None = None, *, scratch: Path = SCRATCH, results: Path = RESULTS) -> int:
    """Run the selected rows; return 1 if one failed."""
    parser = argparse.ArgumentParser("python -m lab", description="Measure what Grampus promises.")
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"of {', '.join(SECTIONS)} (all by default)")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="rows by name")
    parser.add_argument("--list", action="store_true", help="list the rows with the state of their results, and stop")
    parser.add_argument("--quick", action="store_true", help="smaller sets and fewer trials; conditions are not judged")
    parser.add_argument("--again", action="store_true", help="run also what has a current result")
    parser.add_argument("--check", action="store_true", help="compute one step in 5 anew; if equal, the others stand")
    parser.add_argument("--save", action="store_true", help="copy results and pages to lab/results")
    parser.add_argument("--seed", type=int, default=0, help="the one seed (0)")
    options = parser.parse_args(arguments)
    rows = discover() if not ROWS else list(ROWS.values())
    if unknown := set(options.sections) - set(SECTIONS):
        parser.error(f"no section called {', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}")
    if options.quick and options.save:
        parser.error("--quick cannot be combined with --save")
    selected = [row for row in rows if not options.sections or row.section in options.sections]
    if unknown := set(options.only) - {row.name for row in selected}:
        parser.error(f"no row called {', '.join(sorted(unknown))}; --list shows them")
    selected = [row for row in selected if not options.only or row.name in options.only]
    folder = scratch / "quick" if options.quick else scratch
    folders = (folder,) if options.quick else (folder, results)
    verdicts = []
    for found in selected:
        how, record = state(found, options.quick, folders)
        if options.list:
            print(f"{found.section:9} {found.name:32} {how:8} {found.shows}")
            continue
        if record is None or how != "current" or options.again:
            print(f"{found.section} {found.name}: {found.shows}", flush=True)
            older = record.key if options.check and record is not None else ""
            record = run(found, options.quick, options.seed, folder, older)
        if options.save and record.status == "done" and load(found, folder) == record:
            _keep(found, record, folder, results)
        verdicts.append(verdict(found, record, options.quick))
        print(f"{found.section} {found.name}: {record.figure} [{verdicts[-1]}]", flush=True)
        if record.body:
            print(f"\n{record.body}\n", flush=True)
    if not options.list:
        for section in dict.fromkeys(found.section for found in selected):
            place, members = results if options.save else folder, [row for row in rows if row.section == section]
            write(place / f"{section}.md", page(section, members, place, options.quick))
            if section == "papers":
                write(place / "claims.md", claims.page(members, place))
        print(f"{len(verdicts)} rows, {sum(map(bad, verdicts))} failed", flush=True)
    return int(any(map(bad, verdicts)))


def _keep(found: Row, record: Record, folder: Path, results: Path) -> None:
    """Copy a result and its pictures to the committed ones."""
    store(found, record, results)
    for file in (folder / found.section).glob(f"{found.name}-*.png"):
        (results / found.section).mkdir(parents=True, exist_ok=True)
        shutil.copy(file, results / found.section / file.name)


if __name__ == "__main__":
    sys.exit(main())
