"""The unit that a guarantee protects, and which datasets are neighbours."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice
from typing import Any

from dither.errors import ArgumentError, UnitMismatch


class Relation(StrEnum):
    """When two datasets are neighbours: one unit was added or removed, or one unit's
    data was replaced.
    """

    ADD_REMOVE = "add/remove"
    REPLACE = "replace"


@dataclass(frozen=True)
class Unit:
    """What one individual is (a row, all rows of one patient, an edge, a node, a site)
    and how neighbours differ.

    `given` lists, in words, exact facts that are published beside all releases, such as
    "total of each state" in a census (rule R22). Only neighbours that agree on them are
    compared, so whoever is protected is protected given these facts.
    """

    name: str = "row"
    relation: Relation = Relation.ADD_REMOVE
    given: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise ArgumentError(
                "name",
                'a unit needs a name; pass what one individual is, such as "row" '
                'or "patient_id"',
            )
        try:
            object.__setattr__(self, "relation", Relation(self.relation))
        except ValueError:
            raise ArgumentError(
                "relation",
                f'must be "add/remove" or "replace", not {self.relation!r}',
            ) from None
        object.__setattr__(self, "given", _facts(self.given))
        if self.given and self.relation is not Relation.REPLACE:
            raise ArgumentError(
                "given",
                "needs neighbours that replace one unit, because one unit more or less "
                f'changes exact totals; pass Unit("{self.name}", "replace", given=…)',
            )

    def replacing(self) -> Unit:
        """The same unit where neighbours differ by replacing one."""
        return replace(self, relation=Relation.REPLACE)

    def with_facts(self, facts: Iterable[str]) -> Unit:
        """The same unit given these exact facts too."""
        return replace(self, given=(*self.given, *_facts(facts)))

    def follows_from(self, other: Unit) -> bool:
        """Whether a promise for the other unit holds for this one, at its cost or at
        that of a group of two: neighbours here that agree on more facts are neighbours
        there, and whoever is replaced goes and comes (rules R7, R22).
        """
        back = self.relation is not other.relation is Relation.REPLACE
        same = self.name == other.name and not back
        return same and set(other.given) <= set(self.given)

    def __str__(self) -> str:
        return f"one {self.name} ({self.relation}){facts_in_words(self.given)}"


def facts_in_words(given: Iterable[str]) -> str:
    """What stands behind a unit: nothing, where no exact facts are published."""
    listed = ", ".join(given)
    return f", given the exact {listed}" if listed else ""


MOST_GIVEN, LONGEST_GIVEN = 20, 100


def _facts(given: Any) -> tuple[str, ...]:
    """Facts in one form, so that two lists of the same facts are equal."""
    several = isinstance(given, Iterable) and not isinstance(given, str)
    listed = tuple(islice(given, MOST_GIVEN + 1)) if several else ()
    fine = all(isinstance(one, str) and 0 < len(one) <= LONGEST_GIVEN for one in listed)
    plain = fine and all(one.isprintable() and one == one.strip() for one in listed)
    if not several or not plain or len(listed) > MOST_GIVEN:
        raise ArgumentError(
            "given",
            f"must be a list of at most {MOST_GIVEN} strings with 1 to {LONGEST_GIVEN} "
            'printable characters each; pass for example ("total of each state",)',
        )
    return tuple(sorted(set(listed)))


ROW = Unit()


def common_unit(units: Iterable[Unit], argument: str) -> Unit:
    """The unit they all share; nothing is converted silently (rule R7)."""
    first, *others = units
    for other in others:
        if other is not first and other != first:
            raise UnitMismatch(argument, _mismatch(first, other))
    return first


def _mismatch(first: Unit, other: Unit) -> str:
    if first.name != other.name:
        return (
            f"a guarantee for {first} and one for {other} cannot be added up; compose "
            "those of each unit separately"
        )
    if first.relation is not other.relation:
        return (
            f"a guarantee for {first} and one for {other} cannot be added up; convert "
            "those under add/remove with .for_replacement() (this cannot be undone)"
        )
    return (
        f"a guarantee for {first} and one for {other} cannot be added up; call "
        ".for_facts([…]) with all facts on each of them (this cannot be undone)"
    )
