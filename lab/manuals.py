"""Texts from Debian: manual pages in many languages, messages, descriptions of packages, documentation in HTML.

``GRAMPUS_MANUALS`` names a folder with ``de/man1/…``, ``ja/man2/…`` and, for English, ``man1/…``. ``apt-get download
manpages-de manpages-de-dev …`` and ``dpkg-deb -x FILE FOLDER`` make it, as ``FOLDER/usr/share/man``.
``GRAMPUS_MESSAGES`` names a folder with ``de/LC_MESSAGES/vlc.mo``, ``ja/…``: ``FOLDER/usr/share/locale`` of the package
``vlc-l10n``. ``GRAMPUS_HTML`` names a folder of HTML pages: ``FOLDER/usr/share/doc/python3.11-doc/html`` of the package
``python3.11-doc``.
"""

import gettext
import gzip
import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from grampus.text.clean.markup import drop_troff
from lab.data import MissingDataError

LANGUAGES = {"pt_BR": "pt", "zh_CN": "zh", "nb": "no"}  # folders that are not called after their language
SHORTEST = 300  # characters without requests; shorter ones refer to another page
SENTENCE = 60  # characters of a message, at least
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


@cache
def messages(language: str) -> tuple[str, ...]:
    """Return the messages of VLC in a language, such as "zh_TW", whose English has the length of a sentence."""
    root = Path(os.environ.get("GRAMPUS_MESSAGES", ""), "de" if language == "en" else language, "LC_MESSAGES", "vlc.mo")
    if not root.is_file():
        raise MissingDataError(f"this measurement needs messages; GRAMPUS_MESSAGES names no folder.\n\n{__doc__}")
    with root.open("rb") as file:
        catalogue: dict[Any, str] = vars(gettext.GNUTranslations(file))["_catalog"]
    told = {
        english: text for english, text in catalogue.items() if isinstance(english, str) and len(english) >= SENTENCE
    }
    found = told if language == "en" else {text for english, text in told.items() if text != english}
    return tuple(sorted(found))


@cache
def descriptions() -> tuple[str, ...]:
    """Return the different descriptions of packages that ``apt-cache dumpavail`` prints, in its order."""
    if shutil.which("apt-cache") is None:
        raise MissingDataError("this measurement needs apt-cache, which is part of Debian.")
    printed = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"^Description(?:-en)?: (.*(?:\n .*)*)", printed, re.MULTILINE)
    return tuple(dict.fromkeys(re.sub(r"\n \.?", "\n", text) for text in found))


@cache
def documentation() -> tuple[Path, ...]:
    """Return the HTML pages of a folder, those of a kilobyte or more."""
    root = os.environ.get("GRAMPUS_HTML")
    if not root or not Path(root).is_dir():
        raise MissingDataError(f"this measurement needs HTML pages; GRAMPUS_HTML names no folder.\n\n{__doc__}")
    return tuple(file for file in sorted(Path(root).rglob("*.html")) if file.stat().st_size >= 1000)
