"""A census from people to tables: what counts, what it costs, when it is read."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dither
from dither.errors import BudgetExceeded, UnitMismatch
from dither.privacy import Unit
from dither.science import census
from tests.chance import at_least, chance
from tests.science.census.support import (
    BLOCKS,
    LEVELS,
    SEX,
    asked,
    counts_of,
    exact,
    people,
    places,
)

__all__ = ["exact"]


def totals(found: census.Census) -> dict[tuple[Any, ...], float]:
    rows = found.table("block", by=[]).rows
    return {row[:-1]: round(row[-1], 6) for row in rows}


@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize("made", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_people_are_counted_where_they_live(made: Any) -> None:
    data = people()
    assert totals(asked(made(data), attributes=SEX)) == counts_of(data)


@pytest.mark.usefixtures("exact")
def test_whoever_is_not_declared_counts_for_nobody() -> None:
    data = people()
    odd = {"state": [None, "01", "9", "01"], "county": ["1", "2", "1", "1"]}
    odd |= {"block": ["a", "b", "a", "a"], "sex": ["f", "f", "f", "x"]}
    more = {name: [*data[name], *odd[name]] for name in data}
    assert totals(asked(more, attributes=SEX)) == counts_of(data)


@chance(5e-8)
@pytest.mark.parametrize("attributes", [None, SEX])
def test_empty_tables_have_noise_as_all_others(attributes: Any) -> None:
    nobody = {name: [] for name in people()}
    found = asked(nobody, attributes=attributes, rho=0.01)
    assert len(found.table("block", by=[])) == len(BLOCKS)
    assert np.any(found.value != 0)
    for low, high in zip(*found.interval(1 - 1.000001e-9), strict=True):
        assert low <= 0 <= high


@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize("owner", ["id", [1, 1, 1, 2, "2.0", None]])
def test_of_an_owner_some_rows_count(owner: Any) -> None:
    data = {
        "state": ["01"] * 6,
        "county": ["1"] * 6,
        "block": ["a", "b", "x", "a", "a", "a"],
        "id": [1, 1, 1, 2, "2.0", None],
    }
    for rows, expected in ((1, 2), (2, 4), (3, 4)):
        found = asked(data, owner=owner, rows=rows)
        assert sum(totals(found).values()) == pytest.approx(expected)
    assert asked(data, owner=owner, rows=3).plan.measures[0].scale > 2


def test_a_charge_comes_before_reading() -> None:
    class Unread(dict[str, Any]):
        def __getitem__(self, name: str) -> Any:
            return Column(super().__getitem__(name))

    class Column(list[Any]):
        def __iter__(self) -> Any:
            raise RuntimeError("read")

    budget = dither.Budget(0.1, 1e-6, unit=Unit("person"))
    with pytest.raises(BudgetExceeded):
        asked(Unread(people()), rho=1.0, budget=budget)
    assert budget.spent == 0
    with pytest.raises(RuntimeError, match="read"):
        asked(Unread(people()), rho=1e-4, budget=budget)
    assert budget.spent > 0


def test_one_charge_for_all() -> None:
    budget = dither.Budget(5.0, 1e-6, unit=Unit("person", "replace"))
    found = asked(attributes=SEX, rho=0.2, budget=budget)
    assert budget.charges == 1
    assert found.receipt is not None
    assert found.guarantee == dither.ZeroConcentratedDP(
        0.2, unit=Unit("person", "replace")
    )
    assert "protects one person (replace); by ρ = 0.2 (zCDP)" in str(found)


@pytest.mark.parametrize("cost", [{"epsilon": 2.0}, {"share": 0.5}])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_other_ways_to_state_a_cost(cost: Any, delta: float) -> None:
    budget = dither.Budget(4.0, delta, unit=Unit("person"))
    cross = {**SEX, "county_size": [1, 2]}
    data = people() | {"county_size": [1] * 40}
    marginals = [(), ("sex",), ("county_size",), ("sex", "county_size")]
    stated = {"attributes": cross, "workload": marginals, **cost}
    found = asked(data, budget=budget, rho=None, **stated)
    kind = dither.GaussianDP if delta else dither.PureDP
    assert isinstance(found.guarantee, kind)
    assert budget.spent > 0


def test_an_account_of_a_replaced_person_pays_for_what_that_is_worth() -> None:
    budget = dither.Budget(9.0, 1e-6, unit=Unit("person", "replace"))
    found = asked(unit=Unit("person"), rho=0.1, budget=budget)
    assert found.guarantee == dither.ZeroConcentratedDP(
        0.4, unit=Unit("person", "replace")
    )


# Invariants


def invariant(data: Any = None, **more: Any) -> census.Census:
    return asked(data, attributes=SEX, invariants=["state"], **more)


def test_exact_totals_are_published_and_named() -> None:
    data = people()
    unit = census.unit("person", ["state"])
    assert unit == Unit("person", "replace", given=("total of each state",))
    budget = dither.Budget(9.0, 1e-6, unit=unit)
    found = invariant(data, budget=budget)
    by_hand = {(s,): data["state"].count(s) for s in ("01", "02")}
    assert found.invariants == {"state": by_hand}
    table = found.table("state", by=[])
    assert [row[-1] for row in table.rows] == pytest.approx(list(by_hand.values()))
    assert [row[-1] for row in table.cells()] == [(n, n) for n in by_hand.values()]
    assert "given the exact total of each state" in str(found.guarantee)
    assert any("published exactly" in one for one in found.notes)
    later = asked(rho=0.1, budget=budget)
    assert later.guarantee.unit == unit
    assert later.invariants == {}


@pytest.mark.parametrize("nonnegative", [False, True])
def test_levels_below_add_up_to_exact_totals(nonnegative: bool) -> None:
    data = people()
    found = invariant(data)
    rows = found.table("block", by=[], nonnegative=nonnegative).rows
    for state in ("01", "02"):
        total = sum(row[-1] for row in rows if row[0] == state)
        assert total == pytest.approx(data["state"].count(state))


@pytest.mark.usefixtures("exact")
def test_exact_totals_count_by_their_column_alone() -> None:
    """Two releases that differ in blocks or categories publish the same totals: else
    their difference would be exact, and no fact of the account (rule R22).
    """
    data = people()
    odd = {"state": ["01", "02", "9"], "county": ["1", None, "1"]}
    odd |= {"block": ["a", "a", "a"], "sex": ["?", "f", "f"]}
    more = {name: [*data[name], *odd[name]] for name in data}
    some = census.geography(BLOCKS[1:], levels=["state", "county", "block"], full=False)
    found = [
        invariant(more).invariants,
        asked(more, invariants=["state"]).invariants,
        asked(more, attributes={"sex": ["m"]}, invariants=["state"]).invariants,
        asked(more, keys=some, invariants=["state"]).invariants,
    ]
    expected = {(s,): more["state"].count(s) for s in ("01", "02")}
    assert found == [{"state": expected}] * 4
    table = {row[:-1]: row[-1] for row in invariant(more).table("block").rows}
    clean = {
        row[:-1]: row[-1] for row in asked(data, attributes=SEX).table("block").rows
    }
    for cell, count in table.items():
        first = cell in (("01", "1", "a", "f"), ("02", "1", "a", "f"))
        assert count == pytest.approx(clean[cell] + first)


@pytest.mark.usefixtures("exact")
def test_with_exact_totals_a_unit_of_several_rows_counts_for_nobody() -> None:
    data = people(6) | {"id": [1, 2, 2, 3, None, 4]}
    found = asked(data, owner="id", invariants=["state"])
    kept = [data["state"][i] for i in (0, 3, 5)]
    assert found.invariants["state"] == {
        ("01",): kept.count("01"),
        ("02",): kept.count("02"),
    }


def test_upper_totals_are_sums_of_lower_ones() -> None:
    blocks = [("1", "11", "111"), ("1", "12", "121"), ("2", "21", "211")]
    keys = census.geography(blocks, levels=["state", "county", "block"], full=True)
    data = {
        "state": ["1", "1", "2"],
        "county": ["11", "12", "12"],
        "block": ["111", "121", "?"],
    }
    found = census.release(data, keys=keys, invariants=["county", "state"], rho=1)
    assert found.invariants == {
        "state": {("1",): 3, ("2",): 0},
        "county": {("1", "11"): 1, ("1", "12"): 2, ("2", "21"): 0},
    }


def test_invariants_come_before_the_account() -> None:
    for unit in (
        Unit("person"),
        Unit("person", "replace"),
        census.unit("person", ["county"]),
    ):
        budget = dither.Budget(5.0, 1e-6, unit=unit)
        with pytest.raises(
            dither.ArgumentError, match=r"before the account opens.*census\.unit"
        ):
            invariant(budget=budget)
        assert budget.spent == 0


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"invariants": ["town"]}, "no level 'town'"),
        ({"invariants": "state"}, "list of levels"),
        ({"invariants": [3]}, "list of levels"),
        ({"invariants": ["county"]}, "several places of this level"),
        (
            {"invariants": ["state"], "owner": "sex", "rows": 2},
            "must be 1 with invariants",
        ),
    ],
)
def test_contradictory_invariants_are_refused(more: Any, words: str) -> None:
    with pytest.raises(dither.ArgumentError, match=words):
        asked(**more)


def test_nothing_but_exact_totals_is_no_release() -> None:
    keys = census.geography([("1",), ("2",)], levels=["state"])
    with pytest.raises(dither.ArgumentError, match="something to measure"):
        census.release({"state": [1]}, keys=keys, invariants=["state"], rho=1)


# Units


def test_persons_and_households_have_accounts_of_their_own() -> None:
    homes = dither.Budget(5.0, 1e-6, unit=census.unit("household"))
    found = asked(unit="household", rho=0.1, budget=homes)
    assert found.guarantee.unit.name == "household"
    with pytest.raises(UnitMismatch, match="pay from a separate account"):
        asked(unit="person", rho=0.1, budget=homes)
    assert asked(unit="household").guarantee.unit == Unit("household")
    assert asked().guarantee.unit == Unit("person")
    with pytest.raises(UnitMismatch, match="counts people or households"):
        asked(budget=dither.Budget(1.0, unit=Unit("edge")))
    with pytest.raises(dither.ArgumentError, match="must be a name"):
        asked(unit=3)


def test_the_key_words_are_explained() -> None:
    with pytest.raises(dither.ArgumentError, match="write release"):
        census.release(people(), places(), rho=1)  # type: ignore[misc]
    with pytest.raises(dither.ArgumentError, match="keys must be declared"):
        census.release(people(), levels=["state"], rho=1)
    with pytest.raises(dither.ArgumentError, match="those of the geography"):
        asked(levels=["state", "block"])
    assert asked(levels=["state", "county", "block"]).levels == places().levels
    keys = [("1", "2"), ("1", "3")]
    found = census.release({"s": [1], "b": [2]}, levels=["s", "b"], keys=keys, rho=1)
    assert found.levels == ("s", "b")


@chance(1e-8)
@pytest.mark.parametrize("mechanism", ["rounded", "discrete"])
def test_intervals_cover(mechanism: str) -> None:
    """400 releases of 5 blocks and 3 counties: each figure is covered at its rate."""
    data = people()
    truth = counts_of(data)
    covered = np.zeros(len(BLOCKS))
    joint = 0
    for _ in range(400):
        found = asked(data, attributes=SEX, mechanism=mechanism, rho=2.0)
        low, high = found.interval()
        covered += (low <= list(truth.values())) & (list(truth.values()) <= high)
        low, high = found.union([BLOCKS[0], ("02",)]).interval()
        joint += low <= truth[BLOCKS[0]] + data["state"].count("02") <= high
    assert covered.min() >= at_least(400, 0.95, 1.5e-9)
    assert joint >= at_least(400, 0.95, 1.5e-9)


@chance(5e-8)
def test_noise_is_there_and_as_large_as_stated() -> None:
    """Empty censuses: the measured numbers are noise alone."""
    nobody = {name: [] for name in people()}
    values = np.concatenate(
        [asked(nobody, rho=0.5).measurements.values[-1].ravel() for _ in range(400)]
    )
    variance = asked(nobody, rho=0.5).plan.measures[-1].variance
    assert abs(values.mean()) < 6 * np.sqrt(variance / values.size)
    spread = values.astype(float).var() / variance
    assert abs(spread - 1) < 6 * np.sqrt(2 / values.size)


def test_rows_in_memory_are_people_unless_somebody_says_otherwise() -> None:
    homes = dither.Budget(5.0, 1e-6, unit=census.unit("household"))
    with pytest.raises(UnitMismatch, match=r"pass unit=.household. if each row is one"):
        asked(rho=0.1, budget=homes)
    assert homes.spent == 0
    ids = list(range(40))
    assert asked(rho=0.1, budget=homes, owner=ids, rows=1).guarantee.unit == homes.unit


def test_how_many_rows_of_an_owner_count_is_stated() -> None:
    data = people() | {"household": [i // 3 for i in range(40)]}
    with pytest.raises(dither.ArgumentError, match="rows must be declared"):
        asked(data, owner="household")
    found = asked(data, owner="household", rows=3)
    assert found.guarantee.unit == Unit("household")
    assert "intervals hold if no household has more" in found.notes[-1]
    assert asked(data, owner=data["household"], rows=3).guarantee.unit.name == "owner"
    assert asked(data).notes[-1] == "each row is one person"
    exact_ = asked(data, owner="household", invariants=["state"])
    assert exact_.notes[-1] == "each household with several rows is left out"


def test_a_dataset_declares_how_many_rows_count() -> None:
    data = pd.DataFrame(people() | {"home": [i // 3 for i in range(40)]})
    with (
        dither.open(data, unit="home", budget=(9.0, 1e-6)) as opened,
        pytest.raises(dither.ArgumentError, match="rows must be declared"),
    ):
        asked(opened)
    with dither.open(data, unit="home", rows=3, budget=(9.0, 1e-6)) as opened:
        assert "at most 3 rows of each home are counted" in asked(opened).notes[-1]


def test_a_unit_is_the_same_by_name_and_in_full() -> None:
    assert census.unit("household") == Unit("household")
    assert asked(unit="household").guarantee.unit == census.unit("household")
    assert census.unit("person", relation="replace").relation == "replace"
    budget = dither.Budget(5.0, 1e-6, unit=census.unit("person"))
    with pytest.raises(
        UnitMismatch, match=r"unit is one person.*but the account is for"
    ):
        asked(unit=census.unit("person", relation="replace"), budget=budget)
    assert budget.spent == 0


@pytest.mark.parametrize("name", ["state, total of each block", " state", "state "])
def test_a_fact_reads_like_one(name: str) -> None:
    with pytest.raises(dither.ArgumentError, match="rename the level"):
        census.unit("person", [name])


def test_who_asks_is_no_list_of_attributes() -> None:
    with pytest.raises(dither.ArgumentError, match="declare categories in"):
        asked(by=["sex"])


def test_late_invariants_do_not_ask_for_a_second_account() -> None:
    budget = dither.Budget(5.0, 1e-6, unit=census.unit("person"))
    with pytest.raises(dither.ArgumentError, match="leave invariants out") as refused:
        asked(invariants=["state"], budget=budget)
    assert "open one" not in str(refused.value)


def test_of_two_exact_levels_the_lower_decides() -> None:
    data = {
        "state": ["s1", "s1", "s1", "s2"],
        "county": ["c1", "zz", "c3", "c3"],
        "block": ["a", "b", "c", "c"],
    }
    blocks = [("s1", "c1", "a"), ("s1", "c2", "b"), ("s2", "c3", "c")]
    keys = census.geography(blocks, levels=LEVELS)
    found = asked(data, keys=keys, invariants=["state", "county"])
    assert list(found.invariants["state"].values()) == [1, 2]
    assert any("sums over the labels of county" in note for note in found.notes)


def test_wrong_columns_are_refused_before_the_charge() -> None:
    budget = dither.Budget(5.0, 1e-6, unit=Unit("person"))
    frame = pd.DataFrame(people())
    double = pd.concat([frame, frame[["sex"]]], axis=1)
    for data, more, words in (
        (double, {"attributes": SEX}, "exactly one column"),
        (pl.LazyFrame(people()), {}, "cannot be a lazy frame"),
        (people() | {"state": "01"}, {}, "exactly one column"),
        (people(), {"owner": 5, "rows": 1}, "owner must be"),
        (
            people(),
            {"shares": {"state": 1e-320, "block": 1}},
            "shares cannot be this uneven",
        ),
    ):
        with pytest.raises(dither.ArgumentError, match=words):
            asked(data, budget=budget, **more)
    assert budget.spent == 0
    named = frame.rename(columns={"sex": "column_names"})
    asked(named, attributes={"column_names": ["f", "m"]})


def test_one_odd_record_of_arrow_counts_for_nobody() -> None:
    buffers = [None, pa.py_buffer(struct.pack("<3i", 0, 1, 2)), pa.py_buffer(b"a\xff")]
    odd = pa.Array.from_buffers(pa.string(), 2, buffers)
    late = pa.array([2**62, 1], pa.timestamp("s"))
    keys, more = [("a",), ("b",)], {"levels": ["k"], "rho": 1e6}
    found = census.release(pa.table({"k": odd}), keys=keys, **more)
    assert found.value.round().tolist() == [1, 0]
    ids = pa.table({"k": ["a", "b"], "id": odd, "t": late})
    found = census.release(ids, keys=keys, owner="id", rows=1, **more)
    assert found.value.round().tolist() == [1, 0]
    found = census.release(ids, keys=keys, attributes={"t": [1, 2]}, **more)
    assert found.value.round().tolist() == [0, 0]
