"""Trains with `memoir train` and by Ray actors, compares the bytes, and tells what the actors waited for.

    python experiments/shards/measure.py DATA --program target/release/memoir --shards 2,4 --kills 3

Needs Ray and the Python package. `--kills N` repeats the run with the first number of shards N times, in
each of which an actor is killed at a random moment after the first checkpoint. Writes a JSON line for each
run.
"""

import argparse
import json
import pathlib
import random
import resource
import subprocess
import tempfile
import threading
import time

import memoir.ray
import ray


def processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def by_program(program: str, data: str, model: pathlib.Path, options: list[str]) -> dict:
    before, start = processor_seconds(), time.monotonic()
    command = [program, "train", data, "--model", str(model), "--threads", "1", "--quiet", *options]
    subprocess.run(command, check=True)
    return {
        "run": "memoir train",
        "seconds": round(time.monotonic() - start, 2),
        "processor": round(processor_seconds() - before, 2),
    }


def kill_one(workers: list, checkpoint: pathlib.Path, delay: float) -> None:
    """Kills an actor so many seconds after the first checkpoint, as `kill -9` would."""

    def kill() -> None:
        while not any(checkpoint.parent.glob(f"{checkpoint.name}*")):
            time.sleep(0.05)
        time.sleep(delay)
        ray.kill(random.choice(workers))

    threading.Thread(target=kill, daemon=True).start()


def by_actors(data: str, model: pathlib.Path, shards: int, given: dict, delay: float | None = None) -> dict:
    start = time.monotonic()
    first_start = memoir.ray.RayEngine.start
    kept = {}
    if delay is not None:
        kept = {"checkpoint": f"{model}.kept", "checkpoint_rows": given["checkpoint_rows"]}
        starts = []

        def and_kill(self, *arguments):
            workers = first_start(self, *arguments)
            if not starts:
                kill_one(workers, pathlib.Path(kept["checkpoint"]), delay)
            starts.append(1)
            return workers

        memoir.ray.RayEngine.start = and_kill
    try:
        outcome = memoir.ray.train(data, model=model, shards=shards, format=given["format"], **kept)
    finally:
        memoir.ray.RayEngine.start = first_start
    slowest = max(outcome.shards, key=lambda shard: shard["seconds"])
    killed = "" if delay is None else f", one killed {delay:.1f} s after the first checkpoint"
    return {
        "run": f"{shards} actors{killed}",
        "seconds": round(time.monotonic() - start, 2),
        "restarts": outcome.restarts,
        "slowest": round(slowest["seconds"], 2),
        "waited": [round(shard["waited"], 2) for shard in outcome.shards],
        "processor": [round(shard["processor"], 2) for shard in outcome.shards],
        "rounds": outcome.shards[0]["rounds"],
        "sent": sum(shard["sent"] for shard in outcome.shards),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data")
    parser.add_argument("--program", default="memoir")
    parser.add_argument("--format", help="that of `memoir train --format`")
    parser.add_argument("--shards", default="2,4")
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--checkpoint-rows", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    random.seed(arguments.seed)
    given = {"format": arguments.format, "checkpoint_rows": arguments.checkpoint_rows}
    options = ["--format", arguments.format] if arguments.format else []
    with tempfile.TemporaryDirectory() as folder:
        one, model = pathlib.Path(folder, "one.memoir"), pathlib.Path(folder, "shards.memoir")
        print(json.dumps(by_program(arguments.program, arguments.data, one, options)), flush=True)
        numbers = [int(number) for number in arguments.shards.split(",")]
        ray.init(num_cpus=max(numbers), include_dashboard=False, log_to_driver=False)
        usual = 0.0
        for shards in numbers:
            told = by_actors(arguments.data, model, shards, given)
            usual = usual or told["slowest"]
            told["same bytes"] = model.read_bytes() == one.read_bytes()
            print(json.dumps(told), flush=True)
        for _ in range(arguments.kills):
            for left in pathlib.Path(folder).glob(f"{model.name}.kept*"):
                left.unlink()
            # Where reading and checkpoints take long, some kills come after the end: these restart nothing.
            delay = random.uniform(0.0, usual / 2)
            told = by_actors(arguments.data, model, numbers[0], given, delay)
            told["same bytes"] = model.read_bytes() == one.read_bytes()
            print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
