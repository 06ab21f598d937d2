"""Runs one step of a measurement in a process of its own, so that each has its own time and memory.

    python measured.py STEP FOLDER [RESULT] -> one JSON object on standard output

Used by overhead.py and beside_sklearn.py.
"""

from __future__ import annotations

import json
import pathlib
import pickle
import resource
import sys
import tempfile
import time


def load(folder, part):
    """A part of a data set in libsvm form as CSR of float32 and labels; kept as arrays for the next time."""
    import numpy as np
    from scipy import sparse

    kept = pathlib.Path(tempfile.gettempdir()) / f"memoir-{pathlib.Path(folder).name}-{part}.npz"
    if not kept.exists():
        from sklearn.datasets import load_svmlight_file

        X, y = load_svmlight_file(
            str(pathlib.Path(folder) / f"{part}.svm"), dtype=np.float32, zero_based=False
        )
        np.savez(kept, data=X.data, indices=X.indices.astype(np.int32), indptr=X.indptr.astype(np.int32),
                 shape=X.shape, y=y.astype(np.int64))  # fmt: skip
    found = np.load(kept)
    X = sparse.csr_array((found["data"], found["indices"], found["indptr"]), shape=tuple(found["shape"]))
    return X, found["y"]


def resident(which="VmRSS"):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(which))


def forget_peak():
    with open("/proc/self/clear_refs", "w") as peak:
        peak.write("5")


def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def timed(work):
    """What `work` returns, and what it cost: CPU seconds, wall seconds, peak memory."""
    forget_peak()
    start, wall = cpu(), time.monotonic()
    result = work()
    return result, {"cpu": cpu() - start, "wall": time.monotonic() - wall, "peak": resident("VmHWM")}


def widened(X, width):
    from scipy import sparse

    if X.shape[1] < width:
        return sparse.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], width))
    return X[:, :width]


def memoir_train(folder, out):
    import memoir

    imports = resident()
    X, y = load(folder, "train")
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes + y.nbytes
    model, cost = timed(lambda: memoir.MemoirClassifier(n_jobs=1).fit(X, y))
    model.save(out)
    return {**cost, "imports": imports, "data": size, "model": model.summary()["file_bytes"]}


def memoir_predict(folder, out):
    import memoir

    imports = resident()
    model = memoir.MemoirClassifier.load(out)
    model.set_params(n_jobs=1)
    X, y = load(folder, "test")
    X = widened(X, model.n_features_in_)
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes + y.nbytes
    answers, cost = timed(lambda: model.predict(X))
    return {**cost, "imports": imports, "data": size, "accuracy": float((answers == y).mean())}


def sklearn_both(folder, name, classes=0):
    """Trains and tests an estimator on tf-idf vectors, on the `classes` most frequent classes if that is
    not 0."""
    import memoir
    import numpy as np
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.linear_model import SGDClassifier
    from sklearn.svm import LinearSVC

    X, y = load(folder, "train")
    T, t = load(folder, "test")
    T = widened(T, X.shape[1])
    if classes:
        found, counts = np.unique(y, return_counts=True)
        kept = found[np.argsort(-counts, kind="stable")[:classes]]
        X, y = X[np.isin(y, kept)], y[np.isin(y, kept)]
        T, t = T[np.isin(t, kept)], t[np.isin(t, kept)]
    if name == "memoir":
        estimator, train, test = memoir.MemoirClassifier(n_jobs=1), X, T
    else:
        weights = TfidfTransformer(sublinear_tf=True).fit(X)
        train, test = weights.transform(X), weights.transform(T)
        estimator = (
            SGDClassifier(loss="log_loss", random_state=0) if name == "sgd" else LinearSVC(random_state=0)
        )
    _, cost = timed(lambda: estimator.fit(train, y))
    answers, predicting = timed(lambda: estimator.predict(test))
    from sklearn.metrics import f1_score

    return {
        "name": name, "classes": len(np.unique(y)), "rows": X.shape[0], "features": X.shape[1],
        "accuracy": float((answers == t).mean()), "macro_f1": float(f1_score(t, answers, average="macro")),
        "train_cpu": cost["cpu"], "train_peak": cost["peak"], "predict_cpu": predicting["cpu"],
        "predict_peak": predicting["peak"], "model": len(pickle.dumps(estimator)),
    }  # fmt: skip


STEPS = {"memoir_train": memoir_train, "memoir_predict": memoir_predict, "sklearn": sklearn_both}

if __name__ == "__main__":
    step, *arguments = sys.argv[1:]
    print(json.dumps(STEPS[step](*[int(word) if word.isdigit() else word for word in arguments])))
