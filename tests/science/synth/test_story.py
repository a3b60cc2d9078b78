"""One clinic, one book: questions in SQL and a synthetic table are paid from one
account, and what it cannot pay is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import dither
from dither import BudgetExceeded, Ledger, Unit
from dither.errors import ArgumentError
from dither.science import synth
from tests.science.synth.tables import DOMAIN, people

PATIENT = Unit("patient")
ASKED = "SELECT sex, COUNT(*) AS n FROM visits GROUP BY sex"


def visits() -> pd.DataFrame:
    table = pd.DataFrame(people(600))
    table["patient"] = np.arange(600) // 2
    return table


def opened(book: Ledger, budget: Any = 2.0) -> Any:
    return dither.open(
        visits(),
        name="visits",
        unit=PATIENT,
        keys={"sex": ["f", "m"]},
        bounds={"age": (0, 110)},
        rows=2,
        budget=budget,
        ledger=book,
    )


def test_sql_and_a_synthetic_table_share_an_account(tmp_path: Any) -> None:
    with Ledger.open(tmp_path / "book.db") as book:
        clinic = opened(book)
        clinic.sql(ASKED, epsilon=0.5)
        made = synth.mst(clinic, domain=DOMAIN, epsilon=1)
        assert made.guarantee.unit == PATIENT
        assert made.receipt is not None
        assert clinic.account.spent == 0.75
        made.sample(100)
        made.report()
        made.marginal("age")
        assert clinic.account.spent == 0.75
        with pytest.raises(BudgetExceeded):
            synth.mst(clinic, domain=DOMAIN, epsilon=1)
        assert clinic.account.spent == 0.75
        with pytest.raises(ArgumentError, match="no column"):
            synth.mst(clinic, domain=DOMAIN, pairs=[("age", "x")], epsilon=0.1)
        assert clinic.account.spent == 0.75
        clinic.sql("SELECT COUNT(*) AS n FROM visits", epsilon=0.5)
        assert clinic.account.spent == 1
        clinic.close()
    with Ledger.open(tmp_path / "book.db") as book:  # another day
        clinic = opened(book)
        with pytest.raises(BudgetExceeded):
            synth.mst(clinic, domain=DOMAIN, epsilon=0.1)
        clinic.close()


def test_a_dataset_brings_its_unit_and_its_cap(tmp_path: Any) -> None:
    with Ledger.open(tmp_path / "book.db") as book:
        clinic = opened(book)
        made = synth.mst(clinic, domain=DOMAIN, epsilon=0.5)
        assert made.model.plan.rows == 2
        fewer = synth.mst(clinic, domain=DOMAIN, rows=1, epsilon=0.5)
        assert fewer.model.plan.rows == 1
        with pytest.raises(ArgumentError, match="owner"):
            synth.mst(clinic, domain=DOMAIN, owner="patient", epsilon=0.1)
        other = dither.Budget(epsilon=1, unit=PATIENT)
        with pytest.raises(ArgumentError, match="own account"):
            synth.mst(clinic, domain=DOMAIN, epsilon=0.1, budget=other)
        clinic.close()


def test_a_share_of_an_account_with_a_delta(tmp_path: Any) -> None:
    with Ledger.open(tmp_path / "book.db") as book:
        clinic = opened(book, (2.0, 1e-6))
        synth.mst(clinic, domain=DOMAIN, share=0.3)
        assert clinic.account.spent == pytest.approx(0.3, abs=0.02)
        assert clinic.account.spent <= 0.3 + 1e-6
        clinic.close()


def test_who_replaces_a_unit_is_charged_for_both(tmp_path: Any) -> None:
    with Ledger.open(tmp_path / "book.db") as book:
        clinic = dither.open(
            visits(),
            name="visits",
            unit=Unit("patient", "replace"),
            rows=2,
            budget=2.0,
            ledger=book,
        )
        made = synth.mst(clinic, domain=DOMAIN, epsilon=1)
        assert made.guarantee.unit == Unit("patient", "replace")
        assert clinic.account.spent == 0.5
        clinic.close()


def test_the_verb_takes_what_is_declared(tmp_path: Any) -> None:
    with Ledger.open(tmp_path / "book.db") as book:
        clinic = opened(book)
        columns = ["sex", "age", "smokes"]
        made = clinic.synth(columns=columns, pairs=[("sex", "smokes")], epsilon=0.5)
        assert made.columns == tuple(columns)
        assert ("sex", "smokes") in made.edges
        assert made.report().basis == "measured privately"
        plain = clinic.synth(columns=columns, check=0, epsilon=0.5)
        assert plain.checked is None
        declared = clinic.synth(domain=DOMAIN, n=70, epsilon=0.5)
        assert declared.columns == DOMAIN.names
        assert len(declared) == 70
        assert clinic.account.spent == 0.75
        with pytest.raises(BudgetExceeded):
            clinic.synth(columns=columns, epsilon=1)
        assert clinic.account.spent == 0.75
        clinic.close()
