"""omikuji:  run_omikuji.py train XMC_FILE MODEL THREADS [NAME=VALUE…]  |  predict XMC_FILE MODEL PREDICTIONS
THREADS

NAME=VALUE overrides one of omikuji's default hyper-parameters. The package has no program of its own:
prediction is one call a row, as its Python interface has it, with weights densified as the original program
`omikuji test` does.
"""

import sys

import omikuji

TOP_K = 5


def train(rows: str, model: str, threads: str, *overrides: str):
    parameters = omikuji.Model.default_hyper_param()
    for override in overrides:
        name, value = override.split("=")
        setattr(parameters, name, type(getattr(parameters, name))(int(value)))
    omikuji.Model.train_on_data(rows, parameters, n_threads=int(threads)).save(model)


def pair(text: str) -> tuple[int, float]:
    index, value = text.split(":")
    return int(index), float(value)


def predict(rows: str, model: str, predictions: str, threads: str):
    loaded = omikuji.Model.load(model)
    loaded.init_prediction_thread_pool(int(threads))
    loaded.densify_weights()
    with open(rows, encoding="ascii") as lines, open(predictions, "w", encoding="ascii") as out:
        next(lines)
        for line in lines:
            row = [pair(word) for word in line.partition(" ")[2].split()]
            best = loaded.predict(row, top_k=TOP_K)
            out.write(" ".join([str(label) for label, _ in best]) + "\n")


if __name__ == "__main__":
    {"train": train, "predict": predict}[sys.argv[1]](*sys.argv[2:])
