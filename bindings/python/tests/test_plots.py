"""Pictures: that they show what the data says."""

import numpy as np
import pytest
from conftest import made_up
from memoir import MemoirClassifier, plots


@pytest.fixture(scope="module")
def fitted():
    X, y = made_up(rows=600, classes=12, words=2, seed=5)
    noisy = np.random.default_rng(6).random(600) < 0.2
    y = np.where(noisy, (y + 1) % 12, y)
    model = MemoirClassifier(passes=3, valid_fraction=0.2).fit(X[:400], y[:400])
    return model, X[400:], y[400:]


def test_coverage(fitted):
    model, X, y = fitted
    shares, accuracies = plots.coverage_curve(model, X, y)
    assert shares[-1] == 1 and accuracies[-1] == pytest.approx(model.score(X, y))
    assert accuracies[: len(y) // 4].mean() >= accuracies[-1]
    axes = plots.coverage(model, X, y)
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), accuracies)


def test_confusion(fitted):
    model, X, y = fitted
    axes = plots.confusion(model, X, y, top=5)
    table = axes.images[0].get_array()
    assert table.shape == (5, 5)
    shown = [int(tick.get_text()) for tick in axes.get_yticklabels()]
    predicted = model.predict(X)
    assert table[0, 1] == ((y == shown[0]) & (predicted == shown[1])).sum()


def test_nothing_confused(fitted):
    model, X, _ = fitted
    table = plots.confusion(model, X, model.predict(X)).images[0].get_array()
    assert table.sum() == np.trace(table) == 200


@pytest.mark.parametrize("form", ["list", "lists", "indicator", "frame"])
def test_every_form_of_targets(fitted, form):
    pandas = pytest.importorskip("pandas")
    _, X, y = fitted
    names = [f"c{label:02}" for label in y]
    table = np.eye(12, dtype=int)[y]
    given = {
        "list": names,
        "lists": [[name] for name in names],
        "indicator": table,
        "frame": pandas.DataFrame(table, columns=[f"c{label:02}" for label in range(12)]),
    }[form]
    model = MemoirClassifier(passes=3).fit(X, given)
    expected = MemoirClassifier(passes=3).fit(X, y)
    shown = plots.confusion(model, X, given, top=5).images[0].get_array()
    np.testing.assert_array_equal(shown, plots.confusion(expected, X, y, top=5).images[0].get_array())
    np.testing.assert_array_equal(
        plots.coverage_curve(model, X, given)[1][-1], plots.coverage_curve(expected, X, y)[1][-1]
    )


def test_rows_with_several_labels():
    X = np.eye(3)
    model = MemoirClassifier("centroid").fit(X, [["a"], ["b"], ["c"]])
    told = [["a", "z"], ["c", "z"], []]
    axes = plots.confusion(model, X, told)
    names = [tick.get_text() for tick in axes.get_yticklabels()]
    table = axes.images[0].get_array()
    assert names == ["b", "c", "z"]
    assert table.tolist() == [[0, 0, 0], [1, 0, 0], [1, 0, 0]]
    assert plots.coverage_curve(model, X, told)[1].tolist()[-1] == 0.5
    with pytest.raises(ValueError, match="X has 3 rows, but y has 2"):
        plots.confusion(model, X, told[:2])


def test_training_curve(fitted):
    model, X, y = fitted
    axes = plots.training_curve(model)
    assert axes.lines[0].get_xdata().tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="valid_fraction"):
        plots.training_curve(MemoirClassifier().fit(X, y))
