"""The exceptions of Grampus.

::

    GrampusError
    ├── InputError (ValueError)        data or parameters break a stated rule
    │   ├── KernelSpellingError        a kernel's spelling does not parse; points at the character
    │   ├── CorpusError                a corpus cannot be read
    │   └── RunError                   a saved run cannot be read, or was changed after it was written
    ├── MemoryBudgetError (MemoryError)  the work would not fit in the memory budget
    ├── ConvergenceError (RuntimeError)  an iteration ended without a result
    ├── PartsError (RuntimeError)      work on pieces was interrupted: a scheduler or workers were lost
    └── MissingExtraError (ImportError)  an optional dependency is not installed

Each message says what is required, what was given, and what to do.
"""

from __future__ import annotations

__all__ = [
    "ConvergenceError", "CorpusError", "GrampusError", "InputError", "KernelSpellingError", "MemoryBudgetError",
    "MissingExtraError", "PartsError", "RunError",
]  # fmt: skip


class GrampusError(Exception):
    """Base of every error raised by Grampus.

    Examples
    --------
    >>> from grampus.errors import GrampusError, InputError
    >>> issubclass(InputError, GrampusError)
    True
    """


class InputError(GrampusError, ValueError):
    """Data or parameters break a stated rule.

    Examples
    --------
    >>> import grampus
    >>> grampus.parse_kernel("linear|normalise(-1)")
    Traceback (most recent call last):
    ...
    grampus.errors.KernelSpellingError: normalise: order must be 0, a positive number or inf; got -1.
      linear|normalise(-1)
             ^
    """


class KernelSpellingError(InputError):
    """A kernel's spelling does not parse.

    Attributes
    ----------
    spelling : str
        The text that was read.
    position : int
        Index of the offending character.
    """

    def __init__(self, message: str, spelling: str, position: int) -> None:
        self.message, self.spelling, self.position = message, spelling, position
        super().__init__(f"{message}\n  {spelling}\n  {' ' * position}^")

    def __reduce__(self) -> tuple[type[KernelSpellingError], tuple[str, str, int]]:
        return type(self), (self.message, self.spelling, self.position)


class CorpusError(InputError):
    """A corpus cannot be read."""


class MemoryBudgetError(GrampusError, MemoryError):
    """The work would not fit in the memory budget (see ``grampus.config``)."""


class ConvergenceError(GrampusError, RuntimeError):
    """An iteration ended without a result."""


class PartsError(GrampusError, RuntimeError):
    """Work on pieces of a collection was interrupted: a scheduler or workers were lost."""


class MissingExtraError(GrampusError, ImportError):
    """An optional dependency is not installed."""


class RunError(InputError):
    """A saved run cannot be read, or was changed after it was written."""
