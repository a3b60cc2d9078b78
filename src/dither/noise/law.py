"""The law of a weighted sum of independent noises: tails and quantiles that hold.

One sum has one interval everywhere: private SQL, maps, trials, genomes, synthetic tables
and estimators ask here. Nothing is drawn, and everything is public (docs/proofs/noise.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.noise import laplace_sums, sum_bounds
from dither.noise.inversion import (
    GAUSSIAN,
    LAPLACE,
    NORMAL,
    SLACK,
    Part,
    lattice_quantile,
    lattice_tail,
    smooth_quantile,
    smooth_tail,
)
from dither.noise.one_noise import (
    CLOSE,
    moved_of,
    pair_quantile,
    pair_tail,
    quantile_of,
    tail_of,
    variance_of,
)
from dither.noise.sum_bounds import TOO_SMALL

__all__ = ["Law", "Part"]

Reals = NDArray[np.float64]

DIGITS = 12
"""Weights that agree in 12 digits are one weight."""
DIVISORS = 10
"""Weights are multiples of the smallest one, divided by a number up to this, if there
is a lattice.
"""


@dataclass(frozen=True)
class Law:
    """The law of a sum of independent noises, each times a weight.

    `Law.laplace(2.0)` is discrete Laplace noise on whole numbers, `Law.gaussian(2.0)` a
    normal number that is rounded, `Law.normal(2.0)` one that is not. `3 * law` is three
    times the noise, `law + law` the sum of two independent ones, `law.copies(5)` of
    five. All are symmetric around 0.

    Guarantee: `tail(x)` is at least P(sum ≥ x), and P(sum > `quantile(missed)`) at most
    `missed`, both up to a part in 10^9 of them.
    Why: one noise, two Laplace noises of equal weight and sums on a short lattice have
    their exact law; normal ones a normal quantile, with rounding bounded by peakedness
    (Birnbaum 1948); all others the inverted characteristic function of the sum with a
    little normal noise (docs/proofs/noise.md).
    Assumes: the noises are independent, and of the stated laws.
    """

    parts: tuple[Part, ...] = ()

    @classmethod
    def of(cls, parts: Iterable[Part]) -> Law:
        """The sum of parts. Equal ones are merged; signs do not matter, because noise is
        symmetric.
        """
        counts: dict[tuple[str, float, float], int] = {}
        for weight, number, kind, scale in parts:
            if not math.isfinite(weight):
                raise ArgumentError("weight", "must be finite; pass a number such as 2")
            if weight and number:
                rounded = float(f"{abs(float(weight)):.{DIGITS}e}")
                key = (kind, float(scale), rounded)
                counts[key] = counts.get(key, 0) + int(number)
        merged = (Part(w, n, kind, t) for (kind, t, w), n in counts.items())
        return cls(tuple(sorted(merged, reverse=True)))

    @classmethod
    def laplace(cls, scale: float) -> Law:
        """Discrete Laplace noise: P(k) ∝ e^(−|k| / scale)."""
        return cls((Part(1.0, 1, LAPLACE, _positive(scale)),))

    @classmethod
    def gaussian(cls, scale: float) -> Law:
        """A normal number of this standard deviation, rounded to a whole one."""
        return cls((Part(1.0, 1, GAUSSIAN, _positive(scale)),))

    @classmethod
    def normal(cls, scale: float) -> Law:
        """A normal number of this standard deviation, such as an error of sampling."""
        return cls((Part(1.0, 1, NORMAL, _positive(scale)),) if scale else ())

    def __add__(self, other: Law) -> Law:
        return Law.of((*self.parts, *other.parts))

    def __mul__(self, weight: float) -> Law:
        return Law.of(part._replace(weight=part.weight * weight) for part in self.parts)

    __rmul__ = __mul__

    def copies(self, number: int) -> Law:
        """The sum of `number` independent noises of this law."""
        return Law.of(
            part._replace(number=part.number * int(number)) for part in self.parts
        )

    def weighed(self, weights: Iterable[float]) -> Law:
        """The sum of one independent noise of this law for each weight, times that."""
        return Law.of(
            part._replace(weight=part.weight * float(weight))
            for weight in weights
            for part in self.parts
        )

    @cached_property
    def variance(self) -> float:
        return math.fsum(
            part.weight**2 * part.number * variance_of(part.kind, part.scale)
            for part in self.parts
        )

    @property
    def deviation(self) -> float:
        """The standard deviation."""
        return math.sqrt(self.variance)

    def tail(self, x: float) -> float:
        """P(sum ≥ x), or a little more; never less. 1 for x ≤ 0, if several noises make
        the sum.
        """
        if self.variance <= TOO_SMALL:
            return 1.0 if x <= CLOSE * sum(p.weight for p in self.parts) else 0.0
        single = self._single
        if single is not None:
            return tail_of(single, x)
        return 1.0 if x <= 0 else _tail(self, float(x))

    def quantile(self, missed: float) -> float:
        """An x with P(sum > x) ≤ missed, and hardly a larger one than needed; 0 or more."""
        if not 0 < missed < 1:
            raise ArgumentError("missed", "must lie between 0 and 1; pass 0.025")
        if self.variance <= TOO_SMALL:
            return 0.0
        single = self._single
        if single is not None:
            found = quantile_of(single, missed)
        else:
            found = 0.0 if missed >= 0.5 else _quantile(self, float(missed))
        # Weights were rounded to a few digits, and noise may lie on multiples of them
        whole = all(part.weight.is_integer() for part in self.parts)
        return found if whole else found * (1 + SLACK)

    def pair_reach(self, confidence: float) -> float:
        """The ± that a·X + b·Y stays within, over √(a² + b²), for any a and b, where X
        and Y are two noises of this one law: for ratios of two noisy numbers.
        """
        part, missed = self._one, (1 - confidence) / 2
        if part.kind == NORMAL:
            return self.reach(confidence)
        if part.kind == GAUSSIAN:
            times, size = sum_bounds.gaussian_figures(part, part.scale, confidence)
            return times * math.sqrt(size) + part.weight / 2
        rounding = math.sqrt(2) * part.weight * moved_of(part.scale)
        times = laplace_sums.pair_multiple(missed)
        return (times * part.weight * part.scale + rounding) * (1 + SLACK)

    def reach(self, confidence: float) -> float:
        """The ± that the sum stays within, with at least this probability. Each side
        misses with at most half of the rest.
        """
        return self.quantile((1 - confidence) / 2)

    @cached_property
    def _single(self) -> Part | None:
        (first, *others) = self.parts or (None,)
        return first if first and not others and first.number == 1 else None

    @property
    def _one(self) -> Part:
        if self._single is None:
            raise ArgumentError(
                "weights", "are for the law of one noise; pass the law of one mechanism"
            )
        return self._single

    @cached_property
    def _shape(self) -> str:
        """The kind of this one noise, if it is so wide that closed forms are near."""
        kind, scale = self._one.kind, self._one.scale
        least = {
            LAPLACE: sum_bounds.FINE,
            GAUSSIAN: sum_bounds.ROUGH,
            NORMAL: math.inf,
        }[kind]
        return kind if scale >= least else ""

    def allows(
        self,
        weights: Sequence[float],
        x: float,
        confidence: float,
        beside: tuple[Sequence[float], Law] | None = None,
    ) -> bool:
        """Whether |weights · noises| may be x or more with probability 1 − confidence or
        more, for independent noises of this one law, and `beside` them weights times
        noises of another one. The answer "no" is certain.

        This is for searches that ask again and again: it has closed forms only, which
        for five Laplace noises or more are a few per cent wider than `reach`.
        """
        shape, part, x = self._shape, self._one, abs(x)
        if beside is not None and any(beside[0]) and beside[1].parts:
            other = beside[1]._one
            more = [weight * other.weight for weight in beside[0]]
            if beside[1]._shape == shape == GAUSSIAN:
                spare = more, other.scale
                return x <= sum_bounds.gaussian_reach(part, weights, confidence, spare)
            if beside[1]._shape == shape == LAPLACE:
                # in steps of this law; the other noises have their own step
                times = other.scale / (part.weight * part.scale)
                same = [*weights, *(weight * times for weight in more)]
                moved = sum(map(abs, more))
                return not sum_bounds.laplace_beyond(part, same, x - moved, confidence)
            law = self.weighed(weights) + beside[1].weighed(beside[0])
            return not x > law.quantile((1 - confidence) / 2)
        if shape == GAUSSIAN:
            return x <= sum_bounds.gaussian_reach(part, weights, confidence)
        if shape == LAPLACE:
            return not sum_bounds.laplace_beyond(part, weights, x, confidence)
        return not x > self.weighed(weights).quantile((1 - confidence) / 2)

    def reaches(self, squares: Reals, fourths: Reals, confidence: float) -> Reals:
        """The ± of many weighted sums of independent noises of this one law, each given
        by its sum of squared weights and of their fourth powers.

        It is above `reach` by the less, the larger the noise and the more weights there
        are: by 1 % for 60 equal weights at 95 %. That it suffices is proved if the scale
        is large (from 1.5 for Gaussian and 4 for Laplace noise at 95 %; the rarer the
        misses, the larger). Below, it is checked against exact laws of some thousand
        sums with scales from 0.1 on, and not proved (docs/proofs/noise.md).
        """
        part = self._one
        size = np.asarray(squares, np.float64) * part.weight**2
        power = np.asarray(fourths, np.float64) * part.weight**4
        return sum_bounds.many_reaches(part, size, power, (1 - confidence) / 2)


def _positive(scale: float) -> float:
    if not (scale > 0 and math.isfinite(scale)):
        raise ArgumentError("scale", "must be positive and finite; pass 2.0")
    return float(scale)


@lru_cache(maxsize=4096)
def _quantile(law: Law, missed: float) -> float:
    parts, deviation = law.parts, law.deviation
    step, ones = _lattice(parts)
    if step:
        pair = _pair(ones)
        if pair is not None:
            return step * pair_quantile(pair, missed)
        found = lattice_quantile(ones, deviation / step, missed)
        if found is not None:
            return step * found
    least = sum_bounds.closed_quantile(parts, missed)
    if least is None:
        least = smooth_quantile(parts, deviation, missed)
    # what lies beyond the last number of the lattice up to there lies beyond this too
    return step * math.floor(least / step * (1 + SLACK) + CLOSE) if step else least


@lru_cache(maxsize=1024)
def _tail(law: Law, x: float) -> float:
    parts, deviation = law.parts, law.deviation
    step, ones = _lattice(parts)
    if step:
        k = math.ceil(x / step - CLOSE * max(1, x / step))
        pair = _pair(ones)
        if pair is not None:
            return pair_tail(pair, k)
        found = lattice_tail(ones, deviation / step, k) if k > 0 else 1.0
        if found is not None:
            return found
        x = k * step
    closed = sum_bounds.closed_tail(parts, x)
    return smooth_tail(parts, deviation, x) if closed is None else closed


def _lattice(parts: Sequence[Part]) -> tuple[float, tuple[Part, ...]]:
    """A step of which all weights are multiples, and the parts in such steps; 0 if there
    is none.
    """
    if any(part.kind == NORMAL for part in parts):
        return 0.0, ()
    least = min(part.weight for part in parts)
    for divisor in range(1, DIVISORS + 1):
        step = least / divisor
        ratios = [part.weight / step for part in parts]
        if all(abs(one - round(one)) < CLOSE for one in ratios):
            pairs = zip(parts, ratios, strict=True)
            ones = (part._replace(weight=float(round(one))) for part, one in pairs)
            return step, tuple(ones)
    return 0.0, ()


def _pair(parts: Sequence[Part]) -> tuple[float, float] | None:
    """The scales of two Laplace noises."""
    scales = [part.scale for part in parts for _ in range(min(part.number, 3))]
    laplace = all(part.kind == LAPLACE and part.weight == 1 for part in parts)
    return (scales[0], scales[1]) if laplace and len(scales) == 2 else None
