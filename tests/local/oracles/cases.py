"""Small oracles of every kind, and their items."""

from __future__ import annotations

from typing import Any

import numpy as np

from dither.local.hashes import digests
from dither.local.oracles import (
    CountMeanSketch,
    HadamardResponse,
    HadamardSketch,
    KAryResponse,
    LocalHashing,
    Loloha,
    LongitudinalUnary,
    Oracle,
    SubsetSelection,
    Unary,
)
from dither.local.oracles.response import kept

TEXTS = [b"s:a", b"s:b", b"s:c"]

Case = tuple[Oracle, float, float]


def small(epsilon: float) -> dict[str, Case]:
    """Each with the ε that is claimed for it, once and for ever."""
    again = epsilon * 1.7
    once: dict[str, Oracle] = {
        "binary": KAryResponse.at(2, epsilon),
        "k-ary": KAryResponse.at(4, epsilon),
        "oue": Unary.optimized(4, epsilon),
        "sue": Unary.symmetric(4, epsilon),
        "subset of 2": SubsetSelection.at(5, epsilon / 2),
        "subset": SubsetSelection.at(4, epsilon),
        "hashing": LocalHashing(4, 3, 2, kept(epsilon, 3)),
        "hashing by bits": LocalHashing(4, 2, 2, kept(epsilon, 2)),
        "hadamard": HadamardResponse.at(3, epsilon),
        "hadamard in blocks": HadamardResponse.at(4, epsilon + 1.5),
        "cms": CountMeanSketch.at(epsilon, rows=2, columns=4),
        "hcms": HadamardSketch.at(epsilon, rows=2, columns=4),
    }
    claimed = {"subset of 2": epsilon / 2, "hadamard in blocks": epsilon + 1.5}
    cases: dict[str, Case] = {}
    for name, oracle in once.items():
        promise = claimed.get(name, epsilon)
        cases[name] = (oracle, promise, promise)
    for name, oracle in {
        "loloha": Loloha._made(4, 3, 9, epsilon, again),
        "loloha, not hashed": Loloha._made(3, 3, 1, epsilon, again),
        "loloha, many items": Loloha._made(5, 3, 4, epsilon, again),
        "longitudinal unary": LongitudinalUnary.at(3, epsilon, again),
    }.items():
        cases[name] = (oracle, epsilon, again)
    return cases


def items_of(oracle: Oracle) -> list[Any]:
    """Each item as an array of one."""
    if oracle.items:
        return [np.array([item]) for item in range(oracle.items)]
    return [digests([text]) for text in TEXTS]
