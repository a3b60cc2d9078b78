"""The smallest charge for a declared run, computed again from dp-accounting's privacy
loss distribution of its steps.

The book cuts the losses of a run off where they are rarely exceeded and charges the
rest at one Rényi order. Here the same cut is made in a distribution that another
library composed, on another grid.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import reduce
from typing import Any

from dither.errors import LedgerError, MissingExtra

__all__ = ["declared_loss", "steps_of"]

CLOSE = 2e-3
"""Largest difference between the losses of two grids. Both are upper bounds, so neither
is the true value.
"""
ABOUT = 2e-2
"""The tolerance for δ, which changes faster than the loss that it belongs to."""
SMALL = 1e-6
"""Losses below this are within the grids' own width."""


def declared_loss(data: Mapping[str, Any]) -> float:
    """The loss that a declared run states, if it is not below what is found here."""
    stated, delta, cut = data["loss"], data["delta"], data["epsilon"]
    whole = _distribution(steps_of(data), data["order"], cut)
    if whole.get_delta_for_epsilon(cut) > delta * (1 + ABOUT) + 1e-14:
        raise LedgerError("a declared run exceeds its ε more often than its δ allows")
    found = max(_cut_loss(side, data["order"], delta) for side in _sides(whole))
    if stated < found * (1 - CLOSE) - SMALL:
        raise LedgerError("the charge costs less than its guarantee")
    return float(stated)


def steps_of(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The parts of a declared run, by their noise."""
    run = data["of"]
    return list(run["parts"]) if run["kind"] == "composed" else [run]


def _distribution(parts: list[Mapping[str, Any]], order: int, cut: float) -> Any:
    """All steps together. s steps on cells of width h add about s·α·h²/12 to losses,
    and s·h²/6 to their variance.
    """
    steps = sum(part.get("steps", 1) for part in parts)
    width = min(math.sqrt(6e-4 * cut / (steps * (order + 10))), cut / 500, 1e-4)
    width = min(width, cut / (60 * math.sqrt(steps)))
    found = [_part(part, max(width, 1e-7)) for part in parts]
    return reduce(lambda one, two: one.compose(two), found)


def _part(data: Mapping[str, Any], width: float) -> Any:
    try:
        from dp_accounting.pld import privacy_loss_distribution as losses
    except ImportError:
        raise MissingExtra("dp-accounting", "accounting") from None
    if data["kind"] not in ("gaussian", "poisson sampled"):
        raise LedgerError(f"a declared run has the unknown kind {data['kind']!r}")
    rate, steps = data.get("rate", 1.0), data.get("steps", 1)
    deviation = 1 / data["mu"] / (1 if rate < 1 else math.sqrt(steps))
    one = losses.from_gaussian_mechanism(
        deviation, sampling_prob=rate, value_discretization_interval=width
    )
    return one.self_compose(steps) if rate < 1 else one


def _sides(whole: Any) -> list[tuple[Any, Any, float]]:
    """Losses, their probabilities and the mass at infinity, for removing and for adding
    a unit. dp-accounting has no public names for them.
    """
    found = []
    for side in {id(pmf): pmf for pmf in (whole._pmf_remove, whole._pmf_add)}.values():
        dense = side.to_dense_pmf()
        places = [dense._lower_loss + i for i in range(dense.size)]
        spread = [place * dense._discretization for place in places]
        found.append((spread, dense._probs, dense._infinity_mass))
    return found


def _cut_loss(side: tuple[Any, Any, float], order: int, delta: float) -> float:
    """The loss at the order once likelihood ratios are cut off at the smallest e^L that
    is exceeded with no more than δ.
    """
    import numpy as np

    losses, masses = np.asarray(side[0]), np.maximum(np.asarray(side[1]), 0.0)
    cut = _exceeded(losses, masses, side[2], delta)
    below = losses <= cut
    logs = np.where(below, (order - 1) * losses, order * cut - losses)
    top = logs.max()
    moment = top + math.log(float(np.sum(masses * np.exp(logs - top))))
    return float(moment - order * math.log1p(-delta)) / (order - 1)


def _exceeded(losses: Any, masses: Any, endless: float, delta: float) -> float:
    import numpy as np

    low, high = 0.0, float(losses[-1])
    for _ in range(60):
        middle = (low + high) / 2
        over = losses > middle
        stick = float(np.sum(masses[over] * -np.expm1(middle - losses[over]))) + endless
        low, high = (low, middle) if stick <= delta else (middle, high)
    return high
