"""Take the pictures of the report for the guide: three sizes, light and dark. Needs Chromium (``make browser``).

Run as ``python docs/screenshots/make.py``.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from grampus import DocumentClusterer
from grampus.datasets import world_factbook
from grampus.report import write_report
from tests.browser import Browser, browser

FOLDER = Path(__file__).parent
READY = "document.querySelector('#points').dataset.drawn && !document.getElementById('texts')"
TREE = "document.querySelector('#view-tree').click()"
# name: (width, height, colours, what to bring to the top, what to do first)
SHOTS = {
    "wide": (1440, 900, "light", "#verdict", ""),
    "map": (1440, 900, "light", "#map", ""),
    "map-dark": (1440, 900, "dark", "#map", ""),
    "tree": (1440, 900, "light", "#map", TREE),
    "cards": (1440, 960, "light", "#clusters", ""),
    "similarity": (1440, 900, "light", "#similarity", ""),
    "tablet": (820, 1100, "light", "#map", ""),
    "phone": (390, 844, "light", "#verdict", ""),
    "phone-dark": (390, 844, "dark", "#clusters", ""),
}


def shoot(chrome: Browser, page: Path) -> None:
    """Take every picture of one page."""
    for name, (width, height, scheme, place, act) in SHOTS.items():
        chrome.media(scheme=scheme, motion="reduce")
        chrome.size(width, height)
        chrome.open(page)
        chrome.until(READY)
        if act:
            chrome.run(act)
        chrome.run(f"document.querySelector('{place}').scrollIntoView({{behavior: 'instant'}})")
        chrome.settle()
        chrome.settle()
        chrome.picture(FOLDER / f"{name}.png")


def main() -> None:
    model = DocumentClusterer(random_state=0).fit(world_factbook())
    with tempfile.TemporaryDirectory() as folder, browser() as chrome:
        page = Path(folder, "page.html")
        write_report(model.run_, page)
        shoot(chrome, page)


if __name__ == "__main__":
    main()
