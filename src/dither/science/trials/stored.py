"""A trial in a table of a dataset: each person's rows become one record by a stated
rule (rule R8), and columns are handed to the tests as if they were in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.dataset import Dataset
from dither.errors import ArgumentError
from dither.noise import random_words
from dither.question import Paid
from dither.science.trials.checks import chosen
from dither.science.trials.columns import Reals, label, listed, numbers

__all__ = ["KEEP", "People", "Stored"]

Places = NDArray[np.intp]

KEEP = ("one", "mean", "min", "max")


@dataclass
class People:
    """The records of a table, one for each person, read once for each charge.

    `keep` says what several rows of one person become: a random "one" of them, or the
    "mean", "min" or "max" of their numbers. Whose rows disagree about the arm has none.
    `where` names labels that a row must have to be looked at, such as the visit.
    """

    dataset: Dataset
    columns: tuple[str, ...]
    arm: str | None = None
    keep: str = KEEP[0]
    table: str | None = None
    where: Mapping[str, Any] = field(default_factory=dict)
    _held: tuple[object, Mapping[str, list[Any]]] | None = field(
        default=None, repr=False
    )

    def __post_init__(self) -> None:
        chosen("keep", self.keep, KEEP)
        assert self.dataset.catalogue  # columns in memory have none, and say so
        if self.keep != KEEP[0] and self.dataset.single:
            raise ArgumentError(
                "keep",
                "has no effect if every row of the dataset is a unit; leave it out",
            )

    def column(self, name: str, arm: Any = None) -> Stored:
        """One column of all people, or of those in one arm."""
        return Stored(self, name, arm)

    def records(self, paid: Paid) -> Mapping[str, list[Any]]:
        """The columns, one entry for each person."""
        if self._held is None or self._held[0] is not paid:
            self._held = (paid, self._fetched(paid))
        return self._held[1]

    def _fetched(self, paid: Paid) -> Mapping[str, list[Any]]:
        wanted = list(dict.fromkeys([*self.columns, *self.where]))
        rows = self.dataset.fetch(wanted, table=self.table, receipt=paid.receipt)
        held = {name: listed(rows.columns[name]) for name in wanted}
        there = self._looked_at(held, len(held[wanted[0]]))
        held = {name: list(compress(one, there)) for name, one in held.items()}
        if rows.owners is None:
            return held
        people = _people(list(compress(rows.owners, there)))
        return {name: self._reduced(one, people, name) for name, one in held.items()}

    def _looked_at(self, held: Mapping[str, list[Any]], count: int) -> list[bool]:
        """Which rows have the wanted labels."""
        there = [True] * count
        for name, wanted in self.where.items():
            same = (label(one) == label(wanted) for one in held[name])
            there = [before and now for before, now in zip(there, same, strict=True)]
        return there

    def _reduced(
        self, values: list[Any], people: Sequence[Places], name: str
    ) -> list[Any]:
        if name == self.arm:
            return _agreed(values, people)
        if self.keep == KEEP[0]:
            return [values[rows[0]] for rows in people]
        rule = RULES[self.keep]
        amounts = numbers(values)
        return [_ruled(rule, amounts[rows]) for rows in people]


RULES: dict[str, Callable[[Reals], Any]] = {
    "mean": lambda values: np.sum(values / values.size),  # no sum beyond floats
    "min": np.min,
    "max": np.max,
}


def _ruled(rule: Callable[[Reals], Any], values: Reals) -> float:
    there = values[~np.isnan(values)]
    with np.errstate(all="ignore"):
        return float(rule(there)) if there.size else float("nan")


def _people(owners: Any) -> list[Places]:
    """The rows of each person, in a random order, so that the first is a random one.
    People come in the order of their ids.
    """
    order = np.argsort(random_words(len(owners)), kind="stable")
    found: dict[Any, list[int]] = {}
    for row in order.tolist():
        found.setdefault(owners[row], []).append(row)
    return [np.array(found[one], np.intp) for one in sorted(found, key=str)]


def _agreed(arms: list[Any], people: Sequence[Places]) -> list[Any]:
    """The arm of each person; none if rows name several."""
    return [
        arms[rows[0]] if len({label(arms[row]) for row in rows}) == 1 else None
        for rows in people
    ]


@dataclass(frozen=True)
class Stored:
    """One column of people in a dataset, or of those of them in one arm."""

    people: People
    name: str
    arm: Any = None

    @property
    def dataset(self) -> Dataset:
        return self.people.dataset

    @property
    def length(self) -> int | None:
        return None

    def items(self, paid: Paid) -> list[Any]:
        records = self.people.records(paid)
        values = records[self.name]
        if self.arm is None or self.people.arm is None:
            return values
        wanted, arms = label(self.arm), records[self.people.arm]
        return [
            one for one, arm in zip(values, arms, strict=True) if label(arm) == wanted
        ]

    def read(self, paid: Paid) -> Reals:
        return numbers(self.items(paid))
