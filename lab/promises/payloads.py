"""Texts from strangers in every field of the page, the notebook and the terminal: nothing runs, nothing escapes."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from grampus.report import write_report
from lab import Found, Task, Unavailable
from lab.found import Table
from lab.promises import promise

ROUND = 12  # terminal payloads in one run
SEQUENCES = (
    "\x1b]0;{}\x07", "\x1b]2;{}\x1b\\", "\x1b]8;;http://x.invalid/{}\x1b\\", "\x1b]52;c;{}\x07", "\x1b]4;1;{}\x07",
    "\x1b[6n{}", "\x1b[c{}", "\x1b[>c{}", "\x1b[21t{}", "\x1b[2J{}", "\x1b[3J{}", "\x1b[H{}", "\x1b[5;91m{}",
    "\x1b[8m{}",
    "\x1b[?1049h{}", "\x1b[?2004h{}", "\x1b[?1000h{}", "\x1bP$q{}\x1b\\", "\x1bP+q{}\x1b\\", "\x1b_{}\x1b\\",
    "\x1b^{}\x1b\\",
    "\x1bX{}\x1b\\", "\x1bc{}", "\x1b7{}\x1b8", "\x1b(0{}", "\x1b#8{}", "\x1b%@{}", "\x1b[1;{}r", "\x1b[99;99H{}",
    "\x9b6n{}", "\x9b2J{}", "\x9d0;{}\x9c", "\x90q{}\x9c", "\x9e{}\x9c", "\x98{}\x9c", "\x85{}", "\x84{}",
    "\x07{}", "\x08\x08{}", "\x0b{}", "\x0c{}", "\x0e{}\x0f", "\x05{}", "\x7f{}", "\x00{}", "\x18{}", "\x1a{}",
    "a\r{}", "a\n{}", "a\r\n\x1b[1A\x1b[2K{}", "\u202e{}\u202c", "\u2066{}\u2069", "\u061c{}", "\u200e{}", "\u200b{}",
    "\u2028{}", "\u2029{}", "\ufeff{}", "\U000e0041{}\U000e007f", "\u2060{}", "\x1b[38;2;1;2;3m{}", "\x1b[{}",
    "[red]{}[/red]", ":smile:{}", "%1b[2J{}", "\\x1b[2J{}", "\\033[31m{}",
)  # fmt: skip
MARKS = ("PWN", "rm -rf", "#1", "0")
PAYLOADS = [sequence.format(mark) for sequence, mark in product(SEQUENCES, MARKS)]
OURS = re.compile("\x1b\\[(?:[0-9;]*m|\\?25[lh]|2K|1A)|\r\n|\r")  # colours, and the progress bar's own moves
FORBIDDEN = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)
THEIRS = ("\x1b[5;91m", "\x1b[8m", "\x1b[38;2;1;2;3m", "\x1b[1A\x1b[2KPWN")  # colours of the payloads


def on_terminal(words: Sequence[str], folder: Path) -> str:
    """Run the command in a fork with a terminal of its own; return what the terminal gets."""
    child, handle = pty.fork()
    if child == 0:
        try:
            os.chdir(folder)
            os.environ |= {"TERM": "xterm-256color", "COLUMNS": "120", "FORCE_COLOR": "1"}
            from grampus.cli import main

            main(list(words))
        except SystemExit:
            pass
        finally:
            os._exit(0)
    parts, end = [], time.monotonic() + 300
    while time.monotonic() < end:
        if not select.select([handle], [], [], 1.0)[0]:
            continue
        try:
            part = os.read(handle, 1 << 16)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        parts.append(part)
    os.close(handle)
    os.waitpid(child, 0)
    return b"".join(parts).decode("utf-8", "replace")


def escapes(shown: str) -> list[str]:
    """Return what a terminal would have interpreted and is not ours."""
    found = [mark for mark in THEIRS if mark in shown]
    return found + sorted({repr(one) for one in FORBIDDEN.findall(OURS.sub("", shown))})


def commands(pay: Sequence[str]) -> Iterator[list[str]]:
    """Yield commands that show fields of a run, or an error about what they were given."""
    yield ["edit", "run"]
    yield ["tree", "run"]
    yield ["evaluate", "run"]
    yield ["trends", "run"]
    yield ["compare", "run", "plain"]
    yield ["edit", "run", "--results", "-"]
    yield ["report", "run", "--out", f"{pay[0].replace('/', '_')[:40]}.html".replace("\0", "_")]
    yield ["inspect", "new.jsonl"]
    yield ["cluster", "new.jsonl", "-k", "2", "--no-stability", "--threads", "1"]
    words = [one.replace("\0", "_") for one in pay]
    for number, one in enumerate(words):
        yield [
            ["cluster", one], ["cluster", "new.jsonl", "--kernel", one], ["edit", "run", "--rename", f"0={one}"],
            ["edit", "run", "--noise", one], [one], ["cluster", "new.jsonl", f"--{one}"],
        ][number % 6]  # fmt: skip


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
    from tests.browser import browser, chromium
    from tests.pages import PAYLOADS as SCRIPTS
    from tests.pages import example_run, hostile

    if chromium() is None:
        raise Unavailable("chromium is not installed (make browser)")
    run, bad = hostile(example_run(63)), []
    made = "iframe, object, embed, img, video, audio, base, form[action], [onerror], [onload], [onfocus], [autofocus]"
    clicks = (
        "document.querySelectorAll('details').forEach((d) => { d.open = true; });"
        "document.querySelectorAll('button, [role=tab], .document, .limb-item').forEach((b, i) => i % 7 || b.click());"
    )
    with tempfile.TemporaryDirectory() as name, browser() as chrome:
        places = {}
        for embed in ("excerpts", "full", "none"):
            places[embed] = Path(name, f"{embed}.html")
            write_report(run, places[embed], texts=embed)
        for what, shown in (("run", run), ("choice", run.evidence.choice)):
            places[f"notebook, {what}"] = Path(name, f"{what}.html")
            body = f"<!doctype html><meta charset=utf-8>{shown._repr_html_()}"
            places[f"notebook, {what}"].write_text(body, encoding="utf-8", errors="replace")
        for what, file in places.items():
            chrome.open(file, 120)
            chrome.settle()
            if "notebook" not in what:
                chrome.until("document.querySelector('#points').dataset.drawn", 120)
                chrome.run(f"(() => {{ {clicks} }})()")
                chrome.settle()
            built = chrome.run(f"document.querySelectorAll('{made}').length")
            others = [url for url in chrome.requests if not url.startswith(("blob:", "data:", file.resolve().as_uri()))]
            hit = chrome.run("window.hit === undefined ? 0 : 1")
            bad += [f"{what}: {why}" for why, wrong in (
                ("a payload ran", hit), ("a dialog", chrome.dialogs), (f"{built} elements", built),
                ("a request", others),
            ) if wrong]  # fmt: skip
    return {"payloads": len(set(SCRIPTS)), "shown": len(places), "bad": bad}


@promise(
    "payloads",
    "250 payloads in every field of a run: page and notebook in Chromium, commands and their errors on a real terminal "
    "(a pty): how many run as script, build an element, or reach the terminal as an escape.",
    rests_on=("report", "notebook", "cli"),
    conditions=("nothing-fails", "payload-fields"),
    timeout=2 * 3600,
)
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
