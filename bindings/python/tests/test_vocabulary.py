"""Names and hierarchy of the classes."""

from __future__ import annotations

import pytest
from memoir import MemoirClassifier, MemoirTextClassifier

TEXTS = ["red apple", "green apple", "blue sky", "grey sky"]
LABELS = ["f", "f", "w", "w"]


@pytest.fixture
def vocabulary(tmp_path):
    table = tmp_path / "classes.csv"
    table.write_text("id,name@en,name@sv,alternative@en\nf,Fruit,Frukt,pome\nw,Weather,Väder,\n")
    return table


def test_names_are_learned_from(vocabulary):
    model = MemoirTextClassifier(vocabulary=vocabulary).fit(TEXTS, LABELS)
    assert model.predict(["a pome", "the weather"]).tolist() == ["f", "w"]


def test_names_have_the_shape_of_labels(vocabulary):
    model = MemoirTextClassifier(vocabulary=vocabulary, language="sv,en").fit(TEXTS, LABELS)
    best = model.predict_topk(TEXTS[:3], k=2)
    assert model.class_names(best.classes).tolist() == [
        ["Frukt", "Väder"],
        ["Frukt", "Väder"],
        ["Väder", "Frukt"],
    ]
    assert model.class_names(["w", "unknown"], language="en").tolist() == ["Weather", None]


def test_names_stay_in_files_and_stand_in_reports(vocabulary, tmp_path):
    model = MemoirTextClassifier(vocabulary=vocabulary, language="en").fit(TEXTS, LABELS)
    model.save(tmp_path / "m.memoir")
    loaded = MemoirTextClassifier.load(tmp_path / "m.memoir")
    assert loaded.class_names(["f"]).tolist() == ["Fruit"]
    assert loaded.summary()["vocabulary"]["known_classes"] == 2


def test_a_rule_makes_a_hierarchy_of_codes():
    rows = [[1, 0], [0, 1]] * 2
    model = MemoirClassifier(hierarchy="prefix:1").fit(rows, ["a1", "b1"] * 2)
    assert model.summary()["vocabulary"]["relations"] == 2
    assert model.class_names(["a1"]).tolist() == [None]


def test_bad_parameters_are_told(tmp_path):
    with pytest.raises(ValueError, match="prefix"):
        MemoirClassifier(hierarchy="suffix:1").fit([[1], [2]], ["a", "b"])
    with pytest.raises(TypeError, match="language"):
        MemoirClassifier(language=["sv"]).fit([[1], [2]], ["a", "b"])
    with pytest.raises(FileNotFoundError):
        MemoirClassifier(vocabulary=tmp_path / "none.csv").fit([[1], [2]], ["a", "b"])
