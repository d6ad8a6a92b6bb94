"""Pieces on the workers of a Dask cluster.

Every step of a piece is one task, a pure function of earlier ones. What a lost worker held is computed again by the
scheduler; what the client has summed up is in the scratch folder, from which another run with a new scheduler resumes.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial, reduce
from importlib import import_module
from typing import Any
from weakref import WeakKeyDictionary
from zlib import crc32

from .._backend import current
from .._config import config, settings
from ..errors import InputError, MissingExtraError, PartsError
from .parts import Function, Parts, Scratch, add, nbytes

_PATIENCE = 20  # deaths of workers that a task may be blamed for; a machine that kills all of them is no accident
_LOOK, _ALONE = 10.0, 30  # seconds between looks for workers while waiting; looks in vain, at most
_REPLACED = 3  # looks in vain after which our own cluster gets new workers
_LOST = ("FutureCancelledError", "FuturesCancelledError", "CancelledError", "ClosedClientError")
_SMALL = 2**16  # bytes that travel with every task
_TOGETHER = 8  # results that one task adds up
_own: WeakKeyDictionary[Any, int] = WeakKeyDictionary()  # clusters that `connect` started, and their workers


class OnDask(Parts):
    """Pieces on Dask workers.

    Parameters
    ----------
    client : distributed.Client
    scratch : Scratch
        Of the client.
    """

    where = "Dask workers"

    def __init__(self, client: Any, scratch: Scratch) -> None:
        super().__init__(scratch)
        self.client = client
        self._steps: dict[str, list[Any]] = {}

    def __len__(self) -> int:
        return len(next(iter(self._steps.values()), []))

    def begin(self, step: str, function: Function, sources: Sequence[Any]) -> None:
        """Make the pieces: one for each source, a tuple of arguments of `function`, which may be futures."""
        self._steps[step] = self._submit(step, function, list(sources), ())
        self._settle(step)

    def derive(self, step: str, function: Function, needs: Sequence[str], *shared: Any) -> None:
        """Add a step to every piece."""
        given = list(zip(*(self._steps[need] for need in needs), strict=True))
        self._steps[step] = self._submit(step, function, given, shared)
        self._settle(step)

    def each(self, function: Function, needs: Sequence[str], *shared: Any, name: str = "") -> Iterator[Any]:
        """Yield a function of every piece, in their order."""
        name = name or function.__name__
        given = list(zip(*(self._steps[need] for need in needs), strict=True))
        waiting = self._submit(name, function, given, shared)
        waiting.reverse()
        while waiting:
            result = self._wait(waiting.pop(), whole=True)
            self.traffic.add(name, 0, received=nbytes([result]))
            yield result

    def total(self, function: Function, needs: Sequence[str], *shared: Any, name: str = "") -> Any:
        """Return the sum over the pieces, added up on the workers: one result travels to the client."""
        name = name or function.__name__
        given = list(zip(*(self._steps[need] for need in needs), strict=True))
        left = self._submit(name, function, given, shared)
        while len(left) > 1:
            groups = [left[at : at + _TOGETHER] for at in range(0, len(left), _TOGETHER)]
            left = [self.client.submit(_add, *some, pure=False) for some in groups]
        result = self._wait(left[0], whole=True)
        self.traffic.add(name, 0, received=nbytes([result]))
        return result

    def keep(self, value: Any) -> Any:
        """Return a task whose result is a value of the client."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)  # it is meant
            return self.client.submit(_same, value, pure=False)

    def drop(self, *steps: str) -> None:
        """Forget steps; the workers free them."""
        for step in steps:
            self._steps.pop(step, None)

    def close(self, finished: bool = True) -> None:
        """Free what the workers hold, and remove the scratch folder."""
        self._steps.clear()
        super().close(finished)

    def _submit(self, name: str, function: Function, given: list[tuple[Any, ...]], shared: tuple[Any, ...]) -> Any:
        workers = len(self._reached(self.client.nthreads))
        size = nbytes(shared)
        self.traffic.add(name, len(given), sent=size * max(workers, 1))
        if size > _SMALL:  # one task, which a lost worker's share is made from again; scattered data would be lost
            shared = tuple(self.keep(value) for value in shared)
        wanted = settings().device
        if wanted != "cpu":
            function = partial(_with_device, function, wanted)
        return [self.client.submit(function, *own, *shared, pure=False) for own in given]

    def _settle(self, step: str) -> None:
        for future in self._steps[step]:
            self._wait(future, whole=False)

    def _wait(self, future: Any, *, whole: bool) -> Any:
        """Return the result of a task, or wait until there is one; a task is not to blame for workers that died."""
        distributed: Any = import_module("distributed")
        for _ in range(_PATIENCE):
            self._patiently(lambda timeout: distributed.wait([future], timeout=timeout))
            if future.status == "finished":
                try:
                    return self._patiently(future.result) if whole else None
                except distributed.KilledWorker:
                    pass
            elif future.status == "error":
                error = self._patiently(future.exception)
                if not isinstance(error, distributed.KilledWorker):
                    raise error
                self.client.retry([future])
            else:
                raise self._lost(f"a task was {future.status}")
        raise PartsError(
            f"Workers died {_PATIENCE} times on one piece, most likely for lack of memory. Cut it smaller."
        )

    def _patiently(self, call: Callable[[float], Any]) -> Any:
        """Return ``call(timeout)``, tried again while there are workers; one that adapts may start with none.

        A result may be gone with its worker at any moment until it has arrived, so nothing is waited for without end.
        """
        alone, timeout = 0, _LOOK

        def attempt() -> tuple[bool, Any]:
            try:
                return True, call(timeout)
            except TimeoutError:
                return False, None

        while True:
            arrived, value = self._reached(attempt)
            if arrived:
                return value
            if self._reached(self.client.nthreads):
                alone, timeout = 0, 2 * timeout  # a large result on a slow network begins anew
                continue
            alone, timeout = alone + 1, _LOOK
            if alone % _REPLACED == 0:
                self._replace_workers()
            if alone == _ALONE:
                raise PartsError(f"The Dask cluster has had no workers for {_LOOK * _ALONE:.0f} s.{self._again()}")

    def _replace_workers(self) -> None:
        """Start workers anew in a cluster of ours: Dask gives up one that dies while it starts."""
        cluster = self.client.cluster
        if cluster in _own:
            cluster.scale(len(cluster.worker_spec) + _own[cluster])

    def _reached(self, call: Any) -> Any:
        """Call the scheduler; say in one line that it cannot be reached."""
        try:
            return call()
        except (TimeoutError, OSError) as error:  # a closed connection is an OSError of Dask's
            raise self._lost(str(error)) from None
        except Exception as error:
            if type(error).__name__ in _LOST:
                raise self._lost(str(error)) from None
            raise

    def _lost(self, reason: str) -> PartsError:
        return PartsError(f"The Dask scheduler cannot be reached ({' '.join(reason.split())[:120]}).{self._again()}")

    def _again(self) -> str:
        return f" Run it again to resume from {self.scratch.folder}." if self.scratch.kept else ""


def _with_device(function: Function, wanted: str, *given: Any) -> Any:
    """Call a function on a worker as the client would: with a GPU if it asks for one, of several the worker's own."""
    name = import_module("distributed").get_worker().name
    with config(device=wanted):
        current().use_card(name if isinstance(name, int) else crc32(str(name).encode()))
        return function(*given)


def _same(value: Any) -> Any:
    return value


def _add(*some: Any) -> Any:
    """Add results of pieces; exact, so the order does not matter."""
    return reduce(add, some)


@contextmanager
def connected(address: str, workers: int | None = None) -> Iterator[Any]:
    """Provide a client as ``connect`` returns it, and close it and its workers.

    Meanwhile, Dask's loggers are quiet, as what goes wrong is told in one line, and workers that are started later have
    the settings of the first. Afterwards loggers and settings are as they were.

    Parameters
    ----------
    address, workers : as for ``connect``
    """
    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client")]
    levels = [logger.level for logger in loggers]
    try:
        for logger in loggers:
            logger.setLevel(logging.CRITICAL)
        with ExitStack() as cleanup:
            if address in ("local", "threads"):
                cleanup.enter_context(_settings())
            client = connect(address, workers)
            cleanup.callback(_shut, client)
            yield client
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _shut(client: Any) -> None:
    """Close a client, and the cluster on this machine that it belongs to."""
    cluster = client.cluster
    client.close()
    if cluster is not None:
        cluster.close()


def _settings() -> Any:
    """Set what workers of this machine need, until the block ends.

    They are known to live: one that is silent for minutes has slept, as the machine has. Nor are their folders locked:
    where the file system has no locks, Dask waits for them for ever.
    """
    return _dask("dask").config.set({
        "distributed.scheduler.allowed-failures": _PATIENCE,
        "distributed.scheduler.worker-ttl": None,
        "distributed.worker.use-file-locking": False,
    })  # fmt: skip


def _dask(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError("Dask is not installed: pip install 'grampus[dask]'.") from None


def connect(address: str, workers: int | None = None) -> Any:
    """Return a client: of a scheduler's address, or of workers on this machine for "local".

    Parameters
    ----------
    address : str
        ``"local"``, ``"threads"`` (one process), or as in ``"tcp://10.0.0.1:8786"``.
    workers : int, optional
        On this machine.
    """
    distributed = _dask("distributed")
    if address in ("local", "threads"):
        try:
            with _settings():
                cluster = distributed.LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    processes=address == "local",
                    dashboard_address="127.0.0.1:0",  # a fixed port may be taken, and would be open to others
                    silence_logs=logging.CRITICAL,
                )
        except (RuntimeError, OSError, TimeoutError) as error:  # it has ended what it had started
            raise PartsError(
                f"The Dask workers could not be started ({' '.join(str(error).split())[:120]}). Run it again, or leave "
                "out dask (--dask) to work on this machine without them."
            ) from None
        _own[cluster] = len(cluster.worker_spec)
        return distributed.Client(cluster)
    try:
        return distributed.Client(address, timeout="10s")
    except (OSError, TimeoutError, ValueError) as error:
        raise InputError(f"dask must be 'local' or the address of a scheduler; {address!r}: {error}.") from None
