"""Every oracle by the name that task documents use."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from dither.errors import ArgumentError
from dither.local.domain import MOST
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
from dither.local.rappor.oracle import Rappor
from dither.local.words import ONE

__all__ = ["ORACLES", "oracle_from"]

ORACLES: dict[str, type[Oracle]] = {
    oracle.kind: oracle
    for oracle in (
        CountMeanSketch,
        HadamardResponse,
        HadamardSketch,
        KAryResponse,
        LocalHashing,
        Loloha,
        LongitudinalUnary,
        Rappor,
        SubsetSelection,
        Unary,
    )
}


def oracle_from(parameters: dict[str, Any]) -> Oracle:
    """An oracle from what is written down of it."""
    numbers = dict(parameters)
    made = ORACLES.get(numbers.pop("kind", ""))
    if made is None:
        raise ArgumentError("oracle", "is of an unknown kind")
    names = {one.name for one in fields(made)}
    whole = all(type(value) in (int, str) for value in numbers.values())
    if not whole or set(numbers) != names:
        raise ArgumentError("oracle", "has other parameters than its kind needs")
    # before anything is computed from them: a task is read before it is trusted
    if any(type(value) is int and not 0 <= value <= ONE for value in numbers.values()):
        raise ArgumentError("oracle", "has a number that is not from 0 to 2^32")
    if numbers["items"] > MOST + 1:
        raise ArgumentError("oracle", f"must have at most {MOST:,} items")
    return made(**numbers)
