"""Reading: memory and hostile files."""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path

from lab import Found, Task
from lab.promises import promise
from tests import memory
from tests.fuzz import write_bomb

SETUP = """
    import time
    from grampus.errors import CorpusError
    from grampus.text import read_corpus
    input_bytes = {size}
"""
READ = "print('documents', len(read_corpus({path!r})))"
REFUSED = """
    began = time.perf_counter()
    try:
        read_corpus({path!r})
    except CorpusError as error:
        print("refused", int("max_" in str(error)))
    print("seconds", time.perf_counter() - began)
    print("peak", _resident("VmHWM") / 2**20)
"""


@promise(
    "reading-memory",
    "Reading 1,000,000 JSONL documents of 200 characters: rise of memory over the UTF-8 bytes of the texts.",
    rests_on=("text",),
    conditions=("reading-memory",),
)
def reading_memory(task: Task) -> Found:
    documents, length = task.trials(1_000_000, 50_000), 200
    rng = random.Random(0)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 9))) for _ in range(5000)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.jsonl"
        with path.open("w", encoding="utf-8") as out:
            for number in range(documents):
                text = " ".join(rng.choices(words, k=length // 4))[:length].ljust(length, "x")
                out.write(json.dumps({"id": f"document-{number}", "text": text}) + "\n")
        found = memory.rise(SETUP.format(size=documents * length), READ.format(path=str(path)))
    assert found["documents"] == documents, found
    ratio = found["rise"] / found["input"]
    return Found(f"{ratio:.2f} × the UTF-8 bytes", {"ratio": ratio})


@promise(
    "gzip-bomb",
    "A small file that expands to 10 GB is refused: seconds and memory, four formats.",
    rests_on=("text",),
    conditions=("gzip-bomb-seconds", "gzip-bomb-memory"),
)
def gzip_bomb(task: Task) -> Found:
    seconds = peak = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for name in ("bomb.jsonl.gz", "bomb.csv.gz", "bomb.json.gz", "bomb.txt.gz"):
            path = Path(folder) / name
            size = write_bomb(path, task.trials(10 * 2**30, 2**30))
            found = memory.rise(SETUP.format(size=size), REFUSED.format(path=str(path)))
            assert found["refused"], found
            seconds, peak = max(seconds, found["seconds"]), max(peak, found["peak"])
    return Found(f"{seconds:.2f} s, {peak:.0f} MB", {"seconds": seconds, "peak": peak})
