"""What strangers bring: hostile and mutated files, forged runs, and payloads in every field of a run."""

import contextlib
import io
import json
import os
import pty
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from grampus import DocumentClusterer
from grampus.documents import cluster_within, update_run
from grampus.errors import RunError
from grampus.persist import Edit, Run
from grampus.report import write_report
from grampus.text import Corpus
from lab import Found, Table, Task, printed
from lab.promises import open_browser, promise
from tests import samples
from tests.fuzz import DOCUMENTS, READERS, write_bomb

_LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
_ENTITIES = f'<!DOCTYPE x [<!ENTITY l0 "lol">{_LAUGHS}]><x>&l9;</x>'


def _bomb(name: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        write_bomb(Path(folder, name), 10 << 30)
        return Path(folder, name).read_bytes()


# Each is put into a folder next to good.txt, which must be all that is read.
HOSTILE: dict[str, tuple[str, Callable[[], bytes]]] = {
    **{f"{kind}.gz that expands to 10 GB": (f"x.{kind}.gz", partial(_bomb, f"x.{kind}.gz"))
       for kind in ("jsonl", "csv", "json", "txt")},
    "ZIP that expands to 300 MB": ("x.zip", lambda: samples.zipped({"a.txt": b" " * (300 << 20)})),
    "XLSX that expands to 300 MB": (
        "x.xlsx", lambda: samples.xlsx({"S": []}, body=samples.sheet_body([["x" * (300 << 20)]])),
    ),
    "DOCX that expands to 300 MB": ("x.docx", lambda: samples.docx([], body=samples.word_body(["x" * (300 << 20)]))),
    "DOCX with nested entities": ("x.docx", lambda: samples.docx([], body=_ENTITIES)),
    "DOCX with a document type from a URL": (
        "x.docx", lambda: samples.docx([], body='<!DOCTYPE x SYSTEM "http://x.invalid/x.dtd"><x/>'),
    ),
    "DOCX with 100,000 nested elements": ("x.docx", lambda: samples.docx([], body="<a>" * 100_000)),
    "PDF with a stream of 300 MB": ("x.pdf", lambda: samples.pdf(["x"], line=b" " * (300 << 20))),
    "PDF that needs a password": ("x.pdf", lambda: samples.locked_pdf("secret")),
    "PDF cut short": ("x.pdf", lambda: samples.pdf(["x"])[:150]),
    "ZIP in a ZIP": ("x.zip", lambda: samples.zipped({"in.zip": samples.zipped({"x.txt": "x"})})),
    "ZIP of 10,000 empty files": ("x.zip", lambda: samples.zipped({f"{n}.txt": "" for n in range(10_000)})),
    "TAR.GZ that expands to 300 MB": ("x.tar.gz", lambda: samples.tarred({"a.txt": b" " * (300 << 20)}, "gz")),
    "ZIP with ../ and a link": ("x.zip", samples.leading_out),
    "encrypted ZIP": ("x.zip", lambda: samples.locked_zip({"a.txt": "secret"})),
    "encrypted DOCX": ("x.docx", lambda: b"\xd0\xcf\x11\xe0" + b"\0" * 600),
    "DOCX cut short": ("x.docx", lambda: samples.docx(["a"])[:-30]),
    "RTF with 100,000 nested groups": ("x.rtf", lambda: b"{\\rtf1" + b"{" * 100_000),
    "EPUB without a text": ("x.epub", lambda: samples.epub([])),
}  # fmt: skip
REFUSE = """
import json, os, resource, sys, warnings
from grampus.text import read_corpus
warnings.simplefilter("ignore")
before = sum(os.times()[:4])
corpus = read_corpus(sys.argv[1])
own = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
peak = max(int(own.split()[1]), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) / 1024
reasons = [file.reason for file in corpus.files if not file.path.startswith("good")] or list(corpus.skipped)
found = {"texts": list(corpus.texts), "seconds": sum(os.times()[:4]) - before, "peak": peak, "reason": reasons[0]}
print(json.dumps(found))
"""


def refused(name: str, make: Callable[[], bytes]) -> dict[str, Any]:
    """Read a folder with a hostile file and a good one in a fresh process; return CPU seconds, peak MB and reason."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, name).write_bytes(make())
        Path(folder, "good.txt").write_text("whale song", encoding="utf-8")
        return dict(json.loads(printed("-c", REFUSE, folder, timeout=120)))


@promise("refused-files")
def refused_files(task: Task) -> Found:
    found = {name: task.step(name, partial(refused, *case)) for name, case in HOSTILE.items()}
    failed = sum(one["texts"] != ["whale song"] for one in found.values())
    seconds, peak = (max(one[key] for one in found.values()) for key in ("seconds", "peak"))
    rows = [(name, f"{one['seconds']:.2f}", f"{one['peak']:.0f}", one["reason"][:120]) for name, one in found.items()]
    table = Table("A folder with the file and a good one", ("file", "CPU s", "peak MB", "reason"), rows)
    figure = f"{len(rows)} files, at most {seconds:.2f} CPU s and {peak:.0f} MB"
    return Found(figure, {"failed": failed, "seconds": seconds, "peak": peak}, [table])


TABLES = tuple(sorted(set(READERS) - set(DOCUMENTS)))
CHUNK = 1_000
SECONDS = 1_800.0
MEMORY = 1_000  # MB, the interpreter and the libraries of the formats included


def fuzz(name: str, inputs: int, seed: int) -> dict[str, Any]:
    """Read mutated files in a process of its own, so that a crash is a failure of that part."""
    command = [sys.executable, "-m", "tests.fuzz", name, str(inputs), str(seed)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        return {"failed": f"{name} {seed}: {done.stderr.strip()[-300:] or f'exit status {done.returncode}'}"}
    found: dict[str, Any] = json.loads(done.stdout)
    return found if found["peak_mb"] <= MEMORY else {**found, "failed": f"{name} {seed}: {found['peak_mb']} MB"}


def fuzzed(task: Task, names: Sequence[str], files: int) -> Found:
    """Fuzz readers in turn, up to so many files each, until the time of a call is over."""
    chunk = task.trials(CHUNK, 50)
    end = time.monotonic() + SECONDS
    parts_of = {name: list[dict[str, Any]]() for name in names}
    for seed in range(task.trials(files, 50) // chunk):  # some of every reader first
        for name, parts in parts_of.items():
            if time.monotonic() < end:
                parts.append(task.step(f"{name} {seed}", partial(fuzz, name, chunk, seed)))
    rows, failed = [], list[str]()
    for name, parts in parts_of.items():
        failed += [part["failed"] for part in parts if "failed" in part]
        read, errors = (sum(part.get(kind, 0) for part in parts) for kind in ("corpora", "errors"))
        slowest, peak = (max(part.get(kind, 0.0) for part in parts) for kind in ("slowest_seconds", "peak_mb"))
        rows.append((name, chunk * len(parts), read, errors, slowest, peak))
    counts = [row[1] for row in rows]
    table = Table("Mutated files", ("reader", "files", "corpora", "errors", "slowest, CPU s", "peak, MB"), rows)
    figure = (
        f"{len(failed)} parts failed; {sum(counts):,} files over {len(names)} readers, {min(counts):,} or more each"
    )
    return Found(figure, {"failed": len(failed), "files": sum(counts), "each": min(counts)}, [table], notes=failed)


promise("fuzzed-readers")(partial(fuzzed, names=TABLES, files=-(-1_000_000 // len(TABLES) // CHUNK) * CHUNK))
promise("fuzzed-documents")(partial(fuzzed, names=DOCUMENTS, files=50_000))


RUNS, PART, SHOWN = 2_000, 250, 2  # forged runs, those of a step, and commands that see each one that loads
SLOWEST = 10.0  # processor seconds of a forged run
FIELD = re.compile(
    r"provenance|documents|evidence|layout|model|the edits|edits\b|history|manifest\.json|unknown field|array"
)
COMMANDS = (
    ("report", "run", "--out", "page.html"), ("edit", "run", "--rename", "0=y", "--out", "other"), ("tree", "run"),
    ("trends", "run"), ("assign", "run", "new.csv"), ("compare", "base", "run"), ("evaluate", "run"),
    ("update", "run", "new.csv", "--out", "other"),
)  # fmt: skip


def write_base(place: Path) -> None:
    """Save a run with levels, a graft, edits of every kind and a history."""
    from tests.pages import with_levels

    run = update_run(with_levels(), Corpus(["whale calf rose oven"], ["new1"]))
    run = cluster_within(run, 0, DocumentClusterer(2))
    edits = (
        Edit("rename", (0,), name="Sea"), Edit("split", (0,)), Edit("noise", documents=("3",)),
        Edit("exclude", documents=("9",)), Edit("move", (1,), ("12",)), Edit("merge", (1, 2)),
    )  # fmt: skip
    run.edited(*edits).save(place)


def command(words: tuple[str, ...]) -> str:
    """Run a command; return what is wrong with its end."""
    from grampus.cli.main import _run

    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = _run(list(words))
    except BaseException:
        return traceback.format_exc()[-300:]
    told = err.getvalue()
    bad = "bug in Grampus" in told or "Traceback" in told or (status and len(told.strip().splitlines()) != 1)
    return told[:300] if bad else ""


def forged(start: int, count: int) -> dict[str, Any]:
    """Load forged runs, and show those that load to some commands."""
    from tests.forge import draw_change, write_forged

    warnings.simplefilter("ignore")
    ends: Counter[str] = Counter()
    bad: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_base(folder / "base")
        (folder / "new.csv").write_text("id,text\nn1,whale song\nn2,star dust\n", encoding="utf-8")
        os.chdir(folder)
        for seed in range(start, start + count):
            kind, change = draw_change(seed)
            write_forged(folder / "base", folder / "run", change)
            began, how = time.process_time(), "harmless"
            try:
                Run.load("run")
            except RunError as error:
                how = "refused"
                bad += [] if FIELD.search(str(error)) else [f"{seed} ({kind}): no field in {str(error)[:200]!r}"]
            except BaseException:
                bad.append(f"{seed} ({kind}): {traceback.format_exc()[-300:]}")
            if how == "harmless":
                for words in random.Random(seed).sample(COMMANDS, SHOWN):
                    wrong = command(words)
                    bad += [f"{seed} ({kind}), {words[0]}: {wrong}"] if wrong else []
                    shutil.rmtree(folder / "other", ignore_errors=True)
            if time.process_time() - began > SLOWEST:
                bad.append(f"{seed} ({kind}): {time.process_time() - began:.0f} s")
            ends.update([how, *(f"{how} {one}" for one in set(kind.split("+")))])
        os.chdir("/")
    return {"ends": dict(ends), "bad": bad}


@promise("forged")
def forgeries(task: Task) -> Found:
    total, part = task.trials(RUNS, 40), task.trials(PART, 40)
    every = [task.step(f"{start} {part}", partial(forged, start, part)) for start in range(0, total, part)]
    counts, bad = Counter[str](), [one for found in every for one in found["bad"]]
    for found in every:
        counts.update(found["ends"])
    kinds = sorted({end.partition(" ")[2] for end in counts} - {""})
    rows = [(kind, *(counts[f"{how} {kind}"] for how in ("refused", "harmless"))) for kind in kinds]
    runs = counts["refused"] + counts["harmless"]
    figure = f"{len(bad)} of {runs:,} do harm; {counts['refused']:,} refused with their field, "
    figure += f"{counts['harmless']:,} harmless"
    table = Table("Forged runs by what was changed (one to three changes)", ("change", "refused", "harmless"), rows)
    return Found(figure, {"failed": len(bad), "runs": runs}, [table], notes=bad[:40])


ROUND = 12  # terminal payloads in one run
SEQUENCES: list[str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["sequences"]
MARKS = ("PWN", "rm -rf", "#1", "0")
PAYLOADS = [sequence.format(mark) for sequence, mark in product(SEQUENCES, MARKS)]
OURS = re.compile("\x1b\\[(?:[0-9;]*m|\\?25[lh]|2K|1A)|\r\n|\r")  # colours, and the progress bar's own moves
FORBIDDEN = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)
THEIRS = ("\x1b[5;91m", "\x1b[8m", "\x1b[38;2;1;2;3m", "\x1b[1A\x1b[2KPWN")  # colours of the payloads


MADE = "iframe, object, embed, img, video, audio, base, form[action], [onerror], [onload], [onfocus], [autofocus]"
CLICKS = """document.querySelectorAll('details').forEach((d) => { d.open = true; });
document.querySelectorAll('button, [role=tab], .document, .limb-item').forEach((b, i) => i % 7 || b.click());"""


def on_terminal(words: Sequence[str], folder: Path) -> str:
    """Run the command in a fork with a terminal of its own; return what the terminal gets."""
    child, handle = pty.fork()
    if child == 0:
        try:
            signal.alarm(300)
            os.chdir(folder)
            os.environ |= {"TERM": "xterm-256color", "COLUMNS": "120", "FORCE_COLOR": "1"}
            from grampus.cli import main

            main(list(words))
        finally:
            os._exit(0)
    parts = []
    with suppress(OSError):  # the other end is closed
        while part := os.read(handle, 1 << 16):
            parts.append(part)
    os.close(handle)
    os.waitpid(child, 0)
    return b"".join(parts).decode("utf-8", "replace")


def escapes(shown: str) -> list[str]:
    """Return what a terminal would have interpreted and is not ours."""
    found = [mark for mark in THEIRS if mark in shown]
    return found + sorted({repr(one) for one in FORBIDDEN.findall(OURS.sub("", shown))})


def commands(pay: Sequence[str]) -> list[list[str]]:
    """Return commands that show fields of a run, or an error about what they were given."""
    lines = ["edit run", "tree run", "evaluate run", "trends run", "compare run plain", "edit run --results -"]
    lines += ["inspect new.jsonl", "cluster new.jsonl -k 2 --no-stability --threads 1"]
    found = [line.split() for line in lines]
    found.append(["report", "run", "--out", f"{pay[0].replace('/', '_')[:40]}.html".replace("\0", "_")])
    for number, one in enumerate(word.replace("\0", "_") for word in pay):
        wrong = ["cluster", one], ["cluster", "new.jsonl", "--kernel", one], ["edit", "run", "--rename", f"0={one}"]
        other = ["edit", "run", "--noise", one], [one], ["cluster", "new.jsonl", f"--{one}"]
        found.append([*wrong, *other][number % 6])
    return found


def terminal(start: int, pay: Sequence[str]) -> dict[str, Any]:
    """Show a run with some payloads in every field on a terminal; return commands, and what escaped."""
    from tests.pages import example_run, hostile

    shown, bad = 0, []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run = example_run()
        hostile(run, pay).save(folder / "run")
        run.save(folder / "plain")
        rows = [
            {"id": f"{one}{i}", "text": f"{word} {one} {word} song", "title": one, "label": one, "date": one}
            for i, (one, word) in enumerate(product(pay, ("whale", "court")))
        ]
        (folder / "new.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        for words in commands(pay):
            text = on_terminal(words, folder)
            shown += 1
            bad += [f"payloads {start}…, {words[0]!r} {words[1:3]!r}: {one}" for one in escapes(text)]
            if "Traceback" in text or "bug in Grampus" in text:
                bad.append(f"payloads {start}…, {words!r}: {text[-200:]!r}")
    return {"shown": shown, "bad": bad}


def page() -> dict[str, Any]:
    """Open the page and the notebook's picture of a hostile run in a browser; return what ran or was built."""
    from tests.pages import PAYLOADS as SCRIPTS
    from tests.pages import example_run, hostile

    run, bad = hostile(example_run(63)), []
    with tempfile.TemporaryDirectory() as name, open_browser() as chrome:
        places: dict[Any, Path] = {embed: Path(name, f"{embed}.html") for embed in ("excerpts", "full", "none")}
        for embed, place in places.items():
            write_report(run, place, texts=embed)
        for what, shown in (("run", run), ("choice", run.evidence.choice)):
            places[f"notebook, {what}"] = Path(name, f"{what}.html")
            body = f"<!doctype html><meta charset=utf-8>{shown._repr_html_()}"
            places[f"notebook, {what}"].write_text(body, encoding="utf-8", errors="replace")
        for what, file in places.items():
            chrome.open(file, 120)
            chrome.settle()
            if "notebook" not in what:
                chrome.until("document.querySelector('#points').dataset.drawn", 120)
                chrome.run(f"(() => {{ {CLICKS} }})()")
                chrome.settle()
            built = chrome.run(f"document.querySelectorAll('{MADE}').length")
            others = [url for url in chrome.requests if not url.startswith(("blob:", "data:", file.resolve().as_uri()))]
            signs = {"a payload ran": chrome.run("window.hit !== undefined"), "a dialog": chrome.dialogs}
            signs |= {f"{built} elements": built, "a request": others}
            bad += [f"{what}: {why}" for why, wrong in signs.items() if wrong]
    return {"payloads": len(set(SCRIPTS)), "shown": len(places), "bad": bad}


@promise("payloads")
def payloads(task: Task) -> Found:
    assert sum(bool(escapes(one)) for one in PAYLOADS) >= 230  # the others are plain text that must stay plain
    web = task.step("page", page)
    some = PAYLOADS[: task.trials(len(PAYLOADS), ROUND)]
    rounds = [
        task.step(f"terminal {start}", partial(terminal, start, some[start : start + ROUND]))
        for start in range(0, len(some), ROUND)
    ]
    bad = [*web["bad"], *(one for found in rounds for one in found["bad"])]
    shown = sum(found["shown"] for found in rounds)
    rows = [
        ("page and notebook, Chromium", web["payloads"], web["shown"], len(web["bad"])),
        ("terminal, a pty", len(some), shown, len(bad) - len(web["bad"])),
    ]
    figure = f"{len(bad)} ran or escaped; {web['payloads']} payloads in a browser, {len(some)} on a terminal"
    table = Table("Payloads", ("where", "payloads", "pages or commands", "ran or escaped"), rows)
    measures = {"failed": len(bad), "payloads": min(web["payloads"], len(some))}
    return Found(figure, measures, [table], notes=bad[:40])
