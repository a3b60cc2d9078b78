"""Declared categories and edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dither
from dither.science import census
from dither.science.census.attributes import attributes_of


def test_cells_are_the_cross_of_all() -> None:
    found = attributes_of(
        {"sex": ["f", "m"], "adult": [True, False], "age": census.edges([0, 18, 65])}
    )
    assert found.sizes == (2, 2, 2)
    assert found.cells == 8
    assert found.labels((0, 2)) == [
        ("f", "[0, 18)"),
        ("f", "[18, 65]"),
        ("m", "[0, 18)"),
        ("m", "[18, 65]"),
    ]
    assert attributes_of(None).cells == 1


def test_categories_are_read_one_by_one() -> None:
    adult = attributes_of({"adult": [True, False]}).named["adult"]
    items = [True, "false", 1, 0.0, "yes", None, np.True_, " TRUE"]
    assert adult.codes(items).tolist() == [0, 1, 0, 1, -1, -1, 0, 0]


def test_numbers_fall_into_bins() -> None:
    age = census.edges([0, 18, 65.5, 110])
    assert age.labels == ("[0, 18)", "[18, 65.5)", "[65.5, 110]")
    items = [
        0,
        17.9,
        "18",
        65.5,
        110,
        110.1,
        -1,
        None,
        "x",
        True,
        float("nan"),
        10**400,
        "1_0",
        b"20",
    ]
    assert age.codes(items).tolist() == [
        0,
        0,
        1,
        2,
        2,
        -1,
        -1,
        -1,
        -1,
        -1,
        -1,
        -1,
        -1,
        1,
    ]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["sex"], "must be categories by name"),
        ("sex", "must be categories by name"),
        ({"sex": []}, "must have 1 to"),
        ({"sex": "fm"}, "must have 1 to"),
        ({"sex": 3}, "must have 1 to"),
        ({"sex": ["f", None]}, "has None, which is not a label"),
        ({"sex": ["1", 1]}, "twice"),
        ({"age": [1.5]}, "has 1.5, which is not a label"),
        ({3: ["f"]}, "must have non-empty strings as names"),
        ({str(i): ["a", "b"] for i in range(9)}, "must be at most 8, not 9"),
    ],
)
def test_wrong_attributes_are_refused(given: Any, words: str) -> None:
    with pytest.raises(dither.ArgumentError, match=words):
        attributes_of(given)


@pytest.mark.parametrize(
    "cuts", [[], [1], [2, 1], [1, 1], "12", [0, None], [0, float("inf")], 3]
)
def test_wrong_edges_are_refused(cuts: Any) -> None:
    with pytest.raises(dither.ArgumentError, match="increasing numbers"):
        census.edges(cuts)


def test_a_dataset_brings_its_keys() -> None:
    frame = {"sex": ["f", "m"], "block": ["a", "b"]}
    import pandas as pd

    with dither.open(
        pd.DataFrame(frame), unit="row", keys={"sex": ["f", "m"]}, budget=1.0
    ) as data:
        assert attributes_of(["sex"], data).sizes == (2,)
        with pytest.raises(dither.ArgumentError, match="no declared keys"):
            attributes_of(["block"], data)
