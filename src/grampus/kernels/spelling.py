"""The kernel language: a registry of names and a parser. Nothing is evaluated.

::

    kernel    := term ("+" term)*
    term      := factor ("*" factor)*
    factor    := weight | chain
    chain     := atom ("|" call)*
    atom      := ( call | "(" kernel ")" ) [ "@" name ]
    call      := name [ "(" [ argument ("," argument)* ] ")" ]
    argument  := [ name "=" ] ( number | word )          a word may end in "++", a number begin with a sign
"""

import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields
from difflib import get_close_matches
from functools import partial
from typing import Any, TypeVar

from ..errors import InputError, KernelSpellingError
from .base import Kernel, Transform
from .spelled import Spelled

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![A-Za-z0-9_.])"
_TOKEN = re.compile(rf"(?P<number>{_NUMBER})|(?P<name>{_NAME})|(?P<mark>[()|+*@])", re.ASCII)
_ARGUMENT = re.compile(rf"(?P<number>[+-]?{_NUMBER})|(?P<name>{_NAME}(?:\+\+)?)|(?P<mark>[()|,=])", re.ASCII)
_LONGEST, _DEEPEST = 2000, 50
_registry: dict[str, type[Spelled]] = {}
_AMERICAN = {"normalize": "normalise", "center": "centre"}  # read as well, never written
_Class = TypeVar("_Class", bound=type[Spelled])


def register(cls: _Class) -> _Class:
    """Register a kernel or transform under its ``name``; a class decorator.

    Parameters
    ----------
    cls : type
        A frozen dataclass derived from `Kernel` or `Transform`.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from grampus.kernels import Kernel, parse_kernel, register
    >>> @register
    ... @dataclass(frozen=True)
    ... class Overlap(Kernel):
    ...     name = "overlap"
    ...     def _cross(self, new, fitted):
    ...         return np.minimum(new[:, None, :], fitted[None]).sum(axis=2)
    ...     def _diagonal(self, new):
    ...         return new.sum(axis=1)
    >>> str(parse_kernel("overlap|normalise(1)"))
    'overlap|normalise(1)'
    """
    if not isinstance(cls, type) or not issubclass(cls, (Kernel, Transform)):  # type: ignore[redundant-expr]
        raise InputError(f"register takes a Kernel or Transform class; got {cls!r}.")
    name = getattr(cls, "name", None)
    if not isinstance(name, str) or not re.fullmatch(_NAME, name):
        raise InputError(f"{cls.__name__}.name must be letters, digits and underscores; got {name!r}.")
    known = _registry.get(name)
    if known is not None and (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
        raise InputError(f"The name {name!r} is taken by {known.__module__}.{known.__qualname__}; choose another.")
    _registry[name] = cls
    return cls


def known_names() -> dict[str, type[Spelled]]:
    """Return the registered kernels and transforms by name.

    Examples
    --------
    >>> from grampus.kernels import known_names
    >>> known_names()["shift"].__name__
    'Shift'
    """
    return dict(_registry)


def parse_kernel(spelling: str | Kernel) -> Kernel:
    """Parse the spelling of a kernel, such as ``"cosine|shift"``; a Kernel is returned unchanged.

    Kernels add (``+``), multiply (``*``), take a weight (``0.5 *``), transforms (``|``) and the name of an input
    (``@``), which binds tightest; then ``|``, then ``*``, then ``+``. Parentheses group.
    ``normalize`` and ``center`` are read as ``normalise`` and ``centre``.

    ``str(kernel)`` is the inverse: ``parse_kernel(str(kernel)) == kernel``.

    Parameters
    ----------
    spelling : str or Kernel
        Such as ``"cosine|shift"``.

    Raises
    ------
    KernelSpellingError
        With the position of the error and the nearest known name.

    Examples
    --------
    >>> from grampus import parse_kernel
    >>> parse_kernel("polynomial(2) | normalise(inf)")
    Piped(head=Polynomial(degree=2, coef0=1.0), tail=(Normalise(order=inf),))
    >>> str(parse_kernel("(cosine+gaussian(1)@embedding)|shift"))
    '(cosine + gaussian(1)@embedding)|shift'
    >>> parse_kernel("cosin|shift")
    Traceback (most recent call last):
    ...
    grampus.errors.KernelSpellingError: 'cosin' is not a known kernel; did you mean 'cosine'?
      cosin|shift
      ^
    """
    if isinstance(spelling, Kernel):
        return spelling
    if not isinstance(spelling, str):
        raise InputError(
            f"kernel must be a spelling such as 'cosine|shift' or a Kernel; got {type(spelling).__name__}."
        )
    return _Parser(spelling).kernel()


@dataclass(frozen=True)
class _Token:
    kind: str  # number, name, mark or end
    text: str
    position: int


class _Parser:
    """A recursive-descent parser for one spelling."""

    def __init__(self, spelling: str) -> None:
        self.spelling = " ".join(spelling.split()) if re.search(r"[^\S ]", spelling) else spelling
        if len(self.spelling) > _LONGEST:
            long = f"A spelling has at most {_LONGEST} characters; got {len(self.spelling)}."
            raise KernelSpellingError(long, self.spelling[:40] + "…", 40)
        self.tokens = list(self._tokens())
        self.next, self.depth = 0, 0

    def _tokens(self) -> Iterator[_Token]:
        text, position = self.spelling, 0
        inside, last = False, ""  # of the parentheses after a name, where signs belong to numbers
        while (position := len(text) - len(text[position:].lstrip())) < len(text):
            match = (_ARGUMENT if inside else _TOKEN).match(text, position)
            if match is None:
                raise self.error(_stranger(text[position], inside=inside), position)
            token = _Token(str(match.lastgroup), match[0], position)
            inside = (token.text == "(" and last == "name") or (inside and token.text != ")")
            yield token
            position, last = match.end(), token.kind
        yield _Token("end", "", len(text))

    def error(self, message: str, position: int) -> KernelSpellingError:
        return KernelSpellingError(message, self.spelling, position)

    def expected(self, what: str, token: _Token) -> KernelSpellingError:
        got = f"; got {token.text!r}" if token.text else ""
        return self.error(f"Expected {what}{got}.", token.position)

    def peek(self, mark: str) -> bool:
        return self.tokens[self.next].text == mark and self.tokens[self.next].kind != "end"

    def accept(self, mark: str) -> bool:
        found = self.peek(mark)
        self.next += found
        return found

    def take(self) -> _Token:
        token = self.tokens[self.next]
        self.next += token.kind != "end"
        return token

    def kernel(self) -> Kernel:
        kernel = self.sum()
        token = self.take()
        if token.kind != "end":
            raise self.error(f"Expected '|', '*', '+' or the end; got {token.text!r}.", token.position)
        return kernel

    def sum(self) -> Kernel:
        kernel = self.product()
        while self.accept("+"):
            kernel = kernel + self.product()
        return kernel

    def product(self) -> Kernel:
        """Read kernels and weights with ``*`` between them; the weights become one."""
        start, weights = self.tokens[self.next], []
        kernel: Kernel | None = None
        while True:
            token = self.tokens[self.next]
            if token.kind == "number":
                weights.append(self.take())
            else:
                kernel = self.chain() if kernel is None else kernel * self.chain()
            if not self.accept("*"):
                break
        if kernel is None:
            alone = f"{start.text} is a weight, as in '{start.text} * cosine'"
            raise self.error(f"Expected a kernel: {alone}.", start.position)
        for token in weights:
            kernel = self.checked(partial(operator.mul, kernel, _value(token)), token)
        return kernel

    def chain(self) -> Kernel:
        kernel = self.atom()
        while self.accept("|"):
            transform = self.call(Transform)
            assert isinstance(transform, Transform)
            kernel = kernel | transform
        return kernel

    def atom(self) -> Kernel:
        opened = self.tokens[self.next]
        kernel: Any = self.group(opened) if self.accept("(") else self.call(Kernel)
        if self.accept("@"):
            token = self.take()
            if token.kind != "name":
                raise self.expected("the name of an input, such as 'embedding'", token)
            kernel = self.checked(partial(kernel.at, token.text), token)
        return kernel

    def group(self, opened: _Token) -> Kernel:
        """Read what is in parentheses."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self.error(f"Parentheses may be nested {_DEEPEST} deep.", opened.position)
        kernel = self.sum()
        if not self.accept(")"):
            token = self.tokens[self.next]
            what = f"Expected '|', '*', '+' or ')'; got {token.text!r}." if token.text else "This '(' is never closed."
            raise self.error(what, token.position if token.text else opened.position)
        self.depth -= 1
        return kernel

    def checked(self, make: Callable[[], Kernel], token: _Token) -> Kernel:
        """Return what `make` returns; what it refuses is pointed at."""
        try:
            return make()
        except InputError as error:
            raise self.error(str(error), token.position) from None

    def call(self, wanted: type[Spelled]) -> Spelled:
        token = self.take()
        if token.kind != "name":
            raise self.expected("a kernel" if wanted is Kernel else "a transform", token)
        name = token.text if token.text in _registry else _AMERICAN.get(token.text, token.text)
        cls = _registry.get(name)
        if cls is None or not issubclass(cls, wanted):
            raise self.error(_unknown(name, wanted), token.position)
        arguments = self.arguments() if self.accept("(") else []
        return self.build(cls, token, arguments)

    def arguments(self) -> list[tuple[str | None, Any, _Token]]:
        values: list[tuple[str | None, Any, _Token]] = []
        if self.accept(")"):
            return values
        while True:
            token = self.take()
            name = None
            if token.kind == "name" and self.accept("="):
                name, token = token.text, self.take()
            if token.kind not in ("number", "name"):
                raise self.expected("a value", token)
            values.append((name, _value(token), token))
            if self.accept(")"):
                return values
            if not self.accept(","):
                token = self.tokens[self.next]
                raise self.error("Expected ',' or ')'.", token.position)

    def build(self, cls: type[Spelled], call: _Token, arguments: list[tuple[str | None, Any, _Token]]) -> Spelled:
        parameters = fields(cls)  # type: ignore[arg-type]
        names = [field.name for field in parameters]
        free = [field.name for field in parameters if not field.kw_only]
        values: dict[str, Any] = {}
        places: dict[str, int] = {}
        for i, (written, value, token) in enumerate(arguments):
            name = written
            if name is None:
                if places and any(other is not None for other, _, _ in arguments[:i]):
                    raise self.error("A value without a name cannot follow one with a name.", token.position)
                if i >= len(free):
                    takes = f"takes at most {len(free)} unnamed" if names else "takes no"
                    raise self.error(f"{call.text} {takes} {'value' if len(free) == 1 else 'values'}.", token.position)
                name = free[i]
            elif name not in names:
                raise self.error(f"{call.text} has no parameter {name!r}{_nearest(name, names)}", token.position)
            if name in values:
                raise self.error(f"{name} is given twice.", token.position)
            values[name], places[name] = value, token.position
        for field in parameters:
            if field.name not in values and field.default is MISSING:
                raise self.error(f"{call.text} needs {field.name}: write {call.text}(…).", call.position)
        try:
            return cls(**values)
        except InputError as error:
            message = str(error)
            place = next((position for name, position in places.items() if message.startswith(name)), call.position)
            prefix = "" if message.startswith(call.text) else f"{call.text}: "
            raise self.error(prefix + message, place) from None


def _stranger(character: str, *, inside: bool) -> str:
    """Say why a character does not belong."""
    if character == "-" and not inside:
        return "'-' does not belong in a kernel's spelling: kernels are added with weights greater than 0."
    return f"{character!r} does not belong in a kernel's spelling."


def _value(token: _Token) -> Any:
    if token.kind == "name":
        return float(token.text) if token.text in ("inf", "nan") else token.text
    return float(token.text) if re.search(r"[.eE]", token.text) else int(token.text)


def _nearest(name: str, names: list[str]) -> str:
    close = get_close_matches(name.lower(), names, n=1, cutoff=0.5)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; it has {', '.join(names)}." if names else "; it has none."


def _unknown(name: str, wanted: type[Spelled]) -> str:
    cls = _registry.get(name)
    if cls is not None and wanted is Kernel:
        return f"{name!r} is a transform and must follow a kernel, as in 'cosine|{name}'."
    if cls is not None:
        return (
            f"{name!r} is a kernel and can only stand first; what follows '|' must be a transform such as 'shift'. "
            "Kernels are combined by '+' and '*'."
        )
    what = "kernel" if wanted is Kernel else "transform"
    names = [known for known, cls in _registry.items() if issubclass(cls, wanted)]
    return f"{name!r} is not a known {what}" + _nearest(name, names).replace("it has", "known are")
