"""What a release says about how columns were read."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import dither
from dither import ArgumentError
from dither.learn.records import source_of
from dither.learn.words import Words

WAYS: dict[str, tuple[Any, str]] = {
    "each by itself": (
        {"a": (0, 2), "b": ["x", "y"], "c": Words(["pain"], 4)},
        "a as numbers from 0–2 to 0–1, b as 2 keys, c as 4 words of 1",
    ),
    "few alike": (list("abc"), "a as numbers, b as numbers, c as numbers"),
    "many alike": (list("abcd"), "4 columns from a to d, each as numbers"),
    "alike, but apart": (
        {"a": None, "b": None, "c": ["x"], "d": None, "f": None},
        "a as numbers, b as numbers, c as 1 key, d as numbers, f as numbers",
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_columns_that_are_read_alike_are_named_together(way: str) -> None:
    inputs, said = WAYS[way]
    frame = {name: [0.0, 1.0] for name in "abcdef"}
    source = source_of(frame, inputs=inputs, target="e", owner="row")
    assert source.notes == (f"inputs: {said}",)


def test_the_target_is_not_an_input() -> None:
    frame = {name: [0.0, 1.0] for name in "abe"}
    with pytest.raises(ArgumentError, match="must not contain the target 'e'"):
        source_of(frame, inputs=["a", "e"], target="e", owner="row")
    data = dither.open(
        pd.DataFrame({"id": [1, 2], **frame}),
        unit="id",
        bounds={"a": (0, 1), "e": (0, 1)},
        rows=1,
        population=2,
        budget=(1.0, 1e-7),
        ledger=":memory:",
    )
    with pytest.raises(ArgumentError, match="must not contain the target 'e'"):
        source_of(data, inputs=["a", "e"], target="e")
    assert data.account.charges == 0
