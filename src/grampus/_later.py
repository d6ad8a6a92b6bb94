"""Modules imported when something in them is first used: `import grampus` takes no time, the command little."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from threading import Lock
from types import ModuleType
from typing import Any

# What scikit-learn, SciPy, joblib and what asks language models import, and a command hardly ever uses.
SELDOM = (
    "asyncio", "http.client", "numpy.f2py", "numpy.polynomial", "numpy.testing", "scipy.optimize",
    "scipy.spatial.transform", "scipy.stats", "ssl",
)  # fmt: skip
SPARED = ("pandas", "psutil", "rich.progress")  # used where they are there; a command loads them itself if at all


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

    ready = False

    def __getattr__(self, name: str) -> Any:
        if not self.ready or (name != "__path__" and name.startswith("__")):  # what Python asks of every module
            raise AttributeError(name)
        with _LOCK:
            _LATER.discard(self.__name__)
            if sys.modules.get(self.__name__) is self:
                del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


class _StandIns(MetaPathFinder, Loader):
    """Finds stand-ins, which Python then puts into `sys.modules` and into their packages as it does with modules."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        return ModuleSpec(name, self) if name in _LATER else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Later(spec.name)

    def exec_module(self, module: Any) -> None:
        module.ready = True


_LATER, _LOCK = set[str](), Lock()


def load_later(*names: str) -> None:
    """Let modules that others import, but seldom use, be loaded when they are used.

    For a process of one's own, the command: scikit-learn imports SciPy's statistics, half a second, for a function that
    clustering never calls.
    """
    if not any(isinstance(one, _StandIns) for one in sys.meta_path):
        sys.meta_path.insert(0, _StandIns())
    _LATER.update(name for name in names if name not in sys.modules)


@contextmanager
def hidden(*names: str) -> Iterator[None]:
    """Let what is imported inside the block do without some modules, unless they are loaded already.

    For the command, too: scikit-learn loads pandas where there is one, 0.3 s, and needs it for data frames alone.
    """
    absent = [name for name in names if name not in sys.modules]
    sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type]  # for Python, None is a module that is not there
    try:
        yield
    finally:
        for name in absent:
            del sys.modules[name]
