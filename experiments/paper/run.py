"""Runs the comparisons of this folder: every run of a TOML file is trained and evaluated, and becomes a line
of a Markdown table with CPU time, peak memory, model size and quality.

    python3 experiments/paper/run.py experiments/paper/l1.toml --data FOLDER [--memoir PROGRAM]

A data set NAME is the folder NAME below --data, with the files that `train` (train.svm) and `evaluate`
(valid.svm) name. A run that takes more than `limit` CPU seconds to train is stopped and says so. An
experiment with `seeds` repeats every run with each of them: figures are means, qualities with their standard
deviation. With --json FILE the figures of each repeat are added to that file, for figures.py.
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


def run_one(run, experiment, arguments, seed):
    """Trains and evaluates; returns the figures."""
    options = experiment.get("options", {}) | run.get("options", {})
    if seed is not None:
        options["seed"] = seed
    get = lambda key, default=None: run.get(key, experiment.get(key, default))
    folder = arguments.data / get("data")
    figures = {
        "name": run["name"],
        "data": get("data"),
        "algorithm": run["algorithm"],
        "options": dict(options),
    }
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


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("experiment", type=pathlib.Path)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--memoir", default="target/release/memoir")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--only", help="runs whose name or data set holds this text")
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    experiment = tomllib.loads(arguments.experiment.read_text())
    print(f"{experiment['title']}\n")
    print(
        "| run | data | train CPU s | wall s | predict CPU s | peak MB | model MB | weights | accuracy | macro-F1 | harmonic |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for run in experiment["run"]:
        if (
            arguments.only
            and arguments.only not in f"{run['name']} {run.get('data', experiment.get('data'))}"
        ):
            continue
        repeats = [run_one(run, experiment, arguments, seed) for seed in experiment.get("seeds", [None])]
        figures = summed_up(repeats)
        cells = [
            figures["name"],
            figures["data"],
            f"{figures['cpu']:.1f}",
            f"{figures['wall']:.1f}",
        ]
        if "accuracy" in figures:
            cells += [
                f"{figures['predict_cpu']:.1f}",
                f"{figures['memory']:.0f}",
                f"{figures['size']:.1f}",
            ]
            cells += [f"{figures['weights']:,.0f}" if figures["weights"] else "–"]
            cells += [quality(repeats, key) for key in ("accuracy", "macro_f1", "macro_f1_harmonic")]
        else:
            cells += ["–", f"{figures['memory']:.0f}", *["over the limit"], *["–"] * 4]
        print("| " + " | ".join(cells) + " |", flush=True)
        if arguments.json:
            known = json.loads(arguments.json.read_text()) if arguments.json.exists() else {}
            known.setdefault(arguments.experiment.stem, []).extend(repeats)
            arguments.json.write_text(json.dumps(known, indent=1))


if __name__ == "__main__":
    main()
