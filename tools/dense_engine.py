"""A naive engine: reads a model file as docs/model-file.md says and scores rows with dense arrays.

Plain Python, no tricks, vectors only. It is slow and easily seen to be right: the soak compares the program
with it. Kinds of scorers: `linear`, `fixed`, `packed` and `neighbours`.
"""

from __future__ import annotations

import array
import json
import math
import pathlib
import struct

TYPES = {"U8": "B", "I8": "b", "U16": "H", "I16": "h", "U32": "I", "U64": "Q", "F32": "f"}

Entries = dict[int, float]


class DenseModel:
    """A model as a table of classes by features, or as training rows by features."""

    def __init__(self, path: pathlib.Path) -> None:
        file = path.read_bytes()
        (length,) = struct.unpack("<Q", file[:8])
        header = json.loads(file[8 : 8 + length])
        about = header.pop("__metadata__")
        self.arrays = {}
        for name, entry in header.items():
            start, end = entry["data_offsets"]
            part = file[8 + length + start : 8 + length + end]
            if entry["dtype"] == "F16":
                self.arrays[name] = [value for (value,) in struct.iter_unpack("<e", part)]
            else:
                self.arrays[name] = array.array(TYPES[entry["dtype"]], part).tolist()
        self.scorer, self.features = about["scorer"], int(about["features"])
        self.preprocessing = json.loads(about["preprocessing"])
        names, start = bytes(self.arrays["classes.names"]), 0
        self.classes = []
        for end in self.arrays["classes.ends"]:
            self.classes.append(names[start:end].decode())
            start = end
        self.trim = self.arrays.get("weights.trim", self.arrays.get("packed.trim", [0.0]))[0]
        self.bias = self.arrays.get("weights.bias", [0.0] * len(self.classes))
        if self.scorer == "neighbours":
            self.table = self._training_rows()
        else:
            self.table = self._weights()

    def _weights(self) -> list[list[float]]:
        table = [[0.0] * self.features for _ in self.classes]
        postings = {"linear": self._linear, "fixed": self._fixed, "packed": self._packed}[self.scorer]
        for feature, number, weight in postings():
            if number < len(table):
                table[number][feature] += weight
        return table

    def _spans(self, offsets: list[int]) -> list[tuple[int, int, int]]:
        return [(feature, offsets[feature], offsets[feature + 1]) for feature in range(self.features)]

    def _linear(self) -> list[tuple[int, int, float]]:
        classes, values = self.arrays["weights.classes"], self.arrays["weights.values"]
        spans = self._spans(self.arrays["weights.offsets"])
        return [(f, classes[at], values[at]) for f, start, end in spans for at in range(start, end)]

    def _fixed(self) -> list[tuple[int, int, float]]:
        signed = lambda low: low - 65536 if low >= 32768 else low
        spans, found = self._spans(self.arrays["weights.offsets"]), []
        for feature, start, end in spans:
            for posting in self.arrays["weights.postings"][start:end]:
                found.append((feature, posting >> 16, signed(posting & 0xFFFF) / 1024))
        return found

    def _packed(self) -> list[tuple[int, int, float]]:
        data = bytes(self.arrays["packed.postings"])
        bits, units = self.arrays["packed.bits"][0], self.arrays["packed.units"][0]
        found = []
        for feature, at, end in self._spans(self.arrays["packed.offsets"]):
            factor, number = 1, -1
            if bits == 8 and at < end:
                factor, at = packed_number(data, at)
            while at < end:
                passed, at = packed_number(data, at)
                number += passed + 1
                if bits == 8:
                    weight = max(-32767, min(32767, struct.unpack_from("<b", data, at)[0] * factor))
                else:
                    weight = struct.unpack_from("<h", data, at)[0]
                at += bits // 8
                found.append((feature, number, weight / units))
        return found

    def _training_rows(self) -> list[list[float]]:
        rows = [[0.0] * self.features for _ in self.arrays["neighbours.label_ends"][1:]]
        for feature, start, end in self._spans(self.arrays["neighbours.offsets"]):
            for at in range(start, end):
                rows[self.arrays["neighbours.rows"][at]][feature] = self.arrays["neighbours.values"][at]
        return rows

    def row(self, entries: Entries) -> list[float]:
        """The row that the model makes of a user's values, which are numbered from 0 here."""
        about = self.preprocessing
        known = about["input"]["features"]
        row = [entries.get(feature, 0.0) for feature in range(known)]
        weighting = about["weighting"]
        if weighting == "log-tf-idf":
            row = [max(1 + math.log(value), 0.0) if value > 0 else 0.0 for value in row]
        if weighting != "raw":
            weights = self.arrays.get("weighting.feature_weights", [1.0] * known)
            row = [value * weight for value, weight in zip(row, weights, strict=True)]
            length = math.sqrt(sum(value * value for value in row))
            power = about.get("length_power", 1.0)
            if length > 0:
                scale = length**power * about.get("mean_length", 1.0) ** (1 - power)
                row = [value / scale for value in row]
        if self.trim > 0:
            row = self._trimmed(row)
        return row + [1.0] * bool(about["constant"])

    def _trimmed(self, row: list[float]) -> list[float]:
        total, left = sum(value * value for value in row), 0.0
        for value in sorted(abs(value) for value in row):
            left += value * value
            if left > self.trim * total:
                return [kept if abs(kept) >= value * (1 - 1e-6) else 0.0 for kept in row]
        return row

    def scores(self, entries: Entries) -> dict[str, float]:
        """The score of every class."""
        row = self.row(entries)
        if self.scorer == "neighbours":
            return self._votes(row)
        return {
            name: bias + sum(map(float.__mul__, row, weights))
            for name, bias, weights in zip(self.classes, self.bias, self.table, strict=True)
        }

    def _votes(self, row: list[float]) -> dict[str, float]:
        length = math.sqrt(sum(value * value for value in row)) or 1.0
        products = [sum(map(float.__mul__, row, known)) / length for known in self.table]
        order = sorted(
            (number for number in range(len(products)) if products[number] > 0),
            key=lambda n: (-products[n], n),
        )
        scores = dict.fromkeys(self.classes, 0.0)
        ends, labels = self.arrays["neighbours.label_ends"], self.arrays["neighbours.labels"]
        weights = self.arrays.get("neighbours.weights", [1.0] * len(products))
        for number in order[: self.arrays["neighbours.count"][0]]:
            for label in labels[ends[number] : ends[number + 1]]:
                scores[self.classes[label]] += products[number] * weights[number]
        return scores

    def tolerance(self, entries: Entries) -> float:
        """How far the program's sums may lie from exact ones: it rounds values and weights."""
        row = self.row(entries)
        largest = max((abs(weight) for weights in self.table for weight in weights), default=0.0)
        if self.scorer in ("fixed", "packed"):
            count = sum(value != 0 for value in row)
            total, top = sum(map(abs, row)), max(map(abs, row), default=0.0)
            if top == 0:
                return 1e-6
            scale = min(32767 / top, max(65500 - count / 2, 1) / total)
            return largest * count / scale + 1e-5 * largest * total + 1e-6
        return 1e-5 * (1 + largest * sum(map(abs, row)))


def packed_number(data: bytes, at: int) -> tuple[int, int]:
    """A number of one, two or six bytes, and where the next one is."""
    if data[at] < 128:
        return data[at], at + 1
    if data[at] == data[at + 1] == 255:
        return struct.unpack_from("<I", data, at + 2)[0], at + 6
    return (data[at] - 128) * 256 + data[at + 1], at + 2
