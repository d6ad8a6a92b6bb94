"""Words and phrases that may be part of a name, and when two of them say the same."""

import re
from functools import lru_cache
from typing import NamedTuple

LINKS = frozenset(("of", "and", "for", "de", "du", "des", "und", "von", "di", "del", "y"))  # inside a phrase
COVERED = 0.3  # power of the share of a group's documents that contain its title
SAME = 4  # letters at the beginning that two forms of one word share
SPECIFIC = 0.1  # of a group's documents: what fewer contain is a part of what the group is about


class Candidate(NamedTuple):
    """A word or phrase that may be part of a name.

    Attributes
    ----------
    score : float
        How telling it is; later also by how near its meaning is to that of the group.
    text : str
        As it is written.
    stems : tuple of str
    share : float
        Of the documents of the group that were read, those that contain it.
    times : int
        How often it was read in the group.
    near : float
        How near its meaning is to that of the group, up to 1.
    leads : float
        How often another word of the same phrase follows it, as one does an adjective; 1 for a participle.
    acts : float
        How often it begins like a verb.
    """

    score: float
    text: str
    stems: tuple[str, ...]
    share: float = 1.0
    times: int = 0
    near: float = 1.0
    leads: float = 0.0
    acts: float = 0.0

    @property
    def as_title(self) -> float:
        """The score as a title: meaning counts twice, most documents should contain it, and it should stand alone."""
        covers = self.share**COVERED * min(self.share / SPECIFIC, 1.0)
        is_noun = (1.0 - max(self.leads - 0.5, 0.0)) * (1.0 - self.acts)
        return self.score * self.near * covers * is_noun


def repeats(one: Candidate, other: Candidate) -> bool:
    """Return whether two candidates share a word, or two forms of one; all links are one, as are "de" and "des"."""
    given = (one.stems, one.text), (other.stems, other.text)
    if _beginnings(*given[0]).isdisjoint(_beginnings(*given[1])):
        return False
    return any(same_word(a, b) for a in _pieces(*given[0]) for b in _pieces(*given[1]))


@lru_cache(maxsize=2**14)
def _beginnings(stems: tuple[str, ...], text: str) -> frozenset[str]:
    """Return the first letters of every piece: two forms of one word have the same."""
    return frozenset(piece[:SAME] for piece in _pieces(stems, text))


@lru_cache(maxsize=2**14)
def _pieces(stems: tuple[str, ...], text: str) -> tuple[str, ...]:
    parts, whole = re.findall(r"[^\W_]+", text.lower()), text.lower().replace("-", "").split(" ")
    return tuple(dict.fromkeys("of" if piece in LINKS else piece for piece in (*stems, *parts, *whole)))


@lru_cache(maxsize=2**16)
def same_word(one: str, other: str) -> bool:
    """Return whether two words look like forms of one: equal but for at most three letters at the end.

    Examples
    --------
    >>> from grampus.describe.candidates import same_word
    >>> same_word("israel", "israeli"), same_word("medicine", "medical"), same_word("card", "care")
    (True, True, False)
    """
    if one[:SAME] != other[:SAME] or not (one.isalpha() and other.isalpha()):
        return one == other
    common = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    longer = max(len(one), len(other))
    if common == longer:
        return True
    whole = common == min(len(one), len(other))
    return longer - common <= (4 if whole else 3) and common >= (4 if whole else 5)
