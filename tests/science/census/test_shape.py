"""Trees: sums up, values down, and what is no tree."""

from __future__ import annotations

import numpy as np
import pytest

from dither.errors import ArgumentError
from dither.science.census.shape import Tree
from tests.science.census.dense import some_tree

TREE = Tree(([0, 0], [0, 0, 1], [0, 1, 1, 1, 2]))


def test_levels_are_counted():
    assert (TREE.sizes, TREE.levels, TREE.leaves) == ((2, 3, 5), 3, 5)


def test_counts_go_up():
    found = TREE.counts_up(np.array([1, 2, 3, 4, 5]))
    assert [one.tolist() for one in found] == [[10, 5], [1, 9, 5], [1, 2, 3, 4, 5]]


def test_counts_of_many_cells_go_up_cell_by_cell():
    random = np.random.default_rng(1)
    for _ in range(30):
        tree = some_tree(random)
        cells = random.integers(0, 9, (tree.leaves, 3))
        together = tree.counts_up(cells)
        for cell in range(3):
            alone = tree.counts_up(cells[:, cell])
            for one, many in zip(alone, together, strict=True):
                assert np.array_equal(many[:, cell], one)


def test_values_go_down():
    assert TREE.scattered(2, np.array([7, 8, 9])).tolist() == [7, 8, 8, 8, 9]


def test_leaves_under_nodes():
    chosen = np.array([True, False])
    assert TREE.leaves_under(0, chosen).tolist() == [True] * 4 + [False]
    assert TREE.leaves_under(2, np.arange(5) == 3).tolist() == [False] * 3 + [
        True,
        False,
    ]


def test_a_tree_of_one_level():
    tree = Tree(([0, 0, 0],))
    assert [one.tolist() for one in tree.counts_up(np.arange(3))] == [[0, 1, 2]]


def test_parents_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        TREE.parents[1][0] = 1


@pytest.mark.parametrize(
    "parents",
    [
        (),
        ([],),
        ([0, 1],),
        ([0], [1]),
        ([0, 0], [0, 0]),
        ([0, 0, 0], [0, 2]),
        ([0, 0], [1, 0]),
        ([0, 0], [0, 1, 0]),
        ([0], [0, -1]),
        ([0], [0, 1]),
        ([0], []),
        ([0], [0.0]),
        ([0], [[0]]),
    ],
)
def test_what_is_no_tree_is_refused(parents):
    with pytest.raises(ArgumentError):
        Tree(parents)
