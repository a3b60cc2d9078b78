"""Reconstruction by linear programming (Dinur & Nissim 2003): a secret column from
counts of random subsets of people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dither.audit.attacks.attack import Attack
from dither.audit.attacks.drawn import Curve, curves
from dither.audit.attacks.rates import Rate, coin, rate
from dither.audit.attacks.rebuilt import percent
from dither.errors import ArgumentError, MissingExtra
from dither.mechanisms import Geometric
from dither.noise import uniform_integers
from dither.picture import Picture
from dither.privacy.numbers import whole

__all__ = ["Subsets", "rebuilt_from", "subsets"]

Bits = NDArray[np.int64]
Reals = NDArray[np.float64]

ERRORS = (2, 10)
COSTS = (300.0, 100.0, 30.0, 10.0, 3.0, 1.0)
MOST = 1 << 20


@dataclass(frozen=True)
class Subsets(Attack):
    """How much of a secret column is rebuilt from counts of subsets, by their error.

    `bounded` are counts with an error that stays within a limit, `ours` are counts with
    noise, by what all of them cost together.
    """

    _name: ClassVar[str] = "subsets"
    _not_stopped: ClassVar[str] = (
        "that very many or very exact answers give the data away: noise of each count "
        "must grow with their number, and that is what one budget for all of them does."
    )
    people: int
    counts: int
    costs: tuple[float, ...]
    bounded: tuple[Rate, ...]
    ours: tuple[Rate, ...]

    @property
    def rates(self) -> tuple[Rate, ...]:
        return (*self.bounded, *self.ours)

    @property
    def title(self) -> str:
        return "A column rebuilt from counts of subsets"

    @property
    def sentences(self) -> tuple[str, str]:
        exact, last = self.bounded[0], self.ours[-1]
        return (
            f"The attacker knows {self.counts:,} random subsets of {self.people:,} people "
            "and how many of each have the secret, and solves for who has it.",
            f"Exact counts give {percent(exact.share)} of the secrets, and so do counts "
            f"with small errors; counts that cost ε = {self.costs[-1]:g} together give "
            f"{percent(last.share, 1)}, guessing gives 50 %, and "
            f"the guarantee allows at most {percent(last.bound or 0, 1)}.",
        )

    def plot(self) -> Picture:
        """The share rebuilt by what the counts cost together."""
        xs = [*self.costs][::-1]
        shares, bounds = (
            [one.share for one in self.ours][::-1],
            [one.bound or 0.0 for one in self.ours][::-1],
        )
        if len(xs) < 2:
            return super().plot()
        ends = (xs[0], xs[-1])
        lines = [
            Curve("counts with noise", xs, shares),
            Curve("the guarantee allows", xs, bounds),
            Curve("exact counts", ends, (self.bounded[0].share,) * 2, dots=False),
            Curve("guessing", ends, (0.5, 0.5), dots=False),
        ]
        axis = "ε of all counts together"
        return curves(self.title, axis, "secrets rebuilt", lines, log=True)

    def _more(self) -> dict[str, Any]:
        return {"people": self.people, "counts": self.counts, "costs": list(self.costs)}


def subsets(
    secret: Any = None,
    *,
    people: int = 64,
    counts: int | None = None,
    epsilon: Sequence[float] | float = COSTS,
    tables: int = 4,
) -> Subsets:
    """The reconstruction attack by linear programming (Dinur & Nissim 2003; Dwork,
    McSherry & Talwar 2007) on counts of random subsets: exact, rounded, with bounded
    errors, and with noise that costs `epsilon` for all counts together.

    `secret` is a column of 0 and 1, by default a coin for each of so many `people`; the
    bounds hold for coins. There are four counts a person unless said otherwise. Each
    kind of count is attacked on so many `tables`, with subsets of its own.
    """
    fixed = None if secret is None else _bits(secret)
    size = whole("people", people, "pass how many") if fixed is None else fixed.size
    many = whole("counts", 4 * size if counts is None else counts, "pass how many")
    often = whole("tables", tables, "pass how many tables to try")
    if size * many > MOST:
        raise ArgumentError(
            "counts", f"counts × people must be at most {MOST:,}; pass fewer counts"
        )
    costs = tuple(epsilon) if isinstance(epsilon, list | tuple) else (epsilon,)
    if not costs:
        raise ArgumentError("epsilon", "must be at least one cost, such as (1.0, 10.0)")
    kinds = [("exact counts", lambda exact: exact), ("rounded to 5", _rounded)]
    kinds += [(f"errors up to ±{one}", _bounded(one)) for one in ERRORS]
    noisy = [Geometric(sensitivity=many, epsilon=one) for one in costs]
    bounded = [
        rate(label, _rebuilt(fixed, size, many, often, shown), 0.5)
        for label, shown in kinds
    ]
    ours = [
        rate(
            f"ε = {one.epsilon:g} in total",
            _rebuilt(fixed, size, many, often, one.release),
            0.5,
            coin(one.guarantee),
        )
        for one in noisy
    ]
    return Subsets(
        size, many, tuple(one.epsilon for one in noisy), tuple(bounded), tuple(ours)
    )


def _rebuilt(
    fixed: Bits | None, size: int, counts: int, tables: int, shown: Any
) -> NDArray[np.bool_]:
    """Whether each secret is rebuilt rightly, in each table."""
    found = []
    for _ in range(tables):
        secret = uniform_integers(2, (size,)) if fixed is None else fixed
        chosen = uniform_integers(2, (counts, size))
        found.append(rebuilt_from(chosen, shown(chosen @ secret)) == secret)
    return np.concatenate(found)


def rebuilt_from(chosen: Any, answers: Any) -> Bits:
    """The secrets between 0 and 1 whose counts have the least sum of errors, rounded.

    `chosen` has a line for each count with a 1 for each person in its subset. The
    solver is HiGHS.
    """
    try:
        from scipy.optimize import linprog
        from scipy.sparse import csr_array, eye_array, hstack, vstack
    except ImportError:
        raise MissingExtra("scipy", "science") from None
    lines = csr_array(np.asarray(chosen, np.float64))
    shown = np.asarray(answers, np.float64)
    counts, people = lines.shape
    # |A x - y| is at most e, and the sum of all e is least.
    errors = eye_array(counts)
    above = hstack([lines, -errors])
    below = hstack([-lines, -errors])
    solved = linprog(
        np.concatenate([np.zeros(people), np.ones(counts)]),
        A_ub=vstack([above, below]).tocsr(),
        b_ub=np.concatenate([shown, -shown]),
        bounds=[(0, 1)] * people + [(0, None)] * counts,
        method="highs",
    )
    return np.asarray(solved.x[:people] > 0.5, np.int64)


def _rounded(exact: Bits) -> Bits:
    return (exact + 2) // 5 * 5


def _bounded(most: int) -> Any:
    def shown(exact: Bits) -> Bits:
        return exact + uniform_integers(2 * most + 1, exact.shape) - most

    return shown


def _bits(secret: Any) -> Bits:
    try:
        found = np.asarray(secret, np.float64)
    except (TypeError, ValueError):
        found = np.zeros((0, 0))
    if found.ndim != 1 or not found.size or not np.isin(found, (0, 1)).all():
        raise ArgumentError(
            "secret", "must be a column with at least one number, and only 0 and 1"
        )
    return found.astype(np.int64)
