"""Threads: BLAS limits that nest at no cost, and pieces of work that respect n_jobs."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

import grampus
from grampus import _native, _parallel
from grampus._parallel import (
    LARGE_PRODUCT,
    blas_threads,
    core_count,
    helpers,
    in_threads,
    results_in_threads,
    thread_count,
)
from grampus.errors import InputError
from grampus.gram import DenseGram
from grampus.kernels import Subsequence
from grampus.select import Splits


def threads():
    return [pool["num_threads"] for pool in ThreadpoolController().info() if pool["user_api"] == "blas"]


@pytest.fixture
def limits(monkeypatch):
    """Give BLAS two threads, and count how often a limit is set."""
    blas, calls = _parallel._blas(), []

    class Counted:
        lib_controllers = blas.lib_controllers

        def limit(self, **options):
            calls.append(options)
            return blas.limit(**options)

    with ThreadpoolController().limit(limits=2, user_api="blas"):
        monkeypatch.setattr(_parallel, "_blas", Counted)
        yield calls


def test_only_the_outermost_block_sets_a_limit(limits):
    gram = DenseGram(np.eye(4))
    with blas_threads():
        for _ in range(3):
            with blas_threads():
                assert set(threads()) == {1}
            gram @ np.ones(4)
            assert set(threads()) == {1}  # the end of an inner block raises nothing
    assert len(limits) == 1
    assert set(threads()) == {2}


def test_nothing_is_set_where_blas_has_one_thread(limits):
    with ThreadpoolController().limit(limits=1, user_api="blas"):
        with blas_threads():
            assert set(threads()) == {1}
        assert set(threads()) == {1}
    assert limits == []


def test_a_large_product_inside_a_block_stays_on_one_thread(limits):
    with blas_threads(LARGE_PRODUCT):
        assert set(threads()) == {2}
        with blas_threads(), blas_threads(LARGE_PRODUCT):
            assert set(threads()) == {1}
    assert len(limits) == 1


def test_the_limit_is_restored_after_an_error(limits):
    with pytest.raises(ZeroDivisionError), blas_threads():
        raise ZeroDivisionError
    assert set(threads()) == {2}


def test_the_limit_does_not_outlive_overlapping_threads(limits):
    """The second block begins while the first one is open, and ends after it."""
    inside, leave = threading.Event(), threading.Event()

    def hold():
        with blas_threads():
            inside.set()
            leave.wait(10)

    other = threading.Thread(target=hold)
    with blas_threads():
        other.start()
        assert inside.wait(10)
    leave.set()
    other.join()
    assert set(threads()) == {2}


def names_in(n_jobs, work):
    found = set()

    def note(*_):
        found.add(threading.current_thread().name)

    work(note, n_jobs)
    return found


@pytest.mark.parametrize(
    "work",
    [
        lambda note, n_jobs: in_threads(note, 64, n_jobs),
        lambda note, n_jobs: list(results_in_threads(note, 64, n_jobs)),
    ],
    ids=["in_threads", "results_in_threads"],
)
def test_one_job_is_the_callers_thread(work, monkeypatch):
    assert names_in(1, work) == {threading.current_thread().name}
    assert all(name.startswith("grampus") for name in names_in(2, work))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert names_in(None, work) == {threading.current_thread().name}


def test_threads_never_exceed_the_cores_unless_asked_for(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(3)), raising=False)
    assert core_count() == thread_count(-1) == 3
    assert thread_count(-2) == 2
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert core_count() == 1
    for bad in (0, True, 1.5, "two"):
        with pytest.raises(InputError, match="n_jobs must be a whole number other than 0, or None; got"):
            thread_count(bad)


@pytest.mark.parametrize(("files", "cores"), [
    ({"cpu.max": "150000 100000\n"}, 2),
    ({"cpu.max": "20000 100000\n"}, 1),
    ({"cpu.max": "max 100000\n"}, 8),
    ({"cpu/cpu.cfs_quota_us": "300000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 3),
    ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, 8),
    ({}, 8),
])  # fmt: skip
def test_the_limit_of_a_container_is_respected(files, cores, tmp_path, monkeypatch):
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    monkeypatch.setattr(_parallel, "CGROUP", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    _parallel.container_cores.cache_clear()
    try:
        assert core_count() == cores
    finally:
        _parallel.container_cores.cache_clear()


TOLD = "from grampus._parallel import core_count, thread_count; print(core_count(), thread_count())"


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs an affinity")
def test_taskset_is_respected():
    one = min(os.sched_getaffinity(0))
    found = subprocess.run(
        [sys.executable, "-c", TOLD], preexec_fn=lambda: os.sched_setaffinity(0, {one}), capture_output=True, check=True
    )
    assert found.stdout.split() == [b"1", b"1"]


def test_the_environment_sets_threads():
    environment = os.environ | {"GRAMPUS_THREADS": "3"}
    found = subprocess.run([sys.executable, "-c", TOLD], env=environment, capture_output=True, check=True)
    assert found.stdout.split()[1] == b"3"
    environment["GRAMPUS_THREADS"] = "many"
    found = subprocess.run([sys.executable, "-c", TOLD], env=environment, capture_output=True, check=False)
    assert b"GRAMPUS_THREADS must be a positive whole number; got 'many'." in found.stderr


@pytest.fixture
def workers(monkeypatch):
    """Note which threads the subsequence kernel runs in, on a machine of four cores."""
    from grampus.kernels.string import subsequence_dp

    found = set()
    plain = subsequence_dp.subsequence

    def noted(*arguments):
        found.add(threading.current_thread().name)
        return plain(*arguments)

    monkeypatch.setattr(subsequence_dp, "subsequence", noted)
    monkeypatch.setattr(_parallel, "core_count", lambda: 4)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    return found


TEXTS = ["whale song", "whales sing", "bird nest", "a nest of birds"] * 5


def test_the_subsequence_kernel_uses_the_threads_it_is_given(workers, monkeypatch):
    gram, here = Subsequence(2).gram(TEXTS), {threading.current_thread().name}
    several = gram.dense()
    assert all(name.startswith("grampus") for name in workers)
    workers.clear()
    with grampus.config(threads=1):
        np.testing.assert_array_equal(gram.dense(), several)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    np.testing.assert_array_equal(gram.dense(), several)
    assert workers == here


@pytest.mark.parametrize(
    "fit",
    [
        lambda: grampus.KernelKMeans(2, kernel="subsequence(2)", n_jobs=1).fit(TEXTS),
        lambda: grampus.SpectralKMeans(2, kernel="subsequence(2)", n_jobs=1).fit(TEXTS),
        lambda: grampus.choose_k(TEXTS, kernel="subsequence(2)", ks=[2, 3], splits=Splits(2), null=False, n_jobs=1),
    ],
    ids=["KernelKMeans", "SpectralKMeans", "choose_k"],
)
def test_one_job_is_one_thread_in_the_kernel_too(fit, workers):
    fit()
    assert workers == {threading.current_thread().name}


def test_work_inside_work_does_not_wait_for_its_own_pool():
    """Every thread of a pool starts work of its own, which would wait for a free thread of that pool."""
    program = """
from grampus._parallel import (
    LARGE_PRODUCT,
    blas_threads,
    core_count,
    in_threads,
    results_in_threads,
    thread_count,
)
def inner(i):
    in_threads(lambda a, b: None, 64, 2)
    return sum(results_in_threads(lambda j: j, 8, 2))
print(sum(results_in_threads(inner, 8, 2)))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False, env=os.environ
    )
    assert done.stdout.strip() == "224", done.stderr


def test_threads_help_until_the_work_ends_or_fails_and_busy_ones_are_not_waited_for():
    rows, diagonal, ones = np.eye(9), np.ones(9), np.ones(9)
    documents = _native.dense_documents(rows, diagonal, ones)

    def complete(n, n_jobs):
        run = _native.start_run(documents, np.arange(9) % 3, 3, (False, 1e-12, 0.0, False, 1.0), 20, 5)
        with helpers(n, n_jobs, least=3) as team:
            while run.step(team):
                pass
        return run.labels.tolist()

    wanted = complete(9, 1)
    assert all(complete(n, 3) == wanted for n in (2, 6, 9))
    assert list(results_in_threads(lambda _: complete(9, 3), 6, 3)) == [wanted] * 6  # in the pool: alone
    held = threading.Event()
    blocked = [_parallel._pool(3).submit(held.wait) for _ in range(3)]
    assert complete(9, 3) == wanted
    held.set()
    assert all(each.result() for each in blocked)
    with pytest.raises(KeyError), helpers(9, 3, least=3):
        raise KeyError


def test_threads_are_a_setting():
    with grampus.config(threads=3):
        assert thread_count() == 3
        assert thread_count(2) == 2
        with grampus.config(threads=1, memory="2GB") as inner:
            assert (thread_count(), inner.threads) == (1, 1)
        assert thread_count() == 3
    for bad in (0, -1, True, 1.5, "two"):
        with pytest.raises(InputError, match="threads must be a positive whole number; got"):
            grampus.config(threads=bad)
