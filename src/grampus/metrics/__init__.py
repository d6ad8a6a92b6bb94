"""Agreement of partitions with known classes and with each other.

Every score is a pure function of one contingency table. It takes two sequences of labels, or a
`ContingencyTable` made once with `contingency_table`.

Examples
--------
>>> from grampus.metrics import accuracy, contingency_table, nmi
>>> table = contingency_table(["a", "a", "b", "b"], [1, 1, 0, 0])
>>> nmi(table), accuracy(table)
(1.0, 1.0)
"""

from .agreement import ari, cluster_entropy, purity
from .ensemble import anmi, pairwise_nmi
from .information import nmi, variation_of_information
from .matching import accuracy, error_rate, match_clusters, precision, recall
from .table import ContingencyTable, contingency_table

__all__ = [
    "ContingencyTable", "accuracy", "anmi", "ari", "cluster_entropy", "contingency_table", "error_rate",
    "match_clusters", "nmi", "pairwise_nmi", "precision", "purity", "recall", "variation_of_information",
]  # fmt: skip
