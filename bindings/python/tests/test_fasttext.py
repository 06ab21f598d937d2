"""fastText's interface on memoir's models."""

import pickle

import numpy as np
import pytest
from conftest import made_up_texts
from memoir.compat import fasttext


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fasttext")
    for name, seed in (("train", 1), ("test", 2)):
        texts, labels = made_up_texts(seed=seed)
        lines = (f"__label__{label} {text}\n" for text, label in zip(texts, labels))
        (folder / f"{name}.txt").write_text("".join(lines))
    return folder


@pytest.fixture(scope="module")
def model(files):
    return fasttext.train_supervised(input=str(files / "train.txt"), wordNgrams=2)


def test_predict_one(model):
    labels, probabilities = model.predict("welding at night", k=3)
    assert labels[0] == "__label__job-weld" and len(labels) == 3 and isinstance(labels, tuple)
    assert isinstance(probabilities, np.ndarray) and probabilities[0] > probabilities[1]


def test_predict_many(model):
    labels, probabilities = model.predict(["welding", "teaching"])
    assert labels == [["__label__job-weld"], ["__label__job-teach"]]
    assert len(probabilities) == 2 and probabilities[0].shape == (1,)


def test_thresholds_and_all_labels(model):
    labels, probabilities = model.predict("welding", k=-1)
    assert len(labels) == 12 == len(model.labels)
    sure, _ = model.predict("welding", k=-1, threshold=float(probabilities[0]))
    assert sure == labels[:1]
    with pytest.raises(ValueError, match="one line at a time"):
        model.predict("two\nlines")
    for wrong in (None, b"welding", ["welding", 3]):
        with pytest.raises(ValueError, match="expected a text or a list of texts"):
            model.predict(wrong)


def test_test(model, files):
    rows, precision, recall = model.test(str(files / "test.txt"))
    assert rows == 400 and precision == recall > 0.95
    rows, precision, recall = model.test(str(files / "test.txt"), k=5)
    assert precision == pytest.approx(recall / 5)
    by_label = model.test_label(str(files / "test.txt"))
    assert by_label["__label__job-weld"]["f1score"] > 0.9


def test_save_and_load(model, files, program):
    path = str(files / "m.bin")
    model.save_model(path)
    again = fasttext.load_model(path)
    assert again.predict("welding")[0] == model.predict("welding")[0]
    assert again.labels == model.labels
    program(
        "train",
        files / "train.txt",
        "--format",
        "fasttext",
        "--word-ngrams",
        2,
        "--model",
        files / "cli",
        "--quiet",
    )
    assert (files / "m.bin").read_bytes() == (files / "cli").read_bytes()
    # The weights that `softmax` learns are whole numbers of 16 bits.
    assert model.is_quantized() and model.estimator.summary()["precision"] == "i16"


def test_parameters_of_fasttext(files):
    with pytest.warns(UserWarning, match="mean nothing here: epoch, lr"):
        model = fasttext.train_supervised(
            input=files / "train.txt", lr=1.0, epoch=25, minn=3, maxn=5, passes=2
        )
    assert model.estimator.char_ngrams == 5 and model.estimator.passes == 2
    with pytest.raises(ValueError, match="__label__"):
        fasttext.train_supervised(files / "train.txt", label="#")
    with pytest.raises(TypeError, match="lrate"):
        fasttext.train_supervised(files / "train.txt", lrate=1.0)
    labels, counts = model.get_labels(include_freq=True)
    assert sum(counts) == 400 and (np.diff(counts.astype(int)) <= 0).all()


def test_arguments_in_the_order_of_fasttext(files):
    # input, lr, dim, ws, epoch, minCount, minCountLabel, minn, maxn, neg, wordNgrams
    with pytest.warns(UserWarning, match="mean nothing here: dim, epoch, lr, minCountLabel, neg, ws"):
        model = fasttext.train_supervised(str(files / "train.txt"), 0.1, 100, 5, 5, 2, 0, 3, 4, 5, 2)
    chosen = model.estimator.get_params()
    assert [chosen[name] for name in ("min_df", "char_ngrams_from", "char_ngrams", "word_ngrams")] == [
        2,
        3,
        4,
        2,
    ]


def test_words(model, files):
    words, rows = model.get_words(include_freq=True)
    assert words == model.words and (np.diff(rows.astype(int)) <= 0).all()
    lines = (files / "train.txt").read_text().splitlines()
    assert rows[words.index("weld")] == sum("weld" in line.split()[1:] for line in lines)
    assert model.words[model.get_word_id("weld")] == "weld" and model.get_word_id("unheard-of") == -1
    assert all(word.isalpha() for word in words)
    runs = fasttext.train_supervised(files / "train.txt", wordNgrams=2, minn=2, maxn=4)
    assert set(runs.words) == set(words)
    assert "weld" in model and "unheard-of" not in model
    assert sorted(model.labels) == sorted(set(line.split()[0] for line in lines))


def test_files_that_keep_no_counts(model, files, program):
    """`compact --final` drops what only training needs: how often labels and words were met."""
    model.save_model(files / "full")
    program("compact", files / "full", "--final", "--precision", "int8", "--out", files / "final")
    final = fasttext.load_model(files / "final")
    assert set(final.words) == set(model.words) and set(final.labels) == set(model.labels)
    assert final.get_words(include_freq=True)[1].sum() == 0
    assert final.predict("welding")[0] == model.predict("welding")[0] and final.is_quantized()


def test_what_is_not_there_says_so(model):
    for name, reason in [
        ("get_word_vector", "not vectors"),
        ("quantize", "max_model_size"),
        ("get_meter", "test_label"),
    ]:
        assert not hasattr(model, name)
        with pytest.raises(AttributeError, match=f"`{name}` of fastText .*{reason}"):
            getattr(model, name)
    with pytest.raises(AttributeError, match="has no attribute 'predct'"):
        model.predct("a")
    with pytest.raises(AttributeError, match="`train_unsupervised` of fastText"):
        fasttext.train_unsupervised("train.txt")
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        fasttext.nothing()
    assert pickle.loads(pickle.dumps(model)).predict("welding") == model.predict("welding")


def test_missing_files():
    with pytest.raises(FileNotFoundError):
        fasttext.train_supervised("absent.txt")
    with pytest.raises(FileNotFoundError):
        fasttext.load_model("absent.bin")
