"""Two-way tables with multi-freq-ldpy: each device samples one pair (its SMP)."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from bench.scripts.loop import serve

smp: Any = import_module("multi_freq_ldpy.mdim_freq_est.SMP_solution")


def answer(
    columns: list[list[int]], items: list[int], epsilon: float
) -> list[list[float]]:
    pairs = len(items)
    messages = [
        smp.SMP_GRR_Client(row, items, pairs, epsilon)
        for row in zip(*columns, strict=True)
    ]
    found = smp.SMP_GRR_Aggregator_MI(messages, items, pairs, epsilon)
    return [[float(share) for share in table] for table in found]


serve(answer)
