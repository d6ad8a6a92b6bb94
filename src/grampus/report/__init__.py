"""The report: a run as one HTML file that explains it, can be explored, and needs no network."""

from __future__ import annotations

from .build import report_html, write_report
from .edits import Edits, read_edits

__all__ = ["Edits", "read_edits", "report_html", "write_report"]
