"""A sentence or title that is typical of a cluster."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from .reading import is_address, split_head

SHARED = 2  # texts with the same sentence; one of more is part of a form
SHORTEST, LONGEST = 25, 140  # characters of a sentence
READ = 4000  # characters of a text to search
_PARAGRAPH = re.compile(r"\n\s*\n|\n(?=[ \t>*•-])")
_SENTENCE = re.compile(r"(?<=[.!?])[\"'”»)]*\s+(?=[^\W\d_]|[\"'“«(\d])|(?<=[。！？])")
_END = re.compile(r"[.!?。！？][\"'”»)]*$")
_WORD = re.compile(r"[^\W_]+")


class Quotable(NamedTuple):
    """A title or sentence: where it is from, whether others have it, and the stems of its words."""

    rank: int
    is_sentence: bool
    text: str
    shared: bool
    stems: frozenset[str]


def quotable(texts: Sequence[str], stem: Callable[[str], str], titles: Sequence[str] = ()) -> list[Quotable]:
    """Return the titles and sentences of some texts that one typical of them is chosen from.

    Parameters
    ----------
    texts : sequence of str
        Central documents of a cluster, the most central first.
    stem : callable
        Maps a word in lower case to its stem.
    titles : sequence of str
        Titles of the same documents, if they have any.

    Examples
    --------
    >>> from grampus.describe.sentences import quotable
    >>> [one.text for one in quotable(["The blue whale sang to its calf."], str, ["Whales of the sea"])]
    ['Whales of the sea', 'The blue whale sang to its calf.']
    """
    options: list[tuple[int, bool, str]] = []
    for rank, text in enumerate(texts):
        title = " ".join(titles[rank].split()) if rank < len(titles) else ""
        options += [(rank, False, title)] if title else []
        options += [(rank, True, sentence) for sentence in sentences(text)]
    times = Counter(option for _, _, option in options)
    return [
        Quotable(rank, kind, text, times[text] > SHARED, frozenset(stem(word) for word in _WORD.findall(text.lower())))
        for rank, kind, text in options
        if SHORTEST // (2 - kind) <= len(text) <= LONGEST
    ]


def most_typical(options: Sequence[Quotable], stems: Sequence[str]) -> str:
    """Return the title or sentence that holds most of the given stems, of the words of a name; '' if none holds any.

    Those that more than two of the texts share come last. Titles come before sentences, and earlier texts before later
    ones.

    Examples
    --------
    >>> from grampus.describe.sentences import most_typical, quotable
    >>> most_typical(quotable(["The blue whale sang to its calf. It was late, and nobody heard it."], str), ["heard"])
    'It was late, and nobody heard it.'
    """
    wanted = frozenset(stems)
    ranked = [
        (one.shared, -len(wanted & one.stems), one.is_sentence, one.rank, one.text)
        for one in options
        if wanted & one.stems
    ]
    return min(ranked)[-1] if ranked else ""


def sentences(text: str) -> list[str]:
    r"""Return the complete sentences of a text, without headers and addresses; the first line counts as one.

    Examples
    --------
    >>> from grampus.describe.sentences import sentences
    >>> sentences("A title\n\nThe whale sang. See http://x.org. and then")
    ['A title', 'The whale sang.']
    """
    body = split_head(text[:READ], len(text) > READ)[1].strip()
    first = body.split("\n", 1)[0].strip()
    is_title = first and len(_SENTENCE.split(first)) == 1 and not any(map(is_address, first.split()))
    complete = [first] if is_title else []
    for paragraph in _PARAGRAPH.split(body):
        for sentence in _SENTENCE.split(" ".join(paragraph.split())):
            begins = sentence[:1].isupper() or (sentence[:1].isalpha() and not sentence[:1].islower())
            whole = begins and _END.search(sentence) and not any(map(is_address, sentence.split()))
            if whole and sentence not in complete:
                complete.append(sentence)
    return complete
