"""OpenDP's noise: vector measurements, noisy max, and scalar calls."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from bench.scripts.loop import rate_of_scalar, rate_of_vector, serve

dp: Any = import_module("opendp.prelude")
np: Any = import_module("numpy")
dp.enable_features("contrib")


def domain(kind: str) -> Any:
    return (
        dp.atom_domain(T="f64", nan=False) if kind == "f64" else dp.atom_domain(T=kind)
    )


def laplace(kind: str, scale: float) -> Any:
    return dp.m.make_laplace(
        dp.vector_domain(domain(kind)), dp.l1_distance(T=kind), scale=scale
    )


def gaussian(kind: str, scale: float) -> Any:
    return dp.m.make_gaussian(
        dp.vector_domain(domain(kind)), dp.l2_distance(T=kind), scale=scale
    )


def vector(name: str, scale: float, n: int) -> float:
    kind = "f64" if name.startswith("float") else "i64"
    measurement = (
        laplace(kind, scale) if name.endswith("Laplace") else gaussian(kind, scale)
    )
    zeros = np.zeros(n, dtype=np.float64 if kind == "f64" else np.int64)
    return rate_of_vector(lambda: measurement(zeros), n)


def noisy_max(n: int, as_list: bool) -> float:
    """Candidates per CPU-second; pure ε, which is permute-and-flip. An array is its
    faster input.
    """
    measurement = dp.m.make_noisy_max(
        dp.vector_domain(domain("f64")),
        dp.linf_distance(T="f64"),
        dp.max_divergence(),
        scale=2.0,
    )
    array = np.arange(n, dtype=np.float64) % 100
    scores = array.tolist() if as_list else array
    return rate_of_vector(lambda: measurement(scores), n)


def scalar(scale: float, seconds: float) -> float:
    measurement = dp.m.make_laplace(
        domain("i64"), dp.absolute_distance(T="i64"), scale=scale
    )
    return rate_of_scalar(lambda: measurement(500), seconds)


TASKS: dict[str, Callable[..., float]] = {
    "vector": vector,
    "noisy max": noisy_max,
    "scalar": scalar,
}


def answer(task: str, **request: Any) -> float:
    return TASKS[task](**request)


serve(answer)
