"""How a number is distributed over devices: shares, and quantiles."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.local.averages import plain
from dither.local.evidence import apart
from dither.local.frequencies import nearest_shares, promised, shared_notes
from dither.local.numbers import Numbers
from dither.local.oracles import Oracle
from dither.local.parts import Part, parts
from dither.local.tree import Leaves, Tree
from dither.privacy.numbers import share
from dither.release import Ends, Release
from dither.wording import entitled

if TYPE_CHECKING:
    from dither.local.tally import Tally

__all__ = ["Distribution", "distribution"]

Reals = NDArray[np.float64]
NORMAL = NormalDist()
TINY = 1e-12


@dataclass(frozen=True)
class Normal:
    """Values plus or minus this number of standard errors."""

    value: Reals
    error: Reals

    def ends(self, confidence: float) -> Ends:
        width = NORMAL.inv_cdf((1 + confidence) / 2) * self.error
        return self.value - width, self.value + width


@dataclass(frozen=True)
class UpToSpread:
    """All parts of the whole that the share up to a leaf could be: it is within so many
    standard errors of each, with the error it would have there (Wilson 1927).
    """

    known: Known
    place: int

    def ends(self, confidence: float) -> Ends:
        z = NORMAL.inv_cdf((1 + confidence) / 2)
        root, upto = self.known.tree.root[0], self.known.up_to[self.place]
        fixed, drawn = (part[self.place] for part in self.known.variances(upto / root))
        # (upto − p·root)² = z²(fixed + drawn·p(1 − p)·root), for p
        square = root**2 + z**2 * drawn * root
        middle = upto * root + z**2 * drawn * root / 2
        rest = math.sqrt(max(middle**2 - square * (upto**2 - z**2 * fixed), 0))
        return (middle - rest) / square, (middle + rest) / square


@dataclass(frozen=True)
class QuantileSpread:
    """The numbers of the grid between the first that could be far enough, and the first
    that is.

    What is tested is the rising curve next to the noisy one. It is off by less, and
    where the noisy one crosses a level again and again, it crosses once. But next to
    a number that many have, it is off to one side: so each of the two sides is tested
    at a quarter of what may go wrong.
    """

    known: Known
    level: float

    def ends(self, confidence: float) -> Ends:
        z = NORMAL.inv_cdf((3 + confidence) / 4)
        above, error = self.known.above(self.level)
        low = _first(above + z * error >= 0)
        high = max(_first(above - z * error >= 0), low)
        return self.known.numbers.number(low), self.known.numbers.number(high)


def _first(enough: NDArray[np.bool_]) -> int:
    """The first place that is far enough; the last one if none is."""
    return int(np.argmax(enough)) if enough.any() else len(enough) - 1


@dataclass(frozen=True)
class Known:
    """A tree, the numbers of its leaves, and how many devices answered: all of them, and
    at least so many at each level.

    Each level of the tree is known from some of the devices. All levels together are
    known from all, so what is drawn at one level is missing at the others: from the
    variance that the levels have on their own, that of drawing so many devices is
    taken off.
    """

    numbers: Numbers
    tree: Tree
    devices: float
    fewest: float

    @cached_property
    def _sums(self) -> Leaves:
        return self.tree.sums()

    @cached_property
    def up_to(self) -> Reals:
        """The share of each leaf and all before it."""
        return self._sums.start + self._sums.share * self.tree.root[0]

    def variances(self, level: float) -> tuple[Reals, Reals]:
        """The variance of the share up to each leaf, less this part of the whole: a part
        that is fixed, and one for each p(1 − p) of the whole, if p of it is up to
        there.
        """
        root, doubt = self.tree.root
        variance = self._sums.variance + (self._sums.share - level) ** 2 * doubt
        upto = np.clip(self.up_to, 0, root)
        squares = (1 - level) ** 2 * upto + level**2 * (root - upto)
        drawn = np.maximum(squares - (upto - level * root) ** 2, 0)
        each = np.minimum(variance, drawn / self.fewest) / np.maximum(drawn, TINY)
        each = np.where(drawn > TINY, each, 1 / self.fewest)
        return variance - each * drawn, np.maximum(each - 1 / self.devices, 0)

    def above(self, level: float) -> tuple[Reals, Reals]:
        """By how much the share up to each leaf is above this part of the whole, on the
        rising curve, and the standard error of that, if it is not.
        """
        root = self.tree.root[0]
        fixed, drawn = self.variances(level)
        variance = fixed + drawn * level * (1 - level) * root
        return self.rising - level * root, np.sqrt(np.maximum(variance, 0))

    def leaves(self) -> tuple[Reals, Reals]:
        """The share of each leaf, and its standard error."""
        leaves, (root, doubt) = self.tree.leaves(), self.tree.root
        value = leaves.start + leaves.share * root
        held = np.clip(value, 0, 1)
        variance = leaves.variance + leaves.share**2 * doubt
        variance = np.maximum(variance - held * (1 - held) / self.devices, 0)
        return value, np.sqrt(variance)

    @cached_property
    def rising(self) -> Reals:
        """The share of each leaf and all before it, on a curve that never falls."""
        variance = self._sums.variance + self._sums.share**2 * self.tree.root[1]
        return rising(self.up_to, 1 / np.maximum(variance, TINY))

    def place(self, level: float) -> int:
        """The first leaf up to which there is enough, on the rising curve."""
        return _first(self.rising >= level * self.tree.root[0])


def rising(curve: Reals, weights: Reals) -> Reals:
    """The nearest non-decreasing curve, by weighted least squares: falling parts are
    replaced by their mean (pool adjacent violators, Ayer et al. 1955).
    """
    means: list[float] = []
    heavy: list[float] = []
    sizes: list[int] = []
    for value, weight in zip(curve.tolist(), weights.tolist(), strict=True):
        mean, total, size = value, weight, 1
        while means and means[-1] >= mean:
            before = heavy.pop()
            mean = (means.pop() * before + mean * total) / (before + total)
            total += before
            size += sizes.pop()
        means.append(mean)
        heavy.append(total)
        sizes.append(size)
    return np.repeat(means, sizes)


@dataclass(frozen=True, eq=False)
class Distribution(Release):
    """The share of devices at each number of the grid: unbiased, and consistent over the
    levels of the tree. `none` is the share with no number, where it is asked for.
    """

    messages: int = 0
    standard_errors: Reals = field(default_factory=lambda: np.empty(0))
    none: float = 0.0
    known: Known | None = field(default=None, repr=False)

    def quantile(self, level: float) -> Release:
        """The number that this part of the devices do not exceed: 0.5 for the median."""
        assert self.known is not None
        part = float(share("level", level, "pass a share such as 0.5"))
        return plain(
            self,
            what=f"{self.what}, quantile {part:g}",
            value=float(self.known.numbers.number(self.known.place(part))),
            spread=QuantileSpread(self.known, part),
            keys=None,
        )

    def up_to(self, number: float) -> Release:
        """The share of devices whose number is at most this, among those with one."""
        assert self.known is not None
        place = self.known.numbers.place(number)
        if place < 0:
            raise ArgumentError("number", "must be an int or a float, such as 18")
        value = float(self.known.up_to[place] / self.known.tree.root[0])
        return plain(
            self,
            what=f"{self.what}, up to {number:g}",
            value=value,
            spread=UpToSpread(self.known, place),
            keys=None,
            limits=(0.0, 1.0),
        )

    def consistent(self) -> Release:
        """The nearest shares that are not negative. Free; no longer unbiased."""
        value = nearest_shares(np.asarray(self.value), whole=not self.none)
        note = "consistent: shares are non-negative, but are biased"
        notes = (*self.notes, note)
        return plain(self, value=value, notes=notes, limits=(0.0, 1.0))

    def _derived(self, **changes: Any) -> Release:
        return plain(self, **changes)

    def _lines(self) -> list[str]:
        title = entitled(f"{self.what}, {self.messages:,} messages")
        lines = []
        for level in (0.05, 0.25, 0.5, 0.75, 0.95):
            found = self.quantile(level)
            low, high = found.interval()
            ends = f"{found.value:g} ({low:g} to {high:g})"
            lines.append(f"  {100 * level:g} % of devices: at most {ends}")
        return [title, *lines]


def distribution(tally: Tally, numbers: Numbers) -> Distribution:
    """The release of a tally whose task asks for a distribution."""
    known = _known(parts(tally), numbers)
    value, error = known.leaves()
    return Distribution(
        what=tally.task.name,
        value=value,
        sources=(promised(tally),),
        spread=Normal(value, error),
        keys=tuple(numbers.number(np.arange(numbers.top + 1)).tolist()),
        notes=shared_notes(tally),
        messages=tally.messages,
        standard_errors=error,
        none=1 - known.tree.root[0] if numbers.none else 0.0,
        known=known,
    )


def _known(found: list[Part], numbers: Numbers) -> Known:
    periods = found[0].periods
    devices = found[0].everyone / periods
    fewest = min(part.messages for part in found) / periods
    return Known(numbers, _tree(found, numbers), devices, fewest)


def _tree(found: list[Part], numbers: Numbers) -> Tree:
    levels = [_level(part) for part in found]
    outside = None
    if numbers.none:
        shares, variances = (
            np.array([level[k][-1] for level in levels]) for k in (0, 1)
        )
        weights = 1 / variances
        outside = float(shares @ weights / weights.sum()), float(1 / weights.sum())
        levels = [(value[:-1], variance[:-1]) for value, variance in levels]
    values, variances_of = zip(*levels, strict=True)
    return Tree(values, variances_of, numbers.branching, outside)


def _level(part: Part) -> tuple[Reals, Reals]:
    """The shares of a level's nodes, and their variances."""
    oracle = part.oracle
    assert isinstance(oracle, Oracle)
    asked = (part.counts, part.messages, part.periods, np.arange(oracle.items))
    found = oracle.evidence(*asked)
    held = np.clip(found.counts, 0, found.messages)
    other = oracle.rates[1]
    variance = apart(found, held, other, part.periods, adds_up=oracle.adds_up)
    square = (found.gain * found.messages) ** 2
    return found.counts / found.messages, variance / square
