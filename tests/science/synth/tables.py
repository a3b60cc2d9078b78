"""A small table that several tests ask about."""

from __future__ import annotations

from typing import Any

import numpy as np

from dither.science import synth

__all__ = ["DOMAIN", "NAMES", "counts", "people"]

NAMES = ("age", "sex", "visit", "smokes")
DOMAIN = synth.Domain(
    {
        "age": synth.numbers(edges=[0, 18, 30, 45, 65, 110], whole=True),
        "sex": ["f", "m"],
        "visit": synth.dates("2020-01-01", "2020-12-31", by="month"),
        "smokes": synth.booleans(),
    },
    provenance="the form of the clinic",
)


def people(n: int = 800, seed: int = 1) -> dict[str, Any]:
    """Older people smoke more often."""
    drawn = np.random.default_rng(seed)  # allowed: test inputs, not noise
    age = drawn.integers(0, 100, n)
    return {
        "age": age,
        "sex": np.where(drawn.random(n) < 0.4, "f", "m").astype(object),
        "visit": np.datetime64("2020-01-01") + drawn.integers(0, 366, n),
        "smokes": drawn.random(n) < 0.1 + 0.5 * (age > 45),
    }


def counts(table: dict[str, Any], *names: str) -> Any:
    """The true counts, cell by cell, in the order of a marginal's rows."""
    codes = DOMAIN.code(table)
    places = [NAMES.index(name) for name in names]
    cell = np.zeros(len(codes), np.int64)
    for place in places:
        cell = cell * DOMAIN.sizes[place] + codes[:, place]
    cells = int(np.prod([DOMAIN.sizes[place] for place in places]))
    return np.bincount(cell, minlength=cells)
