"""dp-accounting: ε of composed mechanisms by Rényi differential privacy and by privacy
loss distributions.
"""

from __future__ import annotations

import time
from functools import cache
from importlib import import_module
from typing import Any

from bench.scripts.loop import serve

dp: Any = import_module("dp_accounting")
rdp: Any = import_module("dp_accounting.rdp")
pld: Any = import_module("dp_accounting.pld")


def event(kind: str, scale: float, rate: float) -> Any:
    if kind == "Laplace":
        return dp.LaplaceDpEvent(scale)
    return (
        dp.PoissonSampledDpEvent(rate, dp.GaussianDpEvent(scale))
        if rate < 1
        else dp.GaussianDpEvent(scale)
    )


@cache
def measure(
    accountant: str, kind: str, scale: float, rate: float, times: int, delta: float
) -> tuple[float, float]:
    began = time.process_time()
    made = rdp.RdpAccountant() if accountant == "RDP" else pld.PLDAccountant()
    epsilon = made.compose(event(kind, scale, rate), times).get_epsilon(delta)
    return float(epsilon), time.process_time() - began


def answer(metric: str, **case: Any) -> float:
    epsilon, seconds = measure(**case)
    return epsilon if metric == "epsilon" else seconds


if __name__ == "__main__":
    serve(answer)
