"""What five vertices show, on all graphs of six."""

import itertools

import numpy as np
import pytest

from dither.science.graphs.kernels import Edges
from dither.science.graphs.projection import histogram_l2, projected_degrees
from dither.science.graphs.stars import Stars
from dither.science.graphs.triangles import Triangles

SIZE = 6
PAIRS = np.array(list(itertools.combinations(range(SIZE), 2)))
NUMBERS = np.arange(1 << len(PAIRS))
BITS = 1 << np.arange(len(PAIRS))

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def graphs():
    chosen = (PAIRS[number & BITS > 0] for number in NUMBERS)
    return [Edges.of(SIZE, ends[:, 0], ends[:, 1]) for ends in chosen]


@pytest.mark.parametrize(
    "pattern", [Triangles(SIZE), Stars(SIZE, 2), Stars(SIZE, 3)], ids=repr
)
def test_sensitivities_of_counts(graphs, pattern):
    counts = np.array([pattern.count(one) for one in graphs])
    reaches = np.array([pattern.reach(one) for one in graphs])
    locals_ = (pattern.local(one) for one in graphs)
    widths = np.array([[local(t) for t in range(4)] for local in locals_])
    for bit in BITS:
        other = NUMBERS ^ bit
        assert (np.abs(counts - counts[other]) <= widths[:, 0]).all()
        assert (np.abs(reaches - reaches[other]) <= 1).all()
        assert (widths[:, :-1] <= widths[other][:, 1:]).all()


@pytest.mark.parametrize("cap", [1, 2, 3, 4])
def test_sensitivities_under_node_privacy(graphs, cap):
    degrees = np.array([projected_degrees(one, cap) for one in graphs])
    bins = np.stack([(degrees == d).sum(axis=1) for d in range(1, cap + 1)], axis=1)
    for vertex in range(SIZE):
        without = NUMBERS & ~BITS[(vertex == PAIRS).any(axis=1)].sum()
        moved = degrees - degrees[without]
        others = np.abs(np.delete(moved, vertex, axis=1)).sum(axis=1)
        assert (others <= degrees[:, vertex]).all()
        kept = moved.sum(axis=1) // 2
        assert ((kept >= 0) & (kept <= cap)).all()
        change = bins - bins[without]
        assert np.abs(change).sum(axis=1).max() <= 2 * cap + 1
        assert np.sqrt((change**2).sum(axis=1)).max() <= histogram_l2(cap)
