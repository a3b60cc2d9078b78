"""The shape of the trees loses no more than ε: the exact probabilities of all shapes, for
all small sets of points and all their neighbours.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest

from dither.errors import ArgumentError
from dither.privacy import Unit
from dither.question import Question
from dither.science import maps
from dither.science.maps.grids import MOST, STEPS, Grid
from dither.science.maps.pieces import pieces_of
from dither.science.maps.places import place_of
from dither.science.maps.planning import plan_of
from dither.science.maps.privtree import PrivTree, deepest
from dither.science.maps.quadtrees import Nodes
from tests.chance import at_least, at_most, chance
from tests.science.maps.support import UNIT, scattered
from tests.science.maps.test_coverage import POPULATIONS, hits

PLACE = place_of(UNIT, None)
SLACK = 1e-9


@dataclass(frozen=True)
class Altered(PrivTree):
    """The same with other noise, or another rise of the bar."""

    noise: float = 1.0
    rise: int = 0

    @property
    def scale(self) -> float:  # type: ignore[override]
        return PrivTree(self.epsilon, self.points).scale * self.noise


@cache
def chances(tree: PrivTree, count: int, depth: int) -> tuple[float, float]:
    """The logarithms of the probabilities to divide a node, and not to."""
    bar = int(tree.bars(np.array([count]), depth)[0])
    q = math.exp(-1 / tree.scale)

    def above(least: int) -> float:
        """P(noise ≥ least) for least ≥ 1."""
        return q**least / (1 + q)

    if bar >= 0:
        over = above(bar + 1)
        return math.log(over), math.log1p(-over)
    under = above(-bar)
    return math.log1p(-under), math.log(under)


def shapes(tree: PrivTree, counts: tuple[int, ...], fan: int, depth: int = 0) -> Any:
    """The logarithms of the probabilities of all shapes below a node, in a fixed order;
    `counts` are those of the finest cells below it.
    """
    if len(counts) == 1:
        return np.zeros(1)
    return _shapes(tree, counts, fan, depth)


@cache
def _shapes(tree: PrivTree, counts: tuple[int, ...], fan: int, depth: int) -> Any:
    divided, whole = chances(tree, sum(counts), depth)
    step = len(counts) // fan
    below = np.zeros(1)
    for first in range(0, len(counts), step):
        own = shapes(tree, counts[first : first + step], fan, depth + 1)
        below = np.add.outer(below, own).ravel()
    return np.append(whole, divided + below)


def placements(points: int, cells: int) -> list[tuple[int, ...]]:
    """All sets of at most so many points on the finest cells, as counts."""
    found = []
    for number in range(points + 1):
        for spots in itertools.combinations_with_replacement(range(cells), number):
            found.append(tuple(np.bincount(np.array(spots, int), minlength=cells)))
    return found


def worst(tree: PrivTree, fan: int, depth: int, points: int, more: int) -> float:
    """The largest |log ratio| of any shape, over all sets of points and all units of
    `more` points that join them.
    """
    cells = fan**depth
    units = [one for one in placements(more, cells) if sum(one) == more]
    most = 0.0
    for before in placements(points - more, cells):
        base = shapes(tree, before, fan)
        for unit in units:
            after = tuple(a + b for a, b in zip(before, unit, strict=True))
            ratio = np.abs(shapes(tree, after, fan) - base)
            most = max(most, float(ratio.max()))
    return most


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 3.0, 8.0])
@pytest.mark.parametrize(("fan", "depth"), [(2, 3), (4, 2)])
def test_all_shapes_of_small_trees(fan, depth, epsilon):
    tree = PrivTree(epsilon, 1)
    total = np.exp(shapes(tree, (1, 0, 2, 0) * (fan**depth // 4), fan)).sum()
    assert total == pytest.approx(1)
    assert worst(tree, fan, depth, 4 if fan == 2 else 3, 1) <= epsilon + SLACK


@pytest.mark.parametrize("most", [2, 3])
@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_all_shapes_for_units_of_several_points(epsilon, most):
    """Points anywhere, in one cell or in several; noise for one point would not do."""
    assert worst(PrivTree(epsilon, most), 2, 3, 4, most) <= epsilon + SLACK
    assert worst(PrivTree(epsilon, 1), 2, 3, 4, most) > epsilon


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_all_shapes_where_a_point_is_replaced(epsilon):
    tree = PrivTree(epsilon, 2)  # one goes and one comes
    for others in placements(3, 8):
        found = [
            shapes(tree, tuple(np.add(others, np.eye(8, dtype=int)[spot])), 2)
            for spot in range(8)
        ]
        spread = np.max(found, axis=0) - np.min(found, axis=0)
        assert spread.max() <= epsilon + SLACK


@pytest.mark.full
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 3.0, 8.0])
def test_all_shapes_of_trees_of_four_levels(epsilon):
    assert worst(PrivTree(epsilon, 1), 2, 4, 4, 1) <= epsilon + SLACK


def extremes(
    tree: PrivTree, before: Any, after: Any, depth: int
) -> tuple[float, float]:
    """The least and the largest log ratio of all shapes below a node of a quadtree:
    children take their shapes independently.
    """
    if isinstance(before, int):
        return 0.0, 0.0
    old, new = (chances(tree, points(one), depth) for one in (before, after))
    pairs = zip(before, after, strict=True)
    below = [extremes(tree, a, b, depth + 1) for a, b in pairs if a != b]
    divided = [
        new[0] - old[0] + sum(one) for one in zip((0.0, 0.0), *below, strict=True)
    ]
    whole = new[1] - old[1]
    return min(whole, divided[0]), max(whole, divided[1])


def points(node: Any) -> int:
    return node if isinstance(node, int) else sum(map(points, node))


@cache
def nodes(number: int, depth: int) -> tuple[Any, ...]:
    """All ways to put points below a node, up to the order of siblings."""
    if depth == 0:
        return (number,)
    found = set()
    for shares in itertools.combinations_with_replacement(range(number + 1), 4):
        if sum(shares) == number:
            ways = itertools.product(*(nodes(share, depth - 1) for share in shares))
            found |= {tuple(sorted(way, key=repr)) for way in ways}
    return tuple(sorted(found, key=repr))


def joined(node: Any) -> list[Any]:
    """All nodes that one more point makes of a node."""
    if isinstance(node, int):
        return [node + 1]
    return [
        (*node[:at], more, *node[at + 1 :])
        for at in range(4)
        for more in joined(node[at])
    ]


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.5, 8.0])
def test_quadtrees_of_three_levels(epsilon):
    """All sets of at most 3 points on 64 cells, and all that join them."""
    tree = PrivTree(epsilon, 1)
    for number in range(4):
        for node in nodes(number, 3):
            for after in joined(node):
                low, high = extremes(tree, node, after, 0)
                assert -epsilon - SLACK <= low <= high <= epsilon + SLACK


def path_loss(tree: PrivTree, levels: int) -> float:
    """The most that a point loses on one path where all of many points lie in one
    place, which is what the proof's bound is about.
    """
    losses = []
    for count in range(levels * tree.rise + 1):
        both = [
            [chances(tree, count + more, depth)[0] for depth in range(levels)]
            for more in (0, 1)
        ]
        losses.append(sum(both[1]) - sum(both[0]))
    return max(losses)


@pytest.mark.parametrize("epsilon", [0.05, 0.3, 1.0, 4.0])
def test_the_longest_paths(epsilon):
    loss = path_loss(PrivTree(epsilon, 1), 8)
    assert loss <= epsilon + SLACK
    assert loss > 0.75 * epsilon  # the bound is not far from what happens


def test_less_noise_or_a_lower_bar_would_lose_more():
    tree = PrivTree(0.3, 1)
    assert path_loss(Altered(0.3, 1, 0.9, tree.rise), 8) > 0.3
    assert path_loss(Altered(0.3, 1, 1.0, tree.rise - 4), 8) > 0.3
    assert worst(Altered(8.0, 1, 0.8, 1), 2, 3, 4, 1) > 8.0


def test_noise_and_rise_are_rounded_up():
    for epsilon, number in itertools.product((0.1, 1 / 3, 2.0, 500.0), (1, 3, 1000)):
        tree = PrivTree(epsilon, number)
        assert tree.scale >= 7 * number / (3 * epsilon) * (1 - 1e-15)
        assert tree.rise >= tree.scale * math.log(4)
        assert tree.rise <= tree.scale * math.log(4) + 1 + 1e-6 * tree.scale


@chance(1e-8)
@pytest.mark.parametrize(("count", "depth"), [(0, 0), (0, 3), (5, 1), (40, 2), (7, 0)])
def test_nodes_are_divided_as_often_as_computed(count, depth):
    tree = PrivTree(1.0, 2)
    number = 20_000
    seen = int(np.sum(divided_by(tree, np.full(number, count), depth)))
    chance_of_it = math.exp(chances(tree, count, depth)[0])
    low = at_least(number, chance_of_it, 5e-9)
    assert low <= seen <= at_most(number, chance_of_it, 5e-9)


def divided_by(tree: PrivTree, counts: Any, depth: int) -> Any:
    zeros = np.zeros(counts.size, np.int64)
    level = Nodes(depth, zeros, zeros, zeros)
    return tree._divided(counts, level, PLACE, Grid(1, 1))


def test_trees_are_divided_by_counts_of_their_level(monkeypatch):
    """Without noise, a node is divided where it has more points than its bar says."""
    monkeypatch.setattr(
        "dither.science.maps.privtree.discrete_laplace",
        lambda scale, size: np.zeros(size, np.int64),
    )
    spots = np.array([[0.1, 0.1]] * 30 + [[0.9, 0.6]] * 10)
    chart = maps.heatmap(
        spots, bounds=UNIT, crs=None, epsilon=1, method="privtree", cells=1
    )
    rise = PrivTree(0.4, 1).rise
    assert rise == 9
    # The root and, of 30 points, three levels below it; of 10 points, one.
    assert [int(level.sum()) for level in chart.partition.divided] == [1, 2, 1, 1, 0]
    assert len(chart) == 16


def test_every_place_lies_in_the_leaf_whose_borders_hold_it():
    chart = maps.heatmap(
        scattered(3000), bounds=UNIT, crs=None, epsilon=2, method="privtree"
    )
    leaves, random = chart.partition, np.random.default_rng(4)
    x, y = random.integers(0, STEPS, (2, 4000))
    west, south, east, north = (side[leaves.parts(x, y)] for side in leaves.borders)
    assert np.all((west <= x / STEPS) & (x / STEPS < east))
    assert np.all((south <= y / STEPS) & (y / STEPS < north))
    assert chart.areas.sum() == pytest.approx(1)
    assert np.all(np.diff(leaves.parent) >= 0)
    assert np.array_equal(leaves.places[leaves.begins[:-1]], np.zeros(leaves.grid.size))


def test_cells_are_limited_by_public_facts(monkeypatch):
    """The depth, and the number of cells, whatever the points are."""
    one = np.repeat([[0.31, 0.62]], 2000, axis=0)
    ask = {"bounds": UNIT, "crs": None, "epsilon": 300, "method": "privtree"}
    deep = maps.heatmap(one, **ask)
    assert len(deep.partition.divided) <= deepest(deep.partition.grid) + 1 == 20
    assert deepest(Grid(1, 1)) == 20
    assert deepest(Grid(1000, 3)) == 10
    assert deepest(Grid(1 << 20, 1)) == 0
    monkeypatch.setattr("dither.science.maps.privtree.MOST", 100)
    assert len(maps.heatmap(scattered(5000), **ask)) <= 100
    assert MOST == 1 << 22


@pytest.mark.parametrize("relation", ["add/remove", "replace"])
@pytest.mark.parametrize("cost", [{"epsilon": 0.7}, {"rho": 0.3}])
def test_the_parts_of_the_cost_add_up(cost, relation):
    unit = Unit("owner", relation) if relation == "replace" else Unit("owner")
    question = Question.of("heat map", cost, unit=unit)
    plan = plan_of(question, PLACE, 3, "privtree", None, None)
    assert plan.tree.points == (6 if relation == "replace" else 3)
    stated = next(iter(cost.values()))
    if "epsilon" in cost:
        spent = plan.tree.epsilon + plan.parts.guarantee.epsilon
    else:
        spent = plan.tree.epsilon**2 / 2 + plan.parts.mu**2 / 2
    assert stated * (1 - 1e-6) < spent <= stated * (1 + 1e-12)


def test_what_trees_do_not_take():
    ask = {"bounds": UNIT, "crs": None, "method": "privtree"}
    with pytest.raises(ArgumentError, match="leave expect out"):
        maps.heatmap(scattered(10), epsilon=1, expect=100, **ask)
    with pytest.raises(ArgumentError, match="error"):
        maps.heatmap(scattered(10), error=5, **ask)
    for epsilon in (1e-20, 5e-17, 1e-310):  # 5e-17 is too small for the tree alone
        with pytest.raises(ArgumentError, match="noise"):
            maps.heatmap(scattered(10), epsilon=epsilon, **ask)
    with pytest.raises(ArgumentError, match="cells"):
        maps.heatmap(scattered(10), epsilon=1, cells=10**9, **ask)


@chance(2e-8)
def test_nothing_is_divided_beyond_an_outline():
    shapely = pytest.importorskip("shapely")
    triangle = shapely.Polygon([(0, 0), (1, 0), (0, 1)])
    chart = maps.heatmap(
        scattered(20_000), bounds=triangle, crs=None, epsilon=5, method="privtree"
    )
    assert "<svg" in chart.plot().svg()
    boxes = shapely.box(*chart.partition.borders)
    assert shapely.intersects(triangle, boxes).all()
    assert chart.areas.sum() == pytest.approx(0.5)
    low, high = chart.total().interval(1 - 1e-8)
    inside = shapely.intersects_xy(triangle, *scattered(20_000).T)
    assert low <= inside.sum() <= high


def test_a_map_of_trees_is_released_in_all_forms():
    chart = maps.heatmap(
        scattered(2000), bounds=(10, 50, 12, 51), epsilon=1, method="privtree"
    )
    assert "heat map" in str(chart)
    assert len(chart.to_csv().splitlines()) == len(chart) + 1
    assert len(chart.to_geojson()["features"]) == len(chart)
    assert "<svg" in chart.plot().svg()


@chance(1e-20)
def test_pictures_show_nodes_that_can_be_seen():
    spots = np.repeat([[0.31, 0.62]], 3000, axis=0)
    chart = maps.heatmap(spots, bounds=UNIT, crs=None, epsilon=9, method="privtree")
    pieces = pieces_of(chart, 0.95)
    assert (pieces.east - pieces.west).min() == 1 / 128
    assert pieces.area.sum() == pytest.approx(1)
    assert pieces.counts.sum() == pytest.approx(chart.value.sum())
    hot = int(np.argmax(pieces.counts))
    assert pieces.low[hot] > 2900
    leaves = int(
        np.sum(
            (chart.partition.borders[0] >= pieces.west[hot] - 1e-12)
            & (chart.partition.borders[2] <= pieces.east[hot] + 1e-12)
            & (chart.partition.borders[1] >= pieces.south[hot] - 1e-12)
            & (chart.partition.borders[3] <= pieces.north[hot] + 1e-12)
        )
    )
    law = chart.noises.parts
    assert pieces.wide[hot] == pytest.approx(2 * law.copies(leaves).reach(0.95))


@chance(2e-8)
@pytest.mark.parametrize("name", ["towns", "no points", "all in one cell"])
def test_intervals_hold(name):
    spots, more = POPULATIONS[name]
    seen = hits(spots, 120, method="privtree", epsilon=1, **more)
    assert min(seen) >= at_least(120, 0.95, 1e-8)


@chance(2e-8)
@pytest.mark.full
@pytest.mark.parametrize("cost", [{"epsilon": 0.1}, {"rho": 0.05}], ids=str)
@pytest.mark.parametrize("name", POPULATIONS)
def test_intervals_hold_in_a_long_campaign(name, cost):
    spots, more = POPULATIONS[name]
    seen = hits(spots, 200, method="privtree", **cost, **more)
    assert min(seen) >= at_least(200, 0.95, 1e-8)
