"""Outputs of any kind, as arrays: numbers of one width, and a kind for everything else.

What a callable raises, NaN, an output of another type or another number of numbers are outcomes like any other: whoever
sees the release sees them too.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.text import clean

__all__ = ["Encoder", "Outcomes", "Raised", "joined"]

INTEGERS, REALS = 0, 1
SHOWN = 40


@dataclass(frozen=True)
class Raised:
    """An output that is none: the callable raised."""

    name: str


@dataclass(frozen=True)
class Outcomes:
    """One row for each draw. `numbers` says which rows hold numbers; `alone` which came from a call for one draw."""

    values: NDArray[Any]
    kinds: NDArray[np.int64]
    numbers: NDArray[np.bool_]
    alone: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.kinds)

    def __getitem__(self, rows: slice) -> Outcomes:
        return Outcomes(self.values[rows], self.kinds[rows], self.numbers[rows], self.alone[rows])


def joined(parts: Sequence[Outcomes]) -> Outcomes:
    columns = zip(*((one.values, one.kinds, one.numbers, one.alone) for one in parts), strict=True)
    return Outcomes(*(np.concatenate(column) for column in columns))


@dataclass
class Encoder:
    """Numbers kinds of outputs in the order they are met. The first numbers that it meets decide their width.

    Reals met after `settled` are a kind of their own where there were only whole numbers before.
    """

    width: int | None = None
    real: bool = False
    settled: bool = False
    names: list[str] = field(default_factory=lambda: ["a whole number", "a real number"])
    _codes: dict[Hashable, int] = field(default_factory=dict)

    def encode(self, outputs: Any, *, alone: bool = False) -> Outcomes:
        """One row for each item along the first axis."""
        array = _array(outputs)
        if array is not None and len(array) and self._fits(array.shape[1]):
            kind = REALS if array.dtype.kind == "f" else INTEGERS
            self._see(kind)
            values, kinds = array, np.full(len(array), kind, np.int64)
        else:
            values, kinds = self._one_by_one(list(outputs))
        if not self.real and values.dtype.kind == "f":
            values = np.zeros(values.shape, np.int64)
        elif self.real and values.dtype.kind != "f":
            values = values.astype(np.float64)
        return Outcomes(values, kinds, kinds <= (REALS if self.real else INTEGERS), np.full(len(kinds), alone))

    def again(self, outcomes: Outcomes) -> Outcomes:
        """Outcomes that were met before the width was known, or before there were reals, as they are held now."""
        values = outcomes.values
        if values.shape[1] != (self.width or 0):
            values = np.zeros((len(values), self.width or 0), values.dtype)
        if self.real and values.dtype.kind != "f":
            values = values.astype(np.float64)
        return Outcomes(values, outcomes.kinds, outcomes.numbers, outcomes.alone)

    def _one_by_one(self, outputs: list[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
        rows = [_numbers(output) for output in outputs]
        kinds = np.array([self._kind(output, row) for output, row in zip(outputs, rows, strict=True)], np.int64)
        blank = [0] * (self.width or 0)
        kept = [row if kind <= REALS and row is not None else blank for row, kind in zip(rows, kinds, strict=True)]
        real = self.real or bool((kinds == REALS).any())
        values = np.array(kept, np.float64 if real else np.int64)
        return values.reshape(len(outputs), self.width or 0), kinds

    def _fits(self, width: int) -> bool:
        if self.width is None and width:
            self.width = width
        return width == self.width

    def _see(self, kind: int) -> None:
        if kind == REALS and not self.settled:
            self.real = True

    def _kind(self, output: Any, row: list[Any] | None) -> int:
        if row is not None and self._fits(len(row)):
            kind = INTEGERS if all(isinstance(item, int) for item in row) else REALS
            self._see(kind)
            return kind
        if isinstance(output, Raised):
            return self._code(output, f"it raises {output.name}")
        if row is not None:
            return self._code(("width", len(row)), f"it is {len(row)} numbers")
        text = repr(output)
        return self._code((type(output).__name__, text), f"it is {clean(text[:SHOWN])}")

    def _code(self, key: Hashable, name: str) -> int:
        if key not in self._codes:
            self._codes[key] = len(self.names)
            self.names.append(name)
        return self._codes[key]


def _array(outputs: Any) -> NDArray[Any] | None:
    """Outputs that are numbers of one width, as rows of 64-bit numbers; None for all others."""
    if isinstance(outputs, list):
        types = set(map(type, outputs))
        if not (types <= {int, bool} or types == {float}):
            return None
        try:
            outputs = np.array(outputs, np.float64 if float in types else np.int64)
        except OverflowError:
            return None
    if not isinstance(outputs, np.ndarray) or outputs.dtype.kind not in "buifc" or not outputs.size:
        return None
    flat = outputs.reshape(len(outputs), -1)
    if flat.dtype.kind == "c":
        flat = np.concatenate([flat.real, flat.imag], axis=1)
    with np.errstate(over="ignore"):
        return flat.astype(np.float64 if flat.dtype.kind == "f" else np.int64, copy=False)


def _numbers(output: Any) -> list[Any] | None:
    """The numbers in an output, if it is made of numbers alone."""
    if isinstance(output, np.ndarray):
        return _plain(output.reshape(-1).tolist()) if output.dtype.kind in "buif" else None
    if isinstance(output, list | tuple):
        rows = [_numbers(item) for item in output]
        return None if any(row is None for row in rows) else [item for row in rows for item in row or []]
    return _plain([output.item() if isinstance(output, np.generic) else output])


def _plain(items: Iterable[Any]) -> list[Any] | None:
    found = [_number(item) for item in items]
    return None if any(item is None for item in found) else found


def _number(item: Any) -> int | float | None:
    """Whole numbers beyond 64 bits are held as reals."""
    if isinstance(item, bool):
        return int(item)
    if isinstance(item, int):
        return item if -(1 << 63) <= item < 1 << 63 else float(max(min(item, 1 << 1000), -(1 << 1000)))
    return item if isinstance(item, float) else None
