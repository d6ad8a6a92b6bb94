"""The steps of a reproduction: each is computed once, kept, and found again when a run goes on."""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
STORE = ROOT / ".reproduce"
SEED = 0


def key_of(root: Path = ROOT) -> str:
    """Return a hash of the sources that the results rest on: the package, the reproductions and the plain loops."""
    digest = hashlib.sha256()
    for folder in ("src", "reproductions", "benchmarks/sides"):
        for file in sorted((root / folder).rglob("*.py")):
            digest.update(f"\0{file.relative_to(root).as_posix()}\0".encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


@dataclass
class Steps:
    """Hands out steps. A step's value must be plain JSON (numbers, texts, lists, dicts).

    `quick` asks for fewer trials and smaller sets.
    """

    name: str
    quick: bool = False
    seed: int = SEED
    store: Path = STORE
    key: str = ""
    say: Callable[[str], None] = field(default=lambda text: print(text, file=sys.stderr, flush=True))

    def trials(self, full: int, quick: int) -> int:
        """Return how many trials to run."""
        return quick if self.quick else full

    def step(self, name: str, function: Callable[[], Any]) -> Any:
        """Return the step's value, computed now or in an earlier run of the same sources that did not end."""
        place = self.store / (self.key or "unkeyed") / f"{self.name}{'-quick' if self.quick else ''}"
        path = place / f"{name.replace('/', '_')}.json"
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            start = time.perf_counter()
            value = function()
        self.say(f"  {self.name} {name}: {time.perf_counter() - start:.1f} s")
        place.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        part.write_text(json.dumps(value), encoding="utf-8")
        part.replace(path)
        return json.loads(path.read_text(encoding="utf-8"))
