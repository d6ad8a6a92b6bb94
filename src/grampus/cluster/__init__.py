"""Clustering: functions on a Gram that return frozen results, and thin estimators over them."""

from .bisecting import BisectingKernelKMeans, bisecting_kernel_kmeans
from .embedded import EmbeddedClustering
from .embedding import KernelEmbedding, embedding_2d, kernel_embedding
from .estimator import KernelKMeans, Membership, Representatives
from .kernel_kmeans import kernel_kmeans
from .kernel_pca import KernelPCAKMeans, kernel_pca_kmeans
from .laplacian import SpectralEmbedding, spectral_embedding
from .nested import nested_tree
from .pddp import PDDP, pddp
from .results import Clustering, History, Outcome, Runs
from .spectral import SpectralKMeans, spectral_kmeans
from .tree import Node, Split, Tree

__all__ = [  # noqa: RUF022  (plainly sorted)
    "BisectingKernelKMeans",
    "Clustering",
    "EmbeddedClustering",
    "History",
    "KernelEmbedding",
    "KernelKMeans",
    "KernelPCAKMeans",
    "Membership",
    "Node",
    "Outcome",
    "PDDP",
    "Representatives",
    "Runs",
    "SpectralEmbedding",
    "SpectralKMeans",
    "Split",
    "Tree",
    "bisecting_kernel_kmeans",
    "embedding_2d",
    "kernel_embedding",
    "kernel_kmeans",
    "kernel_pca_kmeans",
    "nested_tree",
    "pddp",
    "spectral_embedding",
    "spectral_kmeans",
]
