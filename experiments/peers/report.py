"""Markdown tables of the results."""

from methods import METHODS

SPLITS = ("test", "valid")

# Bars of the comparison: our cost must be at most this share of the peer's.
BARS = [
    ("train CPU", "train", "cpu_seconds", {"pecos": 1 / 4, "parabel": 1 / 6}),
    ("predict CPU", "predict", "cpu_seconds", {"pecos": 1 / 4, "parabel": 1 / 10}),
    ("train memory", "train", "peak_bytes", {"pecos": 1 / 2}),
    ("predict memory", "predict", "peak_bytes", {"pecos": 1 / 2}),
    ("model size", "train", "model_bytes", {"pecos": 1}),
]
# Our training may cost at most this many times predicting the training rows.
TRAIN_LIMIT = 2
QUALITY = ("accuracy", "macro_f1", "precision_at_1", "precision_at_5")


class Results:
    """All records by (dataset, method, step); of several, the last counts."""

    def __init__(self, records: list[dict]):
        self.by_key = {(r["dataset"], r["method"], r["step"]): r for r in records}

    def get(self, dataset: str, method: str, step: str) -> dict:
        return self.by_key.get((dataset, method, step), {})

    def datasets(self) -> list[str]:
        return list(dict.fromkeys(d for d, _, _ in self.by_key if d != "-"))

    def timed_split(self, dataset: str, method: str) -> str:
        """The split whose prediction cost is shown: test, else valid."""
        return next((s for s in SPLITS if self.get(dataset, method, s)), SPLITS[0])

    def finished(self, dataset: str, method: str, step: str, key: str) -> float | None:
        """One value of a step that ran to its end, else nothing."""
        record = self.get(dataset, method, step)
        return record.get(key) if record.get("status") == "ok" else None


def step_of(split: str) -> str:
    """Name of the step that predicts a split; `train` itself is the training."""
    return "train-rows" if split == "train" else split


def table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] + ["---:"] * (len(header) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def number(record: dict, key: str, scale: float = 1, digits: int = 2) -> str:
    value = record.get(key)
    if value is None:
        return record.get("status", "") if record.get("status") not in (None, "ok") else ""
    return f"{value * scale:.{digits}f}"


def dataset_table(results: Results, dataset: str) -> str:
    methods = [m for m in METHODS if results.get(dataset, m, "train")]
    splits = [s for s in SPLITS if any(results.get(dataset, m, s) for m in methods)]
    quality = [
        q for q in QUALITY if any(q in results.get(dataset, m, s) for m in methods for s in splits)
    ]
    titles = {
        "accuracy": "acc",
        "macro_f1": "macro-F1",
        "precision_at_1": "P@1",
        "precision_at_5": "P@5",
    }
    header = ["method"] + [f"{s} {titles[q]} %" for s in splits for q in quality]
    header += ["train CPU s", "predict CPU s", "train RSS MB", "predict RSS MB", "model MB"]
    rows = []
    for method in methods:
        train = results.get(dataset, method, "train")
        predict = results.get(dataset, method, results.timed_split(dataset, method))
        row = [METHODS[method].note]
        row += [number(results.get(dataset, method, s), q, 100) for s in splits for q in quality]
        row += [number(r, "cpu_seconds") for r in (train, predict)]
        row += [number(r, "peak_bytes", 1e-6, 0) for r in (train, predict)]
        row.append(number(train, "model_bytes", 1e-6))
        if train["status"] != "ok":
            row[0] += f" ({train['status']})"
        rows.append(row)
    return table(header, rows)


def startup_table(results: Results) -> str:
    """What starting each program costs before it does anything."""
    rows = []
    for method, entry in METHODS.items():
        record = results.get("-", method, "startup")
        if record:
            rows.append(
                [entry.note, number(record, "cpu_seconds"), number(record, "peak_bytes", 1e-6, 0)]
            )
    return table(["method", "start CPU s", "start RSS MB"], rows)


def bars_table(results: Results, dataset: str) -> str:
    """Our figures against the bars, lost rows included."""
    peers = [m for m in METHODS if m != "memoir" and results.get(dataset, m, "train")]
    rows = []
    split = results.timed_split(dataset, "memoir")
    for quality in QUALITY:
        ours = results.finished(dataset, "memoir", split, quality)
        theirs = {m: results.finished(dataset, m, split, quality) for m in peers}
        theirs = {m: v for m, v in theirs.items() if v is not None}
        if ours is None or not theirs:
            continue
        best = max(theirs, key=theirs.get)
        verdict = "held" if ours >= theirs[best] else "LOST"
        rows.append(
            [
                f"{split} {quality} %",
                f"{ours * 100:.2f}",
                f"{theirs[best] * 100:.2f} ({best})",
                verdict,
            ]
        )
    for title, step, key, shares in BARS:
        step = split if step == "predict" else step
        ours = results.finished(dataset, "memoir", step, key)
        for method, share in shares.items():
            theirs = results.finished(dataset, method, step, key)
            if ours is None or not theirs:
                continue
            verdict = "held" if ours <= share * theirs else "LOST"
            rows.append([f"{title} / {method}", f"{ours / theirs:.3f}", f"{share:.3f}", verdict])
    train = results.finished(dataset, "memoir", "train", "cpu_seconds")
    scan = results.finished(dataset, "memoir", step_of("train"), "cpu_seconds")
    if train and scan:
        verdict = "held" if train <= TRAIN_LIMIT * scan else "LOST"
        title = "train CPU / predicting its rows"
        rows.append([title, f"{train / scan:.3f}", f"{TRAIN_LIMIT:.3f}", verdict])
    return table(["bar", "ours", "needed", ""], rows)


def render(records: list[dict]) -> str:
    results = Results(records)
    parts = []
    for dataset in results.datasets():
        parts += [f"## {dataset}", dataset_table(results, dataset)]
        if results.get(dataset, "memoir", "train"):
            parts += ["Ours against the bars:", bars_table(results, dataset)]
    parts += ["## Starting each program (included in every figure above)", startup_table(results)]
    return "\n\n".join(parts) + "\n"
