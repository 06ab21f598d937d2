"""The methods compared, each as the commands that train it and predict with it."""

from dataclasses import dataclass
from pathlib import Path

import venvs

HERE = Path(__file__).resolve().parent


@dataclass
class Job:
    """The files of one method on one data set."""

    vectors: Path  # folder of prepared vectors
    train_file: Path  # raw counts
    model: Path  # file or folder to write
    environments: Path  # folder of virtual environments
    program: str | None  # the `memoir` program


class Peer:
    """A method driven by a worker script that runs in an environment of its own."""

    raw = False  # reads prepared vectors; predicts class numbers

    def __init__(self, environment: str, suffix: str, note: str, *options: str):
        self.environment, self.suffix = environment, suffix
        self.note, self.options = note, options

    def _worker(self, job: Job, *arguments: str) -> list[str]:
        python = venvs.python_of(self.environment, job.environments)
        return [str(python), str(HERE / f"worker_{self.environment}.py"), *arguments]

    def startup(self, job: Job) -> list[str]:
        return self._worker(job, "startup")

    def train(self, job: Job) -> list[str]:
        return self._worker(job, "train", str(job.vectors), str(job.model), *self.options)

    def predict(self, job: Job, split: str, rows: Path, out: Path) -> list[str]:
        return self._worker(job, "predict", str(job.vectors), str(job.model), split, str(out))


class Memoir:
    """Our own program, at its defaults, on the raw counts.

    It weighs the counts itself, inside the measured time. Predictions are
    printed, one line per row: class names, best first, separated by tabs.
    """

    raw = True
    suffix = ".txt"

    def __init__(self, note: str, *options: str):
        self.note, self.options = note, options

    def _program(self, job: Job) -> str:
        if job.program is None:
            raise SystemExit("memoir: give its path with --memoir")
        return job.program

    def startup(self, job: Job) -> list[str]:
        return [self._program(job), "--version"]

    def train(self, job: Job) -> list[str]:
        model = ["--model", str(job.model), "--threads", "1", "--quiet"]
        return [self._program(job), "train", str(job.train_file), *model, *self.options]

    def predict(self, job: Job, split: str, rows: Path, out: Path) -> list[str]:
        options = ["--top-k", "5", "--threads", "1"]
        return [self._program(job), "predict", str(job.model), str(rows), *options]


# omikuji's settings are those that its README names for each kind of tree;
# everything not named is at its default.
METHODS = {
    "pecos": Peer("pecos", ".npz", "PECOS XR-Linear, defaults"),
    "parabel": Peer("omikuji", ".txt", "omikuji Parabel, defaults"),
    "attention": Peer(
        "omikuji",
        ".txt",
        "omikuji attention-style (collapse 5 layers)",
        "collapse_every_n_layers=5",
    ),
    "bonsai": Peer(
        "omikuji",
        ".txt",
        "omikuji Bonsai (unbalanced, k=100, depth 3)",
        "cluster_balanced=0",
        "cluster_k=100",
        "max_depth=3",
    ),
    "memoir": Memoir("memoir, defaults"),
}
