"""Types of options that several commands share."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

FILE = click.Path(dir_okay=False, allow_dash=True)
PLACE = click.Path(dir_okay=False)
FOLDER = click.Path(file_okay=False)
RUN = click.Path(exists=True, file_okay=False)
AT_LEAST_1 = click.IntRange(min=1)
CLUSTER = click.IntRange(min=0)
if TYPE_CHECKING:
    _Type = click.ParamType[Any]
else:  # generic from click 8.3 on
    _Type = click.ParamType


class Numbers(_Type):
    """Whole numbers as ``2-10`` or ``2,4,8``."""

    name = "RANGE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """Parse the numbers."""
        if isinstance(value, tuple):
            return value
        numbers: set[int] = set()
        for entry in str(value).split(","):
            match = re.fullmatch(r"\s*(\d{1,6})\s*(?:-\s*(\d{1,6})\s*)?", entry, re.ASCII)
            if match is None or (match[2] and int(match[2]) < int(match[1])):
                self.fail(f"{value!r} must be numbers such as 2-10 or 2,4,8.", param, ctx)
            numbers.update(range(int(match[1]), int(match[2] or match[1]) + 1))
        return tuple(sorted(numbers))


class Count(_Type):
    """A whole number of at least 1, or ``auto``."""

    name = "K|auto"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        """Parse the number."""
        if value == "auto" or isinstance(value, int):
            return value
        if not re.fullmatch(r"\d{1,9}", str(value), re.ASCII) or int(value) < 1:
            self.fail(f"{value!r} must be a whole number of at least 1, or 'auto'.", param, ctx)
        return int(value)


class ShareType(_Type):
    """A share between 0 and 1, ``auto`` or ``off``."""

    name = "SHARE|auto|off"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | str:
        """Parse the share."""
        from ..documents.find.outliers import check_outliers
        from ..errors import InputError

        try:
            share = value if value in ("auto", "off") else float(value)
            check_outliers(share)
        except (ValueError, InputError):
            self.fail(f"{value!r} must be a share between 0 and 1 such as 0.05, 'auto' or 'off'.", param, ctx)
        return share
