"""Every oracle of the local room, as small as a difference between two items shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dither.local.oracles import (
    BinaryMean,
    CountMeanSketch,
    HadamardResponse,
    HadamardSketch,
    HybridMean,
    KAryResponse,
    LocalHashing,
    Loloha,
    LongitudinalUnary,
    OneBitMean,
    Randomizer,
    Sampled,
    SubsetSelection,
    Unary,
)
from dither.local.rappor.oracle import Rappor
from dither.local.words import FRESH

__all__ = ["oracles", "sent"]

ITEMS = 6


ENDS = 2  # the two places of the smallest grid
TWO = (Unary.optimized(ITEMS, 1.0), BinaryMean.at(ENDS, 1.0))


def sent(oracle: Randomizer, item: int, size: int) -> Any:
    """The messages of so many devices that hold one item, in every part."""
    shape = (size,) if oracle.items else (size, 2)
    if isinstance(oracle, Sampled):
        shape = (size, len(oracle.parts))
    return oracle.randomize(np.full(shape, item), FRESH)


def oracles() -> Iterator[tuple[str, Randomizer]]:
    """Each at ε = 1; what is kept loses 2."""
    yield "binary response", KAryResponse.at(2, 1.0)
    yield "k-ary response", KAryResponse.at(ITEMS, 1.0)
    yield "optimized unary encoding", Unary.optimized(ITEMS, 1.0)
    yield "symmetric unary encoding", Unary.symmetric(ITEMS, 1.0)
    yield "subset selection", SubsetSelection.at(ITEMS, 1.0)
    yield "local hashing", LocalHashing.at(ITEMS, 1.0)
    yield "Hadamard response", HadamardResponse.at(ITEMS, 1.0)
    yield "count-mean sketch", CountMeanSketch.at(1.0, rows=2, columns=8)
    yield "Hadamard sketch", HadamardSketch.at(1.0, rows=2, columns=8)
    yield "LOLOHA", Loloha.at(ITEMS, 1.0, 2.0)
    yield "longitudinal unary encoding", LongitudinalUnary.at(ITEMS, 1.0, 2.0)
    yield "RAPPOR, basic", Rappor.at(ITEMS, epsilon=1.0, for_ever=2.0)
    yield "binary mean", BinaryMean.at(ENDS, 1.0)
    yield "hybrid mean", HybridMean.at(ENDS, 1.0)
    yield "one-bit mean", OneBitMean.at(ENDS, 1.0, 2.0)
    yield "one of two questions", Sampled(2, TWO)
    small = {"cohorts": 2, "bits": 8, "hashes": 1}
    yield "RAPPOR", Rappor.at(epsilon=1.0, for_ever=2.0, **small)
