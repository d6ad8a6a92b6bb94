"""The acceptance harness: figures, crashes, timeouts, resuming, what is held back."""

from __future__ import annotations

import json
import os
import time
from importlib import metadata
from pathlib import Path

import pytest

import verify
from verify import __main__ as command
from verify import registry, report
from verify.registry import Line, discover
from verify.run import ROOT, Result, key_of, run, stored

SOURCE = """
import os, subprocess, sys, time
from verify import Figure

def good():
    print("said on the way")
    return Figure("42", True, "as expected")

def short():
    return Figure("41", False)

def broken():
    raise RuntimeError("out of luck")

def dead():
    os._exit(9)

def wrong():
    return 42

def slow():
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    open(os.environ["CHILD"], "w").write(str(child.pid))
    time.sleep(60)

def large():
    block = bytearray(200_000_000)
    return Figure(str(len(block)), True)
"""


@pytest.fixture
def example(tmp_path, monkeypatch):
    """Return a function that makes a line of one of the functions above."""
    (tmp_path / "lines_example.py").write_text(SOURCE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("CHILD", str(tmp_path / "child"))

    def make(function, **settings):
        return Line(1, function, "A line.", "lines_example", function, **settings)

    return make


@pytest.fixture
def store(tmp_path):
    return tmp_path / "store"


def test_a_figure(example, store):
    result = run(example("good"), "key", store)
    assert (result.status, result.value, result.detail) == ("passed", "42", "as expected")
    assert result.seconds is not None
    assert result.commit
    assert result.date
    assert "said on the way" in (store / "1.good.log").read_text()
    assert sorted(path.name for path in store.iterdir()) == ["1.good.json", "1.good.log"]


def test_a_figure_that_is_not_enough(example, store):
    result = run(example("short"), "key", store)
    assert (result.status, result.value, result.bad) == ("failed", "41", True)


@pytest.mark.parametrize(
    ("function", "message"),
    [("broken", "out of luck"), ("dead", "exit status 9: no message"), ("wrong", "must return a Figure")],
)
def test_a_crash_is_a_failure(example, store, function, message):
    result = run(example(function), "key", store)
    assert (result.status, result.bad) == ("crashed", True)
    assert message in result.detail


def test_a_timeout_is_a_failure_and_leaves_nothing_running(example, store):
    result = run(example("slow", timeout=2.0), "key", store)
    assert (result.status, result.detail, result.bad) == ("timed out", "no figure after 2 s", True)
    child = Path(os.environ["CHILD"])
    assert child.exists()
    status = Path("/proc") / child.read_text() / "status"
    for _ in range(50):
        if not status.exists() or "State:\tZ" in status.read_text():
            break
        time.sleep(0.1)
    else:
        pytest.fail("the line's own process is still running")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell")
def test_peak_memory(example, store):
    small, large = run(example("good"), "key", store), run(example("large"), "key", store)
    assert 150 < large.peak_mb - small.peak_mb < 250


def test_resuming(example, store):
    line = example("good")
    assert stored(line, "key", store) is None
    first = run(line, "key", store)
    assert stored(line, "key", store) == first
    assert stored(line, "key", store).older is False
    assert stored(line, "another key", store).older is True
    failed = run(example("short"), "key", store)
    assert stored(example("short"), "key", store) == failed
    run(example("broken"), "key", store)
    assert stored(example("broken"), "key", store) is None
    (store / "1.good.json").write_text("{ half a file")
    assert stored(line, "key", store) is None


def test_without_corpora_a_line_is_held_back(example, store, monkeypatch):
    line = example("good", needs_data=True)
    monkeypatch.setenv("GRAMPUS_DATA", "somewhere")
    assert verify.corpora() == Path("somewhere")
    assert run(line, "key", store).status == "passed"
    monkeypatch.delenv("GRAMPUS_DATA")
    assert stored(line, "key", store) is None
    result = run(line, "key", store)
    assert (result.status, result.detail, result.bad) == ("not run", "GRAMPUS_DATA not set", False)


def test_the_key_follows_what_the_figure_depends_on(tmp_path):
    source, module, page = tmp_path / "src" / "a.py", tmp_path / "m.py", tmp_path / "Makefile"
    source.parent.mkdir()
    for path in (source, module, page):
        path.write_text("1")
    line = Line(1, "x", "", "m", "f")
    watching = Line(1, "x", "", "m", "f", watches=("Makefile",))
    keys = [key_of(line, tmp_path)]
    (tmp_path / "src" / "__pycache__").mkdir()
    (tmp_path / "src" / "__pycache__" / "a.pyc").write_text("noise")
    assert key_of(line, tmp_path) == keys[0]
    source.write_text("2")
    keys.append(key_of(line, tmp_path))
    module.write_text("2")
    keys.append(key_of(line, tmp_path))
    before = key_of(watching, tmp_path)
    page.write_text("2")
    assert key_of(line, tmp_path) == keys[-1]
    assert key_of(watching, tmp_path) != before
    assert len(set(keys)) == 3


def test_the_key_follows_the_versions_of_what_is_installed(tmp_path, monkeypatch):
    line = Line(1, "x", "", "m", "f")
    (tmp_path / "m.py").write_text("1")
    known = metadata.version
    keys = set()
    for numba in ("1", "2", None):

        def version(package, numba=numba):
            if package == "numba":
                if numba is None:
                    raise metadata.PackageNotFoundError(package)
                return numba
            return known(package)

        monkeypatch.setattr(metadata, "version", version)
        keys.add(key_of(line, tmp_path))
    assert len(keys) == 3


def test_lines_watch_what_they_measure_with():
    watched = {line.id: line.watches for line in discover()}
    assert "benchmarks/text_pipeline.py" in watched["2.text-speed"]
    for name in ("3.constant-memory", "3.boundrange-memory", "3.strings-large"):
        assert "tests/memory.py" in watched[name]
    for name, watches in watched.items():
        assert all((ROOT / path).exists() for path in watches), name


@pytest.fixture
def lines(example, monkeypatch):
    held = Line(2, "held", "A line.", "lines_example", "good", needs_data=True)
    made = [example("good"), example("short"), held]
    monkeypatch.setattr(command, "discover", lambda: made)
    monkeypatch.setattr(command, "key_of", lambda line: "key")
    monkeypatch.delenv("GRAMPUS_DATA", raising=False)
    return made


def test_the_command(lines, store, tmp_path, capsys):
    page = tmp_path / "RESULTS.md"
    assert command.main([], store=store, results_file=page) == 1
    out = capsys.readouterr().out
    assert out.count("measuring") == 3
    assert "3 lines: 1 passed, 1 failed, 1 not run" in out
    text = page.read_text(encoding="utf-8")
    assert "| 1 of 11 | 1.good: A line. | 42 | passed: as expected |" in text
    assert "| 2 of 11 | 2.held: A line. | – | not run: GRAMPUS_DATA not set |" in text
    assert command.main(["--only", "1.good", "2"], store=store, results_file=page) == 0
    out = capsys.readouterr().out
    assert "measuring 1.good" not in out
    assert "2 lines: 1 passed, 1 not run" in out
    assert "1.short" in page.read_text(encoding="utf-8")
    assert command.main(["--only", "1.good", "--fresh"], store=store, results_file=page) == 0
    assert "measuring 1.good" in capsys.readouterr().out


def test_list_and_unknown_names(lines, store, tmp_path, capsys):
    page = tmp_path / "RESULTS.md"
    assert command.main(["--list"], store=store, results_file=page) == 0
    assert "1.good (1 of 11): A line." in capsys.readouterr().out
    assert not page.exists()
    with pytest.raises(SystemExit):
        command.main(["--only", "7"], store=store, results_file=page)
    assert "no line or part called 7" in capsys.readouterr().err


def test_a_bar_does_not_break_the_table():
    page = report.markdown({Line(1, "a", "cosine|shift", "m", "f"): Result("passed", "1")})
    assert "cosine\\|shift" in page


def test_registering():
    known = {line.id for line in discover()}
    assert "1.metrics-published" in known
    assert [line.issue for line in discover()] == sorted(line.issue for line in discover())
    with pytest.raises(ValueError, match="is there already"):
        registry.line(1, "metrics-published", "Again.")(lambda: verify.Figure("", True))
    with pytest.raises(ValueError, match="between 1 and 11"):
        registry.line(12, "x", "Too far.")


def test_the_short_lines_pass():
    from verify.issue_01_metrics import published

    figure = published()
    assert figure.passed, json.dumps(figure.value)
