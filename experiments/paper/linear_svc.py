"""One-vs-rest beside scikit-learn's LinearSVC, on the same vectors, for random parts of the classes.

    python3 experiments/paper/linear_svc.py TRAIN TEST --classes 3000 --parts 3 --scratch FOLDER

TRAIN and TEST are rows in libsvm form; what both learn from are the rows of the chosen classes as they are
written there (`--weighting raw`), so weighted ones are to be given. LinearSVC (with intercept, defaults,
solved in the dual) is fitted one class at a time, because its dense weights for all would not fit. With
`--classes 0` all classes are taken.
"""

import argparse
import pathlib
import subprocess
import time

import numpy as np
from sklearn.datasets import load_svmlight_files
from sklearn.metrics import f1_score
from sklearn.svm import LinearSVC


def linear_svc(x, y, x_test, classes, seed):
    """The best class of each test row, and the CPU seconds that it took."""
    start = time.process_time()
    best, scores = np.full(x_test.shape[0], -1), np.full(x_test.shape[0], -np.inf)
    for label in classes:
        model = LinearSVC(dual=True, random_state=seed).fit(x, y == label)
        own = model.decision_function(x_test)
        is_better = own > scores
        best[is_better], scores[is_better] = label, own[is_better]
    return best, time.process_time() - start


def write(path, source, lines):
    with open(source) as rows, open(path, "w") as out:
        wanted = set(lines.tolist())
        out.writelines(row for number, row in enumerate(rows) if number in wanted)


def ovr(arguments, folder, train_lines, test_lines, seed):
    """The same by this project's `ovr`."""
    train, test, model = folder / "train.svm", folder / "test.svm", folder / "model"
    write(train, arguments.train, train_lines)
    write(test, arguments.test, test_lines)
    program = [arguments.memoir, "train", train, "--model", model, "--algorithm", "ovr"]
    common = ["--threads", "1", "--quiet"]
    subprocess.run(program + ["--weighting", "raw", "--seed", str(seed)] + common, check=True)
    answers = subprocess.run(
        [arguments.memoir, "predict", model, test] + common, check=True, capture_output=True, text=True
    )
    return np.array([float(line or -1) for line in answers.stdout.splitlines()])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("train", type=pathlib.Path)
    parser.add_argument("test", type=pathlib.Path)
    parser.add_argument("--classes", type=int, default=3000)
    parser.add_argument("--parts", type=int, default=3)
    parser.add_argument("--scratch", type=pathlib.Path, required=True)
    parser.add_argument("--memoir", default="target/release/memoir")
    arguments = parser.parse_args()
    x, y, x_test, y_test = load_svmlight_files([arguments.train, arguments.test])
    everything = np.unique(y)
    print(
        "| part | rows, test rows | LinearSVC | ovr | difference | same answer |\n|---|---|---|---|---|---|"
    )
    for part in range(arguments.parts):
        random = np.random.default_rng(part)
        classes = random.permutation(everything)[: arguments.classes or None]
        train_lines = np.flatnonzero(np.isin(y, classes))
        test_lines = np.flatnonzero(np.isin(y_test, classes))
        folder = arguments.scratch / f"part-{part}"
        folder.mkdir(parents=True, exist_ok=True)
        own = ovr(arguments, folder, train_lines, test_lines, part)
        theirs, _ = linear_svc(x[train_lines], y[train_lines], x_test[test_lines], classes, part)
        truth = y_test[test_lines]
        cells = []
        for answer in (theirs, own):
            macro_f1 = f1_score(truth, answer, average="macro", zero_division=0)
            cells.append(f"{100 * np.mean(answer == truth):.2f}%, {100 * macro_f1:.2f}%")
        difference = 100 * (np.mean(own == truth) - np.mean(theirs == truth))
        cells += [f"{difference:+.2f}", f"{100 * np.mean(own == theirs):.1f}%"]
        counts = f"{len(train_lines):,}, {len(test_lines):,}"
        print(f"| {part} | {counts} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
