"""What clusters are about: words and phrases, documents to look at, how tight and how far apart they are."""

from .card import Cluster, Term
from .terms import keywords

__all__ = ["Cluster", "Term", "keywords"]
