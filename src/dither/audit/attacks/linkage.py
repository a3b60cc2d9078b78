"""Linkage by quasi-identifiers: how many people a few columns single out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dither.audit.attacks.attack import Attack
from dither.audit.attacks.clinic import patients
from dither.audit.attacks.columns import coded, columns_of, joint, names_of
from dither.audit.attacks.drawn import Curve, curves
from dither.audit.attacks.rates import Rate, coin, rate
from dither.audit.attacks.rebuilt import percent
from dither.errors import ArgumentError
from dither.mechanisms import Geometric
from dither.noise import uniform_integers
from dither.picture import Picture

__all__ = ["Linkage", "Uniqueness", "linkage"]

Codes = NDArray[np.intp]
CLINIC = ("sex", "born", "region", "ward", "day")
MOST_SETS = 300
"""More sets of columns of one size are not tried: the first columns are taken."""


@dataclass(frozen=True)
class Uniqueness:
    """The share of people singled out by this number of columns: on average over the
    sets of that size that were tried, and by the best of them.
    """

    count: int
    mean: float
    most: float
    best: tuple[str, ...]


@dataclass(frozen=True)
class Linkage(Attack):
    """Who is singled out by what is known of them, and what a noisy count tells."""

    _name: ClassVar[str] = "linkage"
    _not_stopped: ClassVar[str] = (
        "that an attacker who finds a person in some other list learns what is in that "
        "list. Noisy counts only have no line of a person to link it with."
    )
    people: int
    uniqueness: tuple[Uniqueness, ...]
    epsilon: float
    found: tuple[Rate, ...]

    @property
    def rates(self) -> tuple[Rate, ...]:
        return self.found

    @property
    def title(self) -> str:
        return "People singled out by a few columns"

    @property
    def sentences(self) -> tuple[str, str]:
        last, ours = self.uniqueness[-1], self.found[-1]
        return (
            "The attacker knows a few values of a person, and looks for the one line of "
            "a table without names that has them.",
            f"{percent(last.most, 1)} of {self.people:,} people are the only one with "
            f"their {', '.join(last.best)}. From a count of such people with ε = "
            f"{self.epsilon:g}, the attacker is right in {percent(ours.share, 1)} of the "
            "cases whether a person is in the table; guessing is right in 50 %, and the "
            f"guarantee allows at most {percent(ours.bound or 0, 1)}.",
        )

    @property
    def notes(self) -> tuple[str, ...]:
        lines = (
            f"{one.count} column{'s' * (one.count > 1)}: {percent(one.mean, 1)} on "
            f"average, {percent(one.most, 1)} by {', '.join(one.best)}"
            for one in self.uniqueness
        )
        return (f"Singled out by {'; '.join(lines)}.", *super().notes)

    def plot(self) -> Picture:
        """The share singled out by how many columns are known."""
        xs = [float(one.count) for one in self.uniqueness]
        ours = self.found[-1]
        lines = [
            Curve(
                "singled out by the best columns",
                xs,
                [one.most for one in self.uniqueness],
            ),
            Curve(
                "by some columns, on average", xs, [one.mean for one in self.uniqueness]
            ),
        ]
        ends = (min(xs), max(*xs, min(xs) + 1))
        shown = f"told in or out by a count with ε = {self.epsilon:g} (a coin: 0.5)"
        lines.append(Curve(shown, ends, (ours.share, ours.share), dots=False))
        names = {one: f"{one:.0f}" for one in xs}
        return curves(
            self.title,
            "columns that the attacker knows",
            "share of people",
            lines,
            names=names,
        )

    def _more(self) -> dict[str, Any]:
        listed = [
            {
                "columns": one.count,
                "mean": one.mean,
                "most": one.most,
                "best": list(one.best),
            }
            for one in self.uniqueness
        ]
        return {"people": self.people, "uniqueness": listed}


def linkage(
    table: Any = None,
    columns: Sequence[str] | None = None,
    *,
    known: Any = None,
    identity: str | None = None,
    epsilon: float = 1.0,
) -> Linkage:
    """How many people a few columns of a table single out (Sweeney 2000); without a
    table, in the bundled clinic.

    `known` is a list of people by name that the attacker holds, with the same columns;
    `identity` names a column of both that says who is who, to see which links are
    right. Without `known` the attacker knows the columns of everybody in the table.
    """
    if table is None:
        table, columns = patients(), CLINIC if columns is None else columns
    names = names_of(() if columns is None else columns, "columns")
    held = columns_of(table, names, "columns")
    codes = {name: coded(column)[0] for name, column in held.items()}
    size = len(codes[names[0]])
    curve = tuple(_uniqueness(codes, count) for count in range(1, len(names) + 1))
    together = joint(codes.values())
    alone = np.bincount(together)[together] == 1
    found = [rate("table without names", alone, 1 / size)]
    if known is not None or identity is not None:
        found.append(_linked(held, table, known, identity))
    mechanism = Geometric(sensitivity=1, epsilon=epsilon)
    found.append(_counted(size, mechanism))
    return Linkage(size, curve, mechanism.epsilon, tuple(found))


def _uniqueness(codes: Mapping[str, Codes], count: int) -> Uniqueness:
    few = math.comb(len(codes), count) <= MOST_SETS
    sets = list(combinations(codes, count)) if few else [tuple(codes)[:count]]
    shares = [_alone(joint(codes[name] for name in one)) for one in sets]
    place = int(np.argmax(shares))
    return Uniqueness(count, float(np.mean(shares)), shares[place], sets[place])


def _alone(together: Codes) -> float:
    """The share of people whose combination nobody else has."""
    return float((np.bincount(together)[together] == 1).mean())


def _linked(
    held: Mapping[str, Sequence[Any]], table: Any, known: Any, identity: Any
) -> Rate:
    """Who of a named list agrees with one line of the table, and rightly so."""
    if known is None or not isinstance(identity, str):
        raise ArgumentError(
            "identity",
            "must be a column name that is passed together with known=; pass both, such "
            "as identity='patient_id', or neither",
        )
    names = list(held)
    listed = columns_of(known, [*names, identity], "known")
    truth = columns_of(table, [identity], "identity")[identity]
    size = len(truth)
    both = joint(coded([*held[name], *listed[name]])[0] for name in names)
    lines, people = both[:size], both[size:]
    times = np.bincount(lines, minlength=int(both.max()) + 1)
    place = np.zeros(times.size, np.intp)
    place[lines] = np.arange(size)
    who = listed[identity]
    right = [
        times[code] == 1 and truth[place[code]] == who[at]
        for at, code in enumerate(people.tolist())
    ]
    return rate("table and a named list", right, 1 / size)


def _counted(people: int, mechanism: Geometric) -> Rate:
    """Whether a person is there, by the noisy count of people like them, for an
    attacker who knows the others: a coin decides who is.

    One more is more likely than none if the count minus the others is 1 or more, and
    that is right in e^ε/(1 + e^ε): all that the guarantee allows.
    """
    there = uniform_integers(2, (people,))
    says = mechanism.release(there) >= 1
    label = f"counts with ε = {mechanism.epsilon:g}: in or out"
    return rate(label, says == there, 0.5, coin(mechanism.guarantee))
