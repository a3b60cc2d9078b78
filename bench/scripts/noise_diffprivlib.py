"""diffprivlib's noise, which comes one value at a time."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from bench.scripts.loop import rate_of_scalar, serve

mechanisms: Any = import_module("diffprivlib.mechanisms")


def build(name: str, scale: float) -> Any:
    if name == "discrete Laplace":
        return mechanisms.Geometric(epsilon=1 / scale, sensitivity=1)
    if name == "float Laplace":
        return mechanisms.Laplace(epsilon=1 / scale, sensitivity=1.0)
    mechanism = mechanisms.GaussianDiscrete(epsilon=1.0, delta=1e-5, sensitivity=1)
    # It searches for σ from ε and δ; here σ itself is given, and the search is not what
    # is measured.
    mechanism._scale = scale
    return mechanism


def scalar(name: str, scale: float, seconds: float) -> float:
    mechanism = build(name, scale)
    value = 0.0 if name.startswith("float") else 0
    return rate_of_scalar(lambda: mechanism.randomise(value), seconds)


serve(scalar)
