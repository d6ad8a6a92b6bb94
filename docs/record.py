"""Write docs/commands.md, the help of every command: ``python -m docs.record``. A test compares it."""

from __future__ import annotations

import re
from pathlib import Path

COMMANDS = Path(__file__).parent / "commands.md"
REFERENCE = """# Command reference

The help of every command, as `grampus COMMAND --help` prints it. [The command](guide/command.md) tells what they do
and what their output means. In brackets stands what an option is when it is not given. `python -m docs.record` made
this page, and a test holds it.
"""


def reference() -> str:
    """Return the page of all commands with their help."""
    from click.testing import CliRunner

    from grampus.cli import grampus

    def help_of(*words: str) -> str:
        found = CliRunner().invoke(grampus, [*words, "--help"], prog_name="grampus", terminal_width=88)
        assert found.exit_code == 0
        return "\n".join(line.rstrip() for line in found.output.splitlines())

    parts = [REFERENCE, f"```\n{help_of()}\n```\n"]
    for name, command in grampus.commands.items():
        below = getattr(command, "commands", {})
        parts += [f"## {' '.join(words)}\n\n```\n{help_of(*words)}\n```\n"
                  for words in [(name,), *((name, each) for each in below)]]  # fmt: skip
    return "\n".join(parts)


def steady(text: str) -> str:
    """Leave out what differs from run to run and from release to release of SciPy: times and its version."""
    return re.sub(r"\d+\.\d s\b|SciPy \d\S*", "", text)


if __name__ == "__main__":
    COMMANDS.write_text(reference(), encoding="utf-8")
