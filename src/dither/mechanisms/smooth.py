"""Noise that fits the data at hand: smooth sensitivity with Cauchy noise.

The scale of the noise is private. What is public are the grid, the number of steps and
the printed error; they come from the global sensitivity alone (rule R3).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from dither.errors import ArgumentError
from dither.mechanisms.sensitivities import local_sensitivities
from dither.mechanisms.values import Reals, numbers, present
from dither.noise import Grid, rounded_cauchy
from dither.noise.shapes import check_scale
from dither.privacy import ROW, PureDP, Unit
from dither.privacy.numbers import (
    at_most,
    confidence_level,
    fraction,
    not_negative,
    positive,
)

__all__ = ["SmoothSensitivity"]

FINENESS = 19
"""The largest scale is about 2^19 steps of the grid, so that every scale is sampled in
the same way.
"""
LEAST = 2.0**-18
"""Rounding alone makes the scale at least 1 / α steps; beyond 2^20 of them it would be
sampled in another way.
"""
LONGEST = 1 << 16
MARGIN = 2.0**-38
"""Largest error of floats in ln(scale), with room to spare; see
docs/proofs/more_mechanisms.md.
"""
FARTHEST = 1 << 61


@dataclass(frozen=True, kw_only=True)
class SmoothSensitivity:
    """Cauchy noise on a number, of a scale that depends on how far one unit can move it
    near the data at hand.

    `global_sensitivity` is the most that one unit can move it on any data. `growth`,
    where it is enough to know LS_0, is by how much LS_t grows with each t at most. With
    `integer=True` values are whole numbers. `smoothing` is the part of epsilon that
    hides the scale, half of it unless said otherwise.

    Cauchy noise has no variance and no mean; about one release in ten is off by six
    scales.

    Guarantee: epsilon-differential privacy, pure.
    Why: the scale is S / α with a β-smooth S (Nissim, Raskhodnikova & Smith 2007). For
    Cauchy noise moving the value by S costs α and changing the scale by e^β costs β, so
    α + β = ε suffices; their general proof would need ε / 6 each. See
    docs/proofs/more_mechanisms.md.
    Assumes: for all neighbours D and D′, |f(D) − f(D′)| ≤ LS_0(D) and LS_t(D) ≤
    LS_(t+1)(D′), for every t; and LS_t ≤ `global_sensitivity`.
    """

    epsilon: float
    global_sensitivity: float
    growth: float | None = None
    integer: bool = False
    smoothing: float | None = None
    unit: Unit = ROW

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", PureDP(self.epsilon).epsilon)
        way_out = "pass the most that one unit can change the value, on any data"
        object.__setattr__(
            self,
            "global_sensitivity",
            positive("global_sensitivity", self.global_sensitivity, way_out),
        )
        if self.growth is not None:
            object.__setattr__(
                self,
                "growth",
                not_negative(
                    "growth", self.growth, "pass the most that LS_t grows per step"
                ),
            )
        if self.epsilon > 1e3 or self.parts[1] < 2.0**-30 or self.parts[0] < LEAST:
            raise ArgumentError(
                "epsilon",
                "must be at most 1000, smoothing must be at least 1e-9, and epsilon must "
                "exceed smoothing by at least 4e-6; change epsilon, or leave smoothing out",
            )
        if not 2.0**-900 < Fraction(self.global_sensitivity) < 2.0**900:
            raise ArgumentError(
                "global_sensitivity",
                "must lie between 2**-900 and 2**900; measure the value in other units",
            )
        for ends in (0.0, self.global_sensitivity):
            check_scale("global_sensitivity", self._scale(np.full(self.steps, ends)))

    @property
    def guarantee(self) -> PureDP:
        """What one release promises."""
        return PureDP(self.epsilon, unit=self.unit)

    @cached_property
    def parts(self) -> tuple[Fraction, Fraction]:
        """α, for moving the value, and β, for changing the scale."""
        total = at_most(self.epsilon)
        smoothing = (
            total / 2
            if self.smoothing is None
            else fraction("smoothing", self.smoothing)
        )
        return total - smoothing, smoothing

    @cached_property
    def grid(self) -> Grid:
        """Values are rounded to multiples of its step. It is public: from the largest
        scale, never from the scale.
        """
        length = Fraction(self.global_sensitivity) / self.parts[0] / (1 << FINENESS)
        exponent = Grid.finer_than(length * (1 << 21)).exponent
        return Grid(max(exponent, 0) if self.integer else exponent)

    @property
    def _rounding(self) -> float:
        """By how much rounding to the grid can move two values apart."""
        return (
            0.0 if self.integer and self.grid.exponent == 0 else float(self.grid.step)
        )

    @cached_property
    def steps(self) -> int:
        """How many LS_t are looked at; beyond them the global sensitivity stands for
        all.
        """
        ratio = math.log(16 * self.global_sensitivity / float(self.grid.step))
        return min(LONGEST, max(1, math.ceil(ratio / float(self.parts[1]))))

    @cached_property
    def _weights(self) -> Reals:
        weights: Reals = np.exp(
            -(float(self.parts[1]) - MARGIN) * np.arange(self.steps + 1)
        )
        return weights

    def _scale(self, local: Reals) -> float:
        """max e^(−βt)·(LS_t + rounding) / α, in steps of the grid."""
        with np.errstate(
            all="ignore"
            # what underflows is private, and must not raise where the caller asked for that
        ):
            smooth = float(
                np.max(
                    self._weights
                    * (np.append(local, self.global_sensitivity) + self._rounding)
                )
            )
        return smooth / float(self.parts[0] * self.grid.step) * (1 + 2.0**-45)

    def release(self, value: Any, local: Any) -> float:
        """The value with noise. `local` gives LS_t: a function of t, a list, or LS_0 if
        `growth` was given.

        Every LS_t is held between 0 and the global sensitivity. A value of NaN or None
        counts as 0.
        """
        index = self._index(value)
        scale = self._scale(
            local_sensitivities(local, self.growth, self.global_sensitivity, self.steps)
        )
        noisy = max(-FARTHEST, min(FARTHEST, index + rounded_cauchy(scale)))
        return int(noisy * self.grid.step) if self.integer else self.grid.real(noisy)

    def _index(self, value: Any) -> int:
        clean = numbers(present(value))
        if isinstance(clean, np.ndarray):
            raise ArgumentError(
                "value",
                "must be one number, not an array; release the numbers one by one, and "
                "add up their costs",
            )
        if isinstance(clean, int):
            index = round(clean / self.grid.step)
        elif self.integer:
            raise ArgumentError(
                "value",
                "must be a whole number because of integer=True; leave integer out "
                "for real numbers",
            )
        else:
            index = self.grid.nearest(clean)
        return max(-FARTHEST, min(FARTHEST, index))

    def error(self, confidence: float = 0.95, *, local: Any = None) -> float:
        """The ± in the worst case of all data, from the global sensitivity. How good it
        is on this data is private.

        With `local`, the ± where no LS_t of the data is larger: a bound that is public,
        or that was paid for.
        """
        level = float(confidence_level("confidence", confidence))
        most = self.global_sensitivity
        bound = (
            np.full(self.steps, most)
            if local is None
            else local_sensitivities(local, self.growth, most, self.steps)
        )
        worst = self._scale(bound)
        return (worst * math.tan(math.pi / 2 * level) + 1) * float(self.grid.step)
