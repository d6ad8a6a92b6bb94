"""Titles of groups: each the best that no other group of its level has."""

import re
from heapq import heapify, heappop, heappush

from .candidates import LINKS, Candidate, repeats

PARTICIPLE = re.compile(r"\w{2}[^\We]ed$")
TWIN = 1e-3  # what a title counts that shares a word with that of a sibling: where all others are taken
RELATED = 0.5  # what a title counts that looks like that of a sibling, or like that of the parent


def title_keys(title: Candidate) -> tuple[str, str]:
    """Return what no other title of a level may have: its text, or its words in any form."""
    return title.text.casefold(), " ".join(title.stems)


def give_titles(
    candidates: dict[int, list[Candidate]], siblings: list[Candidate], above: list[Candidate], taken: set[str]
) -> dict[int, Candidate]:
    """Give every group of siblings a title; where two want the same one, the better fit has it.

    One that looks like that of a sibling, or of the parent, must be twice as good as another. One that shares a word
    with that of a sibling is the last resort, and then one of them is left without it if it can be: "Development" and
    "Files". Parts of one group may well be "Shared library" and "Static library".
    """
    titles: dict[int, Candidate] = {}
    stems = {stem for title in siblings for stem in title.stems}
    claims = [(-one.as_title, one.text, group, one) for group, some in candidates.items() for one in some]
    heapify(claims)
    counted = dict[tuple[str, int], float]()
    while claims:
        value, text, group, one = heappop(claims)
        if group in titles or not taken.isdisjoint(title_keys(one)):
            continue
        related = any(repeats(one, other) for other in (*siblings, *above, *titles.values()))
        shares = not stems.isdisjoint(one.stems)
        shorter = _shorter(group, one, titles, stems) if shares and not above else {}
        counts = TWIN if shares else RELATED if related else 1.0
        before = counted.get((text, group), 1.0)
        if counts < before:
            counted[text, group] = counts
            heappush(claims, (value * counts / before, text, group, one))
        else:
            titles |= {group: one, **shorter}
            stems.update(one.stems)
            taken.update(key for changed in (group, *shorter) for key in title_keys(titles[changed]))
    return titles


def _shorter(group: int, title: Candidate, titles: dict[int, Candidate], stems: set[str]) -> dict[int, Candidate]:
    """Return this title, or else those of others, without the word they share; nothing if a word would not be left."""
    if rest := _without(title, stems):
        return {group: rest}
    own = set(title.stems)
    others = {at: _without(one, own) for at, one in titles.items() if not own.isdisjoint(one.stems)}
    return {at: one for at, one in others.items() if one} if all(others.values()) else {}


def _without(title: Candidate, stems: set[str]) -> Candidate | None:
    """Return a phrase without words at its beginning or end that have these stems; None if that leaves no phrase."""
    words = title.text.split(" ")
    kept = [at for at, stem in enumerate(title.stems) if stem not in stems]
    if len(words) != len(title.stems) or not kept or kept[-1] - kept[0] >= len(kept) or not LINKS.isdisjoint(words):
        return None
    rest = slice(kept[0], kept[-1] + 1)
    if PARTICIPLE.search(words[kept[-1]]):  # "Shared library" without its noun
        return None
    return title._replace(text=" ".join(words[rest]), stems=title.stems[rest])
