"""Topics that are expected: each a name, with words, examples, documents or a sentence that says what it is about."""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from ..._files import open_regular
from ...describe.namer import wrong_name
from ...errors import InputError

LARGEST_FILE = 200_000_000
PARTS = ("words", "documents", "examples")  # lists of a topic, besides its description
COLUMNS = ("name", "words", "examples", "description")  # of a file


@dataclass(frozen=True)
class Topic:
    """What is known about a topic.

    Attributes
    ----------
    name : str
    words : tuple of str
    documents : tuple
        Documents of the collection, by id or position.
    examples : tuple of str
        Texts, in the collection or not.
    description : str
    """

    name: str
    words: tuple[str, ...] = ()
    documents: tuple[Any, ...] = ()
    examples: tuple[str, ...] = ()
    description: str = ""

    @property
    def texts(self) -> tuple[str, ...]:
        """What stands for the topic: its name with its words, its description, and its examples."""
        return tuple(filter(None, (", ".join([self.name, *self.words]), self.description, *self.examples)))


def topics_of(given: Any) -> tuple[Topic, ...]:
    """Return topics: from names to words or parts, or a list of names.

    Examples
    --------
    >>> from grampus.documents.given.topics import topics_of
    >>> [topic.words for topic in topics_of({"Flags": ["flag"], "Climate": [], "Courts": {"words": ["judge"]}})]
    [('flag',), (), ('judge',)]
    """
    if given is None:
        return ()
    named = given if isinstance(given, Mapping) else dict.fromkeys(_names(given), ())
    return tuple(_topic(name, parts) for name, parts in named.items())


def _names(given: Any) -> list[Any]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(f"topics must be a mapping from names to words, or a list of names; got {given!r}.")
    return list(given)


def _topic(name: Any, given: Any) -> Topic:
    if wrong := wrong_name(name):
        raise InputError(f"topics must have names of one line of 1 to 80 characters; {name!r}: {wrong}.")
    parts: dict[str, Any] = dict(given) if isinstance(given, Mapping) else {"words": () if given is None else given}
    described = parts.pop("description", "")
    lists = all(isinstance(part, Sequence) and not isinstance(part, str) for part in parts.values())
    texts = isinstance(described, str) and lists
    texts = texts and all(isinstance(one, str) for part in ("words", "examples") for one in parts.get(part, ()))
    if {*parts} - {*PARTS} or not texts:
        raise InputError(
            "topics must be lists of words, or have 'words', 'documents' and 'examples' that are lists, and a "
            f"'description'; that of {name!r} is not."
        )
    words, documents, examples = (tuple(parts.get(part, ())) for part in PARTS)
    return Topic(name.strip(), words, documents, examples, str(described).strip())


# -- files


def read_topics(given: str) -> dict[str, Any]:
    """Return the topics of a file, or of a line of names such as ``"Flags, Climate, Courts"``.

    A file is JSON, or has a topic in each line: its name; words; examples; a description. Words are separated by
    commas, examples by bars. A first line that begins with ``name`` tells the columns apart, in any order, with
    semicolons, commas or tabs between them.

    Examples
    --------
    >>> from grampus.documents.given.topics import read_topics
    >>> read_topics("Flags, Climate")
    {'Flags': {}, 'Climate': {}}
    """
    if not Path(given).is_file():
        if Path(given).suffix.lower() in (".json", ".txt", ".csv", ".tsv"):
            raise InputError(f"{given} cannot be read: there is no such file.")
        found: Any = {name.strip(): {} for name in given.split(",") if name.strip()}
    else:
        text = read_text(given)
        as_json = Path(given).suffix.lower() == ".json" or text.lstrip()[:1] in ("{", "[")
        found = parse_json(text, given) if as_json else dict(_lines(text))
    if not found or not isinstance(found, dict | list):
        such = '{"Flags": ["flag", "star"]}'
        raise InputError(f'{given} must name topics: "Flags, Climate", or a file such as {such}.')
    topics_of(found)
    return found if isinstance(found, dict) else {name: {} for name in found}


def _lines(text: str) -> Iterable[tuple[str, dict[str, Any]]]:
    """Yield the topics of lines."""
    lines = [line for line in text.splitlines() if line.strip()]
    first, between, columns = lines[0].lower() if lines else "", ";" if "\t" not in text else "\t", [*COLUMNS]
    if first.startswith("name"):
        between = max(";,\t", key=first.count)
        columns, lines = [part.strip() for part in first.split(between)], lines[1:]
    for row in csv.reader(io.StringIO("\n".join(lines)), delimiter=between, skipinitialspace=True):
        cells = {column: cell.strip() for column, cell in zip(columns, row, strict=False)}
        signs = (("words", ","), ("examples", "|"))
        lists = {part: [one.strip() for one in cells.get(part, "").split(sign) if one.strip()] for part, sign in signs}
        yield cells.get("name", ""), lists | {"description": cells.get("description", "")}


def read_text(path: str | PathLike[str]) -> str:
    """Return the text of a file."""
    try:
        with open_regular(Path(path), LARGEST_FILE) as stream:
            return stream.read().decode("utf-8-sig")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise InputError(f"{path} cannot be read: {reason}.") from None


def parse_json(text: str, path: str | PathLike[str]) -> Any:
    """Return what a JSON text holds; `path` is where it comes from."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise InputError(f"{path} cannot be read: it is not JSON.") from None
