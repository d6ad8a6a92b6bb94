"""From documents to explained clusters: the clusterer, its methods and the effort they may spend."""

from .clusterer import DocumentClusterer, load
from .cost import PredictedCost
from .find.method import Found, Job, Method
from .find.methods import (
    BisectingMethod,
    ConsensusMethod,
    KernelKMeansMethod,
    KernelPCAMethod,
    PDDPMethod,
    SpectralMethod,
)
from .find.predict import Prediction
from .given.effort import Effort
from .given.guide import Guide
from .given.inputs import default_terms
from .later.keep import cluster_within, keep_answer
from .later.update import update_run
from .pipeline import predict_cost
from .tell.naming import with_names, with_names_of, write_names

__all__ = [
    "BisectingMethod", "ConsensusMethod", "DocumentClusterer", "Effort", "Found", "Guide", "Job",
    "KernelKMeansMethod", "KernelPCAMethod", "Method", "PDDPMethod", "PredictedCost", "Prediction", "SpectralMethod",
    "cluster_within", "default_terms", "keep_answer", "load", "predict_cost", "update_run", "with_names",
    "with_names_of", "write_names",
]  # fmt: skip
