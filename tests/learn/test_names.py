"""What a call names: columns, tables, owners. Nothing of the rows is looked at."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dither import ArgumentError
from dither.learn.names import column_in, column_names, ids_of, is_frame, listed, named

COLUMNS = {"a": np.array([1, 2]), "b": np.array([3, 4])}
FRAMES = [COLUMNS, pd.DataFrame(COLUMNS), pa.table(COLUMNS)]


@pytest.mark.parametrize("frame", FRAMES, ids=["mapping", "pandas", "arrow"])
def test_frames_name_their_columns(frame: Any) -> None:
    assert is_frame(frame)
    assert column_names(frame) == ["a", "b"]
    assert list(np.asarray(column_in(frame, "inputs", "b"))) == [3, 4]
    with pytest.raises(ArgumentError, match="no column 'c'; use one of 'a', 'b'"):
        column_in(frame, "target", "c")


def test_what_a_column_holds_is_never_named() -> None:
    """A column of pandas is an attribute too, also one that is called like the names of
    an Arrow table.
    """
    frame = pd.DataFrame({"column_names": ["Ann", "Bob"], "x": [1, 2]})
    assert column_names(frame) == ["column_names", "x"]
    with pytest.raises(ArgumentError, match="use one of 'column_names', 'x'"):
        column_in(frame, "inputs", "y")


def test_labels_of_rows_do_not_matter() -> None:
    owners = pd.Series([1, 2], index=["cpu", "numpy"])
    assert list(ids_of(None, owners)()) == [1, 2]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        {"a": np.zeros((2, 2))},
    ],
    ids=["twice", "two numbers a row"],
)
def test_a_column_has_one_value_for_each_row(frame: Any) -> None:
    with pytest.raises(ArgumentError, match="once"):
        column_in(frame, "inputs", "a")


@pytest.mark.parametrize("inputs", [None, "age", [], [1], 3])
def test_columns_are_listed_by_name(inputs: Any) -> None:
    with pytest.raises(ArgumentError, match="must list the columns"):
        listed(inputs)
    with pytest.raises(ArgumentError, match="or otherwise"):
        listed(inputs, "or otherwise")


def test_a_mapping_is_a_list_only_where_that_is_said() -> None:
    assert listed(["a", "b"]) == ["a", "b"]
    assert listed({"a": (0, 1)}, "or otherwise") == ["a"]
    with pytest.raises(ArgumentError):
        listed({"a": (0, 1)})
    assert named("ward") == "ward"
    with pytest.raises(ArgumentError, match="must name a column"):
        named(None)


def test_owners_are_ids_a_column_or_each_row() -> None:
    assert ids_of(None, "row")() is None
    assert list(ids_of(COLUMNS, "a")()) == [1, 2]
    assert ids_of(None, ["x", "y"])() == ["x", "y"]


@pytest.mark.parametrize(
    ("owner", "said"),
    [
        (None, "is missing"),
        ("a", "not a frame"),
        (np.array([1.0, 2.0]), "floats merge"),
        (np.zeros((2, 2), int), "must be a column"),
        (7, "must be a column"),
    ],
    ids=range(5),
)
def test_other_owners_are_refused(owner: Any, said: str) -> None:
    with pytest.raises(ArgumentError, match=said):
        ids_of(None, owner)
