"""Losses added up: tilted masses are multiplied as Fourier transforms, and δ(ε) is read
off with their rounding added.

The tilt e^(λ·loss) is taken out again at the end. A transform's rounding is the same
everywhere, and the tilt has made the losses in question the likely ones, so what it
leaves there is a small share of δ (docs/proofs/composition.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dither.privacy.loss_grid import GridLosses, Reals
from dither.privacy.numbers import LIBM

__all__ = ["Part", "Sum", "Window", "left_out", "tilted_sum"]

TRANSFORM_ERROR = 2.0**-49
"""The share of the Euclidean norm that a transform of 2^m numbers may lose at each of
its m levels; tested.
"""

PRODUCT_ERROR = 2.0**-50
READING_ERROR = 2.0**-30
# Exponents of the tilt; raising one from below only adds mass
FLATTEST, STEEPEST = (
    -80.0,
    700.0,
)
HIGHEST = 400.0  # ln of a δ, in its own units, that is surely too large
LARGEST = 200.0  # ln of an error beyond which no answer is left
STEEPER = (1.0, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0)

Part = tuple[GridLosses, int]


class Window(NamedTuple):
    """The losses looked at: `cells` multiples of the step, from `first` on."""

    step: float
    first: int
    cells: int


class Tilted(NamedTuple):
    """Masses times e^(θ·place − log_total), wrapped round the window; `lost` bounds
    their relative rounding.
    """

    masses: Reals
    log_total: float
    lost: float


@dataclass(frozen=True)
class Sum:
    """δ(ε) of all parts together at the losses of a window, in units of e^scale.

    Between the losses i and i + 1, δ falls by `slopes[i]`·(1 − e^(ε − loss)).
    `rounding` covers the transforms, `rest` the tails, `factor` the relative errors; a
    loss may be larger than its place on the grid by `shift`.
    """

    window: Window
    scale: float
    deltas: Reals
    slopes: Reals
    rounding: Reals
    rest: float
    factor: float
    shift: float

    def delta(self, epsilon: float) -> float:
        """An upper bound on δ(ε), or infinity where the window does not reach."""
        place = (epsilon - self.shift) / self.window.step
        i = math.floor(place) - self.window.first
        if not 0 <= i < self.slopes.size:
            return math.inf
        below = (i + 1 + self.window.first - place) * self.window.step
        exact = self.deltas[i + 1] - self.slopes[i] * math.expm1(-max(below, 0.0))
        return float(exact * self.factor + self.rounding[i] + self.rest) * math.exp(
            self.scale
        )

    def epsilon(self, log_delta: float) -> float:
        """The smallest ε, rounded up, at which δ(ε) is certainly small enough; infinity
        if there is no such ε in the window.
        """
        wanted = math.exp(log_delta - self.scale) * (1.0 - READING_ERROR)
        enough = self.deltas * self.factor + self.rounding + self.rest <= wanted
        i = int(np.argmax(enough))
        if not enough[i]:
            return math.inf
        loss = (self.window.first + i) * self.window.step + self.shift
        if i == 0:
            return loss
        room = (wanted - self.rounding[i - 1] - self.rest) / self.factor - self.deltas[
            i
        ]
        return (
            loss + math.log1p(-room / self.slopes[i - 1])
            if 0.0 < room < self.slopes[i - 1]
            else loss
        )


def tilted_sum(
    window: Window, parts: Sequence[Part], tilt: float, scale: float, rest: float
) -> Sum:
    """All parts together, each repeated this number of times; `rest` is what the window
    leaves out, in units of e^scale.
    """
    theta = tilt * window.step
    tilted = [(_tilted(losses, theta, window.cells), times) for losses, times in parts]
    masses, error = _convolved(tilted, window.cells)
    lost = sum(times * part.lost for part, times in tilted) + READING_ERROR
    height = _height(window, tilted, theta, scale)
    # The cut is far above any δ in question; what lies below it comes from larger
    # losses only, and is not touched.
    untilt = np.exp(
        np.minimum(
            height - theta * (np.arange(window.cells) - window.cells // 2), HIGHEST
        )
    )
    deltas, slopes = _hockey_sticks(
        np.roll(masses, -window.first) * untilt, window.step
    )
    rounding = untilt * (
        error * min(1.0 / math.sqrt(-math.expm1(-2.0 * theta)), math.sqrt(window.cells))
    )
    shift = sum(times * part.shift for part, times in parts)
    return Sum(
        window,
        scale,
        deltas,
        slopes,
        rounding,
        rest,
        math.exp(min(lost, LARGEST)),
        shift,
    )


def left_out(window: Window, parts: Sequence[Part], tilt: float, scale: float) -> float:
    """The mass at infinite losses and above the window, in units of e^scale, by
    Chernoff's bound at several tilts.
    """
    endless = sum(times * losses.endless for losses, times in parts)
    rest = math.exp(math.log(endless) - scale) if endless else 0.0
    rest *= 1.0 + READING_ERROR
    beyond = window.first + window.cells
    if (
        sum(times * (part.first + part.masses.size - 1) for part, times in parts)
        < beyond
    ):
        return rest
    theta = tilt * window.step
    log_beyond = min(_log_beyond(parts, theta * more, beyond) for more in STEEPER)
    return rest + math.exp(min(log_beyond - scale, LARGEST))


def _tilted(losses: GridLosses, theta: float, cells: int) -> Tilted:
    slope = losses.slope(theta)
    log_total = _log_moment(losses, slope)
    factors = np.exp(np.clip(slope - log_total, FLATTEST, STEEPEST))
    masses = np.bincount(losses.places % cells, losses.masses * factors, cells).astype(
        np.float64
    )
    return Tilted(
        masses,
        log_total,
        2.0 * LIBM + PRODUCT_ERROR * (float(np.abs(slope).max()) + abs(log_total)),
    )


def _log_moment(losses: GridLosses, slope: Reals) -> float:
    """ln Σ mass·e^slope, rounded up."""
    with np.errstate(divide="ignore"):
        logs = np.log(losses.masses) + slope
    top = float(logs.max())
    rounding = 2.0**-40 + PRODUCT_ERROR * float(np.abs(slope).max())
    return top + math.log(float(np.exp(logs - top).sum())) + rounding


def _convolved(parts: Sequence[tuple[Tilted, int]], cells: int) -> tuple[Reals, float]:
    """The circular convolution of all parts, and a bound on its rounding in the
    Euclidean norm.
    """
    each = math.log2(cells) * TRANSFORM_ERROR
    spectrum = np.ones(cells // 2 + 1, np.complex128)
    log_size, steps = 0.0, 1.0
    for part, times in parts:
        spectrum *= _power(np.fft.rfft(part.masses), times)
        norm = math.sqrt(float(np.dot(part.masses, part.masses)))
        largest = max(float(part.masses.sum()), 1.0) + each * math.sqrt(cells) * norm
        log_size += times * math.log(largest) + times * PRODUCT_ERROR
        steps += times * norm
    error = 1.01 * math.exp(min(log_size, LARGEST)) * (each + PRODUCT_ERROR) * steps
    return np.maximum(np.fft.irfft(spectrum, cells), 0.0), error


def _power(values: NDArray[np.complex128], times: int) -> NDArray[np.complex128]:
    """values^times by squaring: times − 1 products, counted with repetition, each with
    its rounding.
    """
    result: NDArray[np.complex128] | None = None
    while True:
        if times & 1:
            result = values if result is None else result * values
        times >>= 1
        if not times:
            assert result is not None
            return result
        values = values * values


def _height(
    window: Window, parts: Sequence[tuple[Tilted, int]], theta: float, scale: float
) -> float:
    """The logarithm of what takes the tilt out again in the middle of the window;
    exact, because large terms cancel.
    """
    exact = sum(
        (times * Fraction(part.log_total) for part, times in parts), Fraction(0)
    )
    return float(
        exact - Fraction(theta) * (window.first + window.cells // 2) - Fraction(scale)
    )


def _hockey_sticks(masses: Reals, step: float) -> tuple[Reals, Reals]:
    """δ at every loss, and its slope below the next: only positive terms are added."""
    fall = np.exp((np.arange(masses.size) - masses.size // 2) * -step)
    slopes = np.cumsum((masses * fall)[::-1])[::-1][1:] / fall[1:]
    deltas = np.cumsum((slopes * -math.expm1(-step))[::-1])[::-1]
    return np.append(deltas, 0.0), slopes


def _log_beyond(parts: Sequence[Part], theta: float, place: int) -> float:
    logs = [times * _log_moment(part, part.slope(theta)) for part, times in parts]
    return math.fsum([*logs, -theta * place, READING_ERROR])
