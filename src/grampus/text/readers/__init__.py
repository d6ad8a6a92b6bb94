"""Readers: from files, folders, archives, databases and streams to a corpus."""

from . import archive, csv, duckdb, folder, html, json, lines, mail, markup, office, parquet, pdf, rtf, sheets, sqlite
from .registry import READERS, register_reader

# Of readers with the same magic, the archive comes first: it looks for documents in itself.
_MODULES = (
    folder, csv, json, lines, markup, html, mail, archive, office, sheets, rtf, pdf, sqlite, parquet, duckdb,
)  # fmt: skip
for _module in _MODULES:
    for _reader in _module.FORMATS:
        register_reader(_reader)

__all__ = ["READERS", "register_reader"]
