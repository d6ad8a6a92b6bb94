"""Part 10: documentation that teaches."""

from __future__ import annotations

import html
import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from verify import Figure, line
from verify.commands import ROOT, run_tests

DOCS = ("docs", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "tests", "verify/commands.py")
# What a page would load by itself; a link that a reader may follow is none.
_LOADED = re.compile(
    r"<(?:script|img|iframe)[^>]+src=\"(?:https?:)?//|<link[^>]+rel=\"stylesheet\"[^>]+href=\"(?:https?:)?//"
)

_EXTRA = ("genindex", "search", "py-modindex")


@line(10, "code", "Every code block of the documentation and every example of a docstring runs.", watches=DOCS)
def code() -> Figure:
    return run_tests("docs", "README.md", "src/grampus", needs=110)


@line(
    10,
    "quickstart",
    "The quickstart, followed word for word in an empty environment, ends with a report in five minutes; the output is "
    "that of the page; after the installation nothing asks for a network.",
    watches=(*DOCS, "pyproject.toml"),
)
def quickstart() -> Figure:
    from docs.follow import PAGE, follow, summary

    followed = follow(PAGE.read_text(encoding="utf-8"))
    wrong = followed.failed + followed.other
    whole = not wrong and followed.compared and len(followed.reports) == 2 and followed.seconds < 300
    return Figure(summary(followed), whole, "; ".join(wrong)[:500])


@line(10, "docstrings", "Every public name has a docstring with an example, and is in the reference.", watches=DOCS)
def docstrings() -> Figure:
    return run_tests("tests/unit/test_public_api.py", "tests/unit/test_docs.py", needs=100)


@line(10, "prose", "Links and anchors lead somewhere; spelling; pages have one shape; named tests exist.", watches=DOCS)
def prose() -> Figure:
    slips = subprocess.run(
        [str(Path(sys.executable).parent / "codespell"), "src", "docs", "reproductions", "README.md", "CHANGELOG.md"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    tests = run_tests("tests/unit/test_prose.py", needs=60)
    return Figure(
        f"{tests.value}, {len(slips.stdout.splitlines())} slips",
        tests.passed and slips.returncode == 0,
        tests.detail or slips.stdout[-300:] + slips.stderr[-300:],
    )


def build(folder: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "docs", folder]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@line(10, "site", "The site builds without a warning, and its pages load nothing from elsewhere.", watches=DOCS)
def site() -> Figure:
    with tempfile.TemporaryDirectory() as folder:
        run = build(folder)
        pages = list(Path(folder).rglob("*.html"))
        loaded = [page.name for page in pages if _LOADED.search(page.read_text(encoding="utf-8"))]
    warnings = len(run.stderr.strip().splitlines())
    return Figure(
        f"{len(pages)} pages, {warnings} warnings, {len(loaded)} that load something",
        run.returncode == 0 and not loaded and len(pages) > 50,
        run.stderr[-400:] or ", ".join(loaded[:5]),
    )


# A page that opens the others, one after the other, in a frame as wide as a phone, and notes how wide they become.
_FRAMES = """<!doctype html><pre></pre><script>
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
PHONE = 390


@line(10, "phone", "No page of the site is wider than a phone (390 px), measured in Chromium.", watches=DOCS)
def phone() -> Figure:
    browser = shutil.which("chromium")
    if browser is None:
        return Figure("not measured", False, "chromium is not installed")
    with tempfile.TemporaryDirectory() as folder:
        build(folder)
        pages = [
            str(page.relative_to(folder)) for page in sorted(Path(folder).rglob("*.html")) if page.stem not in _EXTRA
        ]
        frames = Path(folder) / "frames.html"
        frames.write_text(_FRAMES.replace("PAGES", json.dumps(pages)).replace("WIDTH", str(PHONE)), encoding="utf-8")
        flags = ("--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--dump-dom")
        command = [browser, *flags, "--virtual-time-budget=300000", frames.as_uri()]
        shown = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600).stdout
    widths = json.loads(html.unescape(shown.partition("<pre>")[2].partition("</pre>")[0]) or "{}")
    wide = [page for page, width in widths.items() if width > PHONE]
    whole = len(widths) == len(pages) > 20 and not wide
    return Figure(f"{len(widths)} pages, {len(wide)} too wide", whole, ", ".join(wide[:5]))


@line(
    10,
    "offline",
    "With the network off, on a phone: pages of the site fit, ask for nothing, complain of nothing; its search works.",
    watches=DOCS,
)
def offline() -> Figure:
    from docs.screenshots.site import look, search
    from tests.browser import browser, chromium

    if chromium() is None:
        return Figure("not measured", False, "chromium is not installed")
    with tempfile.TemporaryDirectory() as folder, browser() as chrome:
        build(folder)
        seen = look(chrome, Path(folder))
        found = search(chrome, Path(folder), "shift")
    wrong = [page for page in seen if not page.well]
    value = f"{len(seen)} pages, {len(wrong)} with something wrong; the search finds pages: {'yes' if found else 'no'}"
    return Figure(value, not wrong and found > 0, "; ".join(map(str, wrong))[:400])


@line(10, "pictures", "The pictures of the guide, drawn anew, are those of the repository.", watches=DOCS)
def pictures() -> Figure:
    spec = importlib.util.spec_from_file_location("pictures_make", ROOT / "docs" / "pictures" / "make.py")
    assert spec is not None
    assert spec.loader is not None
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    with tempfile.TemporaryDirectory() as folder:
        drawn = {name: make.draw(name, Path(folder)).read_bytes() for name in make.PICTURES}
    kept = {name: (ROOT / "docs" / "pictures" / f"{name}.png").read_bytes() for name in drawn}
    other = [name for name in drawn if drawn[name] != kept[name]]
    return Figure(f"{len(drawn) - len(other)} of {len(drawn)} the same", not other, ", ".join(other))
