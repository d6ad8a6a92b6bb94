"""``--settings FILE``: rare settings of all commands as TOML, checked against the parameters of the library."""

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from difflib import get_close_matches
from reprlib import repr as shortened
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

import click

from .._files import open_regular
from ..errors import InputError
from .command import MAIN, option
from .types import parse_numbers

LARGEST = 10_000_000  # bytes of a file
WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


@dataclass(frozen=True)
class FileSettings:
    """What a file sets, table by table; nothing where there is no file.

    Attributes
    ----------
    path : str or None
        The file.
    reading, terms, effort : dict
        Arguments of `ReadOptions`, of `TermVectorizer` and of `Effort`.
    methods : dict of str to Method
        By name.
    guide : dict
        Arguments of `Guide`; a text is a file that holds the value.
    naming : dict
        "names", a file, "timeout", and "url" of a language model.
    """

    path: str | None = None
    reading: dict[str, Any] = field(default_factory=dict)
    terms: dict[str, Any] = field(default_factory=dict)
    effort: dict[str, Any] = field(default_factory=dict)
    methods: dict[str, Any] = field(default_factory=dict)
    guide: dict[str, Any] = field(default_factory=dict)
    naming: dict[str, Any] = field(default_factory=dict)


class SettingsFile(click.Path):
    """A file of settings."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the file."""
        return value if isinstance(value, FileSettings) else read_settings(str(super().convert(value, param, ctx)))


@dataclass(frozen=True, kw_only=True)
class Configured:
    """Options that a file of settings adds to; all groups of a command share the file."""

    settings: FileSettings = option(  # noqa: RUF009  (a field)
        "Rare settings: a TOML file, see the guide.",
        heading=MAIN,
        type=SettingsFile(exists=True, dir_okay=False),
        default=FileSettings(),
    )


def merged(table: Mapping[str, Any], **given: Any) -> dict[str, Any]:
    """Return the values of a table with those of the command line, which win; None is what was not given."""
    return {**table, **{name: value for name, value in given.items() if value is not None}}


def known_tables() -> dict[str, tuple[dict[str, Any], Callable[..., Any]]]:
    """Return the type of every key, by table, and what checks the values beyond their types: all are the library's."""
    from ..describe import NameCommand
    from ..documents import Effort
    from ..documents.find.methods import METHODS
    from ..text import ReadOptions, TermVectorizer

    terms = {name: kind for name, kind in _keys(TermVectorizer).items() if name != "dtype"}
    files = {"labels": str | dict[str, str], "seeds": str | dict[str, Any]}
    pairs = dict.fromkeys(("must_link", "cannot_link"), str | tuple[tuple[str, str], ...])
    return {
        "reading": (_keys(ReadOptions), ReadOptions),
        "terms": (terms, lambda **values: TermVectorizer(**values).check_parameters()),
        "effort": ({**_keys(Effort), "ks": str | tuple[int, ...]}, Effort),
        "methods": (dict(METHODS), dict),
        "guide": ({**files, **pairs, "fixed": bool, "only": bool}, dict),
        "naming": (
            {"names": str, "timeout": float, "url": str},
            lambda names="", url="", **others: NameCommand("", **others),
        ),
    }


def read_settings(path: str) -> FileSettings:
    """Read and check a file of settings; whatever is wrong is one line that names the file and the key.

    Examples
    --------
    >>> import tempfile
    >>> from grampus.cli.settings import read_settings
    >>> with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
    ...     print("[effort]\\nks = '2-4'\\nnull = true", file=file, flush=True)
    ...     read_settings(file.name).effort
    {'ks': (2, 3, 4), 'null': True}
    """
    with open_regular(path, LARGEST) as file:
        try:
            content = tomllib.load(file)
        except (ValueError, RecursionError) as error:
            raise click.UsageError(f"{path} must be TOML in UTF-8: {error}.") from None
    known, values = known_tables(), {}
    for name, table in content.items():
        home = next((home for home, (keys, _) in known.items() if name in keys), None)
        if name not in known and home:
            raise click.UsageError(f"{path}: {name} must be in the table [{home}].")
        if name not in known:
            near = _near(name, known)
            raise click.UsageError(f"{path}: there is no table [{name}]{near} The tables: {', '.join(known)}.")
        keys, check = known[name]
        values[name] = _spelled(_values(table, keys, f"{path}: [{name}]"), path)
        _library(f"{path}: [{name}]", check, values[name])
    return FileSettings(path, **values)


def _spelled(values: dict[str, Any], path: str) -> dict[str, Any]:
    """Return values with what TOML has no type for: none, and a range of numbers."""
    values |= {name: None for name in ("stop_words", "stemmer") if values.get(name) == "none"}
    if isinstance(values.get("ks"), str):
        try:
            values["ks"] = parse_numbers(values["ks"])
        except click.BadParameter as error:
            raise click.UsageError(f"{path}: [effort] ks: {error.message}") from None
    return values


def _values(table: Any, keys: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Return the values of a table, whose `place` names it in errors."""
    if not isinstance(table, dict):
        raise click.UsageError(f"{place} must be a table of keys; got {shortened(table)}.")
    for key in table:
        if key not in keys:
            raise click.UsageError(f"{place} has no key '{key}'{_near(key, keys)} Its keys: {', '.join(keys)}.")
    return {key: _value(value, keys[key], place, key) for key, value in table.items()}


def _value(value: Any, hint: Any, place: str, key: str) -> Any:
    """Return a value of the right type; an object of the library for a table."""
    kinds: tuple[Any, ...] = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    for kind in kinds:
        if is_dataclass(kind) and isinstance(value, dict):
            inner = f"{place[:-1]}.{key}]"
            return _library(inner, kind, _values(value, _keys(kind), inner))
        if _fits(value, kind):
            return value
    expected = " or ".join(dict.fromkeys(words for kind in kinds if (words := _words(kind))))
    raise click.UsageError(f"{place} {key} must be {expected}; got {shortened(value)}.")


def _library(place: str, make: Any, values: Mapping[str, Any]) -> Any:
    """Return what the library makes of checked values; its errors name the key, and here the place."""
    try:
        return make(**values)
    except InputError as error:
        raise click.UsageError(f"{place} {error}") from None


def _keys(kind: Any) -> dict[str, Any]:
    """Return the types of the fields of a dataclass."""
    hints = get_type_hints(kind)
    return {entry.name: hints[entry.name] for entry in fields(kind)}


def _fits(value: Any, kind: Any) -> bool:
    """Return whether a value of TOML is of a type; a whole number is a number, true and false are not."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is dict:
        return isinstance(value, dict) and all(_fits(entry, parts[1]) for entry in value.values())
    if origin is tuple and parts[-1] is not Ellipsis:
        return isinstance(value, list) and len(value) == len(parts) and all(map(_fits, value, parts))
    if origin in (tuple, Iterable):
        return isinstance(value, list) and all(_fits(entry, parts[0]) for entry in value)
    if kind is Any:  # what the library checks
        return True
    return type(value) in (int, float) if kind is float else type(value) is kind


def _words(kind: Any) -> str:
    """Return what a type is called in errors; nothing for one that TOML cannot spell."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is tuple and parts[-1] is not Ellipsis:
        return f"a list of {len(parts)} ({_words(parts[0])} each)"
    if origin in (tuple, Iterable):
        return f"a list ({_words(parts[0])} each)"
    return "a table" if origin is dict or is_dataclass(kind) else WORDS.get(kind, "")


def _near(name: str, known: Iterable[str]) -> str:
    """Return the end of a sentence about an unknown name: the known one that it looks like."""
    near = get_close_matches(name, known, 1)
    return f"; did you mean '{near[0]}'?" if near else "."
