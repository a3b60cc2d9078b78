"""The unit that a synthetic table protects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dither.errors import ArgumentError
from dither.privacy import ROW, Unit
from dither.question import Question
from dither.science.synth.reading import Source
from dither.text import clean

__all__ = ["question_of"]

HOW = (
    "pass owner= (a column or ids) and rows= (how many rows per owner are used at most)"
)


def question_of(source: Source, cost: Mapping[str, Any], stated: Any) -> Question:
    """A question about the stated unit, or about the one that the account and the
    source agree on.
    """
    name = _name(stated)
    held = _held(cost.get("budget"))
    if source.dataset is not None:
        _check_dataset(source, name)
    elif not source.owned:
        _check_rows(name, held)
    else:
        _check_owner(source, name, held)
    unit = _unit(source, stated, name, held, cost.get("budget"))
    return Question.of("synthetic table", cost, unit=unit, dataset=source.dataset)


def _name(stated: Any) -> str | None:
    """The unit's name, where one is stated."""
    if stated is None:
        return None
    if isinstance(stated, Unit):
        return stated.name
    if not isinstance(stated, str) or not stated.strip():
        raise ArgumentError("unit", 'must be a name, such as "patient"')
    return stated


def _held(budget: Any) -> Unit | None:
    """The unit of the account that pays, if it has one."""
    terms = getattr(budget, "terms", None)
    return None if terms is None else terms.unit


def _check_dataset(source: Source, name: str | None) -> None:
    assert source.dataset is not None
    own = source.dataset.unit.name
    if name is not None and name != own:
        raise ArgumentError(
            "unit", f"must be {own!r}, as in the dataset; leave unit out"
        )


def _check_rows(name: str | None, held: Unit | None) -> None:
    """Without ids, every row is a unit of its own."""
    wanted = name if name is not None else None if held is None else held.name
    if wanted not in (None, ROW.name):
        raise ArgumentError(
            "owner",
            f"must be declared, because one {clean(str(wanted))} may have several rows; "
            f"{HOW}",
        )


def _check_owner(source: Source, name: str | None, held: Unit | None) -> None:
    if held is None or held.name == ROW.name:
        return
    if name is not None and name != held.name:
        raise ArgumentError(
            "unit",
            f"is {clean(name)!r}, but the account is for one {clean(held.name)}; pay from "
            "an account for the same unit",
        )
    if name is None and source.owner not in (None, held.name):
        raise ArgumentError(
            "unit",
            f"must be declared, because the account is for one {clean(held.name)} and the "
            f"owners are in the column {clean(str(source.owner))!r}; pass "
            f"unit={held.name!r} if each owner is one {clean(held.name)}",
        )


def _unit(
    source: Source, stated: Any, name: str | None, held: Unit | None, budget: Any
) -> Unit:
    if isinstance(stated, Unit) and source.dataset is None:
        return stated
    if name is None or source.dataset is not None:
        return source.unit(budget)
    return held if held is not None and held.name == name else Unit(name)
