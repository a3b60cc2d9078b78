"""Who is in the study is declared: ids or an order, and one cluster each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from dither import ArgumentError
from dither.science.genomes.clusters import Roster


def test_clusters_in_the_rosters_order() -> None:
    roster = Roster.of(["b", "a", None, "b", float("nan")], None)
    assert roster.names == ("b", "a")
    assert roster.sizes.tolist() == [2, 1]
    assert roster.places(4).tolist() == [0, 1, -1, 0]
    assert roster.places(7).tolist() == [0, 1, -1, 0, -1, -1, -1]


@pytest.mark.parametrize(
    "clusters",
    [
        {"x": "a", "y": "b"},
        [("x", "a"), ("y", "b")],
        pd.Series(["a", "b"], index=["x", "y"]),
    ],
)
def test_clusters_by_id_follow_the_file(clusters: Any) -> None:
    roster = Roster.of(clusters, None)
    assert roster.places(4, ["y", "z", "x", "y"]).tolist() == [1, -1, 0, -1]


def test_a_numbered_column_is_an_order() -> None:
    roster = Roster.of(pd.Series(["a", "b", "a"]), None)
    assert roster.ids is None
    assert roster.places(3).tolist() == [0, 1, 0]


def test_clusters_and_ids_together() -> None:
    roster = Roster.of(np.array(["a", "b"]), ["x", "y"])
    assert roster.places(2, ["y", "x"]).tolist() == [1, 0]


def test_without_clusters_all_are_one() -> None:
    assert Roster.of(None, 5).sizes.tolist() == [5]
    assert Roster.of(None, ["x", "y"]).places(3, ["q", "y", "x"]).tolist() == [-1, 0, 0]


@pytest.mark.parametrize(
    ("clusters", "samples", "words"),
    [
        (None, None, "the people of the study are declared"),
        ([("x", "a"), ("x", "b")], None, "is repeated"),
        (pd.Series(["a", "b"], index=["x", "x"]), None, "is repeated"),
        (["a", "b"], ["x", "x"], "is repeated"),
        (["a", "b", "c"], ["x", "y"], "each of the 2 people in samples="),
        ("ab", None, "must be a mapping or a list"),
        ({"a", "b"}, None, "must be a mapping or a list"),
        ([None, None], None, "between 1 and"),
        ([], None, "between 1 and"),
        (None, 0, "samples"),
        (None, "ab", "list of the people's ids"),
    ],
)
def test_bad_questions(clusters: Any, samples: Any, words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        Roster.of(clusters, samples)
