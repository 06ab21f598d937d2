"""Rows as users have them become what the native module reads: arrays of a matrix, or texts."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data


def vectors(estimator: Any, X: Any, y: Any = "no_validation", *, reset: bool) -> Any:
    """A CSR matrix or a dense array of float32 or float64; the user's own arrays wherever they fit."""
    refuse_lazy(X)
    checked = validate_data(
        estimator,
        X,
        y,
        reset=reset,
        accept_sparse="csr",
        accept_large_sparse=True,
        dtype=[np.float64, np.float32],
        ensure_all_finite=True,
    )
    if isinstance(y, str) and y == "no_validation":
        return _contiguous(checked)
    return _contiguous(checked[0]), checked[1]


def refuse_lazy(X: Any, name: str = "X") -> None:
    """A query that is yet to be run has no rows."""
    if type(X).__name__ == "LazyFrame":
        raise ValueError(f"{name} is a LazyFrame, whose rows are not there yet: call collect() first")


def _contiguous(X: Any) -> Any:
    """The native module reads slices; strided arrays inside a matrix are rare, and copied."""
    if not sparse.issparse(X):
        return X
    parts = (X.data, X.indices, X.indptr)
    if all(part.flags.c_contiguous and part.dtype.isnative for part in parts):
        return X
    return sparse.csr_array(tuple(np.ascontiguousarray(part) for part in parts), shape=X.shape)


def texts(X: Any) -> list[str] | tuple[np.ndarray, np.ndarray]:
    """A list of strings; for Arrow data the buffers of its strings, without making objects of them."""
    refuse_lazy(X)
    if isinstance(X, (str, bytes)):
        raise ValueError("expected a list of texts, got one string; for one text give a list of one")
    if isinstance(X, (set, frozenset, dict)):
        raise ValueError(
            f"expected a list of texts, got a {type(X).__name__}, whose order is not that of rows"
        )
    if sparse.issparse(X):
        raise ValueError("expected texts, got a sparse matrix; use MemoirClassifier for vectors")
    if getattr(X, "ndim", 1) == 2 or hasattr(X, "columns"):
        X = _only_column(X)
    if _is_arrow(X):
        return _arrow_buffers(X)
    if isinstance(X, list):
        return X
    if hasattr(X, "tolist"):
        X = X.tolist()
        if not isinstance(X, list):
            raise ValueError("expected a list of texts, got a single value")
        return X
    try:
        return list(X)
    except TypeError:
        raise ValueError(f"expected texts, got {type(X).__name__}") from None


def taken(rows: Any, keep: np.ndarray) -> Any:
    """Only these of the rows that :func:`vectors` or :func:`texts` gave."""
    if isinstance(rows, tuple):
        offsets, content = rows
        return [content[offsets[row] : offsets[row + 1]].tobytes().decode() for row in keep]
    return [rows[row] for row in keep] if isinstance(rows, list) else rows[keep]


def _only_column(X: Any) -> Any:
    if X.shape[1] != 1:
        raise ValueError(f"expected one column of texts, got {X.shape[1]} columns: choose one")
    if hasattr(X, "iloc"):
        return X.iloc[:, 0]
    if hasattr(X, "columns"):
        return X[X.columns[0]] if isinstance(X.columns[0], str) else X.columns[0]
    return X[:, 0]


def _is_arrow(X: Any) -> bool:
    if type(X).__module__.partition(".")[0] == "pyarrow":
        return True
    if hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__"):
        # Only where the data lies in Arrow's form already; anything else needs no pyarrow.
        storage = getattr(getattr(X, "dtype", None), "storage", "pyarrow")
        return storage == "pyarrow" and getattr(getattr(X, "dtype", None), "kind", "") != "O"
    return False


def _arrow_buffers(X: Any) -> list[str] | tuple[np.ndarray, np.ndarray]:
    try:
        import pyarrow as pa
    except ImportError:
        # polars has Arrow's buffers, but no need of pyarrow.
        if hasattr(X, "to_list"):
            return X.to_list()
        raise ImportError("reading Arrow data needs the package pyarrow") from None
    if not isinstance(X, (pa.Array, pa.ChunkedArray)):
        X = pa.chunked_array(X) if hasattr(X, "__arrow_c_stream__") else pa.array(X)
    if isinstance(X, pa.ChunkedArray):
        X = X.combine_chunks()
        if isinstance(X, pa.ChunkedArray):
            X = pa.concat_arrays(X.chunks) if X.num_chunks else pa.array([], pa.large_string())
    if isinstance(X, pa.DictionaryArray):
        values = X.dictionary
        if pa.types.is_string_view(values.type):
            # As polars has them; Arrow cannot look these up.
            values = values.cast(pa.large_string())
        X = pa.DictionaryArray.from_arrays(X.indices, values).dictionary_decode()
    if not (
        pa.types.is_string(X.type) or pa.types.is_large_string(X.type) or pa.types.is_string_view(X.type)
    ):
        raise ValueError(f"expected texts, got an Arrow array of {X.type}")
    if X.null_count:
        row = X.is_null().index(True).as_py()
        raise ValueError(f"row {row} of X is null, expected a string")
    X = X.cast(pa.large_string())
    _, offsets, content = X.buffers()
    offsets = np.frombuffer(offsets, dtype=np.int64)[X.offset : X.offset + len(X) + 1]
    content = (
        np.frombuffer(content, dtype=np.uint8)
        if content is not None and content.size
        else np.empty(0, np.uint8)
    )
    return offsets, content
