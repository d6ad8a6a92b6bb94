"""Words that parameters take and that counts are printed with, for modules that must not load the library."""

from typing import Literal

LEVELS = ("coarsest", "coarse", "middle", "fine", "finest")
METHODS = ("consensus", "kernel-kmeans", "pddp", "bisecting", "spectral", "kernel-pca")
Embed = Literal["excerpts", "full", "none"]  # of texts, in a page
EMBEDS: tuple[Embed, ...] = ("excerpts", "full", "none")
CUTS = ("zero", "full", "projection")


def number_of(count: int, one: str, many: str = "") -> str:
    """Return a number and what it counts.

    Examples
    --------
    >>> from grampus._names import number_of
    >>> number_of(1, "edit"), number_of(1200, "document"), number_of(2, "leaf", "leaves")
    ('1 edit', '1,200 documents', '2 leaves')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"
