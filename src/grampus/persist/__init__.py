"""Runs: everything a clustering of documents found, kept in a folder that can be trusted."""

from .run import Branch, Choice, Run

__all__ = ["Branch", "Choice", "Run"]
