"""Runs the comparisons of this folder: every run of a TOML file is trained and evaluated, and becomes a line
of a Markdown table with CPU time, peak memory, model size and quality.

    python3 experiments/paper/run.py experiments/paper/l1.toml --data FOLDER [--memoir PROGRAM]
    python3 experiments/paper/run.py experiments/paper/l1.toml

Each run adds a line of JSON to experiments/results/paper/NAME.jsonl and is not made again if it is there.
Without --data the table is written of what is there.

A data set NAME is the folder NAME below --data, with the files that `train` (train.svm) and `evaluate`
(valid.svm) name. A run that takes more than `limit` CPU seconds to train is stopped and says so. An
experiment with `seeds` repeats every run with each of them: figures are means, qualities with their standard
deviation.
"""

import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib

RESULTS = pathlib.Path(__file__).parent.parent / "results" / "paper"


def measured(command, limit=None):
    """Runs a command; returns its standard output (None if it took too long), CPU seconds, wall seconds
    and peak MB."""

    def restrict():
        if limit:
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))

    start = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdout=out, stderr=errors, preexec_fn=restrict)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        cpu = usage.ru_utime + usage.ru_stime
        out.seek(0)
        text = out.read().decode()
        if process.returncode != 0:
            if limit is None or cpu < limit - 1:
                errors.seek(0)
                sys.exit(f"{' '.join(command)}: {errors.read().decode()}")
            text = None
    return text, cpu, time.monotonic() - start, usage.ru_maxrss / 1000


def planned(run, experiment, seed):
    """What tells a repeat of a run from all others."""
    options = experiment.get("options", {}) | run.get("options", {})
    if seed is not None:
        options["seed"] = seed
    return {
        "name": run["name"],
        "data": run.get("data", experiment.get("data")),
        "algorithm": run["algorithm"],
        "options": options,
    }


def run_one(run, experiment, arguments, seed):
    """Trains and evaluates; returns the figures."""
    figures = planned(run, experiment, seed)
    options = dict(figures["options"])
    get = lambda key, default=None: run.get(key, experiment.get(key, default))
    folder = arguments.data / get("data")
    threads = str(options.pop("threads", arguments.threads))
    with tempfile.TemporaryDirectory() as scratch:
        model = os.path.join(scratch, "model")
        command = [
            arguments.memoir,
            "train",
            str(folder / get("train", "train.svm")),
            "--model",
            model,
            "--quiet",
        ]
        command += ["--algorithm", run["algorithm"], "--threads", threads]
        for key, value in options.items():
            command += [f"--{key}", str(value)]
        text, figures["cpu"], figures["wall"], figures["memory"] = measured(command, get("limit"))
        if text is None:
            return figures
        figures["size"] = os.path.getsize(model) / 1e6
        inspected = json.loads(measured([arguments.memoir, "inspect", model, "--json"])[0])
        figures["weights"] = inspected.get("weights")
        file = folder / get("evaluate", "valid.svm")
        command = [
            arguments.memoir,
            "evaluate",
            model,
            str(file),
            "--json",
            "--quiet",
            "--threads",
            threads,
        ]
        report, figures["predict_cpu"], _, figures["predict_memory"] = measured(command)
        report = json.loads(report)
        figures |= {
            key: report[key] for key in ("accuracy", "macro_f1", "macro_f1_harmonic", "precision_at_1")
        }
    return figures


def summed_up(repeats):
    """The means of the figures of several repeats; nothing of their quality if one took too long."""
    figures = dict(repeats[0])
    shared = set.intersection(*(set(repeat) for repeat in repeats))
    for key in list(figures):
        values = [repeat.get(key) for repeat in repeats]
        if key not in shared:
            del figures[key]
        elif all(isinstance(value, (int, float)) for value in values):
            figures[key] = statistics.mean(values)
    return figures


def quality(repeats, key):
    values = [100 * repeat[key] for repeat in repeats]
    mean = f"{statistics.mean(values):.2f}"
    return f"{mean} ± {statistics.stdev(values):.2f}%" if len(values) > 1 else f"{mean}%"


def read_lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


COLUMNS = (
    ("seeds", lambda means, repeats: str(len(repeats))),
    ("CPU s", lambda means, repeats: f"{means['cpu']:.1f}"),
    ("peak MB", lambda means, repeats: f"{means['memory']:.0f}"),
    ("model MB", lambda means, repeats: f"{means['size']:.1f}"),
    ("weights", lambda means, repeats: f"{means['weights']:,.0f}" if means.get("weights") else "–"),
    ("accuracy", lambda means, repeats: quality(repeats, "accuracy")),
    ("macro-F1", lambda means, repeats: quality(repeats, "macro_f1")),
    ("harmonic macro-F1", lambda means, repeats: quality(repeats, "macro_f1_harmonic")),
)


def table_line(repeats, name=None):
    """Cells of a table for the repeats of a run."""
    means = summed_up(repeats)
    cells = [name or means["name"]]
    for column, of in COLUMNS:
        is_there = "accuracy" in means or column in ("seeds", "CPU s", "peak MB")
        cells.append(of(means, repeats) if is_there else "over the limit" if column == "accuracy" else "–")
    return "| " + " | ".join(cells) + " |"


def table_head():
    names = ["", *(name for name, _ in COLUMNS)]
    return "| " + " | ".join(names) + " |\n" + "|---" * len(names) + "|"


def runs_of(experiment, only=None):
    """Each run of an experiment with what tells its repeats apart."""
    for run in experiment["run"]:
        plans = [planned(run, experiment, seed) for seed in experiment.get("seeds", [None])]
        if not only or only in f"{run['name']} {plans[0]['data']}":
            yield run, plans


def repeats_of(plan, lines):
    return [line for line in lines if plan.items() <= line.items()]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("experiment", type=pathlib.Path)
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--memoir", default="target/release/memoir")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--only", help="runs whose name or data set holds this text")
    parser.add_argument("--out", type=pathlib.Path, help="the file of results, if not the usual one")
    arguments = parser.parse_args()
    experiment = tomllib.loads(arguments.experiment.read_text())
    path = arguments.out or RESULTS / f"{arguments.experiment.stem}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    print(f"{experiment['title']}\n\n{table_head()}")
    for run, plans in runs_of(experiment, arguments.only):
        repeats = []
        for plan in plans:
            found = repeats_of(plan, read_lines(path))
            if not found and arguments.data:
                found = [run_one(run, experiment, arguments, plan["options"].get("seed"))]
                with open(path, "a") as out:
                    out.write(json.dumps(found[0]) + "\n")
            repeats += found
        if repeats:
            print(table_line(repeats, f"{plans[0]['data']}: {plans[0]['name']}"), flush=True)


if __name__ == "__main__":
    main()
