"""Classifiers that are made of other ones: smaller, or with other classes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _labels, _parameters
from ._part import Part, copied, steady


class Changing(Part):
    """The part of an estimator that makes others of it."""

    @steady
    def compact(
        self, *, precision: str | None = None, max_size: int | str | None = None, final: bool = False
    ) -> Self:
        """The same classifier in a smaller model: ``memoir compact``.

        Parameters
        ----------
        precision : {"f16", "int8"}, optional
            How weights are stored; by default as they are.
        max_size : int or str, optional
            Size that the file should not exceed, such as ``"10M"``; the smallest weights are dropped.
        final : bool, default=False
            Whether to drop what only further training would need.

        Returns
        -------
        estimator
            A new one; this one stays as it is.

        Examples
        --------
        >>> from memoir import MemoirClassifier
        >>> X = [[2, 0, 1], [1, 0, 0], [0, 3, 1], [0, 1, 0]]
        >>> model = MemoirClassifier().fit(X, ["fruit", "fruit", "sky", "sky"])
        >>> model.compact(precision="int8").summary()["precision"]
        'int8'
        """
        check_is_fitted(self, "_model")
        size = _parameters.parse_size("max_size", max_size)
        kind = _labels.kind_of(self._met)
        model = self._model.compact(self._running(), kind, precision, size, final)
        return self._with_model(model, self.classes_)

    @steady
    def rename(self, names: dict[Any, Any]) -> Self:
        """The same classifier with other labels for some classes: ``memoir classes rename``.

        Parameters
        ----------
        names : dict
            The new label of each class to rename; two may change places. Labels are all texts or all
            numbers: from one to the other, name all of them.

        Returns
        -------
        estimator
            A new one; this one stays as it is.

        Examples
        --------
        >>> from memoir import MemoirClassifier
        >>> X = [[2, 0, 1], [1, 0, 0], [0, 3, 1], [0, 1, 0]]
        >>> model = MemoirClassifier().fit(X, ["fruit", "fruit", "sky", "sky"])
        >>> model.rename({"sky": "weather"}).classes_.tolist()
        ['fruit', 'weather']
        """
        check_is_fitted(self, "_model")
        places = self._places_of(names)
        if len(set(places)) < len(places):
            raise ValueError("a class is to be renamed twice")
        classes = relabelled(self.classes_, dict(zip(places, names.values())))
        before, after = _labels.names_of(self.classes_), _labels.names_of(classes)
        twice = _first_repeated(after)
        if twice is not None:
            raise ValueError(f"two classes would be called {twice!r}; to make one class of them, merge them")
        pairs = [(before[place], after[place]) for place in self._met_only(places)]
        model = self._model.rename(self._running(), _labels.kind_of(classes), pairs)
        return self._with_model(model, classes)

    @steady
    def merge(self, labels: Any, into: Any) -> Self:
        """The same classifier with one class in place of several: ``memoir classes merge``.

        Parameters
        ----------
        labels : list
            The classes to make one of.
        into : label
            What it is called. Of the columns of an indicator matrix it takes the first.

        Returns
        -------
        estimator
            A new one; this one stays as it is.

        Examples
        --------
        >>> from memoir import MemoirClassifier
        >>> X = [[2, 0, 1], [1, 0, 0], [0, 3, 1], [0, 1, 0]]
        >>> model = MemoirClassifier().fit(X, ["apple", "pear", "sky", "sky"])
        >>> model.merge(["apple", "pear"], "fruit").classes_.tolist()
        ['fruit', 'sky']
        """
        check_is_fitted(self, "_model")
        places = sorted(set(self._places_of(labels)))
        if not places:
            raise ValueError("there is no class to merge")
        first, *others = places
        classes = relabelled(self.classes_, {first: into}, others)
        if _first_repeated(_labels.names_of(classes)) is not None:
            raise ValueError(
                f"there is another class {into!r} already; merge it too, or choose another name"
            )
        names = _labels.names_of(self.classes_)
        members = [names[place] for place in self._met_only(places)]
        name = _labels.names_of(classes)[first]
        kind = _labels.kind_of(classes)
        if members:
            model = self._model.merge(self._running(), kind, members, name)
        else:
            model = self._model.rename(self._running(), kind, [])
        return self._with_model(model, classes)

    @steady
    def retire(self, labels: Any) -> Self:
        """The same classifier without some classes, which it never answers again: ``memoir classes retire``.

        Parameters
        ----------
        labels : list
            The classes to remove.

        Returns
        -------
        estimator
            A new one; this one stays as it is.

        Examples
        --------
        >>> from memoir import MemoirClassifier
        >>> X = [[2, 0, 1], [1, 0, 0], [0, 3, 1], [0, 1, 0]]
        >>> model = MemoirClassifier().fit(X, ["apple", "pear", "sky", "sky"])
        >>> model.retire(["pear"]).classes_.tolist()
        ['apple', 'sky']
        """
        check_is_fitted(self, "_model")
        places = self._places_of(labels)
        classes = relabelled(self.classes_, {}, places)
        names = _labels.names_of(self.classes_)
        retired = [names[place] for place in self._met_only(places)]
        model = self._model.retire(self._running(), _labels.kind_of(self._met), retired)
        return self._with_model(model, classes)

    def _places_of(self, labels: Iterable[Any]) -> list[int]:
        """Where each of `labels` is in ``classes_``; as text, they may be given where others are."""
        if isinstance(labels, (str, bytes)):
            raise ValueError(f"expected a list of classes, got {labels!r}; for one class give a list of one")
        places: dict[Any, int] = {name: at for at, name in enumerate(_labels.names_of(self.classes_))}
        places.update({label: at for at, label in enumerate(self.classes_.tolist())})
        found = []
        for label in labels:
            place = places.get(label) if isinstance(label, Hashable) else None
            if place is None:
                raise ValueError(f"there is no class {label!r} in this model")
            found.append(place)
        return found

    def _met_only(self, places: list[int]) -> list[int]:
        """Those of the classes at `places` that the model has. Of others, such as a column of an indicator
        matrix that no row has, only ``classes_`` knows."""
        met = set(self._places.tolist())
        return [place for place in places if place in met]

    def _with_model(self, model: Any, classes: np.ndarray) -> Self:
        """This estimator with `model` in place of its own, and with these classes."""
        places = {name: place for place, name in enumerate(_labels.names_of(classes))}
        met = classes[[places[name] for name in model.class_names()]]
        # Columns stay where they are; everything else is sorted, as in `fit`.
        classes = classes if self._form.endswith("indicator") else np.sort(classes)
        estimator = copied(self)
        estimator._take(model, met, classes, self._kind)
        return estimator


def relabelled(classes: np.ndarray, new: dict[int, Any], gone: Iterable[int] = ()) -> np.ndarray:
    """`classes` without those at the places `gone`, and with `new` labels at some places. These must be of
    the kind of those that stay."""
    left = set(gone)
    kept = [place for place in range(len(classes)) if place not in left]
    if not new:
        return classes[kept]
    rest = [place for place in kept if place not in new]
    fresh = _array_of(list(new.values()))
    are_texts = isinstance(fresh[0], str)
    if rest:
        if isinstance(classes[rest[0]], str) != are_texts:
            raise ValueError(
                f"labels would be texts and numbers mixed ({classes[rest[0]]} stays, {fresh[0]} is new): "
                'name all classes at once, or open the model by `load` with labels="str"'
            )
        fresh = _labels.in_type_of(fresh.astype(object) if classes.dtype.kind == "O" else fresh, classes)
    label_at = {**dict(enumerate(classes.tolist())), **dict(zip(new, fresh.tolist()))}
    labels = [label_at[place] for place in kept]
    if are_texts:
        return np.array(labels, dtype={"U": None, "T": classes.dtype}.get(classes.dtype.kind, object))
    changed = np.array(labels)
    same = changed.astype(classes.dtype) if rest else changed
    # Short integers stay short where the new labels are.
    return same if np.array_equal(same, changed) else changed


def _array_of(labels: list[Any]) -> np.ndarray:
    """New labels, which must be such."""
    labels = [label.item() if isinstance(label, np.generic) else label for label in labels]
    for label in labels:
        if _labels.is_missing(label) or np.ndim(label):
            raise ValueError(f"expected a label to call a class by, got {label!r}")
    _labels.check_kinds(labels)
    return np.array(labels, dtype=object if isinstance(labels[0], str) else None)


def _first_repeated(names: list[str]) -> str | None:
    """The first name that was there before."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None
