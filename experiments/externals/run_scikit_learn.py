"""scikit-learn:  run_scikit_learn.py train METHOD ROWS MODEL SEED  |  predict METHOD ROWS MODEL PREDICTIONS

METHOD is `linear-svc` (one-vs-rest, squared hinge, defaults) or `naive-bayes` (complement naive Bayes, made
for classes of unequal size, defaults).
"""

import pickle
import sys

import numpy as np
import vectors
from sklearn.naive_bayes import ComplementNB
from sklearn.svm import LinearSVC

METHODS = {
    "linear-svc": lambda seed: LinearSVC(random_state=seed),
    "naive-bayes": lambda seed: ComplementNB(),
}
# Scores are a dense table of rows and classes: made in parts, they fit.
PART = 1000


def train(method: str, rows: str, model: str, seed: str):
    x, y = vectors.matrices(rows)
    learned = METHODS[method](int(seed)).fit(x, y.indices)
    with open(model, "wb") as out:
        pickle.dump(learned, out)


def predict(method: str, rows: str, model: str, predictions: str):
    x, _ = vectors.matrices(rows)
    with open(model, "rb") as file:
        learned = pickle.load(file)
    scores_of = learned.decision_function if method == "linear-svc" else learned.predict_joint_log_proba

    def best():
        for begin in range(0, x.shape[0], PART):
            scores = scores_of(x[begin : begin + PART])
            top = np.argpartition(-scores, vectors.TOP_K, axis=1)[:, : vectors.TOP_K]
            order = np.argsort(-np.take_along_axis(scores, top, axis=1), axis=1, kind="stable")
            yield from learned.classes_[np.take_along_axis(top, order, axis=1)]

    vectors.write_predictions(predictions, best())


if __name__ == "__main__":
    {"train": train, "predict": predict}[sys.argv[1]](*sys.argv[2:])
