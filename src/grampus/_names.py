"""Words that parameters take, for the library and for the command, whose help must not load the library."""

from typing import Literal

LEVELS = ("coarsest", "coarse", "middle", "fine", "finest")
METHODS = ("consensus", "kernel-kmeans", "pddp", "bisecting", "spectral", "kernel-pca")
Embed = Literal["excerpts", "full", "none"]  # of texts, in a page
EMBEDS: tuple[Embed, ...] = ("excerpts", "full", "none")
CUTS = ("zero", "full", "projection")
