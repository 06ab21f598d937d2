"""Simulates the messages of a training by several shards, round after round, over links that are given.

    python experiments/shards/simulate.py --rounds 900 --bytes 4e7 --compute 20 --fixed 4 --shards 1,2,4
    python experiments/shards/simulate.py --rounds 410 --bytes 3.6e7 --weights 3e6 --each 1.6,1.4 \\
        --latency 1.1e-3 --bandwidth 125e6

A round: every shard computes, sends its message to each other shard over its own link, one after the other,
and goes on when it has the messages of all. `--each` are the processor seconds of each shard. Without them,
all shards take as long: `--compute` are seconds of one process for what is shared out, `--fixed` for what
every shard does by itself. `--bytes` is what all shards together hand out, each byte counted once. Every
second round is taken for a short one: bounds of weights come before rivals. `--weights` are the bytes that
shard 0 gets at the end. `--latency` is what a round takes without computing, of a message without length;
`hosts.py --probe` measures it. Prints seconds and the share that is spent waiting.
"""

import argparse
import random
from collections.abc import Sequence
from dataclasses import dataclass

# The bytes of rounds that share bounds, of all.
SMALL = 0.02


@dataclass(frozen=True)
class Link:
    """Seconds that a message is under way, bytes a second, and seconds that sending one costs."""

    latency: float
    bandwidth: float
    overhead: float


@dataclass(frozen=True)
class Load:
    """Processor seconds of each shard, rounds, bytes that all hand out in these, and at the end."""

    each: Sequence[float]
    rounds: int
    bytes: float
    weights: float


def simulate(load: Load, link: Link, jitter: float, seed: int = 0) -> tuple[float, float]:
    """Seconds until the last shard is done, and the mean that a shard has waited."""
    chance = random.Random(seed)
    shards = len(load.each)
    # Cached rivals are said once, whoever owns them; each shard says its own of the rivals of a scan.
    mean = load.bytes / load.rounds / shards
    ready = [0.0] * shards
    waited = 0.0
    for number in range(load.rounds):
        message = mean * (2 - 2 * SMALL if number % 2 else 2 * SMALL)
        computed = [
            start + seconds / load.rounds * chance.uniform(1 - jitter, 1 + jitter)
            for start, seconds in zip(ready, load.each, strict=True)
        ]
        arrived = list(computed)
        for sender in range(shards):
            free = computed[sender]
            for step in range(1, shards):
                free += link.overhead + message / link.bandwidth
                receiver = (sender + step) % shards
                arrived[receiver] = max(arrived[receiver], free + link.latency)
            arrived[sender] = max(arrived[sender], free)
        waited += sum(arrived) - sum(computed)
        ready = arrived
    if shards > 1:
        # Each of the others sends its share over its own link.
        gathered = max(ready[1:]) + link.latency + load.weights / (shards - 1) / link.bandwidth
        waited += max(gathered - ready[0], 0.0)
        ready[0] = max(gathered, ready[0])
    return max(ready), waited / shards


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--bytes", type=float, required=True)
    parser.add_argument("--weights", type=float, default=0.0)
    parser.add_argument("--each", help="processor seconds of each shard, with commas between")
    parser.add_argument("--compute", type=float, default=0.0)
    parser.add_argument("--fixed", type=float, default=0.0)
    parser.add_argument("--shards", default="1,2,4", help="with --compute and --fixed")
    parser.add_argument(
        "--latency", type=float, default=30e-6, help="default: this machine, 30 microseconds"
    )
    parser.add_argument("--bandwidth", type=float, default=2e9, help="default: this machine, 2 GB/s")
    parser.add_argument("--overhead", type=float, default=10e-6)
    parser.add_argument("--jitter", type=float, default=0.2)
    given = parser.parse_args()
    if (given.each is None) == (given.compute + given.fixed <= 0):
        parser.error("expected either --each, or --compute and --fixed")
    if given.each is None:
        numbers = map(int, given.shards.split(","))
        runs = [[given.fixed + given.compute / shards] * shards for shards in numbers]
    else:
        runs = [[float(seconds) for seconds in given.each.split(",")]]
    link = Link(given.latency, given.bandwidth, given.overhead)
    for each in runs:
        load = Load(each, given.rounds, given.bytes, given.weights)
        seconds, waited = simulate(load, link, given.jitter)
        print(f"{len(each):5} shards  {seconds:12.2f} s  waiting {100 * waited / seconds:5.1f}%")


if __name__ == "__main__":
    main()
