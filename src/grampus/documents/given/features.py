"""What the columns of a matrix are called, where a pipeline of scikit-learn knows it."""

import sys
from typing import Any

from ..._array import is_sparse

_NEAR = 4  # callers: Pipeline.fit, or fit_predict of the mixin between


def names_of_features(X: Any) -> list[str] | None:
    """Return the names of the columns of a sparse matrix, by the pipeline that is fitting its last step; else None.

    A pipeline gives its last step a matrix and nothing else, so that clusters after a ``TfidfVectorizer`` would be
    described by numbers of columns. The pipeline is looked for among the callers; its other steps are fitted by then.
    """
    pipelines = sys.modules.get("sklearn.pipeline")
    if not is_sparse(X) or pipelines is None:
        return None
    frame = sys._getframe(1)
    for _ in range(_NEAR):
        if frame.f_back is None:
            return None
        frame = frame.f_back
        caller = frame.f_locals.get("self")
        if isinstance(caller, pipelines.Pipeline):
            try:
                names = caller[:-1].get_feature_names_out()
            except (AttributeError, ValueError):  # a step that has none, or not fitted: another pipeline
                return None
            return [str(name) for name in names] if len(names) == X.shape[1] else None
    return None
