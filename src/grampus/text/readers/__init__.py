"""Readers: from files, folders, databases and streams to a corpus."""

from . import csv, duckdb, folder, html, json, lines, mail, markup, parquet, sqlite
from .registry import READERS, register_reader

for _module in (folder, csv, json, lines, markup, html, mail, sqlite, parquet, duckdb):
    for _reader in _module.FORMATS:
        register_reader(_reader)

__all__ = ["READERS", "register_reader"]
