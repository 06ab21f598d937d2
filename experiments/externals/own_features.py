"""omikuji Bonsai and PECOS XR-Linear on the features that memoir chooses, beside memoir itself.

    bash experiments/externals/install.sh omikuji pecos
    python3 experiments/externals/own_features.py FOLDER/yso-sv-text --work SCRATCH --out RESULTS.jsonl

This needs NumPy, as experiments/externals/environments/pecos/bin/python has it. The folder holds train.csv
and test.csv with one label a row. `memoir train` at its defaults chooses the features, and `memoir vectors`
writes them. Each system runs with one thread and adds a line: quality on test rows by the same code, CPU
seconds and peak memory of training and answering. What is there is not run again.
"""

import argparse
import csv
import json
import multiprocessing
import os
import subprocess
import sys
from array import array
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
BONSAI = ["cluster_balanced=0", "cluster_k=100", "max_depth=3"]
SYSTEMS = ["memoir", "pecos", "bonsai"]

csv.field_size_limit(1 << 30)


def labels(path):
    with path.open(encoding="utf-8", newline="") as lines:
        return [row["label"] for row in csv.DictReader(lines)]


def measured(command, log, out=None):
    """Runs a command; returns CPU seconds and peak memory in MB. Its standard output goes to `out`."""
    with log.open("w") as errors, (out or Path(os.devnull)).open("w") as file:
        process = subprocess.Popen(list(map(str, command)), stdout=file, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed: see {log}")
    return round(usage.ru_utime + usage.ru_stime, 2), round(usage.ru_maxrss * 1024 / 1e6)


def size(path):
    files = path.rglob("*") if path.is_dir() else [path]
    return round(sum(file.stat().st_size for file in files if file.is_file()) / 1e6, 1)


def quality(truth, answers):
    """Accuracy and macro-F1, over classes that are true or answered, as `memoir evaluate` has them. A row
    without a known word has no answer."""
    right, given, true = Counter(), Counter(filter(None, answers)), Counter(truth)
    for label, answer in zip(truth, answers, strict=True):
        right[label] += label == answer
    scores = [2 * right[label] / (given[label] + true[label]) for label in given | true]
    accuracy = sum(right.values()) / len(truth)
    return {"accuracy": round(accuracy, 4), "macro_f1": round(sum(scores) / len(scores), 4)}


def as_arrays(rows, folder):
    """The rows of an XMC file as the NumPy arrays that run_pecos.py reads."""
    import numpy as np

    indptr, indices, values, label_indptr, numbers = (array(kind) for kind in "qifqi")
    indptr.append(0)
    label_indptr.append(0)
    with rows.open(encoding="ascii") as lines:
        shape = [int(word) for word in next(lines).split()]
        for line in lines:
            given, _, features = line.rstrip("\n").partition(" ")
            numbers.extend(int(word) for word in given.split(",") if word)
            label_indptr.append(len(numbers))
            for word in features.split():
                index, value = word.split(":")
                indices.append(int(index))
                values.append(float(value))
            indptr.append(len(indices))
    folder.mkdir(exist_ok=True)
    parts = {"indptr": indptr, "indices": indices, "data": values}
    parts |= {"label_indptr": label_indptr, "labels": numbers, "shape": array("q", shape)}
    for name, part in parts.items():
        np.save(folder / f"{name}.npy", np.asarray(part))


def prepare(folder, work, memoir):
    """The model of memoir, and its features of all rows; returns the costs of training and answering."""
    model = work / "model.memoir"
    train = [memoir, "train", folder / "train.csv", "--model", model, "--threads", 1, "--quiet"]
    costs = {"train": measured(train, work / "train.log")}
    predict = [memoir, "predict", model, folder / "test.csv", "--threads", 1, "--quiet"]
    costs["predict"] = measured(predict, work / "predict.log", work / "memoir.txt")
    for part in ("train", "test"):
        rows = work / f"{part}.xmc"
        measured([memoir, "vectors", model, folder / f"{part}.csv", "--out", rows], work / "vectors.log")
        # In a process of its own: peak memory of a command counts from that of the process that starts it.
        process = multiprocessing.Process(target=as_arrays, args=(rows, work / part))
        process.start()
        process.join()
        if process.exitcode:
            sys.exit(process.exitcode)
    return costs


def class_names(folder, work):
    """The class of each number in the XMC files, from the rows of training."""
    with (work / "train.xmc").open(encoding="ascii") as lines:
        next(lines)
        numbers = [line.split(" ", 1)[0].strip() for line in lines]
    return dict(zip(numbers, labels(folder / "train.csv"), strict=True))


def run(arguments):
    folder = arguments.folder
    work = arguments.work / folder.name
    work.mkdir(parents=True, exist_ok=True)
    lines = arguments.out.read_text().splitlines() if arguments.out.exists() else []
    known = {(line["data"], line["system"]) for line in map(json.loads, lines)}
    truth = labels(folder / "test.csv")
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1"}

    def add(system, answers, costs, model):
        line = {"data": folder.name, "system": system} | quality(truth, answers)
        for step, (cpu, peak) in costs.items():
            line |= {f"{step}_cpu": cpu, f"{step}_peak_mb": peak}
        line["model_mb"] = size(model)
        with arguments.out.open("a") as out:
            out.write(json.dumps(line) + "\n")
        print(json.dumps(line), flush=True)

    if (folder.name, "memoir") not in known or not (work / "test/shape.npy").exists():
        costs = prepare(folder, work, arguments.memoir)
        answers = (work / "memoir.txt").read_text(encoding="utf-8").splitlines()
        add("memoir", answers, costs, work / "model.memoir")
    names = class_names(folder, work)
    for system, script, suffix, options in [
        ("pecos", "run_pecos.py", "", []),
        ("bonsai", "run_omikuji.py", ".xmc", BONSAI),
    ]:
        if (folder.name, system) in known or system not in arguments.systems:
            continue
        python = arguments.environments / ("omikuji" if system == "bonsai" else system) / "bin/python"
        program = [python, HERE / script]
        model, predictions = work / f"{system}.model", work / f"{system}.txt"
        train = [*program, "train", work / f"train{suffix}", model, 1, *options]
        costs = {"train": measured(train, work / f"{system}.log")}
        predict = [*program, "predict", work / f"test{suffix}", model, predictions, 1]
        costs["predict"] = measured(predict, work / f"{system}.log")
        best = [line.split(" ", 1)[0] for line in predictions.read_text(encoding="ascii").splitlines()]
        add(system, [names.get(number, "") for number in best], costs, model)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--work", type=Path, required=True, help="where models and features go")
    parser.add_argument("--out", type=Path, required=True, help="a line of JSON for each system")
    parser.add_argument("--memoir", default="target/release/memoir")
    parser.add_argument("--environments", type=Path, default=HERE / "environments")
    parser.add_argument("--systems", nargs="*", default=SYSTEMS, choices=SYSTEMS)
    run(parser.parse_args())


if __name__ == "__main__":
    main()
