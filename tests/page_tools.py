"""Reading and using a page in a browser: what is written where, and gestures of several steps."""

import json
import time

from grampus.report import write_report

N = 160
READY = "document.querySelector('#points').dataset.drawn && !document.getElementById('texts')"


def show(chrome, run, file, size=(1440, 900), **options):
    """Write the page of a run and open it."""
    write_report(run, file, **options)
    chrome.size(*size)
    chrome.media(scheme="light")
    chrome.open(file)
    chrome.until(READY)
    return chrome


def text(page, selector):
    return page.run(f"document.querySelector({json.dumps(selector)})?.textContent")


def texts(page, selector):
    return page.run(f"[...document.querySelectorAll({json.dumps(selector)})].map((e) => e.textContent)")


def number(words):
    return int("".join(c for c in words if c.isdigit()) or 0)


def listed(page):
    """How many documents the list beside the map says it has."""
    page.settle()
    return number(text(page, "#listed-count") or "0")


def legend(page):
    return [number(value) for value in texts(page, ".legend-line .number")]


def ground(page):
    """The colour of the map's upper right corner."""
    page.settle()
    return page.run("[...document.querySelector('#points').getContext('2d').getImageData(5, 5, 1, 1).data]")


def picture(page):
    """A digest of what is on the map."""
    page.settle()
    return page.run(
        "(() => { const c = document.querySelector('#points'); const d = c.getContext('2d')"
        ".getImageData(0, 0, c.width, c.height).data;"
        "let h = 0; for (const v of d) h = (h * 31 + v) | 0; return h; })()"
    )


def stage(page):
    """The map's rectangle within its round corners: left, top, right, bottom."""
    page.place("#points")
    return page.run("(() => { const b = document.querySelector('#points').getBoundingClientRect();"
                    "return [b.left + 12, b.top + 12, b.right - 12, b.bottom - 12]; })()")  # fmt: skip


def search(page, query, pattern=False):
    page.run(f"document.querySelector('#pattern').checked = {str(pattern).lower()}")
    page.run("document.querySelector('#query').value = document.querySelector('#search-note').textContent = ''")
    page.click("#query")
    page.write(query)
    page.key("Enter")
    return page.until("!/Searching|^$/.test(document.querySelector('#search-note').textContent) && "
                      "document.querySelector('#search-note').textContent", 10)  # fmt: skip


def saved(page, folder, name):
    """Return a file that the page saved, once it is there."""
    limit = time.monotonic() + 20
    while time.monotonic() < limit:
        if (folder / name).exists() and (folder / name).stat().st_size:
            return (folder / name).read_bytes()
        page.settle()
    raise AssertionError(f"{name} was not saved")
