"""Run the command of two commits by turns, since one machine's speed varies more than most changes do.

``python -m lab.speed.turns OLDER NEWER PAIRS cluster PILE --report page.html -q`` installs both, each in an environment
of its own under ``.lab``, runs ``grampus`` with the words that follow, and prints the times of every pair.
"""

import os
import subprocess
import sys
import time
from statistics import median
from typing import NamedTuple

from lab.environments import environment


class Spent(NamedTuple):
    """Seconds of a run: of the clock, and of all processors."""

    wall: float
    processor: float


def spent(python: str, words: list[str]) -> Spent:
    """Run the command in an environment, as a user would."""
    known = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    began, before = time.perf_counter(), os.times()
    subprocess.run([python, "-m", "grampus", *words], env=known, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return Spent(time.perf_counter() - began, sum(after[2:4]) - sum(before[2:4]))


def main(older: str, newer: str, pairs: str, *words: str) -> None:
    """Print both times of every pair, and the medians of both and of the ratios."""
    commits = (older, newer)
    places = [environment(f"turns-{commit}", commit=commit) for commit in commits]
    for python in places:
        spent(python, ["--version"])  # compiled by the first that asks
    found = [[spent(python, list(words)) for python in places] for _ in range(int(pairs))]
    for commit, runs in zip(commits, zip(*found, strict=True), strict=True):
        every = ", ".join(f"{run.processor:.1f} ({run.wall:.1f})" for run in runs)
        both = median(run.processor for run in runs), median(run.wall for run in runs)
        print(f"{commit}: {both[0]:.1f} processor s, {both[1]:.1f} s; all: {every}")
    ratios = [(new.processor / old.processor, new.wall / old.wall) for old, new in found]
    shown = [f"{median(each):.3f}" for each in zip(*ratios, strict=True)]
    print(f"newer over older, median of {pairs} pairs: {shown[0]} of the processor time, {shown[1]} of the time")


if __name__ == "__main__":
    main(*sys.argv[1:])
