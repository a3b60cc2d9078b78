"""Every oracle by the name that task documents use."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from dither.errors import ArgumentError
from dither.local.domain import MOST
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
from dither.local.oracles.sampled import MOST_PARTS
from dither.local.rappor.oracle import Rappor
from dither.local.words import ONE

__all__ = ["ORACLES", "oracle_from"]

ORACLES: dict[str, type[Randomizer]] = {
    oracle.kind: oracle
    for oracle in (
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
        Rappor,
        SubsetSelection,
        Unary,
    )
}


OPEN = (CountMeanSketch, HadamardSketch, Rappor)  # for texts that nobody has listed
CELLS = 1 << 27  # integers of a tally, at most
FETCH = "make the task with local.task, which computes the oracle"


def oracle_from(parameters: dict[str, Any]) -> Randomizer:
    """An oracle from what is written down of it."""
    if parameters.get("kind") != Sampled.kind:
        return _single(parameters)
    parts: Any = parameters.get("parts")
    few = isinstance(parts, list) and len(parts) <= MOST_PARTS
    whole = type(parameters.get("items")) is int
    if set(parameters) != {"kind", "items", "parts"} or not few or not whole:
        raise ArgumentError(
            "oracle", f"must have exactly the parameters of its kind; {FETCH}"
        )
    made = Sampled(parameters["items"], tuple(_single(part) for part in parts))
    if made.cells > CELLS:
        raise ArgumentError(
            "oracle", f"must have a tally of at most {CELLS:,} integers; {FETCH}"
        )
    return made


def _single(parameters: dict[str, Any]) -> Randomizer:
    numbers = dict(parameters)
    made = ORACLES.get(numbers.pop("kind", ""))
    if made is None:
        raise ArgumentError(
            "oracle", "has an unknown kind; update Dither if the task is newer"
        )
    names = {one.name for one in fields(made)}
    whole = all(type(value) in (int, str) for value in numbers.values())
    if not whole or set(numbers) != names:
        raise ArgumentError(
            "oracle", f"must have exactly the parameters of its kind; {FETCH}"
        )
    # before anything is computed from them: a task is read before it is trusted
    if any(type(value) is int and not 0 <= value <= ONE for value in numbers.values()):
        raise ArgumentError("oracle", f"must only have numbers from 0 to 2^32; {FETCH}")
    if numbers["items"] > MOST + 1:
        raise ArgumentError("oracle", f"must have at most {MOST:,} items; {FETCH}")
    if not numbers["items"] and made not in OPEN:
        raise ArgumentError(
            "oracle",
            f"must have at least one item if its kind is {made.kind!r}; {FETCH}",
        )
    return made(**numbers)
