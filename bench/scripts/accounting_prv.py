"""prv-accountant: two-sided bounds on ε of composed mechanisms."""

from __future__ import annotations

import time
from functools import cache
from importlib import import_module
from typing import Any

from bench.scripts.loop import serve

prv: Any = import_module("prv_accountant")


def mechanism(kind: str, scale: float, rate: float) -> Any:
    if kind == "Laplace":
        return prv.LaplaceMechanism(mu=1 / scale)
    if rate < 1:
        return prv.PoissonSubsampledGaussianMechanism(
            sampling_probability=rate, noise_multiplier=scale
        )
    return prv.GaussianMechanism(noise_multiplier=scale)


@cache
def measure(
    kind: str, scale: float, rate: float, times: int, delta: float
) -> dict[str, float]:
    began = time.process_time()
    made = prv.PRVAccountant(
        prvs=[mechanism(kind, scale, rate)],
        max_self_compositions=[times],
        eps_error=0.01,
        delta_error=delta / 1000,
    )
    low, estimate, high = made.compute_epsilon(delta, [times])
    seconds = time.process_time() - began
    return {
        "lower": float(low),
        "epsilon": float(estimate),
        "upper": float(high),
        "seconds": seconds,
    }


def answer(metric: str, **case: Any) -> float:
    return measure(**case)[metric]


if __name__ == "__main__":
    serve(answer)
