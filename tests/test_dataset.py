import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dither
from dither.dataset import Kind, kind_of


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (np.zeros(1, np.uint8), Kind.INTEGERS),
        (np.zeros(1), Kind.REALS),
        (np.zeros(1, bool), Kind.TRUTHS),
        (np.array(["a"]), Kind.OTHER),
        (np.array(["2020-01-01"], "datetime64[D]"), Kind.OTHER),
        ([1, 2], Kind.ANYTHING),
        (pd.Series([1, None], dtype="Int64"), Kind.INTEGERS),
        (pd.Series([True]), Kind.TRUTHS),
        (pl.Series([1]), Kind.INTEGERS),
        (pl.Series(["a"]), Kind.OTHER),
        (pa.array([1.5]), Kind.REALS),
        (pa.array([True]), Kind.TRUTHS),
    ],
)
def test_kinds_come_from_the_schema(column, kind):
    assert kind_of(column) is kind


def test_columns_are_fetched_by_name():
    dataset = dither.Dataset.of({"a": [1], "b": [2]})
    assert dataset.fetch(["b"]) == {"b": [2]}
    assert dataset["a"].fetch() == [1]


@pytest.mark.parametrize("declared", ["bounds", "keys", "provenance"])
def test_declarations_name_columns_that_are_there(declared):
    with pytest.raises(dither.ArgumentError, match=declared):
        dither.Dataset.of({"a": [1]}, **{declared: {"b": (0, 1)}})


def test_unknown_columns():
    with pytest.raises(dither.ArgumentError, match="'a'"):
        dither.Dataset.of({"a": [1]})["b"]
    with pytest.raises(dither.ArgumentError, match="owner"):
        dither.Dataset.of({"a": [1]}, owner="b")
