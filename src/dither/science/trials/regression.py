"""Linear regression on noisy sums of products, with intervals of the coefficients that
know of the noise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from dither.by_name import by_name
from dither.errors import ArgumentError
from dither.question import Asking, Paid, Question
from dither.science.declared import note
from dither.science.trials import checks
from dither.science.trials.asking import question_of
from dither.science.trials.coefficients import Fit
from dither.science.trials.columns import Given, Reals, given, together
from dither.science.trials.gram import STEPS, Gram
from dither.science.trials.moments import Scale
from dither.science.trials.result import TrialRelease
from dither.science.trials.sizes import subset

__all__ = ["Regression", "linregress"]

MOST_PEOPLE = 1 << 24
MOST_COLUMNS = 8
SLOPE, INTERCEPT = "slope", "intercept"


@dataclass(frozen=True, eq=False, repr=False)
class Regression(TrialRelease):
    """Noisy coefficients: `value` and both kinds of interval hold the intercept first,
    then one slope for each column; `keys` names them.
    """

    pvalues: tuple[float, ...] = ()
    """That each coefficient is 0."""

    @property
    def intercept(self) -> float:
        return float(self.value[0])

    @property
    def slope(self) -> Any:
        """The slope, or one for each column by its name."""
        assert self.keys is not None
        found = dict(zip(self.keys[1:], self.value[1:].tolist(), strict=True))
        return found[SLOPE] if self.keys[1:] == (SLOPE,) else found

    def _lines(self) -> list[str]:
        low, high = (np.asarray(end) for end in self.confidence_interval())
        rows = zip(self.keys or (), self.value, low, high, self.pvalues, strict=True)
        head = f"{self.what} (95 % intervals for the population)"
        return [
            head,
            *(
                f"  {name}: {value:.4g} ({a:.4g} to {b:.4g}), p = {p:.2g}"
                for name, value, a, b, p in rows
            ),
        ]


@by_name(
    "linregress(x, y, x_bounds=(0, 10), y_bounds=(0, 50), n=1000, epsilon=1)", Asking
)
def linregress(
    x: Any,
    y: Any,
    *,
    x_bounds: Any,
    y_bounds: tuple[float, float],
    n: int | None = None,
    provenance: str | None = None,
    **cost: Unpack[Asking],
) -> Regression:
    """The straight line that fits y by x best in least squares, values clamped to
    public bounds.

    `x` is a column, or several by their names: {"age": ages, "dose": doses}, with
    `x_bounds` by the same names. `n` is the number of people where that is public; else
    leave it out. A person who lacks any of the values is left
    out, and how many are there is counted, as part of the same cost.

    `confidence_interval()` is about the population: the coefficients of the best
    straight line there; residuals are taken to have one variance, as scipy takes them.
    `interval()` is about these people. Where noise hides how x varies, an interval
    reaches to infinity.

    Guarantee: the stated cost, for one person's record.
    Why: of d variables between -1 and 1, one person moves the sums, and products of the
    weights used here, by at most 9d/4 in L1 and √(9d/2) in L2 (docs/proofs/trials.md).
    Assumes: bounds and n are public, not read off the data; one record for each person.
    """
    asked = Asked.of(x, y, x_bounds, y_bounds, n, cost)
    declared = asked.notes(provenance)
    with asked.question.paying(asked.plan.mechanism.guarantee) as paid:
        fit = asked.fit(paid)
    return Regression(
        "linear regression",
        fit.value,
        (paid.source,),
        fit.here,
        keys=(INTERCEPT, *asked.names),
        notes=declared,
        pvalue=fit.pvalue(1) if len(asked.names) == 1 else None,
        population=fit,
        estimand="coefficients of the best straight line",
        pvalues=tuple(fit.pvalue(place) for place in range(len(asked.names) + 1)),
    )


@dataclass(frozen=True)
class Asked:
    """A regression, settled by what is public."""

    question: Question
    names: tuple[str, ...]
    columns: tuple[Given, ...]
    scales: tuple[Scale, ...]
    size: int | None

    @classmethod
    def of(
        cls, x: Any, y: Any, x_bounds: Any, y_bounds: Any, n: Any, cost: Any
    ) -> Asked:
        names, data, limits = _named(x, x_bounds)
        columns = (*(given("x", one) for one in data), given("y", y))
        scales = [Scale(*checks.bounds(one, "x_bounds"), STEPS) for one in limits]
        scales.append(Scale(*checks.bounds(y_bounds, "y_bounds"), STEPS))
        size = None if n is None else checks.size(n, "n")
        question = question_of("linear regression", cost, *columns)
        _check_size(question, size)
        together(*columns)
        asked = cls(question, names, columns, tuple(scales), size)
        _ = asked.plan.mechanism
        return asked

    @cached_property
    def plan(self) -> Gram:
        return Gram(self.question, len(self.columns))

    def fit(self, paid: Paid) -> Fit:
        """The noisy fit."""
        values = _matched([column.read(paid) for column in self.columns], self.size)
        codes, there = zip(
            *(s.codes(v) for s, v in zip(self.scales, values, strict=True)),
            strict=True,
        )
        exact = self.plan.vector(np.stack(codes, axis=1), np.logical_and.reduce(there))
        noisy = self.plan.mechanism.release(exact)
        most = math.inf if self.size is None else float(self.size)
        return Fit(self.plan.read(noisy, most), self.scales)

    def notes(self, provenance: str | None) -> tuple[str, ...]:
        named = ("x",) if self.names == (SLOPE,) else self.names
        limits = ", ".join(
            f"{name} {scale.low:g} to {scale.high:g}"
            for name, scale in zip((*named, "y"), self.scales, strict=True)
        )
        people = "" if self.size is None else f", {self.size:,} people"
        return (
            note(f"bounds of {limits}{people}", provenance),
            "values are clamped to their bounds; people with a missing value are left out",
        )


def _named(x: Any, bounds: Any) -> tuple[tuple[str, ...], list[Any], list[Any]]:
    """Names, columns and bounds of what y is explained by."""
    if not isinstance(x, Mapping):
        return (SLOPE,), [x], [bounds]
    names = tuple(x)
    if not 1 <= len(names) <= MOST_COLUMNS or not all(
        isinstance(name, str) and name not in ("", INTERCEPT) for name in names
    ):
        raise ArgumentError(
            "x",
            f"must have 1 to {MOST_COLUMNS} columns with non-empty names other than "
            f"{INTERCEPT!r}; rename or leave out the others",
        )
    if not isinstance(bounds, Mapping) or set(bounds) != set(names):
        raise ArgumentError(
            "x_bounds",
            'must have bounds for each column of x; pass one such as {"age": (0, 110)}',
        )
    return names, list(x.values()), [bounds[name] for name in names]


def _check_size(question: Question, size: int | None) -> None:
    if not question.replacing and size is not None:
        raise ArgumentError(
            "n",
            "is private if neighbours add or remove a person; leave it out, and a part "
            "of the cost counts the people",
        )
    if size is not None and size > MOST_PEOPLE:
        raise ArgumentError(
            "n", f"must be at most {MOST_PEOPLE:,} people; take a sample"
        )


def _matched(columns: list[Reals], size: int | None) -> NDArray[np.float64]:
    """The columns with exactly `size` people, if that is public; never more than sums of
    products have room for.
    """
    count = max(len(column) for column in columns)
    rows = np.full((len(columns), count), np.nan)
    for row, column in zip(rows, columns, strict=True):
        row[: len(column)] = column
    most = MOST_PEOPLE if size is None else size
    if count > most:
        return rows[:, subset(count, most)]
    if size is None:
        return rows
    return np.hstack([rows, np.full((len(columns), size - count), np.nan)])
