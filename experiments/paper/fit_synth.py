"""Fits the presets of `memoir synth` to the paper's accuracies: for each shape the share of wrong labels and
the mean number of words from the class's own topic.

    python3 experiments/paper/fit_synth.py [SHAPE ...] [--memoir PROGRAM] [--rounds N]

Two unknowns, two figures of the paper's main table: the accuracy of memoir-l2 and that of PD-Sparse, the two
linear systems that the paper has for all five sets. Wrong labels hold both down; words of topics help
memoir-l2 more. So a round moves the wrong labels by what PD-Sparse is off, and the words by what memoir-l2
is off. Where more words no longer help (MOST_SIGNAL), memoir-l2 decides and PD-Sparse is what it becomes.
Data are made at a small scale, with batches that see as large a share of the classes as those of the paper:
at the same share the accuracy hardly depends on the scale.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile
import tomllib

HERE = pathlib.Path(__file__).parent

# Classes of the paper's set, and the scale at which to fit: a few hundred classes.
SHAPES = {
    "lshtc1": (12294, 0.04),
    "dmoz": (27875, 0.015),
    "wiki-small": (36504, 0.012),
    "wiki-50k": (50000, 0.01),
    "wiki-100k": (100000, 0.005),
}
# Words of the own topic and wrong labels in the first round.
START = {
    "lshtc1": (15.5, 0.36),
    "dmoz": (11.8, 0.365),
    "wiki-small": (10, 0.49),
    "wiki-50k": (10, 0.335),
    "wiki-100k": (10, 0.37),
}
# Topics hold three words for each of the class's own, and at most four fifths of a row.
MOST_SIGNAL = {"lshtc1": 35, "dmoz": 35, "wiki-small": 10, "wiki-50k": 10, "wiki-100k": 10}
SEEDS = 2


def call(*words):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout


def accuracies(memoir, shape, signal, noise, methods, scratch):
    """Mean accuracy and macro-F1 of each method over the seeds."""
    classes, scale = SHAPES[shape]
    sums = {name: [0.0, 0.0] for name in methods}
    for seed in range(SEEDS):
        train, test, model = (scratch / name for name in ("train.svm", "test.svm", "model"))
        made = ["--like", shape, "--scale", scale, "--signal", signal, "--label-noise", noise]
        call(memoir, "synth", *made, "--seed", seed, "--out", train, "--test-out", test, "--quiet")
        for name, (algorithm, options) in methods.items():
            words = [word for option, value in options.items() for word in (f"--{option}", value)]
            if name.startswith("memoir"):
                words += ["--batch-size", round(100 * classes**0.5 * scale)]
            call(memoir, "train", train, "--model", model, "--algorithm", algorithm, "--quiet", *words)
            report = json.loads(call(memoir, "evaluate", model, test, "--json", "--quiet"))
            for index, key in enumerate(("accuracy", "macro_f1")):
                sums[name][index] += report[key] / SEEDS
    return sums


def fit(memoir, shape, rounds, scratch):
    experiment = tomllib.loads((HERE / f"{shape}.toml").read_text())
    wanted = {expected["method"]: sum(expected["accuracy"]) / 2 for expected in experiment["expect"]}
    methods = {
        method["name"]: (method["algorithm"], method["options"])
        for method in experiment["method"]
        if method["name"] in ("memoir-l2", "pd-sparse")
    }
    signal, noise = START[shape]
    best = None
    for _ in range(rounds):
        found = accuracies(memoir, shape, signal, noise, methods, scratch)
        missed = {name: found[name][0] - wanted[name] for name in methods}
        # Where words do not help any more, PD-Sparse does not count.
        is_at_most = signal >= MOST_SIGNAL[shape]
        leading = "memoir-l2" if is_at_most else "pd-sparse"
        worst = max(abs(missed["memoir-l2"]), abs(missed[leading]))
        if best is None or worst < best[0]:
            best = (worst, signal, noise, found)
        percent = {name: "{:.1f} / {:.1f}".format(*(100 * x for x in found[name])) for name in found}
        shown = ", ".join(f"{name} {percent[name]}" for name in found)
        print(f"{shape}: signal {signal:.2f}, label noise {noise:.3f}: {shown}", flush=True)
        if worst < 0.007:
            break
        noise = min(0.9, max(0.0, noise + missed[leading]))
        ratio = wanted["memoir-l2"] / max(found["memoir-l2"][0], 0.02)
        if not is_at_most:
            signal = min(MOST_SIGNAL[shape], signal * min(1.5, max(0.7, ratio**0.6)))
    _, signal, noise, found = best
    print(f"{shape}: best: signal {signal:.2f}, label noise {noise:.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("shape", nargs="*", choices=[*SHAPES, []])
    parser.add_argument("--memoir", default="target/release/memoir")
    parser.add_argument("--rounds", type=int, default=10)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        for shape in arguments.shape or SHAPES:
            fit(arguments.memoir, shape, arguments.rounds, pathlib.Path(scratch))


if __name__ == "__main__":
    main()
