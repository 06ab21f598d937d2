"""Checks of arguments that several methods share."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np


def positive(name: str, value: Any) -> int:
    """`value` as a whole number of at least 1, or an error that names it."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ValueError(f"`{name}` must be a whole number of at least 1, but is {value!r}")
    # More than this there is of nothing, and the native module cannot count further.
    return min(int(value), sys.maxsize)
