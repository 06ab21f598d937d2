"""Writes docs/benchmarks.md and the tables of README.md from the committed results in experiments/results.

    python3 experiments/benchmarks.py            # writes both
    python3 experiments/benchmarks.py --check    # exit code 1 if either is out of date; writes nothing

Standard library only. The same results always give the same bytes.
"""

import json
import math
import sys
import textwrap
import tomllib
from pathlib import Path
from statistics import mean, stdev

ROOT = Path(__file__).resolve().parent.parent
OURS = "softmax"
README_METHODS = [OURS, "omikuji Bonsai", "omikuji attention", "omikuji Parabel", "PECOS XR-Linear"]
BEGIN = "<!-- Written by experiments/benchmarks.py from here on. -->"
END = "<!-- Up to here. -->"

# Column, what it is of a run, whether more is better, and how it is written.
QUALITY = {
    False: [("accuracy", "accuracy"), ("macro-F1", "macro_f1")],
    True: [("precision@1", "precision_at_1"), ("precision@5", "precision_at_5")],
}


def main():
    pages = {"docs/benchmarks.md": benchmarks_page(), "README.md": readme()}
    stale = [name for name, text in pages.items() if read(name) != text]
    if "--check" in sys.argv[1:]:
        if stale:
            sys.exit(f"out of date: {', '.join(stale)}; run `python3 experiments/benchmarks.py`")
        return
    for name in stale:
        (ROOT / name).write_text(pages[name], encoding="utf-8")
        print(f"wrote {name}")


def read(name):
    path = ROOT / name
    return path.read_text(encoding="utf-8") if path.exists() else ""


# --- results
# ----------------------------------------------------------------------------------------------------


class Method:
    """All repeats of one method on one data set."""

    def __init__(self, runs, several_labels):
        self.name = runs[0]["method"]
        self.status = next((run["status"] for run in runs if run["status"] != "ok"), "ok")
        self.made = len(runs)
        # What was reached counts, even if a later repeat met a limit; the table says how often.
        self.runs = [run for run in runs if run["status"] == "ok"]
        stopped = [run["train"]["cpu_seconds"] for run in runs if run["status"] != "ok"]
        self.stopped_after = stopped[0] if stopped else None
        self.quality = QUALITY[several_labels]

    def values(self, measure):
        get = {
            "train": lambda run: run["train"]["cpu_seconds"],
            "predict": lambda run: run["predict"]["cpu_seconds"],
            "train memory": lambda run: run["train"]["peak_bytes"],
            "predict memory": lambda run: run["predict"]["peak_bytes"],
            "model": lambda run: run["model_bytes"],
        }.get(measure, lambda run: run["quality"][measure])
        return [get(run) for run in self.runs]

    def mean(self, measure):
        values = self.values(measure)
        return mean(values) if values else None


def methods_of(data):
    lines = read(f"experiments/results/{data['name']}/results.jsonl").splitlines()
    runs = {}
    for run in map(json.loads, lines):
        runs.setdefault(run["method"], []).append(run)
    return [Method(of_method, data.get("several_labels", False)) for of_method in runs.values()]


def machine_of(name):
    return json.loads(read(f"experiments/results/{name}/machine.json"))


# --- how figures are written
# --------------------------------------------------------------------------------------


def percent(values):
    spread = f" ± {100 * stdev(values):.2f}" if len(values) > 1 and stdev(values) >= 5e-5 else ""
    return f"{100 * mean(values):.2f}{spread}%"


def seconds(values):
    value = mean(values)
    return f"{value:.2f} s" if value < 10 else f"{value:.1f} s" if value < 100 else f"{value:.0f} s"


def size(values):
    value = mean(values)
    units = (("kB", 1e3), ("MB", 1e6), ("GB", 1e9))
    unit, factor = next((unit for unit in units if value < 999.5 * unit[1]), units[-1])
    return f"{value / factor:.1f} {unit}" if value < 100 * factor else f"{value / factor:.0f} {unit}"


def thousands(number):
    return f"{number:,}"


def table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def wrap(text, indent=""):
    return (
        textwrap.fill(text, 105, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
        + "\n"
    )


def title_of(data):
    return data.get("title", data["name"])


def best(methods, measure, more_is_better):
    known = [(method.mean(measure), method.name) for method in methods if method.mean(measure) is not None]
    return (max if more_is_better else min)(known)[1]


# --- the page
# -------------------------------------------------------------------------------------------------------


def benchmarks_page():
    facts = tomllib.loads(read("experiments/datasets.toml"))
    parts = [PAGE_HEAD.format(built=built_with(facts["data"])), data_section(facts), summary(facts["data"])]
    parts += [data_tables(data) for data in facts["data"]]
    parts += [growth(), PAGE_END]
    return "\n".join(parts)


def built_with(sets):
    machines = {data["name"]: machine_of(data["name"]) for data in sets}
    versions = {machine["version"] for machine in machines.values()}
    dates = sorted({machine["date"] for machine in machines.values()})
    if len(versions) > 1:
        each = ", ".join(f"{name} {machine['version']}" for name, machine in machines.items())
        sys.exit(
            f"results of several versions cannot stand on one page: {each}; measure the older ones again"
        )
    processor = " and ".join(sorted({machine["processor"] for machine in machines.values()}))
    return f"version {versions.pop()}, last measured on {dates[-1]}, on shared cores of {processor}"


def data_section(facts):
    used = {}
    for data in facts["data"]:
        used.setdefault(data["origin"], []).append(title_of(data))
    rows = [
        [
            title_of(data),
            data["about"],
            thousands(data["rows"]),
            thousands(data["classes"]),
            str(data["row_length"]),
            f"{data['judged']}, {thousands(data['judged_rows'])}",
        ]
        for data in facts["data"]
    ]
    origins = [
        wrap(f"- {', '.join(used[origin['name']])}: {origin['text']}.", "  ") for origin in facts["origin"]
    ]
    header = ["data", "task", "training rows", "classes", "features a row", "judged on"]
    return "## The data\n\n" + table(header, rows) + "\n" + "".join(origins)


def summary(sets):
    rows = []
    for data in sets:
        for label, measure in QUALITY[data.get("several_labels", False)]:
            own, error, others = placing(data, measure)
            value, name = others[0]
            noise = f" ± {100 * error:.2f}" if error else ""
            cells = [title_of(data), label, f"{100 * own:.2f}%{noise}", f"{100 * value:.2f}%, {name}"]
            difference = f"{100 * (own - value):+.2f}"
            rows.append([*cells, difference if own > value else f"**{difference}**"])
    header = ["data", "measure", f"`{OURS}`", "best other method", "difference, points"]
    return SUMMARY_HEAD + table(header, rows)


def placing(data, measure):
    """Our mean, its standard error (of shares of rows only), and the others' means, best first."""
    values = {method.name: method.mean(measure) for method in methods_of(data) if method.values(measure)}
    own = values.pop(OURS)
    is_share = measure in ("accuracy", "precision_at_1")
    error = math.sqrt(own * (1 - own) / data["judged_rows"]) if is_share else None
    return own, error, sorted(((value, name) for name, value in values.items()), reverse=True)


def data_tables(data):
    methods = methods_of(data)
    quality = QUALITY[data.get("several_labels", False)]
    measures = [(measure, True, percent) for _, measure in quality]
    measures += [("train", False, seconds), ("predict", False, seconds)]
    measures += [(name, False, size) for name in ("train memory", "predict memory", "model")]
    winners = {measure: best(methods, measure, more) for measure, more, _ in measures}
    rows = []
    for method in methods:
        stopped = ""
        if method.status != "ok":
            stopped = f"{method.status.replace('-', ' ')} after {seconds([method.stopped_after])}"
        if not method.runs:
            rows.append([method.name, stopped] + [""] * (len(measures) - 1))
            continue
        cells = [(measure, write(method.values(measure))) for measure, _, write in measures]
        bold = [f"**{text}**" if winners[measure] == method.name else text for measure, text in cells]
        often = f" ({len(method.runs)} of {method.made} repeats; then {stopped})" if stopped else ""
        rows.append([method.name + often, *bold])
    header = [
        "method",
        *[label for label, _ in quality],
        "train",
        "predict",
        "memory, train",
        "memory, predict",
        "model",
    ]
    repeats = max(method.made for method in methods)
    note = "\nOne run with one seed: no standard deviations.\n"
    if repeats > 1:
        note = f"\nMeans of {repeats} runs with different seeds, ± the standard deviation.\n"
    name = data["name"]
    folder = f"experiments/results/{name}"
    links = f"\nAll figures and commands: [`{folder}`](../{folder}/results.md)\n"
    about = f"{title_of(data)}: {data['about']}"
    return f"## {about}\n\n{table(header, rows)}{note}{links}"


def growth():
    runs = [json.loads(line) for line in read("experiments/results/lshtc1/results.jsonl").splitlines()]
    scales = list(dict.fromkeys(run["data"] for run in runs))
    rows = []
    for name in dict.fromkeys(run["method"] for run in runs):
        of_method = {run["data"]: run for run in runs if run["method"] == name}
        cells = []
        for scale in scales:
            run = of_method[scale]
            done = run["status"] == "ok"
            cells.append(
                f"{seconds([run['train']['cpu_seconds']])}, {100 * run['quality']['accuracy']:.1f}%"
                if done
                else run["status"].replace("-", " ")
            )
        rows.append([name, *cells])
    machine = machine_of("lshtc1")
    header = ["method", *[scale.removeprefix("lshtc1 x ") for scale in scales]]
    return GROWTH_HEAD.format(version=machine["version"], date=machine["date"]) + table(header, rows)


# --- the tables of the README
# ---------------------------------------------------------------------------------------


def readme():
    text = read("README.md")
    if BEGIN not in text or END not in text:
        sys.exit(f"README.md lacks the line `{BEGIN}` or `{END}`")
    before, rest = text.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    return before + BEGIN + "\n\n" + readme_tables() + "\n" + END + after


def readme_tables():
    sets = tomllib.loads(read("experiments/datasets.toml"))["data"]
    quality_rows, cost_rows = [], []
    for data in sets:
        by_name = {method.name: method for method in methods_of(data)}
        measures = [measure for _, measure in QUALITY[data.get("several_labels", False)]]
        winners = [best([by_name[name] for name in README_METHODS], measure, True) for measure in measures]
        cells, costs = [], []
        for name in README_METHODS:
            method = by_name[name]
            values = [f"{100 * method.mean(measure):.1f}" for measure in measures]
            bold = [f"**{value}**" if winner == name else value for value, winner in zip(values, winners)]
            cells.append(" / ".join(bold))
            costs.append(f"{seconds(method.values('train'))} · {size(method.values('train memory'))}")
        several = " *" if data.get("several_labels") else ""
        quality_rows.append([f"{title_of(data)}{several}", thousands(data["classes"]), *cells])
        cost_rows.append([title_of(data), *costs])
    names = ["**memoir**", *README_METHODS[1:]]
    return (
        "Accuracy / macro-F1 in percent; with several labels a row (*), precision@1 / precision@5:\n\n"
        + table(["data", "classes", *names], quality_rows)
        + "\nTraining, CPU seconds with reading · peak memory:\n\n"
        + table(["data", *names], cost_rows)
        + "\n"
        + readme_losses(sets)
    )


def readme_losses(sets):
    behind, close = [], []
    for data in sets:
        for label, measure in QUALITY[data.get("several_labels", False)]:
            own, error, others = placing(data, measure)
            ahead = [f"{name} {100 * value:.1f}%" for value, name in others if value > own]
            if ahead:
                behind.append(f"{title_of(data)} in {label} ({100 * own:.1f}%; {', '.join(ahead)})")
            elif error and own - others[0][0] < error:
                close.append(title_of(data))
    lost = f"**memoir loses on** {'; '.join(behind)}. " if behind else "memoir is first in every row. "
    noise = f"Its leads in accuracy on {' and '.join(close)} are below one standard error. " if close else ""
    measured = f"{built_with(sets)}: read differences in time below a quarter as none."
    return wrap(lost + noise + measured[0].upper() + measured[1:])


PAGE_HEAD = """# Benchmarks

<!-- Written by experiments/benchmarks.py. Do not edit: change the script or measure again. -->

Every figure on this page comes from the committed results in
[`experiments/results`](../experiments/README.md): memoir {built}.

- Every method runs with one thread, on the same vectors, at its defaults. Nothing is set by data set.
- Times are CPU seconds, user and system, of the whole process, with reading the data. The machine was
  shared: compare times within a table, and read differences below a quarter as none.
- Not all methods of a table were measured within the same hours:
  [notes on the main table](lab-notes/2026-11-16-main-table.md) say more.
- Memory is the largest resident set of the process. Programs that run in Python count with Python's start.
- A step (training or predicting) that exceeds its limits of time or memory is stopped; the table says so.
- Quality is computed by the same code for all methods. [Measures](guide/measures.md) defines it.
- omikuji has no seed: its accuracy varies by some tenths of a point from run to run.
- The defaults of `softmax` were chosen on valid rows of some of these sets. Other programs run as they come.
- `memoir-lsh` and `msvm` were measured with earlier versions. Now `memoir-lsh` takes a third of the time and
  half of the memory on yso-sv-single, and `msvm` a third of the memory in up to four times the time
  ([the paper's claims](paper.md)).
- fastText sees no feature values here, so its rows say little about fastText on raw text.

To repeat a table:

    bash experiments/externals/install.sh
    memoir compare experiments/main/NAME.toml --data FOLDER --out DIR

WordNet needs no download:

    memoir data wordnet --out experiments/wordnet
    memoir compare experiments/wordnet.toml --out DIR

The command also writes `report.html`, with figures and sortable tables.
"""

SUMMARY_HEAD = """## Where `softmax` is first, and where it is not

± is the standard error that follows from the number of rows. A difference below it says little. Losses are
in bold.

"""

GROWTH_HEAD = """## Growth

Data of the shape of the paper's LSHTC1, at four scales of its rows, classes and features, 60 CPU seconds a
step (`memoir compare experiments/lshtc1.toml --out DIR`; memoir {version}, {date}). CPU seconds of training,
and accuracy on 1,000 rows, whose standard error is 1.6 points.
All figures: [`experiments/results/lshtc1`](../experiments/results/lshtc1/results.md).

"""

PAGE_END = """## More studies

| question | figures and commands |
| --- | --- |
| How do time and memory grow with one size at a time? | [`experiments/results/scale`](../experiments/results/scale/results.md) |
| What do memory and file size come to on every set? | [`experiments/results/footprint`](../experiments/results/footprint/results.md) |
| How do `ovr` and `msvm` compare with LIBLINEAR at equal objective? | [`experiments/liblinear`](../experiments/liblinear/README.md) |
| What does Python add, and how does scikit-learn compare? | [`experiments/python`](../experiments/python/README.md) |
| How fast are files read? | [`experiments/reading`](../experiments/reading/README.md) |
| Do the paper's claims hold? | [The paper's claims, measured](paper.md) |
"""


if __name__ == "__main__":
    main()
