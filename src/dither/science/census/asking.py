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
from dither.privacy import Relation, Unit
from dither.question import Question
from dither.science.census.geography import Geography

__all__ = ["check_level", "fact", "invariant_levels", "question_of", "unit"]

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
    relation: str = Relation.REPLACE,
) -> Unit:
    """Whom a census protects, for the account that pays: `unit("person", ["state"])`
    compares censuses that differ in one person and agree on the total of each state.

    Invariants are declared here, before the account opens, and every release that it
    pays for repeats them. Persons and households are different units, with an account
    for each.
    """
    given = tuple(fact(one) for one in _named(invariants))
    return Unit(name, relation, given=given)  # type: ignore[arg-type]


def _named(invariants: Any) -> tuple[str, ...]:
    wrong = isinstance(invariants, str | bytes) or not isinstance(invariants, Iterable)
    found = () if wrong else tuple(invariants)
    if wrong or not all(isinstance(one, str) and one.strip() for one in found):
        raise ArgumentError(
            "invariants", 'must be a list of levels, such as invariants=["state"]'
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
            f"are exact totals by the labels of {name!r}, and these start again in "
            "other places; give it labels that name one place each, such as full ids",
        )


def question_of(
    cost: Mapping[str, Any],
    dataset: Dataset | None,
    stated: str | Unit | None,
    invariants: Iterable[str],
) -> Question:
    """A question about the unit of the dataset or the account that pays; without both,
    about the stated one. Exact totals need an account that was opened with them.
    """
    needed = tuple(fact(one) for one in invariants)
    if needed and dataset is not None and len(dataset.catalogue.private) > 1:
        raise ArgumentError(
            "invariants",
            "need a dataset of one private table: the account knows exact totals of one "
            "only, and not of several; open the table by itself",
        )
    asked = _unit(cost.get("budget"), dataset, stated, needed)
    question = Question.of("census", cost, unit=asked, dataset=dataset)
    _check_name(question.unit, stated)
    missing = [one for one in needed if one not in question.unit.given]
    if missing:
        raise ArgumentError(
            "invariants", _too_late(question.unit, missing, tuple(invariants))
        )
    return question


def _unit(
    budget: Any, dataset: Dataset | None, stated: str | Unit | None, needed: Any
) -> Unit:
    if stated is not None and not isinstance(stated, str | Unit):
        raise ArgumentError("unit", 'must be a name, such as "household"')
    terms = getattr(budget, "terms", None)
    if dataset is not None:
        return dataset.unit
    if terms is not None:
        held: Unit = terms.unit
        _check_name(held, stated)
        whole = isinstance(stated, Unit) and held.follows_from(stated)
        return stated if whole and isinstance(stated, Unit) else held
    if isinstance(stated, Unit):
        return stated
    name = PERSON if stated is None else stated
    return Unit(name, Relation.REPLACE, given=needed) if needed else Unit(name)


def _check_name(held: Unit, stated: str | Unit | None) -> None:
    wanted = stated.name if isinstance(stated, Unit) else stated
    if wanted is not None and wanted != held.name:
        raise UnitMismatch(
            "unit",
            f"is one {wanted}, and the account is for {held}; persons and households "
            f"have accounts of their own: open one with census.unit({wanted!r})",
        )
    if held.name in OTHERS:
        raise UnitMismatch(
            "budget",
            f"is an account for one {held.name}, and a census counts people or "
            f"households; open one with census.unit({PERSON!r})",
        )


def _too_late(held: Unit, missing: list[str], levels: tuple[str, ...]) -> str:
    return (
        f"come before the account: it is for {held}, and does not know the exact "
        f"{', '.join(missing)}; open one for these people with "
        f"census.unit({held.name!r}, invariants={list(levels)}), or leave invariants "
        "out and let the totals have noise"
    )
