"""The command ``grampus``. Nothing heavy is imported before a command runs, so that help is immediate."""

from .main import grampus, main

__all__ = ["grampus", "main"]
