"""How many clusters: prediction strength, its null test, prototypes for large collections, and stability.

The guide to choosing k explains how to read the results.
"""

from .choose_k import choose_k
from .classify import nearest_centroid
from .evidence import Evidence
from .indices import Indices, other_indices, silhouette
from .levels import LevelPartition, Levels, choose_levels
from .prototypes import Reduction, growing_rate, reduce_gram
from .results import Contest, NullTest, Score, Selection, explain_choice, score_chart, score_rows
from .splits import Splits
from .stability import Stability, stability
from .strength import chance_strength, prediction_strength

__all__ = [
    "Contest", "Evidence", "Indices", "LevelPartition", "Levels", "NullTest", "Reduction", "Score", "Selection",
    "Splits", "Stability", "chance_strength", "choose_k", "choose_levels", "explain_choice", "growing_rate",
    "nearest_centroid", "other_indices", "prediction_strength", "reduce_gram", "score_chart", "score_rows",
    "silhouette", "stability",
]  # fmt: skip
