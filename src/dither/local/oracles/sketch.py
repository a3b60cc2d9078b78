"""Apple's count-mean sketch and its Hadamard form: any string can be counted, and only
the server has a list of candidates.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.local import bits
from dither.local.evidence import Evidence, Law, pure, squares
from dither.local.hashes import places
from dither.local.oracles.hadamard import signs, transform
from dither.local.oracles.oracle import Oracle, numbers_of, records_of, size_of
from dither.local.oracles.response import kept, response_loss
from dither.local.oracles.unary import symmetric, unary_loss
from dither.local.thresholds import chance, check
from dither.local.words import ONE, Words, below, coins

__all__ = ["CountMeanSketch", "HadamardSketch", "Sketch"]

Packed = NDArray[np.uint8]
Whole = NDArray[np.int64]
Reals = NDArray[np.float64]

BLOCK = 1 << 22  # cells that are looked up together
KNOWN = 16  # candidates whose collisions are taken off, at most
SURE, NEAR = 6.0, 1.0
"""Standard errors above nothing of a candidate that is known to be there, and of one that
could be.
"""


@dataclass(frozen=True)
class Sketch(Oracle):
    """A table of `rows` hash functions and `columns` places."""

    rows: int
    columns: int

    def __post_init__(self) -> None:
        if self.items:
            raise ArgumentError(
                "domain", "must be left out: a sketch counts any string; pass items=0"
            )
        if self.rows < 2 or self.columns < 2 or self.columns & (self.columns - 1):
            raise ArgumentError(
                "columns",
                "must be a power of two above 1, and rows must be at least 2",
            )
        if self.cells > 1 << 27:
            raise ArgumentError(
                "rows", "is too large; lower it until rows × columns is at most 2^27"
            )

    @property
    def cells(self) -> int:
        return self.rows * self.columns

    def _sums(self, table: Whole, found: NDArray[Any]) -> Whole:
        """For each candidate, the cells it falls into, added over all rows."""
        rows = np.arange(self.rows)
        out = np.empty(len(found), np.int64)
        step = max(BLOCK // self.rows, 1)
        for start in range(0, len(found), step):
            part = found[start : start + step, None, :]
            at = places(part, rows[None, :], self.columns)
            out[start : start + step] = table[rows[None, :], at].sum(axis=1)
        return out

    @property
    @abstractmethod
    def hits(self) -> tuple[float, float]:
        """Probability that a message supports an item whose place is that of its own
        item, and one at another place.
        """

    @property
    def rates(self) -> tuple[float, float]:
        one, zero = self.hits
        return one, zero + (one - zero) / self.columns

    @property
    def collisions(self) -> float:
        """The rows are few and fixed. How often two items share a place is off from
        one in `columns` by a variance of (1 − 1/columns) / (columns · rows).
        """
        shared = (1 - 1 / self.columns) / (self.columns * self.rows)
        return shared / (1 - 1 / self.columns) ** 2

    @abstractmethod
    def _hits(self, counts: Whole, messages: int, wanted: NDArray[Any]) -> Whole:
        """Number of messages that support each candidate."""

    def evidence(
        self, counts: Whole, messages: int, periods: int, wanted: NDArray[Any]
    ) -> Evidence:
        """All unlisted values may be the same string."""
        if periods != 1:
            raise ArgumentError(
                "tally",
                "has messages of several periods, but a sketch is for devices that "
                "answer once; make a task without every",
            )
        hits = self._hits(counts, messages, wanted)
        found = pure(hits, messages, *self.rates)
        return self._collided(found, messages, np.empty(0, np.int64))

    def among(
        self, counts: Whole, messages: int, wanted: NDArray[Any], most: float
    ) -> Evidence:
        """What the tallied integers say about these candidates, if any text that is not
        one of them comes in at most so many messages.

        Places that candidates share with the most frequent of them are known, and what
        comes from there is taken off.
        """
        hits = self._hits(counts, messages, wanted)
        found = pure(hits, messages, *self.rates)
        heights = found.above / np.sqrt(found.null)
        known = np.argsort(-heights, kind="stable")[:KNOWN]
        known = known[heights[known] >= SURE]
        near = np.flatnonzero(heights >= NEAR)
        above = found.above.copy()
        above[near] -= self._from_known(found, wanted, known, near)
        return self._collided(replace(found, above=above, law=None), most, known)

    def _from_known(
        self, found: Evidence, wanted: NDArray[Any], known: Whole, near: Whole
    ) -> Reals:
        """The excess of messages about known candidates that each near one gets, beyond
        what they would at random.
        """
        one, zero = self.hits
        weight = (one - zero) * self._excess(wanted, near, known)
        own = np.searchsorted(near, known)
        # the known ones add to one another: how many hold each is solved for
        among = weight[own] + found.gain * np.eye(len(known))
        held = np.linalg.lstsq(among, found.above[known], rcond=None)[0]
        return np.asarray(weight @ held)

    def _excess(self, wanted: NDArray[Any], near: Whole, known: Whole) -> Reals:
        """In how large a part of the rows two candidates share a place, less what is
        usual; none for a candidate and itself.
        """
        rows, out = np.arange(self.rows), np.empty((len(near), len(known)))
        places_of_known = places(wanted[known][:, None, :], rows, self.columns)
        step = max(BLOCK // self.rows, 1)
        for start in range(0, len(near), step):
            part = wanted[near[start : start + step]][:, None, :]
            at = places(part, rows, self.columns)
            for column, its in enumerate(places_of_known):
                out[start : start + step, column] = (at == its).mean(axis=1)
        out -= 1 / self.columns
        out[near[:, None] == known] = 0
        return out

    def _collided(self, found: Evidence, most: float, known: Whole) -> Evidence:
        """The variance including collisions, except for those with known candidates."""
        messages = found.messages
        above, null = (np.delete(one, known) for one in (found.above, found.null))
        unknown = replace(found, above=above, null=null)
        rest = min(max(messages - float(found.counts.sum()), 0.0), messages)
        together = squares(unknown) + rest * min(rest, most)
        # an item's own messages collide with nothing
        own = np.clip(found.counts, 0, messages) ** 2
        own[known] = 0
        others = np.maximum(min(together, float(messages) ** 2) - own, 0)
        collisions = found.gain**2 * others * self.collisions
        worst = max(min(rest, most), float(unknown.counts.max(initial=0.0)))
        doubt = self._doubt(min(worst, messages) * found.gain, len(found.above))
        law = None if np.any(collisions) else found.law
        null = found.null + collisions
        return replace(found, null=null, law=law, doubt=doubt, bound=self._bound(found))

    def _bound(self, found: Evidence) -> Law:
        """Number of messages that support a candidate that nobody holds, if nothing
        collides.
        """
        other, messages = self.rates[1], found.messages
        hits = np.ceil(found.above + messages * other).astype(np.int64)
        trials = np.full_like(hits, messages)
        return Law(np.clip(hits, 0, messages), trials, other)

    def _doubt(self, weight: float, candidates: int) -> tuple[float, float]:
        """Shift of a candidate by the most frequent string, if they share more places
        than usual, and the probability of a larger shift. Shared places are few, so
        they are nearly a Poisson variable, whose tail is longer than the normal one.
        """
        mean = self.rows / self.columns
        term = left = math.exp(-mean) if mean < 700 else 0.0
        shared = 0
        while 1 - left > 0.001 / candidates and shared < 10 * (mean + 10):
            shared += 1
            term *= mean / shared
            left += term
        return weight * max(shared - mean, 0.0) / self.rows, 0.001 / candidates


@dataclass(frozen=True)
class CountMeanSketch(Sketch):
    """A row, and one bit for each column: the item's place in that row is a one, and
    every bit lies with probability flip / 2^32 (CMS).

    Guarantee: `epsilon`, pure, for replacing the item behind one message.
    Why: the row is drawn without looking at the item; in a row two items differ in two
    bits at most, each of which lies independently (Apple 2017).
    Assumes: one message for each device.
    """

    flip: int
    kind: ClassVar[str] = "count-mean sketch"

    def __post_init__(self) -> None:
        super().__post_init__()
        check("flip", self.flip, high=ONE // 2 - 1)

    @classmethod
    def at(cls, epsilon: float, rows: int = 1024, columns: int = 1024) -> Self:
        return cls(0, rows, columns, symmetric(epsilon))

    @property
    def epsilon(self) -> float:
        return unary_loss(1 - chance(self.flip), chance(self.flip))

    @property
    def record(self) -> int:
        return size_of(self.rows) + bits.width(self.columns)

    @property
    def outcomes(self) -> int:
        return self.rows << min(self.columns, 64)

    @property
    def hits(self) -> tuple[float, float]:
        return 1 - self.flip / ONE, self.flip / ONE

    @property
    def distance(self) -> float:
        """At most: for two items that share no place in any row."""
        one, zero = self.hits
        return one - zero

    @property
    def common(self) -> Fraction:
        """Compared with bits of which none is a place."""
        return chance(self.flip) / (1 - chance(self.flip))

    def randomize(self, items: NDArray[Any], words: Words) -> Packed:
        rows = below(words, self.rows, len(items))
        out = bits.biased(words, self.flip, len(items), self.columns)
        truth = ~coins(words, self.flip, len(items))
        bits.put(out, places(items, rows, self.columns), truth)
        return np.hstack([records_of(rows, size_of(self.rows)), out])

    def _split(self, records: Packed) -> tuple[Whole, Packed]:
        size = size_of(self.rows)
        return numbers_of(records[:, :size]), records[:, size:]

    def valid(self, records: Packed) -> NDArray[np.bool_]:
        rows, said = self._split(records)
        fits = rows < self.rows
        if self.columns < 8:
            fits &= said[:, -1] < 1 << self.columns
        return fits

    def tally(self, records: Packed) -> Whole:
        rows, said = self._split(records)
        table = np.zeros((self.rows, self.columns), np.int64)
        order = np.argsort(rows, kind="stable")
        step = max(BLOCK // self.columns, 1)
        for start in range(0, len(rows), step):
            part = order[start : start + step]
            _add_rows(table, rows[part], said[part])
        return table.reshape(-1)

    def _hits(self, counts: Whole, messages: int, wanted: NDArray[Any]) -> Whole:  # noqa: ARG002
        return self._sums(counts.reshape(self.rows, self.columns), wanted)

    def describe(self, record: Packed) -> str:
        rows, said = self._split(record)
        ones = int(bits.popcounts(said)[0])
        return f"row {rows[0]}, and {ones} of {self.columns} places"


def _add_rows(table: Whole, rows: Whole, said: Packed) -> None:
    """Add sorted rows of bits to the rows of a table."""
    ones = np.unpackbits(said, axis=1, bitorder="little", count=table.shape[1])
    first = np.flatnonzero(np.diff(rows, prepend=-1))
    table[rows[first]] += np.add.reduceat(ones, first, axis=0, dtype=np.int64)


@dataclass(frozen=True)
class HadamardSketch(Sketch):
    """A row, a column, and one bit: the sign of the Hadamard matrix at that column and
    the item's place in that row, true with probability truth / 2^32 (HCMS).

    Guarantee: `epsilon`, pure, for replacing the item behind one message.
    Why: row and column are drawn without looking at the item; the bit is binary
    response (Apple 2017).
    Assumes: one message for each device.
    """

    truth: int
    kind: ClassVar[str] = "Hadamard sketch"

    def __post_init__(self) -> None:
        super().__post_init__()
        check("truth", self.truth, low=ONE // 2 + 1)

    @classmethod
    def at(cls, epsilon: float, rows: int = 1024, columns: int = 1024) -> Self:
        return cls(0, rows, columns, kept(epsilon, 2))

    @property
    def epsilon(self) -> float:
        return response_loss(self.truth, 2)

    @property
    def record(self) -> int:
        return size_of(self.outcomes)

    @property
    def outcomes(self) -> int:
        return 2 * self.cells

    @property
    def hits(self) -> tuple[float, float]:
        return self.truth / ONE, 0.5

    @property
    def distance(self) -> float:
        """Two items at different places have different signs in half of the columns."""
        return float(chance(self.truth)) - 0.5

    @property
    def common(self) -> Fraction:
        return 2 * (1 - chance(self.truth))

    def randomize(self, items: NDArray[Any], words: Words) -> Packed:
        rows = below(words, self.rows, len(items))
        columns = below(words, self.columns, len(items))
        minus = signs(columns, places(items, rows, self.columns))
        said = minus ^ ~coins(words, self.truth, len(items))
        numbers = (rows * self.columns + columns) * 2 + said
        return records_of(numbers, self.record)

    def valid(self, records: Packed) -> NDArray[np.bool_]:
        return numbers_of(records) < self.outcomes

    def tally(self, records: Packed) -> Whole:
        counts = np.bincount(numbers_of(records), minlength=self.outcomes)
        plus, minus = counts.reshape(-1, 2).T
        return plus - minus

    def _hits(self, counts: Whole, messages: int, wanted: NDArray[Any]) -> Whole:
        table = transform(counts.reshape(self.rows, self.columns))
        return (messages + self._sums(table, wanted)) // 2

    def describe(self, record: Packed) -> str:
        place, minus = divmod(int(numbers_of(record)[0]), 2)
        row, column = divmod(place, self.columns)
        return f"row {row}, column {column}, sign {'−' if minus else '+'}"
