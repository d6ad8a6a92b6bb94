"""The first steps: what an installation brings, the pages that one follows, the site, the demo; and lines of code."""

import html
import io
import json
import re
import subprocess
import sys
import tempfile
import time
import tokenize
import tomllib
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any

from docs.follow import Followed, build_wheel, first_steps, follow, summary
from docs.samples import write_samples
from lab import Found, Table, Task, Unavailable, program
from lab.harness import ROOT
from lab.promises import promise

PHONE = 390  # pixels
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


def told(found: Followed, wrong: tuple[str, ...]) -> Found:
    """Return what came of a page that was followed."""
    return Found(summary(found), {"failed": len(wrong), "seconds": found.seconds}, notes=wrong)


@promise("quickstart")
def quickstart(task: Task) -> Found:
    found = follow((ROOT / "docs" / "quickstart.md").read_text(encoding="utf-8"), here=task.quick)
    return told(found, found.failed + found.other)


@promise("newcomer")
def newcomer(task: Task) -> Found:
    with tempfile.TemporaryDirectory() as folder:
        write_samples(Path(folder))
        page = first_steps((ROOT / "README.md").read_text(encoding="utf-8"), Path(folder) / "papers")
        found = follow(page, here=task.quick)
    return told(found, found.failed)


def shown(chromium: str, address: str, seconds: int) -> str:
    """Return a page as Chromium leaves it, after so many seconds of its own time."""
    flags = ("--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--dump-dom")
    command = [chromium, *flags, f"--virtual-time-budget={1000 * seconds}", address]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=900).stdout


@promise("site")
def site(task: Task) -> Found:
    chromium = program("chromium", "make browser")
    with tempfile.TemporaryDirectory() as folder:
        build = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "docs", folder]
        built = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
        files = sorted(Path(folder).rglob("*.html"))
        loads = [file.name for file in files if LOADED.search(file.read_text(encoding="utf-8"))]
        listed = [str(f.relative_to(folder)) for f in files if f.stem not in ("genindex", "search", "py-modindex")]
        listed = listed[: task.trials(len(listed), 20)]
        frames = Path(folder) / "frames.html"
        frames.write_text(FRAMES.replace("PAGES", json.dumps(listed)).replace("WIDTH", str(PHONE)), encoding="utf-8")
        widths = shown(chromium, frames.as_uri(), 300).partition("<pre>")[2].partition("</pre>")[0]
        search = (Path(folder) / "search.html").as_uri()
        results = {word: shown(chromium, f"{search}?q={word}", 20).partition('class="search"')[2] for word in SEARCHED}
    found = json.loads(html.unescape(widths) or "{}")
    wide = [page for page in listed if found.get(page, PHONE + 1) > PHONE]
    unfound = [word for word, page in results.items() if "<li" not in page]
    warnings = built.stderr.strip().splitlines()
    text = f"{len(listed)} pages, {len(warnings)} warnings, {len(loads)} load something, {len(wide)} too wide"
    text += f"; {len(SEARCHED) - len(unfound)} of {len(SEARCHED)} words found by the search, offline"
    wrong = [*warnings, *loads, *wide, *unfound]
    return Found(text, {"failed": len(wrong) + int(len(files) < 50)}, notes=wrong[:12])


PLATFORM = ("--python-version", "3.12", "--python-platform", "x86_64-manylinux_2_28")
PEERS = ("scikit-learn", "bertopic", "top2vec", "orange3-text", "cuml-cu12")


def resolved(source: Path, uv: str, *options: str) -> list[dict[str, Any]]:
    """Return the packages that an installation of the requirements of a file would bring."""
    lock = source.with_name("pylock.toml")
    lock.unlink(missing_ok=True)
    how = ("--quiet", "--format", "pylock.toml", *PLATFORM, *options)
    command = [uv, "pip", "compile", *how, str(source), "-o", str(lock)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable("the package index does not answer, or a package cannot be resolved")
    return list(tomllib.loads(lock.read_text(encoding="utf-8"))["packages"])


def megabytes(package: dict[str, Any]) -> float:
    """Return the size of a package's wheel, or of its source where there is none."""
    file = (package.get("wheels") or [package["sdist"]])[0]
    with urllib.request.urlopen(urllib.request.Request(file["url"], method="HEAD"), timeout=60) as answer:
        return int(answer.headers["Content-Length"]) / 1e6


@promise("footprints")
def footprints(task: Task) -> Found:
    uv = program("uv", "pip install uv")
    rows = []
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(8) as pool:
        own = build_wheel(Path(folder, "wheel")).stat().st_size / 1e6
        for name in ("grampus", "grampus[meaning]", *PEERS[: task.trials(len(PEERS), 1)]):
            ours = name.startswith("grampus")
            source = Path(folder, "pyproject.toml" if ours else "requirements.in")
            source.write_text((ROOT / source.name).read_text("utf-8") if ours else f"{name}\n", "utf-8")
            packages = resolved(source, uv, *(("--extra", "meaning") if name == "grampus[meaning]" else ()))
            sizes = list(zip(pool.map(megabytes, packages), (each["name"] for each in packages), strict=True))
            sizes = sorted([*sizes, *([(own, "grampus")] if ours else [])], reverse=True)
            version = next((f" {each['version']}" for each in packages if each["name"] == name), "")
            largest = ", ".join(f"{each} {size:.0f}" for size, each in sizes[:3])
            rows.append((name, f"{name}{version}", len(sizes), f"{sum(size for size, _ in sizes):.0f}", largest))
    columns = ("package", "packages", "MB", "the largest, MB")
    table = Table("Wheels of a plain installation", columns, [row[1:] for row in rows])
    return Found("; ".join(f"{name} {count} packages, {size} MB" for name, _, count, size, _ in rows), tables=[table])


NOT_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


@promise("demo-seconds")
def demo(task: Task) -> Found:
    times = []
    for _ in range(task.trials(3, 1)):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-m", "grampus", "demo"], cwd=ROOT, capture_output=True, check=True)
        times.append(time.perf_counter() - began)
    return Found(f"{median(times):.1f} s ({', '.join(f'{t:.1f}' for t in times)})", {"seconds": median(times)})


def code_lines(text: str) -> int:
    """Return the lines with a token that is neither a comment nor a string that stands alone."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return len({token.start[0] for token in tokens if token.type not in {*NOT_CODE, tokenize.STRING}})


@promise("code-lines")
def lines(task: Task) -> Found:
    places = {"src": ("src",), "lab": ("lab",), "scripts": ("tools", "docs"), "tests": ("tests",)}
    counted = {
        name: sum(code_lines(file.read_text("utf-8")) for root in roots for file in (ROOT / root).rglob("*.py"))
        for name, roots in places.items()
    }
    return Found(", ".join(f"{name} {count:,}" for name, count in counted.items()), counted)
