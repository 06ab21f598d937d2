"""Progress of a run: one line that is written over, in terminals and notebooks alike."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

INTERVAL = 0.2
"""Seconds between two updates of the line."""
WIDTH = 24
"""Characters of the bar."""


class ProgressLine:
    """Receives the library's events and shows them on `stream` (standard error)."""

    def __init__(self, stream: Any = None):
        self._stream = stream
        self._shown = 0
        self._stage: str | None = None
        self._start = 0.0
        self._last = 0.0

    @property
    def stream(self) -> Any:
        return self._stream if self._stream is not None else sys.stderr

    def __call__(self, kind: str, *event: Any) -> None:
        if kind == "progress":
            self._progress(*event)
        elif kind == "held_out":
            turn, accuracy, macro_f1 = event
            self._say(f"pass {turn}: held-out accuracy {accuracy:.2%}, macro-F1 {macro_f1:.2%}")
        else:
            self._say(f"note: {event[0]}")

    def _progress(self, stage: str, done: int, total: int, unit: str) -> None:
        now = time.monotonic()
        if stage != self._stage:
            self.close()
            self._stage, self._start = stage, now
        elif now - self._last < INTERVAL and done != total:
            return
        self._last = now
        elapsed = now - self._start
        if total:
            filled = WIDTH * min(done, total) // total
            bar = "█" * filled + "░" * (WIDTH - filled)
            left = elapsed / done * (total - done) if done else 0.0
            text = f"{stage} {bar} {done / total:4.0%}  {done:,} of {total:,} {unit}, {left:.0f} s left"
        else:
            text = f"{stage} {done:,} {unit}, {elapsed:.0f} s"
        self._write("\r" + text + " " * max(self._shown - len(text), 0))
        self._shown = len(text)

    def _say(self, text: str) -> None:
        self.close()
        self._write(text + "\n")

    def close(self) -> None:
        """Ends the line."""
        if self._shown:
            self._write("\n")
        self._shown, self._stage = 0, None

    def _write(self, text: str) -> None:
        try:
            self.stream.write(text)
            self.stream.flush()
        except (OSError, ValueError):
            # A closed or lost stream is no reason to stop the work.
            pass


def several(*receivers: Callable[..., None] | None) -> Callable[..., None] | None:
    """One receiver of events that hands them to all that are there."""
    present = [receiver for receiver in receivers if receiver is not None]
    if not present:
        return None

    def receive(*event: Any) -> None:
        for receiver in present:
            receiver(*event)

    return receive
