"""``--timeout`` and ``--max-memory`` while a command runs: end it as Ctrl-C would, with its own words and status."""

from __future__ import annotations

import _thread
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread, main_thread
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from .._config import format_size, settings
from .._memory import resident
from ..errors import InputError

if TYPE_CHECKING:
    from ..documents import DocumentClusterer, PredictedCost

TIMED_OUT, OUT_OF_MEMORY = 124, 137  # as timeout(1), and a shell whose command was killed for its memory, report them
POLL = 0.05  # seconds between two looks
MODEST = 100_000_000  # bytes of text that every machine can read
LONG = 1800.0  # seconds from which on a prediction comes with advice
GRACE = 20.0  # seconds after which a command that cannot be interrupted is ended

_passed: list[tuple[str, int]] = []
_watched: tuple[Event, Thread] | None = None


def enforce(seconds: float | None, memory: int | None) -> None:
    """Watch the limits of the present command until `release`; an earlier watch ends.

    The main thread is interrupted as by Ctrl-C: whatever writes a file removes what is incomplete. Compiled loops
    notice that when they return to Python. One that has not after some seconds writes no file: the process is ended.
    """
    global _watched  # noqa: PLW0603  (one command at a time)
    release()
    if seconds is None and memory is None:
        return
    stop = Event()
    watch = Thread(target=_watch, args=(stop, seconds, memory), name="grampus-limits", daemon=True)
    watch.start()
    _watched = stop, watch


def release() -> None:
    """Stop watching: the command is done."""
    if _watched is not None:
        stop, watch = _watched
        stop.set()
        watch.join()


def passed() -> tuple[str, int] | None:
    """Return the words and the status of the limit that has passed; None where the person interrupted. Asked once."""
    return _passed.pop() if _passed else None


class Spent(NamedTuple):
    """Times of this process: of its processors, with programs that it started and that have ended; and the clock."""

    seconds: float
    wall: float

    @classmethod
    def now(cls) -> Spent:
        """Return the times of the present moment."""
        return cls(sum(os.times()[:4]), time.perf_counter())

    def since(self) -> Spent:
        """Return what was spent since then, with what programs that still run have spent."""
        now = Spent.now()
        return Spent(now.seconds - self.seconds + _running(), now.wall - self.wall)


_began = Spent.now()


def begin() -> None:
    """Note that a command begins: what it spends from here on is part of its prediction."""
    global _began  # noqa: PLW0603  (one command at a time)
    _began = Spent.now()


def _running() -> float:
    """Return the processor time of the programs below this one; 0 where the system does not tell.

    Files are read by other processes, which are kept; the system adds their time to that of this one when they end.
    """
    times = dict[int, list[int]]()  # the parent, and four times
    for place in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            times[int(place.parent.name)] = [*map(int, place.read_text().rpartition(")")[2].split()[1:15])]
    below = [os.getpid()]
    for one in below:
        below += [other for other, values in times.items() if values[0] == one]
    return sum(sum(times[one][-4:]) for one in below[1:]) / os.sysconf("SC_CLK_TCK") if below[1:] else 0.0


def predicted(model: DocumentClusterer, documents: Any, hidden: bool) -> PredictedCost | None:
    """Predict memory and time of a clustering; refuse what exceeds the limits, and announce what is not trivial.

    What was spent since the command began is included, and wall time is that under the present load. None where the
    input is wrong, which the clustering will say better.
    """
    from ..documents import predict_cost
    from ..documents.cost import advice, refuse_cost
    from ..documents.work import present_pace

    with suppress(InputError):
        ahead = predict_cost(model, documents)
        found = ahead.at(present_pace()).after(*_began.since())
        refuse_cost(found, model.kernel)
        if ahead.notable and not hidden:
            long = f" {advice(found, model.kernel, LONG / found.wall)}" if found.wall > LONG else ""
            click.echo(f"Predicted: {spoken(found)}.{long}", err=True)
        return found
    return None


def is_needless(documents: Any) -> bool:
    """Return whether a prediction that nobody reads has nothing to refuse that `fit` would not, before it compares."""
    now, texts = settings(), getattr(documents, "texts", None)
    return now.max_memory is None and now.timeout is None and texts is not None and texts.nbytes < MODEST


def spoken(found: PredictedCost) -> str:
    """Return a prediction in words: memory, processor time and wall time."""
    from .._parallel import thread_count
    from ..documents.cost import format_time

    threads = thread_count()
    cores = "one core" if threads == 1 else f"{threads} cores"
    return f"{found} of processor time, {format_time(found.wall)} on {cores}"


def _watch(stop: Event, seconds: float | None, memory: int | None) -> None:
    end = None if seconds is None else time.monotonic() + seconds
    while not stop.wait(POLL if end is None else max(0.0, min(POLL, end - time.monotonic()))):
        why = _why(end, seconds, memory)
        if why is not None:
            _passed.append(why)
            _interrupt()
            if not stop.wait(GRACE):
                sys.stderr.write(f"Error: {why[0]}\n")
                sys.stderr.flush()
                os._exit(why[1])
            return


def _interrupt() -> None:
    """Interrupt the main thread, also where it waits for others."""
    if hasattr(signal, "pthread_kill") and (main := main_thread().ident) is not None:
        signal.pthread_kill(main, signal.SIGINT)
    else:
        _thread.interrupt_main()


def _why(end: float | None, seconds: float | None, memory: int | None) -> tuple[str, int] | None:
    """Return what has passed, and the status."""
    if end is not None and time.monotonic() >= end:
        return f"Stopped after {seconds:g} s (--timeout); no file was left incomplete.", TIMED_OUT
    used = None if memory is None else resident()
    if memory is not None and used is not None and used > memory:
        words = f"Stopped at {format_size(used)} of memory, above --max-memory {format_size(memory)}; "
        return words + "no file was left incomplete.", OUT_OF_MEMORY
    return None
