"""Work that takes a while, in a thread of its own: how far it is, what went wrong, and how to end it."""

from collections.abc import Callable
from itertools import count
from threading import Lock, Thread
from typing import Any

from .._progress import Progress
from .._secrets import masked
from ..errors import GrampusError

CANCELLED = "Cancelled. Nothing was changed."
SAVING = "saving"  # the step from which on work is no longer cancelled
_numbers = count(1)


class CancelledError(GrampusError):
    """The reader ended the work."""


class Making:
    """A piece of work under way.

    Parameters
    ----------
    what : str
        What is being done, for the reader.
    task : callable
        Called with a progress function; what it returns becomes `result`.

    Attributes
    ----------
    step : tuple of str, int and int or None
        The present step, units done, and units in all.
    problem : str
        Why it failed; "" if it did not.
    done : bool
    number : int
        Of this process, to ask for it.
    """

    def __init__(self, what: str, task: Callable[[Progress], Any]) -> None:
        self.what, self.number = what, next(_numbers)
        self._cancelled, self._lock = False, Lock()
        self.step: tuple[str, int, int | None] = ("", 0, None)
        self.problem, self.done = "", False
        self.result: Any = None
        self._task = task
        self.thread = Thread(target=self._run, name="grampus-work", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        try:
            self.result = self._task(self._report)
        except (GrampusError, OSError) as error:
            self.problem = masked(str(error))
        except MemoryError:
            self.problem = "Out of memory. Open fewer documents."
        except Exception as error:
            self.problem = f"{type(error).__name__}: {error} (this is a bug in Grampus)"
        finally:
            self.done = True

    def cancel(self) -> None:
        """End the work: it stops with its next step, and what it would have made is not kept."""
        with self._lock:
            if not self.done and self.step[0] != SAVING:
                self._cancelled, self.done, self.problem = True, True, CANCELLED

    def _report(self, step: str, done: int, total: int | None) -> None:
        with self._lock:
            if self._cancelled:
                raise CancelledError(CANCELLED)
            self.step = (step, int(done), None if total is None else int(total))

    def told(self) -> dict[str, Any]:
        """Return how far it is, for the page."""
        step, done, total = self.step
        far = {"number": self.number, "what": self.what, "step": step, "units": done, "total": total}
        return {**far, "problem": self.problem, "done": self.done}
