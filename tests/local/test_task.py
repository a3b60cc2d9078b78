"""Values become items, and items messages, in bulk as one by one."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dither import local
from dither.errors import ArgumentError
from dither.local.domain import canonical
from dither.local.hashes import digests
from tests.chance import chance


@pytest.mark.parametrize(
    "values",
    [
        ["a", "b", "a", "é", "e\u0301", "", "\ud800"],
        [1, True, "1", 1.5, None, [2], "a"],
        [],
    ],
)
def test_equal_texts_are_hashed_once_and_alike(values: list[Any]) -> None:
    """1, True and "1" are three values; what is no value is "none"."""
    task = local.task("words", epsilon=1, n=1000)
    expected = digests([canonical(value) or b"n:" for value in values])
    assert (task.items(values) == expected).all()


@pytest.mark.parametrize("kind", [np.uint8, np.int64, np.uint64])
def test_whole_numbers_of_a_range(kind: Any) -> None:
    task = local.task("ages", domain=range(10, 20), epsilon=1, n=1000)
    assert task.items(np.array([10, 19, 12], kind)).tolist() == [0, 9, 2]
    assert task.items(np.array([9, 20, 12], kind)).tolist() == [10, 10, 2]
    assert task.items(np.array([], kind)).tolist() == []


@chance(1e-10)
@pytest.mark.parametrize("oracle", ["k-ary response", "optimized unary"])
def test_blocks_are_put_together(monkeypatch: pytest.MonkeyPatch, oracle: str) -> None:
    monkeypatch.setattr(sys.modules["dither.local.task"], "TOGETHER", 64)
    task = local.task("many", domain=5, epsilon=9, n=1000, oracle=oracle, none=False)
    messages = task.randomize(np.repeat(np.arange(5), 200))
    found = task.tally(messages)
    assert found.messages == 1000
    assert found.estimate().value == pytest.approx(np.full(5, 0.2), abs=0.1)


@pytest.mark.parametrize("column", [list, np.array, pd.Series, pl.Series, pa.array])
def test_a_column_of_any_kind(column: Any) -> None:
    listed = local.task("t", domain=["a", "b"], epsilon=1, n=100)
    assert listed.items(column(["b", "a", "?"])).tolist() == [1, 0, 2]
    numbers = local.task("t", domain=local.Numbers(0, 9, 1), epsilon=1, n=100)
    assert numbers.items(column([3, 11])).tolist() == [3, 9]
    texts = local.task("t", epsilon=1, n=100)
    wanted = digests([canonical("x") or b"", canonical("y") or b""])
    assert texts.items(column(["x", "y"])).tolist() == wanted.tolist()


@pytest.mark.parametrize("domain", [["a", "b"], local.Numbers(0, 9, 1), None])
@pytest.mark.parametrize("values", [None, 3, {"a": ["a"]}, pd.DataFrame({"a": ["a"]})])
def test_what_is_no_column(domain: Any, values: Any) -> None:
    task = local.task("t", domain=domain, epsilon=1, n=100)
    with pytest.raises(ArgumentError, match=r"values must be (a list|one column)"):
        task.randomize(values)


def test_an_array_lists_values() -> None:
    for values in (["a", "b"], [3, 4]):
        task = local.task("t", domain=np.array(values), epsilon=1, n=100)
        assert task.domain == local.Domain(tuple(values))
