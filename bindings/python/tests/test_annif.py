"""The backend for Annif, against the few things of Annif that it uses."""

import importlib.util
import pathlib
import sys
import types

import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

HERE = pathlib.Path(__file__).parent.parent


class Document:
    def __init__(self, text, subject_set=()):
        self.text, self.subject_set = text, subject_set


class Corpus:
    def __init__(self, documents):
        self.documents = documents

    def is_empty(self):
        return not self.documents


def annif_modules():
    """Stand-ins for the modules of Annif that a backend meets."""

    class LearningBackend:
        backend_id = "memoir"

        def __init__(self, params, project, datadir):
            self.params = {**self.DEFAULT_PARAMETERS, **params}
            self.project, self.datadir = project, datadir

        def train(self, corpus, params=None, jobs=0):
            self._train(corpus, {**self.params, **(params or {})}, jobs)

        def learn(self, corpus, params=None):
            self._learn(corpus, {**self.params, **(params or {})})

        def suggest(self, documents, params=None):
            self.initialize()
            return self._suggest_batch(documents, {**self.params, **(params or {})})

    class VectorizerMixin:
        vectorizer = None

        def initialize_vectorizer(self):
            if self.vectorizer is None:
                self.vectorizer = KEPT[self.datadir]

        def create_vectorizer(self, texts, params):
            self.vectorizer = TfidfVectorizer(**params, token_pattern=None)
            KEPT[self.datadir] = self.vectorizer
            return self.vectorizer.fit_transform(texts)

    class SuggestionBatch:
        def __init__(self, array):
            self.array = array

    class NotInitializedException(Exception):
        def __init__(self, message, backend_id=None):
            super().__init__(message)

    class NotSupportedException(Exception):
        pass

    modules = {name: types.ModuleType(name) for name in ("annif", "annif.backend", "annif.backend.backend",
               "annif.backend.mixins", "annif.exception", "annif.suggestion")}  # fmt: skip
    modules["annif.backend"].backend = modules["annif.backend.backend"]
    modules["annif.backend"].mixins = modules["annif.backend.mixins"]
    modules["annif.backend.backend"].AnnifLearningBackend = LearningBackend
    modules["annif.backend.mixins"].TfidfVectorizerMixin = VectorizerMixin
    modules["annif.exception"].NotInitializedException = NotInitializedException
    modules["annif.exception"].NotSupportedException = NotSupportedException
    modules["annif.suggestion"].SuggestionBatch = SuggestionBatch
    return modules


KEPT = {}


@pytest.fixture
def module(monkeypatch):
    for name, stand_in in annif_modules().items():
        monkeypatch.setitem(sys.modules, name, stand_in)
    spec = importlib.util.spec_from_file_location("annif_backend", HERE / "examples" / "annif_backend.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def make(module, tmp_path):
    analyzer = types.SimpleNamespace(tokenize_words=str.split)
    project = types.SimpleNamespace(analyzer=analyzer, subjects=range(10))
    return module.MemoirBackend({"limit": "3"}, project, str(tmp_path))


def corpus():
    return Corpus(
        [
            Document("boats sail the sea", {3, 7}),
            Document("birds fly over the sea", {7, 5}),
            Document("birds sing", {5}),
            Document("of nothing"),
            Document("boats and ships", {3}),
        ]
        * 4  # fmt: skip
    )


def test_train_suggest_learn(module, tmp_path):
    backend = make(module, tmp_path)
    backend.train(corpus())
    batch = backend.suggest([Document("birds"), Document("unknown words"), Document("a boats race")])
    assert batch.array.shape == (3, 10)
    best = batch.array.toarray().argmax(axis=1)
    assert best[0] == 5 and best[2] == 3
    assert batch.array[[1]].nnz == 0
    assert batch.array[[0]].nnz <= 3

    reopened = make(module, tmp_path)
    again = reopened.suggest([Document("birds")])
    assert (again.array.toarray() == batch.array.toarray()[0]).all()
    reopened.learn(Corpus([Document("sing over the sea", {9})] * 8))
    learned = reopened.suggest([Document("sing over sea"), Document("boats")]).array.toarray()
    assert learned[0].argmax() == 9 and learned[1].argmax() == 3


def test_what_is_not_there(module, tmp_path):
    backend = make(module, tmp_path)
    KEPT[str(tmp_path)] = None
    with pytest.raises(module.NotInitializedException, match="not found"):
        backend.suggest([Document("birds")])
    with pytest.raises(module.NotSupportedException, match="no documents"):
        backend.train(Corpus([]))
