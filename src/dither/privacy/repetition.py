"""The best of a random number of runs: what a private search promises.

A run Q gives a score and a result; it is repeated K times, and only the best of the K
outputs is shown. K is drawn beforehand and never shown (Liu & Talwar 2019; Papernot &
Steinke 2022). If Q and Q' are the laws of a run on neighbours and f(x) = E[x^K], the
best output has density f'(a)·dQ with a = Q(at most this output), so that

    ratio of densities ≤ dQ/dQ' · f'(a)/f'(a').

For K truncated negative binomial f'(x) is proportional to (1 − (1 − γ)x)^(−1−η), and the
last factor is at most C^(1+η), where C solves C = 1 + (1 − γ)/γ·δ(ln C) with the privacy
profile δ of Q. Proofs: docs/proofs/search.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from dither.errors import ArgumentError
from dither.privacy.concentrated import RenyiDP
from dither.privacy.guarantees import ApproxDP, Guarantee, PureDP
from dither.privacy.numbers import Number, fraction, up
from dither.privacy.renyi import WIDE_ORDERS

__all__ = ["Repetitions", "largest", "repeated", "repeated_approx"]

LARGEST_MEAN = 10_000
LARGEST_ETA = 10
SMALLEST_GAMMA = 1e-12
ORDERS = tuple(order for order in WIDE_ORDERS if order <= 1e4)
"""Above these a mean above 1 costs nothing, and losses only grow."""


@dataclass(frozen=True)
class Repetitions:
    """How many times a search runs: truncated negative binomial with `eta` above -1 and
    `gamma` in (0, 1). `eta` 1 is geometric, and 0 logarithmic; with `eta` None the
    number is Poisson of mean `gamma`.
    """

    eta: float | None
    gamma: float

    @classmethod
    def of_mean(cls, mean: Number, eta: Number | None = 0.0) -> Repetitions:
        """The distribution with this mean."""
        way_out = f"pass the mean number of runs, from 2 to {LARGEST_MEAN:,}"
        wanted = float(fraction("repetitions", mean, way_out))
        if not 2 <= wanted <= LARGEST_MEAN:
            raise ArgumentError(
                "repetitions", f"must have a mean from 2 to {LARGEST_MEAN:,}; {way_out}"
            )
        if eta is None:
            return cls(None, wanted)
        shape = float(fraction("eta", eta, "pass 0 or 1"))
        if not -0.9 <= shape <= LARGEST_ETA or 0 < abs(shape) < 0.01:
            raise ArgumentError(
                "eta",
                f"must lie from -0.9 to {LARGEST_ETA}, at 0 or at least 0.01 away; pass 0 or 1",
            )
        return cls(shape, _gamma(wanted, shape))

    @cached_property
    def mean(self) -> float:
        """Number of runs on average, rounded up."""
        return self.gamma if self.eta is None else up(_mean(self.eta, self.gamma))

    def missing(self, share: float) -> float:
        """Probability that none of the runs is among this share of all."""
        kept = 1.0 - share
        if self.eta is None:
            return math.exp(-self.gamma * share)
        left = 1.0 - (1.0 - self.gamma) * kept
        if self.eta == 0:
            return math.log(left) / math.log(self.gamma)
        return math.expm1(-self.eta * math.log(left)) / math.expm1(
            -self.eta * math.log(self.gamma)
        )

    def widening(self, base: Guarantee) -> float:
        """ln of the largest f'(a)/f'(a'), rounded up: (1 + η)·ln C, or for Poisson the
        mean times the total variation distance.
        """
        if self.eta is None:
            return up(self.gamma * min(base._delta(0.0), 1.0))
        return up((1.0 + self.eta) * self._log_slope(base))

    def _log_slope(self, base: Guarantee) -> float:
        """ln C. Both ends of the bracket keep their side, so the upper one is safe."""
        odds = up((1.0 - self.gamma) / self.gamma)

        def holds(slope: float) -> bool:
            return up(odds * base._delta(slope)) <= math.expm1(slope) * (1 - 2.0**-40)

        low, high = 0.0, 1e-9
        while not holds(high):
            low, high = high, 4.0 * high
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (low, middle) if holds(middle) else (middle, high)
        return high


def repeated(
    base: Guarantee,
    repetitions: Repetitions,
    orders: Sequence[float] | None = None,
) -> Guarantee:
    """What the best of so many runs promises, where each promises `base`. Rényi losses
    are listed at `orders`.

    Guarantee: of pure ε runs ε + (1+η)·ln C, which is at most (2+η)·ε. Of others the
    Rényi loss at each order α is that of a run, and (1+η)·ln C + ln(mean)/(α−1). A δ
    that a run carries is multiplied by the mean.
    Why: docs/proofs/search.md; it is at most what theorem 2 of Papernot & Steinke 2022
    gives (theorem 6 for Poisson).
    Assumes: runs are independent, scores are part of what a run promises, and the
    number of runs is drawn beforehand and not shown.
    """
    delta = up(base.delta_part * repetitions.mean) if base.delta_part else 0.0
    if isinstance(base, PureDP | ApproxDP):
        pure = _pure(PureDP(base.epsilon), repetitions)
        if not delta:
            return PureDP(pure, unit=base.unit)
        return ApproxDP(pure, delta, unit=base.unit)
    widening = None if repetitions.eta is None else repetitions.widening(base)
    if orders is None:
        orders = base.orders if isinstance(base, RenyiDP) else ORDERS
    losses = [(order, _loss(base, repetitions, order, widening)) for order in orders]
    finite = [(order, loss) for order, loss in losses if math.isfinite(loss)]
    return RenyiDP(_falling(finite), delta, unit=base.unit)


def repeated_approx(
    base: Guarantee, repetitions: Repetitions, delta: Number
) -> ApproxDP:
    """The same as (ε, δ): ε = (1+η)·ln C + ε of one run at δ/mean.

    Why: f' is at most the mean, so the hockey-stick divergence of the best output is at
    most the mean times that of a run (Koskela, Redberg & Wang 2024; here with the exact
    C).
    """
    wanted = float(delta)
    spare = wanted / repetitions.mean * (1 - 2.0**-40)
    epsilon = up(repetitions.widening(base) + base.epsilon_at(spare))
    return ApproxDP(epsilon, wanted, unit=base.unit)


def largest(
    fits: Callable[[float], bool], low: float, high: float, within: float = 1e-9
) -> float:
    """The largest number in a bracket that fits, within a small part of it; 0 if none
    does. What fits, fits where the number is smaller.
    """
    if not fits(low):
        return 0.0
    for _ in range(60):
        middle = math.sqrt(low * high)
        if high - low <= within * low:
            break
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _pure(base: PureDP, repetitions: Repetitions) -> float:
    found = up(base.epsilon + repetitions.widening(base))
    if repetitions.eta is None:
        return found
    return min(found, up((2.0 + repetitions.eta) * base.epsilon))


def _loss(
    base: Guarantee, repetitions: Repetitions, order: float, widening: float | None
) -> float:
    if widening is None:
        # theorem 6 of Papernot & Steinke: the total variation distance beyond this ε
        beyond = base._delta(math.log1p(1.0 / (order - 1.0)) * (1 - 2.0**-40))
        widening = up(repetitions.gamma * beyond)
    parts = (base.renyi(order), widening, math.log(repetitions.mean) / (order - 1.0))
    return up(sum(parts))


def _falling(losses: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """A loss at an order also holds at every lower one."""
    least, found = math.inf, []
    for order, loss in reversed(losses):
        least = min(least, loss)
        found.append((order, least))
    return found


def _mean(eta: float, gamma: float) -> float:
    if eta == 0:
        return (1.0 / gamma - 1.0) / -math.log(gamma)
    return eta * (1.0 - gamma) / (gamma * -math.expm1(eta * math.log(gamma)))


def _gamma(mean: float, eta: float) -> float:
    """The γ of a mean; the mean falls where γ grows."""
    low, high = SMALLEST_GAMMA, 1.0 - 1e-9
    for _ in range(200):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if _mean(eta, middle) > mean else (low, middle)
    return high
