"""Making that takes a while, in a thread of its own: how far it is, and what went wrong."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import Any

from .._progress import Progress
from .._secrets import masked
from ..errors import GrampusError


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
    """

    def __init__(self, what: str, task: Callable[[Progress], Any]) -> None:
        self.what = what
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

    def _report(self, step: str, done: int, total: int | None) -> None:
        self.step = (step, int(done), None if total is None else int(total))

    def told(self) -> dict[str, Any]:
        """Return how far it is, for the page."""
        step, done, total = self.step
        return {"what": self.what, "step": step, "units": done, "total": total, "problem": self.problem}
