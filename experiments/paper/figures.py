"""Draws the figures of docs/paper.md from the files that `run.py` fills: means of its repeats.

    python3 experiments/paper/figures.py docs/figures

Plain SVG, no library: a figure is a row of small line charts.
"""

import math
import pathlib
import sys

from run import RESULTS, read_lines, summed_up

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 250, 190, 52, 12, 26, 40


def escaped(text):
    return str(text).replace("&", "&amp;").replace("<", "&lt;")


def label(value):
    return (
        f"{value:.3g}" if value < 1000 else f"{value / 1000:.3g}k" if value < 1e6 else f"{value / 1e6:.3g}M"
    )


def chart(points, title, axis, offset, names=None):
    """A line through `points` (x, y) with a logarithmic x axis; `names` stand at the x axis instead of
    numbers."""
    xs, ys = [math.log10(x) for x, _ in points], [y for _, y in points]
    low, high = 0, max(ys) * 1.08 or 1
    span = (max(xs) - min(xs)) or 1
    place = lambda x, y: (
        offset + LEFT + (x - min(xs)) / span * (WIDTH - LEFT - RIGHT),
        TOP + (1 - (y - low) / (high - low)) * (HEIGHT - TOP - BOTTOM),
    )
    parts = [f'<text x="{offset + LEFT}" y="16" font-weight="bold">{escaped(title)}</text>']
    for step in range(5):
        y = low + (high - low) * step / 4
        px, py = place(min(xs), y)
        parts.append(
            f'<line x1="{px:.1f}" y1="{py:.1f}" x2="{offset + WIDTH - RIGHT}" y2="{py:.1f}" stroke="#ddd"/>'
        )
        parts.append(f'<text x="{px - 5:.1f}" y="{py + 4:.1f}" text-anchor="end">{label(y)}</text>')
    path = " ".join(f"{px:.1f},{py:.1f}" for px, py in (place(x, y) for x, y in zip(xs, ys)))
    parts.append(f'<polyline points="{path}" fill="none" stroke="#2b6cb0" stroke-width="2"/>')
    for number, (x, y) in enumerate(zip(xs, ys)):
        px, py = place(x, y)
        parts.append(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3" fill="#2b6cb0"/>')
        name = names[number] if names else f"{10**x:.0e}".replace("e-0", "e-")
        parts.append(
            f'<text x="{px:.1f}" y="{HEIGHT - BOTTOM + 15}" text-anchor="middle">{escaped(name)}</text>'
        )
    middle = offset + LEFT + (WIDTH - LEFT - RIGHT) / 2
    parts.append(f'<text x="{middle:.1f}" y="{HEIGHT - 8}" text-anchor="middle">{escaped(axis)}</text>')
    return parts


def figure(path, charts):
    """Writes charts, each as the arguments of `chart` without the offset, beside each other."""
    width = WIDTH * len(charts)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT}" '
        f'width="{width}" height="{HEIGHT}" '
        'font-family="sans-serif" font-size="10">',
        f'<rect width="{width}" height="{HEIGHT}" fill="white"/>',
    ]
    for number, arguments in enumerate(charts):
        parts += chart(*arguments[:3], number * WIDTH, *arguments[3:])
    path.write_text("\n".join(parts) + "\n</svg>\n")


def averaged(runs):
    """One run for all repeats of the same name."""
    names = dict.fromkeys(run["name"] for run in runs)
    return [summed_up([run for run in runs if run["name"] == name]) for name in names]


def main():
    of = lambda stem: read_lines(RESULTS / f"{stem}.jsonl")
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for stem in ("l1", "l1_yso_en"):
        l1 = sorted(
            (run for run in averaged(of(stem)) if run["algorithm"] == "memoir-l1" and "accuracy" in run),
            key=lambda run: run["options"]["lambda"],
        )
        if not l1:
            continue
        series = lambda key, factor=1, l1=l1: [
            (run["options"]["lambda"], factor * (run[key] or 0)) for run in l1
        ]
        figure(
            folder / f"{stem}.svg",
            [
                (series("weights"), "non-zero weights", "lambda"),
                (series("memory"), "peak memory, MB", "lambda"),
                (series("macro_f1_harmonic", 100), "macro-F1 (harmonic), %", "lambda"),
                (series("cpu"), "training, CPU seconds", "lambda"),
            ],
        )
    batches = [run for run in averaged(of("batch_size")) if "accuracy" in run]
    if batches:
        names = [run["name"].split(" ")[0].replace("sqrt(C),", "1") for run in batches]
        series = lambda key, factor=1: [(run["options"]["batch-size"], factor * run[key]) for run in batches]
        figure(
            folder / "batch_size.svg",
            [
                (series("accuracy", 100), "accuracy, %", "|b| in units of sqrt(C)", names),
                (
                    series("macro_f1_harmonic", 100),
                    "macro-F1 (harmonic), %",
                    "|b| in units of sqrt(C)",
                    names,
                ),
                (series("cpu"), "training, CPU seconds", "|b| in units of sqrt(C)", names),
            ],
        )
    costs = of("by_classes")
    if costs:
        charts = []
        for key, title in (
            ("query", "microseconds per query"),
            ("update", "microseconds per changed class"),
        ):
            charts.append(
                (
                    [(row["classes"], row[key]) for row in costs],
                    f"sw-graph, {title}",
                    "classes",
                    [label(row["classes"]) for row in costs],
                )
            )
        figure(folder / "by_classes.svg", charts)


if __name__ == "__main__":
    main()
