"""Runs of training, declared before their first step: rates, noise levels, steps, and
the noise for a wanted ε.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import SupportsIndex

from dither.errors import ArgumentError
from dither.privacy.calibration import calibrate, probe
from dither.privacy.composite import Composed, PoissonSampled
from dither.privacy.composition import compose
from dither.privacy.concentrated import GaussianDP
from dither.privacy.guarantees import ApproxDP, Guarantee
from dither.privacy.numbers import Number, float_up, fraction, positive, whole
from dither.privacy.units import ROW, Relation, Unit

__all__ = ["LEVELS", "Run", "levels", "noise_for", "rate_of"]

WHOLE_RATE = 1 << 32
LEVELS = 32
"""Largest number of different noise levels in a schedule: each costs transforms of its
own when losses are added up.
"""
LEAST_NOISE, MOST_NOISE = 0.05, 1000.0
"""Between these the noise is looked for. With more, nothing would be learned."""
TOLERANCE = 1e-3


def rate_of(batch: Number, units: SupportsIndex) -> int:
    """t such that units enter a batch with probability t/2^32, rounded down: about
    `batch` of the declared `units`.
    """
    there = whole("units", units, "pass the number of units, such as 60_000")
    drawn = fraction("batch", batch, "pass the number of units in a batch, such as 256")
    if not 0 < drawn <= there:
        raise ArgumentError(
            "batch",
            f"must be above 0 and at most {there}, the number of units; pass a batch "
            f"size such as {min(256, max(1, there // 4))}",
        )
    return max(1, math.floor(drawn * WHOLE_RATE / there))


def levels(
    factors: Iterable[Number], most: int = LEVELS
) -> tuple[tuple[float, int], ...]:
    """A schedule of noise, one factor a step, as at most so many levels with their
    numbers of steps.

    Each factor goes up to the next level, never down: quantizing costs no privacy.
    """
    counted = Counter(
        positive("factors", one, "pass factors of the noise, such as 1.0")
        for one in factors
    )
    if not counted:
        raise ArgumentError(
            "factors", "must not be empty; pass one factor for each step"
        )
    if len(counted) > most:
        low, high = min(counted), max(counted)
        width = math.log(high / low) / (most - 1)
        grouped: Counter[float] = Counter()
        for factor, steps in counted.items():
            place = min(math.ceil(math.log(factor / low) / width), most - 1)
            level = low * math.exp(place * width)
            grouped[max(level, factor) if place < most - 1 else high] += steps
        counted = _no_lower(grouped, most)
    return tuple(sorted(counted.items()))


def _no_lower(grouped: Counter[float], most: int) -> Counter[float]:
    """If rounding split one level into two, the lower steps go up to the higher."""
    listed = sorted(grouped.items())
    while len(listed) > most:
        near = min(
            range(len(listed) - 1), key=lambda i: listed[i + 1][0] / listed[i][0]
        )
        merged = listed[near + 1][0], listed[near][1] + listed[near + 1][1]
        listed[near : near + 2] = [merged]
    return Counter(dict(listed))


@dataclass(frozen=True)
class Run:
    """Steps of noisy gradients, all declared in advance.

    `rate` is the t of the sampling probability t/2^32. Each stage is a noise multiplier
    (the noise's standard deviation over the clipping norm) and its number of steps.
    `beside` is what else the run releases, such as measurements on held-out records.
    """

    rate: int
    stages: tuple[tuple[float, int], ...]
    unit: Unit = ROW
    beside: GaussianDP | None = None

    def __post_init__(self) -> None:
        rate = whole("rate", self.rate, "pass t of the probability t/2^32")
        if rate > WHOLE_RATE:
            raise ArgumentError(
                "rate",
                "must be at most 2^32, which samples all units; pass a smaller t",
            )
        way_out = "pass pairs of noise and steps, such as [(1.0, 1000)]"
        if not self.stages:
            raise ArgumentError("stages", f"must not be empty; {way_out}")
        stages = tuple(
            (positive("stages", noise, way_out), whole("stages", steps, way_out))
            for noise, steps in self.stages
        )
        object.__setattr__(self, "stages", stages)

    @property
    def probability(self) -> Fraction:
        return Fraction(self.rate, WHOLE_RATE)

    @property
    def steps(self) -> int:
        return sum(steps for _, steps in self.stages)

    def times(self, factor: float) -> Run:
        """The schedule with all noise multiplied."""
        stages = tuple((noise * factor, steps) for noise, steps in self.stages)
        return replace(self, stages=stages)

    @property
    def guarantee(self) -> Guarantee:
        """What the run promises.

        Where neighbours replace a unit, its gradient moves by twice the clipping norm,
        and sampling is not counted on (rule R25).
        """
        parts = [self._stage(noise, steps) for noise, steps in self.stages]
        parts += [] if self.beside is None else [self.beside]
        return parts[0] if len(parts) == 1 else Composed(parts)

    def _stage(self, noise: float, steps: int) -> PoissonSampled | GaussianDP:
        replacing = self.unit.relation is Relation.REPLACE
        mu = float_up((2 if replacing else 1) / Fraction(noise))
        if not replacing:
            return PoissonSampled(
                self.probability, GaussianDP(mu, unit=self.unit), steps
            )
        root = Fraction(math.isqrt(steps << 128) + 1, 1 << 64)
        return GaussianDP(float_up(Fraction(mu) * root), unit=self.unit)


def noise_for(run: Run, epsilon: Number, delta: Number) -> Run:
    """The run with the smallest noise, within a thousandth, that is (ε, δ)-DP on its
    own; its stages are taken as factors of the noise.

    Says the smallest ε there is where even the most noise does not reach the wanted
    one.
    """
    wanted = ApproxDP(
        positive("epsilon", epsilon, "pass a finite ε such as 3"),
        float(fraction("delta", delta, "pass a small probability such as 1e-5")),
        unit=run.unit,
    )
    if not wanted.delta:
        raise ArgumentError(
            "delta", "must be above 0; pass a small probability such as 1e-5"
        )
    return run.times(_noise(run, wanted))


@lru_cache(maxsize=256)
def _noise(run: Run, wanted: ApproxDP) -> float:
    """Kept, because a preview and its run ask for the same."""
    most = run.times(MOST_NOISE).guarantee
    if compose([most], wanted.delta, tight=False).epsilon > wanted.epsilon:
        least = most.epsilon_at(wanted.delta)
        if least > wanted.epsilon:
            raise ArgumentError(
                "epsilon",
                f"must be at least {least:.3g} for {run.steps:,} such steps, not "
                f"{wanted.epsilon:g}; pass {least:.3g} or more, or fewer steps"
                f"{'' if run.beside is None else ', or a validation with more noise'}",
            )
    return calibrate(
        lambda noise: run.times(noise).guarantee,
        wanted,
        LEAST_NOISE,
        MOST_NOISE,
        tolerance=TOLERANCE,
    )


Part = Callable[[float, bool], float]


def smallest(part: Part, wanted: float, guess: float) -> float | None:
    """The smallest noise, within a tolerance, that takes at most a wanted part; None if
    the most noise takes more.

    `part(noise, coarse)` may be larger where coarse, and is asked so first. What is
    returned was seen to fit without.
    """
    bracket = _bracket(lambda noise: _above(part(noise, True), wanted), guess)
    if bracket is None:
        return MOST_NOISE if part(MOST_NOISE, False) <= wanted else None
    (low, above), (high, below) = bracket
    while high > low * (1.0 + TOLERANCE):
        middle = probe(low, high, above, below, TOLERANCE)
        found = _above(part(middle, True), wanted)
        if found <= 0.0:
            high, below = middle, found
        else:
            low, above = middle, found
    while part(high, False) > wanted:
        high *= 1.0 + TOLERANCE
    closer = max(high / (1.0 + TOLERANCE), LEAST_NOISE)
    return closer if part(closer, False) <= wanted else high


def _above(part: float, wanted: float) -> float:
    """Distance of a part above the wanted one, on a logarithmic scale."""
    return math.log(max(part, 1e-300) / wanted)


End = tuple[float, float]


def _bracket(above: Callable[[float], float], guess: float) -> tuple[End, End] | None:
    """A noise that is too small, or the least there is, and one that fits, each with
    its height: from a guess, in steps that grow.
    """
    noise, factor = guess, 1.1
    height = above(noise)
    while True:
        fits = height <= 0.0
        other = noise / factor if fits else noise * factor
        other = min(max(other, LEAST_NOISE), MOST_NOISE)
        beside = above(other)
        ends = (noise, height), (other, beside)
        if (beside <= 0.0) != fits:
            return (ends[1], ends[0]) if fits else ends
        if other in (LEAST_NOISE, MOST_NOISE):
            return (ends[1], ends[1]) if fits else None
        noise, height, factor = other, beside, factor * factor
