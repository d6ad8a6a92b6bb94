"""Dates in their usual forms, as ISO 8601."""

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime

_ISO = re.compile(r"\d{4}(?:-\d\d(?:-\d\d.*)?)?\Z", re.DOTALL)
_YEAR_FIRST = re.compile(r"(\d{4})[./](\d{1,2})[./](\d{1,2})(?:[T ,]+(.*))?\Z")
_COMPACT = re.compile(r"(\d{4})(\d\d)(\d\d)\Z")
_NUMBERS = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d\d)(?:[T ,]+(.*))?\Z")
_DAY_NAME = re.compile(
    r"(?:[^\W\d_]+\.?,?\s+)?(\d{1,2})(?:st|nd|rd|th|er)?\.?\s+(?:de\s+)?([^\W\d_]+)\.?,?\s+(?:de\s+|del\s+)?(\d{4})\b"
)
_NAME_DAY = re.compile(r"(?:[^\W\d_]+\.?,\s+)?([^\W\d_]+)\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})\b")
_SECONDS = re.compile(r"1\d{9}(?:\d{3})?(?:\.\d+)?\Z")
_LONGEST = 100
_MONTHS = [  # English, German, French, Spanish, Italian, Dutch, Portuguese: as far as letters tell them apart
    "jan jän ene gen", "feb fév fev", "mar mär mrt maa", "apr avr abr", "may mai mag mei", "jun juin giu",
    "jul juil lug", "aug aoû aou ago", "sep set", "oct okt ott out", "nov", "dec dez déc dic",
]  # fmt: skip
_BY_NAME = {name: month for month, names in enumerate(_MONTHS, 1) for name in names.split()}


def _month(name: str) -> int | None:
    folded = name.casefold()
    return 7 if folded.startswith("juil") else _BY_NAME.get(folded[:3]) or _BY_NAME.get(folded[:4])


def _iso(year: int, month: int | None, day: int, time: str | None = None) -> str | None:
    try:
        found = date(year, month or 0, day).isoformat()
    except ValueError:
        return None
    try:
        return datetime.fromisoformat(f"{found} {time}").isoformat() if time else found
    except ValueError:
        return found


def _of_numbers(match: re.Match[str], day_first: bool) -> str | None:
    first, _, second, year, time = match.groups()
    day, month = (first, second) if day_first else (second, first)
    century = "" if len(year) == 4 else "20" if int(year) < 70 else "19"
    return _iso(int(century + year), int(month), int(day), time)


def to_iso(value: str, day_first: bool) -> str | None:  # noqa: PLR0911  # a return for each form
    """Return a date in ISO 8601; None if it is in no form that is known.

    Examples
    --------
    >>> from grampus.text.readers.dates import to_iso
    >>> [to_iso(day, True) for day in ("6.6.2024", "6 June 2024", "Thu, 06 Jun 2024 09:30:00 +0200", "soon")]
    ['2024-06-06', '2024-06-06', '2024-06-06T09:30:00+02:00', None]
    """
    value = value.strip()
    if len(value) > _LONGEST:
        return None
    if _ISO.match(value):
        return value
    if match := _NUMBERS.match(value):
        return _of_numbers(match, day_first or match[2] == ".")
    if match := _YEAR_FIRST.match(value):
        return _iso(int(match[1]), int(match[2]), int(match[3]), match[4])
    if match := _COMPACT.match(value):
        return _iso(int(match[1]), int(match[2]), int(match[3]))
    if _SECONDS.match(value):
        seconds = float(value) / (1000 if len(value.partition(".")[0]) == 13 else 1)
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    if ":" in value:
        try:
            return parsedate_to_datetime(value).isoformat()
        except (ValueError, TypeError, IndexError, OverflowError):
            pass
    if match := _DAY_NAME.match(value):
        return _iso(int(match[3]), _month(match[2]), int(match[1]))
    if match := _NAME_DAY.match(value):
        return _iso(int(match[3]), _month(match[1]), int(match[2]))
    return None


def normalise_dates(values: Sequence[str], day_first: bool | None) -> tuple[list[str], list[str]]:
    """Return dates in ISO 8601, unknown ones as they stand, and notes on what is doubtful."""
    notes = []
    if day_first is None:
        pairs = [(int(m[1]), int(m[3]), v) for v in values if (m := _NUMBERS.match(v.strip())) and m[2] != "."]
        may_be_first = all(second <= 12 for _, second, _ in pairs)
        may_be_second = all(first <= 12 for first, _, _ in pairs)
        day_first = may_be_first or not may_be_second
        doubtful = next((value for first, second, value in pairs if first != second), None)
        if pairs and may_be_first and may_be_second and doubtful:
            notes.append(f"dates such as {doubtful[:10]} were read with the day first (day_first=False for the month)")
        elif pairs and not may_be_first and not may_be_second:
            notes.append("some dates have the day first and some the month; they were read with the day first")
    found = [(value, to_iso(value, day_first) if value else "") for value in values]
    unknown = [value for value, iso in found if iso is None]
    if unknown:
        many = f"{len(unknown)} of {len(values)} dates"
        notes.append(f"{many} are in a form that is not known, such as {unknown[0][:40]!r}")
    return [value if iso is None else iso for value, iso in found], notes
