"""What a synthetic table will measure, and with which noise: made from public facts
alone, before anything is charged.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dither.cost import Cost
from dither.errors import ArgumentError
from dither.ledger.terms import Accounting
from dither.mechanisms import Additive, Exponential, PermuteAndFlip
from dither.mechanisms.sums import noise_variance
from dither.privacy import Composed, Guarantee, ZeroConcentratedDP
from dither.privacy.numbers import at_most, float_down, whole
from dither.question import Question
from dither.science.synth.forest import Edge, Forest
from dither.science.synth.limits import check_sizes
from dither.science.synth.measuring import moved_by
from dither.science.synth.selecting import Chooser, shifted_by

__all__ = ["Plan", "plan"]

SHARES = (0.35, 0.05, 0.6)
"""Of the cost: for counts of columns, for choosing edges, for counts of pairs."""
KNOWN = (0.4, 0.6)
"""Shares of the cost if there is nothing to choose."""


@dataclass(frozen=True)
class Plan:
    """The mechanisms of a synthetic table: `ones` for the counts of all `measured`
    columns as one vector, `chooser` for each of `choices` edges, and `twos` for the
    counts of all edges as one vector.

    Guarantee: `guarantee`, for all steps together, which is what is charged.
    Why: adaptive composition; `parts` lists what each step costs (docs/proofs/synth.md).
    Assumes: no unit has more than `rows` rows in the table.
    """

    question: Question
    guarantee: Guarantee
    sizes: tuple[int, ...]
    measured: tuple[int, ...]
    forest: Forest
    rows: int
    ones: Additive
    chooser: Chooser | None
    choices: int
    twos: Additive | None

    @property
    def parts(self) -> Composed:
        """What the steps promise, one by one."""
        found: list[Guarantee] = [self.ones.guarantee]
        if self.chooser is not None:
            found += [self.chooser.guarantee] * self.choices
        if self.twos is not None:
            found.append(self.twos.guarantee)
        return Composed(found)


def plan(
    sizes: Sequence[int],
    pairs: Sequence[tuple[int, int]],
    question: Question,
    rows: int = 1,
) -> Plan:
    """What a question will do to a table with columns of these sizes.

    `pairs` are edges that the model has in any case, as places of columns. A column of
    one code needs no measuring, and pairs with it are dropped.
    """
    wanted = checked_sizes(sizes)
    most = whole("rows", rows, "pass how many rows one unit has at most, such as 1")
    forest = _forest(wanted, pairs)
    plans = [_plan(question, way, wanted, forest, most) for way in _settled(question)]
    return min(plans, key=lambda one: noise_variance(one.twos or one.ones))


def _plan(
    question: Question,
    asked: Question,
    sizes: tuple[int, ...],
    forest: Forest,
    rows: int,
) -> Plan:
    measured = tuple(i for i, size in enumerate(sizes) if size > 1) or (0,)
    edges = len(measured) - 1
    if edges == 1:
        # There is only one tree.
        forest = Forest(len(sizes), ((measured[0], measured[1]),))
    choices = edges - len(forest.edges)
    first, choosing, second = _parts(asked, edges, choices)
    return Plan(
        question=question,
        guarantee=asked.guarantee,
        sizes=sizes,
        measured=measured,
        forest=forest,
        rows=rows,
        ones=first.additive(*moved_by(asked, rows, len(measured))),
        chooser=_chooser(choosing, rows, choices) if choosing else None,
        choices=choices,
        twos=second.additive(*moved_by(asked, rows, edges)) if second else None,
    )


def _parts(
    asked: Question, edges: int, choices: int
) -> tuple[Question, Question | None, Question | None]:
    if not edges:
        return asked, None, None
    if not choices:
        first, second = asked.parts(*KNOWN)
        return first, None, second
    first, choosing, second = asked.parts(*SHARES)
    return first, choosing, second


def _chooser(asked: Question, rows: int, choices: int) -> Chooser:
    """One of several equal choices: of ρ, ε²/8 each for a bounded range; of ε, equal
    parts.
    """
    moved = shifted_by(asked, rows)
    if asked.rho is None:
        each = float_down(at_most(asked.epsilon or 0.0) / choices)
        return PermuteAndFlip(sensitivity=moved, epsilon=each, unit=asked.unit)
    square = math.floor(8 * at_most(asked.rho) / choices * (1 << 256))
    each = float_down(Fraction(math.isqrt(square), 1 << 128))
    return Exponential(sensitivity=moved, epsilon=each, unit=asked.unit)


def _settled(question: Question) -> list[Question]:
    """The question with a cost in ρ or in ε. If the account has a δ and takes ρ, ε may
    be either.
    """
    if question.rho is not None:
        return [question]
    plain = replace(question, cost=Cost(epsilon=question.epsilon))
    terms = getattr(question.account, "terms", None)
    if not question.delta or terms is None or terms.accounting is Accounting.GDP:
        return [plain]
    return [replace(question, cost=Cost(rho=_rho(question))), plain]


def _rho(question: Question) -> float:
    """The ρ that a share of the account buys, or that promises ε at its δ."""
    if question.cost.share is not None:
        mu = Fraction(question.mu)
        return float_down(mu * mu / 2)
    wanted = question.epsilon or 0.0
    low, high = 0.0, wanted
    for _ in range(60):
        middle = (low + high) / 2
        fits = middle > 0 and _epsilon(middle, question.delta) <= wanted
        low, high = (middle, high) if fits else (low, middle)
    return low


def _epsilon(rho: float, delta: float) -> float:
    return ZeroConcentratedDP(rho).epsilon_at(delta)


def checked_sizes(sizes: Sequence[int]) -> tuple[int, ...]:
    """Sizes of columns whose tables fit memory."""
    found = tuple(int(size) for size in sizes)
    check_sizes([f"column {place}" for place in range(len(found))], found)
    if min(found) < 1:
        raise ArgumentError(
            "domain", "must have at least one value in each column; declare categories"
        )
    return found


def _forest(sizes: tuple[int, ...], pairs: Sequence[tuple[int, int]]) -> Forest:
    forest = Forest(len(sizes))
    whole_forest = forest
    for pair in pairs:
        edge = _edge(pair, len(sizes))
        if edge in whole_forest.edges:
            raise ArgumentError("pairs", "must name each pair once; drop duplicates")
        label = whole_forest.components()
        if label[edge[0]] == label[edge[1]]:
            raise ArgumentError(
                "pairs",
                "must form a tree, but other pairs already connect two of these columns, "
                "which closes a cycle; drop one pair of the cycle",
            )
        whole_forest = whole_forest.joined(edge)
        if min(sizes[edge[0]], sizes[edge[1]]) > 1:
            forest = forest.joined(edge)
    return forest


def _edge(pair: Any, columns: int) -> Edge:
    places = list(pair) if isinstance(pair, tuple | list) else []
    if len(places) != 2 or not all(isinstance(one, int) for one in places):
        raise ArgumentError("pairs", 'must be pairs, such as [("age", "smokes")]')
    first, second = sorted(places)
    if first == second:
        raise ArgumentError(
            "pairs",
            "must name two different columns each; remove pairs of a column with itself",
        )
    if not 0 <= first < second < columns:
        raise ArgumentError(
            "pairs", f"must be places of columns, from 0 to {columns - 1}"
        )
    return first, second
