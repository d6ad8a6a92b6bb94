"""Wall and processor time of the command by stage: ``python -m lab.speed.stages cluster PILE`` and further options."""

import gc
import importlib
import os
import sys
import time
from typing import Any
from unittest.mock import patch

from grampus._later import SELDOM, SPARED, hidden

BEGAN = time.perf_counter()


def spent() -> tuple[float, float]:
    """Return wall and processor time since the start, those of processes that have ended included."""
    return time.perf_counter() - BEGAN, sum(os.times()[:4])


def main() -> None:
    """Run `grampus` with the words of the command line and print a line for each stage of the pipeline."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command does
    command = importlib.import_module("grampus.cli.main")
    gc.set_threshold(*command.RARELY)
    command.begin_copies()
    command.load_later(*SELDOM)
    with hidden(*SPARED):
        clusterer, fitted = map(importlib.import_module, ("grampus.documents.clusterer", "grampus.documents.fitted"))
    taken, advance = {"importing": spent()}, clusterer.advance

    def timed(answer: Any, stages: Any) -> Any:
        for stage in stages:
            wall, processor = spent()
            answer = advance(answer, (stage,))
            now = spent()
            taken[stage.__name__] = (now[0] - wall, now[1] - processor)
        return answer

    try:
        with patch.object(clusterer, "advance", timed), patch.object(fitted, "advance", timed):
            command.main()
    except SystemExit as end:
        if end.code:
            raise
    whole = spent()
    wall, processor = (sum(some) for some in zip(*taken.values(), strict=True))
    taken["file, run, page"] = (whole[0] - wall, whole[1] - processor)
    for name, (wall, processor) in {**taken, "in all": whole}.items():
        print(f"{name:16}{wall:8.2f} s{processor:9.2f} processor s", file=sys.stderr)


if __name__ == "__main__":
    main()
