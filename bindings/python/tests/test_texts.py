"""Texts of every form."""

import sys

import numpy as np
import pytest
from memoir import MemoirTextClassifier


@pytest.fixture(scope="module")
def expected(texts):
    X, y = texts
    return MemoirTextClassifier().fit(X, y)


def forms():
    import pandas
    import pyarrow

    return {
        "tuple": tuple,
        "numpy str": np.array,
        "numpy object": lambda texts: np.array(texts, dtype=object),
        "numpy StringDType": lambda texts: np.array(texts, dtype=np.dtypes.StringDType()),
        "column": lambda texts: np.array(texts, dtype=object).reshape(-1, 1),
        "pandas": pandas.Series,
        "pandas object": lambda texts: pandas.Series(texts, dtype=object),
        "pandas arrow": lambda texts: pandas.Series(texts, dtype="string[pyarrow]"),
        "pandas frame": lambda texts: pandas.DataFrame({"text": texts}),
        "arrow": pyarrow.array,
        "arrow large": lambda texts: pyarrow.array(texts, pyarrow.large_string()),
        "arrow view": lambda texts: pyarrow.array(texts, pyarrow.string_view()),
        "arrow dictionary": lambda texts: pyarrow.array(texts).dictionary_encode(),
        "arrow chunked": lambda texts: pyarrow.chunked_array([texts[:7], texts[7:]]),
        "arrow slice": lambda texts: pyarrow.array(["before", *texts, "after"])[1:-1],
        "arrow table": lambda texts: pyarrow.table({"text": texts}),
    }


@pytest.mark.parametrize("form", list(forms()))
def test_every_form_gives_the_same_model(form, texts, expected):
    X, y = texts
    given = forms()[form](X)
    model = MemoirTextClassifier().fit(given, y)
    assert model._model.to_bytes() == expected._model.to_bytes()
    np.testing.assert_array_equal(model.predict(given), expected.predict(X))


class Series:
    """A column of a library that has Arrow's data and does not need pyarrow, as polars is."""

    def __init__(self, values):
        self.values = values

    def __arrow_c_stream__(self, requested_schema=None):
        raise NotImplementedError

    def to_list(self):
        return self.values


def test_arrow_data_without_pyarrow(monkeypatch, texts, expected):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    X, _ = texts
    np.testing.assert_array_equal(expected.predict(Series(X)), expected.predict(X))


def test_polars(texts, expected):
    polars = pytest.importorskip("polars")
    X, y = texts
    for given in (polars.Series(X), polars.DataFrame({"text": X})):
        model = MemoirTextClassifier().fit(given, polars.Series(y))
        assert model._model.to_bytes() == expected._model.to_bytes()
    weighted = MemoirTextClassifier().fit(given, y, sample_weight=np.arange(len(X)) % 2)
    assert weighted.summary()["rows"] == len(X) // 2
    lists = MemoirTextClassifier().fit(X, polars.Series([[label] for label in y]))
    assert lists.predict(X[:1]) == [[y[0]]]
    with pytest.raises(ValueError, match="row 1 of y has no label"):
        model.fit(polars.Series(X[:3]), polars.Series(["a", None, "b"]))


def test_unicode_and_empty_texts():
    X = ["grüße aus köln", "", "日本 語", "🚀 to the moon", "naïve café"] * 3
    model = MemoirTextClassifier().fit(X, ["de", "none", "jp", "rocket", "fr"] * 3)
    assert model.predict(["köln", "日本", "café"]).tolist() == ["de", "jp", "fr"]


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ("one text", "got one string"),
        (["a", None, "b"], "row 1 of X is NoneType, expected a string"),
        (["a", 3.5, "b"], "row 1 of X is float, expected a string"),
        ([b"bytes", "a", "b"], "row 0 of X is bytes, expected a string"),
        (["a", "b"], "X has 2 rows, but y has 3"),
        (["a", "\ud800", "b"], "row 1 of X is not valid Unicode"),
        (7, "expected texts, got int"),
        ({"a", "b", "c"}, "expected a list of texts, got a set"),
        ({"a": 0, "b": 1, "c": 2}, "expected a list of texts, got a dict"),
    ],
    ids=ascii,
)
def test_wrong_texts(X, message):
    with pytest.raises(ValueError, match=message):
        MemoirTextClassifier().fit(X, [0, 1, 2])


def test_wrong_tables():
    import pandas
    import pyarrow

    frame = pandas.DataFrame({"a": ["x", "y"], "b": ["x", "y"]})
    with pytest.raises(ValueError, match="expected one column of texts, got 2 columns"):
        MemoirTextClassifier().fit(frame, [0, 1])
    with pytest.raises(ValueError, match="row 1 of X is null"):
        MemoirTextClassifier().fit(pyarrow.array(["x", None]), [0, 1])
    with pytest.raises(ValueError, match="Arrow array of int64"):
        MemoirTextClassifier().fit(pyarrow.array([1, 2]), [0, 1])


def test_nothing_left_to_count():
    with pytest.raises(ValueError, match="`min-df` is 5"):
        MemoirTextClassifier(min_df=5).fit(["a b", "c d"], [0, 1])


def test_explain_words(texts, expected):
    X, _ = texts
    told = expected.explain(X[0])
    assert told.features[0].name in X[0]
    assert expected.top_features("job-weld", top=2)[0].name.startswith("weld")
    with pytest.raises(ValueError, match="expected one row"):
        expected.explain(X[:2])
