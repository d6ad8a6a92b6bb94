"""Modules imported when something in them is first used: `import grampus` takes no time, the command little."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any


def loaded_later(
    package: str, modules: Mapping[str, Sequence[str]], public: Sequence[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and ``__dir__`` of a package.

    `modules` holds its names by module, `public` the modules that are names themselves.
    """

    def get(name: str) -> Any:
        if name in public:
            return import_module(f"{package}.{name}")
        for module, names in modules.items():
            if name in names:
                return getattr(import_module(f"{package}.{module}"), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def names() -> list[str]:
        return sorted({*sys.modules[package].__all__, *public})

    return get, names


class _Later(ModuleType):
    """Stands for a module until something in it is asked for."""

    def __getattr__(self, name: str) -> Any:
        if name != "__path__" and name.startswith("__"):  # what Python asks of every module that it imports
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


def load_later(*names: str) -> None:
    """Let modules that others import, but seldom use, be loaded when they are used.

    For a process of one's own, the command: scikit-learn imports SciPy's statistics, half a second, for a function that
    clustering never calls.
    """
    for name in names:
        sys.modules.setdefault(name, _Later(name))


@contextmanager
def hidden(name: str) -> Iterator[None]:
    """Let what is imported inside the block do without a module, unless that is loaded already.

    For the command, too: scikit-learn loads pandas where there is one, 0.3 s, and needs it for data frames alone.
    """
    if name in sys.modules:
        yield
        return
    sys.modules[name] = None  # type: ignore[assignment]  # for Python, a module that is not there
    try:
        yield
    finally:
        del sys.modules[name]
