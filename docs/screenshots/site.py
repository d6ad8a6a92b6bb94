"""Look at the built site as a reader on a phone without a network does, and take two pictures of it.

Run as ``python -m docs.screenshots.site``. Needs Chromium (``make browser``).
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.browser import Browser, browser

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent
WIDTH, HEIGHT = 390, 844
PAGES = ("index", "quickstart", "guide/index", "guide/clustering", "guide/which_method", "limits", "commands")
PICTURES = {"site-index": "index", "site-guide": "guide/clustering"}
OFFLINE = {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
FOUND = "document.querySelectorAll('#search-results li').length"


@dataclass(frozen=True)
class Seen:
    """A page as it was seen: its width, what it asked of others, what went wrong."""

    page: str
    width: int
    foreign: tuple[str, ...]
    problems: tuple[str, ...]

    @property
    def well(self) -> bool:
        """Whether it fits, asks for nothing and complains of nothing."""
        return self.width <= WIDTH and not self.foreign and not self.problems


def build(folder: str) -> None:
    """Build the site."""
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", "docs", folder]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)


def look(chrome: Browser, site: Path) -> list[Seen]:
    """Open pages of the site on a phone, with the network off."""
    chrome.call("Network.emulateNetworkConditions", **OFFLINE)
    chrome.size(WIDTH, HEIGHT)
    return [_seen(chrome, site, page) for page in PAGES]


def _seen(chrome: Browser, site: Path, page: str) -> Seen:
    chrome.open(site / f"{page}.html")
    chrome.settle()
    width = int(chrome.run("document.documentElement.scrollWidth"))
    foreign = tuple(url for url in chrome.requests if not url.startswith(("file:", "data:", "blob:")))
    return Seen(page, width, foreign, tuple(chrome.problems))


def search(chrome: Browser, site: Path, word: str) -> int:
    """Return how many pages the site's own search finds."""
    chrome.open(f"{(site / 'search.html').resolve().as_uri()}?q={word}")
    return int(chrome.until(FOUND, 30))


def take(chrome: Browser, site: Path, name: str, folder: Path = FOLDER) -> Path:
    """Take a picture of what the phone shows, in 64 colours."""
    from PIL import Image

    chrome.media(scheme="light", motion="reduce")
    _seen(chrome, site, PICTURES[name])
    chrome.settle()
    path = folder / f"{name}.png"
    chrome.picture(path)
    with Image.open(path) as shot:
        small = shot.convert("RGB").quantize(64)
    small.save(path, optimize=True)
    return path


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, browser() as chrome:
        build(folder)
        seen = look(chrome, Path(folder))
        for page in seen:
            print(f"{page.page}: {page.width} px, {len(page.foreign)} requests, {len(page.problems)} problems")
        print(f"search for 'shift': {search(chrome, Path(folder), 'shift')} pages")
        for name in PICTURES:
            print(take(chrome, Path(folder), name))
    if not all(page.well for page in seen):
        sys.exit("a page is too wide, asks for something, or complains")


if __name__ == "__main__":
    main()
