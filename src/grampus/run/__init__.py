"""Who does the work over the pieces of a collection: this thread, copies of its process, others, or Dask."""

from .base import Runner, ThisThread
from .copies import Apart, Forks, forks_for, results_in_copies, returned
from .runner import Processes, runner_for, using
from .scratch import Record, Scratch

__all__ = [
    "Apart", "Forks", "Processes", "Record", "Runner", "Scratch", "ThisThread", "forks_for", "results_in_copies",
    "returned", "runner_for", "using",
]  # fmt: skip
