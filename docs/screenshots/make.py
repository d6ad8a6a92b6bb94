"""Take the pictures of the report for the guide: three sizes, light and dark. Needs Chromium (``make browser``).

Run as ``python docs/screenshots/make.py``.
"""

import sys
import tempfile
from pathlib import Path
from threading import Thread

sys.path.insert(0, str(Path(__file__).parents[2]))

from grampus import DocumentClusterer
from grampus.app import OpenRun, Server, Session
from grampus.datasets import world_factbook
from grampus.report import write_report
from tests.browser import browser

FOLDER = Path(__file__).parent
READY = "document.querySelector('#points').dataset.drawn && !document.getElementById('texts')"
TREE = "document.querySelector('#view-tree').click(); "
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


if __name__ == "__main__":
    model = DocumentClusterer(random_state=0).fit(world_factbook())
    with tempfile.TemporaryDirectory() as folder, browser() as chrome:
        write_report(model.run_, Path(folder, "page.html"))
        for name, (width, height, scheme, place, act) in SHOTS.items():
            chrome.media(scheme=scheme, motion="reduce")
            chrome.size(width, height)
            chrome.open(Path(folder, "page.html"))
            chrome.until(READY)
            chrome.run(f"{act}document.querySelector('{place}').scrollIntoView({{behavior: 'instant'}})")
            chrome.settle()
            chrome.settle()
            chrome.picture(FOLDER / f"{name}.png")
        model.save(Path(folder, "run"))
        server = Server(Session(OpenRun(Path(folder, "run"))))
        Thread(target=server.serve_forever, daemon=True).start()
        chrome.media(scheme="light", motion="reduce")
        chrome.size(1440, 900)
        chrome.open(server.address)
        chrome.until(READY.replace(".dataset", "?.dataset"))
        chrome.click("#done-1")
        chrome.until("!document.querySelector('#tab-filters').hidden && !!document.querySelector('.found-line.done')")
        chrome.click("#tab-filters")
        chrome.run("document.querySelector('#map').scrollIntoView({behavior: 'instant'})")
        chrome.settle()
        chrome.picture(FOLDER / "app.png")
        server.shutdown()
        server.server_close()
