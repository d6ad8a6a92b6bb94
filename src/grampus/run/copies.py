"""Copies of this process, for the pieces of a map and for work next to it: they see all that it has in memory.

A copy starts in milliseconds, with every module loaded and every text at hand; a new process takes most of a second and
must be sent its piece. Other threads may be in the middle of something when their process is copied, so that copies are
for the command, whose process is its own (`_parallel.begin_copies`), and for Linux.
"""

import gc
import os
import pickle
import selectors
import signal
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from mmap import ACCESS_READ, mmap
from typing import Any, Generic, NoReturn, TypeVar, cast
from weakref import finalize

from .._config import settings
from .._parallel import (
    SEVERAL,
    core_count,
    may_copy,
    meanwhile,
    results_in_few_threads,
    thread_count,
    work_alone,
)
from ..errors import PartsError
from .base import KILLED, Function, Runner, ThisThread, end_with

T = TypeVar("T")

_NUMBER, _SIZE = 4, 8  # bytes of the number of a piece, and of the size of a message
_PIPE = 1 << 20  # bytes of a message that its sender need not wait for


class Forks(Runner):
    """Work in copies of this process, made for each map; whichever is free takes the next piece.

    Parameters
    ----------
    workers : int
    piece_bytes : int, optional

    Examples
    --------
    >>> from grampus.run import Forks
    >>> list(Forks(2).map(lambda texts, sign: sign.join(texts), [["a", "b"], ["c"]], "-"))
    ['a-b', 'c']
    """

    def __init__(self, workers: int, piece_bytes: int | None = None) -> None:
        self.workers, self.piece_bytes = workers, piece_bytes

    def map(self, function: Function, pieces: Iterable[Any], *shared: Any) -> Iterator[Any]:
        """Yield a function of every piece, in their order."""
        work = list(pieces)
        queue = _Queue(len(work))
        copies = dict[int, int]()  # the processes, by where their results come from
        early = dict[int, Any]()  # results whose turn has not come

        def serve(into: int) -> None:
            work_alone()
            queue.listen()
            while (number := queue.take()) is not None:
                _send(into, _tried(lambda: (number, function(work[number], *shared))))

        complete = False
        try:
            while len(copies) < min(self.workers, len(work)):
                started = _copy(serve, copies)
                if started is None:  # the system has no room for another
                    break
                copies |= [started]
            if not copies:
                yield from ThisThread().map(function, work, *shared)
                return
            with selectors.DefaultSelector() as waiting:
                for place in copies:
                    waiting.register(place, selectors.EVENT_READ)
                for turn in range(len(work)):
                    while turn not in early:
                        queue.fill()
                        for key, _ in waiting.select():
                            if (answer := _receive(key.fd)) is not None:
                                early |= [_result(*_loaded(answer))]
                            else:
                                waiting.unregister(key.fd)
                        if turn not in early and not waiting.get_map():
                            raise PartsError(KILLED)
                    yield early.pop(turn)
            complete = True
        finally:
            queue.close()
            for place, copy in copies.items():
                _end(copy, (place,), at_once=not complete)


def uses_processor() -> bool:
    """Return whether all work is the processor's: a copy cannot use the card of its parent."""
    return settings().device == "cpu"


def forks_for(pieces: int) -> Runner:
    """Return copies of this process for so many pieces of Python's work in memory; this thread where they do not pay.

    Examples
    --------
    >>> from grampus.run import forks_for
    >>> forks_for(100).workers
    1
    """
    workers = min(thread_count(), core_count(), pieces) if may_copy() and uses_processor() else 1
    return Forks(workers) if workers >= SEVERAL else ThisThread()


def results_in_copies(function: Callable[[int], T], n: int, worth: int) -> Iterator[T]:
    """Yield ``function(0)``, …, ``function(n − 1)``, which are Python's work, each copy made for `worth` of them.

    A few threads share it where that makes few copies: a copy costs some milliseconds to make.

    Examples
    --------
    >>> from grampus.run import results_in_copies
    >>> list(results_in_copies(lambda number: number + 1, 3, worth=2))
    [1, 2, 3]
    """
    runner = forks_for(n // worth)
    return runner.map(function, range(n)) if runner.workers > 1 else results_in_few_threads(function, n)


class Apart(Generic[T]):
    """What is made in a copy of this process while this one goes on, and called there, once, with what comes later.

    Where this process must not be copied, and where the copy dies, it is made here when it is called.

    Parameters
    ----------
    make : callable
        Returns the function to call.
    pays : bool
        Whether it takes long enough to be worth a process.
    compiled : bool
        Whether it is mostly compiled loops: with few threads, one of them makes it, which costs less than a copy.

    Examples
    --------
    >>> from grampus.run import Apart
    >>> Apart(lambda: sorted)([2, 1])
    [1, 2]
    """

    def __init__(self, make: Callable[[], Callable[..., T]], pays: bool = True, *, compiled: bool = False) -> None:
        self._make = make
        self._ended: Callable[[], Any] | None = None
        if not pays or not may_copy() or thread_count() < 2 or not uses_processor():
            return
        if compiled and thread_count() < SEVERAL:
            self._make = meanwhile(make)
            return
        (questions, self._ask), self._room = os.pipe(), _room()
        started = _copy(self._serve(questions), (self._ask,))
        os.close(questions)
        held = [self._ask] if self._room is None else [self._ask, self._room]
        if started is None:
            for place in held:
                os.close(place)
        else:
            self._answers, copy = started
            self._ended = finalize(self, _end, copy, (*held, self._answers), at_once=True)

    def _serve(self, questions: int) -> Callable[[int], None]:
        def serve(into: int) -> None:
            early = False

            def answered() -> T | None:
                nonlocal early
                function = self._make()
                if isinstance(function, _Ready):
                    early = True
                    return cast(T, function())
                given = _receive(questions)
                return None if given is None else function(*pickle.loads(given))  # noqa: S301  (from this process)

            message = _tried(answered)
            _send(into, b"" if early and _kept(message, self._room) else message)  # the copy ends before it is asked

        return serve

    def ask(self, *given: Any) -> Callable[[], T]:
        """Send what came later; return what waits for the function of it."""
        if self._ended is not None:
            with suppress(BrokenPipeError):
                _send(self._ask, pickle.dumps(given, protocol=5))
        return lambda: self._answered(*given)

    def __call__(self, *given: Any) -> T:
        """Return the function of what came later."""
        return self.ask(*given)()

    def _answered(self, *given: Any) -> T:
        if self._ended is None:
            return self._make()(*given)
        answer = _receive(self._answers)
        message = None if answer is None else _loaded(answer, self._room)
        self._ended()
        return self._make()(*given) if message is None else _result(*message)


def returned(value: T) -> Callable[[], T]:
    """Return what returns a value, for `Apart` to send: what it is made of stays in the copy.

    Examples
    --------
    >>> from grampus.run import Apart, returned
    >>> Apart(lambda: returned(1 + 1))()
    2
    """
    return _Ready(value)


class _Ready(Generic[T]):
    """Returns a value, whatever comes later."""

    def __init__(self, value: T) -> None:
        self._value = value

    def __call__(self) -> T:
        return self._value


class _Queue:
    """The numbers of pieces, in a pipe from which every copy takes the next."""

    def __init__(self, n: int) -> None:
        self._output, self._input = os.pipe()
        os.set_blocking(self._input, False)
        self._left = memoryview(b"".join(number.to_bytes(_NUMBER, "little") for number in range(n)))
        self.fill()

    def fill(self) -> None:
        """Write as many numbers as have room; close the pipe behind the last."""
        with suppress(BlockingIOError):
            while self._left:
                self._left = self._left[os.write(self._input, self._left[:4096]) :]  # whole, or not at all
            self.listen()

    def listen(self) -> None:
        """Close the end that numbers go into."""
        if self._input >= 0:
            os.close(self._input)
        self._input = -1

    def take(self) -> int | None:
        """Return the next number; None behind the last."""
        taken = os.read(self._output, _NUMBER)
        return int.from_bytes(taken, "little") if taken else None

    def close(self) -> None:
        """Close both ends."""
        self.listen()
        os.close(self._output)


def _copy(work: Callable[[int], None], others: Iterable[int]) -> tuple[int, int] | None:
    """Make a copy that works and writes to a pipe; return the pipe's other end and the process, None if it failed.

    The copy closes `others`, ends of pipes that are this process's alone.
    """
    output, into = os.pipe()
    with suppress(OSError):  # more than the system allows
        from fcntl import F_SETPIPE_SZ, fcntl  # not on every system, as copies are not

        fcntl(into, F_SETPIPE_SZ, _PIPE)
    parent = os.getpid()
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*multi-threaded", DeprecationWarning)
            copy = os.fork()
    except OSError:
        os.close(output)
        copy = -1
    if copy == 0:
        _live(work, into, (output, *others), parent)
    os.close(into)
    return (output, copy) if copy > 0 else None


def _live(work: Callable[[int], None], into: int, others: Iterable[int], parent: int) -> NoReturn:
    """Work as a copy, and end."""
    status = 1
    try:
        gc.freeze()  # a look at the objects of the parent would copy them
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its copies
        end_with(parent)
        for place in others:
            os.close(place)
        work(into)
        status = 0
    finally:
        os._exit(status)


def _end(copy: int, places: Iterable[int], *, at_once: bool) -> None:
    """Close what leads to a copy and wait for its end, which can be at once."""
    for place in places:
        os.close(place)
    if at_once:
        os.kill(copy, signal.SIGKILL)
    os.waitpid(copy, 0)


def _tried(call: Callable[[], Any]) -> bytes:
    """Return as bytes what a call returns or raises, and what it warns of, which its own process is to show.

    A copy writes nothing: whoever drew a progress bar when it was made may hold the lock of the screen for ever.
    """
    error, result = None, None
    with warnings.catch_warnings(record=True) as noted:
        try:
            result = call()
        except Exception as raised:
            error = raised
    said = [(one.category, str(one.message)) for one in noted]
    try:
        message = pickle.dumps((said, error, result), protocol=5)
        if error is not None:
            pickle.loads(message)  # noqa: S301  (an error may be written that cannot be read)
    except Exception as unsent:  # whatever a reader may raise
        said_of = error or unsent
        message = pickle.dumps(((), PartsError(f"{type(said_of).__name__}: {said_of}"), None), protocol=5)
    return message


def _room() -> int | None:
    """Return a file in memory, for a message that is larger than a pipe; None where the system has none."""
    with suppress(AttributeError, OSError):
        return os.memfd_create("grampus")
    return None


def _kept(message: bytes, room: int | None) -> bool:
    """Return whether a message could be written to a file in memory."""
    if room is None:
        return False
    left = memoryview(message)
    with suppress(OSError):
        while left:
            left = left[os.write(room, left) :]
    return not left


def _loaded(answer: bytes | bytearray, room: int | None = None) -> tuple[Any, Any, Any]:
    """Return the parts of a message; that of an empty one is in a file in memory."""
    if answer or room is None:
        return cast(tuple[Any, Any, Any], pickle.loads(answer))  # noqa: S301  (written by a copy of this process)
    with mmap(room, 0, access=ACCESS_READ) as kept:
        return cast(tuple[Any, Any, Any], pickle.loads(kept))  # noqa: S301


def _result(said: Sequence[tuple[type[Warning], str]], error: BaseException | None, result: Any) -> Any:
    """Return what a call returned; raise what it raised, and show what it warned of."""
    for category, words in said:
        warnings.warn(words, category, stacklevel=2)
    if error is not None:
        raise error
    return result


def _send(place: int, message: bytes) -> None:
    """Write a message, and its size before it."""
    for part in (len(message).to_bytes(_SIZE, "little"), message):
        left = memoryview(part)
        while left:
            left = left[os.write(place, left) :]


def _receive(place: int) -> bytearray | None:
    """Return a message; None where its sender has ended."""
    size = _read(place, _SIZE)
    message = _read(place, int.from_bytes(size, "little")) if len(size) == _SIZE else None
    return message if message is not None and len(message) == int.from_bytes(size, "little") else None


def _read(place: int, size: int) -> bytearray:
    """Return so many bytes of a pipe; fewer at its end."""
    found, reached = bytearray(size), 0
    with memoryview(found) as view:
        while reached < size and (more := os.readv(place, [view[reached:]])):
            reached += more
    del found[reached:]
    return found
