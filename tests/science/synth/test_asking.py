"""Whom a synthetic table protects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dither import Budget
from dither.errors import ArgumentError
from dither.privacy import Unit
from dither.science import synth
from tests.science.synth.tables import DOMAIN, people

PATIENT = Unit("patient")


def visits() -> dict[str, Any]:
    return people(60) | {"patient_id": np.arange(60) // 3}


def asked(budget: Any, **more: Any) -> synth.Synthetic:
    return synth.mst(visits(), domain=DOMAIN, epsilon=1, budget=budget, **more)


@pytest.mark.parametrize("unit", ["patient", PATIENT])
def test_a_column_with_another_name_than_the_unit(unit: Any) -> None:
    budget = Budget(epsilon=3, unit=PATIENT)
    found = asked(budget, owner="patient_id", rows=3, unit=unit)
    assert found.guarantee.unit == PATIENT
    assert budget.spent == pytest.approx(1 / 3)


def test_a_name_takes_the_relation_of_the_account() -> None:
    unit = Unit("patient", "replace")
    found = asked(
        Budget(epsilon=3, unit=unit), owner="patient_id", rows=1, unit="patient"
    )
    assert found.guarantee.unit == unit


def test_a_unit_that_comes_or_goes_is_charged_twice_where_it_is_replaced() -> None:
    """Rule R7: 2ε."""
    budget = Budget(epsilon=4, unit=Unit("patient", "replace"))
    asked(budget, owner="patient_id", rows=1, unit=PATIENT)
    assert budget.spent == 0.5


def test_without_an_account_the_unit_is_as_stated() -> None:
    assert asked(None, owner="patient_id", rows=1).guarantee.unit == Unit("patient_id")
    named = asked(None, owner="patient_id", rows=1, unit="patient")
    assert named.guarantee.unit == PATIENT
    ids = asked(None, owner=np.arange(60), rows=1, unit="patient")
    assert ids.guarantee.unit == PATIENT


@pytest.mark.parametrize(
    ("more", "argument", "words"),
    [
        ({}, "owner", r"one patient may have several rows.*owner= .*rows="),
        ({"unit": "patient"}, "owner", "owner="),
        ({"owner": "patient_id", "rows": 3}, "unit", r"pass unit='patient'"),
        (
            {"owner": "patient_id", "rows": 3, "unit": "ward"},
            "unit",
            "but the account is for one patient",
        ),
        ({"owner": "patient_id", "rows": 3, "unit": 7}, "unit", "must be a name"),
        ({"owner": "patient_id", "rows": 3, "unit": " "}, "unit", "must be a name"),
    ],
)
def test_units_that_do_not_fit(more: Any, argument: str, words: str) -> None:
    budget = Budget(epsilon=3, unit=PATIENT)
    with pytest.raises(ArgumentError, match=words) as caught:
        asked(budget, **more)
    assert caught.value.argument == argument
    assert budget.spent == 0


def test_rows_of_a_patient_are_not_rows() -> None:
    """An account about rows does not pay for owners of several."""
    budget = Budget(epsilon=3)
    with pytest.raises(ArgumentError):
        asked(budget, owner="patient_id", rows=3)
    assert budget.spent == 0
