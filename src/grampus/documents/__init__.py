"""Documents in, labelled and explained clusters out."""

from .clusterer import DocumentClusterer, load
from .placing import Placement

__all__ = ["DocumentClusterer", "Placement", "load"]
