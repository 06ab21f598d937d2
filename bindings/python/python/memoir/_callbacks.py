"""scikit-learn's callbacks, where its release has them: stages of training are tasks of the fit."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any

try:
    from sklearn.callback import CallbackSupportMixin as Support
    from sklearn.callback import with_callbacks as managed

    AVAILABLE = True
except ImportError:
    AVAILABLE = False

    class Support:  # type: ignore[no-redef]
        """Stands in where scikit-learn has no callbacks yet."""

    def managed(method):  # type: ignore[no-redef]
        """Stands in where scikit-learn has no callbacks yet."""
        return method


@contextmanager
def running(estimator: Any, X: Any, y: Any):
    """Tells the estimator's callbacks that the fit begins and ends; yields a receiver of events, or None."""
    if not AVAILABLE:
        yield None
        return
    context = estimator._init_callback_context(max_subtasks=None)
    context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
    if not getattr(estimator, "_skl_callbacks", None):
        yield None
    else:
        stages = _Stages(estimator, context)
        yield stages
        stages.end()
    context.call_on_fit_task_end(estimator=estimator, X=X, y=y)


class _Stages:
    """Each stage of the library ("training, pass 1 of 2") as a task of its own."""

    def __init__(self, estimator: Any, context: Any):
        self._estimator = estimator
        self._context = context
        self._stage: str | None = None
        self._task: Any = None

    def __call__(self, kind: str, *event: Any) -> None:
        if kind == "progress" and event[0] != self._stage:
            self.end()
            self._stage = event[0]
            self._task = self._context.subcontext(task_name=event[0])
            self._task.call_on_fit_task_begin(estimator=self._estimator)

    def end(self) -> None:
        if self._task is not None:
            self._task.call_on_fit_task_end(estimator=self._estimator)
        self._stage = self._task = None
