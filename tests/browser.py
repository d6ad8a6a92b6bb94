"""A headless Chromium driven over its DevTools protocol, through a pair of pipes: no driver and no package needed."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-extensions", "--disable-dev-shm-usage",
    "--mute-audio", "--hide-scrollbars", "--remote-debugging-pipe", "--force-color-profile=srgb",
    "--font-render-hinting=none",
)  # fmt: skip
# The protocol speaks through the descriptors 3 and 4: a short program puts the pipes there and becomes the browser.
BECOME = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); os.execv(sys.argv[3], sys.argv[3:])"
)
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
CODES = {
    "Enter": 13, "Escape": 27, "Tab": 9, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Home": 36,
    "End": 35, " ": 32, "+": 187, "-": 189, "0": 48,
}  # fmt: skip
WRITES = {"Enter": "\r", " ": " ", "+": "+", "-": "-", "0": "0"}


def chromium() -> str | None:
    """Return the browser's program, or None where there is none."""
    return os.environ.get("GRAMPUS_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


class BrowserError(AssertionError):
    """The browser answered with an error, or not at all."""


class Browser:
    """One browser with one tab. What the page logs, throws and asks for is kept."""

    def __init__(self, program: str, profile: str) -> None:
        theirs_in, self._write = os.pipe()
        self._read, theirs_out = os.pipe()
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (theirs_in, theirs_out)]  # out of the way of 3 and 4
        start = [sys.executable, "-c", BECOME, *map(str, ends), program]
        self._process = subprocess.Popen(
            [*start, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=ends,
        )
        for end in (theirs_in, theirs_out, *ends):
            os.close(end)
        os.set_blocking(self._read, False)
        self._buffer, self._number, self._session = b"", 0, None
        self._answers: dict[int, dict[str, Any]] = {}
        self._trace: list[dict[str, Any]] = []
        self._traced = False
        self.profile = profile
        self.problems: list[str] = []
        self.requests: list[str] = []
        self.dialogs: list[str] = []
        targets = self.call("Target.getTargets", wait=60)["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self) -> None:
        """End the browser."""
        with contextlib.suppress(Exception):
            self.call("Browser.close", wait=5)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        os.close(self._read)
        os.close(self._write)

    def call(self, method: str, wait: float = 30.0, **params: Any) -> dict[str, Any]:
        """Send a command and return its answer."""
        self._number += 1
        number = self._number
        message: dict[str, Any] = {"id": number, "method": method, "params": params}
        if self._session and not method.startswith(("Target.", "Browser.")):
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._write, data) :]
        limit = time.monotonic() + wait
        while number not in self._answers:
            if not self._pump(limit):
                raise BrowserError(f"{method}: no answer within {wait} s")
        answer = self._answers.pop(number)
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error']}")
        return answer["result"]

    def _pump(self, limit: float) -> bool:
        """Read what has come; False when the time is over."""
        try:
            part = os.read(self._read, 1 << 20)
        except BlockingIOError:
            time.sleep(0.002)
            return time.monotonic() < limit
        if not part:
            raise BrowserError("the browser has ended")
        self._buffer += part
        *whole, self._buffer = self._buffer.split(b"\0")
        for text in whole:
            message = json.loads(text)
            if "id" in message:
                self._answers[message["id"]] = message
            else:
                self._event(message["method"], message.get("params", {}))
        return True

    def _event(self, method: str, params: dict[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.problems.append(" ".join(str(a.get("value", a.get("description"))) for a in params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.problems.append(params["entry"]["text"])
        elif method == "Tracing.dataCollected":
            self._trace += params["value"]
        elif method == "Tracing.tracingComplete":
            self._traced = True
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Page.javascriptDialogOpening":
            self.dialogs.append(params["message"])
            self._number += 1
            answer = {"id": self._number, "method": "Page.handleJavaScriptDialog", "params": {"accept": True}}
            os.write(self._write, json.dumps({**answer, "sessionId": self._session}).encode() + b"\0")

    def trace(self) -> None:
        """Record what the browser's threads do from now on; `traced` ends it."""
        self._trace, self._traced = [], False
        self.call("Tracing.start", categories="-*,toplevel,blink.user_timing", transferMode="ReportEvents")

    def traced(self, wait: float = 60.0) -> tuple[list[tuple[float, float]], dict[str, float]]:
        """Return the tasks of the page and its workers (begin, ms), and when its marks were made.

        Times are those of the processor, or of the clock where the browser tells no other.
        """
        self.call("Tracing.end")
        limit = time.monotonic() + wait
        while not self._traced:
            if not self._pump(limit):
                raise BrowserError("the trace did not end")
        named = [event for event in self._trace if event["name"] == "thread_name"]
        wanted = {
            (e["pid"], e["tid"]) for e in named if e["args"]["name"] in ("CrRendererMain", "DedicatedWorker thread")
        }
        tasks = [
            (event["ts"] / 1000, event.get("tdur", event.get("dur", 0)) / 1000)
            for event in self._trace
            if event.get("ph") == "X" and event["name"].endswith("RunTask") and (event["pid"], event["tid"]) in wanted
        ]
        marks = {e["name"]: e["ts"] / 1000 for e in self._trace if "blink.user_timing" in e["cat"] and e["ph"] in "RI"}
        return tasks, marks

    def open(self, address: str | Path, wait: float = 60.0) -> None:
        """Open a page (a path is a file) and wait until it is drawn and its texts are there."""
        self.problems, self.requests, self.dialogs = [], [], []
        url = address.resolve().as_uri() if isinstance(address, Path) else address
        self.call("Page.navigate", wait=wait, url=url)
        self.until("document.readyState === 'complete'", wait)

    def run(self, script: str, wait: float = 30.0) -> Any:
        """Return the value of an expression in the page; promises are waited for."""
        answer = self.call("Runtime.evaluate", wait, expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise BrowserError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def until(self, script: str, wait: float = 10.0) -> Any:
        """Wait until an expression is true, and return it; longer where other programs have the processors."""
        limit = time.monotonic() + wait * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
        while True:
            value = self.run(script)
            if value:
                return value
            if time.monotonic() > limit:
                raise BrowserError(f"never came true: {script}")
            time.sleep(0.02)

    def settle(self) -> None:
        """Wait for two frames."""
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def size(self, width: int, height: int, ratio: float = 1.0) -> None:
        """Set the window's size in CSS pixels."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=ratio, mobile=False
        )

    def media(self, **features: str) -> None:
        """Set media features: scheme="dark", motion="reduce"."""
        names = {"scheme": "prefers-color-scheme", "motion": "prefers-reduced-motion"}
        given = [{"name": names[name], "value": value} for name, value in features.items()]
        self.call("Emulation.setEmulatedMedia", features=given)

    def script(self, on: bool) -> None:
        """Turn JavaScript on or off for pages that are opened from now on."""
        self.call("Emulation.setScriptExecutionDisabled", value=not on)

    def place(self, selector: str) -> tuple[float, float]:
        """Bring an element into view and return its middle."""
        found = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); if (!e) return null;"
            "e.scrollIntoView({block: 'center', behavior: 'instant'}); const b = e.getBoundingClientRect();"
            "return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        )
        if found is None:
            raise BrowserError(f"there is no {selector}")
        return found[0], found[1]

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        """Send a mouse event: pressed, moved or released."""
        held = {"button": "left", "clickCount": 1} if kind != "moved" else {"button": "none"}
        self.call("Input.dispatchMouseEvent", type=f"mouse{kind.title()}", x=x, y=y, **{**held, **more})

    def click(self, selector: str) -> None:
        """Click on the middle of an element, as a person would."""
        x, y = self.place(selector)
        self.mouse("moved", x, y)
        self.mouse("pressed", x, y)
        self.mouse("released", x, y)

    def drag(self, *way: tuple[float, float]) -> None:
        """Press at the first place, move along the others, release at the last."""
        self.mouse("moved", *way[0])
        self.mouse("pressed", *way[0])
        for place in way[1:]:
            self.mouse("moved", *place, button="left", buttons=1)
        self.mouse("released", *way[-1])

    def key(self, key: str) -> None:
        """Press and release a key."""
        common = {"key": key, "code": "Space" if key == " " else key, "windowsVirtualKeyCode": CODES[key]}
        text = {"text": WRITES[key]} if key in WRITES else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", **common, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def write(self, text: str) -> None:
        """Type into the element that has the focus."""
        self.call("Input.insertText", text=text)

    def downloads(self, folder: Path) -> None:
        """Let downloads go to a folder."""
        self.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))

    def picture(self, path: Path, clip: dict[str, float] | None = None) -> None:
        """Write a picture of what is seen, or of a part of the page."""
        more: dict[str, Any] = {"clip": {**clip, "scale": 1}, "captureBeyondViewport": True} if clip else {}
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", 60, format="png", **more)["data"]))


@contextlib.contextmanager
def browser() -> Iterator[Browser]:
    """Give a browser with a profile of its own, and end it afterwards."""
    program = chromium()
    assert program is not None, "there is no Chromium"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        made = Browser(program, profile)
        try:
            yield made
        finally:
            made.close()
