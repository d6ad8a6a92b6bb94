"""Types of options that several commands share."""

import re
from typing import Any

import click

FILE = click.Path(dir_okay=False, allow_dash=True)
PLACE = click.Path(dir_okay=False)
FOLDER = click.Path(file_okay=False)
RUN = click.Path(exists=True, file_okay=False)
AT_LEAST_1 = click.IntRange(min=1)
CLUSTER = click.IntRange(min=0)


def parse_numbers(value: Any) -> tuple[int, ...]:
    """Parse whole numbers as ``2-10`` or ``2,4,8``."""
    found: set[int] = set()
    for entry in str(value).split(","):
        match = re.fullmatch(r"\s*(\d{1,6})\s*(?:-\s*(\d{1,6})\s*)?", entry, re.ASCII)
        if match is None or (match[2] and int(match[2]) < int(match[1])):
            raise click.BadParameter(f"{value!r} must be numbers such as 2-10 or 2,4,8.")
        found.update(range(int(match[1]), int(match[2] or match[1]) + 1))
    return tuple(sorted(found))


def parse_count(value: Any) -> int | str:
    """Parse a whole number of at least 1, or ``auto``."""
    if value != "auto" and (not re.fullmatch(r"\d{1,9}", str(value), re.ASCII) or int(value) < 1):
        raise click.BadParameter(f"{value!r} must be a whole number of at least 1, or 'auto'.")
    return "auto" if value == "auto" else int(value)


def parse_share(value: Any) -> float | str:
    """Parse a share between 0 and 1, ``auto`` or ``off``."""
    if value in ("auto", "off"):
        return str(value)
    from ..documents.find.outliers import check_outliers

    try:
        found = float(value)
        check_outliers(found)
    except ValueError:
        raise click.BadParameter(f"{value!r} must be a share between 0 and 1 such as 0.05, 'auto' or 'off'.") from None
    return found
