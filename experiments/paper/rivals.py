"""Which rivals does Algorithm 1 need? A second, dense implementation (NumPy, SciPy) with rules for rivals
that no oracle has: one class for a whole batch, drawn at random, or a few.

    python3 experiments/paper/rivals.py DATA/onet27

Prints a line for each rule: accuracy on valid rows over three seeds, and how many different rivals a batch
had for each of its examples.
"""

import pathlib
import statistics
import sys

import numpy as np
from scipy import sparse

SEEDS = (0, 1, 2)
BATCHES, FIRST_STEP, DECAY, LAMBDA = 25, 0.1, 0.02, 1.0


def read(path, width=0):
    """Counts and labels of a libsvm file with one label a row; `width` is the least number of features."""
    labels, rows, columns, values = [], [], [], []
    for number, line in enumerate(pathlib.Path(path).read_text().splitlines()):
        label, *features = line.split()
        labels.append(label)
        for feature in features:
            column, value = feature.split(":")
            rows.append(number)
            columns.append(int(column))
            values.append(float(value))
    shape = (len(labels), max(width, max(columns) + 1))
    return sparse.csr_matrix((values, (rows, columns)), shape=shape, dtype=np.float32), labels


def weighted(counts, idf):
    """Logarithmic counts times inverse document frequency, rows of unit length, and a constant."""
    rows = counts[:, : len(idf)].copy()
    rows.data = 1 + np.log(rows.data)
    rows = rows @ sparse.diags(idf)
    lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    rows = sparse.diags(1 / np.maximum(lengths, 1e-12)) @ rows
    return sparse.csr_matrix(sparse.hstack([rows, np.ones((rows.shape[0], 1))]), dtype=np.float32)


def strongest(scores, true, random):
    scores[np.arange(len(true)), true] = -np.inf
    return scores.argmax(axis=1)


def any_class(scores, true, random):
    drawn = random.integers(scores.shape[1] - 1, size=len(true))
    return drawn + (drawn >= true)


def nobody(scores, true, random):
    """No class is pushed."""
    return np.zeros(len(true), dtype=int)


def few_for_all(count):
    def rule(scores, true, random):
        chosen = random.choice(scores.shape[1], size=count + 1, replace=False)
        drawn = chosen[random.integers(count, size=len(true))]
        return np.where(drawn == true, chosen[count], drawn)

    return rule


def nearest_drawn(count):
    def rule(scores, true, random):
        """The strongest of so many classes that are drawn for each example."""
        drawn = random.integers(scores.shape[1], size=(len(true), count))
        of_drawn = np.take_along_axis(scores, drawn, axis=1)
        of_drawn[drawn == true[:, None]] = -np.inf
        return drawn[np.arange(len(true)), of_drawn.argmax(axis=1)]

    return rule


def train(rows, labels, classes, rule, seed):
    """Algorithm 1 as the authors have it; returns the weights and the mean share of different rivals."""
    random = np.random.default_rng(seed)
    size = round(100 * classes**0.5)
    of_class = np.argsort(labels, kind="stable")
    ends = np.searchsorted(labels[of_class], np.arange(classes + 1))
    weights = np.zeros((classes, rows.shape[1]), dtype=np.float32)
    shares = []
    for batch in range(1, BATCHES + 1):
        step = FIRST_STEP / (1 + DECAY * batch)
        weights *= 1 - LAMBDA * step
        drawn = random.integers(classes, size=size)
        examples = of_class[
            ends[drawn] + (random.random(size) * (ends[drawn + 1] - ends[drawn])).astype(int)
        ]
        x, true = rows[examples], labels[examples]
        rivals = any_class(x @ weights.T, true, random) if batch == 1 else rule(x @ weights.T, true, random)
        if batch > 1:
            shares.append(len(set(rivals)) / size)
        push = 0 if rule is nobody else -1
        signs = np.concatenate([np.ones(size), push * np.ones(size)]).astype(np.float32)
        places = (np.concatenate([true, rivals]), np.tile(np.arange(size), 2))
        pushes = sparse.csr_matrix((signs, places), shape=(classes, size))
        weights += step / size * (pushes @ x).toarray()
        weights *= min(1, 1 / (LAMBDA**0.5 * np.linalg.norm(weights)))
    return weights, statistics.mean(shares)


def main():
    folder = pathlib.Path(sys.argv[1])
    counts, names = read(folder / "train.svm")
    valid, valid_names = read(folder / "valid.svm", counts.shape[1])
    number = {name: index for index, name in enumerate(dict.fromkeys(names))}
    labels = np.array([number[name] for name in names])
    frequency = np.asarray((counts > 0).sum(axis=0)).ravel()
    idf = np.log((1 + counts.shape[0]) / (1 + frequency)) + 1
    rows, valid = weighted(counts, idf), weighted(valid, idf)
    truth = np.array([number.get(name, -1) for name in valid_names])
    rules = {
        "the strongest": strongest,
        "nobody: no class is pushed": nobody,
        "one class for the whole batch, at random": few_for_all(1),
        "10 classes for the whole batch, at random": few_for_all(10),
        "100 classes for the whole batch, at random": few_for_all(100),
        "the strongest of 10 drawn for each example": nearest_drawn(10),
        "the strongest of 100 drawn for each example": nearest_drawn(100),
        "any class, at random for each example": any_class,
    }
    print("| rival | different rivals of a batch, of its examples | accuracy |\n|---|---|---|", flush=True)
    for name, rule in rules.items():
        found = []
        for seed in SEEDS:
            weights, share = train(rows, labels, len(number), rule, seed)
            weights /= np.maximum(np.linalg.norm(weights, axis=1, keepdims=True), 1e-12)
            parts = [valid[start : start + 1000] @ weights.T for start in range(0, valid.shape[0], 1000)]
            best = np.concatenate([part.argmax(axis=1) for part in parts])
            found.append((100 * np.mean(best == truth), share))
        accuracies = [accuracy for accuracy, _ in found]
        share = statistics.mean(share for _, share in found)
        spread = statistics.stdev(accuracies)
        print(f"| {name} | {share:.3f} | {statistics.mean(accuracies):.2f} ± {spread:.2f}% |", flush=True)


if __name__ == "__main__":
    main()
