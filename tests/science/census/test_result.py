"""Tables, unions, measurements and pictures of a census."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import dither
from dither.release import Release
from dither.science import census
from tests.science.census.support import (
    BLOCKS,
    LEVELS,
    SEX,
    asked,
    exact,
    people,
    simulated,
)

__all__ = ["exact"]

TRUTHS = {"adult": [True, False]}


@pytest.fixture(scope="module")
def found() -> census.Census:
    data = people() | {"adult": [i % 2 == 0 for i in range(40)]}
    return asked(data, attributes={**SEX, **TRUTHS})


def test_tables_name_places_and_categories(found: census.Census) -> None:
    table = found.table("county")
    assert table.columns == ("state", "county", "sex", "adult", "count")
    assert len(table) == 3 * 4
    assert table.rows[0][:4] == ("01", "1", "f", True)
    assert len(found.table("state", by=["adult"])) == 2 * 2
    assert len(found.table(by=[])) == len(BLOCKS)
    assert found.table("block", by=["adult", "sex"]).columns[3:5] == ("adult", "sex")
    assert table.guarantee == found.guarantee
    assert table.receipt is found.receipt
    frame = table.to_pandas()
    assert list(frame)[-3:] == ["count", "count_low", "count_high"]
    assert table.to_polars().shape == table.to_arrow().shape == (12, 7)
    assert (frame["count_low"] <= frame["count_high"]).all()


@pytest.mark.parametrize("nonnegative", [False, True])
def test_all_tables_add_up(found: census.Census, nonnegative: bool) -> None:
    def summed(level: str, by: Any, keys: int) -> dict[Any, float]:
        sums: dict[Any, float] = {}
        for row in found.table(level, by=by, nonnegative=nonnegative).rows:
            sums[row[:keys]] = sums.get(row[:keys], 0) + row[-1]
        return sums

    for by in (None, [], ["sex"], ["adult", "sex"]):
        for level in found.levels:
            assert summed(level, by, 1) == pytest.approx(summed("state", [], 1))
    assert summed("block", None, 2) == pytest.approx(summed("county", [], 2))


def test_whole_tables_are_whole_and_say_that_they_are_biased() -> None:
    nobody = {name: [] for name in people()}
    found = asked(nobody, attributes=SEX)
    table = found.table("block", nonnegative=True)
    assert all(type(row[-1]) is int and row[-1] >= 0 for row in table.rows)
    assert any("biased" in one for one in table.notes)
    assert not any("biased" in one for one in found.table("block").notes)
    for row, cells in zip(table.rows, table.cells(), strict=True):
        low, high = cells[-1]  # type: ignore[misc]
        assert 0 <= low <= row[-1] <= high


def test_wrong_tables_are_refused(found: census.Census) -> None:
    for wrong, words in (
        ({"level": "town"}, "no level 'town'"),
        ({"by": ["age"]}, "no attribute 'age'"),
        ({"by": "sex"}, "list of attributes"),
        ({"by": ["sex", "sex"]}, "name each attribute once"),
    ):
        with pytest.raises(dither.ArgumentError, match=words):
            found.table(**wrong)


# Unions


def test_a_union_is_the_sum_of_its_places(found: census.Census) -> None:
    rows = {row[:-1]: row[-1] for row in found.table("block", by=["sex"]).rows}
    union = found.union([("01", "2"), ("02", "1", "c")], where={"sex": "f"})
    expected = rows["01", "2", "a", "f"] + rows["02", "1", "c", "f"]
    assert union.value == pytest.approx(expected)
    low, high = union.interval()
    assert low <= union.value <= high
    assert isinstance(union, Release)
    assert union.guarantee == found.guarantee


def test_places_are_named_in_many_ways(found: census.Census) -> None:
    whole = found.union([("01",)]).value
    for named in (
        ("01",),
        [("1",)],
        [("01", "1"), ("01", 2)],
        {"state": ["1"]},
        [("01", "1", "a"), ("01", "1", "b"), ("01", "2")],
    ):
        level = "state" if isinstance(named, dict) else None
        assert found.union(named, level=level).value == pytest.approx(whole)
    assert found.union("c").value == pytest.approx(
        found.union([("02", "1", "c")]).value
    )
    assert found.union(["02"], level="state").value == pytest.approx(
        found.union([("02",)]).value
    )
    everybody = found.union([("01",), ("02",)], where={"adult": [True, False]})
    assert everybody.value == pytest.approx(found.value.sum())


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ([("01",), ("01", "2")], "blocks must not overlap"),
        ([("01", "2", "a"), ("1", 2, "a")], "blocks must not overlap"),
        ([("03",)], "not in the geography"),
        (["z"], "not in the geography"),
        (["a"], "several places have the label"),
        ([1], "several places have the label"),
        ([], "name at least one place"),
        ([()], "does not have one label"),
        ([("01", "1", "a", "x")], "does not have one label"),
        (None, "not in the geography"),
    ],
)
def test_wrong_unions_are_refused(found: census.Census, named: Any, words: str) -> None:
    with pytest.raises(dither.ArgumentError, match=words):
        found.union(named)


def test_wrong_categories_are_refused(found: census.Census) -> None:
    for wrong, words in (
        ({"age": 1}, "no attribute"),
        ({"sex": "x"}, "has no category 'x'"),
        ("sex", "must be categories"),
    ):
        with pytest.raises(dither.ArgumentError, match=words):
            found.union([("01",)], where=wrong)  # type: ignore[arg-type]


def test_sums_are_narrower_than_their_parts_together() -> None:
    keys, data = simulated(200, 3000)
    found = asked(data, keys=keys)
    low, high = found.union([(0,)]).interval()
    parts = [found.union([(0, i)]).interval() for i in range(10)]
    assert high - low < sum(b - a for a, b in parts) / 3


# Measurements


@pytest.mark.usefixtures("exact")
def test_measurements_are_published() -> None:
    data = people()
    found = asked(data, attributes=SEX)
    frame = found.measurements.to_pandas()
    assert len(frame) == len(found.measurements) == (2 + 3 + 5) * 3
    assert list(frame) == [
        "state",
        "county",
        "block",
        "sex",
        "level",
        "marginal",
        "scale",
        "variance",
        "value",
    ]
    state = frame[(frame.level == "state") & (frame.marginal == "total")]
    assert dict(zip(state.state, state.value, strict=True)) == {
        s: data["state"].count(s) for s in ("01", "02")
    }
    assert state.county.isna().all()
    assert (frame.variance > frame.scale**2).all()
    assert found.measurements.to_polars().shape == (30, 9)
    assert found.measurements.to_arrow().shape == (30, 9)
    assert "30 measurements" in str(found.measurements)


def test_a_stranger_can_fit_the_measurements_again() -> None:
    """Weighted least squares of the published file gives the published table."""
    found = asked(attributes=SEX)
    frame = found.measurements.to_pandas()
    cells = [row[:-1] for row in found.table("block").rows]
    design = np.array(
        [
            [
                all(
                    given is None or given == cell[place]
                    for place, given in enumerate(line)
                )
                for cell in cells
            ]
            for line in frame[["state", "county", "block", "sex"]]
            .astype(object)
            .where(frame[["state", "county", "block", "sex"]].notna(), None)
            .to_numpy()
        ],
        float,
    )
    weights = 1 / np.sqrt(frame.variance.to_numpy())
    fitted = np.linalg.lstsq(
        design * weights[:, None], frame.value.to_numpy() * weights, rcond=None
    )[0]
    assert fitted == pytest.approx([row[-1] for row in found.table("block").rows])


# The release itself


def test_a_census_prints_its_errors(found: census.Census) -> None:
    text = str(found)
    assert "  state: totals within ±" in text
    assert "declared, source not stated" in text
    assert "Census" in repr(found)
    assert "<p>" in found._repr_html_()
    assert list(found.errors()) == list(found.levels)
    assert sum(found.shares.values()) == pytest.approx(1)
    assert ("state", ("sex", "adult")) in found.shares


def test_the_picture_shows_both_errors(found: census.Census) -> None:
    svg = found.plot().svg()
    assert "each level by itself" in svg
    one = census.geography([("a",), ("b",)], levels=["block"])
    assert ">block<" in census.release({"block": ["a"]}, keys=one, rho=1).plot().svg()


def test_what_was_not_measured_is_unknown() -> None:
    found = asked(shares={"state": 1})
    assert found.errors()["block"] == np.inf
    with pytest.raises(dither.ArgumentError, match="cannot be computed from"):
        found.union([BLOCKS[0]])
    with pytest.raises(dither.ArgumentError, match="cannot be computed from"):
        found.table("block", by=[])
    assert np.isfinite(found.union([("01",)]).interval()).all()
    assert "inf" in str(found)
    found.plot()


def test_arithmetic_makes_a_plain_release(found: census.Census) -> None:
    doubled = 2 * found
    assert type(doubled) is Release
    assert doubled.value == pytest.approx(2 * found.value)
    assert len(found) == len(BLOCKS)


def test_tables_outside_the_workload_are_refused() -> None:
    cross = {**SEX, "adult": [True, False]}
    data = people() | {"adult": [True] * 40}
    found = asked(data, attributes=cross, workload=[("sex",), ("adult",)])
    assert len(found.table("state", by=["sex"])) == 4
    for asking in (
        lambda: found.table("state"),
        lambda: found.table("state", nonnegative=True),
        lambda: found.union([("01",)], where={"sex": "f", "adult": True}),
    ):
        with pytest.raises(
            dither.ArgumentError, match="by sex×adult cannot be computed"
        ):
            asking()


def test_exact_totals_are_whole_numbers_everywhere() -> None:
    data = people(997)
    cross = {**SEX, "a": ["x", "y", "z"]}
    data["a"] = ["xyz"[i % 3] for i in range(997)]
    found = asked(data, attributes=cross, invariants=["state"], rho=0.37)
    states = [data["state"].count("01"), data["state"].count("02")]
    table = found.table("state", by=[])
    assert [row[-1] for row in table.rows] == states
    assert table["count"].interval()[0].tolist() == states
    assert f"{states[0]} ±0" in str(table)
    assert f"01,{states[0]}.0,{states[0]}.0,{states[0]}.0" in table.to_csv()
    assert found.union([("01",)]).value == states[0]
    alone = asked(
        {"state": ["01", "02", "02"], "sex": ["f"] * 3},
        keys=[("01",), ("02",)],
        levels=["state"],
        attributes=SEX,
        invariants=["state"],
    )
    assert alone.value.tolist() == [1, 2]


def test_printed_counts_of_one_column_have_one_form() -> None:
    found = asked({name: [] for name in [*LEVELS, "sex"]}, attributes=SEX)
    table = found.table("block")
    printed = str(table)
    assert printed.count("±") == len(table)
    assert "at 95 %" not in printed
    assert "an estimate can lie below 0" in printed
    assert "declared bounds" not in printed
    counts = table["count"]
    assert (counts.interval()[0] >= np.minimum(counts.value, 0)).all()


def test_exports_name_the_blocks(found: census.Census, tmp_path: Any) -> None:
    frame = found.to_pandas()
    assert frame.columns.to_list()[:4] == [*LEVELS, "count"]
    assert frame["block"].to_list() == [block for _, _, block in BLOCKS]
    text = found.to_csv()
    assert text is not None
    assert text.startswith("state,county,block,count,count_low,count_high")
    assert found.to_arrow().num_rows == len(found.to_polars()) == len(BLOCKS)
    measured = found.measurements.to_csv()
    assert measured is not None
    assert len(measured.splitlines()) == len(found.measurements) + 1
    found.measurements.to_csv(tmp_path / "measured.csv")
    assert (tmp_path / "measured.csv").read_text() == measured


def test_a_release_holds_nothing_private() -> None:
    """It can be handed on: neither people nor the account are within reach."""
    budget = dither.Budget(9.0, 1e-6, unit=census.unit("person", ["state"]))
    found = asked(invariants=["state"], budget=budget)
    again = pickle.loads(pickle.dumps(found))
    assert again.value.tolist() == found.value.tolist()
    table = pickle.loads(pickle.dumps(found.table("county")))
    assert table.rows == found.table("county").rows
    assert copy.deepcopy(found).invariants == found.invariants


def test_wrong_unions_are_errors_in_words(found: census.Census) -> None:
    with pytest.raises(dither.ArgumentError, match="have no column 'county'"):
        found.union({"state": ["01"]})
    several = found.union([("01",)], where={"sex": np.array(["f", "m"])})
    assert several.value == pytest.approx(found.union([("01",)]).value)
