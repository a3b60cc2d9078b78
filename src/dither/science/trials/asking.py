"""Who pays for a question about a trial, and for which unit and relation (rule R7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dither.dataset import Dataset
from dither.errors import ArgumentError, UnitMismatch
from dither.ledger import Account
from dither.privacy import Unit
from dither.question import Question
from dither.science.trials.columns import Codes, Given

__all__ = [
    "PERSON",
    "PUBLIC_ARMS",
    "need_replace",
    "people_may_change_arms",
    "question_of",
]

PUBLIC_ARMS = "the assignment of people to arms is public"
OTHERS = ("device", "edge", "location", "node", "site")
"""Units that are nobody's record: those of graphs, maps and devices."""
PERSON = Unit("person", "replace")  # type: ignore[arg-type]


def question_of(what: str, cost: Mapping[str, Any], *data: Given | Codes) -> Question:
    """A question about people who have one record each: the unit is that of their
    dataset, else that of the account that pays, else one person who is replaced.
    """
    budget = cost.get("budget")
    unit = budget.terms.unit if isinstance(budget, Account) else PERSON
    question = Question.of(what, cost, unit=unit, dataset=_dataset(data))
    if question.unit.name in OTHERS:
        raise UnitMismatch(
            "budget",
            f"is an account for one {question.unit.name}, but a trial has one record "
            'for each person; open an account with unit=Unit("patient", "replace")',
        )
    return question


def _dataset(data: tuple[Given | Codes, ...]) -> Dataset | None:
    found = [one.dataset for one in data if one.dataset is not None]
    if not found:
        return None
    if len(found) < len(data) or any(one is not found[0] for one in found):
        raise ArgumentError(
            "dataset",
            "all columns must come from the same dataset, or none of them may come from "
            "a dataset; pass columns of one dataset, or arrays only",
        )
    return found[0]


def need_replace(question: Question, argument: str, way_out: str) -> None:
    """Refuse an account under add/remove where public sizes are what the guarantee
    stands on: if a person can come or go, sizes are not fixed.
    """
    if question.replacing:
        return
    name = question.unit.name
    raise UnitMismatch(
        argument,
        f"{argument} can be declared only if neighbours replace one {name}, but this "
        f"account is for {question.unit}; {way_out}, or open an account with "
        f'unit=Unit("{name}", "replace")',
    )


def people_may_change_arms(*arms: Given) -> bool:
    """Whether one person's record says which arm they are in: so it is in a table, whose
    columns are private. Arms that come as columns of their own are public.
    """
    return len(arms) > 1 and any(arm.dataset is not None for arm in arms)
