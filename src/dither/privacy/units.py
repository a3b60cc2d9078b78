"""Whom a guarantee protects, and which datasets count as neighbours."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

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
    """

    name: str = "row"
    relation: Relation = Relation.ADD_REMOVE

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
                f'{self.relation!r} is unknown; pass "add/remove" or "replace"',
            ) from None

    def replacing(self) -> Unit:
        """The same unit where neighbours differ by replacing one."""
        return replace(self, relation=Relation.REPLACE)

    def __str__(self) -> str:
        return f"one {self.name}, {self.relation}"


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
            f"guarantees for different units ({first} and {other}) do not add "
            "up; compose each unit on its own account"
        )
    return (
        f"guarantees under different relations ({first} and {other}) do not add up; "
        "convert those under add/remove with .for_replacement() (there is no way back)"
    )
