"""A sentence or title that is typical of a cluster."""

import re
from collections import Counter
from collections.abc import Callable, Sequence

from .reading import is_address, split_head

SHARED = 2  # texts with the same sentence; one of more is part of a form
SHORTEST, LONGEST = 25, 140  # characters of a sentence
READ = 4000  # characters of a text to search
_PARAGRAPH = re.compile(r"\n\s*\n|\n(?=[ \t>*•-])")
_SENTENCE = re.compile(r"(?<=[.!?])[\"'”»)]*\s+(?=[^\W\d_]|[\"'“«(\d])|(?<=[。！？])")
_END = re.compile(r"[.!?。！？][\"'”»)]*$")
_WORD = re.compile(r"[^\W_]+")


def typical_sentence(
    texts: Sequence[str], stems: Sequence[str], stem: Callable[[str], str], titles: Sequence[str] = ()
) -> str:
    """Return the title or sentence of some texts that holds most of the given stems; '' if none holds any.

    Those that more than two of the texts share come last. Titles come before sentences, earlier texts before later
    ones, and complete sentences of 25 to 140 characters before beginnings of texts.

    Parameters
    ----------
    texts : sequence of str
        Central documents of a cluster, the most central first.
    stems : sequence of str
        Stems of the words of its name.
    stem : callable
        Maps a word in lower case to its stem.
    titles : sequence of str
        Titles of the same documents, if they have any.

    Examples
    --------
    >>> from grampus.describe.sentences import typical_sentence
    >>> text = "It was late. The blue whale sang to its calf. Nobody heard it."
    >>> typical_sentence([text], ["whale", "calf"], str)
    'The blue whale sang to its calf.'
    """
    wanted = set(stems)
    ranked: list[tuple[bool, int, int, int, str]] = []
    options: list[tuple[int, int, str]] = []
    for rank, text in enumerate(texts):
        title = " ".join(titles[rank].split()) if rank < len(titles) else ""
        options += [(rank, 0, title)] if title else []
        options += [(rank, 1, sentence) for sentence in sentences(text)]
    times = Counter(option for _, _, option in options)
    for rank, kind, option in options:
        held = len(wanted & {stem(word) for word in _WORD.findall(option.lower())})
        if held and SHORTEST // (2 - kind) <= len(option) <= LONGEST:
            ranked.append((times[option] > SHARED, -held, kind, rank, option))
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
