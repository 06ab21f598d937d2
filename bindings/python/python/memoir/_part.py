"""What the parts of an estimator know of each other."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _memoir


def copied(estimator: Any) -> Any:
    """The same estimator in an object of its own, which shares what it has learned."""
    copy = object.__new__(type(estimator))
    copy.__dict__.update(estimator.__dict__)
    return copy


def steady(method: Callable) -> Callable:
    """Runs a method on the estimator as it is now: another thread may fit it anew meanwhile."""

    @functools.wraps(method)
    def run(self: Any, *arguments: Any, **named: Any) -> Any:
        return method(copied(self), *arguments, **named)

    return run


class Part:
    """State and steps that every part may use. Which estimator it is decides what a row is."""

    classes_: np.ndarray
    training_curve_: list[dict[str, float]]
    n_jobs: int | None

    _model: _memoir.Model
    """The fitted model."""
    _met: np.ndarray
    """The label of each of its class numbers."""
    _places: np.ndarray
    """Where each of these labels is in ``classes_``."""
    _kind: str | None
    """The form that `y` had; None where a file was loaded, which does not tell it."""

    @property
    def _is_single(self) -> bool:
        return self._kind in (None, "single")

    def predict(self, X: Any, *, k: int = 1) -> Any:
        """The best class of each row."""
        raise NotImplementedError

    def _rows(self, X: Any, *, reset: bool) -> Any:
        """`X` as the native module takes it."""
        raise NotImplementedError

    def _checked(self, X: Any, y: Any, kind: str, *, reset: bool) -> tuple[Any, Any]:
        """The same for `X` with its targets, which must fit it."""
        raise NotImplementedError

    def _as_one(self, x: Any) -> Any:
        """One row as rows."""
        raise NotImplementedError

    def _running(self, on_event: Any = None, seed: int = 0) -> dict[str, Any]:
        """What a run may use and whom it tells."""
        raise NotImplementedError

    def _take(self, model: Any, met: np.ndarray, classes: np.ndarray, kind: str | None) -> None:
        """Makes `model`, whose class numbers stand for the labels `met`, the fitted one."""
        raise NotImplementedError
