"""A declared run charged to an account of one Rényi order: its large losses are cut off
and paid for with a δ (docs/proofs/training.md).

The privacy losses of all steps together are added up on a grid, as in `pld`. Their
hockey-stick divergences at many points, all upper bounds, span a convex curve: that of
a pair of which the run is a post-processing. Cutting its likelihood ratio off at e^L
removes δ′ = H(e^L) of the mass and leaves a finite moment of the wanted order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dither.errors import NoConversion
from dither.privacy.bundle import bundle_of
from dither.privacy.declared import Declared, parts_of
from dither.privacy.guarantees import Guarantee
from dither.privacy.loss_grid import Reals
from dither.privacy.numbers import LIBM, float_down, small_probability
from dither.privacy.pld import (
    DIFFERENT_SAMPLED,
    SMALLEST,
    WIDEST,
    Dominated,
    cells_for,
    dominated_by,
)
from dither.privacy.tilted import Window, left_out, tilted_sum

__all__ = ["Truncation", "truncated", "truncation"]

POINTS = 8000
"""The points of a curve. Chords between them lie above it by a share of their distance
squared, once and not once a step.
"""
WORTH = 0.999
"""A δ of its own is spent only where it saves more than a thousandth of the loss."""
COARSE = 1 << 14
TILTS = 6
ROUNDING = 2.0**-30


@dataclass(frozen=True)
class Side:
    """One direction: δ′ falls along the list of cuts, and `losses` are those of this
    cut or a later one.
    """

    cuts: Reals
    deltas: Reals
    losses: Reals

    def losses_at(self, deltas: Reals) -> Reals:
        places = np.searchsorted(-self.deltas, -deltas)
        return np.append(self.losses, math.inf)[places]

    def at(self, delta: float) -> tuple[float, float]:
        """The smallest loss within a δ′, and where it is cut off; infinity where no
        cut is as rare.
        """
        place = int(np.searchsorted(-self.deltas, -delta))
        if place >= self.deltas.size:
            return math.inf, math.inf
        return float(self.losses[place]), float(self.cuts[place])


@dataclass(frozen=True)
class Truncation:
    """The losses of a run at one order for every δ′, the larger of both directions."""

    run: Guarantee
    order: int
    sides: tuple[Side, ...]

    def at(self, delta: float) -> tuple[float, float]:
        """The loss beside a δ′, and the ε that is exceeded with that δ′ at most."""
        found = [side.at(delta) for side in self.sides]
        return max(loss for loss, _ in found), max(cut for _, cut in found)

    def cheapest(self, loss_cap: float, delta_cap: float) -> Declared | None:
        """The charge that takes the least part of both caps; None if none does."""
        options = np.concatenate([side.deltas for side in self.sides])
        options = options[(options > SMALLEST) & (options < 0.5)]
        losses = np.max([side.losses_at(options) for side in self.sides], axis=0)
        parts = np.maximum(losses / loss_cap, options / delta_cap)
        if not parts.size or not math.isfinite(parts.min()):
            return None
        try:
            return self.declared(float(options[np.argmin(parts)]))
        except NoConversion:
            return None

    def declared(self, delta: float) -> Declared:
        loss, cut = self.at(delta)
        if math.isinf(loss):
            raise NoConversion(
                "delta",
                f"is too small: the loss of this run at order {self.order} has no bound at "
                f"δ = {delta:g}; pass a larger delta",
            )
        if loss >= self.run.renyi(self.order) * WORTH:
            raise NoConversion(
                "delta",
                "does not lower the cost of this run; charge the run without a δ of its own",
            )
        return Declared(self.run, self.order, loss, delta, max(cut, 0.0))


def truncated(run: Guarantee, order: int, delta: float) -> Declared:
    """A declared run with the smallest known loss at an order beside a δ′."""
    wanted = small_probability("delta", delta, zero=False, rounding=float_down)
    return truncation(run, order, wanted).declared(wanted)


def truncation(
    run: Guarantee, order: int, delta: float, *, coarse: bool = False
) -> Truncation:
    """All cuts of a run that are as rare as `delta`, roughly, or less rare.

    `coarse` looks at a wider grid, which is faster; its losses are somewhat larger.
    """
    mechanisms = dominated_by(bundle_of(parts_of(run)))
    log_delta = math.log(max(delta, SMALLEST))
    window = _window(mechanisms, log_delta, coarse)
    if window is None or mechanisms.different > DIFFERENT_SAMPLED:
        raise NoConversion(
            "run",
            "the losses of this run have too wide a range to add up; add noise to its "
            "steps, or use fewer steps",
        )
    directions = (False, True) if mechanisms.sampled else (False,)
    known = [_upper(mechanisms, window, log_delta, adding) for adding in directions]
    sides = [_side(one, known[-1 - i], order) for i, one in enumerate(known)]
    return Truncation(run, order, tuple(sides))


def _window(mechanisms: Dominated, log_delta: float, coarse: bool) -> Window | None:
    """As far below 0 as above it: most of the losses, without a tilt, are about 0."""
    half = 1.1 * mechanisms.exceeded(log_delta - 24.0)
    if not 0.0 < half < WIDEST / 2.0 or mechanisms.widest() > WIDEST:
        return None
    middle, tilts = mechanisms.at_delta(log_delta)
    cells = cells_for(mechanisms, half, max(middle, half / 10.0), tilts[0])
    cells = min(cells, COARSE) if coarse else max(cells // 4, COARSE)
    step = 2.0 * half / (cells - 16)
    return Window(step, math.floor(-half / step), cells)


def _upper(
    mechanisms: Dominated, window: Window, log_delta: float, adding: bool
) -> tuple[Reals, Reals]:
    """Losses from 0 on, and upper bounds of the hockey-stick divergences there: the
    best over several tilts, all of which hold.
    """
    parts = mechanisms.parts(window.step, log_delta, adding)
    span = -min(window.first, -1)
    stride = max(1, (window.cells - span) // POINTS)
    places = np.arange(span, window.cells - 1, stride)
    best = np.ones(places.size)
    shift = 0.0
    for aim in np.linspace(math.log(0.3), log_delta, TILTS):
        tilt = mechanisms.at_delta(float(aim))[1][0]
        tilt = min(tilt, 1200.0 / (window.step * window.cells))
        rest = left_out(window, parts, tilt, float(aim))
        total = tilted_sum(window, parts, tilt, float(aim), rest)
        bound = total.deltas * total.factor + total.rounding
        found = (bound[places] + rest) * (math.exp(aim) * (1.0 + ROUNDING))
        best = np.minimum(best, np.where(np.isfinite(found), found, 1.0))
        shift = total.shift
    width = window.step * (1.0 + 2.0**-50)
    losses = np.asarray((places + window.first) * width + shift, np.float64)
    falling: Reals = np.minimum.accumulate(best)
    return losses, falling


def _side(one: tuple[Reals, Reals], other: tuple[Reals, Reals], order: int) -> Side:
    """The cuts of one direction. Below 0 its divergences follow from those of the other:
    H(P, Q; t) = 1 − t + t·H(Q, P; 1/t).
    """
    ratios, heights = _curve(one, other)
    drops = heights[:-1] - heights[1:]
    gaps = (ratios[1:] - ratios[:-1]) / ratios[1:]
    # (t_j^α − t_(j−1)^α)/(t_j − t_(j−1)), without a difference of like numbers
    with np.errstate(divide="ignore"):
        powers = -np.expm1(order * np.log1p(-gaps)) / gaps
        logs = np.log(drops) + (order - 1.0) * np.log(ratios[1:]) + np.log(powers)
    moments = np.logaddexp.accumulate(logs)
    deltas = np.minimum(heights[1:], 0.75)
    margin = ROUNDING + LIBM * order * (1.0 + np.abs(np.log(ratios[1:])))
    losses = (moments - order * np.log1p(-deltas) + margin) / (order - 1.0)
    losses = np.where(heights[1:] < 0.5, losses, math.inf)
    cuts = np.log(ratios[1:]) + ROUNDING
    fine = cuts > 0.0
    best = np.minimum.accumulate(losses[fine][::-1])[::-1]
    return Side(cuts[fine], heights[1:][fine], np.maximum(best, 1e-12))


def _curve(one: tuple[Reals, Reals], other: tuple[Reals, Reals]) -> tuple[Reals, Reals]:
    """The lower convex hull of all points: no convex curve below them is above it."""
    losses, above = one
    mirrored, beyond = other
    below = np.exp(-mirrored) * (1.0 + 8.0 * LIBM)
    lifted = 1.0 - below * (1.0 - beyond) * (1.0 - 32.0 * LIBM)
    ratios = np.concatenate([[0.0], below[::-1], np.exp(losses) * (1.0 + 8.0 * LIBM)])
    heights = np.concatenate([[1.0], np.minimum(lifted[::-1], 1.0), above])
    order = np.argsort(ratios, kind="stable")
    ratios, heights = ratios[order], np.minimum.accumulate(heights[order])
    kept = _hull(ratios.tolist(), heights.tolist())
    return ratios[kept], heights[kept]


def _hull(across: list[float], up_to: list[float]) -> list[int]:
    """The places of the points of the lower convex hull, from left to right."""
    kept: list[int] = []
    for place, (x, y) in enumerate(zip(across, up_to, strict=True)):
        if kept and x <= across[kept[-1]]:
            continue  # of two points at one place, the first is as low
        while len(kept) > 1:
            a, b = kept[-2], kept[-1]
            first = (up_to[b] - up_to[a]) * (x - across[b])
            if first < (y - up_to[b]) * (across[b] - across[a]):
                break
            kept.pop()
        kept.append(place)
    return kept
