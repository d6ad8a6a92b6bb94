"""Divisive trees: PDDP and its kernel forms, bisecting kernel k-means, and the tree that nests flat clusters."""
