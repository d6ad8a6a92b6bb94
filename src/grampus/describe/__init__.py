"""Descriptions of clusters: names, terms, phrases, documents to read, cohesion and separation."""

from .cluster import Cluster, Term
from .describe import describe
from .duplicates import near_duplicates
from .language_model import LanguageModel
from .namer import Known, NameCommand, Naming, ask_names
from .names import Name, name_levels, name_partition, name_tree
from .terms import describing_terms, distinguishing_terms, keywords
from .typicality import Typicality, typicality
from .wording import Wording

__all__ = [
    "Cluster", "Known", "LanguageModel", "Name", "NameCommand", "Naming", "Term", "Typicality", "Wording",
    "ask_names", "describe", "describing_terms", "distinguishing_terms", "keywords", "name_levels", "name_partition",
    "name_tree", "near_duplicates", "typicality",
]  # fmt: skip
