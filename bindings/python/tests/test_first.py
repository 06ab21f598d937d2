"""The smallest journey: train, predict, save, load."""

import numpy as np

import memoir


def test_train_predict_save_load(data, tmp_path):
    X, y = data
    model = memoir.MemoirClassifier().fit(X, y)
    assert (model.predict(X) == y).mean() > 0.95
    assert model.classes_.tolist() == list(range(12))
    model.save(tmp_path / "m.memoir")
    again = memoir.load(tmp_path / "m.memoir")
    assert isinstance(again, memoir.MemoirClassifier)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_text(texts):
    X, y = texts
    model = memoir.MemoirTextClassifier().fit(X, y)
    assert np.mean(model.predict(X) == y) > 0.95
