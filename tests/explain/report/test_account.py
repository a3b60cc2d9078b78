"""The report on an account: the remaining budget, all charges, the burn-down."""

from __future__ import annotations

import re
import xml.etree.ElementTree as Xml
from pathlib import Path

import pytest

import dither
from dither.errors import ArgumentError
from dither.explain import report as reports
from tests.explain.report.support import SQL, Page, clinic


def test_an_account_says_it_all(tmp_path: Path) -> None:
    with clinic(tmp_path) as visits:
        visits.sql(SQL, epsilon=0.5)
        visits.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1, by="ana")
        account = visits.account
        made = account.report()
        left = account.remaining
    assert made["burn-down"].data["remaining"] == pytest.approx([1.0, 5 / 6, 0.5])
    assert made["remaining"].data["epsilon"] == left.epsilon == 1.5
    assert [row[3] for row in made["charges"].rows] == [
        SQL,
        "SELECT COUNT(*) AS n FROM visits",
    ]
    assert [row[2] for row in made["charges"].rows] == ["", "ana"]
    assert {row[6] for row in made["charges"].rows} == {"answered"}
    assert made.lead[0].startswith("50 % of ε = 3 is spent, by 2 charges.")
    drawn = Xml.fromstring(made["burn-down"].picture)
    assert drawn.get("role") == "img"
    page = Page(made.html())
    assert (page.loaded, page.handlers) == ([], [])
    for section in made.sections:
        assert all(text in page.text for text in section.texts())


def test_a_report_states_the_costs_that_releases_state() -> None:
    """The last two charges fit only by the sum of ε, which measures them everywhere."""
    budget = dither.Budget(epsilon=1.0, delta=1e-6)
    costs = [
        str(dither.count(range(9), epsilon=epsilon, budget=budget))
        for epsilon in (0.5, 0.4, 0.1)
    ]
    listed = [row[5] for row in budget.report()["charges"].rows]
    assert [one.removesuffix(" of its ε") for one in listed] == [
        re.search(r"cost: (\S+ %)", cost)[1]  # type: ignore[index]
        for cost in costs
    ]
    assert ["of its ε" in one for one in listed] == [
        "of the ε of" in cost for cost in costs
    ]
    assert "of its ε" in listed[-1]


def test_a_new_account_has_nothing_to_list() -> None:
    made = dither.Budget(1.0, 1e-6).report()
    assert made["charges"].words == ("Nothing was charged yet.",)
    assert made["burn-down"].data["remaining"] == [1.0]
    assert made["remaining"].data["rho"] > 0


def test_nothing_verifies_a_book_that_ends_with_its_process() -> None:
    budget = dither.Budget(2.0)
    release = dither.count([1, 2, 3], epsilon=0.5, budget=budget)
    for made in (budget.report(), release.report(budget)):
        assert "dither log" not in " ".join(made["verify"].texts())
        fields = made["registry"].data["deployment"]
        assert "ends with its process" in fields["accounting"]["composition"]


def test_what_is_no_account_is_refused() -> None:
    with pytest.raises(ArgumentError, match="must be an account of a ledger"):
        reports.of_account("visits")


def test_an_account_that_no_charge_has_opened_yet(tmp_path: Path) -> None:
    with clinic(tmp_path) as visits:
        made = visits.account.report()
    assert made["charges"].words == ("Nothing was charged yet.",)
    assert made["accounts"].rows == ()
    assert "No account is open in this ledger" in made["accounts"].words[0]


def test_the_promise_of_an_account_with_periods_and_facts() -> None:
    unit = dither.Unit("person", "replace", given=["total of each state"])
    made = dither.Budget(1.0, 1e-6, unit=unit).report()
    assert ("exact facts, not protected", "total of each state") in made["whom"].facts
    fields = made["registry"].data["deployment"]
    assert fields["dp_flavor"]["unprotected_quantities"] == "total of each state"
    assert fields["model"]["release_type"] == "Many releases"


@pytest.mark.parametrize(
    ("purposes", "product", "exact", "floats"),
    [
        ([], "Summary statistics", True, False),
        (["count"], "Summary statistics", True, False),
        (["training"], "Machine-learning model", False, True),
        (
            ["training", "count"],
            "Summary statistics and machine-learning models",
            True,
            True,
        ),
    ],
)
def test_the_registry_names_the_arithmetic_of_the_charges(
    purposes: list[str], product: str, exact: bool, floats: bool
) -> None:
    budget = dither.Budget(2.0)
    for one in purposes:
        budget.charge(dither.PureDP(0.1), purpose=one)
    fields = budget.report()["registry"].data["deployment"]
    assert fields["product"]["data_product_type"] == product
    mechanisms = fields["implementation"]["mechanisms"]
    assert ("noise is drawn exactly" in mechanisms) is exact
    assert ("float arithmetic" in mechanisms) is floats
