"""Follow a page word for word, and compare what comes with what it shows: docs/quickstart.md, or another one.

``python -m docs.follow [PAGE]`` runs every command of the page in one shell, in an empty folder, in the order of the
page. Where the page installs Grampus, the wheel of this checkout is built first and takes the place of its name;
nothing else is changed. ``--here`` uses the present environment instead, as pages without an
installation do. ``--write`` puts the output into the page.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path

from docs.record import steady

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "quickstart.md"
EXTRAS = "[files,meaning]"
INSTALL = f'pip install "grampus{EXTRAS}"'
_BLOCK = re.compile(r"^```(console|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"# ([\w-]+\.py)\n")
_REPORT = re.compile(r"[\w-]+\.html")
# On PYTHONPATH once everything is installed: whatever asks for a network ends.
_GUARD = """import sys

def _no_network(event, arguments):
    if event in {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"}:
        raise RuntimeError(f"no network after the installation: {event} {arguments!r}")

sys.addaudithook(_no_network)
"""


@dataclass(frozen=True)
class Step:
    """A command with the output the page shows, or a file that the reader saves."""

    text: str
    shown: str = ""
    file: str = ""


@dataclass(frozen=True)
class Followed:
    """What came of it: the output of every step, what failed, what shows something else, the reports, the time."""

    steps: tuple[Step, ...]
    came: tuple[str, ...]
    failed: tuple[str, ...]
    other: tuple[str, ...]
    reports: dict[str, int]
    seconds: float


def steps_of(page: str) -> list[Step]:
    """Return the commands and files of a page, in its order."""
    found = []
    for kind, body in _BLOCK.findall(page):
        if kind == "python":
            name = _FILE.match(body)
            if name is None:
                raise ValueError(f"a Python block of the page must begin with the name of its file; got {body[:40]!r}")
            found.append(Step(body, file=name[1]))
            continue
        for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            found.append(Step(command, shown.rstrip("\n")))
    return found


def installation(steps: Sequence[Step]) -> int:
    """Return the number of the step that installs Grampus, or −1."""
    return next((number for number, step in enumerate(steps) if step.text == INSTALL), -1)


def script_of(steps: Sequence[Step], out: str, guard: str, wheel: str | None) -> str:
    """Return the shell script that does what the page says. `wheel` is None where nothing is to be installed."""
    last = installation(steps)
    after = f'export PYTHONPATH={shlex.quote(guard)}"${{PYTHONPATH:+:$PYTHONPATH}}"'
    lines = ["set -e", *([after] if last < 0 or wheel is None else [])]
    for number, step in enumerate(steps):
        if number <= last and wheel is None:
            continue
        if step.file:
            lines.append(f"cat > {shlex.quote(step.file)} << 'END OF THE FILE'\n{step.text}END OF THE FILE")
            continue
        command = step.text if number != last else f"pip install {shlex.quote(str(wheel))}"
        lines += [f"echo {number} > {out}/reached", f"{{ {command}\n}} > {out}/{number} 2>&1"]
        if number == last:
            lines.append(after)
    return "\n".join([*lines, f"echo end > {out}/reached", ""])


def environment_of(scratch: Path, here: bool) -> dict[str, str]:
    """Return the variables of the shell. A fresh environment gets the versions of this one, to compare the output."""
    kept = {**os.environ, "COLUMNS": "96", "NO_COLOR": "1"}
    if here:
        return {**kept, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}", "PYTHONWARNINGS": "error"}
    pins = {found.name: found.version for found in distributions() if found.name not in ("grampus", "pip")}
    constraints = scratch / "constraints.txt"
    constraints.write_text("".join(f"{name}=={pins[name]}\n" for name in sorted(pins)), encoding="utf-8")
    base = Path(getattr(sys, "_base_executable", sys.executable)).parent
    left_out = ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME")
    return {
        **{name: value for name, value in kept.items() if name not in left_out},
        "PATH": f"{base}{os.pathsep}{kept['PATH']}",
        "PIP_CONSTRAINT": str(constraints),
    }


def first_steps(readme: str, papers: Path) -> str:
    """Return the commands of the README's start as a page to follow: an empty environment, an installation, papers."""
    part = readme.partition("## Install and run")[2].partition("\n## ")[0]
    _, *commands = re.findall(r"^\$ (.+)$", part, re.MULTILINE)
    before = ["python3 -m venv there", ". there/bin/activate", INSTALL, f"cp -r {shlex.quote(str(papers))} papers"]
    return "\n".join(["```console", *(f"$ {line}" for line in (*before, *commands)), "```"])


def build_wheel(place: Path) -> Path:
    """Build the wheel of this checkout."""
    command = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(place), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    return next(place.glob("*.whl"))


def follow(page: str, here: bool = False) -> Followed:
    """Do what the page says in an empty folder; `here` means in the present environment, without installing."""
    steps = steps_of(page)
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        place, out, guard = (scratch / name for name in ("empty", "out", "guard"))
        for made in (place, out, guard):
            made.mkdir()
        (guard / "sitecustomize.py").write_text(_GUARD, encoding="utf-8")
        wheel = None if here else f"{build_wheel(scratch / 'wheel')}{EXTRAS}"
        script = scratch / "script.sh"
        script.write_text(script_of(steps, shlex.quote(str(out)), str(guard), wheel), encoding="utf-8")
        subprocess.run(["bash", str(script)], cwd=place, env=environment_of(scratch, here), check=False)
        came = tuple(_read(out / str(number)) for number in range(len(steps)))
        reached = (out / "reached").read_text(encoding="utf-8").strip() if (out / "reached").exists() else "nothing"
        names = _REPORT.findall("\n".join(step.text for step in steps))
        reports = {name: (place / name).stat().st_size for name in names if (place / name).is_file()}
    failed = [f"{name} was not written" for name in dict.fromkeys(names) if name not in reports]
    if reached != "end":
        step = int(reached) if reached.isdigit() else 0
        failed.insert(0, f"`{steps[step].text}` failed: {came[step][-500:]}")
    other = [
        f"`{step.text}` shows something else than the page:\n{came[number]}"
        for number, step in enumerate(steps)
        if number > installation(steps) and not step.file and steady(came[number]) != steady(step.shown)
    ]
    seconds = time.perf_counter() - began
    return Followed(tuple(steps), came, tuple(failed), tuple(other), reports, seconds)


def _read(path: Path) -> str:
    """Return what a step printed, without what a busy machine predicts, and says every 30 seconds."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return "\n".join(line.rstrip() for line in text.splitlines() if not re.match(r"Predicted: |\d+:\d\d ", line))


def written(page: str, followed: Followed) -> str:
    """Return the page with the output that came; what installing prints is left out."""
    last = installation(followed.steps)
    pairs = enumerate(zip(followed.steps, followed.came, strict=True))
    outputs = iter(["" if number <= last else came for number, (step, came) in pairs if not step.file])

    def block(found: re.Match[str]) -> str:
        if found[1] == "python":
            return found[0]
        lines = []
        for part in re.split(r"^\$ ", found[2], flags=re.MULTILINE)[1:]:
            lines += [f"$ {part.partition(chr(10))[0]}", *(came.split("\n") if (came := next(outputs)) else [])]
        return "\n".join(["```console", *lines, "```"])

    return _BLOCK.sub(block, page)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m docs.follow", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("page", nargs="?", type=Path, default=PAGE, help="the page (docs/quickstart.md)")
    parser.add_argument("--here", action="store_true", help="in the present environment, without installing")
    parser.add_argument("--write", action="store_true", help="put the output into the page")
    options = parser.parse_args(arguments)
    page = options.page.read_text(encoding="utf-8")
    followed = follow(page, here=options.here or INSTALL not in page)
    if options.write and not followed.failed:
        options.page.write_text(written(page, followed), encoding="utf-8")
    print(summary(followed))
    wrong = followed.failed if options.write else followed.failed + followed.other
    if wrong:
        sys.exit("\n".join(wrong))


def summary(followed: Followed) -> str:
    """Return one line that says what came of it."""
    commands = sum(not step.file for step in followed.steps)
    sizes = ", ".join(f"{name} {size / 1000:.0f} kB" for name, size in followed.reports.items())
    state = f"{len(followed.failed)} failed, {len(followed.other)} show something else"
    return f"{commands} commands in {followed.seconds:.0f} s, {state}; {sizes or 'no report'}"


if __name__ == "__main__":
    main()
