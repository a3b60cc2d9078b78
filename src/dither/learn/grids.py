"""Grids of settings, and which of them a search runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

from dither.errors import ArgumentError
from dither.noise import poisson_count, truncated_negative_binomial, uniform_integers
from dither.privacy.repetition import Repetitions

__all__ = ["TIME", "drawn", "grid_of"]

MANY = 1000
TIME = (
    "the run time is not protected: it shows how many runs there were, and the "
    "guarantee assumes that nobody knows this"
)


def drawn(candidates: int, repetitions: Repetitions) -> list[int]:
    """The candidates to run: so many as the theorem wants, each at random. Anyone who
    calls it does so before anything is read, and shows neither them nor how many they
    are.
    """
    if repetitions.eta is None:
        many = poisson_count(repetitions.gamma)
    else:
        many = truncated_negative_binomial(repetitions.eta, repetitions.gamma)
    return [uniform_integers(candidates) for _ in range(many)]


def grid_of(grid: Any) -> list[dict[str, Any]]:
    """All settings of a grid, or of several."""
    parts = [grid] if isinstance(grid, Mapping) else grid
    way_out = 'pass a grid such as {"max_iter": [10, 40]}'
    if not isinstance(parts, Iterable) or isinstance(parts, str):
        raise ArgumentError("grid", f"must be a dict of lists; {way_out}")
    found: list[dict[str, Any]] = []
    for part in parts:
        if not isinstance(part, Mapping):
            raise ArgumentError("grid", f"must be a dict of lists; {way_out}")
        for name, values in part.items():
            if isinstance(values, str) or not isinstance(values, Sequence):
                raise ArgumentError("grid", f"{name!r} must be a list; {way_out}")
        found += [
            dict(zip(part, values, strict=True)) for values in product(*part.values())
        ]
    if not 1 <= len(found) <= MANY:
        raise ArgumentError(
            "grid", f"has {len(found):,} candidates; pass 1 to {MANY:,} of them"
        )
    return found
