"""Fail the n-th call of a kind, in this process; lab/promises/faults.py does the same below Python, for every n."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

KINDS = ("open", "write", "fsync", "replace", "mkdir", "unlink")


@contextmanager
def failing(kind: str, number: int, error: BaseException | None = None) -> Iterator[list[str]]:
    """Fail call `number` of a kind (ENOSPC by default), and let no fsync wait for a disk; yield the calls seen."""
    seen: list[str] = []

    def call(name: str, real: Any) -> Any:
        def counted(*args: Any, **options: Any) -> Any:
            if name == kind:
                seen.append(str(args[0]) if args else name)
                if len(seen) == number:
                    raise error or OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return None if name == "fsync" else real(*args, **options)

        return counted

    opened = io.open

    def open_file(file: Any, mode: str = "r", *args: Any, **options: Any) -> Any:
        made = opened(file, mode, *args, **options)
        return _Failing(made, call("write", made.write)) if set(mode) & set("wxa") else made

    patches = [patch.object(os, name, call(name, getattr(os, name))) for name in KINDS if name != "write"]
    with patch.object(io, "open", open_file):
        for one in patches:
            one.start()
        try:
            yield seen
        finally:
            for one in patches:
                one.stop()


class _Failing:
    """A file whose writes are counted."""

    def __init__(self, file: Any, write: Any) -> None:
        self._file, self.write = file, write

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> _Failing:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
