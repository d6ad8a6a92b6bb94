"""The benchmark harness: medians and ratios, failures and missing peers said out loud."""

from __future__ import annotations

import json
import subprocess

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks import processes, registry, report
from benchmarks.measure import Outcome, compare, spread
from benchmarks.processes import Answer, Failed, NotHere
from benchmarks.registry import Row, Side, equal_share, largest_difference


def example(**changes) -> Row:
    settings = {
        "name": "example",
        "text": "An example.",
        "inputs": lambda quick: {"x": np.arange(3 if quick else 6)},
        "ours": Side("ours", "ours.py"),
        "peers": [Side("peer", "peer.py", promise=3)],
        "agreement": largest_difference("y", 1e-9),
        "repeats": 3,
    }
    return Row(**(settings | changes))


def clock(ours, theirs, answers=(1.0, 1.0)):
    """Return a stand-in for a process, with prepared times; it keeps the order of calls."""
    times = {"ours": iter(ours), "peer": iter(theirs)}
    calls = []

    def once(side, inputs, timeout):
        calls.append(side.name)
        return Answer(next(times[side.name]), {"y": np.array(answers[side.name == "peer"])}, {"numpy": "1"})

    return once, calls


def test_median_and_spread():
    assert spread([3.0, 1.0, 2.0]) == [2.0, 1.0, 3.0]
    assert spread([4.0, 2.0]) == [3.0, 2.0, 4.0]


def test_turns_and_ratio():
    once, calls = clock([1.0, 2.0, 4.0], [10.0, 10.0, 10.0])
    (outcome,) = compare(example(), once=once)
    assert calls == ["ours", "peer"] * 3
    assert outcome.ours == [2.0, 1.0, 4.0]
    assert outcome.ratio == [5.0, 2.5, 10.0]
    assert outcome.status == "met"
    assert outcome.agreement == "max abs difference 0.0e+00 (allowed 1e-09)"
    assert not outcome.bad


def test_short_of_the_promise():
    (outcome,) = compare(example(), once=clock([1.0] * 3, [2.0] * 3)[0])
    assert outcome.status == "short"
    assert outcome.bad


def test_a_faster_wrong_answer_is_no_success():
    (outcome,) = compare(example(), once=clock([1.0] * 3, [9.0] * 3, answers=(1.0, 1.5))[0])
    assert outcome.status == "disagrees"
    assert "5.0e-01" in outcome.agreement
    assert outcome.bad


def test_quick_judges_nothing():
    (outcome,) = compare(example(), quick=True, once=clock([1.0], [1.0])[0])
    assert outcome.status == "timed"
    assert "quick" in outcome.detail


def test_failure_is_reported():
    def once(side, inputs, timeout):
        raise Failed("exit status 1: boom")

    (outcome,) = compare(example(), once=once)
    assert (outcome.status, outcome.detail) == ("failed", "exit status 1: boom")
    assert outcome.bad


def test_inputs_that_cannot_be_made_are_reported():
    def broken(quick):
        raise KeyError("corpus")

    (outcome,) = compare(example(inputs=broken))
    assert outcome.status == "failed"
    assert "corpus" in outcome.detail


def test_missing_peer_gives_a_notice_and_the_others_run():
    def once(side, inputs, timeout):
        if side.name == "R":
            raise NotHere("Rscript is not installed")
        return Answer(1.0, {"y": np.zeros(2)}, {})

    row = example(peers=[Side("R", "peer.R", "R", promise=2), Side("peer", "peer.py")])
    first, second = compare(row, once=once)
    assert (first.status, first.detail) == ("not run", "Rscript is not installed")
    assert not first.bad
    assert second.status == "timed"


def test_rscript_is_looked_for(monkeypatch):
    processes.interpreter.cache_clear()
    monkeypatch.setattr(processes.shutil, "which", lambda name: None)
    with pytest.raises(NotHere, match="Rscript is not installed"):
        processes.interpreter("R")
    with pytest.raises(ValueError, match="main, peers or R"):
        processes.interpreter("elsewhere")


@pytest.fixture
def sides(tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "SIDES", tmp_path)
    return tmp_path


def test_a_real_process(sides):
    (sides / "ours.py").write_text(
        "import os\n"
        "calls = []\n"
        "def prepare(inputs): return inputs['x'] + 1\n"
        "def run(x):\n"
        "    calls.append(0)\n"
        "    return {'y': x, 'calls': len(calls), 'threads': int(os.environ['OPENBLAS_NUM_THREADS'])}\n"
    )
    side = Side("ours", "ours.py", warmups=2, extrapolate=1000.0, packages=("numpy",))
    answer = processes.run(side, {"x": np.arange(3)}, 60.0)
    assert answer.outputs["y"].tolist() == [1, 2, 3]
    assert answer.outputs["calls"] == 3
    assert answer.outputs["threads"] == 1
    assert answer.versions == {"numpy": np.__version__}
    assert answer.seconds > 0


def test_a_process_that_fails(sides):
    (sides / "ours.py").write_text("def run(inputs): raise RuntimeError('out of luck')\n")
    with pytest.raises(Failed, match="out of luck"):
        processes.run(Side("ours", "ours.py"), {}, 60.0)
    (sides / "ours.py").write_text("import time\ndef run(inputs): time.sleep(60)\n")
    with pytest.raises(Failed, match="no answer after 1 s"):
        processes.run(Side("ours", "ours.py"), {}, 1.0)


def test_the_exchange_with_r(tmp_path):
    """Arrays travel as CSV: whole numbers, fractions and vectors arrive as they were."""
    arrays = {"matrix": np.array([[1, 0.1], [1 / 3, 4]]), "vector": np.array([1, 2, 3])}
    worker, given, got = processes._exchange(tmp_path, arrays, in_r=True)
    assert worker.name == "worker.R"
    for file in given.iterdir():
        file.rename(got / file.name)
    back = processes._outputs(got)
    assert (back["matrix"] == arrays["matrix"]).all()
    assert (back["vector"] == arrays["vector"]).all()


def test_share_of_equal_labels():
    agreement = equal_share("labels", 0.75)({"labels": np.array([0, 1, 2, 3])}, {"labels": np.array([0, 1, 2, 4])})
    assert agreement.good
    assert agreement.text == "75.0000% equal (wanted 75.00%)"


def test_results_are_saved_and_tabled(tmp_path):
    good = Outcome("a", "First.", "peer", 3, "met", "", "equal", 50.0, [1, 1, 1], [5, 4, 6], [5, 4, 6], {"numpy": "2"})
    bad = Outcome("b", "Second.", "peer", None, "failed", "boom")
    made = report.provenance()
    report.save("a", [good], made, tmp_path)
    report.save("b", [bad], made, tmp_path)
    stored = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert set(stored["provenance"]) == {"date", "commit", "machine", "python", "load", "threads"}
    table = (tmp_path / "latest.md").read_text(encoding="utf-8")
    assert "| a | peer | 1 s (1–1) | 5 s (4–6) (extrapolated ×50) | 5× (4–6) | ≥ 3× | equal | met |" in table
    assert "| b | peer | – | – | – | – | – | failed: boom |" in table
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".json", ".json", ".md"]


@pytest.mark.parametrize(("arguments", "status"), [([], 0), (["--strict"], 1)])
def test_strict_decides_the_exit_status(monkeypatch, tmp_path, capsys, arguments, status):
    monkeypatch.setattr(command, "discover", lambda: {"example": example()})
    monkeypatch.setattr(command, "compare", lambda row, quick: [Outcome("example", "", "peer", 3, "failed", "boom")])
    monkeypatch.setattr(command, "RESULTS", tmp_path)
    assert command.main(arguments) == status
    assert "boom" in capsys.readouterr().out


def test_list_and_unknown_names(capsys):
    assert command.main(["--list"]) == 0
    assert "anmi" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        command.main(["nothing"])
    assert "no row called nothing" in capsys.readouterr().err


def test_names_must_differ():
    with pytest.raises(ValueError, match="'anmi' is there already"):
        registry.row("anmi", "Again.")(lambda quick: {})


def test_every_row_is_whole():
    for row in registry.discover().values():
        assert row.peers
        for side in (row.ours, *row.peers):
            assert side.path.is_file()


# -- growth curves


def test_exponents_are_slopes_of_logarithms():
    from benchmarks.growth import exponent

    sizes = [1000, 2000, 4000, 8000]
    assert exponent(sizes, [n**1.5 for n in sizes]) == pytest.approx(1.5)
    assert exponent(sizes, [1.0, 9.0, 3.0, 6.0]) == pytest.approx(1.0)  # the upper half alone


def test_growth_table_shows_every_curve():
    from benchmarks.growth import Point, table

    points = [Point("a|b", n, n / 1000, 1e6 * n, 1.0) for n in (1000, 2000)]
    lines = table(points).splitlines()
    assert lines[2] == "| a\\|b | 1.00 s, 1000 MB | 2.00 s, 2000 MB | n^1.0 | n^1.0 |"
    assert lines[0].startswith("| method | n = 1,000 | n = 2,000 |")


def test_made_up_documents_are_the_same_every_time():
    from benchmarks.growth import made_up

    one, other = made_up(50, False)[0], made_up(50, False)[0]
    assert (one != other).nnz == 0
    assert one.shape[0] == 50
    assert len(made_up(30, True)[1]) == 30


def test_the_committed_table_is_that_of_the_committed_rows():
    from benchmarks.report import RESULTS, markdown

    assert markdown(RESULTS) == (RESULTS / "latest.md").read_text(encoding="utf-8")


def test_a_commit_is_dirty_when_a_source_changed_and_not_when_a_result_did(tmp_path):
    from benchmarks.commit import commit

    def git(*arguments):
        named = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *named, *arguments], cwd=tmp_path, check=True, capture_output=True)

    assert commit(tmp_path) == "unknown"
    source, result = tmp_path / "a.py", tmp_path / "benchmarks" / "results" / "a.md"
    result.parent.mkdir(parents=True)
    source.write_text("1")
    result.write_text("1")
    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "first")
    clean = commit(tmp_path)
    assert clean not in ("unknown", "")
    result.write_text("2")
    assert commit(tmp_path) == clean
    source.write_text("2")
    assert commit(tmp_path) == f"{clean}-dirty"
