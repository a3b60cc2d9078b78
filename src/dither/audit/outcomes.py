"""Outputs of any kind, as arrays: numbers of one width, and a kind for everything else.

What a callable raises, NaN, an output of another type or another number of numbers are
outcomes like any other: anyone who sees the release sees them too. Kinds come in
families (one for each type of exception, each type of object, each number of numbers):
a kind that was not met before still tells its family.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.text import clean

__all__ = ["Described", "Encoder", "Outcomes", "Raised", "joined"]

TRUTHS, INTEGERS, REALS = 0, 1, 2
"""The kinds of numbers: true and false are 1 and 0, but look different."""
FAMILY = 1 << 32
"""A kind is the number of its family times this, plus its number there; 0 is one that
was not met in time.
"""
UNKNOWN = FAMILY * FAMILY // 4
SHOWN = 40
LOW = 48
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


@dataclass(frozen=True)
class Raised:
    """An output that is none: the callable raised. What it said is part of it."""

    name: str
    message: str = ""

    @classmethod
    def by(cls, error: BaseException) -> Raised:
        return cls(type(error).__name__, _said(str, error))


@dataclass(frozen=True)
class Described:
    """An output that cannot leave its process: its type, and what it looks like."""

    name: str
    text: str

    @classmethod
    def of(cls, output: Any) -> Described:
        return cls(type(output).__name__, _said(repr, output))


@dataclass(frozen=True)
class Outcomes:
    """One row for each draw. `numbers` marks the rows that hold numbers, `alone` those
    that came from a call for one draw.
    """

    values: NDArray[Any]
    kinds: NDArray[np.int64]
    numbers: NDArray[np.bool_]
    alone: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.kinds)

    def __getitem__(self, rows: slice) -> Outcomes:
        return Outcomes(
            self.values[rows], self.kinds[rows], self.numbers[rows], self.alone[rows]
        )


def joined(parts: Sequence[Outcomes]) -> Outcomes:
    columns = zip(
        *((one.values, one.kinds, one.numbers, one.alone) for one in parts), strict=True
    )
    return Outcomes(*(np.concatenate(column) for column in columns))


@dataclass
class Encoder:
    """Numbers kinds of outputs in the order they are met. The first numbers that it
    meets decide their width.

    What is met after `settled` decides nothing: a new kind is only known by its family,
    and reals are a kind of their own where there were only whole numbers before.
    """

    width: int | None = None
    real: bool = False
    settled: bool = False
    names: dict[int, str] = field(
        default_factory=lambda: {
            TRUTHS: "true or false",
            INTEGERS: "a whole number",
            REALS: "a real number",
        }
    )
    _families: dict[Hashable, int] = field(default_factory=dict)
    _codes: dict[Hashable, int] = field(default_factory=dict)

    def encode(self, outputs: Any, *, alone: bool = False) -> Outcomes:
        """One row for each item along the first axis."""
        array, kind = _array(outputs)
        if array is not None and len(array) and self._fits(array.shape[1]):
            self._see(kind)
            values, kinds = array, np.full(len(array), kind, np.int64)
        else:
            values, kinds = self._one_by_one(list(outputs))
        if not self.real and values.dtype.kind == "f":
            values = np.zeros(values.shape, np.int64)
        elif self.real and values.dtype.kind != "f":
            values = values.astype(np.float64)
        return Outcomes(
            values,
            kinds,
            kinds <= (REALS if self.real else INTEGERS),
            np.full(len(kinds), alone),
        )

    def again(self, outcomes: Outcomes) -> Outcomes:
        """Outcomes that were met before the width was known, or before there were
        reals, as they are held now.
        """
        values = outcomes.values
        if values.shape[1] != (self.width or 0):
            values = np.zeros((len(values), self.width or 0), values.dtype)
        if self.real and values.dtype.kind != "f":
            values = values.astype(np.float64)
        return Outcomes(values, outcomes.kinds, outcomes.numbers, outcomes.alone)

    def _one_by_one(self, outputs: list[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
        rows = [_all_numbers(output) for output in outputs]
        kinds = np.array(
            [
                self._kind(output, row)
                for output, row in zip(outputs, rows, strict=True)
            ],
            np.int64,
        )
        blank = [0] * (self.width or 0)
        kept = [
            row if kind <= REALS and row is not None else blank
            for row, kind in zip(rows, kinds, strict=True)
        ]
        real = self.real or bool((kinds == REALS).any())
        values = np.array(kept, np.float64 if real else np.int64)
        return values.reshape(len(outputs), self.width or 0), kinds

    def _fits(self, width: int) -> bool:
        if self.width is None and width and not self.settled:
            self.width = width
        return width == self.width

    def _see(self, kind: int) -> None:
        if kind == REALS and not self.settled:
            self.real = True

    def _kind(self, output: Any, row: list[Any] | None) -> int:
        if row is not None and self._fits(len(row)):
            kind = _number_kind(row)
            self._see(kind)
            return kind
        if isinstance(output, Raised):
            words = f"it raises {output.name}"
            said = (
                f"{words}: {clean(output.message[:SHOWN])}" if output.message else words
            )
            return self._code(("raises", output.name), words, output, said)
        if row is not None:
            return self._code(
                ("numbers", len(row)),
                f"it is {len(row)} numbers",
                tuple(map(repr, row)),
                f"it is {str(row)[:SHOWN]}",
            )
        told = output if isinstance(output, Described) else _described(output)
        name, text = told.name, told.text
        words = f"it is of the type {clean(name[:SHOWN])}"
        return self._code(
            ("type", name), words, (name, text), f"it is {clean(text[:SHOWN])}"
        )

    def _code(self, family: Hashable, words: str, key: Hashable, said: str) -> int:
        """The kind of a key, and its family, with their names."""
        if key in self._codes:
            return self._codes[key]
        if self.settled:
            return self._families.get(family, UNKNOWN)
        common = self._families.setdefault(family, FAMILY * (len(self._families) + 1))
        self._codes[key] = code = common + len(self._codes) + 1
        self.names[common], self.names[code] = words, said
        return code


def _described(output: Any) -> Described:
    plain = output.tolist() if isinstance(output, np.ndarray) else output
    return Described(type(output).__name__, _said(repr, plain))


def _said(way: Any, thing: Any) -> str:
    """A text for a thing, whatever it does when asked for one; where it lies in memory
    says nothing about it.
    """
    try:
        return ADDRESS.sub("", way(thing))
    except Exception:
        return "something that cannot be shown"


def _number_kind(row: list[Any]) -> int:
    if all(isinstance(item, int) for item in row):
        return TRUTHS if all(isinstance(item, bool) for item in row) else INTEGERS
    return REALS


def _array(outputs: Any) -> tuple[NDArray[Any] | None, int]:
    """Outputs that are numbers of one width, as rows of 64-bit numbers, and their kind;
    None for all others.
    """
    if isinstance(outputs, list):
        types = set(map(type, outputs))
        if types not in ({bool}, {int}, {float}):
            return None, 0
        try:
            outputs = np.array(
                outputs, {bool: np.bool_, int: np.int64, float: np.float64}[types.pop()]
            )
        except OverflowError:
            return None, 0
    if (
        not isinstance(outputs, np.ndarray)
        or outputs.dtype.kind not in "buifc"
        or not outputs.size
    ):
        return None, 0
    # More digits than a double has
    if outputs.dtype.itemsize > 8 * (1 + (outputs.dtype.kind == "c")):
        return None, 0
    if outputs.dtype == np.uint64 and outputs.max() >= 1 << 63:
        return None, 0
    flat = outputs.reshape(len(outputs), -1)
    if flat.dtype.kind == "c":
        flat = np.concatenate([flat.real, flat.imag], axis=1)
    kind = {"b": TRUTHS, "f": REALS}.get(flat.dtype.kind, INTEGERS)
    return flat.astype(np.float64 if kind == REALS else np.int64, copy=False), kind


def _all_numbers(output: Any) -> list[Any] | None:
    """The numbers in an output; none if it has no end, as a list that holds itself."""
    try:
        return _numbers(output)
    except RecursionError:
        return None


def _numbers(output: Any) -> list[Any] | None:
    """The numbers in an output, if it is made of numbers alone."""
    if isinstance(output, np.ndarray):
        return (
            _plain(output.reshape(-1).tolist()) if output.dtype.kind in "buif" else None
        )
    if isinstance(output, list | tuple):
        rows = [_numbers(item) for item in output]
        return (
            None
            if any(row is None for row in rows)
            else [item for row in rows for item in row or []]
        )
    return _plain([output.item() if isinstance(output, np.generic) else output])


def _plain(items: Iterable[Any]) -> list[Any] | None:
    found = [_number(item) for item in items]
    return (
        None if not all(found) else [number for numbers in found for number in numbers]
    )


def _number(item: Any) -> list[Any]:
    """A number; an integer beyond 64 bits as its size and its last bits; nothing for
    other values.
    """
    if not isinstance(item, int):
        return [item] if isinstance(item, float) else []
    if -(1 << 63) <= item < 1 << 63:
        return [item]
    return [float(max(min(item, 1 << 1000), -(1 << 1000))), float(item % (1 << LOW))]
