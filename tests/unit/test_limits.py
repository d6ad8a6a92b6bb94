"""Limits of memory and time: predicted and refused before the work, and enforced while it runs."""

import gzip
import json
import subprocess
import sys
import threading
import time
import zlib
from dataclasses import replace

import numpy as np
import pytest

import grampus
from grampus import DocumentClusterer, config
from grampus._memory import resident
from grampus.cli import limits
from grampus.cli.show import progress_bars
from grampus.cli.waiting import TimeLeft
from grampus.documents import ConsensusMethod, Effort, KernelKMeansMethod, PredictedCost, predict_cost
from grampus.documents.cost import Step, advice, format_time, refuse_cost
from grampus.documents.pipeline import COSTS, STAGES
from grampus.documents.work import RATES, WorkUnits, present_pace
from grampus.errors import InputError, MemoryBudgetError
from tests.command import command
from tests.untraced import interruptible

TEXTS = [f"whale sea ship harbour n{i}" if i % 2 else f"tax law court judge n{i}" for i in range(40)]


def rows(n, m=10):
    """Return n rows that take the memory of one."""
    return np.broadcast_to(np.arange(1.0, m + 1), (n, m))


def test_a_gaussian_kernel_of_100_000_rows_is_refused_with_a_way_out():
    model, x = DocumentClusterer(10, kernel="gaussian(1)"), rows(100_000)
    found = predict_cost(model, x)
    with grampus.config(timeout=600), pytest.raises(MemoryBudgetError, match=r"timeout allows 10 min\. Use the kernel"):
        refuse_cost(found, model.kernel)
    smaller = predict_cost(DocumentClusterer(10, kernel="gaussian(1)|nystrom(500)"), x)
    assert smaller.seconds < found.seconds / 20


def test_five_thousand_clusters_are_refused_with_a_way_out():
    x = rows(50_000, 200)
    few, many = (predict_cost(DocumentClusterer(k), x) for k in (20, 5000))
    assert many.memory > few.memory + 4 * 8 * 50_000 * 5000
    with grampus.config(max_memory="2GB"), pytest.raises(MemoryBudgetError, match="fewer clusters, such as"):
        refuse_cost(many, "cosine")


@pytest.mark.parametrize(
    "kernel", ["cosine", "gaussian(2)", "cosine|principal(30)|normalise", "gaussian(1)|nystrom(50)"]
)
def test_more_documents_are_never_predicted_to_need_less(kernel):
    found = [predict_cost(DocumentClusterer(10, kernel=kernel), rows(n)) for n in (500, 5000, 50_000)]
    assert [one.seconds for one in found] == sorted(one.seconds for one in found)
    held = [one.memory - one.now for one in found[:2]]  # a matrix of 50,000 is not stored
    assert held == sorted(held)


def test_a_smaller_budget_is_predicted_to_store_nothing():
    model, x = DocumentClusterer(10, kernel="gaussian(2)"), rows(10_000)
    with grampus.config(memory="8GB"):
        stored = predict_cost(model, x)
    with grampus.config(memory="1GB"):
        tiled = predict_cost(model, x)
    assert stored.memory - stored.now > 2 * 8 * 10_000**2 > tiled.memory - tiled.now
    assert tiled.seconds > stored.seconds


def test_a_fit_is_refused_before_its_gram_is_made(monkeypatch):
    monkeypatch.setattr("grampus.documents.given.inputs.Inputs.gram", lambda *_: pytest.fail("it was made"))
    most = (resident() or 0) + 1_000_000
    with grampus.config(max_memory=most), pytest.raises(MemoryBudgetError, match="max_memory allows"):
        DocumentClusterer(2).fit(TEXTS)


def test_a_prediction_changes_no_labels():
    usual = DocumentClusterer(2).fit(TEXTS).labels_
    with grampus.config(max_memory="100TB", timeout=1e6):
        assert (DocumentClusterer(2).fit(TEXTS).labels_ == usual).all()


def test_the_peak_is_what_is_kept_and_the_most_beside_it():
    found = PredictedCost(
        10, 2, 100, (Step("a", 10.0, 500.0, 1.0), Step("b", 300.0, 100.0, 2.0), Step("c", 0.0, 1.0, 0.0))
    )
    assert (found.memory, found.seconds, found.notable) == (610, 3.0, False)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.1, "1 s"), (59, "59 s"), (600, "10 min"), (7300, "2 h"), (1e6, "12 days")]
)
def test_durations_are_round(seconds, text):
    assert format_time(seconds) == text


def test_advice_names_what_would_fit():
    found = PredictedCost(50_000, 300, 0, (Step("clustering", 0.0, 1e11, 1e5),), pairs=True)
    assert advice(found, "gaussian(1)", 0.01) == (
        "Use the kernel 'gaussian(1)|nystrom(500)', about 4,500 documents, fewer clusters, such as 2 "
        "or the documents in parts."
    )


@pytest.mark.parametrize(
    "wrong", [{"max_memory": "lots"}, {"max_memory": 5}, {"timeout": 0}, {"timeout": float("nan")}, {"timeout": True}]
)
def test_limits_are_sizes_and_seconds(wrong):
    with pytest.raises(InputError, match=f"{next(iter(wrong))} must be"):
        grampus.config(**wrong)


def test_wrong_parameters_are_left_to_the_clustering():
    assert limits.predicted(DocumentClusterer("many"), TEXTS, hidden=True) is None


def test_memory_is_watched():
    with interruptible(), pytest.raises(KeyboardInterrupt):  # noqa: PT012  (it may come before the sleep)
        limits.enforce(None, 1_000_000)
        time.sleep(10)
    limits.release()
    words, status = limits.passed()
    assert status == limits.OUT_OF_MEMORY
    assert words.startswith("Stopped at ")
    assert limits.passed() is None


def test_a_released_watch_leaves_no_thread():
    for _ in range(5):
        limits.enforce(1000.0, None)
        limits.release()
        assert not [thread for thread in threading.enumerate() if thread.name == "grampus-limits"]


def test_a_released_watch_stops_nothing():
    limits.enforce(0.05, 1_000_000_000_000)
    limits.release()
    time.sleep(0.2)
    assert limits.passed() is None


def test_what_cannot_be_interrupted_is_ended():
    code = (
        "import signal, time; from grampus.cli import limits; limits.GRACE = 0.1; "
        "signal.signal(signal.SIGINT, signal.SIG_IGN); limits.enforce(0.1, None); time.sleep(60)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == limits.TIMED_OUT
    assert ended.stderr == "Error: Stopped after 0.1 s (--timeout); no file was left incomplete.\n"


@pytest.fixture
def source(tmp_path):
    place = tmp_path / "texts.txt"
    place.write_text("\n".join(TEXTS))
    return str(place)


def test_less_memory_than_grampus_itself_is_refused(source, capsys):
    assert command("cluster", source, "--max-memory", "10MB") == 2
    error = capsys.readouterr().err
    assert "--max-memory must leave room for work" in error
    assert len(error.splitlines()) == 1


def test_a_dry_run_predicts_and_stops(source, capsys, tmp_path):
    assert command("cluster", source, "-k", "2", "--dry-run", "--out", str(tmp_path / "run")) == 0
    assert "Predicted: about " in capsys.readouterr().out
    assert command("cluster", source, "-k", "2", "--dry-run", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["k"] == 2
    assert found["memory"] > 10_000_000
    assert not (tmp_path / "run").exists()


def test_a_prediction_includes_what_was_spent_and_tells_wall_time():
    found = PredictedCost(9, 2, 0, (Step("clustering", 0.0, 0.0, 8.0, 2.0), Step("drawing", 0.0, 0.0, 3.0)))
    assert (found.seconds, found.wall) == (11.0, 5.0)
    whole = found.after(seconds=4.0, wall=6.0)
    assert (whole.seconds, whole.wall, whole.steps[0].name) == (15.0, 11.0, "reading files")
    assert (found.at(3.0).seconds, found.at(3.0).wall) == (11.0, 15.0)
    assert 1.0 <= present_pace() < 100.0
    with config(threads=4):
        assert limits.spoken(whole) == "about 0 B and 15 s of processor time, 11 s on 4 cores"
        units = WorkUnits(python=1e6, products=1e10)
        assert units.seconds > units.wall > WorkUnits(python=1e6).seconds


def test_what_was_spent_includes_programs_that_still_run():
    began = limits.Spent.now()
    code = "import time\nwhile time.process_time() < 0.5: pass\nprint(flush=True); input()"
    words = [sys.executable, "-c", f"import subprocess, sys; subprocess.run([sys.executable, '-c', {code!r}])"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        assert program.stdout.readline()
        running = began.since().seconds
        program.communicate(b"\n")
    assert running >= (0.4 if sys.platform == "linux" else 0.0)
    assert began.since().seconds == pytest.approx(running, abs=0.4)  # not counted twice, once it has ended


def test_texts_that_are_dealt_for_comparison_are_part_of_a_prediction():
    model = DocumentClusterer(embed=None)
    few, many = (
        next(step.seconds for step in predict_cost(model, texts).steps if step.name == "looking for groups")
        for texts in (TEXTS, [text * 2000 for text in TEXTS])
    )
    assert many > 3 * few


def test_a_log_has_a_line_every_while(monkeypatch, capsys):
    monkeypatch.setattr("grampus.cli.show.LOGGED", 0.05)
    with progress_bars(hidden=False) as progress:
        progress("reading", 1, 4)
        time.sleep(0.4)
        progress.expect(PredictedCost(9, 2, 0, (Step("reading files", 0, 0, 1.0), Step("clustering", 0, 0, 90.0))))
        progress("clustering", 0, 10)
        time.sleep(0.4)
    out, lines = capsys.readouterr()
    assert out == ""
    lines = lines.splitlines()
    assert lines[0] == "0:00 reading, 25% of this step"
    assert lines[-1] in ("0:00 clustering, about 1 min left in all", "0:01 clustering, about 1 min left in all")
    time.sleep(0.2)
    assert capsys.readouterr().err == ""
    with progress_bars(hidden=True) as progress:
        progress("reading", 1, 4)
        time.sleep(0.2)
    assert capsys.readouterr().err == ""


def test_the_command_logs_the_time_left(source, monkeypatch, capsys):
    monkeypatch.setattr("grampus.cli.show.LOGGED", 0.002)
    assert command("cluster", source, "-k", "2") == 0
    assert " left in all\n" in capsys.readouterr().err
    assert command("cluster", source, "-k", "2", "--quiet") == 0
    assert capsys.readouterr().err == ""


def test_time_left_follows_the_pace_of_the_steps_that_are_done():
    now = [0.0]
    left = TimeLeft(clock=lambda: now[0])
    assert (left.seconds(), left.said(), left.line()) == (None, "", "0:00 starting")
    left.expect([("reading", 10.0), ("the kernel", 5.0), ("clustering", 20.0), ("drawing", 5.0)])
    assert left.seconds() == 40.0
    now[0] = 4.0
    assert left.seconds() == 36.0
    now[0] = 30.0
    left.reach("clustering", 0, 8)
    assert left.seconds() == 2.0 * 25.0
    now[0] = 400.0
    left.reach("clustering", 4, 8)
    assert left.seconds() == 4.0 + 10.0
    assert left.line() == "6:40 clustering, 50% of this step, about 14 s left in all"
    left.reach("reading terms", 1, 1)
    assert left.seconds() == 14.0


def test_inspect_predicts(source, capsys):
    assert command("inspect", source, "--json") == 0
    assert json.loads(capsys.readouterr().out)["predicted"]["seconds"] > 0


def test_refusals_of_the_command_name_its_options(source, capsys, monkeypatch):
    huge = PredictedCost(40, 2, 0, (Step("clustering", 0.0, 1e15, 1e9),))
    monkeypatch.setattr("grampus.documents.predict_cost", lambda *_: huge)
    most = str((resident() or 0) + 10**9)
    assert command("cluster", source, "-k", "2", "--max-memory", most) == 1
    assert "; --max-memory allows" in capsys.readouterr().err
    huge = PredictedCost(40, 2, 0, (Step("clustering", 0.0, 1.0, 1e9),))
    assert command("cluster", source, "-k", "2", "--timeout", "50") == 1
    assert "; --timeout allows 50 s." in capsys.readouterr().err


def test_more_starts_and_splits_cost_more():
    x = rows(20_000)
    less, more = (
        predict_cost(DocumentClusterer(10, kernel="cosine", method="kernel-kmeans", effort=Effort(n_init=n)), x).seconds
        for n in (2, 50)
    )
    assert more > less


@pytest.mark.parametrize(
    ("less", "more"),
    [
        (ConsensusMethod(ranks=(15, 30, 45)), ConsensusMethod(ranks=(15, 30, 290))),
        (ConsensusMethod(n_init=4), ConsensusMethod(n_init=40)),
        (ConsensusMethod(graphs=()), ConsensusMethod()),
        (KernelKMeansMethod("random"), KernelKMeansMethod("auto")),
    ],
)
def test_the_method_itself_is_asked_for_its_cost(less, more):
    x = rows(5000, 300)
    small, large = (predict_cost(DocumentClusterer(8, kernel="linear", method=one), x) for one in (less, more))
    assert small.seconds < large.seconds
    before, after = (next(step.beside for step in one.steps if step.name == "clustering") for one in (small, large))
    assert before < after


def test_a_prediction_is_the_sum_over_the_stages(monkeypatch):
    x, model = rows(5000, 300), DocumentClusterer(8)
    usual = predict_cost(model, x)
    stage, cost = STAGES[-1], COSTS[STAGES[-1]]
    monkeypatch.setitem(COSTS, stage, lambda work: replace(cost(work), units=cost(work).units * 3))
    assert predict_cost(model, x).seconds == pytest.approx(usual.seconds + 2 * usual.steps[-1].seconds)


def test_units_become_seconds_at_the_rates_of_the_machine(monkeypatch):
    monkeypatch.setattr("grampus.documents.work.machine_rates", lambda: RATES)
    units = WorkUnits(products=RATES.products) + WorkUnits(text=RATES.text) * 2
    assert units.seconds == pytest.approx(3.0)


def test_a_warning_of_the_command_is_one_line():
    from grampus.cli.main import _warning

    assert (
        _warning(RuntimeWarning("overflow\nin \x1b[31mexp"), RuntimeWarning, "file.py", 3)
        == "Warning: overflow in [31mexp\n"
    )


@pytest.mark.parametrize("error", [MemoryError(), zlib.error("Error -4 while decompressing data: insufficient memory")])
def test_too_little_memory_is_not_called_damage(tmp_path, monkeypatch, error):
    class Short:
        """Fails as zlib does without memory."""

        unconsumed_tail = b""

        def decompress(self, *_):
            raise error

    place = tmp_path / "texts.txt.gz"
    place.write_bytes(gzip.compress("\n".join(TEXTS).encode()))
    monkeypatch.setattr(zlib, "decompressobj", lambda *_, **__: Short())
    with pytest.raises(MemoryError):
        grampus.read_corpus(place)


def test_a_finite_vocabulary_is_not_taken_for_an_endless_one():
    from grampus.documents.cost import _grown

    rng = np.random.default_rng(0)
    chances = 1.0 / np.arange(1, 5001)
    words = rng.choice(5000, 40_000, p=chances / chances.sum())
    counts = [len(np.unique(words[:n])) for n in (10_000, 20_000, 40_000)]
    assert 2_500 < _grown(counts, 64.0) < 10_000  # 5,000 in all; a power law alone gives 17,900
    assert _grown([100, 200, 400], 4.0) == pytest.approx(1600)  # every text has words of its own
    assert _grown([7, 7, 7], 100.0) == 7
