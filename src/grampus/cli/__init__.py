"""The command ``grampus``. Nothing heavy is imported before a command runs, so that help is immediate."""

from __future__ import annotations

import sys

import click

from .._version import __version__
from ..errors import GrampusError

__all__ = ["main"]


class _Group(click.Group):
    """A group whose commands answer bad input with one line, never with a stack trace."""

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; turn our own errors into a message and exit status 1."""
        try:
            return super().invoke(ctx)
        except GrampusError as error:
            raise click.ClickException(str(error)) from error


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="grampus")
def main() -> None:
    """Cluster documents through their Gram matrix."""


@main.command()
@click.option(
    "-k", "--clusters", type=click.IntRange(min=1), help="Number of clusters; SciPy's subpackages by default."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random starts.")
def demo(clusters: int | None, seed: int) -> None:
    """Cluster the documentation of SciPy and compare with its subpackages.

    Example: grampus demo --seed 1
    """
    from .demo import show

    show(clusters, seed, sys.stdout)
