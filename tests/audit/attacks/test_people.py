"""Tables and attacks from counts of blocks, or from the people themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import dither
from dither import ArgumentError
from dither.audit import attacks
from dither.science import census

AGES = {"age": ["child", "adult", "old"], "sex": ["f", "m"]}
KINDS = {"sex": ["f", "m"], "age": census.edges([0, 18, 65, 110])}
LEVELS = ["town", "block"]
BLOCKS = census.geography([("a", 1), ("a", 2), ("b", 1)], levels=LEVELS)
PEOPLE = {
    "town": ["a", "a", "a", "b", "b", "c"],
    "block": [1, 1, 2, 1, 1, 1],
    "sex": ["f", "m", "f", "f", "x", "f"],
    "age": [3, 40, 110, 65, 1, 1],
}
COUNTS = [[1, 0, 0, 0, 1, 0], [0, 0, 1, 0, 0, 0], [0, 0, 1, 0, 0, 0]]


@pytest.mark.parametrize(
    "truth",
    [
        np.zeros(6),
        np.zeros((2, 5)),
        np.full((2, 6), 0.5),
        np.full((2, 6), -1),
        np.full((2, 6), np.nan),
        np.full((2, 6), 1e9),
        np.full((2, 6), "1"),
        [[1, 2], [3]],
    ],
)
def test_counts_are_checked(truth: Any) -> None:
    with pytest.raises(ArgumentError, match="truth"):
        attacks.tables(truth, ["sex"], attributes=AGES)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ArgumentError, match="name some of age, sex"):
        attacks.tables(np.zeros((1, 6)), ["race"], attributes=AGES)
    for wanted in ("sex", 3):
        with pytest.raises(ArgumentError, match="a list of tables"):
            attacks.tables(np.zeros((1, 6)), wanted, attributes=AGES)  # type: ignore[arg-type]


@pytest.mark.parametrize("people", [PEOPLE, pandas.DataFrame(PEOPLE)])
def test_people_are_counted_in_their_blocks(people: Any) -> None:
    """Whoever is not declared counts for nobody."""
    wanted: list[Any] = [("sex", "age"), "sex", ()]
    found = attacks.tables(people, wanted, attributes=KINDS, keys=BLOCKS)
    assert found[("sex", "age")].tolist() == COUNTS
    assert found[("sex",)].tolist() == [[1, 1], [1, 0], [1, 0]]
    listed = attacks.tables(
        people, ["sex"], attributes=KINDS, keys=[("a", 1), ("b", 1)], levels=LEVELS
    )
    assert listed[("sex",)].tolist() == [[1, 1], [1, 0]]


def test_an_attack_from_people() -> None:
    shown = attacks.tables(PEOPLE, ["sex", "age"], attributes=KINDS, keys=BLOCKS)
    found = attacks.reconstruction(shown, PEOPLE, attributes=KINDS, keys=BLOCKS)
    assert found.truth.tolist() == COUNTS
    assert found.solutions == (2, 1, 1)
    assert found.records(("b", 1)) == found.records(2) == [("f", "[65, 110]")]
    assert found.records(np.int64(1)) == [("f", "[65, 110]")]


@pytest.mark.parametrize("block", [("b", 2), ("a",), "b", -1, 3, None, 0.5, ["a", 1]])
def test_blocks_that_are_not_there(block: Any) -> None:
    shown = attacks.tables(PEOPLE, ["sex"], attributes=KINDS, keys=BLOCKS)
    found = attacks.reconstruction(shown, PEOPLE, attributes=KINDS, keys=BLOCKS)
    with pytest.raises(ArgumentError):
        found.records(block)
    nameless = attacks.reconstruction(shown, COUNTS, attributes=KINDS)
    with pytest.raises(ArgumentError, match="number of a block from 0 to 2"):
        nameless.records(("a", 1) if isinstance(block, int) else block)


def test_bad_questions(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="keys are missing"):
        attacks.tables(PEOPLE, ["sex"], attributes=KINDS)
    with pytest.raises(ArgumentError, match="has 3 blocks, but keys lists 2"):
        attacks.tables(
            COUNTS, ["sex"], attributes=KINDS, keys=[("a",), ("b",)], levels=["block"]
        )
    with pytest.raises(ArgumentError, match="no column 'town'"):
        attacks.tables({"sex": ["f"]}, ["sex"], attributes=KINDS, keys=BLOCKS)
    book = tmp_path / "book.db"
    stored = dither.open(pandas.DataFrame(PEOPLE), unit="row", budget=1.0, ledger=book)
    with pytest.raises(ArgumentError, match="only gives noisy answers"):
        attacks.tables(stored, ["sex"], attributes=KINDS, keys=BLOCKS)
    many = [(number,) for number in range(50_000)]
    wide = {f"x{place}": [0, 1, 2, 3] for place in range(4)} | {"y": [0, 1]}
    with pytest.raises(ArgumentError, match="take fewer blocks"):
        attacks.tables(
            {name: [] for name in ("block", *wide)},
            ["y"],
            attributes=wide,
            keys=many,
            levels=["block"],
        )
