"""What the parts of an estimator know of each other."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np

from . import _memoir, _targets

Method = TypeVar("Method", bound=Callable)


def copied(estimator: Any) -> Any:
    """The same estimator in an object of its own, which shares what it has learned."""
    copy = object.__new__(type(estimator))
    copy.__dict__.update(estimator.__dict__)
    return copy


def steady(method: Method) -> Method:
    """Runs a method on the estimator as it is now: another thread may fit it anew meanwhile."""

    @functools.wraps(method)
    def run(self: Any, *arguments: Any, **named: Any) -> Any:
        return method(copied(self), *arguments, **named)

    return cast(Method, run)


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
    """The form that `y` had; None where a file was read, in which all forms look alike."""
    _form: str
    """The form of predictions: that of `y` or, with a file, ``lists`` if its rows had several labels,
    else ``single``."""

    @property
    def _is_single(self) -> bool:
        return self._form == "single"

    def predict(
        self,
        X: Any,
        *,
        k: int | None = None,
        threshold: float | None = None,
        at_most: int | None = None,
    ) -> Any:
        """The best class of each row."""
        raise NotImplementedError

    def _rows(self, X: Any, *, reset: bool) -> Any:
        """`X` as the native module takes it."""
        raise NotImplementedError

    def _checked(self, X: Any, y: _targets.Given, *, reset: bool) -> Any:
        """The same for `X` with its targets, which must fit it."""
        raise NotImplementedError

    def _with_targets(
        self, X: Any, y: Any, like: np.ndarray | None, *, reset: bool = False
    ) -> tuple[Any, _targets.Given, _targets.Targets]:
        """The same, and the targets as they were given and as numbers; `like` are the classes of a model
        that they must fit."""
        given = _targets.given(y)
        rows = self._checked(X, given, reset=reset)
        return rows, given, _targets.number(given, like)

    def _as_one(self, x: Any) -> Any:
        """One row as rows."""
        raise NotImplementedError

    def _running(self, on_event: Any = None, seed: int = 0) -> dict[str, Any]:
        """What a run may use and whom it tells."""
        raise NotImplementedError

    def _take(self, model: Any, met: np.ndarray, classes: np.ndarray, kind: str | None) -> None:
        """Makes `model`, whose class numbers stand for the labels `met`, the fitted one."""
        raise NotImplementedError
