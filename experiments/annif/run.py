"""Annif (omikuji Bonsai, MLLM, and both as an ensemble) beside memoir: quality, CPU seconds, peak memory.

    bash experiments/annif/install.sh
    python3 experiments/annif/run.py FOLDER/yso-sv-text --work SCRATCH --out RESULTS.jsonl

The folder holds train.csv, valid.csv, classes.csv and perhaps test.csv. A step that RESULTS.jsonl has a line
of is not run again if its files are there. `run.py tables RESULTS.jsonl …` writes the tables of README.md.
"""

import argparse
import csv
import json
import multiprocessing
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import judge

HERE = Path(__file__).parent
PREFIX = "http://example.org/class/"
# Of each set: language and stemmer, the rows to judge, how many rows MLLM learns from (all if None; Annif's
# documentation wants few), and the systems. `bonsai-names` learns from names as rows, too.
SETS = {
    "yso-sv-text": {
        "language": "sv",
        "stemmer": "swedish",
        "judged": "test.csv",
        "mllm": None,
        "systems": ["bonsai", "mllm", "bonsai-names"],
    },
    "tib-gnd-text": {
        "language": "de",
        "stemmer": "german",
        "judged": "valid.csv",
        "mllm": 10000,
        "systems": ["bonsai", "mllm"],
    },
}
TRAINED_ON = {"bonsai": "train.csv", "mllm": "mllm.csv", "bonsai-names": "train-names.csv"}
TUNING_ROWS = 1000
LIMIT = 100
TOP_K = 20
PROJECTS = """
[bonsai]
name=Bonsai
language={language}
backend=omikuji
analyzer=snowball({stemmer})
vocab=classes
limit={limit}
cluster_balanced=False
cluster_k=100
max_depth=3

[bonsai-names]
name=Bonsai with names
language={language}
backend=omikuji
analyzer=snowball({stemmer})
vocab=classes
limit={limit}
cluster_balanced=False
cluster_k=100
max_depth=3

[mllm]
name=MLLM
language={language}
backend=mllm
analyzer=snowball({stemmer})
vocab=classes
limit={limit}

[ensemble]
name=Ensemble
language={language}
backend=ensemble
vocab=classes
limit={limit}
sources=bonsai,mllm
"""

csv.field_size_limit(1 << 30)


def read(path):
    with path.open(encoding="utf-8", newline="") as lines:
        return [(row["text"], row["label"].split("|")) for row in csv.DictReader(lines)]


def write_documents(path, rows):
    """A corpus as Annif reads it."""
    with path.open("w", encoding="utf-8", newline="") as out:
        table = csv.writer(out)
        table.writerow(["text", "subject_uris"])
        for text, labels in rows:
            table.writerow([text, " ".join(PREFIX + label for label in labels)])


def write_rows(path, rows):
    """The same rows for memoir."""
    with path.open("w", encoding="utf-8", newline="") as out:
        table = csv.writer(out)
        table.writerow(["text", "label"])
        table.writerows((text, "|".join(labels)) for text, labels in rows)


def alternatives(name, also):
    """Alternative names, which `also` runs together behind the name, twice. As a whole, and, where the name
    is one word and all others are long ones, word by word: which belong together is not to be known."""
    for _ in range(2):
        if also == name or also.startswith(name + " "):
            also = also[len(name) :].strip()
    if not also:
        return []
    words = also.split()
    is_list = len(words) > 1 and " " not in name and all(len(word) >= 5 for word in words)
    return [also, *words] if is_list else [also]


def read_names(path):
    """The name of each class of classes.csv, and its alternative names."""
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    return {row["id"]: (row["name"], alternatives(row["name"], row.get("also") or "")) for row in rows}


def write_vocabulary(path, names, language, labels):
    """SKOS of all classes. A class of the rows that has no name is named by its number."""
    quoted = lambda text: json.dumps(text, ensure_ascii=False) + f"@{language}"
    with path.open("w", encoding="utf-8") as out:
        out.write("@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n")
        for label, (name, others) in ({label: ("", []) for label in labels} | names).items():
            out.write(f"<{PREFIX}{label}> a skos:Concept ; skos:prefLabel {quoted(name or label)}")
            for other in others:
                out.write(f" ; skos:altLabel {quoted(other)}")
            out.write(" .\n")


def rows_of_names(names, labels):
    """Names of the classes that have rows, as rows: the name, and the others together."""
    for label in labels:
        name, others = names.get(label, ("", []))
        yield from ((text, [label]) for text in (name, " ".join(others[:1])) if text)


def prepare(folder, work, settings, train_rows, judged_rows):
    """All files of a set. Rows to tune the weights of the ensemble on are not judged."""
    if (work / "projects.cfg").exists():
        return
    work.mkdir(parents=True, exist_ok=True)
    train, valid, judged = (read(folder / name) for name in ("train.csv", "valid.csv", settings["judged"]))
    chance = random.Random(0)
    chance.shuffle(valid)
    tuning, rest = valid[:TUNING_ROWS], valid[TUNING_ROWS:]
    if settings["judged"] == "valid.csv":
        judged = rest
    judged = judged[:judged_rows]
    if train_rows:
        train = chance.sample(train, train_rows)
    sample = train if settings["mllm"] is None else chance.sample(train, settings["mllm"])
    names = read_names(folder / "classes.csv")
    labels = dict.fromkeys(label for _, row in train for label in row)
    write_vocabulary(work / "vocabulary.ttl", names, settings["language"], labels)
    corpora = {"train": train, "mllm": sample, "tuning": tuning, "judged": judged}
    corpora["train-names"] = train + list(rows_of_names(names, labels))
    for name, rows in corpora.items():
        write_documents(work / f"{name}.csv", rows)
    write_rows(work / "memoir-train.csv", train)
    write_rows(work / "memoir-judged.csv", judged)
    (work / "projects.cfg").write_text(PROJECTS.format(**settings, limit=LIMIT))


class Steps:
    """Runs the steps of a set that have no line yet, and writes their lines."""

    def __init__(self, data, out):
        self.data, self.out = data, out
        lines = out.read_text().splitlines() if out.exists() else []
        self.known = [json.loads(line) for line in lines]

    def add(self, line):
        self.known.append({"data": self.data} | line)
        with self.out.open("a") as out:
            out.write(json.dumps(self.known[-1]) + "\n")
        print(json.dumps(self.known[-1]), flush=True)

    def has(self, **keys):
        wanted = {"data": self.data} | keys
        return any(all(line.get(key) == value for key, value in wanted.items()) for line in self.known)

    def run(self, system, step, command, made, is_output=False):
        """Runs a command and notes its CPU seconds, wall seconds and peak memory. It makes the file or
        folder `made`, or that file is what it prints."""
        if self.has(system=system, step=step) and made.exists():
            return
        print(f"{self.data}: {system}, {step}", flush=True)
        start = time.monotonic()
        log = made.parent / f"{made.name}.log"
        made.parent.mkdir(parents=True, exist_ok=True)
        with log.open("w") as errors, (made if is_output else Path(os.devnull)).open("w") as out:
            process = subprocess.Popen(list(map(str, command)), stdout=out, stderr=errors)
            _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))} failed: see {log}")
        self.add(
            {
                "system": system,
                "step": step,
                "cpu": round(usage.ru_utime + usage.ru_stime, 1),
                "wall": round(time.monotonic() - start, 1),
                "peak_mb": round(usage.ru_maxrss * 1024 / 1e6),
            }
        )


def run(arguments):
    folder = arguments.folder
    settings = SETS[folder.name]
    sampled = f"-{arguments.train_rows}" if arguments.train_rows else ""
    work = arguments.work / (folder.name + sampled)
    # In a process of its own: the peak memory of a command counts from that of the process that starts it.
    process = multiprocessing.Process(
        target=prepare, args=(folder, work, settings, arguments.train_rows, arguments.judged_rows)
    )
    process.start()
    process.join()
    if process.exitcode:
        sys.exit(process.exitcode)
    steps = Steps(work.name, arguments.out)
    os.environ |= {
        "ANNIF_DATADIR": str(work / "annif-data"),
        "ANNIF_PROJECTS": str(work / "projects.cfg"),
        "NLTK_DATA": str(arguments.annif / "nltk_data"),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "RAYON_NUM_THREADS": "1",
    }
    annif = arguments.annif / "bin/annif"
    data = work / "annif-data"

    model, answers = work / "model.memoir", work / "memoir.jsonl"
    one_thread = ["--threads", 1, "--quiet"]
    train = [arguments.memoir, "train", work / "memoir-train.csv", "--vocabulary", folder / "classes.csv"]
    steps.run("memoir", "train", [*train, "--model", model, *one_thread], model)
    predict = [arguments.memoir, "predict", model, work / "memoir-judged.csv", "--top-k", TOP_K]
    predict += ["--output", "jsonl", "--scores", *one_thread]
    steps.run("memoir", "predict judged", predict, answers, is_output=True)

    load = [annif, "load-vocab", "classes", work / "vocabulary.ttl"]
    steps.run("annif", "load-vocab", load, data / "vocabs/classes/subjects.ttl")
    for system in settings["systems"]:
        train = [annif, "train", "--jobs", 1, system, work / TRAINED_ON[system]]
        steps.run(system, "train", train, data / "projects" / system)
        for part in ["tuning", "judged"]:
            made = work / f"{part}.{system}.jsonl"
            index = [annif, "index", "--limit", LIMIT, "--no-include-doc", "--output", made, "--force"]
            steps.run(system, f"predict {part}", [*index, system, work / f"{part}.csv"], made)
    measure(work, steps, settings["systems"])


def measure(work, steps, systems):
    """Measures all systems on the same rows, and ensembles with MLLM with even and with tuned weights."""
    answers, gold = {}, {}
    for part in ("tuning", "judged"):
        gold[part] = judge.annif_gold(work / f"{part}.csv", PREFIX)
        for system in systems:
            answers[part, system] = judge.annif_answers(work / f"{part}.{system}.jsonl", PREFIX)

    def both(part, system, weight):
        return judge.averaged(answers[part, system], answers[part, "mllm"], weight, LIMIT)

    def quality_when_tuned(system, weight):
        return judge.measures(both("tuning", system, weight), gold["tuning"])["ndcg_at_20"]

    results = [("memoir", judge.memoir_answers(work / "memoir.jsonl"), {})]
    results += [(system, answers["judged", system], {}) for system in systems]
    for system in systems:
        if system == "mllm":
            continue
        tuned = max((step / 20 for step in range(21)), key=lambda weight: quality_when_tuned(system, weight))
        for weight, kind in [(0.5, "even"), (tuned, "tuned")]:
            made_of = {"parts": [system, "mllm"], "weight": weight}
            results.append((f"{system} + mllm, {kind}", both("judged", system, weight), made_of))
    for system, found, made_of in results:
        if not steps.has(system=system, step="quality"):
            quality = judge.measures(found, gold["judged"])
            steps.add({"system": system, "step": "quality"} | made_of | quality)


def tables(arguments):
    """A table for each data set; of lines of one step the last counts."""
    lines = [json.loads(line) for path in arguments.results for line in path.read_text().splitlines()]
    for data in dict.fromkeys(line["data"] for line in lines):
        own = {(line["system"], line["step"]): line for line in lines if line["data"] == data}
        rows = next(line["rows"] for (_, step), line in own.items() if step == "quality")
        print(f"\n**{data}**, {rows:,} rows\n")
        print("| | NDCG@20 | NDCG@5 | F1@5 | accuracy | train, CPU | memory | answer, CPU | memory |")
        print("|---|---|---|---|---|---|---|---|---|")
        for system in dict.fromkeys(system for system, step in own if step == "quality"):
            quality = own[system, "quality"]
            parts = quality.get("parts", [system])
            cells = [f"{quality[key]:.4f}" for key in ("ndcg_at_20", "ndcg_at_5", "f1_at_5")]
            cells.append(f"{100 * quality['accuracy']:.1f}%")
            for step in ("train", "predict judged"):
                costs = [own[part, step] for part in parts]
                cells.append(f"{sum(cost['cpu'] for cost in costs):.1f} s")
                cells.append(f"{max(cost['peak_mb'] for cost in costs)} MB")
            note = f" ({quality['weight']:.2f} : {1 - quality['weight']:.2f})" if "weight" in quality else ""
            print(f"| {system}{note} | {' | '.join(cells)} |")


def main():
    if sys.argv[1:2] == ["tables"]:
        parser = argparse.ArgumentParser(prog="run.py tables")
        parser.add_argument("results", type=Path, nargs="+")
        tables(parser.parse_args(sys.argv[2:]))
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="yso-sv-text or tib-gnd-text")
    parser.add_argument("--work", type=Path, required=True, help="where models and answers go")
    parser.add_argument("--out", type=Path, required=True, help="a line of JSON for each step")
    parser.add_argument("--train-rows", type=int, help="learn from so many rows, drawn by chance")
    parser.add_argument("--judged-rows", type=int, help="judge so many rows at most")
    parser.add_argument("--memoir", default="target/release/memoir")
    parser.add_argument("--annif", type=Path, default=HERE.parent / "externals/environments/annif")
    run(parser.parse_args())


if __name__ == "__main__":
    main()
