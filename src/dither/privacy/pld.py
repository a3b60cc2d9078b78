"""Numerical composition: the privacy losses of all parts on one grid, added up by
Fourier transforms.

Every figure is an upper bound with a proof (docs/proofs/composition.md): grid and tails
go towards more loss, and the rounding of the transforms is bounded by the number of
steps and added. The number of cells is limited; if a wide range of losses is needed the
cells are wider, which loses a little and costs no memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from dither.privacy.laplace_grid import laplace_losses
from dither.privacy.loss_grid import (
    fixed_size_losses,
    gaussian_losses,
    response_losses,
)
from dither.privacy.numbers import up
from dither.privacy.renyi import Curve, smallest
from dither.privacy.tilted import Part, Sum, Window, left_out, tilted_sum

if TYPE_CHECKING:
    from dither.privacy.bundle import Bundle

__all__ = ["Dominated", "dominated_by", "pld_delta", "pld_epsilon"]

SMALLEST = 2.0**-800
"""No smaller δ is looked for: masses would leave the range of floats. Closed forms
answer there.
"""

_MOST_CELLS, _FEWEST_CELLS, _CELLS_IN_ALL = 1 << 18, 1 << 14, 1 << 22
_LEFT_OUT = 20.0  # each tail may take e^−20 of δ
WIDEST, _STEEPEST = 500.0, 1200.0
_COARSE = 1e-5  # the share of ε that the width of the cells may add
DIFFERENT = 128
DIFFERENT_SAMPLED = 64

Tilts = tuple[float, float, float]
Bound = Callable[[float, float], float]


@dataclass(frozen=True)
class Dominated:
    """Mechanisms with a known dominating pair: one Gaussian, sampled Gaussians by (μ,
    rate), pure ones and Laplace noise by ε.

    `loss` is their Rényi loss together, at the `orders` that are worth trying; `floor`
    is never above it, and cheap.
    """

    mu: float
    sampled: tuple[tuple[float, float, int], ...]
    pure: tuple[tuple[float, int], ...]
    loss: Curve
    orders: tuple[float, ...]
    floor: Curve
    fixed: tuple[tuple[float, float, int], ...] = ()
    laplaces: tuple[tuple[float, int], ...] = ()

    @property
    def steps(self) -> int:
        """Number of losses that are added on the grid; pure parts of one ε enter it
        together.
        """
        on_samples = sum(count for _, _, count in (*self.sampled, *self.fixed))
        noisy = sum(count for _, count in self.laplaces)
        return 1 + on_samples + noisy + len(self.pure)

    @property
    def different(self) -> int:
        """Number of different samplings."""
        return len(self.sampled) + len(self.fixed)

    @cached_property
    def _floors(self) -> dict[float, float]:
        return {order: self.floor(order) for order in self.orders}

    @cached_property
    def _losses(self) -> dict[float, float]:
        """Losses at the orders that were asked for."""
        return {}

    def _loss(self, order: float) -> float:
        if order not in self._losses:
            self._losses[order] = self.loss(order)
        return self._losses[order]

    def exceeded(self, log_chance: float) -> float:
        """A loss that is exceeded with no more than this chance (Chernoff)."""
        found, _ = self._best(lambda tilt, moment: (moment - log_chance) / tilt)
        return found

    def at_delta(self, log_delta: float) -> tuple[float, Tilts]:
        """About the ε of a δ, and the λ that are good for finding it."""
        return self._good(
            lambda tilt, moment: (moment - _stick(tilt) - log_delta) / tilt
        )

    def at_epsilon(self, epsilon: float) -> tuple[float, Tilts]:
        """About ln of the δ of an ε, and the λ that are good for finding it."""
        return self._good(lambda tilt, moment: moment - _stick(tilt) - tilt * epsilon)

    def _best(self, bound: Bound) -> tuple[float, int]:
        """The smallest of bounds by λ and ln E[e^(λ·loss)], over all orders λ + 1, and
        its place.
        """
        return smallest(
            lambda order: _at(bound, order, self._loss(order)),
            self.orders,
            lambda order: _at(bound, order, self._floors[order]),
        )

    def _good(self, bound: Bound) -> tuple[float, Tilts]:
        best, place = self._best(bound)
        limit = best + 0.05 * abs(best)
        least = next(
            order
            for order in self.orders
            if _at(bound, order, self._floors[order]) <= limit
            and _at(bound, order, self._loss(order)) <= limit
        )
        least -= 1.0
        return best, (self.orders[place] - 1.0, least, least / 2.0)

    def spread(self, tilt: float) -> float:
        """About the standard deviation of the tilted losses, as if they were those of a
        Gaussian.
        """
        return math.sqrt(2.0 * self.loss(tilt + 1.0) / (tilt + 1.0))

    def widest(self) -> float:
        """The largest loss of a single Gaussian step that the grid has to hold,
        roughly.
        """
        mus = [self.mu, *(mu for mu, _, _ in (*self.sampled, *self.fixed))]
        return max(mu * (mu / 2.0 + 40.0) for mu in mus)

    def parts(self, step: float, log_delta: float, adding: bool) -> list[Part]:
        spill = math.exp(log_delta - _LEFT_OUT - math.log(self.steps))
        parts = [
            (gaussian_losses(mu, rate, step, spill, adding), count)
            for mu, rate, count in self.sampled
        ]
        parts += [
            (fixed_size_losses(mu, rate, step, spill), count)
            for mu, rate, count in self.fixed
        ]
        parts += [
            (laplace_losses(epsilon, step), count) for epsilon, count in self.laplaces
        ]
        parts += [
            (response_losses(epsilon, count, step, spill), 1)
            for epsilon, count in self.pure
        ]
        if self.mu:
            parts.append((gaussian_losses(self.mu, 1.0, step, spill, False), 1))
        return parts


def dominated_by(bundle: Bundle) -> Dominated:
    """Dominating pairs of all parts; the bundle has one for each."""
    return Dominated(
        bundle.mu,
        _steps(bundle.sampled),
        _few(bundle.worst),
        bundle.loss,
        bundle.orders(),
        bundle.floor,
        _steps(bundle.fixed),
        _few(bundle.laplaces),
    )


def _steps(
    counted: Mapping[tuple[float, float], int],
) -> tuple[tuple[float, float, int], ...]:
    return tuple((mu, rate, count) for (mu, rate), count in sorted(counted.items()))


def _few(pure: Mapping[float, int]) -> tuple[tuple[float, int], ...]:
    """The mechanisms by ε; of very many different ones, near ones are counted at
    their largest, which is sound.
    """
    listed = sorted(pure.items(), reverse=True)
    if len(listed) <= DIFFERENT:
        return tuple(listed)
    close = (listed[-1][0] / listed[0][0]) ** (1.0 / DIFFERENT)
    merged = [listed[0]]
    for epsilon, count in listed[1:]:
        largest, counted = merged[-1]
        if epsilon >= largest * close:
            merged[-1] = largest, counted + count
        else:
            merged.append((epsilon, count))
    return tuple(merged)


def pld_epsilon(mechanisms: Dominated, delta: float) -> float | None:
    """ε at δ, rounded up, or None if the grid cannot say."""
    if delta < SMALLEST or mechanisms.different > DIFFERENT_SAMPLED:
        return None
    log_delta = math.log(delta)
    middle, tilts = mechanisms.at_delta(log_delta)
    epsilon = _read(
        mechanisms, middle, tilts, log_delta, lambda total: total.epsilon(log_delta)
    )
    return up(max(epsilon, 0.0)) if math.isfinite(epsilon) else None


def pld_delta(mechanisms: Dominated, epsilon: float) -> float | None:
    """δ at ε, rounded up, or None if the grid cannot say."""
    if mechanisms.different > DIFFERENT_SAMPLED:
        return None
    log_delta, tilts = mechanisms.at_epsilon(epsilon)
    if not math.log(SMALLEST) <= log_delta < 0.0:
        return None
    delta = _read(
        mechanisms, epsilon, tilts, log_delta, lambda total: total.delta(epsilon)
    )
    return min(up(delta), 1.0) if math.isfinite(delta) else None


def _at(bound: Bound, order: float, loss: float) -> float:
    return bound(order - 1.0, (order - 1.0) * loss)


def _stick(tilt: float) -> float:
    """−ln of the largest e^(−λx)·(1 − e^(−x)): E[(1 − e^(ε − loss))₊] is that times
    e^(−λε)·E[e^(λ·loss)] at most.
    """
    return tilt * math.log1p(1.0 / tilt) + math.log1p(tilt)


def _read(
    mechanisms: Dominated,
    middle: float,
    tilts: Tilts,
    log_delta: float,
    answer: Callable[[Sum], float],
) -> float:
    """The best answer over the tilts, all of which hold, and the worse one of removing
    and adding a unit.
    """
    window = _window(mechanisms, middle, tilts, log_delta)
    if window is None:
        return math.inf
    steepest = _STEEPEST / (window.step * window.cells)
    worst = -math.inf
    for adding in (False, True) if mechanisms.sampled else (False,):
        parts = mechanisms.parts(window.step, log_delta, adding)
        rest = left_out(window, parts, min(tilts[0], steepest), log_delta)
        sums = (
            tilted_sum(window, parts, min(tilt, steepest), log_delta, rest)
            for tilt in tilts
        )
        worst = max(worst, min(map(answer, sums)))
    return worst


def _window(
    mechanisms: Dominated, middle: float, tilts: Tilts, log_delta: float
) -> Window | None:
    """Losses from `middle` up to what is hardly ever exceeded, and as far below, where
    the tilted ones end.
    """
    top = mechanisms.exceeded(log_delta - _LEFT_OUT)
    half = max(
        top - middle, _LEFT_OUT / tilts[1], 6.0 * mechanisms.spread(tilts[0]), top / 8.0
    )
    if (
        not 0.0 < half < WIDEST / 2.0
        or not 0.0 < middle < WIDEST
        or mechanisms.widest() > WIDEST
    ):
        return None
    cells = cells_for(mechanisms, half, middle, tilts[0])
    step = 2.0 * half / (cells - 16 - len(mechanisms.pure))
    return Window(step, math.floor((middle - half) / step), cells)


def cells_for(mechanisms: Dominated, half: float, middle: float, tilt: float) -> int:
    """Enough cells that their width adds little: s steps on cells of width h add about
    s·(λ+1)·h²/12 to ε.
    """
    step = math.sqrt(
        12.0 * _COARSE * max(middle, half / 10.0) / (mechanisms.steps * (tilt + 1.0))
    )
    wanted = min(2.0 * half / step, _CELLS_IN_ALL / (mechanisms.different + 1.0))
    return 1 << math.ceil(math.log2(min(max(wanted, _FEWEST_CELLS), _MOST_CELLS)))
