"""The command, as a person runs it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


def grampus(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "grampus", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "100", **environment},
    )


def test_demo_prints_clusters_keywords_and_agreement():
    run = grampus("demo")
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    words = run.stdout
    import scipy

    assert f"SciPy {scipy.__version__}" in words
    assert "11 clusters" in words
    assert "linalg" in words
    agreement = float(words.split("NMI ")[1].split(",")[0])
    assert 0.5 < agreement < 1.0
    assert "ARI" in words
    assert "Again: grampus demo --clusters 11 --seed 0" in words
    again = grampus("demo", "--clusters", "11", "--seed", "0", PYTHONHASHSEED="7")
    steady = [line for line in words.splitlines() if not line.startswith("Corpus")]
    assert [line for line in again.stdout.splitlines() if not line.startswith("Corpus")] == steady
    corpus = [line.split(",")[0] for line in words.splitlines() if line.startswith("Corpus")]
    assert [line.split(",")[0] for line in again.stdout.splitlines() if line.startswith("Corpus")] == corpus


def test_help_and_version_import_nothing_heavy():
    script = (
        "import sys\nfrom grampus.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit as stop:\n    assert stop.code == 0\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'numba', 'rich'} & set(sys.modules)\nassert not heavy, heavy"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert "demo" in run.stdout
    assert grampus("--version").stdout.startswith("grampus, version ")


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["demo", "--clusters", "0"], "--clusters"),
        (["demo", "--clusters", "99999"], "n_clusters must be between 1 and"),
        (["demo", "--seed", "x"], "--seed"),
        (["dmo"], "No such command"),
        (["demo"], "GRAMPUS_MEMORY: memory must be"),
    ],
)
def test_bad_arguments_give_one_line_and_no_stack_trace(arguments, word):
    environment = {"GRAMPUS_MEMORY": "lots"} if word.startswith("GRAMPUS") else {}
    run = grampus(*arguments, **environment)
    assert run.returncode not in (0, -1)
    assert word in run.stderr
    assert "Traceback" not in run.stderr
    assert len(run.stderr.strip().splitlines()[-1]) < 300
