"""``completion``: a script that completes commands and options in a shell."""

from __future__ import annotations

from dataclasses import dataclass

import click

from .command import argument, command


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of ``completion``."""

    shell: str = argument(type=click.Choice(["bash", "zsh", "fish"]))


@command(Options, "completion", "Print a completion script for a shell.")
def completion(options: Options) -> None:
    """Print a completion script for SHELL.

    \b
    Example:
      grampus completion bash
    To use it:
      grampus completion bash > ~/.grampus-complete.bash
      echo '. ~/.grampus-complete.bash' >> ~/.bashrc
    """
    from click.shell_completion import get_completion_class

    found = get_completion_class(options.shell)
    assert found is not None
    root = click.get_current_context().find_root().command
    click.echo(found(root, {}, "grampus", "_GRAMPUS_COMPLETE").source())
