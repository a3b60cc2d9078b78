"""Comparisons of outcomes, each with each, as whole numbers. A missing outcome is
neither above nor below any other.
"""

from __future__ import annotations

import numpy as np

from dither.science.trials.columns import Reals

__all__ = ["capped", "capped_signs", "known", "signed", "wins"]


def wins(x: Reals, y: Reals) -> int:
    """How often an x lies above a y, less how often it lies below: Σ sign(xᵢ − yⱼ),
    which is 2U − n₁n₂.
    """
    first, second = known(x), np.sort(known(y))
    below = np.searchsorted(second, first, "left")
    not_above = np.searchsorted(second, first, "right")
    return int(below.sum() + not_above.sum()) - first.size * second.size


def capped(x: Reals, y: Reals, sizes: tuple[int, int]) -> int:
    """The same, if no arm has more outcomes than its size. Else the mean, rounded down,
    of the most and the least that as many outcomes of each arm can have.

    One outcome that comes or goes moves it by max(sizes) at most, also where an arm is
    full (docs/proofs/trials.md).
    """
    first, second = np.sort(known(x)), np.sort(known(y))
    few, many = sizes
    most = wins(first[-few:], second[:many])
    least = wins(first[:few], second[-many:])
    return (most + least) // 2


def signed(differences: Reals, size: int | None = None) -> int:
    """Σ sign(dᵢ)·rank(|dᵢ|), where ties share their mean rank and zeros keep theirs
    (Pratt). A missing difference is treated as 0, and so do those that are fewer than
    `size`.

    It is Σ sign(dᵢ + dⱼ) over all pairs i ≤ j, so it is whole, ties or not.
    """
    there = known(differences)
    missing = (differences.size if size is None else size) - there.size
    signs = np.sign(there).astype(np.int64)
    doubled = int(signs @ doubled_ranks(np.abs(there)))
    return doubled // 2 + missing * int(signs.sum())


def capped_signs(differences: Reals, size: int) -> int:
    """The same of differences that are not missing, if they are no more than `size`.
    Else the mean, rounded down, of the most and the least that so many can have.

    One difference that comes or goes moves it by `size` at most (docs/proofs/trials.md).
    """
    held = np.sort(known(differences))
    return (signed(held[-size:]) + signed(held[:size])) // 2


def doubled_ranks(values: Reals) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Twice the rank of each among all, which is whole where ties share the mean."""
    held = np.sort(values)
    below = np.searchsorted(held, values, "left")
    not_above = np.searchsorted(held, values, "right")
    return np.asarray(below + not_above + 1, np.int64)


def known(values: Reals) -> Reals:
    """The outcomes that are not missing."""
    return values[~np.isnan(values)]
