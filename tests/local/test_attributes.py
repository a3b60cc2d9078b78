"""Several attributes: which parts there are, and what each sees of a record."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dither import local
from dither.errors import ArgumentError
from dither.local.words import FRESH
from tests.chance import chance

AGE = local.Domain(range(3))
SEX = local.Domain(("f", "m"), none=False)
CITY = local.Domain(("a", "b"))
ONE = local.Attributes((("age", AGE), ("sex", SEX), ("city", CITY)))
TWO = local.Attributes(ONE.fields, pairs=True)
ROWS = [
    {"age": 0, "sex": "f", "city": "b"},
    {"age": 2, "sex": "m", "city": "z"},
]


def test_parts_are_attributes_or_pairs() -> None:
    assert ONE.parts == (("age",), ("sex",), ("city",))
    assert ONE.sizes == (4, 2, 3)
    assert TWO.parts == (("age", "sex"), ("age", "city"), ("sex", "city"))
    assert TWO.sizes == (8, 12, 6)


def test_items_of_each_part() -> None:
    assert ONE.places(ROWS, FRESH).tolist() == [[0, 0, 1], [2, 1, 2]]
    assert TWO.places(ROWS, FRESH).tolist() == [[0, 1, 1], [5, 8, 5]]
    for domain in (ONE, TWO):
        for row, items in zip(ROWS, domain.places(ROWS, FRESH), strict=True):
            found = [domain.answer(row, part)[1] for part in range(3)]
            expected = [
                item if place >= 0 else domain.nothing(part)
                for part, (item, place) in enumerate(zip(items, found, strict=True))
            ]
            assert items.tolist() == expected


def test_columns_do_as_well_as_rows() -> None:
    columns = {name: [row[name] for row in ROWS] for name in ROWS[0]}
    wanted = TWO.places(ROWS, FRESH).tolist()
    for frame in (columns, pd.DataFrame(columns), pl.DataFrame(columns)):
        assert TWO.places(frame, FRESH).tolist() == wanted


def test_whole_numbers_stay_whole_where_some_are_missing() -> None:
    columns = {"age": [0, None, 2], "sex": ["f", "m", "f"], "city": ["a", "b", None]}
    rows = [
        dict(zip(columns, row, strict=True))
        for row in zip(*columns.values(), strict=True)
    ]
    wanted = TWO.places(rows, FRESH).tolist()
    nullable = pd.DataFrame(columns).astype({"age": "Int64"})
    for frame in (nullable, pl.DataFrame(columns), pa.table(columns)):
        assert TWO.places(frame, FRESH).tolist() == wanted


@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_a_missing_column_is_named(frame: Any) -> None:
    with pytest.raises(
        ArgumentError, match=r"values have no column 'city', .*; add it"
    ):
        ONE.places(frame({"age": [1], "sex": ["f"], "City": ["a"]}), FRESH)


def test_a_column_may_be_called_like_the_names_of_an_arrow_table() -> None:
    columns = {"age": [1], "sex": ["f"], "city": ["a"]}
    frame = pd.DataFrame(columns | {"column_names": ["z"]})
    assert ONE.places(frame, FRESH).shape == ONE.places(columns, FRESH).shape


def test_columns_have_one_length() -> None:
    columns = {"age": [1, 2], "sex": ["f"], "city": ["a", "b"]}
    for domain in (ONE, TWO):
        with pytest.raises(
            ArgumentError, match="values must be columns of equal length"
        ):
            domain.places(columns, FRESH)


@pytest.mark.parametrize("values", [None, 7, "f"])
def test_values_are_rows_or_columns(values: object) -> None:
    with pytest.raises(ArgumentError, match="values must be a list of mappings, or a"):
        ONE.places(values, FRESH)


def test_words_have_a_task_of_their_own() -> None:
    domain = {"age": range(3), "word": local.Vocabulary("abc")}
    with pytest.raises(
        ArgumentError, match=r"cannot mix a Vocabulary .*; make two tasks"
    ):
        local.task("both", domain=domain, epsilon=1, n=1000)


def test_what_is_asked_for_must_be_there() -> None:
    for domain, wanted, said in (
        (ONE, "country", "must be an attribute of the task: age, sex, city$"),
        (ONE, ("age", "sex"), "make a task with pairs=True for tables of two$"),
        (TWO, "age", "must be a pair of attributes of the task: age, sex, city$"),
    ):
        with pytest.raises(ArgumentError, match=said):
            domain.part(wanted)


@pytest.mark.parametrize("value", [None, 7, "f", [], {"age": [1]}, {"sex": 1}])
def test_what_is_no_record_is_no_answer(value: object) -> None:
    assert ONE.answer(value, 1) == (None, -1)
    assert TWO.answer(value, 0) == (None, -1)  # "sex" has no "none"
    assert TWO.answer(value, 1) == (b"i:11", 11)  # both have


def test_a_pair_can_be_asked_for_either_way() -> None:
    assert TWO.part(("age", "city")) == (1, False)
    assert TWO.part(["city", "age"]) == (1, True)
    for wanted in ("age", ("age", "age"), ("age", "shoe"), None, 3):
        with pytest.raises(ArgumentError, match="pair of attributes"):
            TWO.part(wanted)
    for wanted in ("shoe", ("age", "sex"), None):
        with pytest.raises(ArgumentError, match="an attribute"):
            ONE.part(wanted)


@chance(1e-12)
def test_tables_are_the_right_way_round() -> None:
    rng = np.random.default_rng(5)  # allowed: a made-up population
    rows = {"sex": rng.choice(["f", "m"], 30_000, p=[0.9, 0.1]), "age": [1] * 30_000}
    fields = {"age": range(3), "sex": ["f", "m"]}
    task = local.task("t", domain=fields, epsilon=8, n=30_000, pairs=True)
    tally = task.tally(task.randomize(rows))
    one, other = tally.estimate(("age", "sex")), tally.estimate(("sex", "age"))
    assert one[1, "f"].value == pytest.approx(0.9, abs=0.03)
    assert other["f", 1].value == one[1, "f"].value
    assert other["m", 1].value == one[1, "m"].value
    assert one.what == "t, age and sex"
    assert sum(one.value) == pytest.approx(1, abs=0.1)


def test_names_in_words() -> None:
    assert ONE.name(0, 2) == "age 2"
    assert TWO.name(1, 5) == "age 1, city none"


def number(**about: object) -> local.Numbers:
    return local.Numbers(0, 10, **about)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "pairs", "message"),
    [
        ((("age", AGE),), False, "two attributes"),
        ((("age", AGE), ("age", SEX)), False, "different names"),
        ((("age", AGE), ("", SEX)), False, "by a string"),
        ((("age", AGE), (3, SEX)), False, "by a string"),
        ((("age", AGE), ("score", number())), True, "mean"),
        ((("age", AGE), ("score", number(ask="variance"))), False, "mean"),
        ((("age", AGE), ("sex", "fm")), False, "'sex' must be a local.Domain"),
        ((("age", AGE), ("sex", SEX)), 1, "True or False"),
        (tuple((f"a{i}", SEX) for i in range(257)), False, "256 attributes"),
        (tuple((f"a{i}", SEX) for i in range(24)), True, "256 pairs"),
        (
            (("a", local.Domain(range(10**4))),) * 1
            + (("b", local.Domain(range(10**4))),),
            True,
            "pairs of values",
        ),
    ],
)
def test_what_cannot_be_asked_together_is_refused(fields, pairs, message) -> None:
    with pytest.raises(ArgumentError, match=message):
        local.Attributes(fields, pairs)


def test_pairs_are_of_attributes() -> None:
    with pytest.raises(ArgumentError, match="pairs"):
        local.task("t", domain=["a", "b"], epsilon=1, n=100, pairs=True)


def test_many_attributes_can_be_asked_again() -> None:
    """There is one hash function for each of so many: none that hashes."""
    many = {str(number): range(5) for number in range(200)}
    usual: dict[str, Any] = {"epsilon": 1, "for_ever": 2, "every": "day", "n": 10_000}
    task = local.task("x", domain=many, **usual)
    assert task.oracle.tracking <= 256
