"""The recipes for Spark and Dask in the guide are run as they are printed, where these are installed."""

import pathlib
import re
import sys

import memoir
import pytest
from test_shards import table

GUIDE = pathlib.Path(__file__).parents[3] / "docs" / "guide" / "clusters.md"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a model and the rows that it was trained on."""
    folder = tmp_path_factory.mktemp("shared")
    model = memoir.MemoirTextClassifier(n_jobs=1).fit_file(table(folder / "rows.csv"))
    model.save(folder / "tickets.memoir")
    return folder


@pytest.fixture
def rows(place):
    pandas = pytest.importorskip("pandas")
    rows = pandas.read_csv(place / "rows.csv")[["text"]]
    rows["id"] = range(len(rows))
    return rows


def recipe(heading, place):
    section = GUIDE.read_text().split(f"## {heading}\n")[1].split("\n## ")[0]
    (code,) = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)
    assert "/shared/" in code
    return code.replace("/shared", str(place))


def run(code, **names):
    exec(compile(code, GUIDE.name, "exec"), names)
    return names["answers"]


def expected(place, rows):
    labels = memoir.load(place / "tickets.memoir").predict(rows["text"].tolist())
    return dict(zip(rows["id"].tolist(), labels.tolist()))


def test_spark(place, rows, monkeypatch):
    sql = pytest.importorskip("pyspark.sql")
    # Workers must be of this environment.
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    rows.to_parquet(place / "rows")
    spark = (
        sql.SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    try:
        answers = run(recipe("Answer on Spark", place), spark=spark).collect()
    finally:
        spark.stop()
    assert {row["id"]: row["label"] for row in answers} == expected(place, rows)


def test_dask(place, rows):
    frames = pytest.importorskip("dask.dataframe")
    frame = frames.from_pandas(rows, npartitions=3)
    answers = run(recipe("Answer on Dask", place), frame=frame).compute(scheduler="threads")
    assert dict(zip(answers["id"].tolist(), answers["label"].tolist())) == expected(place, rows)
