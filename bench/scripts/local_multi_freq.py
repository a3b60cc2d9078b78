"""Oracles of multi-freq-ldpy. Its servers take all messages at once, and estimate."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from bench.scripts.local_loop import Side, measure
from bench.scripts.loop import serve


def module(name: str) -> Any:
    return import_module(f"multi_freq_ldpy.pure_frequency_oracles.{name}")


def response(items: int, epsilon: float) -> Side:
    grr = module("GRR")
    return Side(
        lambda item: grr.GRR_Client(item, items, epsilon),
        None,
        lambda messages: grr.GRR_Aggregator_MI(messages, items, epsilon),
    )


def unary(items: int, epsilon: float) -> Side:
    ue = module("UE")
    return Side(
        lambda item: ue.UE_Client(item, items, epsilon, True),
        None,
        lambda messages: ue.UE_Aggregator_MI(messages, epsilon, True),
    )


def hashing(items: int, epsilon: float) -> Side:
    lh = module("LH")
    return Side(
        lambda item: lh.LH_Client(item, items, epsilon, True),
        None,
        lambda messages: lh.LH_Aggregator_MI(messages, items, epsilon, True),
    )


def subsets(items: int, epsilon: float) -> Side:
    ss = module("SS")
    return Side(
        lambda item: ss.SS_Client(item, items, epsilon),
        None,
        lambda messages: ss.SS_Aggregator_MI(messages, items, epsilon),
    )


ORACLES: dict[str, Callable[[int, float], Side]] = {
    "k-ary response": response,
    "optimized unary": unary,
    "local hashing": hashing,
    "subset selection": subsets,
}


def answer(oracle: str, items: int, epsilon: float, seconds: float) -> dict[str, float]:
    return measure(ORACLES[oracle](items, epsilon), items, seconds)


serve(answer)
