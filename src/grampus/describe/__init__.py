"""Descriptions of clusters: names, terms, phrases, documents to read, cohesion and separation."""

from .cluster import Cluster, Term
from .describe import describe
from .duplicates import near_duplicates
from .evidence import Evidence, evidence
from .namer import Known, NameCommand, Naming, ask_names
from .names import Name, name_levels, name_partition, name_tree
from .terms import describing_terms, distinguishing_terms, keywords
from .wording import Wording

__all__ = [
    "Cluster",
    "Evidence",
    "Known",
    "Name",
    "NameCommand",
    "Naming",
    "Term",
    "Wording",
    "ask_names",
    "describe",
    "describing_terms",
    "distinguishing_terms",
    "evidence",
    "keywords",
    "name_levels",
    "name_partition",
    "name_tree",
    "near_duplicates",
]
