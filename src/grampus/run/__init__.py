"""Who does the work over the pieces of a collection: this thread, processes of this machine, or Dask workers."""

from .runner import Processes, Runner, ThisThread, runner_for, using
from .scratch import Record, Scratch

__all__ = ["Processes", "Record", "Runner", "Scratch", "ThisThread", "runner_for", "using"]
