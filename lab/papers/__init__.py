"""The five papers: what makes each of their tables and figures, with the published values next to ours."""

import tomllib
from functools import partial
from pathlib import Path
from typing import Any

from lab.harness import row

paper = partial(row, "papers")
PUBLISHED: dict[str, Any] = tomllib.loads((Path(__file__).parent / "published.toml").read_text(encoding="utf-8"))
