"""Read texts word by word: as written, with the ends of sentences and lines, and apart from headers and addresses."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .._native.words import Chunks

Integers = NDArray[np.int32]
Segmenter = Callable[[str], Sequence[str]]

LONGEST = 3000  # characters of a text to read
SHARED = 5  # texts with the same line: a form, a licence, a quotation
HEADING = 0.05  # share of the texts that have a heading of their genre
_END = 20  # characters of a line that can be shared; lines with the same end are the same
_LONG_CHUNK = 60  # characters without a blank: encoded, or written without blanks
BREAK, STOP, HIDE = -1, -2, -3  # codes between words: punctuation, end of a sentence or line, the next word is hidden

_LINE = "\v"  # stands for the end of a line; a blank in texts
_BLANKS = str.maketrans({**dict.fromkeys("\t\v\f\xa0\u3000", " "), **dict.fromkeys("\r\x85\u2028\u2029", "\n")})
_WORD = re.compile(r"(?:[A-Z]\.){2,}|[^\W_]+(?:[-\u2010\u2011'’][^\W_]+)*(?:\+\+|#)?")
_PART = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile(r"['’]s$", re.IGNORECASE)
_SIGNS = tuple(",.:!?")  # after these even "void" is a word
# One word, or a short one with digits, among signs of which no address consists: of ASCII, a plain one of `Chunks`.
_FOREIGN, _ASCII_ENDS = "@/\\&#;=%+", '.!?:;|>*"()[]{}'
_SINGLE = re.compile(rf"([^\w{re.escape(_FOREIGN)}]*)([^\W\d_]+|[^\W_]{{1,7}})([^\w{re.escape(_FOREIGN)}]*)")
_ENDS = re.compile(f"[…。！？：；“”«»{re.escape(_ASCII_ENDS)}]")
# Addresses, paths, names of hosts and files, character references, encoded data, identifiers such as a_b.
_ADDRESS = re.compile(
    r"""[^\W_]@[^\W_] | :// | ^[("'<\[]*www\. | ^[("'<\[]*[~.]*/ | /[^/]*[^/\W][^/]*/ | \\\w | ^[("'<\[]*[a-z]:\\
    | [^\W_]{2}\.[^\W\d_]{2,} | [^\W_]\.[^\W\d_]{2,}\. | &\#?\w+; | \#\d+; | (?:quot|amp|nbsp|[lg]t);
    | [=%]\w\w[=%] | _\w*_ | [^\W_]\\?_[^\W_]
    | ^\W*[0-9a-fA-F]*[0-9][0-9a-fA-F]{7,}\W*$""",
    re.VERBOSE,
)
# Words of programs: identifiers such as setUpModule, and what no other text has.
_KEYWORDS = """def elif endif ifdef ifndef sizeof typedef struct args kargs wargs kwargs argv argc isinstance printf
fprintf sprintf fsprintf nullptr const char int void unsigned"""
_CODE = re.compile("|".join([r"[a-z]{2,}[A-Z][a-z]\w*", *_KEYWORDS.split()]))
_UNUSUAL = frozenset(["www", *_KEYWORDS.split()])
_ADDRESSED = frozenset("@/\\.&#;=%_:0123456789")  # every address has one of these
_HEAD = re.compile(r"(?:[A-Za-z][A-Za-z0-9-]*:(?:[ \t].*)?\n(?:[ \t]+\S.*\n)*){2,}")
# Lines that say who is quoted, made a change or has the rights, and those of a program that say what else it uses.
_ASIDE = re.compile(
    r"""(?mx)^(?:(?=.*:[ \t]*$).*\b(?:writes?|wrote|says?|said|schrieb|a\ écrit)[ \t]?:+[ \t]*$
    | [ \t]*(?:>>>[ \t]+)?(?:(?:Author|Date|Signed-off-by):.* | from[ \t]+[\w.]+[ \t]+import\b.* | \#[ \t]*include\b.*
      | import[ \t]+[\w.]+(?:;|[ \t]+as[ \t]+\w+)?[ \t]*)$
    | [^\w\n(]*(?:Copyright\b|\([cC]\)|©).*\d{4}.*$)"""
)
# Who is named before an address, of which cleaning leaves a second blank; looked for where there is such a blank.
_GAP = re.compile(r"(?m)  (?=[,.;)\n]|$|\w{3}, \d)")
_PERSON = re.compile(
    r"""(?mx)[^\W\d_a-z](?<![\w.'’-].)[\w.'’-]+[ ](?:[^\W\d_a-z][\w.'’-]+[ ]){0,2}[^\W\d_a-z][\w.'’-]+
    [ ]{2,}(?=[,.;)\n]|$|\w{3},[ ]\d)"""
)
_SIGNATURE = re.compile(r"(?m)^-- ?$")
_SIGNED = 1000  # characters of a signature at most
_SUBJECT = re.compile(r"(?im)^subject:[ \t]*(?:re:[ \t]*)*(.*)$")


@dataclass(frozen=True)
class Reading:
    """The words of some texts, in order.

    Attributes
    ----------
    words : list of str
        Distinct words with the case they have in the texts.
    word, text : arrays of shape (occurrences,)
        Number of each word that was read, and of its text.
    joined : array of shape (occurrences,)
        Whether only blanks separate it from the word before: same sentence, same line.
    inside : array of shape (occurrences,)
        Whether it is not the first word of a sentence or line.
    hidden_word, hidden_text : arrays
        The same for words in headers, addresses, file names and encoded data, and in lines that five texts share.
    """

    words: list[str]
    word: Integers
    text: Integers
    joined: NDArray[np.bool_]
    inside: NDArray[np.bool_]
    hidden_word: Integers
    hidden_text: Integers


def read_words(texts: Sequence[str], segment: Segmenter | None = None) -> Reading:
    """Read the words of texts, the first 3,000 characters of each.

    The texts are split at blanks; each distinct chunk is taken apart once, so that the time depends on the vocabulary
    more than on the length.

    Parameters
    ----------
    texts : sequence of str
    segment : callable, optional
        Splits a chunk without blanks into words, for languages that are written so.

    Examples
    --------
    >>> from grampus.describe.reading import read_words
    >>> found = read_words(["Mail joe@x.org. The blue whale sang"])
    >>> [found.words[number] for number in found.word], found.joined.tolist()
    (['Mail', 'The', 'blue', 'whale', 'sang'], [False, False, True, True, True])
    >>> [found.words[number] for number in found.hidden_word]
    ['joe', 'x', 'org']
    """
    parts = [split_head(text[: LONGEST + 1].translate(_BLANKS), len(text) > LONGEST) for text in texts]
    shared = shared_line_ends(body for _, body in parts)
    # Head and body of every text, in turn; the end of a line is a chunk of its own.
    split = [
        f"{part}\n".replace("\n", f" {_LINE} ") if part else ""
        for each in parts
        for part in _without_lines(*each, shared)
    ]
    data = [part.encode("utf-8", "replace") for part in split]
    chunks = chunks_of_texts()
    sequence, sizes = chunks.read(data)
    flat, lengths, words = chunks.codes(BREAK, STOP, lambda chunk, number: codes_of(chunk, number, segment))
    starts = np.cumsum(lengths) - lengths
    text_of = np.repeat(np.arange(len(texts), dtype=np.int32), sizes[::2] + sizes[1::2])
    in_head = np.repeat(np.arange(len(data)) % 2 == 0, sizes)
    times = lengths[sequence]
    offset = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
    code = flat[np.repeat(starts[sequence], times) + offset]
    return _arranged(words, code, np.repeat(text_of, times), np.repeat(in_head, times))


def shared_line_ends(bodies: Iterable[str]) -> frozenset[str]:
    r"""Return the last 20 characters of lines that five texts have, of texts with several lines.

    Forms begin with what differs: "`fft` has support for …". Shorter lines are headings of a genre, such as "SYNOPSIS",
    where one in twenty texts has them.

    Examples
    --------
    >>> from grampus.describe.reading import shared_line_ends
    >>> sorted(shared_line_ends(f"whale {n}\nsee below for the full list" for n in range(5)))
    ['ow for the full list']
    """
    counts: Counter[str] = Counter()
    total = 0
    for body in bodies:
        total += 1
        if "\n" in body:
            counts.update({line[-_END:] for line in body.split("\n") if line})
    often = max(SHARED, HEADING * total)
    return frozenset(line for line, count in counts.items() if count >= (SHARED if len(line) == _END else often))


def _without_lines(head: str, body: str, shared: frozenset[str]) -> tuple[str, str]:
    """Move shared lines of a text to what is hidden, unless nothing would be left."""
    lines = body.split("\n") if shared else []
    hidden = [line for line in lines if line[-_END:] in shared]
    if not hidden:
        return head, body
    rest = "\n".join(line for line in lines if line[-_END:] not in shared)
    return ("\n".join([head, *hidden]), rest) if _PART.search(rest) else (head, body)


def _arranged(words: list[str], code: Integers, text: Integers, head: NDArray[np.bool_]) -> Reading:
    """Separate words from what is between them."""
    before = np.concatenate([[STOP], code[:-1]]).astype(np.int32)
    is_word = code >= 0
    hidden = is_word & (head | (before == HIDE))
    shown = is_word & ~hidden
    last = np.maximum.accumulate(np.where(code != BREAK, np.arange(len(code)), -1))  # the last word or end of sentence
    previous = np.concatenate([[-1], last[:-1]])
    inside = shown & (code[np.maximum(previous, 0)] >= 0) & (previous >= 0)
    joined = shown & (before >= 0)
    return Reading(words, code[shown], text[shown], joined[shown], inside[shown], code[hidden], text[hidden])


def split_head(text: str, cut: bool) -> tuple[str, str]:
    """Split a text into what is about it (headers without the subject, who is quoted or used, signatures) and the rest.

    A word that was cut is dropped.
    """
    if cut:
        text = text[: max(text.rfind(" "), text.rfind("\n"), 0)] or text
    header = _HEAD.match(text)
    head = ""
    if header is not None:
        subject = _SUBJECT.search(header[0])
        head, text = header[0], (f"{subject[1]}\n" if subject else "") + text[header.end() :]
    signature = next((one.start() for one in _SIGNATURE.finditer(text, max(len(text) - _SIGNED, 0))), len(text))
    text, signed = text[:signature], text[signature:]
    asides: list[str] = []
    for pattern in (_ASIDE, _PERSON) if _GAP.search(text) else (_ASIDE,):
        if found := [match[0] for match in pattern.finditer(text)]:
            asides += found
            text = pattern.sub("", text)
    return "\n".join([head, *asides, signed]), text


def is_address(chunk: str) -> bool:
    """Return whether text without blanks is an address, path, file name or encoded data rather than words."""
    marked = not _ADDRESSED.isdisjoint(chunk) and _ADDRESS.search(chunk) is not None
    return marked or (len(chunk) > _LONG_CHUNK and chunk.isascii())


def chunks_of_texts() -> Chunks:
    """Return what numbers chunks, and knows of the plain ones what `codes_of` says."""
    return Chunks(_ASCII_ENDS, _FOREIGN, _UNUSUAL, _LONG_CHUNK)


def codes_of(chunk: str, number: Callable[[str], int], segment: Segmenter | None) -> list[int]:
    """Return the words of a chunk and what separates them, from each other and from its neighbours."""
    if chunk == _LINE:
        return [STOP]
    if len(chunk) <= _LONG_CHUNK and (segment is None or chunk.isascii()) and (single := _SINGLE.fullmatch(chunk)):
        before, word, after = single.groups()
        if word != "www" and ((not before and after in _SIGNS) or not _CODE.fullmatch(word)):
            return [*_between(before), number(word), *_between(after)]
    if is_address(chunk):
        return [STOP, *(code for part in _PART.findall(chunk)[:9] for code in (HIDE, number(part))), STOP]
    codes: list[int] = []
    end = 0
    for match in _WORD.finditer(chunk):
        codes += _between(chunk[end : match.start()])
        end = match.end()
        word = match[0]
        if segment is not None and not word.isascii():
            # Particles are left out, so neighbours here need not be neighbours in the text: no phrases.
            codes += [BREAK, *(code for part in segment(word) for code in (number(part), BREAK))]
            continue
        if _CODE.fullmatch(word):
            codes += [STOP, HIDE, number(word), STOP]
            continue
        bare = word if word.isalnum() else _POSSESSIVE.sub("", word)
        codes.append(number(bare))
        if bare != word:
            codes.append(BREAK)
    return [*codes, *_between(chunk[end:])]


@lru_cache(maxsize=2**12)
def _between(signs: str) -> tuple[int, ...]:
    return () if not signs else (STOP if _ENDS.search(signs) else BREAK,)
