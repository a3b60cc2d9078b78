"""A running count that is released at every step, with noise that hardly grows with the
number of steps.

The matrix of running sums is a product of two Toeplitz matrices with the coefficients
f_k = C(2k, k) / 4^k of (1 − x)^(−1/2). What is measured are the steps times the first
one, in whole numbers, with Gaussian noise; the second one turns these measurements into
running counts, which is post-processing (docs/proofs/more_mechanisms.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from dither.errors import ArgumentError
from dither.mechanisms.additive import Gaussian
from dither.mechanisms.interactive import Interactive, Payer, charged
from dither.mechanisms.sums import root_up
from dither.mechanisms.values import Integers, Reals, numbers, present
from dither.privacy import ROW, GaussianDP, Relation, Unit
from dither.privacy.numbers import confidence_level, float_up, whole

__all__ = ["ContinualCount", "CountStream"]

FINE = 1 << 20
"""Coefficients are whole multiples of 1/FINE."""
LONGEST = 1 << 16
LARGEST = 1 << 40


@lru_cache(maxsize=16)
def coefficients(horizon: int) -> Integers:
    """FINE·f_k, rounded, for every step; f_k = f_(k−1)·(1 − 1/2k). They never rise."""
    exact, found = FINE << 64, [FINE]
    for k in range(1, horizon):
        exact = exact * (2 * k - 1) // (2 * k)
        found.append(min(found[-1], (exact + (1 << 63)) >> 64))
    return np.array(found, np.int64)


@lru_cache(maxsize=16)
def decoder(horizon: int) -> Reals:
    """The first column of the matrix that turns measurements into running counts: 1 /
    ((1 − x)·F(x)) as a series.
    """
    given = coefficients(horizon).astype(np.float64) / FINE
    inverse = np.zeros(horizon)
    inverse[0] = 1.0
    for k in range(1, horizon):
        inverse[k] = -inverse[:k] @ given[k:0:-1]
    result: Reals = np.cumsum(inverse) / FINE
    return result


@dataclass(frozen=True, kw_only=True)
class ContinualCount:
    """A count, or a sum of whole numbers, released after each of `horizon` steps.

    A unit takes part in at most `participations` steps, whichever these are, and moves
    the value of each by at most `sensitivity`: 1 participation is event level, more of
    them protect a unit that comes back. State the promise as `epsilon` and `delta`, or
    as `rho`, or as `mu`.

    Guarantee: mu-Gaussian differential privacy, for all running counts together.
    Why: the square-root factorization (Henzinger, Upadhyay & Upadhyay 2023;
    Fichtenberger, Henzinger & Upadhyay 2022), measured in whole numbers; of all steps a
    unit may take part in, the first ones move the measurements most
    (docs/proofs/more_mechanisms.md). Other charges may come between its steps, and
    values may depend on them, without any theorem on concurrent composition: every step
    has noise of its own, and the losses of all steps together stay within what was
    charged, whatever happens (docs/proofs/filter.md).
    Assumes: no unit takes part in more steps, nor moves a step by more, up or down.
    Where neighbours replace a unit, one goes and another comes: a step may then move by
    twice as much, and the noise is for that.
    """

    horizon: int
    sensitivity: int = 1
    participations: int = 1
    epsilon: float | None = None
    delta: float | None = None
    rho: float | None = None
    mu: float | None = None
    unit: Unit = ROW

    def __post_init__(self) -> None:
        object.__setattr__(
            self,
            "horizon",
            whole("horizon", self.horizon, "pass the number of steps"),
        )
        if self.horizon > LONGEST:
            raise ArgumentError(
                "horizon", f"must be at most {LONGEST}; count in longer steps"
            )
        way_out = "pass how far one unit can move one step, such as 1"
        object.__setattr__(
            self, "sensitivity", whole("sensitivity", self.sensitivity, way_out)
        )
        if self.sensitivity > LARGEST:
            raise ArgumentError(
                "sensitivity", "must be at most 2**40; count in larger units"
            )
        way_out = "pass the number of steps in which one unit can take part"
        object.__setattr__(
            self,
            "participations",
            whole("participations", self.participations, way_out),
        )
        _ = self.noise.integer_scale

    @cached_property
    def noise(self) -> Gaussian:
        """What is added to each measurement, in steps of 1/2^20."""
        moved = float_up(root_up(self.moved))
        return Gaussian(
            sensitivity=moved,
            unit=self.unit,
            epsilon=self.epsilon,
            delta=self.delta,
            rho=self.rho,
            mu=self.mu,
        )

    @property
    def moved(self) -> int:
        """The square of how far neighbours can move the measurements, in L2: units take
        part in the first steps.
        """
        upto: list[int] = [0, *np.cumsum(coefficients(self.horizon)).tolist()]
        sums = (
            upto[t] - upto[max(0, t - self.participations)]
            for t in range(1, self.horizon + 1)
        )
        units = 2 if self.unit.relation is Relation.REPLACE else 1
        return (units * self.sensitivity) ** 2 * sum(total * total for total in sums)

    @property
    def guarantee(self) -> GaussianDP:
        """What all counts promise together."""
        return self.noise.guarantee

    @property
    def most(self) -> int:
        """Values are held within ± this, so that measurements fit 64 bits."""
        return (1 << 61) // int(coefficients(self.horizon).sum())

    @cached_property
    def _powers(self) -> tuple[Reals, Reals]:
        """The sums of squared weights up to each step, and of their fourth powers."""
        weights = decoder(self.horizon)
        return np.cumsum(weights**2), np.cumsum(weights**4)

    def error(self, confidence: float = 0.95, *, step: int | None = None) -> float:
        """The ± of the running count after a step (counted from 1), with this
        probability; largest at the last one.
        """
        at = whole(
            "step",
            self.horizon if step is None else step,
            "pass a step, counted from 1",
        )
        if at > self.horizon:
            raise ArgumentError(
                "step",
                f"must be at most {self.horizon}, the horizon; pass a smaller step",
            )
        level = float(confidence_level("confidence", confidence))
        squares, fourths = (one[at - 1 : at] for one in self._powers)
        return float(self.noise.law.reaches(squares, fourths, level)[0])

    def open(
        self, budget: Payer | None = None, *, purpose: str = "continual count"
    ) -> CountStream:
        """Charge the whole cost to a budget and begin."""
        return CountStream(self, charged(budget, self.guarantee, purpose))

    def release(self, values: Any) -> Reals:
        """The running counts of all steps at once, for values that are already known.
        What is missing counts as 0.
        """
        clean = numbers(values, "values")
        if (
            not isinstance(clean, np.ndarray)
            or clean.dtype != np.int64
            or clean.ndim != 1
        ):
            raise ArgumentError("values", "must be whole numbers, one for each step")
        if clean.size > self.horizon:
            raise ArgumentError(
                "values",
                f"must hold at most {self.horizon} numbers, one for each step of the "
                "horizon; pass fewer, or a larger horizon",
            )
        steps = clean.size
        held = np.clip(clean, -self.most, self.most).astype(np.int64)
        measured = (
            np.convolve(held, coefficients(self.horizon)[:steps])[:steps]
            if steps
            else held
        )
        noisy: Integers = self.noise.release(measured)
        result: Reals = (
            np.convolve(noisy, decoder(self.horizon)[:steps])[:steps]
            if steps
            else np.zeros(0)
        )
        return result


class CountStream(Interactive):
    """An opened `ContinualCount`: add the value of each step, get the running count."""

    def __init__(self, mechanism: ContinualCount, receipt: Any) -> None:
        super().__init__(mechanism.guarantee, receipt)
        self.mechanism, self.step, self.count = mechanism, 0, 0.0
        self._values = np.zeros(mechanism.horizon, np.int64)
        self._measured = np.zeros(mechanism.horizon)

    def add(self, value: Any) -> float:
        """The running count up to this step, with noise. NaN and None are treated as 0."""
        clean = numbers(present(value))
        if not isinstance(clean, int):
            raise ArgumentError(
                "value", "must be one whole number, the count of this step"
            )
        with self._step():
            if self.step == self.mechanism.horizon:
                raise ArgumentError(
                    "value",
                    f"this count ended after {self.step} steps, its horizon; open another one",
                )
            # first of all: a step that is broken off must not be measured a second time
            self.step += 1
            self._values[self.step - 1] = max(
                -self.mechanism.most, min(self.mechanism.most, clean)
            )
            exact = int(
                self._weighted(self._values, coefficients(self.mechanism.horizon))
            )
            self._measured[self.step - 1] = self.mechanism.noise.release(exact)
            self.count = float(
                self._weighted(self._measured, decoder(self.mechanism.horizon))
            )
            return self.count

    def _weighted(self, values: Any, weights: Any) -> Any:
        return values[: self.step] @ weights[self.step - 1 :: -1]

    def error(self, confidence: float = 0.95) -> float:
        """The ± of the running count, with this probability."""
        return self.mechanism.error(confidence, step=max(self.step, 1))

    def __repr__(self) -> str:
        return f"<CountStream: step {self.step} of {self.mechanism.horizon}>"
