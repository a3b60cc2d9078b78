"""One hospital, one account: a table, the primary test, survival, an interval; then
nothing is left.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dither
from dither import BudgetExceeded, Ledger, Unit, compose
from dither.ledger.export import export
from dither.ledger.recheck import recheck

PATIENT = Unit("patient", "replace")
ARMS = ("drug", "placebo")
COSTS = ("0.5", "1", "1.25", "0.75")


def patients() -> pd.DataFrame:
    drawn = np.random.default_rng(4)  # allowed: test inputs, not noise
    arm = np.repeat(ARMS, 60)
    pain = drawn.integers(0, 9, 120).astype(float)
    pain[:5] = np.nan
    return pd.DataFrame(
        {
            "patient": np.arange(120),
            "arm": arm,
            "pain": pain + (arm == "placebo"),
            "weeks": drawn.exponential(40, 120).clip(max=52),
            "died": drawn.random(120) < 0.4,
        }
    )


def opened(book: Ledger, budget: Any = 4.0, **more: Any) -> Any:
    return dither.open(
        patients(),
        name="trial",
        unit=PATIENT,
        keys={"arm": list(ARMS)},
        bounds={"pain": (0, 10), "weeks": (0, 52)},
        rows=1,
        budget=budget,
        ledger=book,
        **more,
    )


def asked(study: Any, costs: tuple[float, ...]) -> list[Any]:
    arms = {"outcome": "pain", "arm": "arm", "sizes": (60, 60)}
    edges = range(0, 53, 13)
    survival = {"outcome": "weeks", "event": "died", "arm": "arm", "edges": edges}
    return [
        study.sql(
            "SELECT arm, COUNT(*) AS n FROM trial GROUP BY arm", epsilon=costs[0]
        ),
        study.trial("mannwhitneyu", **arms, epsilon=costs[1]),
        study.trial("kaplan_meier", **survival, epsilon=costs[2]),
        study.trial("mean_difference", **arms, epsilon=costs[3]),
    ]


def test_the_budget_of_a_trial(tmp_path):
    costs = tuple(map(float, COSTS))
    with Ledger.open(tmp_path / "book.db") as book:
        study = opened(book)
        releases = asked(study, costs)
        total = sum(map(Fraction, COSTS))
        assert study.account.spent == float(total / 4)
        promised = compose([release.guarantee for release in releases])
        assert promised.epsilon == float(total)
        assert promised.guarantee.unit == PATIENT
        (again,) = recheck(export(book))
        assert again.spent.pure == total
        with pytest.raises(BudgetExceeded):
            study.trial(
                "mannwhitneyu", outcome="pain", arm="arm", sizes=(60, 60), epsilon=1
            )
        assert study.account.spent == float(total / 4)
        releases[2].logrank()  # of cells that are paid for
        assert study.account.spent == float(total / 4)
        study.close()
    with Ledger.open(tmp_path / "book.db") as book:  # another day
        study = opened(book)
        assert study.account.spent == float(total / 4)
        with pytest.raises(BudgetExceeded):
            study.trial(
                "mean_difference", outcome="pain", arm="arm", sizes=(60, 60), epsilon=1
            )
        study.close()


def test_with_a_delta_losses_add_up(tmp_path):
    with Ledger.open(tmp_path / "book.db") as book:
        study = opened(book, (2.0, 1e-6))
        for _ in range(4):
            asked(study, (0.1, 0.1, 0.1, 0.1))
        (again,) = recheck(export(book))
        assert again.fits
        assert again.charges == 13  # the same SQL is answered from the book
        assert again.spent.loss == pytest.approx(
            study.account.spent * float(study.account.terms.loss_cap) / 1e9, rel=0.2
        )
        with pytest.raises(BudgetExceeded):
            study.trial(
                "mannwhitneyu", outcome="pain", arm="arm", sizes=(60, 60), epsilon=1.9
            )
        study.close()
