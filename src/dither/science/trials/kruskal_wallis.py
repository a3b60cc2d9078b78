"""The Kruskal–Wallis test of several arms."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Unpack

import numpy as np

from dither.by_name import by_name
from dither.errors import ArgumentError
from dither.question import Asking
from dither.release import Around, Mapped
from dither.science.declared import note
from dither.science.trials import checks
from dither.science.trials.asking import (
    need_replace,
    people_may_change_arms,
    question_of,
)
from dither.science.trials.columns import Reals, given
from dither.science.trials.null import Law, public_draws, special
from dither.science.trials.rank_nulls import least, widened
from dither.science.trials.ranks import doubled_ranks
from dither.science.trials.result import TrialRelease
from dither.science.trials.sizes import at_most

__all__ = ["Arms", "kruskal", "lengths"]

WHAT = "Kruskal–Wallis H"
WAY_OUT = 'run test_of_tests("kruskal", …), or mannwhitneyu on two arms, without sizes'
ANY = "any arm differs"
PUBLIC = "arms are public: a replaced person stays in the same arm"
GRID = 1 << 10
"""√H is counted in steps so fine that rounding does not matter."""
DRAWS = 20_000
MOST_RANKS = 1 << 22
"""So many ranks are drawn for a null; of larger studies, normal sums."""


@by_name("kruskal(x, y, z, sizes=(50, 50, 50), epsilon=1.0)", Asking)
def kruskal(
    *groups: Any,
    sizes: Any,
    provenance: str | None = None,
    **cost: Unpack[Asking],
) -> TrialRelease:
    """Whether the outcomes of some arm tend to lie above those of another, by ranks.

    `statistic` is H, without a correction for ties. Noise is added to its root, which
    moves far less. A missing outcome is neither above nor below any other. The p-value
    is about outcomes that come in any order equally likely, with noise, by 20,000
    simulations, so it is never below 0.00005; ties and missing outcomes only make it
    larger than it need be.

    Guarantee: epsilon-differential privacy, or rho-zCDP, for one person who is
    replaced: by another in the same arm, if arms come as columns of their own, and by
    anyone, if they are columns of a dataset.
    Why: √H is the length of a vector with one number for each arm, which one person
    moves by a length of √(12·(N − n) / (n·(N + 1))) at most, n being the smallest arm
    of N people; one who changes the arm moves it at most as two of them do, in the two
    smallest arms (docs/proofs/trials.md).
    Assumes: one record for each person; sizes are public, and columns in memory are
    public arms.
    """
    special()  # what computes p-values must be there before anything is charged
    if len(groups) < 2:
        raise ArgumentError(
            "groups", "must be at least two columns; pass one for each arm"
        )
    columns = [given(f"group {at}", one) for at, one in enumerate(groups, 1)]
    question = question_of(WHAT, cost, *columns)
    need_replace(question, "sizes", WAY_OUT)
    arms = Arms(checks.sizes(sizes, len(columns)))
    declared = note(f"arms of {_listed(arms.sizes)} people", provenance)
    changing = people_may_change_arms(*columns)
    mechanism = question.additive(arms.changing if changing else arms.sensitivity)
    with question.paying(mechanism.guarantee) as paid:
        outcomes = [
            at_most(column.read(paid), size)
            for column, size in zip(columns, arms.sizes, strict=True)
        ]
        noisy = mechanism.release(arms.root(arms.sums(outcomes)))
    return TrialRelease(
        WHAT,
        arms.squared(noisy),
        (paid.source,),
        Mapped(arms.squared, Around(noisy, mechanism, integer=True)),
        notes=(declared,) if changing else (declared, PUBLIC),
        pvalue=arms.pvalue(Law.of(mechanism), noisy),
        alternative=ANY,
        limits=(0, arms.squared(arms.most)),
    )


def _listed(sizes: tuple[int, ...]) -> str:
    return ", ".join(f"{size:,}" for size in sizes)


@dataclass(frozen=True)
class Arms:
    """Public sizes of arms, and what they say about ranks."""

    sizes: tuple[int, ...]

    @property
    def people(self) -> int:
        return sum(self.sizes)

    @property
    def sensitivity(self) -> int:
        """How many steps one person who stays in their arm can move √H at most."""
        return self._moved(min(self.sizes))

    @property
    def changing(self) -> int:
        """How many steps one person can move √H who may change the arm: one who leaves
        an arm that is too full is followed by another, and one who enters it displaces
        another, so both arms can change as if each had a replacement.
        """
        first, second = sorted(self.sizes)[:2]
        return self._moved(first) + self._moved(second)

    def _moved(self, size: int) -> int:
        """GRID·2·√(N·(N − n) / n), rounded up, for a replacement in an arm of n."""
        square = 4 * GRID**2 * self.people * (self.people - size)
        return math.isqrt(-(-square // size) - 1) + 1

    @property
    def most(self) -> int:
        """The most steps that √H can have: every arm apart from all others."""
        square = sum(size * (self.people - size) ** 2 for size in self.sizes)
        return math.isqrt(GRID**2 * square) + 1

    def sums(self, outcomes: list[Reals]) -> list[int]:
        """How often each arm's outcomes lie above others, less how often below: twice
        the sum of its ranks, less what is expected.
        """
        ends = np.cumsum([one.size for one in outcomes])[:-1]
        values = np.concatenate(outcomes)
        there = ~np.isnan(values)
        scores = np.zeros(values.size, np.int64)
        scores[there] = doubled_ranks(values[there]) - (int(there.sum()) + 1)
        return [int(part.sum()) for part in np.split(scores, ends)]

    def root(self, sums: list[int]) -> int:
        """GRID·√(Σ S² / n), rounded down, in exact whole numbers."""
        shared = math.lcm(*self.sizes)
        parts = zip(sums, self.sizes, strict=True)
        square = sum(one * one * (shared // size) for one, size in parts)
        return math.isqrt(GRID**2 * square // shared)

    def squared(self, steps: Any) -> Any:
        """H for a number of steps of its root; 0 where noise made it negative."""
        held = np.maximum(steps, 0) / GRID
        found = 3 * held**2 / (self.people * (self.people + 1))
        return found if np.ndim(found) else float(found)

    def pvalue(self, law: Law, noisy: int) -> float:
        """How likely a noisy √H so large is without an effect, or less. Noise of ε = 2
        at least is counted with, which smooths the steps that ties make.
        """
        counted = widened(law, self.sensitivity / 2)
        tails = counted.survival(noisy - roots(self.sizes))
        return float((1 + tails.sum()) / (1 + tails.size))

    def critical(self, law: Law, alpha: float) -> int:
        """The least noisy √H, in steps, whose p-value is alpha or less."""
        return least(lambda steps: self.pvalue(law, steps) <= alpha)


@lru_cache(maxsize=8)
def roots(sizes: tuple[int, ...]) -> Reals:
    """Draws of √H in steps, if all orders are equally likely."""
    drawn = _orders(sizes) if DRAWS * sum(sizes) <= MOST_RANKS else _normal(sizes)
    return lengths(drawn, sizes)


def lengths(sums: Reals, sizes: tuple[int, ...]) -> Reals:
    """√H in steps, by the sums of each arm."""
    return np.asarray(GRID * np.sqrt((sums**2 / np.array(sizes)).sum(axis=1)))


def _orders(sizes: tuple[int, ...]) -> Reals:
    """Sums of arms for random orders of all people."""
    people = sum(sizes)
    scores = 2.0 * np.arange(1, people + 1) - (people + 1)
    drawn = public_draws().permuted(np.tile(scores, (DRAWS, 1)), axis=1)
    starts = np.cumsum((0, *sizes[:-1]))
    return np.asarray(np.add.reduceat(drawn, starts, axis=1))


def _normal(sizes: tuple[int, ...]) -> Reals:
    """The same with normal sums, of the same variances: each arm's own normal number,
    less its share of all of them.
    """
    people, arms = sum(sizes), np.array(sizes, np.float64)
    drawn = public_draws().normal(size=(DRAWS, arms.size)) * np.sqrt(arms)
    centred = drawn - drawn.sum(axis=1, keepdims=True) * arms / people
    return np.asarray(centred * math.sqrt(people * (people + 1) / 3))
