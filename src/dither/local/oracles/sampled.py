"""One of several questions, sampled by the device: attributes, pairs of them, levels of
a tree, moments, lengths of a prefix.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.local.oracles.oracle import Longitudinal, Randomizer
from dither.local.words import Words, below

__all__ = ["MOST_PARTS", "Sampled"]

Packed = NDArray[np.uint8]
Whole = NDArray[np.int64]

MOST_PARTS = 256  # a message names its part in one byte


@dataclass(frozen=True)
class Sampled(Randomizer):
    """The message of one part, which the device draws uniformly: its number, then the
    part's own record, filled up with zeros to the longest. `items` is the number of
    parts, and an item is a row with an item of each part.

    A tally has the messages of each part first, then the integers of all parts.

    Guarantee: `epsilon`, pure, for replacing all of a device's items: the largest of
    the parts'.
    Why: the part is drawn without looking at any item; given the part, the message is
    that part's, whose ε holds for any two items of it.
    Assumes: the part is drawn once for each device, for all its messages (rule R28).
    """

    parts: tuple[Randomizer, ...]
    kind: ClassVar[str] = "sampled"

    def __post_init__(self) -> None:
        if not 2 <= len(self.parts) <= MOST_PARTS or self.items != len(self.parts):
            raise ArgumentError(
                "parts", f"must be 2 to {MOST_PARTS} oracles, and items their number"
            )
        if any(isinstance(part, Sampled) for part in self.parts):
            raise ArgumentError(
                "parts", "must not contain sampled oracles; pass plain ones"
            )
        if len({isinstance(part, Longitudinal) for part in self.parts}) > 1:
            raise ArgumentError(
                "parts",
                "must all be oracles for repeated answers, or all for one answer; pass "
                "parts of one kind",
            )

    @classmethod
    def of(cls, parts: tuple[Randomizer, ...]) -> Randomizer:
        """The only part itself, if there is one."""
        return parts[0] if len(parts) == 1 else cls(len(parts), parts)

    @property
    def longitudinal(self) -> bool:
        return isinstance(self.parts[0], Longitudinal)

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(part.items for part in self.parts)

    @property
    def epsilon(self) -> float:
        return max(part.epsilon for part in self.parts)

    @property
    def epsilon_for_ever(self) -> float:
        return max(part.epsilon_for_ever for part in self.parts)

    @property
    def epsilon_instant(self) -> float:
        return max(part.epsilon_instant for part in self.parts)

    @property
    def freshness(self) -> float:
        return min(part.freshness for part in self.parts)

    @property
    def tracking(self) -> int:
        """A message names its part."""
        return sum(part.tracking for part in self.parts)

    @property
    def parameters(self) -> dict[str, Any]:
        parts = [part.parameters for part in self.parts]
        return {"kind": self.kind, "items": self.items, "parts": parts}

    @property
    def permanent_parameters(self) -> dict[str, Any]:
        parts = [part.permanent_parameters for part in self.parts]
        return {"kind": self.kind, "items": self.items, "parts": parts}

    @property
    def record(self) -> int:
        return 1 + max(part.record for part in self.parts)

    @property
    def cells(self) -> int:
        return len(self.parts) + sum(part.cells for part in self.parts)

    @property
    def outcomes(self) -> int:
        return sum(part.outcomes for part in self.parts)

    @property
    def influence(self) -> float:
        """A message stands for as many as there are parts."""
        return len(self.parts) * max(part.influence for part in self.parts)

    @property
    def distance(self) -> float:
        return sum(part.distance for part in self.parts) / len(self.parts)

    @property
    def common(self) -> Fraction | None:
        """Each part's law, as often as the part is drawn."""
        shares = [part.common for part in self.parts]
        known = [share for share in shares if share is not None]
        return (
            sum(known, Fraction(0)) / len(shares) if len(known) == len(shares) else None
        )

    def draw(self, words: Words, count: int) -> Whole:
        """The part of each device."""
        return below(words, len(self.parts), count)

    def wrapped(self, part: int, records: Packed) -> Packed:
        """Records of one part as those of the whole."""
        out = np.zeros((len(records), self.record), np.uint8)
        out[:, 0] = part
        out[:, 1 : 1 + records.shape[1]] = records
        return out

    def randomize(self, items: NDArray[Any], words: Words) -> Packed:
        drawn = self.draw(words, len(items))
        out = np.empty((len(items), self.record), np.uint8)
        for number, part in enumerate(self.parts):
            mine = np.flatnonzero(drawn == number)
            if mine.size:
                records = part.randomize(items[mine, number], words)
                out[mine] = self.wrapped(number, records)
        return out

    def _split(self, records: Packed) -> Iterator[tuple[int, Randomizer, Whole]]:
        """Each part, and where its records are."""
        for number, part in enumerate(self.parts):
            yield number, part, np.flatnonzero(records[:, 0] == number)

    def valid(self, records: Packed) -> NDArray[np.bool_]:
        good = np.zeros(len(records), np.bool_)
        for _, part, mine in self._split(records):
            own = records[mine]
            rest = own[:, 1 + part.record :]
            good[mine] = part.valid(own[:, 1 : 1 + part.record]) & ~rest.any(axis=1)
        return good

    def tally(self, records: Packed) -> Whole:
        out = np.zeros(self.cells, np.int64)
        for number, part, mine in self._split(records):
            if mine.size:
                out[number] = mine.size
                own = np.ascontiguousarray(records[mine, 1 : 1 + part.record])
                out[self._places[number]] = part.tally(own)
        return out

    @cached_property
    def _places(self) -> list[slice]:
        """Places of the integers of each part."""
        ends = np.cumsum([len(self.parts), *(part.cells for part in self.parts)])
        return [
            slice(start, end)
            for start, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
        ]

    def counts(self, cells: Whole, part: int) -> tuple[int, Whole]:
        """The messages of one part, and its integers."""
        return int(cells[part]), cells[self._places[part]]

    def describe(self, record: Packed) -> str:
        number = int(record[0, 0])
        part = self.parts[number]
        said = part.describe(record[:, 1 : 1 + part.record])
        return f"question {number + 1} of {len(self.parts)}: {said}"
