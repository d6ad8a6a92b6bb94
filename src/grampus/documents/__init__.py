"""From documents to explained clusters: the clusterer, its methods and the effort they may spend."""

from .clusterer import DocumentClusterer, load
from .cost import PredictedCost, predict_cost
from .effort import Effort
from .guide import Guide
from .inputs import default_terms
from .keep import cluster_within, keep_answer
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
    "Guide",
    "Job",
    "KernelKMeansMethod",
    "KernelPCAMethod",
    "Method",
    "PDDPMethod",
    "PredictedCost",
    "Prediction",
    "SpectralMethod",
    "cluster_within",
    "default_terms",
    "keep_answer",
    "load",
    "predict_cost",
    "update_run",
    "with_names",
    "with_names_of",
    "write_names",
]
