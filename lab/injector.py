"""Run a command in a fork with one fault: the n-th call of a kind fails, or the process is killed there.

A compiled shim (promises/faults.c, LD_PRELOAD) fails calls of the C library and large allocations, native code
included; a profiler raises MemoryError and KeyboardInterrupt at every call that the code of Grampus makes. Commands run
in forks of one process that has everything imported, so that a trial takes a fraction of a second.
"""

import ctypes
import errno
import faulthandler
import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab.found import Unavailable
from lab.harness import ROOT

KINDS = ("none", "open", "read", "write", "sync", "rename", "mkdir", "unlink", "lock", "alloc")  # as in faults.c
LARGE = 16_384  # bytes of an allocation that may fail
LONGEST = 600  # seconds of a trial, on a machine that may be busy
KILL = -1  # in place of an error: the process ends at the call
SOURCES = str(ROOT / "src" / "grampus")
TEMPORARY = "tmp"  # where commands put temporary files, in their folder
PYTHON = ("memory", "interrupt")  # raised by the profiler


@dataclass(frozen=True)
class Fault:
    """What fails: a kind of call, the error, and whether every later call fails too."""

    kind: str
    error: int = 0
    lasting: bool = False

    def __str__(self) -> str:
        name = "kill -9" if self.error == KILL else errno.errorcode.get(self.error, "")
        return " ".join(part for part in (self.kind, name, "from then on" if self.lasting else "") if part)


@dataclass(frozen=True)
class Job:
    """A command (or a function), and the files and folders that it writes."""

    name: str
    words: tuple[str, ...]
    outputs: tuple[str, ...]
    function: Callable[[], None] | None = None
    without: tuple[str, ...] = ()  # kinds of faults that cannot be tried
    may_keep: tuple[str, ...] = ()  # outputs that a failure may leave half finished, to be continued

    def run(self) -> None:
        """Run it in this process."""
        from grampus.cli import main

        self.function() if self.function is not None else main(list(self.words))


@dataclass
class Trial:
    """How a trial ended: exit status (negative: a signal), messages, and the calls of the kind that were seen."""

    status: int
    errors: str
    seen: int
    seconds: float


@dataclass
class Server:
    """Runs jobs in forks of this process, in a folder that is put back as it was before each."""

    folder: Path
    before: Path
    library: Any
    expected: dict[str, str] = field(default_factory=dict)

    def restore(self) -> None:
        """Put the folder back as it was."""
        shutil.rmtree(self.folder)
        shutil.copytree(self.before, self.folder)

    def warm(self, job: Job) -> None:
        """Run a job in this process once, so that forks find what it keeps in memory: trials take half as long."""
        before = Path.cwd()
        os.chdir(self.folder)
        with redirect_stdout(io.StringIO()), suppress(SystemExit):
            job.run()
        os.chdir(before)
        self.restore()
        assert threading.active_count() == 1  # a fork would not have the others

    def trial(self, job: Job, fault: Fault | None, number: int) -> Trial:
        """Run a job in a fork with one fault."""
        began = time.perf_counter()
        with tempfile.TemporaryFile() as errors:
            child = os.fork()
            if child == 0:
                status = 70
                try:
                    signal.alarm(LONGEST)
                    os.chdir(self.folder)
                    os.environ["TMPDIR"], tempfile.tempdir = str(self.folder / TEMPORARY), None
                    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
                    os.dup2(errors.fileno(), 2)
                    status = self._inside(job, fault, number)
                finally:
                    os._exit(status)
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            errors.seek(0)
            told = errors.read().decode("utf-8", "replace")
        return Trial(code, told, self.library.faults_seen(), time.perf_counter() - began)

    def _inside(self, job: Job, fault: Fault | None, number: int) -> int:
        faulthandler.disable()  # a crash is a signal, without a picture of it
        fault = fault or Fault("none")
        if fault.kind in PYTHON:
            self.library.faults_arm(0, 0, 0, 0, LARGE)
            watch(MemoryError if fault.kind == "memory" else KeyboardInterrupt, number, self.library, fault)
        else:
            self.library.faults_arm(KINDS.index(fault.kind), number, fault.error, int(fault.lasting), LARGE)
        status = 0
        try:
            job.run()
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 71
        except BaseException:
            self._disarm()
            traceback.print_exc()
            status = 72
        finally:
            self._disarm()
        return status

    def _disarm(self) -> None:
        self.library.faults_disarm()
        sys.setprofile(None)


def watch(error: type[BaseException], number: int, library: Any, fault: Fault) -> None:
    """Raise an error at the n-th place of Grampus that calls something, each place once.

    Not in `main` itself: before its first line and at its last, ``sys.exit``, nobody is there to catch it.
    """
    from grampus.cli import main

    places: set[Any] = set()
    outermost = main.__code__

    def profile(frame: Any, event: str, _: Any) -> None:
        key = (frame.f_code, frame.f_lasti if event == "c_call" else -1)
        inside = frame.f_code is not outermost and frame.f_code.co_filename.startswith(SOURCES)
        if not inside or event not in ("call", "c_call") or key in places:
            return
        places.add(key)
        library.faults_count()
        if len(places) == number:
            sys.setprofile(None)
            if fault.error == KILL:
                os.kill(os.getpid(), signal.SIGKILL)
            raise error

    sys.setprofile(profile)


def spread(count: int, most: int) -> list[int]:
    """Return the numbers from 1 to `count`, or `most` of them at equal distances."""
    if count <= most:
        return list(range(1, count + 1))
    return sorted({1 + i * (count - 1) // (most - 1) for i in range(most)})


def shim(folder: str) -> str:
    """Compile the shim and return its path."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or sys.platform != "linux":
        raise Unavailable("needs Linux and a C compiler")
    made = f"{folder}/faults.so"
    source = str(ROOT / "lab/promises/faults.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", made, source, "-ldl"], check=True)
    return made


def loaded() -> Any:
    """Return the shim of this process, which was started with it and has one thread."""
    library = ctypes.CDLL(None)
    library.faults_seen.restype = ctypes.c_long
    library.faults_arm.argtypes = (ctypes.c_int, ctypes.c_long, ctypes.c_int, ctypes.c_int, ctypes.c_size_t)
    assert threading.active_count() == 1
    return library
