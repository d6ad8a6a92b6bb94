"""A runner on the workers of a Dask cluster.

Every piece is one task, a pure function of what is sent with it: the scheduler computes again what a lost worker had.
"""

import logging
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import Any
from weakref import WeakKeyDictionary
from zlib import crc32

from .._backend import current
from .._config import config, settings
from ..errors import InputError, MissingExtraError, PartsError
from .base import PIECE_BYTES, Function, Runner

_PATIENCE = 20  # deaths of workers that a task may be blamed for; a machine that kills all of them is no accident
_LOOK, _ALONE = 10.0, 30  # seconds between looks for workers while waiting; looks in vain, at most
_REPLACED = 3  # looks in vain after which our own cluster gets new workers
_LOST = ("FutureCancelledError", "FuturesCancelledError", "CancelledError", "ClosedClientError")
_SMALL = 2**16  # bytes that travel with every task
_AHEAD = 4  # tasks for each worker that may be under way
_own: WeakKeyDictionary[Any, int] = WeakKeyDictionary()  # clusters that `connect` started, and their workers


class OnDask(Runner):
    """Work on Dask workers.

    Parameters
    ----------
    client : distributed.Client
    piece_bytes : int
    """

    def __init__(self, client: Any, piece_bytes: int = PIECE_BYTES) -> None:
        self.client, self.piece_bytes = client, piece_bytes

    @property
    def workers(self) -> int:  # type: ignore[override]
        """The workers at this moment."""
        return max(len(self._reached(self.client.nthreads)), 1)

    def map(self, function: Function, pieces: Iterable[Any], *shared: Any) -> Iterator[Any]:
        """Yield a function of every piece, in their order; futures are waited for where the function runs."""
        cloudpickle: Any = import_module("cloudpickle")  # which Dask brings
        if sum(len(cloudpickle.dumps(value)) for value in shared) > _SMALL:
            # One task, which a lost worker's share is made from again; scattered data would be lost.
            shared = tuple(self._submit(_same, value) for value in shared)
        if settings().device != "cpu":
            function = partial(_with_device, function, settings().device)
        waiting: deque[Any] = deque()
        most = _AHEAD * self.workers
        for piece in pieces:
            waiting.append(self._submit(function, piece, *shared))
            if len(waiting) >= most:
                yield self._wait(waiting.popleft())
        while waiting:
            yield self._wait(waiting.popleft())

    def _submit(self, function: Function, *given: Any) -> Any:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)  # it is meant
            return self._reached(lambda: self.client.submit(function, *given, pure=False))

    def _wait(self, future: Any) -> Any:
        """Return the result of a task, or wait until there is one; a task is not to blame for workers that died."""
        distributed: Any = import_module("distributed")
        for _ in range(_PATIENCE):
            self._patiently(lambda timeout: distributed.wait([future], timeout=timeout))
            if future.status == "finished":
                try:
                    return self._patiently(future.result)
                except distributed.KilledWorker:
                    pass
            elif future.status == "error":
                error = self._patiently(future.exception)
                if not isinstance(error, distributed.KilledWorker):
                    raise error
                self.client.retry([future])
            else:
                raise _lost(f"a task was {future.status}")
        why = "most likely for lack of memory"
        raise PartsError(f"Workers died {_PATIENCE} times on one piece, {why}. Cut it smaller.")

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
                alone, timeout = 0, 2 * timeout  # a large result on a slow network starts again
                continue
            alone, timeout = alone + 1, _LOOK
            if alone % _REPLACED == 0:
                self._replace_workers()
            if alone == _ALONE:
                raise PartsError(f"The Dask cluster has had no workers for {_LOOK * _ALONE:.0f} s. Run it again.")

    def _replace_workers(self) -> None:
        """Start new workers in a cluster of ours: Dask gives up one that dies while it starts."""
        cluster = self.client.cluster
        if cluster in _own:
            cluster.scale(len(cluster.worker_spec) + _own[cluster])

    def _reached(self, call: Any) -> Any:
        """Call the scheduler; report in one line that it cannot be reached."""
        try:
            return call()
        except (TimeoutError, OSError) as error:  # a closed connection is an OSError of Dask's
            raise _lost(str(error)) from None
        except Exception as error:
            if type(error).__name__ in _LOST:
                raise _lost(str(error)) from None
            raise


def _lost(reason: str) -> PartsError:
    return PartsError(f"The Dask scheduler cannot be reached ({' '.join(reason.split())[:120]}). Run it again.")


def _with_device(function: Function, wanted: str, *given: Any) -> Any:
    """Call a function on a worker as the client would: with a GPU if it asks for one, of several the worker's own."""
    name = import_module("distributed").get_worker().name
    with config(device=wanted):
        current().use_card(name if isinstance(name, int) else crc32(str(name).encode()))
        return function(*given)


def _same(value: Any) -> Any:
    return value


def is_dask(X: Any) -> bool:
    """Return whether X is a Dask bag or data frame."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(X, "to_delayed")


def _distributed() -> Any:
    try:
        return import_module("distributed")
    except ImportError:
        raise MissingExtraError("Dask is not installed: pip install 'grampus[dask]'.") from None


def dask_runner(client: Any = None) -> OnDask:
    """Return the runner of a client, by default of the one that the process has."""
    distributed = _distributed()
    if client is None:
        try:
            client = distributed.default_client()
        except ValueError:
            raise InputError("A Dask collection needs client=…; there is no distributed.Client.") from None
    return OnDask(client)


@contextmanager
def quiet(*names: str) -> Iterator[None]:
    """Raise the level of loggers to CRITICAL inside the block: what goes wrong there is reported in one line."""
    loggers = [logging.getLogger(name) for name in names]
    levels = [one.level for one in loggers]
    try:
        for one in loggers:
            one.setLevel(logging.CRITICAL)
        yield
    finally:
        for one, level in zip(loggers, levels, strict=True):
            one.setLevel(level)


@contextmanager
def connected(address: str, workers: int | None = None) -> Iterator[Any]:
    """Give a client: of a scheduler's address, or of workers on this machine for "local"; they end with the block.

    Parameters
    ----------
    address : str
        ``"local"``, ``"threads"`` (one process), or as in ``"tcp://10.0.0.1:8786"``.
    workers : int, optional
        On this machine.
    """
    distributed, dask = _distributed(), import_module("dask")
    # Workers of this machine are known to live: one that has not answered for minutes was asleep, as the machine was.
    # Nor are their folders locked: where the file system has no locks, Dask waits for them for ever.
    own = {
        "distributed.scheduler.allowed-failures": _PATIENCE,
        "distributed.scheduler.worker-ttl": None,
        "distributed.worker.use-file-locking": False,
    }
    with quiet("distributed", "distributed.client"), dask.config.set(own if address in ("local", "threads") else {}):
        if address not in ("local", "threads"):
            try:
                client = distributed.Client(address, timeout="10s")
            except (OSError, TimeoutError, ValueError) as error:
                raise InputError(f"dask must be 'local' or the address of a scheduler; {address!r}: {error}.") from None
            with client:
                yield client
            return
        try:
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
        with cluster, distributed.Client(cluster) as client:
            yield client
