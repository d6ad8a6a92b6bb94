"""Manual pages of Debian's packages ``manpages-*`` as corpora in many languages.

``GRAMPUS_MANUALS`` names a folder with ``de/man1/…``, ``ja/man2/…`` and, for English, ``man1/…``. ``apt-get download
manpages-de manpages-de-dev …`` and ``dpkg-deb -x FILE FOLDER`` make it, as ``FOLDER/usr/share/man``.
"""

from __future__ import annotations

import gzip
import os
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from grampus.text.clean.markup import drop_troff
from lab.data import MissingDataError

LANGUAGES = {"pt_BR": "pt", "zh_CN": "zh", "nb": "no"}  # folders that are not called after their language
SHORTEST = 300  # characters without requests; shorter ones refer to another page
# Pages that nobody finished are in English for the most part.
ENGLISH = frozenset(("the", "of", "and", "is", "to", "that", "with"))
MOST_ENGLISH = 0.02


class Page(NamedTuple):
    """A manual page: its path, language, section and source."""

    name: str
    language: str
    section: str
    text: str


@cache
def pages(language: str) -> tuple[Page, ...]:
    """Return the translated pages of a language, without links and without those mostly in English."""
    root = os.environ.get("GRAMPUS_MANUALS")
    if not root or not Path(root).is_dir():
        raise MissingDataError(f"this measurement needs manual pages; GRAMPUS_MANUALS names no folder.\n\n{__doc__}")
    folder = next((name for name, code in LANGUAGES.items() if code == language), language)
    top = Path(root) if language == "en" else Path(root) / folder
    found, seen = [], set()
    for file in sorted(top.glob("man*/*.gz")):
        try:
            text = gzip.decompress(file.read_bytes()).decode("utf-8")
        except (UnicodeDecodeError, OSError):
            continue
        plain = drop_troff(text, [])
        words = re.findall(r"[^\W\d_]{2,}", plain.lower())
        english = sum(word in ENGLISH for word in words) / max(len(words), 1)
        if len(plain) >= SHORTEST and plain not in seen and (language == "en" or english <= MOST_ENGLISH):
            seen.add(plain)
            found.append(Page(str(file.relative_to(root)), language, file.parent.name, text))
    return tuple(found)
