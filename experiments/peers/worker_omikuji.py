"""Child process: omikuji.

    worker_omikuji.py startup
    worker_omikuji.py train VECTORS MODEL [NAME=VALUE …]
    worker_omikuji.py predict VECTORS MODEL SPLIT OUT

NAME=VALUE overrides one of omikuji's default hyper-parameters.
"""

import sys
from itertools import pairwise

import numpy as np
import omikuji

THREADS = 1
TOP_K = 5


def train(vectors: str, model: str, *overrides: str):
    parameters = omikuji.Model.default_hyper_param()
    for override in overrides:
        name, value = override.split("=")
        setattr(parameters, name, type(getattr(parameters, name))(int(value)))
    data = f"{vectors}/train.xmc.txt"
    omikuji.Model.train_on_data(data, parameters, n_threads=THREADS).save(model)


def load_csr(path: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Row starts, indices and values of a scipy CSR file, without loading scipy."""
    with np.load(path) as parts:
        return parts["indptr"], parts["indices"], parts["data"]


def predict(vectors: str, model: str, split: str, out: str):
    starts, indices, values = load_csr(f"{vectors}/{split}.x.npz")
    loaded = omikuji.Model.load(model)
    loaded.init_prediction_thread_pool(THREADS)
    loaded.densify_weights()  # as `omikuji test` does; at its default
    with open(out, "w", encoding="ascii") as lines:
        for begin, end in pairwise(starts.tolist()):
            row = list(zip(indices[begin:end].tolist(), values[begin:end].tolist(), strict=True))
            best = loaded.predict(row, top_k=TOP_K)
            lines.write("\t".join([str(label) for label, _ in best]) + "\n")


if __name__ == "__main__":
    if sys.argv[1] != "startup":
        {"train": train, "predict": predict}[sys.argv[1]](*sys.argv[2:])
