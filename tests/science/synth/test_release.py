"""What a synthetic table is: rows with declared types, counts with intervals, and a
cost.
"""

from __future__ import annotations

import io
import json
import pickle
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dither import Budget, Ledger
from dither.errors import ArgumentError
from dither.ledger.shares import share_of
from dither.privacy import PureDP, Unit, ZeroConcentratedDP
from dither.science import synth
from dither.science.synth.asking import question_of
from dither.science.synth.checking import SHARE, share_of_check
from dither.science.synth.reading import source_of
from dither.science.synth.releasing import steps
from tests.chance import at_least, chance
from tests.science.synth.tables import DOMAIN, NAMES, counts, people


@pytest.fixture(scope="module")
def made() -> synth.Synthetic:
    pairs = [("smokes", "age")]
    return synth.mst(people(), domain=DOMAIN, rho=0.5, pairs=pairs)


def test_rows_lie_in_the_domain_and_have_its_types(made: synth.Synthetic) -> None:
    assert made.columns == NAMES
    assert len(made) == len(made.rows) == len(list(made))
    assert (DOMAIN.code(made.value) == made.codes).all()
    age, sex, visit, smokes = made.rows[0]
    assert [type(one) for one in (age, sex, visit, smokes)] == [int, str, date, bool]
    assert list(made["sex"]) == [row[1] for row in made.rows]


def test_frames_keep_the_types(made: synth.Synthetic) -> None:
    frame = made.to_pandas()
    assert frame.dtypes["age"] == np.int64
    assert frame.dtypes["smokes"] == np.bool_
    assert str(frame.dtypes["visit"]).startswith("datetime64")
    polars = made.to_polars()
    shown = [str(polars.schema[name]) for name in NAMES]
    assert shown == ["Int64", "String", "Date", "Boolean"]
    arrow = made.to_arrow()
    types = [str(arrow.schema.field(name).type) for name in NAMES]
    assert types == ["int64", "string", "date32[day]", "bool"]
    assert polars.rows() == [tuple(row) for row in made.rows]
    assert frame["age"].tolist() == [row[0] for row in made.rows]


def test_csv_and_json_hold_all_rows(made: synth.Synthetic, tmp_path: Any) -> None:
    read = pd.read_csv(io.StringIO(made.to_csv() or ""), parse_dates=["visit"])
    assert (read["age"] == made["age"]).all()
    assert (read["smokes"] == made["smokes"]).all()
    assert made.to_csv(tmp_path / "rows.csv") is None
    assert (tmp_path / "rows.csv").read_text(encoding="utf-8") == made.to_csv()
    told = json.loads(made.to_json())
    assert told["schema"] == "dither.release/1"
    assert len(told["rows"]) == len(made)
    assert told["rows"][0]["values"][0] == made.rows[0][0]


@chance(1e-12)
def test_what_is_missing_keeps_its_type() -> None:
    domain = synth.Domain(
        {
            "smokes": synth.booleans(missing=True),
            "beds": synth.categories([1, 2, 3], missing=True),
            "ward": synth.categories(["a", "b"], missing=True),
            "day": synth.dates("2020-01-01", "2020-12-31", by="month", missing=True),
            "cost": synth.numbers([0, 1, 10], missing=True),
        }
    )
    nothing = dict.fromkeys(domain.names, [None] * 500)
    found = synth.mst(nothing, domain=domain, rho=5)
    assert [
        sum(one is None for one in column) > 400
        for column in zip(*found.rows, strict=True)
    ] == [True] * 5
    frame = found.to_pandas()
    assert [str(frame.dtypes[name]) for name in ("smokes", "beds")] == [
        "boolean",
        "Int64",
    ]
    assert frame.isna().to_numpy().mean() > 0.8
    assert found.to_polars()["beds"].null_count() > 400
    assert found.to_arrow()["smokes"].null_count > 400
    json.loads(found.to_json())
    assert "" in (found.to_csv() or "").splitlines()[1].split(",")


def test_counts_of_measured_tables_have_intervals(made: synth.Synthetic) -> None:
    table = made.marginal("age")
    assert table.columns == ("age", "count")
    assert [row[0] for row in table.rows] == list(DOMAIN["age"].labels)
    assert all(row[1] is not None for row in table.cells())
    turned = made.marginal("smokes", "age")
    straight = made.marginal("age", "smokes")
    assert turned.rows[0][2] == straight.rows[0][2]
    assert turned.rows[1][2] == straight.rows[2][2]
    assert ("age", "smokes") in made.edges
    assert made.asked == (("age", "smokes"),)


def test_counts_of_other_pairs_come_from_the_model(made: synth.Synthetic) -> None:
    known = {frozenset(edge) for edge in made.edges}
    pair = next(
        (a, b) for a in NAMES for b in NAMES if a < b and frozenset((a, b)) not in known
    )
    table = made.marginal(*pair)
    assert all(one is None for row in table.cells() for one in row)
    assert "model" in str(table)
    assert "95 %" not in str(table)
    assert sum(row[2] for row in table.rows) == pytest.approx(made.total, rel=0.01)
    low, high = table["count"].interval()
    assert np.isneginf(low).all()
    assert np.isposinf(high).all()


@chance(1e-8)
@pytest.mark.parametrize("cost", [{"rho": 0.05}, {"epsilon": 0.5}])
def test_intervals_of_counts_hold_the_truth(cost: dict[str, float]) -> None:
    """60 tables of 5 + 10 counts at 95 %, each with noise of its own: noise 1.4 times
    too large for its interval is seen.
    """
    table = people(200)
    held = []
    for _ in range(60):
        found = synth.mst(table, domain=DOMAIN, pairs=[("age", "smokes")], **cost)
        for names in (("age",), ("age", "smokes")):
            truth = counts(table, *names)
            low, high = found.marginal(*names)["count"].interval()
            held += ((low <= truth) & (truth <= high)).tolist()
    assert sum(held) >= at_least(900, 0.95, 1e-8)


def test_more_rows_are_free(made: synth.Synthetic) -> None:
    more = made.sample(17)
    assert len(more) == 17
    assert more.sources is made.sources
    assert len(made.sample()) == len(made)
    assert len(made.sample(0)) == 0
    assert str(made.sample(0))
    assert "drawn again" in more.sample(2).notes[-1]
    assert sum("drawn again" in one for one in more.sample(2).notes) == 1
    with pytest.raises(ArgumentError, match="whole number of rows"):
        made.sample(-1)


def test_a_declared_number_of_rows_is_kept() -> None:
    assert len(synth.mst(people(50), domain=DOMAIN, rho=0.1, n=1234)) == 1234


def test_it_prints_and_pickles(made: synth.Synthetic) -> None:
    shown = str(made)
    for words in (
        f"{len(made):,} rows × 4 columns",
        "age–smokes (asked for)",
        "two-way error",
        "declared, from the form of the clinic",
        "ρ = 0.5",
        "not charged to any account",
        "more rows",
    ):
        assert words in shown
    assert repr(made) == f"<Synthetic {len(made):,} rows × 4 columns>"
    assert "<table>" in made._repr_html_()
    again = pickle.loads(pickle.dumps(made))
    assert again.rows == made.rows
    assert again.marginal("age").rows == made.marginal("age").rows
    assert bool(made)


def test_rows_have_no_intervals(made: synth.Synthetic) -> None:
    with pytest.raises(ArgumentError, match="marginal"):
        made.interval()


def test_what_is_derived_is_no_table(made: synth.Synthetic) -> None:
    older = made.map(lambda columns: float(np.mean(columns["age"])))
    assert not isinstance(older, synth.Synthetic)
    assert older.guarantee == made.guarantee


@pytest.mark.parametrize("check", [0, 0.05, 0.5])
@pytest.mark.parametrize("cost", [{"rho": 0.05}, {"epsilon": 1.0}])
def test_the_parts_cost_no_more_than_the_whole(cost: Any, check: Any) -> None:
    source = source_of(people(5), DOMAIN)
    found = steps(source, question_of(source, cost, None), (), check)
    parts = list(found.model.parts.parts)
    if found.check is not None:
        parts.append(found.check.guarantee)
    whole = found.guarantee
    if "rho" in cost:
        assert whole == ZeroConcentratedDP(0.05)
        spent = sum(one.to(ZeroConcentratedDP).rho for one in parts)
        assert 0.04 <= spent <= 0.05 * (1 + 1e-9)
    else:
        assert whole == PureDP(1.0)
        spent = sum(one.to(PureDP).epsilon for one in parts)
        assert 0.9 <= spent <= 1.0 + 1e-9


def test_a_check_takes_its_share() -> None:
    source = source_of(people(5), DOMAIN)
    asked = question_of(source, {"rho": 0.1}, None)
    with_check, without = (steps(source, asked, (), check) for check in (None, 0))
    assert with_check.check is not None
    assert without.check is None
    spent = with_check.check.guarantee.to(ZeroConcentratedDP).rho
    assert spent == pytest.approx(0.1 * float(SHARE), rel=1e-6)
    assert with_check.model.ones.scale > without.model.ones.scale
    assert share_of_check(None) == SHARE
    assert share_of_check(0) == 0


def test_an_account_is_charged_once_and_for_the_whole() -> None:
    budget = Budget(epsilon=2, delta=1e-6)
    found = synth.mst(people(50), domain=DOMAIN, share=0.25, budget=budget)
    assert found.receipt is not None
    assert budget.charges == 1
    spent = share_of(found.guarantee, budget.terms)
    assert 0.2 < float(spent) <= 0.25 + 1e-9


def test_epsilon_at_an_account_with_a_delta_buys_the_better_noise() -> None:
    budget = Budget(epsilon=2, delta=1e-6)
    found = synth.mst(people(50), domain=DOMAIN, epsilon=0.5, budget=budget)
    assert found.guarantee == PureDP(0.5)  # few tables: Laplace noise is less
    many = synth.Domain({f"c{number}": ["a", "b"] for number in range(30)})
    table = {name: ["a"] * 50 for name in many.names}
    wide = synth.mst(table, domain=many, epsilon=0.5, budget=budget)
    assert isinstance(wide.guarantee, ZeroConcentratedDP)
    assert 0.4 < wide.guarantee.epsilon_at(1e-6) <= 0.5
    alone = synth.mst(table, domain=many, epsilon=0.5)
    assert alone.guarantee == PureDP(0.5)


def test_owners_with_several_rows() -> None:
    unit = Unit("patient")
    budget = Budget(epsilon=3, unit=unit)
    table = people(300) | {"patient": np.arange(300) // 3}
    found = synth.mst(
        table, domain=DOMAIN, owner="patient", rows=2, epsilon=1, budget=budget
    )
    assert found.guarantee == PureDP(1, unit=unit)
    assert any("at most 2 rows" in one for one in found.notes)
    plain = synth.mst(people(300), domain=DOMAIN, epsilon=1)
    ones = found.model.plan.ones.scale, plain.model.plan.ones.scale
    assert ones[0] == pytest.approx(2 * ones[1])


@chance(1e-12)
def test_one_row_of_each_owner_is_what_counts() -> None:
    table = people(3000) | {"patient": np.arange(3000) // 3}
    found = synth.mst(table, domain=DOMAIN, owner="patient", rows=1, rho=10)
    assert found.total == pytest.approx(1000, abs=30)


def test_replace_moves_counts_twice_in_l1() -> None:
    budget = Budget(epsilon=3, unit=Unit("row", "replace"))
    found = synth.mst(people(50), domain=DOMAIN, epsilon=1, budget=budget)
    alone = synth.mst(people(50), domain=DOMAIN, epsilon=1)
    assert found.guarantee == PureDP(1, unit=Unit("row", "replace"))
    assert found.model.plan.ones.scale == 2 * alone.model.plan.ones.scale
    assert found.checked is not None
    assert alone.checked is not None
    assert found.checked.mechanism.scale == 2 * alone.checked.mechanism.scale


@pytest.mark.parametrize("check", [0, 0.05])
def test_a_release_holds_neither_the_account_nor_the_data(check: float) -> None:
    budget = Budget(epsilon=2, delta=1e-6)
    found = synth.mst(people(30), domain=DOMAIN, epsilon=1, check=check, budget=budget)
    assert found.model.plan.question.account is None
    assert pickle.loads(pickle.dumps(found)).rows == found.rows


def test_any_share_may_be_checked() -> None:
    for check in (0.37622654841542724, 1 / 3, 0.1 + 0.2, 1e-30):
        assert len(synth.mst(people(9), domain=DOMAIN, rho=1, check=check, n=4)) == 4


def test_only_pairs_that_were_asked_for_are_called_so() -> None:
    table = {"a": ["x"] * 9, "b": ["y"] * 9}
    domain = {"a": ["x", "y"], "b": ["x", "y"]}
    found = synth.mst(table, domain=domain, rho=1)
    assert found.edges == (("a", "b"),)
    assert "asked for" not in str(found)
    named = synth.mst(table, domain=domain, rho=1, pairs=[("b", "a")])
    assert "a–b (asked for)" in str(named)


@pytest.mark.parametrize("cost", [{"share": 0.1}, {"epsilon": 0.2}])
def test_accounts_of_gaussian_privacy_pay_too(cost: dict[str, float]) -> None:
    book = Ledger.open(":memory:")
    account = book.account("clinic", epsilon=5, delta=1e-6, accounting="gdp")
    domain = synth.Domain({f"c{number}": ["a", "b"] for number in range(12)})
    table = {name: ["a"] * 20 for name in domain.names}
    found = synth.mst(table, domain=domain, budget=account, **cost)
    assert isinstance(found.guarantee, PureDP)
    assert 0 < account.spent < 1


def test_counts_say_first_whose_rows_they_are() -> None:
    table = people(30) | {"patient": np.arange(30) // 3}
    found = synth.mst(table, domain=DOMAIN, owner="patient", rows=2, rho=1)
    words = "counts of rows in the domain, at most 2 of each patient"
    assert str(found.marginal("age")).startswith(words)


def test_the_share_of_the_account_is_shown() -> None:
    budget = Budget(epsilon=2)
    found = synth.mst(people(9), domain=DOMAIN, epsilon=0.5, budget=budget)
    assert "cost: 25 % of the account budget, receipt 3" in str(found)
    alone = synth.mst(people(9), domain=DOMAIN, epsilon=0.5)
    assert "of the account" not in str(alone)


def test_one_row_and_one_column() -> None:
    found = synth.mst({"a": ["x"]}, domain={"a": ["x", "y"]}, rho=1, n=1)
    assert repr(found) == "<Synthetic 1 row × 1 column>"
    assert str(found).startswith("synthetic table: 1 row × 1 column\n")
    assert "of 1 row\n" in str(found.report())
    assert "… and 1 more row\n" in str(found.sample(7))


def test_a_class_shows_only_what_is_its_own() -> None:
    assert not {"replayed", "confidence", "cells", "is_key"} & set(dir(synth.Synthetic))
