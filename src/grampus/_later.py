"""Names of a package whose modules are imported when the names are first used: `import grampus` takes no time."""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
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
