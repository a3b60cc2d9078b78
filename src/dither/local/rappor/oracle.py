"""RAPPOR's two layers of noise over the Bloom filter of an answer (Erlingsson, Pihur &
Korolova 2014).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.local import bits as packing
from dither.local.evidence import Evidence, pure
from dither.local.oracles.oracle import Longitudinal, Oracle
from dither.local.rappor import bloom
from dither.local.rappor.calibration import Rates, calibrated, thresholds_of
from dither.local.thresholds import check
from dither.local.words import ONE, Words, below
from dither.privacy.numbers import float_up, whole

__all__ = ["Rappor"]

Packed = NDArray[np.uint8]
Whole = NDArray[np.int64]

MOST_COHORTS = 256  # a kept cohort of more than 8 bits is a tracking id (rule R28)
BLOCK = 1 << 20  # records that are sorted by cohort together


@dataclass(frozen=True)
class Rappor(Longitudinal, Oracle):
    """A Bloom filter of `hashes` among `bits` bits, in one of `cohorts` cohorts.

    The permanent answer to a value flips each bit of its filter with probability flip / 2^32 (half
    of what papers call f), and is kept. A message says 1 for a kept 1 with
    probability sent_one / 2^32 (q) and for a kept 0 with sent_zero / 2^32 (p).

    Three forms: an open vocabulary (items = 0) with a family of hash functions; the
    basic form, with one bit for each item of a declared domain (family "identity");
    and the boolean form, whose two items share one bit.

    A device draws, in this order: its cohort (`words.below`), once; for each new
    value the flips (`bits.biased`, at `flip`), once; for each message one row at
    `sent_one` and one at `sent_zero`. The message has the first row's bits where the kept
    answer has ones, and the second row's elsewhere. A record is the cohort, in one
    byte, unless there is one cohort only; then the bits.

    Guarantee: `epsilon` for one message and `epsilon_for_ever` for all messages about
    one value, both pure, for replacing that value.
    Why: filters differ in at most
    `hashes` bits each way, and bits are randomized independently
    (docs/proofs/rappor.md).
    Assumes: cohorts are drawn before values are known; flips
    are drawn once for each value, and values whose filters happen to be equal do not
    share them. Histories that change at different times are distinguished by more:
    `epsilon_instant`.
    """

    cohorts: int
    bits: int
    hashes: int
    family: str
    flip: int
    sent_one: int
    sent_zero: int
    kind: ClassVar[str] = "rappor"

    def __post_init__(self) -> None:
        _check_sizes(self)
        check("flip", self.flip, low=0, high=ONE // 2 - 1)
        check("sent_one", self.sent_one, high=ONE)
        check("sent_zero", self.sent_zero, low=0)
        if self.sent_one <= self.sent_zero:
            raise ArgumentError("sent_one", "must be above sent_zero")
        if not math.isfinite(self.epsilon):
            raise ArgumentError(
                "flip", "is too small: messages would have no noise; raise it"
            )
        noiseless = self.sent_one == ONE and not self.sent_zero
        if noiseless and self.outcomes > MOST_COHORTS:
            raise ArgumentError(
                "sent_one",
                "must be below 2^32 if sent_zero is 0: a kept answer without fresh "
                "noise would identify its device; lower it",
            )

    @classmethod
    def at(
        cls,
        items: int = 0,
        *,
        epsilon: float,
        for_ever: float,
        cohorts: int | None = None,
        bits: int | None = None,
        hashes: int | None = None,
    ) -> Self:
        """Thresholds that lose at most ε with a message and `for_ever` with all, and
        have the least variance for rare items.
        """
        shape = _shape(items, cohorts, bits, hashes)
        ways = _ways(items, shape["bits"], shape["hashes"])
        flip, one, zero = calibrated(epsilon, for_ever, ways)
        family = bloom.DECLARED if items else bloom.MURMUR
        return cls(
            items, family=family, flip=flip, sent_one=one, sent_zero=zero, **shape
        )

    @classmethod
    def of(
        cls,
        items: int = 0,
        *,
        f: float,
        p: float,
        q: float,
        cohorts: int | None = None,
        bits: int | None = None,
        hashes: int | None = None,
        family: str | None = None,
    ) -> Self:
        """From the probabilities that papers and google/rappor state, each rounded to
        the side that loses less.
        """
        flip, one, zero = thresholds_of(f, p, q)
        family = family or (bloom.DECLARED if items else bloom.MURMUR)
        shape = _shape(items, cohorts, bits, hashes)
        return cls(
            items, family=family, flip=flip, sent_one=one, sent_zero=zero, **shape
        )

    # what is promised

    @property
    def noise(self) -> Rates:
        return Rates(self.flip, self.sent_one, self.sent_zero)

    @property
    def rates(self) -> tuple[float, float]:
        """Probability that a message has a one where the filter has one, and where not."""
        held, null = self.noise.said
        return float(held), float(null)

    @property
    def ways(self) -> tuple[int, int]:
        """How many bits each of two filters has that the other has not, where they
        differ most.
        """
        return _ways(self.items, self.bits, self.hashes)

    @property
    def epsilon(self) -> float:
        return self.noise.loss(self.ways)

    @property
    def epsilon_for_ever(self) -> float:
        return self.noise.loss_for_ever(self.ways)

    @property
    def epsilon_instant(self) -> float:
        """What a message loses to someone who knows the kept answers of two histories
        that differ in every bit. If histories change at different times, T messages
        lose at most epsilon + (T − 1) · epsilon_instant, and more than T · epsilon.
        """
        return self.noise.loss_instant(self.bits)

    @property
    def permanent_parameters(self) -> dict[str, Any]:
        fresh = ("sent_one", "sent_zero")
        written = self.parameters.items()
        return {name: value for name, value in written if name not in fresh}

    @property
    def influence(self) -> float:
        """For an open vocabulary: if one candidate alone is estimated. `decode` has the
        exact figure for each candidate of a list.
        """
        if self.items:
            return super().influence
        held, null = self.rates
        usual = 1 - (1 - 1 / self.bits) ** self.hashes
        mine, others = self.hashes * (1 - usual), (self.bits - self.hashes) * usual
        moved = mine * (1 - null) + others * null
        return moved / (mine * (1 - usual) + others * usual) / (held - null)

    def outlook(self, messages: int) -> Evidence:
        """A string has several bits, whose mean is taken."""
        found = super().outlook(messages)
        if self.hashes == 1:
            return found
        return replace(found, null=found.null / self.hashes, slope=0.0, law=None)

    @property
    def distance(self) -> float:
        return float_up(self.noise.distance(self.ways))

    # sizes

    @property
    def _head(self) -> int:
        return 1 if self.cohorts > 1 else 0

    @property
    def record(self) -> int:
        return self._head + packing.width(self.bits)

    @property
    def cells(self) -> int:
        return self.cohorts * (self.bits + 1)

    @property
    def outcomes(self) -> int:
        return self.cohorts << min(self.bits, 64)

    # the device

    def encode(self, texts: Sequence[bytes]) -> NDArray[Any]:
        """Strings of an open vocabulary as items."""
        return bloom.items_of(self.family, texts, self.cohorts, self.hashes, self.bits)

    @property
    def freshness(self) -> float:
        return max(1 - self.sent_one / ONE, self.sent_zero / ONE)

    @property
    def tracking(self) -> int:
        return self.cohorts

    def seeds(self, words: Words, count: int) -> Whole:
        return below(words, self.cohorts, count)

    def filters(self, items: NDArray[Any], seeds: Whole) -> Packed:
        """The Bloom filters of items in their cohorts."""
        return bloom.filters(self.family, items, seeds, self.hashes, self.bits)

    def memo_keys(self, items: NDArray[Any], seeds: Whole) -> NDArray[Any]:
        """The item, and its device's cohort."""
        flat = items.reshape(len(items), -1).astype(np.int64)
        return np.column_stack([flat, seeds])

    def permanent(self, keys: NDArray[Any], words: Words) -> Packed:
        held = self.filters(self._items(keys[:, :-1]), keys[:, -1])
        flips = packing.biased(words, self.flip, len(keys), self.bits)
        return np.asarray(held ^ flips)

    def _items(self, flat: Whole) -> NDArray[Any]:
        if self.family == bloom.MURMUR:
            return flat.astype(np.uint32)
        if self.family == bloom.DECLARED:
            return flat[:, 0]
        return flat.reshape(len(flat), self.cohorts, self.hashes)

    def instant(self, kept: NDArray[Any], seeds: Whole, words: Words) -> Packed:
        ones = packing.biased(words, self.sent_one, len(kept), self.bits)
        zeros = packing.biased(words, self.sent_zero, len(kept), self.bits)
        records = np.empty((len(kept), self.record), np.uint8)
        records[:, : self._head] = seeds[:, None]
        records[:, self._head :] = (ones & kept) | (zeros & ~kept)
        return records

    def describe(self, record: Packed) -> str:
        row = record.reshape(-1)
        said = np.unpackbits(row[self._head :], count=self.bits, bitorder="little")
        places = np.flatnonzero(said)
        if self.items and self.bits == 1:
            return f"{{{int(said[0])}}}"
        if self.items:
            return ", ".join(f"{{{place}}}" for place in places) or "nothing"
        cohort = int(row[0]) if self._head else 0
        listed = ", ".join(str(place) for place in places) or "none"
        return f"cohort {cohort}, bits {listed} of {self.bits}"

    # the server

    def cohorts_of(self, records: Packed) -> Packed:
        if self._head:
            return records[:, 0]
        return np.zeros(len(records), np.uint8)

    def valid(self, records: Packed) -> NDArray[np.bool_]:
        """Which have a cohort that exists, and no ones beyond their bits."""
        spare = 8 * packing.width(self.bits) - self.bits
        beyond = records[:, -1] >> np.uint8(8 - spare) if spare else records[:, -1] & 0
        known = self.cohorts_of(records).astype(np.int64) < self.cohorts
        return np.asarray(known & (beyond == 0))

    def tally(self, records: Packed) -> Whole:
        """For each cohort: how many messages, then how many ones at each bit."""
        total = np.zeros((self.cohorts, self.bits + 1), np.int64)
        for start in range(0, len(records), BLOCK):
            block = records[start : start + BLOCK]
            cohorts = self.cohorts_of(block)
            sizes = np.bincount(cohorts, minlength=self.cohorts)
            order = np.argsort(cohorts, kind="stable")
            rows = block[order, self._head :] if self._head else block
            total[:, 0] += sizes
            parts = np.split(rows, np.cumsum(sizes)[:-1])
            for cohort, part in enumerate(parts):
                total[cohort, 1:] += packing.columns(part, self.bits)
        return total.reshape(-1)

    def evidence(
        self, counts: Whole, messages: int, periods: int, wanted: NDArray[Any]
    ) -> Evidence:
        """For a declared domain. The bits of an open vocabulary stand for several
        strings: `decode` tells them apart.
        """
        if not self.items:
            raise ArgumentError(
                "candidates",
                "are required to read Bloom filters; pass a list of strings",
            )
        if self.bits == 1:
            return self._boolean(counts, messages, periods, wanted)
        held, null = self.rates
        return pure(
            counts[1 + wanted],
            messages,
            held,
            null,
            periods=periods,
            fixed=(self.noise.fixed, self.noise.fixed),
        )

    def _boolean(
        self, counts: Whole, messages: int, periods: int, wanted: NDArray[Any]
    ) -> Evidence:
        """Item 1 is a one, and item 0 a zero: a one that is not there."""
        held, null = self.rates
        ones = int(counts[1])
        hits = np.where(wanted == 1, ones, messages - ones)
        kept = np.where(wanted == 1, held, 1 - null)
        other = np.where(wanted == 1, null, 1 - held)
        repeated = (periods - 1) * self.noise.fixed
        return Evidence(
            messages=messages,
            above=hits - messages * other,
            gain=held - null,
            null=messages * (other * (1 - other) + repeated),
            slope=kept * (1 - kept) - other * (1 - other),
        )


def _check_sizes(oracle: Rappor) -> None:
    for name in ("cohorts", "bits", "hashes"):
        whole(name, getattr(oracle, name), "pass a small whole number")
    if oracle.cohorts > MOST_COHORTS or oracle.cohorts & (oracle.cohorts - 1):
        raise ArgumentError(
            "cohorts", f"must be a power of two, at most {MOST_COHORTS}"
        )
    if oracle.family == bloom.DECLARED:
        _check_declared(oracle)
        return
    if oracle.items != 0:
        raise ArgumentError("family", "must be 'identity' for a declared domain")
    if oracle.family not in bloom.OPEN:
        raise ArgumentError("family", f"must be one of {', '.join(bloom.OPEN)}")
    bits, hashes = bloom.OPEN[oracle.family]
    if not 2 <= oracle.bits <= bits:
        raise ArgumentError(
            "bits", f"must be from 2 to {bits} with the family {oracle.family!r}"
        )
    if oracle.hashes > min(hashes, oracle.bits):
        raise ArgumentError(
            "hashes",
            f"must be at most {hashes} with the family {oracle.family!r}, and at most "
            "bits",
        )


def _check_declared(oracle: Rappor) -> None:
    if whole("items", oracle.items, "pass the number of items") < 2:
        raise ArgumentError(
            "domain", "must have at least two items; pass all possible answers"
        )
    if oracle.bits != oracle.items and (oracle.items, oracle.bits) != (2, 1):
        raise ArgumentError(
            "bits", "must be the number of items, or 1 if there are two items"
        )
    if (oracle.hashes, oracle.cohorts) != (1, 1):
        raise ArgumentError(
            "hashes", "must be 1 for a declared domain, and so must cohorts"
        )


def _shape(
    items: int, cohorts: int | None, bits: int | None, hashes: int | None
) -> dict[str, int]:
    usual = (1, items if items > 2 else 1, 1) if items else (8, 128, 2)
    names = ("cohorts", "bits", "hashes")
    stated = (cohorts, bits, hashes)
    return {
        name: one if given is None else given
        for name, given, one in zip(names, stated, usual, strict=True)
    }


def _ways(items: int, bits: int, hashes: int) -> tuple[int, int]:
    if items:
        return (1, 1) if bits > 1 else (1, 0)
    more = min(hashes, bits - 1)
    return more, min(hashes, bits - more)
