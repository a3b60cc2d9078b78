"""The interface of all oracles. An oracle is a frozen value of integers: items, sizes,
and probabilities as thresholds t / 2^32.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dither.local.evidence import Evidence, pure
from dither.local.words import Words

__all__ = [
    "Longitudinal",
    "Numbered",
    "Oracle",
    "Randomizer",
    "numbers_of",
    "records_of",
    "size_of",
]

Packed = NDArray[np.uint8]
Whole = NDArray[np.int64]


def size_of(outcomes: int) -> int:
    """Number of bytes for a number below `outcomes`."""
    return max((outcomes - 1).bit_length() + 7, 8) // 8


def records_of(numbers: NDArray[Any], size: int) -> Packed:
    """Whole numbers as little-endian records of `size` bytes."""
    if size in (1, 2, 4):
        return numbers.astype(f"<u{size}").view(np.uint8).reshape(-1, size)
    wide = numbers.astype("<u8").view(np.uint8).reshape(-1, 8)
    out = np.empty((len(numbers), size), np.uint8)
    for place in range(size):  # by columns: numpy copies rows of a few bytes slowly
        out[:, place] = wide[:, place]
    return out


def numbers_of(records: Packed) -> Whole:
    """Records of at most seven bytes as whole numbers."""
    size = records.shape[1]
    wide = np.ascontiguousarray(records)
    if size not in (1, 2, 4):
        wide = np.zeros((len(records), 4 if size < 4 else 8), np.uint8)
        for place in range(size):
            wide[:, place] = records[:, place]
    return wide.view(f"<u{wide.shape[1]}").reshape(-1).astype(np.int64)


@dataclass(frozen=True)
class Randomizer(ABC):
    """A way to randomize what a device answers, and to add up many messages.

    Items are numbers below `items`. If the vocabulary is open (`items` is 0), they are
    digests: two 32-bit numbers for each string (`hashes.digests`).
    """

    kind: ClassVar[str]
    items: int

    @property
    def sizes(self) -> tuple[int, ...]:
        """The items of each part: one number, unless a device samples a part."""
        return (self.items,)

    @property
    @abstractmethod
    def epsilon(self) -> float:
        """Privacy loss of one message, from the integers; rounded up."""

    @property
    @abstractmethod
    def record(self) -> int:
        """Bytes of one message."""

    @property
    @abstractmethod
    def cells(self) -> int:
        """Number of integers in a tally."""

    @property
    @abstractmethod
    def outcomes(self) -> int:
        """Number of different messages."""

    @property
    @abstractmethod
    def influence(self) -> float:
        """By how much one message of a liar moves an estimated count at most; for a
        mean, by how much it moves the sum, as a share of the range.
        """

    @property
    @abstractmethod
    def distance(self) -> float:
        """At least the largest total variation distance between the messages of two
        items.
        """

    @property
    def common(self) -> Fraction | None:
        """A share γ such that, for some law ω, every item sends every message with a
        probability between γ·ω and e^ε·γ·ω; None if messages can be linked.
        """
        return None

    @abstractmethod
    def randomize(self, items: NDArray[Any], words: Words) -> Packed:
        """A record for each item, each from a device of its own."""

    @abstractmethod
    def valid(self, records: Packed) -> NDArray[np.bool_]:
        """Which records a device could have sent."""

    @abstractmethod
    def tally(self, records: Packed) -> Whole:
        """The integers of valid records: tallies of parts add up to that of the whole."""

    @abstractmethod
    def describe(self, record: Packed) -> str:
        """The content of a message, in words; items are shown as {0}, {1}, …"""

    @property
    def parameters(self) -> dict[str, Any]:
        """Everything a device must know, as it is written down."""
        return {"kind": self.kind, **asdict(self)}

    @property
    def permanent_parameters(self) -> dict[str, Any]:
        """The parameters that a memoized answer depends on."""
        return self.parameters

    @property
    def epsilon_for_ever(self) -> float:
        """Privacy loss of all messages about one memoized answer together."""
        return self.epsilon

    @property
    def epsilon_instant(self) -> float:
        """What one message loses about the answer that was kept, whatever it is: the
        instantaneous noise alone. Without any, a kept answer can be seen.
        """
        return math.inf

    @property
    def freshness(self) -> float:
        """Largest probability that a message changes a symbol or a bit of what is kept."""
        return 0.0

    @property
    def tracking(self) -> int:
        """How many kinds of devices their messages tell apart for ever, where answers
        are kept: without fresh noise, a kind for each message.
        """
        return self.outcomes


@dataclass(frozen=True)
class Oracle(Randomizer):
    """A randomizer whose messages say how frequent each item is."""

    @property
    @abstractmethod
    def rates(self) -> tuple[float, float]:
        """Probability that a message supports its own item, and each other one."""

    @property
    def influence(self) -> float:
        one, other = self.rates
        return max(1 - other, other) / (one - other)

    def outlook(self, messages: int) -> Evidence:
        """The expected evidence of this number of messages about an item nobody holds."""
        return pure(np.zeros(1, np.int64), messages, *self.rates)

    @property
    def spread(self) -> float:
        """The variance of an estimated frequency times the number of messages, for an
        item nobody holds.
        """
        once = self.outlook(1)
        return float(once.null[0]) / once.gain**2

    @property
    def collisions(self) -> float:
        """The variance that few and fixed hash functions add, for each message and each
        unit of Σ frequency².
        """
        return 0.0

    @property
    def adds_up(self) -> bool:
        """Whether the estimates of all items make one, whatever is sent: then they are
        off in opposite directions.
        """
        return False

    @abstractmethod
    def evidence(
        self, counts: Whole, messages: int, periods: int, wanted: NDArray[Any]
    ) -> Evidence:
        """The evidence of the tallied integers about these items."""


class Numbered(Randomizer):
    """A randomizer whose message is one number, and whose tally counts each."""

    @property
    def record(self) -> int:
        return size_of(self.outcomes)

    @property
    def cells(self) -> int:
        return self.outcomes

    def valid(self, records: Packed) -> NDArray[np.bool_]:
        return numbers_of(records) < self.outcomes

    def tally(self, records: Packed) -> Whole:
        return np.bincount(numbers_of(records), minlength=self.outcomes)


class Longitudinal(Randomizer):
    """An oracle with two layers of noise: a permanent one, drawn once for each answer
    and kept, and an instantaneous one on top, drawn for each message.

    Every value has permanent noise of its own, even where two values are hashed to the
    same place: with shared noise, two histories whose values change at the same times
    could still be distinguished by when the noise changes (docs/proofs/local.md).
    """

    rounds: ClassVar[bool] = False
    """Whether values that are rounded alike share one kept answer."""

    @property
    def tracking(self) -> int:
        """The kept answer is hidden by fresh noise; a seed may be sent as it is."""
        return 1

    @abstractmethod
    def seeds(self, words: Words, count: int) -> Whole:
        """The value that a device draws once for all answers: its hash function or
        cohort.
        """

    @abstractmethod
    def memo_keys(self, items: NDArray[Any], seeds: Whole) -> NDArray[Any]:
        """The permanently randomized value: a row or number for each item, different
        for different values of a device.
        """

    @abstractmethod
    def permanent(self, keys: NDArray[Any], words: Words) -> NDArray[Any]:
        """The kept answer for each memo key."""

    @abstractmethod
    def instant(self, kept: NDArray[Any], seeds: Whole, words: Words) -> Packed:
        """The record of one message about a kept answer."""

    def randomize(self, items: NDArray[Any], words: Words) -> Packed:
        seeds = self.seeds(words, len(items))
        kept = self.permanent(self.memo_keys(items, seeds), words)
        return self.instant(kept, seeds, words)
