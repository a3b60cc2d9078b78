"""The mean of numbers from 0 to 1, each with Laplace noise of diffprivlib on its device."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from bench.scripts.loop import serve

mechanisms: Any = import_module("diffprivlib.mechanisms")


def answer(values: list[float], epsilon: float) -> float:
    laplace = mechanisms.Laplace(epsilon=epsilon, sensitivity=1.0)
    return float(sum(laplace.randomise(value) for value in values)) / len(values)


serve(answer)
