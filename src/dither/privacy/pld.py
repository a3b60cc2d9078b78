"""Privacy loss distributions from Google's dp-accounting, imported only when one is wanted.

The grid, the tails and the truncation are all rounded towards more loss (`pessimistic_estimate`). What dp-accounting
does not bound is the rounding of its Fourier transforms, so a small part of δ is set aside for it (`ASIDE`), no δ below
`SMALLEST_DELTA` is answered, and tests compare with the exact compositions that are known. The grid is chosen by the
scale of the answer: too coarse a grid is useless for tiny ε, too fine a one explodes for little noise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from dither.errors import MissingExtra
from dither.privacy.numbers import up

SMALLEST_DELTA = 1e-9
ASIDE = 1e-4

_CELLS = 60_000
_CELLS_COMPOSED = 400_000
_CELLS_IN_ALL = 8_000_000
_TAIL = 10.0
_DIFFERENT = 128
_DIFFERENT_SAMPLED = 16


@dataclass(frozen=True)
class Dominated:
    """Mechanisms with a known dominating pair: one Gaussian, sampled Gaussians by (μ, rate), pure ones by ε."""

    mu: float
    sampled: tuple[tuple[float, float, int], ...]
    pure: tuple[tuple[float, int], ...]


def dominated(mu: float, sampled: Mapping[tuple[float, float], int], pure: Mapping[float, int]) -> Dominated:
    steps = tuple((m, rate, count) for (m, rate), count in sorted(sampled.items()))
    return Dominated(mu, steps, _few(pure))


def _few(pure: Mapping[float, int]) -> tuple[tuple[float, int], ...]:
    """The pure mechanisms by ε; of very many different ones, near ones are counted at their largest, which is sound."""
    listed = sorted(pure.items(), reverse=True)
    if len(listed) <= _DIFFERENT:
        return tuple(listed)
    close = (listed[-1][0] / listed[0][0]) ** (1.0 / _DIFFERENT)
    merged = [listed[0]]
    for epsilon, count in listed[1:]:
        largest, counted = merged[-1]
        if epsilon >= largest * close:
            merged[-1] = largest, counted + count
        else:
            merged.append((epsilon, count))
    return tuple(merged)


def available() -> bool:
    """Whether dp-accounting is installed, without importing it."""
    from importlib.util import find_spec

    return find_spec("dp_accounting") is not None


def pld_epsilon(mechanisms: Dominated, delta: float, guess: float) -> float | None:
    """ε at δ, or None where a grid fine enough for an answer near `guess` would not fit in memory."""
    interval = _interval(mechanisms, guess)
    if interval is None or delta < SMALLEST_DELTA:
        return None
    epsilon = float(_distribution(mechanisms, interval).get_epsilon_for_delta(delta * (1.0 - ASIDE)))
    return up(epsilon) if math.isfinite(epsilon) else None


def pld_delta(mechanisms: Dominated, epsilon: float, guess: float) -> float | None:
    """δ at ε, or None as above."""
    interval = _interval(mechanisms, guess)
    if interval is None:
        return None
    delta = float(_distribution(mechanisms, interval).get_delta_for_epsilon(epsilon)) * (1.0 + 2.0 * ASIDE)
    return delta if delta >= SMALLEST_DELTA else None


def _interval(mechanisms: Dominated, guess: float) -> float | None:
    """The width of a cell: the widest single loss has `_CELLS`; the answer has 500 at least, many in a short sum."""
    if not 0.0 < guess < math.inf or len(mechanisms.sampled) > _DIFFERENT_SAMPLED:
        return None
    widest = max([_widest(mechanisms.mu, 1.0), *(_widest(mu, rate) for mu, rate, _ in mechanisms.sampled)])
    composed = min(_CELLS_COMPOSED, _CELLS_IN_ALL // (len(mechanisms.pure) + 1))
    interval = max(widest / _CELLS, guess / composed)
    finest = min((epsilon for epsilon, _ in mechanisms.pure), default=math.inf)
    if len(mechanisms.pure) == 1 and finest / 2.0 > interval:
        interval = up(finest / math.floor(finest / interval))
    return interval if interval <= guess / 500.0 and interval <= finest / 4.0 else None


def _widest(mu: float, rate: float) -> float:
    largest = mu * mu / 2.0 + _TAIL * mu
    return largest if rate >= 1.0 or largest > 600.0 else math.log1p(rate * math.expm1(largest))


@lru_cache(maxsize=4)
def _distribution(mechanisms: Dominated, interval: float) -> Any:
    parts = [_gaussian(mu, rate, interval).self_compose(count) for mu, rate, count in mechanisms.sampled]
    parts += [_response(epsilon, interval).self_compose(count) for epsilon, count in mechanisms.pure]
    if mechanisms.mu:
        parts.append(_gaussian(mechanisms.mu, 1.0, interval))
    total, *others = parts
    for other in others:
        total = total.compose(other)
    return total


def _gaussian(mu: float, rate: float, interval: float) -> Any:
    return _library().from_gaussian_mechanism(
        1.0, sensitivity=up(mu), sampling_prob=rate, value_discretization_interval=interval, pessimistic_estimate=True
    )


def _response(epsilon: float, interval: float) -> Any:
    """Randomized response with its ε rounded up to the grid, so that both of its losses lie on it exactly."""
    cells = math.ceil(epsilon / interval)
    truth = 1.0 / (1.0 + math.exp(-cells * interval))
    losses = {cells: truth, -cells: 1.0 - truth}
    return _library().PrivacyLossDistribution.create_from_rounded_probability(losses, 0.0, interval)


def _library() -> Any:
    try:
        from dp_accounting.pld import privacy_loss_distribution
    except ImportError:
        raise MissingExtra("dp-accounting", "accounting") from None
    return privacy_loss_distribution
