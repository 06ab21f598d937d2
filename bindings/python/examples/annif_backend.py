"""A backend for Annif, the subject indexing toolkit: memoir suggests subjects, and learns from new
documents.

To use it, copy this file into ``annif/backend/memoir.py`` and register it as other optional backends are, in
``annif/backend/__init__.py``:

    def _memoir():
        from . import memoir
        return memoir.MemoirBackend

    register_backend_type("memoir", _memoir)

Then in ``projects.cfg``:

    [yso-memoir-en]
    name=YSO memoir English
    language=en
    backend=memoir
    analyzer=snowball(english)
    vocab=yso
    limit=100

Training goes from Annif's tf-idf vectors to a model without a file in between; a batch of documents is one
call; ``annif learn`` adds documents, and subjects that had none before.
"""

from __future__ import annotations

import os.path
from typing import Any

from annif.backend import backend, mixins
from annif.exception import NotInitializedException, NotSupportedException
from annif.suggestion import SuggestionBatch
from memoir import MemoirClassifier
from scipy.sparse import csr_array


class MemoirBackend(mixins.TfidfVectorizerMixin, backend.AnnifLearningBackend):
    """Suggests the subjects whose documents used the same words."""

    name = "memoir"

    MODEL_FILE = "memoir-model"
    DEFAULT_PARAMETERS = {"limit": 100, "min_df": 1, "ngram": 1, "passes": "auto"}

    _model: MemoirClassifier | None = None

    def initialize(self, parallel: bool = False) -> None:
        self.initialize_vectorizer()
        if self._model is None:
            path = os.path.join(self.datadir, self.MODEL_FILE)
            if not os.path.exists(path):
                raise NotInitializedException(f"model {path} not found", backend_id=self.backend_id)
            self._model = MemoirClassifier.load(path, labels="int")

    def _train(self, corpus: Any, params: dict[str, Any], jobs: int = 0) -> None:
        if corpus == "cached":
            raise NotSupportedException("memoir keeps no training data to train on again")
        if corpus.is_empty():
            raise NotSupportedException("cannot train a memoir project with no documents")
        words = {
            "min_df": int(params["min_df"]),
            "tokenizer": self.project.analyzer.tokenize_words,
            "ngram_range": (1, int(params["ngram"])),
        }
        vectors = self.create_vectorizer((document.text for document in corpus.documents), words)
        passes = params["passes"]
        model = MemoirClassifier(passes=passes if passes == "auto" else int(passes), n_jobs=jobs or -1)
        self._keep(model, vectors, corpus)

    def _learn(self, corpus: Any, params: dict[str, Any]) -> None:
        self.initialize()
        vectors = self.vectorizer.transform([document.text for document in corpus.documents])
        self._keep(self._model, vectors, corpus)

    def _keep(self, model: MemoirClassifier, vectors: Any, corpus: Any) -> None:
        """Trains, or goes on training, and writes the model."""
        subjects = [[int(subject) for subject in document.subject_set] for document in corpus.documents]
        # Documents without a subject or without a known word teach nothing.
        useful = [row for row, ids in enumerate(subjects) if ids and vectors[[row]].nnz]
        model.partial_fit(vectors.tocsr()[useful], [subjects[row] for row in useful])
        model.save(os.path.join(self.datadir, self.MODEL_FILE))
        self._model = model

    def _suggest_batch(self, documents: list[Any], params: dict[str, Any]) -> SuggestionBatch:
        vectors = self.vectorizer.transform([document.text for document in documents])
        best = self._model.predict_proba(vectors, k=int(params["limit"]))
        # Subject numbers are the labels: from columns of the model to columns of the vocabulary.
        subjects = self._model.classes_[best.indices]
        known = csr_array(
            (best.data, subjects, best.indptr), shape=(len(documents), len(self.project.subjects))
        )
        # A document without a known word gets no suggestions.
        known = known.multiply((vectors.getnnz(axis=1) > 0)[:, None]).tocsr()
        known.eliminate_zeros()
        return SuggestionBatch(csr_array(known))
