"""The ε of votes on the data at hand, as a display that has noise and a cost of its own
(rules R3, R4).

Votes that agree reveal less than the charge says. How much less depends on the votes, so
it is private. The noise has the scale of a smooth sensitivity, which is private too:
there is no interval.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.learn.pate.bounds import Levels, confident_table, gnmax_table
from dither.learn.pate.voting import ConfidentGNMax, Gaussians, GNMax, Voting
from dither.learn.units import terms_of
from dither.ledger.terms import Accounting
from dither.noise import rounded_gaussian
from dither.privacy import Guarantee, RenyiDP, Unit
from dither.privacy.numbers import fraction, positive, up

__all__ = ["Display", "smooth_loss", "smooth_sensitivity"]

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]
States = tuple[Integers, Integers]
MARGIN = 2.0**-38
"""Largest error of floats in ln(scale), with room to spare."""
WIDEST = 55
FINEST, COARSEST = 40, 26
"""Bits of a table's entries. Bounds are rounded up by more than floats get wrong."""
SLACK = 10
LARGEST_TABLE, LONGEST_LINE = 2000, 50_000
"""Teachers whose largest count and lead fit a table, and whose lead fits a line."""
USUAL, PART = 20.0, 0.2


@dataclass(frozen=True, kw_only=True)
class Display:
    """Shows the ε of the votes on the data at hand, with noise. The charge stays what it
    is: only accounts that were told beforehand could count by it, and none is.

    `sigma` is the noise over the smooth sensitivity, `beta` how slowly that changes from
    neighbour to neighbour, and `order` the Rényi order at which votes are looked at; all
    are public. It says something only where most leads are many times the noise of the
    votes.

    Guarantee: `smooth_loss` at every order below 1 / (2·beta), for one display.
    Why: two Gaussians whose means differ by the smaller smooth sensitivity at most, and
    whose deviations differ by a factor of e^β at most (docs/proofs/pate.md).
    Assumes: one unit changes the votes of one teacher at most.
    """

    sigma: float = 20.0
    beta: float | None = None
    order: float = USUAL

    def __post_init__(self) -> None:
        way_out = "pass the noise in units of the smooth sensitivity, such as 20"
        object.__setattr__(self, "sigma", positive("sigma", self.sigma, way_out))
        if not 1e-3 <= self.sigma <= 1e6:
            raise ArgumentError("sigma", f"must lie between 0.001 and 1e6; {way_out}")
        order = float(fraction("order", self.order, "pass an order such as 20"))
        if not 1.01 <= order <= 1e4:
            raise ArgumentError(
                "order", "must lie between 1.01 and 10,000; pass an order such as 20"
            )
        object.__setattr__(self, "order", order)
        if self.beta is not None:
            beta = positive("beta", self.beta, "pass a small number such as 0.01")
            if not 1e-5 <= beta <= 0.2:
                raise ArgumentError(
                    "beta", "must lie between 1e-5 and 0.2; pass a number such as 0.01"
                )
            object.__setattr__(self, "beta", beta)

    @property
    def _beta(self) -> float:
        return PART / USUAL if self.beta is None else self.beta

    def settled(
        self, voting: Voting, account: Any, teachers: int, queries: int
    ) -> Display:
        """With all that is left open, or a refusal."""
        if not isinstance(voting, Gaussians):
            _refuse("display", "needs votes with Gaussian noise; pass voting=GNMax()")
        most = LARGEST_TABLE if isinstance(voting, ConfidentGNMax) else LONGEST_LINE
        if teachers > most:
            _refuse(
                "display",
                f"is limited to {most:,} teachers with this voting; pass fewer "
                "teachers, or leave display out",
            )
        if self._bits(queries) < COARSEST:
            _refuse(
                "sigma",
                f"sigma of the display is too large for {queries:,} queries; pass a "
                "smaller sigma",
            )
        terms = terms_of(account)
        if terms is None:
            return replace(self, beta=self._beta)
        if terms.accounting is not Accounting.RENYI:
            _refuse(
                "display",
                f"has a Rényi loss, which {terms.accounting} accounting cannot charge; "
                "open an account with accounting='renyi', or leave display out",
            )
        usual = PART / max(USUAL, terms.order)
        found = replace(self, beta=usual if self.beta is None else self.beta)
        if 2 * terms.order * found._beta >= 1:
            _refuse(
                "beta",
                f"must be below {0.5 / terms.order:.3g}, because the account counts "
                f"losses at order {terms.order}",
            )
        return found

    def guarantee(self, unit: Unit) -> RenyiDP:
        """What one display promises."""
        orders = [1.5, *range(2, min(65, math.ceil(0.5 / self._beta)))]
        found = {one: smooth_loss(one, self._beta, self.sigma) for one in orders}
        return RenyiDP(found, unit=unit)

    def table(self, voting: Voting, levels: Levels) -> Reals:
        """A bound on what one query reveals, by its votes: a line for each largest count
        (one line if it does not matter), a column for each level.
        """
        answer = gnmax_table(levels, self.order)
        if isinstance(voting, GNMax):
            return answer[None, :]
        assert isinstance(voting, ConfidentGNMax)
        assert voting.sigma_threshold is not None
        rest = voting.threshold, voting.sigma_threshold, self.order
        return confident_table(answer, levels.teachers, *rest)

    def release(
        self,
        voting: Voting,
        counts: Integers,
        teachers: int,
        votes: Guarantee,
        delta: float,
    ) -> float:
        """The noisy ε of the votes at a δ; never above that of what they promise."""
        assert isinstance(voting, GNMax | ConfidentGNMax)
        assert voting.sigma is not None
        queries, classes = counts.shape
        levels = Levels.of(teachers, voting.sigma, classes)
        table, bits = self.table(voting, levels), self._bits(queries)
        step = float(table.max()) * 2.0**-bits
        whole: Integers = np.ceil(table / step).astype(np.int64) + (1 << SLACK)
        states = _states(counts, levels, len(table))
        smooth = smooth_sensitivity(whole, states, self._beta, teachers, levels.reach)
        # Never so small that its noise is drawn in another way.
        scale = max(smooth, 2.0 ** (bits - 18)) * self.sigma * (1 + 2.0**-40)
        noisy = int(whole[states].sum()) + rounded_gaussian(scale)
        shown = RenyiDP({self.order: max(noisy, 1) * step}).epsilon_at(delta)
        return min(shown, votes.epsilon_at(delta))

    def _bits(self, queries: int) -> int:
        return min(FINEST, math.floor(WIDEST - math.log2(self.sigma * queries + 1)))


def smooth_loss(order: float, beta: float, sigma: float) -> float:
    """The Rényi loss of Gaussian noise whose standard deviation is σ times a β-smooth
    sensitivity, rounded up.

    Why: with standard deviations of ratio e^t the divergence of two Gaussians has a
    closed form; both of its parts are largest at t = ±β (docs/proofs/pate.md).
    """
    if not 1 < order < 0.5 / beta:
        raise ArgumentError(
            "order", "must lie between 1 and 1 / (2·beta); pass a smaller order"
        )
    found = []
    for t in (-beta, beta):
        ratio = math.exp(2 * t)
        mixed = order * ratio + 1 - order
        moved = order * min(1.0, ratio) / (2 * sigma**2 * (mixed if t < 0 else 1.0))
        wider = t + (2 * t - math.log(mixed)) / (2 * (order - 1))
        found.append(moved + wider)
    return up(max(found) * (1 + 2.0**-40) + 2.0**-40)


def smooth_sensitivity(
    table: Integers, states: States, beta: float, teachers: int, reach: int
) -> float:
    """The β-smooth sensitivity of the sum of entries at `states`, if one unit moves each
    state by 1 line and `reach` columns at most.

    Guarantee: at most e^β times that of any neighbour, and at least as far as the sum
    moves between both.
    Why: Nissim, Raskhodnikova & Smith 2007: the local sensitivity at distance d is
    bounded by the sum over queries of the most that an entry within d steps moves.
    """
    weights = np.exp(-(beta - MARGIN) * np.arange(teachers + 1))
    totals = [int(one[states].sum()) for one in _moves(table, teachers, reach)]
    return float((weights * np.array(totals, np.float64)).max()) * (1 + 2.0**-45)


def _moves(table: Integers, teachers: int, reach: int) -> Iterator[Integers]:
    """Largest change of an entry by one step, for entries within 0, 1, … steps."""
    above, below = _widened(table, reach), -_widened(-table, reach)
    moved = np.maximum(above - table, table - below)
    for _ in range(teachers + 1):
        yield moved
        moved = _widened(moved, reach)


def _widened(table: Integers, reach: int) -> Integers:
    """The largest entry within one line and `reach` columns."""
    found = table.copy()
    np.maximum(found[1:], table[:-1], out=found[1:])
    np.maximum(found[:-1], table[1:], out=found[:-1])
    within = 0
    while within < reach:
        step = min(2 * within + 1, reach - within)
        near = found.copy()
        np.maximum(found[:, step:], near[:, :-step], out=found[:, step:])
        np.maximum(found[:, :-step], near[:, step:], out=found[:, :-step])
        within += step
    return found


def _states(counts: Integers, levels: Levels, lines: int) -> States:
    """The line and the column of each query."""
    most = counts.max(axis=1)
    return np.clip(most, 0, lines - 1), levels.columns(counts)


def _refuse(argument: str, words: str) -> NoReturn:
    raise ArgumentError(argument, words)
