"""Mask passwords and keys in what is shown or kept: commands, queries, addresses."""

import re

MASK = "***"
_NAMES = r"pass(?:word|wd|phrase)?|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credentials?|auth"
# scheme://user:secret@host
_ADDRESS = re.compile(r"(?P<head>\b[a-z][a-z0-9+.-]*://[^\s/:@'\"]*:)(?P<secret>[^\s/@'\"]+)(?=@)", re.IGNORECASE)
# password=secret, "password": "secret", --password secret, PWD='se cret'
_PAIR = re.compile(
    rf"(?P<head>(?<![a-z0-9])[a-z0-9_-]*(?:{_NAMES})[\"']?\s*(?:[=:]|\bis\b)\s*)"
    r"(?P<secret>'[^']*'|\"[^\"]*\"|[^\s;,&'\"*/)]+)",
    re.IGNORECASE,
)
_OPTION = re.compile(rf"^--?[a-z0-9-]*(?:{_NAMES})$", re.IGNORECASE)


def masked(text: str) -> str:
    """Return a text with what looks like a password or a key replaced by three stars.

    Examples
    --------
    >>> from grampus._secrets import masked
    >>> masked("postgres://me:hunter2@db/x?password=hunter2")
    'postgres://me:***@db/x?password=***'
    >>> masked("select text from passwords where year = 2020")
    'select text from passwords where year = 2020'
    """
    for pattern in (_ADDRESS, _PAIR):
        text = pattern.sub(lambda found: found["head"] + MASK, text)
    return text


def masked_words(words: list[str]) -> list[str]:
    """Return the words of a command, masked; the word after an option such as ``--password`` too.

    Examples
    --------
    >>> from grampus._secrets import masked_words
    >>> masked_words(["--token", "abc", "--query", "select 1 -- pwd: abc"])
    ['--token', '***', '--query', 'select 1 -- pwd: ***']
    """
    pairs = zip(["", *words], words, strict=False)
    return [MASK if _OPTION.match(before) else masked(word) for before, word in pairs]
