"""Forests: circles are refused, and ways lead where they should."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest

from dither.science.synth.forest import Forest

TREE = Forest(6, ((0, 3), (1, 3), (1, 4), (2, 4)))


def test_circles_and_odd_edges_are_refused() -> None:
    for edge in [(0, 1), (0, 3), (2, 3)]:
        with pytest.raises(ValueError, match="cycle"):
            TREE.joined(edge)
    for edge in [(3, 0), (2, 2), (0, 6), (-1, 2)]:
        with pytest.raises(ValueError, match="smaller"):
            TREE.joined(edge)


def test_candidates_are_the_pairs_that_close_no_circle() -> None:
    found = TREE.candidates((0, 1, 2, 3, 4, 5))
    assert found == [(i, 5) for i in range(5)]
    assert TREE.candidates((0, 1, 4)) == []
    assert Forest(3).candidates((2, 0)) == [(0, 2)]


def test_growing_by_any_candidates_ends_in_a_tree() -> None:
    forest, columns = Forest(6), tuple(range(6))
    for last in (False, True) * 3:
        candidates = forest.candidates(columns)
        if candidates:
            forest = forest.joined(candidates[-1 if last else 0])
    assert len(forest.edges) == 5
    assert set(forest.components()) == {0}


def test_walks_reach_every_column_once_after_its_parent() -> None:
    steps = list(TREE.walk())
    seen: list[int] = []
    for column, parent in steps:
        assert parent is None or parent in seen
        assert parent is None or tuple(sorted((parent, column))) in TREE.edges
        seen.append(column)
    assert sorted(seen) == list(range(6))
    assert [column for column, parent in steps if parent is None] == [0, 5]


def test_paths_follow_edges() -> None:
    assert TREE.path(0, 2) == [0, 3, 1, 4, 2]
    assert TREE.path(2, 0) == [2, 4, 1, 3, 0]
    assert TREE.path(0, 5) is None
    for i, j in combinations(range(5), 2):
        way = TREE.path(i, j)
        assert way is not None
        assert (way[0], way[-1]) == (i, j)
        assert all(tuple(sorted(step)) in TREE.edges for step in pairwise(way))
