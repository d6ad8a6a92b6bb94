"""Ids that differ: those seen before are numbered, such as x#2."""

from __future__ import annotations


class DistinctIds:
    """The ids of a collection, as they come.

    Examples
    --------
    >>> from grampus.text.ids import DistinctIds
    >>> ids = DistinctIds()
    >>> [ids.add(one) for one in ("x", "x#2", "x", "y")]
    ['x', 'x#2', 'x#3', 'y']
    """

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._last: dict[str, int] = {}

    def __contains__(self, identity: str) -> bool:
        return identity in self._seen

    def add(self, identity: str) -> str:
        """Return an id that was not seen before: this one, or with the next free number."""
        found, number = identity, self._last.get(identity, 1)
        while found in self._seen:
            number += 1
            found = f"{identity}#{number}"
        self._last[identity] = number
        self._seen.add(found)
        return found
