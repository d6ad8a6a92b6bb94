"""Kernel k-means: one batch engine, its starts, its rules, and single moves after convergence."""
