"""Matrices of every kind: the right answer, or an exact exception."""

import numpy as np
import pytest
from memoir import MemoirClassifier
from scipy import sparse

ROWS, COLUMNS = 60, 25


def reference(seed):
    """A small dense table with empty rows and empty columns, and labels."""
    random = np.random.default_rng(seed)
    table = np.where(random.random((ROWS, COLUMNS)) < 0.3, random.integers(1, 5, (ROWS, COLUMNS)), 0).astype(
        float
    )
    y = random.integers(0, 4, ROWS)
    table[np.arange(ROWS), y] += 3
    table[random.integers(0, ROWS, 5)] = 0
    table[:, random.integers(4, COLUMNS, 2)] = 0
    return table, y


def with_wide_indices(matrix):
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return matrix


def unsorted(matrix, random):
    matrix = matrix.copy()
    for row in range(matrix.shape[0]):
        part = slice(matrix.indptr[row], matrix.indptr[row + 1])
        order = random.permutation(part.stop - part.start)
        matrix.indices[part] = matrix.indices[part][order]
        matrix.data[part] = matrix.data[part][order]
    matrix.has_sorted_indices = False
    return matrix


def with_duplicates(matrix):
    halves = matrix.astype(float) * 0.5
    indptr = matrix.indptr * 2
    indices = np.concatenate(
        [np.tile(matrix.indices[a:b], 2) for a, b in zip(matrix.indptr, matrix.indptr[1:])]
    )
    values = np.concatenate([np.tile(halves.data[a:b], 2) for a, b in zip(matrix.indptr, matrix.indptr[1:])])
    return type(matrix)((values, indices, indptr), shape=matrix.shape)


def with_stored_zeros(matrix):
    matrix = sparse.csr_array(matrix) + 0
    full = sparse.csr_array(np.where(matrix.toarray() == 0, 7.0, matrix.toarray()))
    full.data[np.isclose(full.data, 7.0) & (matrix.toarray().reshape(-1) == 0)] = 0
    return full


KINDS = {
    "csr_array": sparse.csr_array,
    "csr_matrix": sparse.csr_matrix,
    "csc_array": sparse.csc_array,
    "coo_matrix": sparse.coo_matrix,
    "lil_array": sparse.lil_array,
    "C order": np.ascontiguousarray,
    "Fortran order": np.asfortranarray,
    "strided": lambda table: np.repeat(np.repeat(table, 2, axis=0), 3, axis=1)[::2, ::3],
    "reversed": lambda table: table[::-1, ::-1].copy()[::-1, ::-1],
    "list": lambda table: table.tolist(),
}
TYPES = ["float64", "float32", "float16", "int64", "int32", "int8", "uint8", "bool", ">f8", ">f4"]
CHANGES = ["none", "wide", "unsorted", "duplicates", "zeros", "read-only"]


def made(kind, dtype, change, table, random):
    """The table as this kind of matrix, and the exact table it stands for."""
    table = table.astype(dtype)
    if kind in ("csr_array", "csr_matrix") and not dtype.startswith(">") and dtype != "float16":
        matrix = KINDS[kind](table)
        if change == "wide":
            return with_wide_indices(matrix)
        if change == "unsorted":
            return unsorted(matrix, random)
        if change == "duplicates" and dtype != "bool":
            return with_duplicates(matrix)
        if change == "zeros":
            return with_stored_zeros(matrix)
        if change == "read-only":
            for part in (matrix.data, matrix.indices, matrix.indptr):
                part.flags.writeable = False
        return matrix
    if dtype == "float16" and not kind.endswith("order"):
        table = table.astype("float32")
    if dtype.startswith(">") and ("_" in kind or kind == "list"):
        table = table.astype(dtype.replace(">", "="))
    return KINDS[kind](table)


def broken(matrix, random):
    """The matrix with one thing wrong, and what the exception must say."""
    choice = random.choice(
        ["nan", "infinity", "huge", "narrow", "short y", "one dimension", "text", "complex", "indices"]
    )
    dense = matrix.toarray() if sparse.issparse(matrix) else np.array(matrix, dtype=float)
    row, column = random.integers(0, ROWS), random.integers(0, COLUMNS)
    if choice in ("nan", "infinity", "huge"):
        dense = dense.astype(float)
        dense[row, column] = {"nan": np.nan, "infinity": np.inf, "huge": 1e300}[choice]
        given = sparse.csr_array(dense) if random.random() < 0.5 else dense
        expected = (
            f"row {row}, column {column} of X holds" if choice == "huge" else "contains (NaN|infinity)"
        )
        return given, None, expected
    if choice == "narrow":
        return dense[:, :-1], None, f"{COLUMNS} features"
    if choice == "short y":
        return dense, ROWS - 1, "inconsistent numbers of samples"
    if choice == "one dimension":
        return dense[0], None, "Expected 2D array"
    if choice == "text":
        return np.full((ROWS, COLUMNS), "x"), None, "could not convert string"
    if choice == "complex":
        return dense + 1j, None, "Complex data not supported"
    bad = sparse.csr_array(dense.astype(float))
    bad.indices[random.integers(0, bad.nnz)] = random.choice([-1, COLUMNS, 1_000_000])
    return bad, None, "row [0-9]+ of X has a column index outside of its 25 columns|indices"


@pytest.mark.parametrize("seed", range(200))
def test_random_pairs(seed):
    """A random kind to train on and another to predict, or something broken: the right answer or an exact
    exception."""
    random = np.random.default_rng(1000 + seed)
    table, y = reference(seed % 10)
    pick = lambda: (random.choice(list(KINDS)), random.choice(TYPES), random.choice(CHANGES))  # noqa: E731
    first, second = pick(), pick()
    if "bool" in (first[1], second[1]):
        table = (table > 0).astype(float)
    expected = MemoirClassifier("centroid", n_jobs=1).fit(sparse.csr_array(table), y)
    train = made(*first, table, random)
    model = MemoirClassifier("centroid", n_jobs=1).fit(train, y)
    assert model._model.to_bytes() == expected._model.to_bytes(), first
    if random.random() < 0.6:
        given = made(*second, table, random)
        np.testing.assert_array_equal(
            model.decision_function(given), expected.decision_function(table), str(second)
        )
        return
    given, rows, message = broken(train, random)
    with pytest.raises(ValueError, match=message):
        if rows is not None:
            MemoirClassifier("centroid", n_jobs=1).fit(given, y[:rows])
        elif message == f"{COLUMNS} features" or random.random() < 0.5:
            model.predict(given)
        else:
            MemoirClassifier("centroid", n_jobs=1).fit(given, y)
    np.testing.assert_array_equal(model.predict(table), expected.predict(table))


def test_arrays_are_neither_changed_nor_copied_for_prediction():
    table, y = reference(0)
    for kind in (sparse.csr_array, sparse.csr_matrix):
        X = kind(table.astype(np.float32))
        parts = [part.copy() for part in (X.data, X.indices, X.indptr)]
        model = MemoirClassifier().fit(X, y)
        model.predict(X)
        for before, after in zip(parts, (X.data, X.indices, X.indptr)):
            np.testing.assert_array_equal(before, after)
        handed = model._rows(X, reset=False)
        assert np.shares_memory(handed.data, X.data) and np.shares_memory(handed.indices, X.indices)
    wide = with_wide_indices(sparse.csr_array(table))
    assert np.shares_memory(MemoirClassifier().fit(wide, y)._rows(wide, reset=False).indices, wide.indices)


def test_values_too_large_to_work_with():
    X, y = np.eye(6, dtype=np.float32), [0, 1, 2] * 2
    X[3, 3] = 3e38
    message = (
        "row 3, column 3 of X holds 3e38; where values are used as they are, none may be larger than 1e15"
    )
    raw = MemoirClassifier(weighting="raw")
    for given in (X, sparse.csr_array(X)):
        with pytest.raises(ValueError, match=message):
            raw.fit(given, y)
    raw.fit(np.eye(6), y)
    for given in (X, sparse.csr_array(X)):
        for call in (raw.predict, raw.predict_proba, raw.decision_function):
            with pytest.raises(ValueError, match=message):
                call(given)
        with pytest.raises(ValueError, match=message):
            raw.partial_fit(given, y)
    with pytest.raises(ValueError, match="row 0, column 3 of X holds 3e38"):
        raw.explain(X[3])
    X[3, 3] = -1e15
    assert np.isfinite(raw.fit(X, y).decision_function(X)).all()


@pytest.mark.parametrize("weighting", ["unit", "counts"])
def test_large_values_that_are_scaled_give_the_right_answer(weighting):
    X, y = np.eye(6) * 3e38, [0, 1, 2] * 2
    model = MemoirClassifier("centroid", weighting=weighting).fit(X, y)
    assert model.predict(X).tolist() == y and np.isfinite(model.decision_function(X)).all()


def test_broken_arrays_inside_a_matrix():
    X = sparse.csr_array(np.eye(3))
    X.indptr = np.array([0, 1, 2, 9], dtype=X.indptr.dtype)
    with pytest.raises(ValueError, match="row 2 of X lies outside of its arrays"):
        MemoirClassifier("centroid").fit(X, [0, 1, 2])
