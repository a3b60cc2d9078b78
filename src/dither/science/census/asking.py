"""Whom a census protects, and which exact totals are published beside it (rule R22).

An invariant is a count of everybody by one column's labels: "total of each state". It
does not depend on what else a release asks for, so that two releases never publish more
exact numbers than the fact says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dither.dataset import Dataset
from dither.errors import ArgumentError, UnitMismatch
from dither.privacy import ROW, Relation, Unit
from dither.question import Question
from dither.science.census.geography import Geography

__all__ = [
    "check_counted",
    "check_level",
    "fact",
    "invariant_levels",
    "question_of",
    "unit",
]

OTHERS = ("device", "edge", "location", "node", "site")
"""Units that no census counts: those of graphs, maps and devices."""
PERSON = "person"


def fact(level: str) -> str:
    """The fact that exact totals of a level are, in words."""
    return f"total of each {level}"


def unit(
    name: str = PERSON,
    invariants: Iterable[str] = (),
    *,
    relation: str | None = None,
) -> Unit:
    """Whom a census protects, for the account that pays: `unit("person", ["state"])`
    compares censuses that differ in one person and agree on the total of each state.

    Invariants are declared here, before the account opens, and every release that it
    pays for repeats them. Persons and households are different units, with an account
    for each. With invariants neighbours replace one unit; without them one comes or
    goes, unless `relation` says "replace".
    """
    given = tuple(fact(one) for one in _named(invariants))
    usual = Relation.REPLACE if given else Relation.ADD_REMOVE
    return Unit(name, usual if relation is None else relation, given=given)  # type: ignore[arg-type]


def _named(invariants: Any) -> tuple[str, ...]:
    wrong = isinstance(invariants, str | bytes) or not isinstance(invariants, Iterable)
    found = () if wrong else tuple(invariants)
    if wrong or not all(isinstance(one, str) and one.strip() for one in found):
        raise ArgumentError(
            "invariants", 'must be a list of levels, such as invariants=["state"]'
        )
    odd = next((one for one in found if "," in one or one != one.strip()), None)
    if odd is not None:
        raise ArgumentError(
            "invariants",
            f"cannot contain the level {odd!r:.60}: with a comma, or a blank at an end, "
            "its exact total could be mistaken for another one; rename the level",
        )
    return found


def invariant_levels(invariants: Any, geography: Geography) -> tuple[int, ...]:
    """The levels with exact totals, from the top."""
    named = () if invariants is None else _named(invariants)
    found = sorted({geography.place(one, "invariants") for one in named})
    if found:
        check_level(geography, found[-1])
    return tuple(found)


def check_level(geography: Geography, level: int) -> None:
    """An exact total is one of a label by itself: if labels start again in every place
    above, exact totals of places would say more than the fact does.
    """
    if not geography.unique(level):
        name = geography.levels[level]
        raise ArgumentError(
            "invariants",
            f"cannot contain {name!r}: exact totals are counted per label, and several "
            "places of this level have the same label; use labels that name one place "
            "each, such as full ids",
        )


def question_of(
    cost: Mapping[str, Any],
    dataset: Dataset | None,
    stated: str | Unit | None,
    invariants: Iterable[str],
    owner: Any = None,
) -> Question:
    """A question about the unit of the dataset or the account that pays; without both,
    about the stated one. Exact totals need an account that was opened with them.
    """
    needed = tuple(fact(one) for one in invariants)
    if needed and dataset is not None and len(dataset.catalogue.private) > 1:
        raise ArgumentError(
            "invariants",
            "need a dataset with one private table, because an account can have exact "
            "totals of one table only; open this table by itself",
        )
    asked = _unit(cost.get("budget"), dataset, stated, needed, owner)
    question = Question.of("census", cost, unit=asked, dataset=dataset)
    _check_name(question.unit, stated)
    missing = [one for one in needed if one not in question.unit.given]
    if missing:
        raise ArgumentError(
            "invariants", _too_late(question.unit, missing, tuple(invariants))
        )
    return question


def _unit(
    budget: Any,
    dataset: Dataset | None,
    stated: str | Unit | None,
    needed: tuple[str, ...],
    owner: Any,
) -> Unit:
    if stated is not None and not isinstance(stated, str | Unit):
        raise ArgumentError("unit", 'must be a name, such as "household"')
    terms = getattr(budget, "terms", None)
    if dataset is not None:
        return _held(dataset.unit, stated)
    if terms is not None:
        if stated is None and owner is None:
            _check_rows(terms.unit)
        return _held(terms.unit, stated)
    if isinstance(stated, Unit):
        return stated
    name = _owner_name(owner) if stated is None else stated
    return Unit(name, Relation.REPLACE, given=needed) if needed else Unit(name)


def _owner_name(owner: Any) -> str:
    if owner is None:
        return PERSON
    return owner if isinstance(owner, str) else "owner"


def _held(held: Unit, stated: str | Unit | None) -> Unit:
    """The unit of who pays, or the stated one if what is promised for that is enough."""
    _check_name(held, stated)
    if not isinstance(stated, Unit) or stated == held:
        return held
    if not held.follows_from(stated):
        raise UnitMismatch(
            "unit",
            f"is {stated}, but the account is for {held}; leave unit out, or open an "
            "account for that unit",
        )
    return stated


def _check_rows(held: Unit) -> None:
    """A row in memory is a person unless somebody says otherwise."""
    if held.name not in (PERSON, ROW.name) and held.name not in OTHERS:
        raise UnitMismatch(
            "unit",
            f"is missing, and the account is for one {held.name}; pass "
            f"unit={held.name!r} if each row is one {held.name}, or owner= and rows= if "
            f"one {held.name} may have several rows",
        )


def _check_name(held: Unit, stated: str | Unit | None) -> None:
    wanted = stated.name if isinstance(stated, Unit) else stated
    if wanted is not None and wanted != held.name:
        raise UnitMismatch(
            "unit",
            f"is {wanted!r}, but the account is for {held}; pay from a separate account, "
            f"opened with unit=census.unit({wanted!r})",
        )
    check_counted(held)


def check_counted(held: Unit) -> None:
    """Refuse units that are neither people nor households."""
    if held.name in OTHERS:
        raise UnitMismatch(
            "budget",
            f"is an account for one {held.name}, but a census counts people or "
            f"households; open an account with unit=census.unit({PERSON!r})",
        )


def _too_late(held: Unit, missing: list[str], levels: tuple[str, ...]) -> str:
    return (
        f"must be declared before the account opens: this account is for {held}, "
        f"without the exact {', '.join(missing)}; leave invariants out, so that the "
        "totals have noise. An account keeps the unit that it was opened with; before "
        "the first account for these people opens, declare "
        f"unit=census.unit({held.name!r}, invariants={list(levels)})"
    )
