"""The report: a run as one HTML file that explains it and that can be explored offline."""

from .build import report_html, write_report
from .edits import read_edits

__all__ = ["read_edits", "report_html", "write_report"]
