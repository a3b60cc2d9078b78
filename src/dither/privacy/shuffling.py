"""What shuffling hides, summed numerically: one message among those that others could
have sent whatever their values are.

Every other message comes, with probability `share`, from one distribution ω that does
not depend on its sender's value. The others are given away. What is left is a sum over
how many of ω's draws look like one value of the person, like the other, or like neither
(docs/proofs/local.md, "Shuffling").

The reduction of Wang et al. 2024 ("variation ratio") looks like this one, but also
hides a message that looks like neither value among messages that are given away here.
It is not sound: with three kinds of answers and two people, the exact divergence is
above it (`test_shuffling.py` enumerates that).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, SupportsIndex

from dither.errors import ArgumentError, MissingExtra
from dither.privacy.amplification import shuffled
from dither.privacy.gaussian import gaussian_epsilon
from dither.privacy.guarantees import ApproxDP
from dither.privacy.numbers import Number, down, float_down, fraction, up
from dither.privacy.units import ROW, Unit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["shuffled_numerically"]

LARGEST_LOCAL = 40.0
"""Above this ε of one message, only the closed form answers: no crowd is that large."""

LARGEST_CROWD = 10**8
"""More messages hide no worse, and are treated as this number."""

CELLS = 100_000
FEWEST_BINS = 16
NEGLIGIBLE = 1e-5
"""The share of δ that may be lost in each tail outside the sums."""

CLOSE = 1e-6
"""The share of ε up to which the least one is looked for."""

LEAST = 1e-12
"""No guarantee states ε = 0, even where δ alone covers everything."""

_STEPS = 100


def shuffled_numerically(
    epsilon_local: Number,
    n: SupportsIndex,
    delta: Number,
    *,
    common: Number | None = None,
    total_variation: Number | None = None,
    unit: Unit = ROW.replacing(),  # noqa: B008
) -> ApproxDP:
    """The guarantee of n anonymous, shuffled messages, by a sum instead of a closed
    form. It is never above `shuffled`.

    `common` is a γ such that, for some distribution ω of messages, every value sends
    every message y with a probability between γ·ω(y) and e^ε₀·γ·ω(y): for k-ary
    response k/(e^ε₀ + k − 1). `total_variation` is the largest distance between the
    messages of two values, or more.

    Guarantee: (ε, δ)-DP with the least ε that the sums over the blanket γ·ω, over the
    clones (Feldman, McMillan, Talwar 2021, theorem 3.1) and the closed form show.
    Why: Balle, Bell, Gascón, Nissim 2019 (the privacy blanket), with the worst pair of
    values in convex order; docs/proofs/local.md, "Shuffling".
    Assumes: as `shuffled`: replace neighbours, one message each, without cohort or
    memo; n counts only honest messages (rule R28).
    """
    closed = shuffled(epsilon_local, n, delta, unit=unit)
    local, messages = up(float(epsilon_local)), n.__index__()
    shared = _probability("common", common)
    apart = _probability("total_variation", total_variation)
    if apart is not None and shared is None:
        raise ArgumentError(
            "total_variation",
            "needs common as well to bound the loss; pass both, or neither",
        )
    if local > LARGEST_LOCAL:
        return closed
    crowds = [_clones(local)]
    if shared is not None:
        crowds += _blanket(local, shared, apart)
    best = closed.epsilon
    for crowd in sorted(crowds, key=lambda crowd: crowd.told):
        best = _least(crowd, messages, closed.delta, best)
    return ApproxDP(best, closed.delta, unit=unit)


def _probability(argument: str, value: Number | None) -> Fraction | None:
    if value is None:
        return None
    exact = fraction(argument, value, "pass a probability such as 0.5")
    if not 0 < exact <= 1:
        raise ArgumentError(
            argument, f"must lie in (0, 1], not {value}; pass a probability such as 0.5"
        )
    return exact


@dataclass(frozen=True)
class _Crowd:
    """Others' messages that hide the person's.

    Each is one of ω's with probability `share`. A draw of ω is `low` or `low`·`ratio`
    times as likely from the person, for each of both values: high for the first alone
    and for the second alone with probability `apart` each. Otherwise it is neither,
    and then both have `low`·`plain`; or, if `independent`, one being high says nothing
    about the other.
    """

    share: float
    low: float
    ratio: float
    high: float
    plain: float = 1.0
    independent: bool = False

    @property
    def apart(self) -> float:
        return self.high * (1.0 - self.high) if self.independent else self.high

    @property
    def told(self) -> float:
        """Information in a message: the variance of its likelihood's change in a large
        crowd.
        """
        return self.apart * (self.low * (self.ratio - 1.0)) ** 2 / self.share


def _clones(local: float) -> _Crowd:
    """ω is half of each of the person's values; everyone has it with e^−ε₀."""
    ratio = up(math.exp(local))
    return _Crowd(down(1.0 / ratio), 2.0 / (ratio + 1.0), ratio, 0.5)


def _blanket(local: float, common: Fraction, apart: Fraction | None) -> list[_Crowd]:
    """The worst pairs of values under a blanket: the sum that looks smallest."""
    low = Fraction(down(float_down(common)))
    top = Fraction(up(up(math.exp(local)))) * low
    if not low < 1 < top:
        raise ArgumentError(
            "common",
            f"must lie between e^−ε and 1, not {float(common):g}; pass k/(e^ε + k − 1) for "
            "k-ary randomized response",
        )
    most = min(1 - low, top - 1)
    distance = most if apart is None else min(Fraction(up(float(apart))), most)
    crowds = [_at_most_one(low, top)]
    wider = _widened(low, top, distance)
    if wider is not None:
        crowds.append(_of_two(float(low), wider, top))
    return [min(crowds, key=lambda crowd: crowd.told)]


def _at_most_one(low: Fraction, top: Fraction) -> _Crowd:
    """Never high for both values at once (or, of likely highs, never low for both)."""
    high = (1 - low) / (top - low)
    ratio = top / low
    plain = 1 if 2 * high <= 1 else ratio
    apart = float(min(high, 1 - high))
    return _Crowd(float(low), float(low), float(ratio), apart, float(plain))


def _of_two(share: float, low: Fraction, top: Fraction) -> _Crowd:
    """High for the first value independently of the second."""
    high = float((1 - low) / (top - low))
    return _Crowd(share, float(low), float(top / low), high, independent=True)


def _widened(low: Fraction, top: Fraction, distance: Fraction) -> Fraction | None:
    """The lower end of the likelihoods, lowered until independent highs are as far
    apart as the values are; None if it would have to be halved.
    """
    good, bad = low / 2, low
    if _independent_distance(good, top) < distance:
        return None
    if _independent_distance(bad, top) >= distance:
        return bad
    for _ in range(50):
        middle = Fraction(float((good + bad) / 2))
        if _independent_distance(middle, top) >= distance:
            good = middle
        else:
            bad = middle
    return good


def _independent_distance(low: Fraction, top: Fraction) -> Fraction:
    return (1 - low) * (top - 1) / (top - low)


def _least(crowd: _Crowd, n: int, delta: float, most: float) -> float:
    """The least ε up to `most` that the crowd shows."""
    sums = _Sums(crowd, min(n, LARGEST_CROWD), delta)
    bracket = _Bracket(sums.excess, down(most * (1.0 - CLOSE)))
    if bracket.below > 0.0:
        return most
    if bracket.above <= 0.0:
        return min(LEAST, most)
    likely = gaussian_epsilon(math.sqrt(2.0 * crowd.told / n), delta)
    for near in (1.01 * likely, 0.99 * likely):
        bracket.narrow(near)
    for step in range(_STEPS):
        if bracket.is_narrow:
            break
        bracket.narrow(bracket.crossing(step))
    return min(up(bracket.high), most)


class _Bracket:
    """Two ε, and how far ln δ is above its target at the lower one and below it at the
    upper one.
    """

    def __init__(self, excess: Callable[[float], float], high: float) -> None:
        self.excess = excess
        self.low, self.high = 0.0, high
        self.below = excess(high)
        self.above = excess(0.0) if self.below <= 0.0 else math.inf

    @property
    def is_narrow(self) -> bool:
        return self.high - self.low <= CLOSE * self.high

    def narrow(self, middle: float) -> None:
        if not self.low < middle < self.high:
            return
        found = self.excess(middle)
        if found <= 0.0:
            self.high, self.below = middle, found
        else:
            self.low, self.above = middle, found

    def crossing(self, step: int) -> float:
        """A little above or below, in turns, where a parabola through both ends is
        zero; every fifth time the middle, in case that ln δ is not a parabola.
        """
        if step % 5 == 4 or not math.isfinite(self.below):
            return (self.low + self.high) / 2.0
        part = self.above / (self.above - self.below)
        square = self.low**2 + part * (self.high**2 - self.low**2)
        margin = CLOSE * self.high / 3.0
        guess = math.sqrt(square) + (margin if step % 2 else -margin)
        return min(max(guess, self.low + margin), self.high - margin)


class _Sums:
    """δ(ε) of a crowd, at most: a sum over how many of its n messages come from ω.

    A larger crowd hides better, so a bin of sizes counts as its smallest. Given the
    size, the outer sum is over how many draws are high for one value alone (if
    `independent`: for the second), the inner one over how many of these, or of all,
    are high for the first.
    """

    def __init__(self, crowd: _Crowd, n: int, delta: float) -> None:
        self.crowd = crowd
        self.target = math.log(delta)
        self.slack = 1e-10 + 1e-15 * n
        effort = -math.log(NEGLIGIBLE * delta)
        outer = crowd.high if crowd.independent else 2.0 * crowd.apart
        self._bins(n, effort, outer)
        self._windows(effort, outer)

    def _bins(self, n: int, effort: float, outer: float) -> None:
        import numpy as np

        share = self.crowd.share
        mean = 1.0 + (n - 1) * share
        reach = _reach((n - 1) * share, share, effort)
        first = max(1.0, math.floor(mean - reach))
        last = min(float(n), math.ceil(mean + reach / 2.0))
        width = 1.0 + 2.0 * _reach(mean * outer, outer, effort)
        bins = max(FEWEST_BINS, int(CELLS / width))
        step = max(1.0, math.ceil((last - first + 1.0) / bins))
        self.sizes = np.arange(first, last + 1.0, step)
        # P(1 + Bin(n − 1, share) < size), and 1 behind the last bin.
        below = _tail(n - self.sizes + 1.0, n - 1.0, 1.0 - share)
        ends = np.append(below[1:], 1.0)
        self.masses = np.maximum(ends - below, 0.0) + self.slack * ends
        self.missed = float(below[0])

    def _windows(self, effort: float, outer: float) -> None:
        import numpy as np

        sizes = self.sizes[:, None]
        reach = _reach(self.sizes[-1] * outer, outer, effort)
        first = np.maximum(np.floor(sizes * outer - reach), 0.0)
        counts = first + np.arange(2.0 * math.ceil(reach) + 2.0)
        inside = counts <= sizes
        self.counts = np.where(inside, counts, sizes)
        self.weights = np.where(inside, _mass(self.counts, sizes, outer), 0.0)
        last = self.counts[:, -1:]
        upper = np.where(last < sizes, _tail(last, sizes, outer), 0.0)
        lower = _tail(sizes - first + 1.0, sizes, 1.0 - outer)
        self.outside = outer * (self.crowd.ratio - 1.0) * (upper + lower)[:, 0]

    def excess(self, epsilon: float) -> float:
        """ln δ(ε) above the target."""
        gains = (self.weights * self._gains(math.expm1(epsilon))).sum(axis=1)
        each = self.crowd.low * (gains / self.sizes + self.outside)
        delta = self.missed + float((self.masses * each).sum())
        delta *= 1.0 + 8.0 * self.slack
        return math.log(delta) - self.target if delta > 0.0 else -math.inf

    def _gains(self, grown: float) -> Floats:
        """E[(P − e^ε·Q)₊] over ω's likelihood and `low`, for each size and count;
        `grown` is e^ε − 1.
        """
        crowd, sizes, counts = self.crowd, self.sizes[:, None], self.counts
        more = crowd.ratio - 1.0
        if crowd.independent:
            lost = grown * (more * counts + sizes)
            lost = lost + more * (counts - sizes * crowd.high)
            return self._positive(sizes, crowd.high, more, lost)
        neither = crowd.plain * (sizes - counts)
        lost = grown * (more * counts / 2.0 + counts + neither)
        return self._positive(counts, 0.5, more * (2.0 + grown), lost)

    def _positive(
        self, draws: Floats, chance: float, slope: float, lost: Floats
    ) -> Floats:
        """E[(slope·(X − E X) − lost)₊] of a binomial X, rounded up.

        Both parts of slope·(1 − p)·a·P(X = a) − lost·P(X ≥ a) are of one size, so that
        their difference keeps its digits.
        """
        import numpy as np

        first = np.clip(np.ceil(draws * chance + lost / slope), 0.0, draws + 1.0)
        peak = slope * (1.0 - chance) * first * _mass(first, draws, chance)
        tail = lost * _tail(first, draws, chance)
        rounding = self.slack * (peak + np.abs(tail))
        positive: Floats = np.maximum(peak - tail, 0.0) + rounding
        return positive


def _reach(mean: float, chance: float, effort: float) -> float:
    """Distance of a binomial variable from its mean, except for e^−effort on each side
    (Bernstein).
    """
    if chance >= 1.0:
        return 0.0
    spread = 2.0 * mean * (1.0 - chance) * effort
    return effort / 3.0 + math.sqrt(effort * effort / 9.0 + spread)


def _special() -> Any:
    try:
        from scipy import special
    except ImportError:
        raise MissingExtra("scipy", "accounting") from None
    return special


def _tail(hits: Any, draws: Any, chance: float) -> Floats:
    """P(X ≥ hits) of a binomial X."""
    import numpy as np

    some = np.clip(hits, 1.0, np.maximum(draws, 1.0))
    inner = _special().betainc(some, np.maximum(draws, 1.0) - some + 1.0, chance)
    tail: Floats = np.where(hits <= 0.0, 1.0, np.where(hits > draws, 0.0, inner))
    return tail


def _mass(hits: Any, draws: Any, chance: float) -> Floats:
    """P(X = hits) of a binomial X, by its deviance (Loader 2000): logarithms of
    factorials would lose six digits of a million draws.
    """
    import numpy as np

    if chance == 1.0:
        return np.where(hits == draws, 1.0, 0.0)
    special = _special()
    some = np.minimum(hits, draws)
    off = some - draws * chance
    with np.errstate(divide="ignore", invalid="ignore"):
        deviance = special.xlog1py(some, off / (draws * chance))
        deviance += special.xlog1py(draws - some, -off / (draws * (1.0 - chance)))
    log_mass = _rest(draws) - _rest(some) - _rest(draws - some) - deviance
    mass: Floats = np.where((hits <= draws) & (draws > 0.0), np.exp(log_mass), 0.0)
    return mass


def _rest(count: Any) -> Floats:
    """ln k! − k·ln k + k, by Stirling's series from 16 on."""
    import numpy as np

    special = _special()
    large = np.maximum(count, 16.0)
    square = large * large
    series = (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / (1260.0 * square)) / square) / large
    series = series + 0.5 * np.log(2.0 * math.pi * large)
    exact = special.gammaln(count + 1.0) - special.xlogy(count, count) + count
    rest: Floats = np.where(count < 16.0, exact, series)
    return rest
