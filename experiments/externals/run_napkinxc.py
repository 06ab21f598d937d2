"""napkinXC:  run_napkinxc.py train XMC_FILE MODEL THREADS SEED  |  predict XMC_FILE MODEL PREDICTIONS
THREADS

A probabilistic label tree at the package's defaults.
"""

import sys

from napkinxc.models import PLT

TOP_K = 5


def train(rows: str, model: str, threads: str, seed: str):
    PLT(model, threads=int(threads), seed=int(seed)).fit_on_file(rows)


def predict(rows: str, model: str, predictions: str, threads: str):
    loaded = PLT(model, threads=int(threads))
    loaded.load()
    with open(predictions, "w", encoding="ascii") as out:
        for best in loaded.predict_for_file(rows, top_k=TOP_K):
            out.write(" ".join([str(label) for label in best]) + "\n")


if __name__ == "__main__":
    {"train": train, "predict": predict}[sys.argv[1]](*sys.argv[2:])
