"""Parameters: the library's names, the library's defaults, and exact words for what is wrong."""

import inspect
import re

import memoir
import numpy as np
import pytest
from memoir import MemoirClassifier, MemoirTextClassifier
from memoir._parameters import parse_size, python_name


def defaults_of(estimator):
    return {
        name: parameter.default
        for name, parameter in inspect.signature(estimator).parameters.items()
        if name != "algorithm"
    }


def test_signature_has_the_defaults_of_the_command_line(program):
    """`memoir train --help-all` tells the default of every option; the signature must agree with it."""
    told = re.sub(r"\s+", " ", program("train", "--help-all"))
    defaults = defaults_of(MemoirTextClassifier)
    checked = 0
    for algorithm, about in memoir.algorithms().items():
        for name, spec in about["parameters"].items():
            option = "--" + name.rstrip("_").replace("_", "-")
            assert option in told, f"{option} of {algorithm} is not an option of the command line"
            if defaults[name] is None:
                continue
            assert defaults[name] == spec["default"], f"{name} of {algorithm}"
            shown = re.search(re.escape(option) + r" <VALUE> .*?\[default: ([^;]+);", told)
            assert shown is not None, option
            if isinstance(spec["default"], str):
                assert shown[1] == spec["default"], option
            else:
                assert float(shown[1]) == spec["default"], option
            checked += 1
    assert checked > 20


def test_defaults_that_differ_are_left_to_the_algorithm():
    """`cost` and the like mean something else to each algorithm."""
    for name, default in defaults_of(MemoirClassifier).items():
        specs = [
            about["parameters"][name]["default"]
            for about in memoir.algorithms().values()
            if name in about["parameters"]
        ]
        if specs and default is None:
            assert len(set(map(str, specs))) > 1, f"{name} has one default and should show it"


def test_every_algorithm_trains(data):
    X, y = data
    for algorithm in memoir.algorithms():
        model = MemoirClassifier(algorithm).fit(X, y)
        assert model.score(X, y) > 0.8, algorithm
        assert model.predict_proba(X[:5]).sum(axis=1) == pytest.approx([1] * 5), algorithm


def test_lambda_has_a_legal_name(data):
    assert python_name("lambda") == "lambda_"
    model = MemoirClassifier("memoir-l2", lambda_=0.5, iterations=3).fit(*data)
    assert model.summary()["params"]["lambda"] == 0.5


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"algorithm": "magic"}, "there is no algorithm 'magic'; there are: softmax"),
        ({"passes": 0}, "`passes` must be `auto` or a whole number from 1 to 1,000, but is `0`"),
        ({"neighbours": 3}, "`neighbours` is not a parameter of `softmax`; it belongs to `knn`"),
        ({"step_size": "fast"}, "`step-size` must be `auto` or a number"),
        ({"weighting": "heavy"}, "`weighting` must be one of auto, counts, unit, raw, but is `heavy`"),
        ({"precision": "f64"}, "`precision` must be one of f32, f16, but is `f64`"),
        ({"valid_fraction": 1.5}, "`valid-fraction` must be a number between 0 and 1, but is `1.5`"),
        (
            {"random_state": 2**70},
            "`random_state` must be from 0 to 2**64 - 1, but is 1180591620717411303424",
        ),
        ({"random_state": -1}, "`random_state` must be from 0 to 2**64 - 1, but is -1"),
        ({"n_jobs": 0}, "`n_jobs` must not be 0"),
        ({"memory_budget": 1}, '`memory_budget` must be at least 1M, but is 1; give a unit, as in "512M"'),
        ({"memory_budget": "plenty"}, '`memory_budget` must be a number of bytes or a size such as "512M"'),
    ],
)
def test_wrong_parameters(data, parameters, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        MemoirClassifier(**parameters).fit(*data)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"algorithm": ["softmax"]}, "`algorithm` must be a string, but is ['softmax']"),
        ({"valid_fraction": "a"}, "`valid_fraction` must be a number between 0 and 1, or None, but is 'a'"),
        (
            {"valid_fraction": True},
            "`valid_fraction` must be a number between 0 and 1, or None, but is True",
        ),
        ({"weighting": None}, "`weighting` must be a string, but is None"),
        ({"precision": 16}, "`precision` must be a string or None, but is 16"),
        ({"replicate": "no"}, "`replicate` must be True or False, but is 'no'"),
        ({"n_jobs": 1.5}, "`n_jobs` must be a whole number or None, but is 1.5"),
    ],
)
def test_parameters_of_the_wrong_type(data, parameters, message):
    with pytest.raises(TypeError, match=re.escape(message)):
        MemoirClassifier(**parameters).fit(*data)


def test_rows_to_stop_by_are_a_pair(data):
    X, y = data
    for wrong, kind in ((X, "csr_array"), (3, "int"), ((X,), "tuple")):
        with pytest.raises(ValueError, match=rf"`valid` must be a pair \(X, y\), but is of type {kind}"):
            MemoirClassifier().fit(X, y, valid=wrong)


def test_types_of_numpy_are_taken(data):
    model = MemoirClassifier(
        n_jobs=np.int64(1),
        replicate=np.bool_(False),
        valid_fraction=np.float32(0.25),
        random_state=np.int64(3),
    )
    assert model.fit(*data).summary()["seed"] == 3


def test_unknown_parameters():
    with pytest.raises(TypeError, match="unexpected keyword argument 'pases'"):
        MemoirClassifier(pases=3)
    with pytest.raises(TypeError, match="`passes` must be a number or a string"):
        MemoirClassifier(passes=[1]).fit([[1.0], [2.0]], [0, 1])


def test_sizes():
    assert parse_size("x", None) is None
    assert [parse_size("x", size) for size in (1000, "512M", "2 GB", "1.5k")] == [
        1000,
        512_000_000,
        2_000_000_000,
        1500,
    ]
    for wrong in ("", "M", "-3M", 0):
        with pytest.raises(ValueError, match="`x` must be"):
            parse_size("x", wrong)


def test_sizes_are_kept(data):
    full = MemoirClassifier().fit(*data).summary()["file_bytes"]
    small = MemoirClassifier(max_model_size=int(full * 0.8)).fit(*data).summary()["file_bytes"]
    assert small <= full * 0.8


def test_seeds(data):
    X, y = data
    content = [
        MemoirClassifier(random_state=seed, n_jobs=jobs).fit(X, y)._model.to_bytes()
        for seed, jobs in ((1, 1), (1, 2), (2, 1))
    ]
    assert content[0] == content[1]
    assert content[0] != content[2]
