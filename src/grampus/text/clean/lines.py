"""Lines that many documents share: licences, navigation, disclaimers, forms."""

import re
from collections import Counter
from collections.abc import Iterable
from zlib import crc32

SHARE = 0.2  # of the documents that have a line
LEAST = 10  # documents
_READ = 2500  # documents at least, of a larger collection
_WORDS = re.compile(r"[^\W\d_]+")


def counts_lines(text: str, n: int) -> bool:
    """Return whether a text is among those of n whose lines are counted: all of up to 5,000, else some by content."""
    if "\n" not in text:
        return False
    step = n // _READ
    return step < 2 or crc32(text.encode("utf-8", "surrogatepass")) % step == 0


def shared_lines(texts: Iterable[str]) -> frozenset[str]:
    r"""Return the lines of two words or more that a fifth of the different texts have, and at least ten.

    First lines are titles and subjects: they are not counted.

    Examples
    --------
    >>> from grampus.text.clean.lines import shared_lines
    >>> sorted(shared_lines(f"whale {n}\nAll rights reserved." for n in range(12)))
    ['All rights reserved.']
    """
    counts: Counter[str] = Counter()
    read = 0
    for text in set(texts):
        read += 1
        if "\n" in text:
            counts.update({line.strip() for line in text.lstrip().split("\n")[1:]})
    least = max(LEAST, SHARE * read)
    return frozenset(line for line, count in counts.items() if count >= least and len(_WORDS.findall(line)) > 1)


def drop_lines(text: str, shared: frozenset[str], dropped: list[str]) -> str:
    """Drop the lines of a set, except a first line."""
    first, *lines = text.lstrip().split("\n")
    kept = [line for line in lines if line.strip() not in shared]
    if len(kept) == len(lines):
        return text
    dropped.extend(line.strip() for line in lines if line.strip() in shared)
    return "\n".join([first, *kept])
