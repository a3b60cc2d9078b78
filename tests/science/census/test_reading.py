"""People from memory and from a dataset: both roads count the same."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

import dither
from dither.privacy import Unit
from dither.science import census
from dither.science.census.attributes import attributes_of
from dither.science.census.reading import source_of
from tests.science.census.support import SEX, asked, exact, people, places

__all__ = ["exact"]


def opened(data: Any, unit: Any = "row", **more: Any) -> dither.Dataset:
    return dither.open(
        pd.DataFrame(data), name="people", unit=unit, budget=(9.0, 1e-6), **more
    )


def both(
    data: Any, cross: Any, exact: int | None = None, **more: Any
) -> tuple[Any, Any]:
    found = attributes_of(cross)
    with opened(data, **more) as dataset:
        receipt = dataset.account.charge(dither.PureDP(0.1, unit=dataset.unit))
        paid: Any = SimpleNamespace(receipt=receipt)
        owner = None if dataset.single else dataset.unit.name
        held = source_of(data, places(), found, owner=owner)
        stored = source_of(dataset, places(), found)
        return held.counted(paid, 1, exact), stored.counted(paid, 1, exact)


@pytest.mark.parametrize("exact", [None, 0])
def test_both_roads_count_the_same(exact: int | None) -> None:
    data = people(200)
    data["state"][3:9] = ["1", " 01", "1.0", "x", "", "1_0"]
    data["block"][10:12] = ["A", "a "]
    data["age"] = [i % 130 - 5 for i in range(200)]
    data["adult"] = [i % 2 == 0 for i in range(200)]
    cross = {**SEX, "age": census.edges([0, 18, 65.5, 110]), "adult": [True, False]}
    held, stored = both(data, cross, exact)
    assert held.leaves.sum() > 100
    assert (held.leaves == stored.leaves).all()
    if exact is not None:
        assert held.totals.tolist() == stored.totals.tolist()


def test_both_roads_leave_out_whoever_has_several_rows() -> None:
    data = people(30) | {"id": [str(i % 20) for i in range(30)]}
    held, stored = both(data, SEX, 0, unit="id")
    assert (held.leaves == stored.leaves).all()
    assert held.totals.tolist() == stored.totals.tolist()
    assert held.leaves.sum() == 10


def test_of_several_rows_some_are_kept_in_a_dataset() -> None:
    data = people(30) | {"id": [str(i % 20) for i in range(30)]}
    held, stored = both(data, SEX, unit="id")
    assert held.leaves.sum() == stored.leaves.sum() == 20


def test_a_dataset_pays_with_its_account() -> None:
    unit = census.unit("row", ["state"])
    with dither.open(pd.DataFrame(people()), unit=unit, budget=(9.0, 1e-6)) as dataset:
        found = asked(dataset, attributes=SEX, invariants=["state"], rho=0.4)
        assert dataset.account.charges == 1
        assert found.receipt is not None
        assert found.guarantee.unit == unit
        assert found.invariants["state"]["01",] == people()["state"].count("01")
        with pytest.raises(
            dither.ArgumentError, match="owner is declared by the dataset"
        ):
            asked(dataset, owner="sex")
        with pytest.raises(dither.ArgumentError, match="have no column 'age'"):
            asked(dataset, attributes={"age": [1]})
        with pytest.raises(dither.errors.UnitMismatch):
            asked(dataset, unit="household")


def test_columns_in_memory_are_no_table() -> None:
    dataset = dither.Dataset.of(people(), unit=Unit("row"))
    with pytest.raises(dither.ArgumentError, match="columns in memory"):
        asked(dataset)


def test_what_a_database_cannot_bin_is_refused() -> None:
    data = people() | {"age": [1] * 40, "adult": [True] * 40}
    with opened(data) as dataset:
        for cross, words in (
            ({"age": census.edges(range(100))}, "databases support at most"),
            ({"adult": census.edges([0, 1])}, "holds booleans"),
        ):
            with pytest.raises(dither.ArgumentError, match=words):
                asked(dataset, attributes=cross)


@pytest.mark.usefixtures("exact")
def test_numbers_beyond_a_columns_bounds_are_in_no_other_place() -> None:
    """Bounds clip what is summed; a label or a number beyond them is what it is."""
    data = {
        "state": [1, 1, 2, 500, -3],
        "block": ["?"] * 5,
        "age": [5, 17, 44, 150, -9],
    }
    keys = census.geography([(1, "a"), (2, "b"), (100, "c")], levels=["state", "block"])
    bounds = {"state": (1, 100), "age": (0, 110)}
    unit = census.unit("row", ["state"])
    with opened(data, unit, bounds=bounds) as dataset:
        found = asked(dataset, keys=keys, invariants=["state"])
    assert list(found.invariants["state"].values()) == [2, 1, 0]
    data["block"] = ["a", "a", "b", "c", "a"]
    data["state"] = [1, 1, 2, 100, 1]
    with opened(data, "row", bounds=bounds) as dataset:
        ages = {"age": census.edges([0, 18, 110])}
        found = asked(dataset, keys=keys, attributes=ages)
    assert found.table("state", by=["age"])["count"].value.round(6).tolist() == [
        *(2, 0),
        *(0, 1),
        *(0, 0),
    ]


def test_bins_of_texts_fit_a_question() -> None:
    count = 60
    texts = [str(i / 2) for i in range(2 * count)] + ["x", "1e1", "", "-1", str(count)]
    data = {"state": ["01"] * len(texts), "written": texts}
    keys = census.geography([("01",)], levels=["state"])
    cross = attributes_of({"written": census.edges(range(count + 1))})
    with opened(data) as dataset:
        receipt = dataset.account.charge(dither.PureDP(0.1, unit=dataset.unit))
        paid: Any = SimpleNamespace(receipt=receipt)
        stored = source_of(dataset, keys, cross).counted(paid, 1, None)
    held = source_of(data, keys, cross).counted(paid, 1, None)
    assert stored.leaves.tolist() == held.leaves.tolist()
    assert stored.leaves[0, 10] == 3


def test_dates_are_no_labels() -> None:
    data = pd.DataFrame({"day": pd.to_datetime(["2020-01-01"])})
    keys = census.geography([("2020-01-01",)], levels=["day"])
    with (
        opened(data) as dataset,
        pytest.raises(dither.ArgumentError, match="holds dates"),
    ):
        asked(dataset, keys=keys)


def test_many_blocks_are_counted_inside_the_engine() -> None:
    """More blocks than a query may have groups, without declaring them as keys."""
    count = 30_000
    blocks = {"state": [i // 1000 for i in range(count)], "block": list(range(count))}
    keys = census.geography(blocks)
    frame = {"state": blocks["state"][::7], "block": blocks["block"][::7]}
    with opened(frame) as dataset:
        receipt = dataset.account.charge(dither.PureDP(0.1, unit=dataset.unit))
        paid: Any = SimpleNamespace(receipt=receipt)
        leaves = (
            source_of(dataset, keys, attributes_of(None)).counted(paid, 1, None).leaves
        )
    assert (leaves[:, 0] == [i % 7 == 0 for i in range(count)]).all()


def test_exact_totals_are_those_of_one_table() -> None:
    """The account knows one exact total of each state, and not one of each table."""
    frame = pd.DataFrame(people() | {"id": range(40)})
    frames = {"people": frame, "visits": frame}
    unit = census.unit("id", ["state"])
    with (
        dither.open(frames, name="two", unit=unit, budget=(9.0, 1e-6)) as dataset,
        pytest.raises(dither.ArgumentError, match="one private table"),
    ):
        asked(dataset, table="people", invariants=["state"])
