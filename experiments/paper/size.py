"""The paper's systems on made-up data of its shapes, at any scale: measures time, memory and quality, and
tells from smaller scales what a system would need that cannot be run.

    python3 experiments/paper/size.py run --shape lshtc1 --scale 0.04 --scratch FOLDER --out FILE.jsonl
    python3 experiments/paper/size.py tables FILE.jsonl …

The systems and their options are those of SHAPE.toml beside this file; --option recall-tree:bits=24 sets
another value, and the line says so. `run` adds a line per system to FILE and leaves out what is there
already. A step that exceeds --cpu-seconds or --memory (GB, resident) is stopped, and its line says so.
`tables` takes the results of `memoir compare`, too, where data sets are called `SHAPE x SCALE`. Figures of
several seeds are told as mean ± standard deviation.
"""

import argparse
import json
import math
import os
import pathlib
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib

from fit_synth import SHAPES

HERE = pathlib.Path(__file__).parent
GB = 1e9
# What the program takes without rows, now and when `memoir compare` measured the committed LSHTC1 scales.
EMPTY_PROCESS, EMPTY_COMPARED = 13.5e6, 9e6
# RecallTree's table has a weight and a sum of squares for each of its 2^bits places.
PLACE = 8


def resident(pid):
    """Bytes that a process has in memory."""
    try:
        with open(f"/proc/{pid}/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize()
    except (OSError, IndexError):
        return 0


def measured(command, cpu_seconds, memory):
    """Runs a command within limits; returns its standard output and what it took."""

    def restrict():
        if cpu_seconds:
            resource.setrlimit(resource.RLIMIT_CPU, (int(cpu_seconds), int(cpu_seconds) + 5))

    start = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdout=out, stderr=errors, preexec_fn=restrict)
        is_too_large = False
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if memory and resident(process.pid) > memory * GB:
                is_too_large = True
                process.send_signal(signal.SIGKILL)
            time.sleep(0.05)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        errors.seek(0)
        cost = {
            "cpu": round(usage.ru_utime + usage.ru_stime, 2),
            "wall": round(time.monotonic() - start, 2),
            "memory": usage.ru_maxrss * 1024,
        }
        if process.returncode == 0:
            return out.read().decode(), cost, "ok"
        if is_too_large:
            return None, cost, "out of memory"
        if cpu_seconds and cost["cpu"] > cpu_seconds - 1:
            return None, cost, "out of time"
        sys.exit(f"{' '.join(command)}: {errors.read().decode()}")


def make_data(arguments, folder):
    """Both files of a shape, unless they are there."""
    train, test = folder / "train.svm", folder / "test.svm"
    if not test.exists():
        folder.mkdir(parents=True, exist_ok=True)
        command = [arguments.memoir, "synth", "--like", arguments.shape, "--scale", str(arguments.scale)]
        command += ["--test-rows", str(arguments.test_rows), "--threads", str(arguments.threads), "--quiet"]
        command += ["--seed", str(arguments.seed), "--out", str(train), "--test-out", str(test)]
        subprocess.run(command, check=True)
    return train, test


def run_one(method, arguments, train, test, line):
    """Trains and evaluates one system; adds its figures to the line."""
    threads = ["--threads", str(arguments.threads)]
    with tempfile.TemporaryDirectory(dir=arguments.scratch) as scratch:
        model = os.path.join(scratch, "model")
        command = [arguments.memoir, "train", str(train), "--model", model]
        command += ["--algorithm", method["algorithm"], "--seed", str(arguments.seed)]
        for name, value in (method.get("options", {}) | line.get("options", {})).items():
            command += [f"--{name}", str(value)]
        if method["name"].startswith("memoir"):
            # As large a share of the classes as the paper's batches of 100 √C rows have at scale 1.
            classes, _ = SHAPES[arguments.shape]
            command += ["--batch-size", str(round(100 * classes**0.5 * arguments.scale))]
        _, line["train"], line["status"] = measured(
            command + threads, arguments.cpu_seconds, arguments.memory
        )
        if line["status"] != "ok":
            return
        line["model_bytes"] = os.path.getsize(model)
        command = [arguments.memoir, "evaluate", model, str(test), "--json", "--quiet"]
        report, line["predict"], line["status"] = measured(
            command + threads, arguments.cpu_seconds, arguments.memory
        )
        if report:
            report = json.loads(report)
            line |= {key: round(report[key], 5) for key in ("accuracy", "macro_f1")}


def identity(line):
    own = [line[key] for key in ("shape", "scale", "seed", "method", "threads")]
    return (*own, json.dumps(line.get("options", {}), sort_keys=True))


def read_lines(paths):
    texts = [text for path in paths if path.exists() for text in path.read_text().splitlines()]
    return [own_form(json.loads(text)) for text in texts]


def own_form(line):
    """A line of `memoir compare` as `run` would have written it."""
    if "data" not in line:
        return line
    shape, scale = line["data"].split(" x ")
    cost = line["train"]
    train = {"cpu": cost["cpu_seconds"], "wall": cost["wall_seconds"], "memory": cost["peak_bytes"]}
    own = {"shape": shape, "scale": float(scale), "train": train, "seed": line["repeat"]}
    return line | own | {"is_compared": True}


def fixed_bytes(line):
    """Memory that does not grow with the data: it would bend the law where data are small."""
    if line.get("is_compared"):
        return EMPTY_COMPARED
    return EMPTY_PROCESS + table_bytes(line.get("options", {}))


def table_bytes(options):
    return PLACE * 2 ** int(options["bits"]) if "bits" in options else 0


def of_all_trees(lines, trees):
    """Lines of runs with few trees as they would be with all: each tree takes the same time, and memory in
    proportion to its part of the file. Two numbers of trees at a scale tell both; differences in memory are
    small, so the proportion is that of all scales together."""
    lines = [line for line in lines if "trees" in line.get("options", {})] or lines
    counts = sorted({int(line.get("options", {}).get("trees", 0)) for line in lines})
    if len(counts) != 2:
        return lines
    pairs = []
    for scale in sorted({line["scale"] for line in lines}):
        own = {int(line["options"]["trees"]): line for line in lines if line["scale"] == scale}
        if len(own) == 2:
            pairs.append([own[count] for count in counts])
    grown = [more["train"]["memory"] - few["train"]["memory"] for few, more in pairs]
    proportion = sum(grown) / sum(more["model_bytes"] - few["model_bytes"] for few, more in pairs)
    told = []
    for few, more in pairs:
        times = (trees - counts[1]) / (counts[1] - counts[0])
        train = {
            "cpu": more["train"]["cpu"] + times * (more["train"]["cpu"] - few["train"]["cpu"]),
            "memory": more["train"]["memory"]
            + times * proportion * (more["model_bytes"] - few["model_bytes"]),
        }
        told.append(few | {"train": train, "options": {}})
    return told


def run(arguments):
    experiment = tomllib.loads((HERE / f"{arguments.shape}.toml").read_text())
    known = {identity(line) for line in read_lines([arguments.out])}
    folder = arguments.scratch / f"{arguments.shape}-{arguments.scale}-{arguments.seed}"
    for method in experiment["method"]:
        if arguments.methods and method["name"] not in arguments.methods:
            continue
        options = {option[1]: option[2] for option in arguments.option if option[0] == method["name"]}
        line = {
            "shape": arguments.shape,
            "scale": arguments.scale,
            "seed": arguments.seed,
            "method": method["name"],
            "threads": arguments.threads,
            "test_rows": arguments.test_rows,
            "limits": {"cpu_seconds": arguments.cpu_seconds, "memory": arguments.memory},
        } | ({"options": options} if options else {})
        if identity(line) in known:
            continue
        train, test = make_data(arguments, folder)
        run_one(method, arguments, train, test, line)
        with open(arguments.out, "a") as out:
            out.write(json.dumps(line) + "\n")
        quality = f"{100 * line['accuracy']:.2f}%" if "accuracy" in line else line["status"]
        print(
            f"{arguments.shape} x {arguments.scale} {method['name']}: {quality}, "
            f"{line['train']['cpu']:.1f} CPU s, {line['train']['memory'] / GB:.2f} GB",
            flush=True,
        )


def power_law(points):
    """Factor and exponent of the line through the logarithms."""
    logs = [(math.log(x), math.log(y)) for x, y in points]
    count = len(logs)
    x_mean, y_mean = sum(x for x, _ in logs) / count, sum(y for _, y in logs) / count
    spread = sum((x - x_mean) ** 2 for x, _ in logs)
    exponent = sum((x - x_mean) * (y - y_mean) for x, y in logs) / spread
    return math.exp(y_mean - exponent * x_mean), exponent


def fitted(lines, measure):
    """Factor and exponent of the power law through the four largest scales, and the error that the law
    through all but the largest has there. None with fewer than three scales."""
    scales = sorted({line["scale"] for line in lines})[-4:]
    points = []
    for scale in scales:
        found = [
            line["train"][measure] - (fixed_bytes(line) if measure == "memory" else 0)
            for line in lines
            if line["scale"] == scale
        ]
        points.append((scale, statistics.mean(found)))
    if len(points) < 3:
        return None
    factor, exponent = power_law(points[:-1])
    scale, found = points[-1]
    error = factor * scale**exponent / found - 1
    factor, exponent = power_law(points)
    return factor, exponent, error


def tables(arguments):
    lines = read_lines(arguments.results)
    shapes = list(dict.fromkeys(line["shape"] for line in lines))
    for shape in shapes:
        experiment = tomllib.loads((HERE / f"{shape}.toml").read_text())
        print(f"\n### {shape}\n")
        print("| system | accuracy | macro-F1 | train, CPU | wall | peak memory | model | paper |")
        print("|---|---|---|---|---|---|---|---|")
        for method in experiment["method"]:
            name = method["name"]
            own = [line for line in lines if (line["shape"], line["method"]) == (shape, name)]
            full = [line for line in own if line["scale"] == 1 and line["status"] == "ok"]
            small = [line for line in own if line["scale"] < 1 and line["status"] == "ok"]
            small = of_all_trees(small, method.get("options", {}).get("trees"))
            told = method["about"].removeprefix("paper: ")
            if full:
                cells = [
                    shares(line["accuracy"] for line in full),
                    shares(line["macro_f1"] for line in full),
                ]
                mean = {
                    key: statistics.mean(line["train"][key] for line in full) for key in full[0]["train"]
                }
                cells += [seconds(mean["cpu"]), seconds(mean["wall"])]
                cells += [size(mean["memory"]), size(full[-1]["model_bytes"])]
                print(f"| {name} | {' | '.join(cells)} | {told} |")
                continue
            time_law, memory_law = fitted(small, "cpu"), fitted(small, "memory")
            if time_law is None:
                continue
            memory = memory_law[0] + table_bytes(method.get("options", {}))
            needs = f"**would need {seconds(time_law[0])}, {size(memory)}**"
            largest = max(line["scale"] for line in small)
            basis = (
                f"scale^{time_law[1]:.2f} and scale^{memory_law[1]:.2f}; "
                f"off by {100 * time_law[2]:+.0f}% and {100 * memory_law[2]:+.0f}% at {largest:g}"
            )
            print(f"| {name} | – | – | {needs} | {basis} | | | {told} |")


def shares(values):
    """Percentages: the mean, with the standard deviation if there are several."""
    values = [100 * value for value in values]
    spread = f" ± {statistics.stdev(values):.1f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.1f}{spread}%"


def small_table(arguments):
    """Quality of every system at one small scale."""
    lines = [line for line in read_lines(arguments.results) if line["scale"] == arguments.scale]
    print("| system | seeds | accuracy | macro-F1 | train, CPU | peak memory |")
    print("|---|---|---|---|---|---|")
    for name in dict.fromkeys(line["method"] for line in lines):
        own = [line for line in lines if line["method"] == name and line["status"] == "ok"]
        if own:
            cells = [shares(line["accuracy"] for line in own), shares(line["macro_f1"] for line in own)]
            cells += [f"{statistics.mean(line['train']['cpu'] for line in own):.1f} s"]
            cells += [size(statistics.mean(line["train"]["memory"] for line in own))]
            print(f"| {name} | {len(own)} | {' | '.join(cells)} |")


def method_option(text):
    """METHOD:NAME=VALUE, in its three parts."""
    method, rest = text.split(":")
    name, value = rest.split("=")
    return method, name, value


def seconds(value):
    if value < 600:
        return f"{value:.0f} s"
    return f"{value / 3600:.1f} h" if value > 5400 else f"{value / 60:.0f} min"


def size(value):
    return f"{value / GB:.2f} GB" if value > 0.1 * GB else f"{value / 1e6:.0f} MB"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(required=True)
    runs = verbs.add_parser("run")
    runs.add_argument("--shape", required=True)
    runs.add_argument("--scale", type=float, required=True)
    runs.add_argument("--seed", type=int, default=0)
    runs.add_argument("--methods", nargs="*", help="all if not given")
    runs.add_argument("--scratch", type=pathlib.Path, required=True)
    runs.add_argument("--out", type=pathlib.Path, required=True)
    runs.add_argument("--memoir", default="target/release/memoir")
    runs.add_argument("--threads", type=int, default=2)
    runs.add_argument("--test-rows", type=int, default=5000)
    runs.add_argument("--cpu-seconds", type=float)
    runs.add_argument("--memory", type=float)
    runs.add_argument("--option", type=method_option, action="append", default=[])
    runs.set_defaults(verb=run)
    shown = verbs.add_parser("tables")
    shown.add_argument("results", type=pathlib.Path, nargs="+")
    shown.set_defaults(verb=tables)
    small = verbs.add_parser("small", help="the table of one small scale")
    small.add_argument("results", type=pathlib.Path, nargs="+")
    small.add_argument("--scale", type=float, required=True)
    small.set_defaults(verb=small_table)
    arguments = parser.parse_args()
    arguments.verb(arguments)


if __name__ == "__main__":
    main()
