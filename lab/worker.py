"""Run one row in this process: ``python -m lab.worker MODULE SECTION NAME ANSWER SEED KEY``."""

import importlib
import json
import os
import sys
from pathlib import Path

from lab.found import Found, Unavailable
from lab.harness import ROWS, SCRATCH, Task


def main(module: str, section: str, name: str, answer: str, seed: str, key: str) -> None:
    """Run the row, draw its pictures beside `answer`, and write the answer."""
    importlib.import_module(module)
    steps, older = SCRATCH / "steps", os.environ.get("LAB_OLDER")
    task = Task(bool(os.environ.get("LAB_QUICK")), int(seed), steps / key, steps / older if older else None)
    try:
        found = ROWS[section, name].function(task)
    except Unavailable as notice:
        Path(answer).write_text(json.dumps({"status": "not run", "detail": str(notice)}), encoding="utf-8")
        return
    body = "\n\n".join(part for part in (found.markdown(), *draw(found, section, name, Path(answer).parent)) if part)
    measures = {measure: float(value) for measure, value in found.measures.items()}
    shown = {"status": "done", "figure": found.summary(), "measures": measures, "body": body}
    Path(answer).write_text(json.dumps(shown), encoding="utf-8")


def draw(found: Found, section: str, name: str, folder: Path) -> list[str]:
    """Draw the pictures as PNG and return the Markdown that shows them."""
    if not found.pictures:
        return []
    from matplotlib.figure import Figure

    shown = []
    for title, picture in found.pictures.items():
        figure = Figure(figsize=(7, 4.5), layout="constrained")
        picture(figure)
        figure.savefig(folder / f"{name}-{title}.png", dpi=110, metadata={"Software": None})
        shown.append(f"![{title}]({section}/{name}-{title}.png)")
    return shown


if __name__ == "__main__":
    main(*sys.argv[1:])
