"""How inexact are rivals while training goes on, and which inexactness matters? Runs `memoir train
--measure-oracle` with every oracle, and with rivals of every rank, and draws the figures of
docs/design/inexactness.md.

    python3 experiments/paper/inexactness.py measure RESULTS.json --data FOLDER [--memoir PROGRAM]
    python3 experiments/paper/inexactness.py draw RESULTS.json docs/figures
"""

import argparse
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import tempfile

DATA = ("onet27", "yso-sv-single")
SEEDS = (0, 1, 2)
SAMPLE = 200
ORACLES = {
    "exact": [],
    "sw-graph": ["--oracle", "sw-graph"],
    "simple-lsh": ["--oracle", "simple-lsh"],
    "simple-lsh, nearest code": ["--oracle", "simple-lsh", "--hash-search", "nearest"],
    "random": ["--oracle", "random"],
}
RANKS = (1, 4, 16, 64, 256, 1000, 4000)
COLOURS = ("#2b6cb0", "#2f855a", "#dd6b20", "#805ad5", "#c53030")
PATTERN = re.compile(
    r"batch (?P<batch>\d+), oracle .*: recall@1 (?P<recall>\S+), median rank (?P<rank>\d+), closeness "
    r"(?P<closeness>\S+), epsilon (?P<epsilon>\S+), mean gap (?P<gap>\S+), scale (?P<scale>\S+), rows of "
    r"rivals (?P<rows>\S+), distinct (?P<distinct>\S+)"
)


def train(memoir, folder, seed, options):
    """Trains with T = 25; returns what was told of every batch, and the quality on valid rows."""
    with tempfile.TemporaryDirectory() as scratch:
        model = os.path.join(scratch, "model")
        command = [
            memoir,
            "train",
            str(folder / "train.svm"),
            "--model",
            model,
            "--algorithm",
            "memoir-l2",
        ]
        command += [
            "--iterations",
            "25",
            "--seed",
            str(seed),
            "--threads",
            "2",
            *options,
        ]
        told = subprocess.run(command, check=True, capture_output=True, text=True).stderr
        command = [
            memoir,
            "evaluate",
            model,
            str(folder / "valid.svm"),
            "--json",
            "--quiet",
        ]
        report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    batches = [
        {key: float(value) for key, value in found.groupdict().items()}
        for found in PATTERN.finditer(told.replace("\n", " \n"))
    ]
    return {
        "batches": batches,
        "accuracy": report["accuracy"],
        "macro_f1": report["macro_f1"],
    }


def measure(arguments):
    results = json.loads(arguments.results.read_text()) if arguments.results.exists() else []
    done = {(run["data"], run["name"], run["seed"]) for run in results}
    runs = [
        (data, name, options, seed) for data in DATA for name, options in ORACLES.items() for seed in SEEDS
    ]
    runs += [
        (data, f"rank {rank}", ["--rival-rank", str(rank)], seed)
        for data in DATA
        for rank in RANKS
        for seed in SEEDS
    ]
    # The slowest last, so that the rest is there if it takes too long.
    runs.sort(key=lambda run: (run[1] == "sw-graph", DATA.index(run[0])))
    for data, name, options, seed in runs:
        if (data, name, seed) in done:
            continue
        options = [*options, "--measure-oracle", str(SAMPLE)]
        run = train(arguments.memoir, arguments.data / data, seed, options)
        results.append({"data": data, "name": name, "seed": seed} | run)
        arguments.results.write_text(json.dumps(results, indent=0))
        last = run["batches"][-1]
        print(
            f"{data:14} {name:26} {seed} {100 * run['accuracy']:6.2f}% recall {last['recall']:.3f} rank "
            f"{last['rank']:.0f} closeness {last['closeness']:.3f} epsilon {last['epsilon']:.2e} distinct "
            f"{last['distinct']:.2f}",
            flush=True,
        )


WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 300, 210, 50, 12, 28, 42


def chart(parts, offset, title, axis, series, logarithmic_x=False, highest=None):
    """Lines of (name, colour, [(x, mean, deviation)]) with bars of one standard deviation."""
    scaled = (lambda x: math.log2(x)) if logarithmic_x else (lambda x: x)
    xs = [scaled(x) for _, _, points in series for x, _, _ in points]
    low, high = min(xs), max(xs)
    top = highest or 1.08 * max(mean for _, _, points in series for _, mean, _ in points)
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    px = lambda x: offset + LEFT + (scaled(x) - low) / (high - low or 1) * (right - LEFT)
    py = lambda y: TOP + (1 - min(max(y, 0), top) / top) * (bottom - TOP)
    parts.append(f'<text x="{offset + LEFT}" y="16" font-weight="bold">{title}</text>')
    for step in range(5):
        y = top * step / 4
        parts.append(
            f'<line x1="{offset + LEFT}" y1="{py(y):.1f}" x2="{offset + right}" y2="{py(y):.1f}" '
            'stroke="#ddd"/>'
        )
        parts.append(f'<text x="{offset + LEFT - 5}" y="{py(y) + 4:.1f}" text-anchor="end">{y:.3g}</text>')
    ticks = sorted({x for _, _, points in series for x, _, _ in points})
    for x in ticks[:: max(1, len(ticks) // 6)]:
        parts.append(f'<text x="{px(x):.1f}" y="{bottom + 14}" text-anchor="middle">{x:g}</text>')
    for _, colour, points in series:
        path = " ".join(f"{px(x):.1f},{py(mean):.1f}" for x, mean, _ in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for x, mean, deviation in points:
            parts.append(
                f'<line x1="{px(x):.1f}" y1="{py(mean - deviation):.1f}" x2="{px(x):.1f}" '
                f'y2="{py(mean + deviation):.1f}" stroke="{colour}"/>'
            )
    middle = offset + (LEFT + right) / 2
    parts.append(f'<text x="{middle:.1f}" y="{bottom + 28}" text-anchor="middle">{axis}</text>')


def figure(path, charts, names):
    width, height = WIDTH * len(charts), HEIGHT + (18 if names else 0)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="sans-serif" font-size="10">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for number, arguments in enumerate(charts):
        chart(parts, number * WIDTH, *arguments)
    left = LEFT
    for name, colour in names:
        parts.append(f'<rect x="{left}" y="{HEIGHT}" width="12" height="4" fill="{colour}"/>')
        parts.append(f'<text x="{left + 16}" y="{HEIGHT + 6}">{name}</text>')
        left += 34 + 6 * len(name)
    path.write_text("\n".join(parts) + "\n</svg>\n")


def spread(values):
    return statistics.mean(values), statistics.stdev(values) if len(values) > 1 else 0.0


def by_batch(runs, key):
    """The figure of every batch but the first, where all weights are zero: mean and deviation over seeds."""
    points = []
    for number in range(1, len(runs[0]["batches"])):
        values = [key(run["batches"][number]) for run in runs]
        points.append((number + 1, *spread(values)))
    return points


def draw(arguments):
    results = json.loads(arguments.results.read_text())
    keys = [
        ("recall@1", lambda batch: batch["recall"], 1.05),
        (
            "epsilon, of the strongest rival's lead",
            lambda batch: batch["epsilon"] / max(batch["scale"], 1e-30),
            None,
        ),
        ("closeness", lambda batch: batch["closeness"], 1.05),
        ("different rivals, of examples", lambda batch: batch["distinct"], 1.05),
    ]
    for data in DATA:
        runs = {
            name: [run for run in results if (run["data"], run["name"]) == (data, name)] for name in ORACLES
        }
        names = [(name, colour) for name, colour in zip(ORACLES, COLOURS) if runs[name]]
        if not names:
            continue
        charts = [
            (
                f"{data}: {title}",
                "batch",
                [(name, colour, by_batch(runs[name], key)) for name, colour in names],
                False,
                top,
            )
            for title, key, top in keys
        ]
        figure(arguments.out / f"inexactness_{data}.svg", charts, names)
        print(
            f"\n| {data}: oracle | recall@1 | median rank | closeness | epsilon | epsilon / lead | rows of "
            "rivals | different rivals | accuracy | macro-F1 |"
        )
        print("|---|---|---|---|---|---|---|---|---|---|")
        ranks = [f"rank {rank}" for rank in RANKS]
        for name in [*ORACLES, *ranks]:
            found = [run for run in results if (run["data"], run["name"]) == (data, name)]
            if found:
                print("| " + " | ".join(row(name, found)) + " |")
    charts = []
    for data in DATA:
        points = []
        for rank in RANKS:
            found = [run for run in results if (run["data"], run["name"]) == (data, f"rank {rank}")]
            if found:
                points.append((rank, *spread([100 * run["accuracy"] for run in found])))
        if points:
            line = [("", COLOURS[0], points)]
            charts.append((f"{data}: accuracy, %", "rank of the class that is pushed", line, True))
    figure(arguments.out / "rival_rank.svg", charts, [])


def row(name, runs):
    """Means over all batches but the first, and over seeds; qualities with their standard deviation."""
    batches = [batch for run in runs for batch in run["batches"][1:]]
    mean = lambda key: statistics.mean(batch[key] for batch in batches)
    lead = statistics.mean(batch["epsilon"] / max(batch["scale"], 1e-30) for batch in batches)
    cells = [
        name,
        f"{mean('recall'):.3f}",
        f"{mean('rank'):.0f}",
        f"{mean('closeness'):.2f}",
    ]
    cells += [
        f"{mean('epsilon'):.1e}",
        f"{lead:.2f}",
        f"{mean('rows'):.1f}",
        f"{mean('distinct'):.2f}",
    ]
    for key in ("accuracy", "macro_f1"):
        value, deviation = spread([100 * run[key] for run in runs])
        cells.append(f"{value:.2f} ± {deviation:.2f}%")
    return cells


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(required=True)
    verb = verbs.add_parser("measure")
    verb.add_argument("results", type=pathlib.Path)
    verb.add_argument("--data", type=pathlib.Path, required=True)
    verb.add_argument("--memoir", default="target/release/memoir")
    verb.set_defaults(run=measure)
    verb = verbs.add_parser("draw")
    verb.add_argument("results", type=pathlib.Path)
    verb.add_argument("out", type=pathlib.Path)
    verb.set_defaults(run=draw)
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    main()
