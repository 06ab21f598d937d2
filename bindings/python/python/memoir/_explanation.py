"""Explanations as Python values."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np


@dataclass(frozen=True)
class FeatureWeight:
    """A feature with its weight for a class."""

    name: str
    feature: int
    weight: float

    @classmethod
    def of(cls, told: dict[str, Any], names: np.ndarray | None) -> FeatureWeight:
        return cls(_name(told, names), told["feature"], told["weight"])


@dataclass(frozen=True)
class FeatureShare:
    """What one feature of a row says."""

    name: str
    feature: int
    value: float
    for_answer: float
    for_runner_up: float


@dataclass(frozen=True)
class Explanation:
    """Why a row got its answer. Printed, it is a table."""

    answer: Any
    answer_score: float
    runner_up: Any
    runner_up_score: float | None
    features: list[FeatureShare]

    def __str__(self) -> str:
        lines = [f"answer     {self.answer}  {self.answer_score:.4f}"]
        if self.runner_up_score is not None:
            lines.append(f"runner-up  {self.runner_up}  {self.runner_up_score:.4f}")
        if not self.features:
            return "\n".join([*lines, "", "nothing in it is known to the model"])
        lines += ["", "  answer  runner-up  feature"]
        lines += [
            f"{share.for_answer:+8.4f}  {share.for_runner_up:+9.4f}  {share.name}" for share in self.features
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        answer = f"<b>{escape(str(self.answer))}</b> {self.answer_score:.4f}"
        if self.runner_up_score is not None:
            answer += f", then {escape(str(self.runner_up))} {self.runner_up_score:.4f}"
        if not self.features:
            return f"<p>{answer}</p><p>Nothing in it is known to the model.</p>"
        rows = "".join(
            f"<tr><td>{share.for_answer:+.4f}</td><td>{share.for_runner_up:+.4f}</td>"
            f"<td>{escape(share.name)}</td></tr>"
            for share in self.features
        )
        head = "<tr><th>answer</th><th>runner-up</th><th>feature</th></tr>"
        return f"<p>{answer}</p><table><thead>{head}</thead><tbody>{rows}</tbody></table>"


def explanation_of(told: dict[str, Any], labels: np.ndarray, names: np.ndarray | None) -> Explanation:
    """What the native module tells, with the user's labels and names."""
    answer, runner_up = told["answer"], told["runner_up"]
    return Explanation(
        answer=labels[answer["class_number"] :][:1].tolist()[0],
        answer_score=answer["score"],
        runner_up=labels[runner_up["class_number"] :][:1].tolist()[0] if runner_up else None,
        runner_up_score=runner_up["score"] if runner_up else None,
        features=[
            FeatureShare(
                _name(share, names),
                share["feature"],
                share["value"],
                share["for_answer"],
                share["for_runner_up"],
            )
            for share in told["features"]
        ],
    )


def _name(told: dict[str, Any], names: np.ndarray | None) -> str:
    if names is not None and told["feature"] < len(names):
        return str(names[told["feature"]])
    return told["name"]
