"""The documentation: the quickstart followed word for word, the first session, the site."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from docs.follow import follow, summary
from lab import Found, Task, Unavailable
from lab.harness import ROOT
from lab.promises import promise

PHONE = 390  # pixels
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
    "first-session",
    "docs/guide/newcomer.md: the recorded output is what the commands print.",
    rests_on=("cli", "documents"),
    conditions=("nothing-fails",),
)
def first_session(task: Task) -> Found:
    return followed("guide/newcomer.md", here=True)


@promise(
    "site",
    "The site builds without a warning, loads nothing from elsewhere, and no page is wider than a phone (390 px).",
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
        pages = [
            str(file.relative_to(folder)) for file in files if file.stem not in ("genindex", "search", "py-modindex")
        ]
        frames = Path(folder) / "frames.html"
        frames.write_text(FRAMES.replace("PAGES", json.dumps(pages)).replace("WIDTH", str(PHONE)), encoding="utf-8")
        flags = ("--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--dump-dom")
        show = [chromium, *flags, "--virtual-time-budget=300000", frames.as_uri()]
        shown = subprocess.run(show, capture_output=True, text=True, check=False, timeout=600).stdout
    widths = json.loads(html.unescape(shown.partition("<pre>")[2].partition("</pre>")[0]) or "{}")
    wide = [page for page in pages if widths.get(page, PHONE + 1) > PHONE]
    warnings = built.stderr.strip().splitlines()
    text = f"{len(pages)} pages, {len(warnings)} warnings, {len(loads)} load something, {len(wide)} too wide"
    failed = len(warnings) + len(loads) + len(wide) + int(len(pages) < 50)
    return Found(text, {"failed": failed}, notes=[*warnings[:5], *wide[:5]])
