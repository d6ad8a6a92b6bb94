"""Clustering: functions on a Gram that return frozen results, and estimators over them."""

from .kmeans.kernel_kmeans import KernelKMeans, kernel_kmeans
from .partitions import Consensus, coassociation, confidence, consensus
from .results import Clustering, History, Outcome, Runs
from .spectral.base import EmbeddedClustering
from .spectral.coordinates import KernelEmbedding, embedding_2d, kernel_embedding
from .spectral.kernel_pca import KernelPCAKMeans, kernel_pca_kmeans
from .spectral.laplacian import SpectralEmbedding, spectral_embedding
from .spectral.spectral_kmeans import SpectralKMeans, spectral_kmeans
from .trees.bisecting import BisectingKernelKMeans, bisecting_kernel_kmeans
from .trees.nested import nested_tree
from .trees.pddp import PDDP, pddp
from .trees.tree import Node, Split, Tree

__all__ = [  # noqa: RUF022  (plainly sorted)
    "BisectingKernelKMeans", "Clustering", "Consensus", "EmbeddedClustering", "History", "KernelEmbedding",
    "KernelKMeans", "KernelPCAKMeans", "Node", "Outcome", "PDDP", "Runs", "SpectralEmbedding", "SpectralKMeans",
    "Split", "Tree", "bisecting_kernel_kmeans", "coassociation", "confidence", "consensus", "embedding_2d",
    "kernel_embedding", "kernel_kmeans", "kernel_pca_kmeans", "nested_tree", "pddp", "spectral_embedding",
    "spectral_kmeans",
]  # fmt: skip
