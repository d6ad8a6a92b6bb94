"""Documents in, labelled and explained clusters out."""

from .clusterer import DocumentClusterer, load
from .predict import Placement

__all__ = ["DocumentClusterer", "Placement", "load"]
