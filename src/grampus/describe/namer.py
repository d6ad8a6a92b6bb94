"""Names from elsewhere: a function or a program gets what is known about the clusters and returns their names."""

import hashlib
import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import IO, Any, cast

from .._check import check_number
from ..errors import InputError

Namer = Callable[[dict[str, Any]], Any]

LONGEST_NAME = 80  # characters
LARGEST_OUTPUT = 1_000_000  # bytes
TYPICAL, LONGEST_TEXT = 3, 500  # typical texts of a cluster in a request, and their characters
SECONDS = 300.0
LONGEST = 1e7  # seconds
_SIGNS = {"Cc", "Cs", "Zl", "Zp"}  # no character of these categories can be in a name
_DIRECTIONS = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")


@dataclass(frozen=True)
class Known:
    """What is known about a cluster that is to be named.

    Attributes
    ----------
    number, size : int
    name : str
        The name it has if no other is found.
    terms, phrases : tuples of str
        Words and phrases that tell it from the others, best first.
    texts : tuple of str
        The beginnings of typical documents.
    siblings : tuple of str
        The names of the clusters that it is to be told from.
    parts : tuple of str
        The names of its parts at the next finer level, which are given first; empty if there is none.

    Examples
    --------
    >>> from grampus.describe import Known
    >>> Known(0, 12, "whale, sea", ("whale", "sea"), (), ("Whales sing.",), ("bird, nest",)).name
    'whale, sea'
    """

    number: int
    size: int
    name: str
    terms: tuple[str, ...]
    phrases: tuple[str, ...]
    texts: tuple[str, ...]
    siblings: tuple[str, ...]
    parts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Naming:
    """The names of the clusters of one level, and a remark if some that were asked for could not be used.

    Attributes
    ----------
    names : tuple of str
    warning : str
        '' if every name was used.
    digest : str
        Identifies the request, which need not be made again; '' if there was no answer.

    Examples
    --------
    >>> from grampus.describe import Naming
    >>> Naming(("Whales",), "", "ab").names
    ('Whales',)
    """

    names: tuple[str, ...]
    warning: str
    digest: str


class RefusedError(Exception):
    """Why names cannot be used."""


@dataclass(frozen=True)
class NameCommand:
    """A program that names clusters: it reads the request as JSON from standard input and prints the names as JSON.

    Started once for each level, without a shell, and stopped after `timeout` seconds or a megabyte of output.

    Parameters
    ----------
    command : str
        The program and its arguments, separated and quoted as in a shell.
    timeout : float
        Seconds.

    Examples
    --------
    >>> import sys
    >>> from grampus.describe import NameCommand
    >>> first_terms = "[one['terms'][0].upper() for one in json.load(sys.stdin)['clusters']]"
    >>> program = f'{sys.executable} -c "import json, sys; print(json.dumps({first_terms}))"'
    >>> NameCommand(program)({"clusters": [{"terms": ["whale"]}]})
    ['WHALE']
    """

    command: str
    timeout: float = SECONDS

    def __post_init__(self) -> None:
        check_number(self.timeout, "timeout", above=0, high=LONGEST)

    @property
    def spelled(self) -> str:
        """What identifies it in a run."""
        return self.command

    def __call__(self, request: dict[str, Any]) -> Any:
        """Run the program and return what it printed, read as JSON."""
        try:
            words = shlex.split(self.command, posix=os.name == "posix")
        except ValueError as error:
            raise InputError(f"the naming command must be a command line; got {self.command!r} ({error}).") from None
        if not words:
            raise InputError("the naming command must name a program; got an empty one.")
        printed = _run(words, json.dumps(request, ensure_ascii=False).encode("utf-8", "replace"), self.timeout)
        try:
            return json.loads(printed.decode("utf-8"))
        except (ValueError, RecursionError):
            raise RefusedError("it did not print JSON") from None


def ask_names(
    namer: Namer, level: str, clusters: Sequence[Known], earlier: Mapping[str, Sequence[str]] | None = None
) -> Naming:
    """Ask for the names of the clusters of one level; those that cannot be used are replaced by the names they had.

    A name must be one line of 1 to 80 characters without control characters, and no two clusters may have the same.
    Whatever goes wrong (an exception, a program that fails, hangs or prints something else) is reported in the warning.

    Parameters
    ----------
    namer : callable, NameCommand or LanguageModel
        Gets a dict and returns a list of names, one for each cluster, a dict with such a list under "names", or a dict
        from numbers of clusters to names; None keeps the name a cluster has. The request has the keys "format",
        "version", "level" and "clusters", a list of the attributes of `Known`.
    level : str
        Such as "coarse" or "fine".
    clusters : sequence of Known
    earlier : mapping of str to sequences of str, optional
        Names by the digest of the request that led to them: these are not asked for again.

    Examples
    --------
    >>> from grampus.describe import Known, ask_names
    >>> whales, birds = (Known(i, 2, word, (word,), (), (), ()) for i, word in enumerate(("whale", "bird")))
    >>> found = ask_names(lambda request: ["Sea mammals", "x" * 81], "fine", [whales, birds])
    >>> found.names
    ('Sea mammals', 'bird')
    >>> found.warning
    '1 of 2 names for clusters could not be used: it is longer than 80 characters.'
    """
    request = {"format": "grampus-names", "version": 1, "level": level, "clusters": [asdict(one) for one in clusters]}
    digest = hashlib.sha256(json.dumps([_spelled(namer), request], sort_keys=True).encode()).hexdigest()
    usual = tuple(one.name for one in clusters)
    if earlier and len(earlier.get(digest, ())) == len(usual):
        return Naming(tuple(earlier[digest]), "", digest)
    try:
        proposed = _listed(namer(request), clusters)
    except InputError:
        raise
    except Exception as error:  # the function is the user's: whatever it raises, the clusters keep their names
        reason = str(error) if isinstance(error, RefusedError) else f"{type(error).__name__}: {error}"
        what = f"The names of '{_spelled(namer)}'" if hasattr(namer, "spelled") else "The names that were asked for"
        return Naming(usual, f"{what} could not be used: {' '.join(reason.split())[:200]}.", "")
    names, reasons = _accepted(proposed, usual)
    warning = ""
    if reasons:
        warning = f"{len(reasons)} of {len(usual)} names for clusters could not be used: {reasons[0]}."
    return Naming(names, warning, digest)


def _spelled(namer: Namer) -> str:
    spelled = getattr(namer, "spelled", None) or getattr(namer, "__qualname__", type(namer).__qualname__)
    return str(spelled)


def _listed(given: Any, clusters: Sequence[Known]) -> list[Any]:
    """Return one value for each cluster from what a namer returned."""
    if isinstance(given, Mapping) and "names" in given:
        given = given["names"]
    if isinstance(given, Mapping):
        return [given.get(one.number, given.get(str(one.number))) for one in clusters]
    if isinstance(given, Sequence) and not isinstance(given, str | bytes) and len(given) == len(clusters):
        return list(given)
    raise RefusedError(f"there must be a list of {len(clusters)} names, one for each cluster")


def _accepted(proposed: Sequence[Any], usual: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """Return the names to use and what is wrong with the others."""
    names: list[str] = list(usual)
    reasons = []
    for place, value in enumerate(proposed):
        if value is None:
            continue
        others = {name.casefold() for other, name in enumerate(names) if other != place}
        wrong = wrong_name(value) or ("two clusters would have the same" if value.strip().casefold() in others else "")
        if wrong:
            reasons.append(wrong)
        else:
            names[place] = value.strip()
    return tuple(names), reasons


def wrong_name(value: Any) -> str:
    """Return what is wrong with a name; '' if nothing is."""
    if not isinstance(value, str):
        return "it is not a text"
    name = value.strip()
    if not name:
        return "it is empty"
    if len(name) > LONGEST_NAME:
        return f"it is longer than {LONGEST_NAME} characters"
    if any(unicodedata.category(sign) in _SIGNS or sign in _DIRECTIONS for sign in name):
        return "it is more than one line or has control characters"
    return ""


# -- a program with limits


def _run(words: list[str], request: bytes, timeout: float) -> bytes:
    """Run a program and return its output; refuse one that fails, runs too long or prints too much."""
    try:
        process = subprocess.Popen(  # noqa: S603  (the user's own program, without a shell)
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )
    except OSError as error:
        raise RefusedError(f"it cannot be started ({error.strerror or error})") from None
    stdin, stdout, stderr = (cast("IO[bytes]", stream) for stream in (process.stdin, process.stdout, process.stderr))
    printed, complaints = _Limited(stdout, LARGEST_OUTPUT), _Limited(stderr, LARGEST_OUTPUT)
    threads = [
        threading.Thread(target=_write, args=(stdin, request), daemon=True),
        threading.Thread(target=printed.read, daemon=True),
        threading.Thread(target=complaints.read, daemon=True),
    ]
    end = time.monotonic() + timeout
    try:
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            if printed.too_long or complaints.too_long:
                raise RefusedError(f"it printed more than {LARGEST_OUTPUT // 1_000_000} MB")
            if time.monotonic() > end:
                raise RefusedError(f"it ran longer than {timeout:g} seconds")
            threads[1].join(0.02)
        if printed.too_long:
            raise RefusedError(f"it printed more than {LARGEST_OUTPUT // 1_000_000} MB")
        try:
            code = process.wait(max(end - time.monotonic(), 0.1))
        except subprocess.TimeoutExpired:
            raise RefusedError(f"it ran longer than {timeout:g} seconds") from None
    finally:
        _stop(process)
    if code:
        lines = bytes(complaints.data).decode("utf-8", "replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        raise RefusedError(f"it ended with code {code}" + (f" ({last[:120]})" if last else ""))
    return bytes(printed.data)


class _Limited:
    """What a program prints, up to a limit."""

    def __init__(self, stream: IO[bytes], limit: int) -> None:
        self.stream, self.limit, self.data, self.too_long = stream, limit, bytearray(), False

    def read(self) -> None:
        with suppress(OSError, ValueError):
            while piece := os.read(self.stream.fileno(), 1 << 16):
                if len(self.data) + len(piece) > self.limit:
                    self.too_long = True
                    return
                self.data += piece


def _write(stream: IO[bytes], given: bytes) -> None:
    with suppress(OSError, ValueError):  # a program need not read what it gets
        stream.write(given)
    with suppress(OSError, ValueError):
        stream.close()


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End a program and what it started."""
    if process.returncode is None:  # not waited for, so its number is still its own
        with suppress(OSError):
            if sys.platform == "win32":
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with suppress(OSError, ValueError):
                stream.close()
