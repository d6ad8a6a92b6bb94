"""From documents to explained clusters: the clusterer, its methods and the effort they may spend."""

from .clusterer import DocumentClusterer, load
from .effort import Effort
from .inputs import default_terms
from .methods import (
    BisectingMethod,
    ConsensusMethod,
    Found,
    Job,
    KernelKMeansMethod,
    KernelPCAMethod,
    Method,
    PDDPMethod,
    SpectralMethod,
)
from .naming import with_names, with_names_of, write_names
from .predict import Prediction
from .update import update_run

__all__ = [
    "BisectingMethod",
    "ConsensusMethod",
    "DocumentClusterer",
    "Effort",
    "Found",
    "Job",
    "KernelKMeansMethod",
    "KernelPCAMethod",
    "Method",
    "PDDPMethod",
    "Prediction",
    "SpectralMethod",
    "default_terms",
    "load",
    "update_run",
    "with_names",
    "with_names_of",
    "write_names",
]
