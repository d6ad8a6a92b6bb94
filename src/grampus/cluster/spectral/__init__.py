"""Clustering in the coordinates of leading eigenvectors: spectral clustering and kernel-PCA k-means."""
