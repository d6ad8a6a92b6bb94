"""The documentation: quickstart and README followed, every code block, the reading level, the site and its search."""

from __future__ import annotations

import contextlib
import html
import io
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from docs.blocks import blocks_of, pages, run_page, sample_folder
from docs.follow import build_wheel, environment_of, follow, summary
from docs.reading import flesch, prose
from docs.samples import write_samples
from lab import Found, Task, Unavailable
from lab.harness import ROOT
from lab.promises import promise

PHONE = 390  # pixels
START = ("index.md", "quickstart.md", "guide/reading_result.md", "recipes/index.md")
SEARCHED = ("duplicates", "survey", "PDDP", "outliers")  # words that the site's own search must find
# What a page would load by itself; a link that a reader may follow is none.
LOADED = re.compile(
    r"<(?:script|img|iframe)[^>]+src=\"(?:https?:)?//|<link[^>]+rel=\"stylesheet\"[^>]+href=\"(?:https?:)?//"
)
# A page that opens the others in a frame as wide as a phone, one after the other, and notes how wide they become.
FRAMES = """<!doctype html><pre></pre><script>
const pages = PAGES, found = {};
function next() {
  if (!pages.length) { document.querySelector("pre").textContent = JSON.stringify(found); return; }
  const page = pages.shift(), frame = document.createElement("iframe");
  frame.style.cssText = "width: WIDTHpx; height: 800px; border: 0";
  frame.onload = () => { found[page] = frame.contentDocument.documentElement.scrollWidth; frame.remove(); next(); };
  frame.src = page;
  document.body.append(frame);
}
next();
</script>"""


def followed(page: str, here: bool) -> Found:
    """Do what a page says."""
    found = follow((ROOT / "docs" / page).read_text(encoding="utf-8"), here=here)
    wrong = [*found.failed, *found.other]
    return Found(summary(found), {"failed": len(wrong), "seconds": found.seconds}, notes=wrong)


@promise(
    "quickstart",
    "The quickstart followed word for word in an empty environment, without a network after the installation.",
    rests_on=("cli", "documents"),
    conditions=("nothing-fails", "quickstart-seconds"),
)
def quickstart(task: Task) -> Found:
    return followed("quickstart.md", here=task.quick)


@promise(
    "newcomer",
    "Only the README read, in an empty environment: the wheel installed, a folder of 60 PDF and DOCX files, a page.",
    rests_on=("cli", "documents", "text", "report"),
    conditions=("nothing-fails", "newcomer-seconds"),
)
def newcomer(task: Task) -> Found:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^\$ (.+)$", page.partition("## Install and run")[2].partition("\n## ")[0], re.MULTILINE)
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        here = scratch / "empty"
        here.mkdir()
        write_samples(scratch)
        shutil.move(scratch / "papers", here / "papers")
        wheel = build_wheel(scratch / "wheel")
        environment = environment_of(scratch, here=False)
        script = [f"python3 -m venv {scratch}/venv", f". {scratch}/venv/bin/activate"]
        script += [line.replace('"grampus[files]"', f'"{wheel}[files]"') for line in commands]
        times, came = [], ""
        for number in range(2, len(script)):
            began = time.perf_counter()
            lines = [*(script[:2] if number == 2 else script[1:2]), script[number]]
            done = subprocess.run(
                ["bash", "-ec", "\n".join(lines)],
                cwd=here,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            times.append(time.perf_counter() - began)
            came += f"{script[number]}: {done.stderr.strip()[-200:]}" if done.returncode else ""
        pages = [file.name for file in sorted(here.glob("*.html")) if file.stat().st_size > 50_000]
    failed = int(bool(came)) + int(pages != ["demo.html", "papers.html"])
    shown = ", ".join(f"{seconds:.0f} s" for seconds in times)
    notes = [came] if came else []
    return Found(
        f"{len(commands)} commands: install, demo, own page in {shown}; {', '.join(pages)}",
        {"failed": failed, "seconds": sum(times)},
        notes=notes,
    )


@promise(
    "blocks",
    "Every code block of README and docs that a reader could type is run: doctests, Python and commands.",
    rests_on=("cli", "documents"),
    conditions=("nothing-fails",),
)
def code_blocks(task: Task) -> Found:
    every = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    kinds = Counter(block.kind for page in every if "_build" not in page.parts for block in blocks_of(page))
    wrong = []
    for page in pages():
        try:
            with sample_folder() as scratch, contextlib.redirect_stdout(io.StringIO()):
                run_page(page, scratch)
        except Exception as error:
            wrong.append(f"{page.relative_to(ROOT)}: {type(error).__name__}: {error}")
    test = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "docs", "README.md"]
    done = subprocess.run(test, cwd=ROOT, capture_output=True, text=True, check=False)
    wrong += [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    counts = f"{kinds['doctest']} doctests, {kinds['python']} of Python, {kinds['console']} of commands"
    return Found(f"{counts}; {len(wrong)} fail", {"failed": len(wrong) + int(done.returncode > 1)}, notes=wrong)


@promise(
    "reading-level",
    "Flesch's reading ease of the pages that one starts with; 60 to 70 is plain English, and code is left out.",
    rests_on=("_version",),
    conditions=("reading-level",),
)
def reading_level(task: Task) -> Found:
    places = [
        ROOT / "README.md",
        *(ROOT / "docs" / name for name in START),
        *sorted((ROOT / "docs/recipes").glob("*.md")),
    ]
    found = {str(page.relative_to(ROOT)): flesch(prose(page.read_text(encoding="utf-8"))) for page in places}
    low = sorted(found, key=lambda name: found[name])
    mean = sum(found.values()) / len(found)
    shown = ", ".join(f"{name} {found[name]:.0f}" for name in ("README.md", "docs/index.md", "docs/quickstart.md"))
    text = f"{shown}; {len(found)} pages, mean {mean:.0f}, lowest {found[low[0]]:.0f} ({low[0]})"
    return Found(text, {"lowest": found[low[0]]}, notes=[f"{name} {found[name]:.0f}" for name in low[:5]])


@promise(
    "site",
    "The site builds without a warning, loads nothing from elsewhere, no page is wider than a phone (390 px), and its "
    "search works from disk.",
    rests_on=("_version",),
    conditions=("nothing-fails",),
)
def site(task: Task) -> Found:
    chromium = shutil.which("chromium")
    if chromium is None:
        raise Unavailable("chromium is not installed (make browser)")
    with tempfile.TemporaryDirectory() as folder:
        build = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "docs", folder]
        built = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
        files = sorted(Path(folder).rglob("*.html"))
        loads = [file.name for file in files if LOADED.search(file.read_text(encoding="utf-8"))]
        listed = [
            str(file.relative_to(folder)) for file in files if file.stem not in ("genindex", "search", "py-modindex")
        ]
        frames = Path(folder) / "frames.html"
        frames.write_text(FRAMES.replace("PAGES", json.dumps(listed)).replace("WIDTH", str(PHONE)), encoding="utf-8")
        flags = ("--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--dump-dom")
        show = [chromium, *flags, "--virtual-time-budget=300000", frames.as_uri()]
        shown = subprocess.run(show, capture_output=True, text=True, check=False, timeout=600).stdout
        unfound = [word for word in SEARCHED if not results_of(Path(folder), word, chromium)]
    widths = json.loads(html.unescape(shown.partition("<pre>")[2].partition("</pre>")[0]) or "{}")
    wide = [page for page in listed if widths.get(page, PHONE + 1) > PHONE]
    warnings = built.stderr.strip().splitlines()
    text = f"{len(listed)} pages, {len(warnings)} warnings, {len(loads)} load something, {len(wide)} too wide"
    text += f"; {len(SEARCHED) - len(unfound)} of {len(SEARCHED)} words found by the search, offline"
    failed = len(warnings) + len(loads) + len(wide) + len(unfound) + int(len(listed) < 50)
    return Found(text, {"failed": failed}, notes=[*warnings[:5], *wide[:5], *unfound])


def results_of(site: Path, word: str, chromium: str) -> int:
    """Return how many pages the site's own search finds, opened from disk without a network."""
    flags = ("--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--dump-dom")
    address = (site / "search.html").as_uri() + f"?q={word}"
    show = [chromium, *flags, "--virtual-time-budget=20000", address]
    shown = subprocess.run(show, capture_output=True, text=True, check=False, timeout=120).stdout
    return shown.partition('class="search"')[2].count("<li")
