"""Descriptions of clusters: terms, phrases, documents to read, cohesion and separation."""

from .cluster import Cluster, Term
from .describe import describe, short_label
from .duplicates import near_duplicates
from .evidence import Evidence, evidence
from .phrases import phrases, spellings
from .terms import describing_terms, distinguishing_terms, keywords

__all__ = [
    "Cluster",
    "Evidence",
    "Term",
    "describe",
    "describing_terms",
    "distinguishing_terms",
    "evidence",
    "keywords",
    "near_duplicates",
    "phrases",
    "short_label",
    "spellings",
]
