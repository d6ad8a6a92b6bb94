"""What is spelled ``name(parameters)``: kernels and transforms."""

import math
from dataclasses import MISSING, fields
from typing import Any, ClassVar


class Spelled:
    """Base of everything spelled ``name(parameters)``; subclasses are frozen dataclasses."""

    name: ClassVar[str]
    words: ClassVar[str] = ""
    """One-line description for ``grampus inspect --kernel``; if empty, the docstring's first line is used."""
    formula: ClassVar[str] = ""
    """The formula for ``grampus inspect --kernel``."""

    def __str__(self) -> str:
        written = []
        positional = True  # until a parameter is omitted, the next one needs no name
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if field.default is not MISSING and value == field.default:
                positional = False
                continue
            positional = positional and not field.kw_only
            written.append(spell(value) if positional else f"{field.name}={spell(value)}")
        return f"{self.name}({', '.join(written)})" if written else self.name

    def _set(self, **values: Any) -> None:
        """Store checked parameters on a frozen dataclass; for use in ``__post_init__``."""
        for name, value in values.items():
            object.__setattr__(self, name, value)


def spell(value: Any) -> str:
    """Return a parameter as it is written: whole numbers without a point."""
    if isinstance(value, float) and math.isfinite(value) and value.is_integer() and abs(value) < 1e16:
        return str(int(value))
    return repr(value) if isinstance(value, float) else str(value)
