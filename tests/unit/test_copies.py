"""Copies of the process: the same answers as without, errors that arrive, and nothing that stays behind."""

import copyreg
import os
import signal
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from grampus import DocumentClusterer, config
from grampus._parallel import _threads_for, may_copy, thread_count
from grampus.documents.given import large
from grampus.errors import InputError, PartsError
from grampus.report import report_html
from grampus.run import Apart, Forks, Processes, ThisThread, copies, results_in_copies, returned, runner_for
from grampus.text import TermVectorizer
from grampus.text.languages.detect import detect_languages
from tests.unit.test_runner import answer, texts

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="copies are for Linux")


@pytest.fixture
def own_process(monkeypatch):
    """Let this process be copied, as the command's is."""
    monkeypatch.setattr("grampus._parallel._process.copied", True)
    with config(threads=2):
        yield


@pytest.fixture
def children():
    """Return what returns the processes that this one started during the test and has not waited for."""

    def present():
        with open(f"/proc/self/task/{os.getpid()}/children") as file:
            return set(file.read().split())

    before = present()  # workers of joblib, started by other tests, stay
    return lambda: present() - before


def _square(number):
    if number == 7:
        raise InputError("7 is not allowed.")
    return number * number


def _killed(number):
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


# -- pieces


@pytest.mark.parametrize("pieces", [0, 1, 5, 20_000])  # more numbers than a pipe holds
def test_every_piece_is_worked_on_in_its_order(pieces, children):
    before = len(os.listdir("/proc/self/fd"))
    assert list(Forks(3).map(lambda number, add: number + add, range(pieces), 1)) == list(range(1, pieces + 1))
    assert not children()
    assert len(os.listdir("/proc/self/fd")) == before


def test_work_is_done_by_others_with_one_thread_each():
    found = list(Forks(2).map(lambda _: (os.getpid(), may_copy(), _threads_for(100, 8)), range(4)))
    assert os.getpid() not in {process for process, _, _ in found}
    assert {(allowed, threads) for _, allowed, threads in found} == {(False, 1)}


def test_a_large_result_arrives_whole():
    found = list(Forks(2).map(np.arange, [3_000_000, 5]))
    assert [len(one) for one in found] == [3_000_000, 5]
    assert found[0][-1] == 2_999_999


def test_an_error_arrives_as_it_was_raised(children):
    with pytest.raises(InputError, match="7 is not allowed"):
        list(Forks(2).map(_square, range(20)))
    assert not children()


def test_an_error_that_cannot_be_sent_is_told_in_words():
    class LocalError(Exception):
        pass

    def fails(_):
        raise LocalError("no such thing")

    with pytest.raises(PartsError, match="LocalError: no such thing"):
        list(Forks(2).map(fails, range(2)))


def test_a_copy_that_is_killed_is_an_error_with_advice(children):
    with pytest.raises(PartsError, match="killed, most likely for lack of memory"):
        list(Forks(2).map(_killed, range(8)))
    assert not children()


def test_a_map_that_is_left_ends_its_copies(children):
    found = Forks(2).map(lambda number: time.sleep(60 * number) or number, range(3))
    assert next(found) == 0
    found.close()
    assert not children()


def test_work_goes_on_here_where_no_copy_can_be_made(monkeypatch):
    def refused():
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(copies.os, "fork", refused)
    assert list(Forks(2).map(_square, range(4))) == [0, 1, 4, 9]


class OddError(Exception):
    """An error that is written and cannot be read."""

    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


def test_an_error_that_cannot_be_read_is_told_in_words(monkeypatch):
    monkeypatch.delitem(copyreg.dispatch_table, OddError, raising=False)  # Dask has a way of its own to read errors

    def fails(_):
        raise OddError("whales", "birds")

    with pytest.raises(PartsError, match="OddError: whales and birds"):
        list(Forks(2).map(fails, range(2)))


def test_what_copies_warn_of_is_shown_here(own_process, capfd):
    def warns(number):
        warnings.warn(f"whale {number}", UserWarning, stacklevel=1)
        warnings.warn("not shown", DeprecationWarning, stacklevel=1)
        return number

    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        assert list(Forks(2).map(warns, range(2))) == [0, 1]
        assert Apart(lambda: warns)(2) == 2
    assert sorted(str(one.message) for one in shown) == ["whale 0", "whale 1", "whale 2"]
    assert capfd.readouterr() == ("", "")


def test_a_result_that_cannot_be_sent_is_told_in_words():
    with pytest.raises(PartsError, match="pickle"):
        list(Forks(2).map(lambda number: lambda: number, range(2)))


# -- apart


def test_what_is_made_apart_is_called_with_what_comes_later(own_process, children):
    made = Apart(lambda: (os.getpid(), dict)[1])
    assert made([("a", 1)]) == {"a": 1}
    assert Apart(lambda: os.getpid)() != os.getpid()
    assert not children()


def test_without_copies_it_is_made_here():
    assert Apart(lambda: os.getpid)() == os.getpid()


@pytest.mark.usefixtures("own_process")
def test_too_few_threads_and_too_little_work_make_no_copy():
    assert Apart(lambda: os.getpid, compiled=True)() == os.getpid()
    assert Apart(lambda: os.getpid, pays=False)() == os.getpid()
    with config(threads=1):
        assert Apart(lambda: os.getpid)() == os.getpid()


@pytest.mark.usefixtures("own_process")
def test_an_error_apart_arrives():
    with pytest.raises(InputError, match="7 is not allowed"):
        Apart(lambda: _square)(7)
    with pytest.raises(ZeroDivisionError):
        Apart(lambda: 1 // 0)()


@pytest.mark.usefixtures("own_process")
def test_a_copy_that_dies_is_replaced():
    parent = os.getpid()

    def make():
        if os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
        return sorted

    assert Apart(make)([2, 1]) == [1, 2]


@pytest.mark.usefixtures("own_process")
def test_a_copy_that_nobody_asks_is_ended(children):
    waiting = Apart(lambda: time.sleep(60))
    assert len(children()) == 1
    del waiting
    assert not children()


@pytest.mark.usefixtures("own_process")
def test_what_is_ready_is_sent_before_it_is_asked_for(children):
    made = Apart(lambda: returned(np.arange(3_000_000)))  # more than a pipe holds
    assert os.read(made._answers, 9) == bytes(8)  # it is in a file in memory: the copy has ended
    del made
    assert not children()
    before = len(os.listdir("/proc/self/fd"))
    assert Apart(lambda: returned(np.arange(3_000_000)))()[-1] == 2_999_999
    assert len(os.listdir("/proc/self/fd")) == before
    assert Apart(lambda: returned(os.getpid()))() != os.getpid()


@pytest.mark.parametrize("full", [False, True])
def test_what_is_ready_comes_through_the_pipe_without_files_in_memory(own_process, monkeypatch, full):
    def none():
        if not full:
            raise OSError("this system has none")
        return os.open(os.devnull, os.O_RDONLY)  # nothing can be written there

    monkeypatch.setattr(os, "memfd_create", lambda name: none())
    assert Apart(lambda: returned(np.arange(3_000_000)))()[-1] == 2_999_999


@pytest.mark.usefixtures("own_process")
def test_what_is_made_apart_has_threads_and_copies_of_its_own():
    parent = os.getpid()
    found = Apart(
        lambda: lambda: (thread_count(), list(Forks(2).map(lambda _: (os.getppid(), may_copy()), range(2))))
    )()
    assert found[0] == 2
    assert parent not in {process for process, _ in found[1]}
    assert not any(allowed for _, allowed in found[1])


# -- who chooses them


def test_texts_in_memory_go_to_copies_where_they_are_allowed(own_process):
    assert isinstance(runner_for(1e7, held=True), Forks)
    assert isinstance(runner_for(3e6, held=True), ThisThread)
    with config(workers=3):
        assert isinstance(runner_for(10, held=True), Forks)
        assert isinstance(runner_for(10), Processes)
    with config(workers=1):
        assert isinstance(runner_for(1e7, held=True), ThisThread)


def test_many_results_come_from_copies_and_few_from_threads(own_process, monkeypatch):
    monkeypatch.setattr(copies, "core_count", lambda: 8)
    with config(threads=8):
        many, few = (list(results_in_copies(lambda number: (number, os.getpid()), n, worth=2)) for n in (9, 7))
    assert [number for number, _ in many] == list(range(9))
    assert os.getpid() not in {process for _, process in many}
    assert few == [(number, os.getpid()) for number in range(7)]


def test_a_run_is_the_same_with_copies(own_process, monkeypatch):
    """Names begin before the levels, clusters are divided in copies, and the map and every rank begin early."""
    documents = texts(180)
    for module, name, value in (
        ("_parallel", "MANY", 100), ("run.copies", "core_count", lambda: 16), ("run.runner", "core_count", lambda: 16),
        ("documents.tell.telling", "MANY", 100), ("select.nested", "LARGE", 0.0), ("report.build", "MANY", 100),
        ("documents.find.methods", "MOST_GRAPHED", 100), ("documents.pipeline", "LARGEST", 100),
    ):  # fmt: skip
        monkeypatch.setattr(f"grampus.{module}.{name}", value)
    with config(threads=16):
        model = DocumentClusterer().fit(documents)
        assert model._made.telling is not None
        found, page = model.run_, report_html(model.run_)
    monkeypatch.setattr("grampus._parallel._process.copied", False)
    alone = DocumentClusterer().fit(documents)
    assert alone._made.telling is None
    assert answer(alone.run_) == answer(found)
    assert report_html(found) == page


def test_a_sample_is_drawn_and_all_are_assigned_in_copies(own_process, monkeypatch):
    documents = [*texts(180), *texts(20)]
    for name, value in {"HELD_DOCUMENTS": 100, "SAMPLE": 90, "PIECE": 50}.items():
        monkeypatch.setattr(large, name, value)
    monkeypatch.setattr("grampus.run.runner.COPY_BYTES", 100)
    found = DocumentClusterer().fit(documents)
    monkeypatch.setattr("grampus._parallel._process.copied", False)
    alone = DocumentClusterer().fit(documents)
    assert found.labels_.tolist() == alone.labels_.tolist()
    assert answer(found.run_) == answer(alone.run_)


def test_copies_compare_nothing_where_a_card_does(own_process):
    assert isinstance(runner_for(1e7, held=True, compares=True), Forks)
    with config(device="auto"):
        assert isinstance(runner_for(1e7, held=True), Forks)
        assert not isinstance(runner_for(1e7, held=True, compares=True), Forks)


def test_copies_are_as_many_as_there_is_text_for(own_process, monkeypatch):
    monkeypatch.setattr("grampus.run.runner.core_count", lambda: 16)
    with config(threads=16):
        assert [runner_for(size, held=True).workers for size in (4.1e6, 20e6, 1e9)] == [2, 10, 16]


@pytest.mark.usefixtures("own_process")
def test_a_limit_of_memory_is_for_one_process():
    assert may_copy()
    with config(max_memory="4GB"):
        assert not may_copy()


def test_other_threads_make_no_copies(own_process):
    with ThreadPoolExecutor() as pool:
        assert may_copy()
        assert not pool.submit(may_copy).result()
        assert isinstance(pool.submit(runner_for, 3e7, held=True).result(), ThisThread)


def test_only_the_command_makes_copies():
    assert not may_copy()
    assert isinstance(runner_for(3e7, held=True), ThisThread)


def test_terms_and_languages_are_the_same(own_process):
    documents = [*texts(400), *["Die Wale sind in allen Meeren der Welt zu Hause und nicht in den Seen."] * 60]
    documents += ["Subject: whales\n\nwhale song\n-- \nmy signature"] * 3

    def found():
        words = TermVectorizer(weighting="lec", stop_words="auto", stemmer="auto", clean=True, ngram_range=(1, 2))
        prepared = words.prepare(documents)
        rows = words.fit_transform(prepared)
        forms = words.forms_
        return (
            [part.tobytes() for part in (rows.data, rows.indices, rows.indptr)], list(words.vocabulary_),
            list(forms.words), list(forms.stems), forms.counts.tolist(), list(prepared.texts), prepared.notes(),
        )  # fmt: skip

    with config(workers=1):
        alone = found()
    with config(workers=3):
        assert found() == alone
    assert detect_languages(documents)[-4] == "de"
