"""Tables in and out."""

import memoir
import numpy as np
import pandas
import polars
import pyarrow
import pytest
from memoir import MemoirClassifier, MemoirTextClassifier, column_text

TEXTS = ["green tea", "black tea", "printer toner", "printer paper"] * 5
LABELS = ["hot", "hot", "office", "office"] * 5


@pytest.fixture
def model():
    return MemoirTextClassifier().fit(TEXTS, LABELS)


def test_frames_come_back_with_answers(model):
    frame = pandas.DataFrame({"id": [3, 5], "text": ["tea", "toner"]}, index=["a", "b"])
    answered = model.predict_frame(frame, k=2)
    assert list(answered.columns) == ["id", "text", "class_1", "probability_1", "class_2", "probability_2"]
    assert answered.index.tolist() == ["a", "b"]
    assert answered.class_1.tolist() == ["hot", "office"]
    expected = model.predict_topk(["tea", "toner"], 2)
    assert np.array_equal(answered.probability_1, expected.probabilities[:, 0])
    assert list(frame.columns) == ["id", "text"], "the frame itself is not changed"
    table = model.predict_frame(pyarrow.table({"id": [3, 5], "text": ["tea", "toner"]}))
    assert table.column("class_1").to_pylist() == ["hot", "office"]
    assert table.column_names[:2] == ["id", "text"]


def test_polars_frames(model):
    frame = polars.DataFrame({"id": [3, 5, 7], "text": ["tea", "xylophone", "toner"]})
    answered = model.predict_frame(frame, k=2)
    assert isinstance(answered, polars.DataFrame)
    assert answered.columns == ["id", "text", "class_1", "probability_1", "class_2", "probability_2"]
    assert answered["class_1"].to_list() == ["hot", None, "office"]
    assert answered["probability_2"][1] is None
    assert answered.dtypes[2:4] == [polars.String, polars.Float64]
    assert frame.columns == ["id", "text"], "the frame itself is not changed"
    expected = model.predict_frame(frame.to_pandas(), k=2).probability_1.dropna().tolist()
    assert answered["probability_1"].drop_nulls().to_list() == expected


@pytest.mark.parametrize("make", [pandas.DataFrame, polars.DataFrame, pyarrow.table, pyarrow.record_batch])
def test_frames_of_every_kind_are_answered_alike(model, make):
    columns = {"Title": ["green tea", None, "printer"], "region": ["N", "S", None], "pay": [1.5, None, 3]}
    answered = model.predict_frame(make(columns), text="title", category="region", numeric="pay")
    assert type(answered) is type(make(columns)), "what comes in goes out"
    found = answered["class_1"]
    found = found.to_pylist() if hasattr(found, "to_pylist") else list(found)
    assert [None if label != label else label for label in found] == ["hot", None, "office"]


def test_frames_without_an_answer_or_a_row(model):
    unknown = model.predict_frame(polars.DataFrame({"text": ["xylophone"]}))
    assert unknown["class_1"].to_list() == [None]
    assert unknown.schema["class_1"] == polars.String


def test_lazy_frames_are_refused(model):
    lazy = polars.LazyFrame({"text": ["tea"]})
    for attempt in (model.predict_frame, column_text):
        with pytest.raises(ValueError, match="the frame is a LazyFrame.*call collect"):
            attempt(lazy)
    for attempt in (model.predict, model.predict_topk):
        with pytest.raises(ValueError, match="X is a LazyFrame.*call collect"):
            attempt(lazy)
    vectors = MemoirClassifier("centroid").fit(np.eye(2), [0, 1])
    for each in (model, vectors):
        for name in ("predict_topk", "predict_proba", "decision_function", "explain"):
            with pytest.raises(ValueError, match="X is a LazyFrame.*call collect"):
                getattr(each, name)(lazy)
        for name in ("predict_proba", "decision_function"):
            with pytest.raises(ValueError, match="X is a LazyFrame.*call collect"):
                getattr(each, name)(lazy, k=1)
    for attempt in (vectors.fit, vectors.score):
        with pytest.raises(ValueError, match="`sample_weight` is a LazyFrame.*call collect"):
            attempt(np.eye(2), [0, 1], sample_weight=lazy)
    with pytest.raises(ValueError, match="y is a LazyFrame.*call collect"):
        MemoirTextClassifier().fit(TEXTS, polars.LazyFrame({"label": LABELS}))


@pytest.mark.parametrize(
    "column",
    [
        polars.Series,
        lambda values: polars.Series(values, dtype=polars.Categorical),
        lambda values: polars.Series(values, dtype=polars.Enum(sorted(set(values)))),
        lambda values: polars.DataFrame({"a": values})["a"],
        pyarrow.array,
        lambda values: pyarrow.array(values, pyarrow.large_string()),
        lambda values: pyarrow.array(values, pyarrow.string_view()),
        lambda values: pyarrow.array(values).dictionary_encode(),
        lambda values: pyarrow.chunked_array([values[:7], values[7:]]),
        lambda values: pandas.Series(values, dtype="category"),
        lambda values: pandas.Series(values, dtype="string[pyarrow]"),
    ],
)
def test_columns_of_every_kind_are_learned_from(model, column):
    by_column = MemoirTextClassifier().fit(column(TEXTS), column(LABELS))
    assert by_column.classes_.tolist() == model.classes_.tolist()
    assert by_column.predict(column(TEXTS)).tolist() == LABELS
    assert by_column.score(column(TEXTS), column(LABELS)) == 1
    expected = model.predict_topk(TEXTS).probabilities
    assert np.array_equal(by_column.predict_topk(column(TEXTS)).probabilities, expected)


def test_missing_values_of_polars_are_told():
    with pytest.raises(ValueError, match="row 1 of X is null"):
        MemoirTextClassifier().fit(polars.Series(["tea", None]), ["a", "b"])
    with pytest.raises(ValueError, match="row 1 of y has no label"):
        MemoirTextClassifier().fit(["tea", "ink"], polars.Series(["a", None]))


def test_polars_numbers_and_several_labels():
    model = MemoirTextClassifier().fit(polars.Series(TEXTS), polars.Series([1, 1, 2, 2] * 5))
    assert model.predict(polars.Series(["tea", "toner"])).tolist() == [1, 2]
    lists = polars.Series([["hot", "drink"], ["hot"], ["office"], ["office"]] * 5)
    several = MemoirTextClassifier().fit(polars.Series(TEXTS), lists)
    assert sorted(several.classes_.tolist()) == ["drink", "hot", "office"]
    frame = polars.DataFrame({"a": [1.0, 0.0], "b": [0.0, 1.0]})
    vectors = MemoirClassifier().fit(frame, polars.Series(["x", "y"]))
    assert vectors.predict_frame(frame)["class_1"].to_list() == ["x", "y"]


def test_frames_of_vectors():
    frame = pandas.DataFrame({"a": [1.0, 0.0], "b": [0.0, 1.0]})
    model = MemoirClassifier().fit(frame, ["x", "y"])
    assert model.predict_frame(frame).class_1.tolist() == ["x", "y"]
    with pytest.raises(ValueError, match="are for models of text"):
        model.predict_frame(frame, text="a")


def test_mistakes(model):
    with pytest.raises(ValueError, match="expected a column 'text'"):
        model.predict_frame(pandas.DataFrame({"a": ["tea"], "b": [1]}))
    with pytest.raises(ValueError, match="has a column 'class_1' already"):
        model.predict_frame(pandas.DataFrame({"text": ["tea"], "class_1": [1]}))


def test_columns_as_the_program_reads_them(program, tmp_path):
    rows = 40
    frame = pandas.DataFrame(
        {
            "title": ["nurse", "cook"] * (rows // 2),
            "notes": [f"note{row % 3}" for row in range(rows)],
            "region": ["North", "North", "South", None] * (rows // 4),
            "pay": [10.5 * (row % 4) for row in range(rows)],
        }
    )
    frame["label"] = [f"{title}{row % 4}" for row, title in enumerate(frame.title)]
    frame.to_csv(tmp_path / "jobs.csv", index=False)
    columns = ["--text-column", "title:2,notes", "--category-column", "region", "--numeric-column", "pay:1"]
    model = tmp_path / "m"
    program("train", tmp_path / "jobs.csv", "--model", model, "--quiet", *columns)
    by_program = memoir.load(model)
    texts = column_text(frame, "title:2,notes", category="region", numeric="pay:1")
    assert by_program.predict(texts).tolist() == frame.label.tolist()
    by_python = MemoirTextClassifier().fit(texts, frame.label)
    assert by_python.predict(texts).tolist() == frame.label.tolist()
    answered = by_program.predict_frame(frame, text="title:2,notes", category="region", numeric="pay:1")
    assert answered.class_1.tolist() == frame.label.tolist()
    assert np.array_equal(
        by_python.predict_topk(texts).probabilities, by_program.predict_topk(texts).probabilities
    )


def test_overrides_of_a_file_decide_and_are_marked(model, program, tmp_path):
    model.save(tmp_path / "m")
    (tmp_path / "dictionary.csv").write_text("text,label\nGreen  tea,office\n")
    program("overrides", tmp_path / "m", tmp_path / "dictionary.csv", "--out", tmp_path / "m2", "--quiet")
    again = memoir.load(tmp_path / "m2")
    texts = ["green TEA", "black tea"]
    assert again.predict(texts).tolist() == ["office", "hot"]
    assert again.predict_topk(texts, 1).probabilities[0, 0] == 1.0
    assert again.overridden(texts).tolist() == [True, False]
    frame = again.predict_frame(pandas.DataFrame({"text": texts}))
    assert frame.override.tolist() == [True, False]
    assert not model.overridden(texts).any()
