"""A public list of blocks becomes a tree; what does not nest is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dither
from dither.science import census
from tests.science.census.support import BLOCKS, LEVELS, places

COLUMNS = {name: [one[i] for one in BLOCKS] for i, name in enumerate(LEVELS)}


def paths(found: census.Geography) -> list[tuple[Any, ...]]:
    return [found.path(2, node) for node in range(found.blocks)]


@pytest.mark.parametrize(
    "held",
    [BLOCKS, COLUMNS, pd.DataFrame(COLUMNS), pl.DataFrame(COLUMNS), pa.table(COLUMNS)],
)
def test_a_list_of_blocks_is_a_tree(held: Any) -> None:
    found = census.geography(held, levels=LEVELS, full=False)
    assert found.tree.sizes == (2, 3, 5)
    assert paths(found) == BLOCKS
    assert [one.tolist() for one in found.tree.parents] == [
        [0, 0],
        [0, 0, 1],
        [0, 0, 1, 2, 2],
    ]
    assert "2 × state, 3 × county, 5 × block" in str(found)


def test_lines_may_come_in_any_order() -> None:
    found = census.geography(BLOCKS[::-1], levels=LEVELS, full=False)
    assert sorted(paths(found)) == sorted(BLOCKS)
    codes = [
        coding.codes(COLUMNS[name])
        for name, coding in zip(LEVELS, found.codings(), strict=True)
    ]
    assert [found.path(2, int(node)) for node in found.found(codes)] == BLOCKS


@pytest.mark.parametrize("state", ["01", "1", 1, 1.0, np.int8(1), " 1", "1.0", b"01"])
def test_whole_numbers_are_the_same_however_they_are_written(state: Any) -> None:
    found = places()
    one, two, three = (
        coding.codes([item])
        for coding, item in zip(found.codings(), [state, 2, "a"], strict=True)
    )
    assert found.found([one, two, three]).tolist() == [2]


def test_a_record_outside_of_the_geography_is_nowhere() -> None:
    found = places()
    for labels in [
        ("03", "1", "a"),
        ("01", "2", "b"),
        (None, "1", "a"),
        ("01", 1.5, "a"),
        ("02", "2", "a"),
    ]:
        codes = [
            coding.codes([one])
            for coding, one in zip(found.codings(), labels, strict=True)
        ]
        assert found.found(codes).tolist() == [-1]


def test_one_level_is_a_geography() -> None:
    found = census.geography([("a",), ("b",)], levels=["block"])
    assert found.tree.sizes == (2,)
    assert census.geography({"block": ["a", "b"]}).levels == ("block",)


@pytest.mark.parametrize(
    ("blocks", "words"),
    [
        ([], "at least one block"),
        ([("1", "1", "a"), ("01", "1", "a")], "are the same label"),
        (
            [("01", "1", "a"), ("01", "1", "a")],
            "state 01, county 1, block a. is listed twice",
        ),
        ([("1", "1", None)], "level 'block' has None"),
        ([("1", float("nan"), "a")], "level 'county' has nan"),
        ([("1", 1.5, "a")], "has 1.5, which is not a label"),
        ([("1", 2**53, "a")], "has 9007199254740992"),
        ([("1", "", "a")], "has '', which is not a label"),
        ([("1", "x\0", "a")], "not every database"),
        ([("1", "\ud800", "a")], "not every database"),
        ([("1", "a")], "does not have a label for each"),
        ([("1", "1", "a"), "1a"], "does not have a label for each"),
        ("abc", "must be a list of blocks, not str"),
        (3, "must be a list of blocks, not int"),
        ({"state": ["1"], "county": ["1"]}, "'block' is not a column"),
        ({"state": ["1"], "county": ["1", "2"], "block": ["1"]}, "of equal length"),
    ],
)
def test_a_wrong_list_is_refused_with_an_example(blocks: Any, words: str) -> None:
    with pytest.raises(dither.ArgumentError, match=words):
        census.geography(blocks, levels=LEVELS)


@pytest.mark.parametrize(
    ("levels", "words"),
    [
        (None, "levels must be declared"),
        ([], "must name"),
        ("state", "must name"),
        (["state", 3, "block"], "must name"),
        (["state", "state", "block"], "twice"),
        ([f"level {i}" for i in range(13)], "must name"),
    ],
)
def test_wrong_levels_are_refused(levels: Any, words: str) -> None:
    with pytest.raises(dither.ArgumentError, match=words):
        census.geography(BLOCKS, levels=levels)


def test_a_block_in_two_counties_does_not_nest() -> None:
    blocks = [
        ("1", "10", "100"),
        ("1", "10", "101"),
        ("1", "11", "110"),
        ("1", "11", "100"),
    ]
    with pytest.raises(
        dither.ArgumentError,
        match=r"keys must nest, but block '100' lies in county \('1', '10'\)",
    ):
        census.geography(blocks, levels=LEVELS)
    assert census.geography(blocks, levels=LEVELS, full=False).blocks == 4


def test_full_ids_are_unique() -> None:
    with pytest.raises(dither.ArgumentError, match="keys must nest"):
        census.geography(BLOCKS, levels=LEVELS, full=True)
    with pytest.raises(dither.ArgumentError, match="full"):
        census.geography(BLOCKS, levels=LEVELS, full="yes")  # type: ignore[arg-type]


def test_labels_may_start_again_everywhere() -> None:
    blocks = [(state, county) for state in "abc" for county in range(4)]
    assert census.geography(blocks, levels=["state", "county"]).blocks == 12


def test_nothing_that_was_read_is_kept() -> None:
    """A geography is public, and must not remember private labels."""
    found = places()
    found.codings()[2].codes(["somebody's secret"])
    census.release(
        {"state": ["secret"], "county": ["secret"], "block": ["secret"]},
        keys=found,
        rho=1,
    )
    assert "secret" not in repr(vars(found))


def test_levels_from_the_bottom_up_are_refused() -> None:
    blocks = [(f"v{i}", f"d{i // 4}", f"r{i // 8}") for i in range(16)]
    names = ["village", "district", "region"]
    with pytest.raises(
        dither.ArgumentError, match="levels must be ordered from the top"
    ):
        census.geography(blocks, levels=names)
    found = census.geography([one[::-1] for one in blocks], levels=names[::-1])
    assert found.tree.sizes == (2, 4, 16)
    ones = [(f"v{i}", str(i % 2)) for i in range(16)]
    with pytest.raises(dither.ArgumentError, match="full=False"):
        census.geography(ones, levels=["village", "block"])
    assert census.geography(ones, levels=["village", "block"], full=False).blocks == 16
    only = [(f"v{i}", "1") for i in range(16)]
    assert census.geography(only, levels=["village", "block"]).blocks == 16


def test_places_that_would_be_one_are_refused() -> None:
    blocks = [("01", "a"), ("1", "b")]
    with pytest.raises(dither.ArgumentError, match="'01' and '1', which are the same"):
        census.geography(blocks, levels=["state", "block"])
    codes = [("0E1", "c"), ("0E2", "d"), ("10E1", "e"), ("1E2", "f")]
    assert census.geography(codes, levels=["state", "block"]).tree.sizes == (4, 4)


def test_one_label_in_two_places_is_named_alone() -> None:
    blocks = [("a", "1"), ("b", "1"), ("b", "2"), ("b", "3")]
    with pytest.raises(dither.ArgumentError, match="keys must nest") as refused:
        census.geography(blocks, levels=["state", "block"])
    assert "more label" not in str(refused.value)
