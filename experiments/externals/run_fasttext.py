"""fastText:  run_fasttext.py train FILE MODEL THREADS SEED  |  predict FILE MODEL PREDICTIONS

Hierarchical softmax, which its documentation advises for many classes; the higher rate and the epochs that
its tutorial tries.
"""

import sys

import fasttext

TOP_K = 5


def train(rows: str, model: str, threads: str, seed: str):
    fasttext.train_supervised(
        rows, loss="hs", lr=0.5, epoch=25, minCount=1, thread=int(threads), seed=int(seed), verbose=0
    ).save_model(model)


def predict(rows: str, model: str, predictions: str):
    fasttext.FastText.eprint = lambda *_: None
    loaded = fasttext.load_model(model)
    with open(rows, encoding="ascii") as lines, open(predictions, "w", encoding="ascii") as out:
        for line in lines:
            words = " ".join([word for word in line.split() if not word.startswith("__label__")])
            best, _ = loaded.predict(words, k=TOP_K)
            out.write(" ".join(best) + "\n")


if __name__ == "__main__":
    {"train": train, "predict": predict}[sys.argv[1]](*sys.argv[2:])
