"""The command in copies of its process: the same run and page as in one, and nothing left of it when it is killed."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from grampus.persist import Run
from tests.unit.test_many_files import _alive
from tests.unit.test_runner import answer
from tests.untraced import environment, interruptible

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="copies are for Linux")
COUNTED = """
import os, sys
forked, fork = [], os.fork
def counted():
    forked.append(1)
    return fork()
os.fork = counted
os.sched_getaffinity = lambda process: set(range({cores}))
from grampus.cli import main
try:
    main()
finally:
    print(len(forked), file=sys.stderr)
"""


@pytest.fixture(scope="module")
def posts(tmp_path_factory):
    """A file of 2,400 mails of 2 kB on eight topics: enough for copies of everything."""
    rng = np.random.default_rng(0)
    vowels, consonants = list("aeiou"), list("bcdfghklmnprstvz")
    spoken = ["".join(np.stack([rng.choice(consonants, 3), rng.choice(vowels, 3)], 1).ravel()) for _ in range(1200)]
    common, topics = spoken[:400], np.array(spoken[400:]).reshape(8, 100)
    place = tmp_path_factory.mktemp("copies") / "posts.jsonl"
    with place.open("w") as file:
        for number in range(2400):
            words = [*rng.choice(topics[number % 8], 150).tolist(), *rng.choice(common, 130).tolist()]
            rng.shuffle(words)
            lines = [" ".join(words[first : first + 12]).capitalize() + "." for first in range(0, len(words), 12)]
            text = "\n".join([f"From: a{number}@b.org", "Subject: " + " ".join(words[:4]), "", *lines])
            file.write(json.dumps({"id": number, "text": text}) + "\n")
    return place


def made(posts, place, cores, **variables):
    """Run the command as on so many cores; return its answer, its page without the facts, and how often it forked."""
    place.mkdir()
    words = [sys.executable, "-c", COUNTED.format(cores=cores), "cluster", str(posts), "--meaning", "off", "-q"]
    done = subprocess.run(
        [*words, "--report", "page.html", "--out", "run"],
        cwd=place, env=environment() | variables, capture_output=True, text=True, check=True,
    )  # fmt: skip
    page = (place / "page.html").read_text(encoding="utf-8")
    return answer(Run.load(place / "run")), re.sub(r'(?s)<dl class="facts">.*?</dl>', "", page), int(done.stderr)


@pytest.mark.slow
def test_copies_of_the_process_change_nothing(posts, tmp_path):
    alone, page, forked = made(posts, tmp_path / "one", 8, GRAMPUS_WORKERS="1")
    assert forked == 0
    for cores, least in ((2, 5), (8, 12)):
        found, written, forked = made(posts, tmp_path / str(cores), cores, OMP_NUM_THREADS=str(cores))
        assert forked >= least
        assert found == alone
        assert written == page


@pytest.mark.parametrize("moments", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_no_copy_outlives_the_command(posts, tmp_path, moments):
    words = [sys.executable, "-c", COUNTED.format(cores=8), "cluster", str(posts), "--meaning", "off", "-q"]
    for moment in range(moments):
        process = subprocess.Popen(
            [*words, "--report", str(tmp_path / "page.html")],
            start_new_session=True, env=environment() | {"OMP_NUM_THREADS": "8"}, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        time.sleep(1.0 + 5.0 * moment / moments)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        limit = time.monotonic() + 5.0 * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
        while (left := _alive(process.pid)) and time.monotonic() < limit:
            time.sleep(0.1)
        assert not left, [moment, *(Path(f"/proc/{one}/cmdline").read_bytes() for one in left)]
    assert not (tmp_path / "page.html").exists() or (tmp_path / "page.html").stat().st_size


def test_ctrl_c_ends_the_copies_too(posts, tmp_path):
    words = [sys.executable, "-c", COUNTED.format(cores=8), "cluster", str(posts), "--meaning", "off", "-q"]
    with interruptible():
        process = subprocess.Popen(
            [*words, "--report", str(tmp_path / "page.html")],
            start_new_session=True, env=environment() | {"OMP_NUM_THREADS": "8"}, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
    time.sleep(2.5)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    said = process.communicate(timeout=30)[1]
    assert process.returncode == 130
    assert "Interrupted; no file was left incomplete." in said
    limit = time.monotonic() + 5.0
    while (left := _alive(process.pid)) and time.monotonic() < limit:
        time.sleep(0.1)
    assert not left
