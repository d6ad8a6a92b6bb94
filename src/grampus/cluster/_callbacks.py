"""scikit-learn's callbacks (1.9 and later), or no-ops for older versions."""

from collections.abc import Callable
from typing import Any

from .._progress import Progress

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn below 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """An estimator without callbacks."""

    def with_callbacks(method: Any) -> Any:
        """Return the method unchanged."""
        return method


__all__ = ["CallbackSupportMixin", "start_reporter", "with_callbacks"]


def start_reporter(estimator: Any, X: Any, starts: int) -> tuple[Progress | None, Callable[[], None]]:
    """Return functions that report each finished start, and the end, to the estimator's callbacks."""
    if not hasattr(estimator, "_init_callback_context"):
        return None, lambda: None
    root = estimator._init_callback_context(task_name="fit", max_subtasks=starts)
    root.call_on_fit_task_begin(estimator=estimator, X=X)

    def progress(step: str, done: int, total: int | None) -> None:
        task = root.subcontext(task_name="start")
        task.call_on_fit_task_begin(estimator=estimator, X=X)
        task.call_on_fit_task_end(estimator=estimator, X=X)

    return progress, lambda: root.call_on_fit_task_end(estimator=estimator, X=X)
