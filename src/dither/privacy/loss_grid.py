"""Privacy losses of single mechanisms on a grid: every mass is an upper bound, and
losses are moved outwards.

A mechanism is known by a dominating pair (P, Q). Its outputs are cut into cells whose
loss ln(P/Q) lies between two neighbouring multiples of the step, and the mass of each
cell is put on those two so that both its P-mass and its Q-mass stay what they are
("connect the dots", Doroshenko et al. 2022). That hides nothing, and its error is of
second order in the step. All sums here have positive terms only, so floats lose almost
nothing (docs/proofs/composition.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dither.privacy.numbers import LIBM
from dither.privacy.optimal import log_weight

__all__ = ["GridLosses", "fixed_size_losses", "gaussian_losses", "response_losses"]

Reals = NDArray[np.float64]

_UNIT = 2.0**-50
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
PLACES, SHARES = (_NODES + 1.0) / 2.0, _WEIGHTS / 2.0  # of the interval from 0 to 1


@dataclass(frozen=True)
class GridLosses:
    """`masses[i]` of P at the loss (first + i)·step, and a mass at infinite loss.

    Each loss stands for one that may be larger by `shift`, the rounding of the cells'
    ends.
    """

    first: int
    masses: Reals
    endless: float
    shift: float

    @property
    def places(self) -> NDArray[np.int64]:
        return self.first + np.arange(self.masses.size, dtype=np.int64)

    def slope(self, theta: float) -> Reals:
        """θ times the place of every mass."""
        return self.places.astype(np.float64) * theta


def gaussian_losses(
    mu: float, rate: float, step: float, spill: float, adding: bool
) -> GridLosses:
    """One Gaussian step on a Poisson sample: N(0, 1) against the mixture (1 − q)·N(0,
    1) + q·N(μ, 1).

    When a unit is removed, P is the mixture; when one is added, P is N(0, 1). `spill`
    bounds the mass of either tail.
    """
    reach = math.sqrt(-2.0 * math.log(spill))
    cells = _Cells.of(mu, rate, step, -reach, mu + reach)
    masses = cells.split(adding)
    first = 1 - cells.lowest - masses.size if adding else cells.lowest
    masses = masses[::-1].copy() if adding else masses
    masses[1] += spill  # the tail on the side of the small losses
    return GridLosses(first, masses, spill, cells.shift)


def fixed_size_losses(mu: float, rate: float, step: float, spill: float) -> GridLosses:
    """One Gaussian step on a sample of a fixed size, where neighbours replace a unit.

    Losses above 0 are those of a mixture against N(0, 1), losses below 0 mirror them,
    and the rest loses nothing (docs/proofs/training.md).
    """
    reach = math.sqrt(-2.0 * math.log(spill))
    cells = _Cells.of(mu, rate, step, mu / 2.0, mu + reach)
    gains, mirrored = cells.split(False), cells.split(True)
    places = cells.lowest + np.arange(gains.size)
    first = -int(places[-1]) - 1
    masses = np.zeros(2 * int(places[-1]) + 3)
    np.add.at(masses, places - first, gains)
    np.add.at(masses, -places - first, mirrored)
    tail = math.erfc(mu / math.sqrt(8.0)) / 2.0
    used = (2.0 - rate) * tail + rate * (1.0 - tail)
    masses[-first] += max(1.0 - used, 0.0) + 64.0 * LIBM
    masses[1] += spill
    return GridLosses(first, masses, spill, cells.shift)


@dataclass(frozen=True)
class _Cells:
    """The outputs y from `low` to `high`, cut where the loss is a multiple of the step.

    The loss is x(y) = ln(1 − q + q·e^(μy − μ²/2)). Cell c has losses between (lowest +
    c)·step and one step more; `cuts` separates the cells.
    """

    mu: float
    rate: float
    step: float
    low: float
    high: float
    lowest: int
    cuts: Reals

    @classmethod
    def of(cls, mu: float, rate: float, step: float, low: float, high: float) -> _Cells:
        least, most = (_loss(mu, rate, y) for y in (low, high))
        lowest, highest = math.floor(least / step), math.floor(most / step)
        losses = np.arange(lowest + 1, highest + 1).astype(np.float64) * step
        cuts = np.clip(np.maximum.accumulate(_output(mu, rate, losses)), low, high)
        return cls(mu, rate, step, low, high, lowest, cuts)

    @property
    def shift(self) -> float:
        """Largest difference between the loss at a cut and its multiple of the step."""
        return LIBM * (8.0 + 4.0 * self.mu * (self.mu + max(-self.low, self.high)))

    @property
    def rounding(self) -> float:
        """The relative error of the integrals."""
        widest = max(-self.low, self.high)
        return 16.0 * LIBM + _UNIT * (widest * widest + self.mu * (widest + self.mu))

    def split(self, adding: bool) -> Reals:
        """The masses at x = `lowest`·step and above, each cell's on its two ends; when
        a unit is added, x is minus the loss.
        """
        mass, upper = self.adding() if adding else self.removing()
        mass *= 1.0 + self.rounding
        upper *= (
            (1.0 + self.rounding)
            * (1.0 + 4.0 * self.shift / self.step)
            / -math.expm1(-self.step)
        )
        # The ends are not known well enough to divide a cell's mass
        if 4.0 * self.shift > self.step:
            upper = mass
        upper = np.minimum(upper, mass)
        masses = np.zeros(mass.size + 1)
        lower_end, upper_end = (
            (masses[1:], masses[:-1]) if adding else (masses[:-1], masses[1:])
        )
        lower_end += mass - upper
        upper_end += upper
        return masses

    def removing(self) -> tuple[Reals, Reals]:
        """∫ P and ∫ (P − e^a·Q) over each cell, a being its lower loss."""
        start, width, cell = self._pieces()
        origin = np.concatenate([[self.low], self.cuts])[cell]
        base = self._ratio(origin)
        offset = np.where(cell == 0, self._below_low(), 0.0)
        mass, above = np.zeros(start.size), np.zeros(start.size)
        for place, share in zip(PLACES, SHARES, strict=True):
            inside = (start - origin) + width * place
            weight = _density(start + width * place) * (width * share)
            gain = base * np.expm1(self.mu * inside)
            mass += weight * ((1.0 - self.rate) + base + gain)
            above += weight * (gain + offset)
        return self._sums(cell, mass), self._sums(cell, above)

    def _below_low(self) -> float:
        """e^x(low) − e^a in the first cell: the grid's lower loss a lies below that of
        its first output.
        """
        loss = _loss(self.mu, self.rate, self.low)
        excess = max(loss - self.lowest * self.step, 0.0) + self.shift
        return -math.exp(loss) * math.expm1(-excess)

    def adding(self) -> tuple[Reals, Reals]:
        """∫ P and ∫ (P − e^a·Q) over each cell with P and Q exchanged: a is minus the
        cell's upper x.
        """
        start, width, cell = self._pieces()
        origin = np.concatenate([self.cuts, [self.high]])[cell]
        scale = self._ratio(origin) / ((1.0 - self.rate) + self._ratio(origin))
        mass, above = np.zeros(start.size), np.zeros(start.size)
        for place, share in zip(PLACES, SHARES, strict=True):
            inside = (origin - start) - width * place
            weight = _density(start + width * place) * (width * share)
            mass += weight
            above -= weight * scale * np.expm1(-self.mu * inside)
        # Its upper x is not a cut: all goes outwards
        above[cell == self.cuts.size] = mass[cell == self.cuts.size]
        return self._sums(cell, mass), self._sums(cell, above)

    def _pieces(self) -> tuple[Reals, Reals, NDArray[np.intp]]:
        """Start and width of pieces so short that eight points integrate each exactly,
        and the cell each belongs to.
        """
        widest = max(-self.low, self.high)
        count = math.ceil((self.high - self.low) * (widest + self.mu + 4.0))
        edges = np.union1d(self.cuts, np.linspace(self.low, self.high, count + 1))
        start = edges[:-1]
        return start, np.diff(edges), np.searchsorted(self.cuts, start, side="right")

    def _ratio(self, y: Reals) -> Reals:
        """q·e^(μy − μ²/2)."""
        return self.rate * np.exp(self.mu * y - self.mu * self.mu / 2.0)

    def _sums(self, cell: NDArray[np.intp], parts: Reals) -> Reals:
        return np.bincount(cell, parts, self.cuts.size + 1).astype(np.float64)


def _density(y: Reals) -> Reals:
    return np.exp(-y * y / 2.0) / math.sqrt(2.0 * math.pi)


def _loss(mu: float, rate: float, y: float) -> float:
    grown = mu * y - mu * mu / 2.0
    return grown if rate >= 1.0 else math.log((1.0 - rate) + rate * math.exp(grown))


def _output(mu: float, rate: float, losses: Reals) -> Reals:
    """The y of a loss. Below −½ the subtraction is of e^x, above it of e^x − 1: each
    loses nothing there.
    """
    if rate >= 1.0:
        return (losses + mu * mu / 2.0) / mu
    small = np.minimum(losses, -0.5)
    ratio = np.where(
        losses < -0.5, np.exp(small) - (1.0 - rate), np.expm1(losses) + rate
    )
    return (np.log(np.maximum(ratio, 5e-324) / rate) + mu * mu / 2.0) / mu


def response_losses(
    epsilon: float, times: int, step: float, spill: float
) -> GridLosses:
    """`times` randomized responses together: the loss (k − 2i)·ε has the binomial
    weight of i lies.

    Why: no ε-DP mechanism loses more, and their composition is known exactly, so
    however many there are they enter the grid only once.
    """
    lies, weights = _weights(epsilon, times, spill)
    losses = (times - 2 * lies) * epsilon
    cell = np.floor(losses / step)
    inside = np.clip(losses - cell * step, 0.0, step)
    upper = np.minimum(
        weights * np.expm1(-inside) / np.expm1(-step) * (1.0 + 8.0 * LIBM), weights
    )
    first = int(cell[-1])
    places = (cell - first).astype(np.int64)
    masses: Reals = np.bincount(places, weights - upper, int(places[0]) + 2).astype(
        np.float64
    )
    masses += np.bincount(places + 1, upper, int(places[0]) + 2)
    masses[1] += spill  # the fewest truths
    return GridLosses(
        first, masses * (1.0 + 4.0 * LIBM), spill, 4.0 * _UNIT * times * epsilon
    )


def _weights(
    epsilon: float, times: int, spill: float
) -> tuple[NDArray[np.int64], Reals]:
    """The numbers of lies whose weights matter, and upper bounds of those; all others
    together weigh less than `spill`.

    Weights rise up to the most likely number and fall after it, so the first one left
    out bounds the rest.
    """
    likeliest = min(times, int((times + 1) / (1.0 + math.exp(min(epsilon, 700.0)))))
    least = math.log(spill) - math.log(times + 1.0) - 1.0
    low = _edge(epsilon, times, least, 0, likeliest)
    high = _edge(epsilon, times, least, times, likeliest)
    lies = np.arange(low, high + 1)
    ratios = np.log((times - lies[:-1]) / (lies[:-1] + 1.0))
    logs = np.concatenate([[0.0], np.cumsum(ratios - epsilon)])
    logs -= logs.max()
    rounding = (
        LIBM * (4.0 + np.abs(ratios).sum() + lies.size * epsilon)
        - _UNIT * lies.size * logs.min()
    )
    weights = np.exp(logs)
    return lies, weights / weights.sum() * (1.0 + 4.0 * rounding)


def _edge(epsilon: float, times: int, least: float, outside: int, inside: int) -> int:
    """The outermost number of lies with a logarithm of its weight above `least`, on one
    side of the most likely.
    """
    if log_weight(epsilon, times, outside) > least:
        return outside
    while abs(outside - inside) > 1:
        middle = (outside + inside) // 2
        if log_weight(epsilon, times, middle) > least:
            inside = middle
        else:
            outside = middle
    return inside
