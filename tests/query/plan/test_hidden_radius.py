"""All small units: the part that clipping cuts off is clipped in its turn, and a unit
that keeps its cap loses nothing by that.
"""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from tests.query.plan.test_vectors import plans

SMALL = np.array(list(product(range(-4, 5), repeat=4)))
"""Units with up to 4 steps in each of four groups, or of two groups with two parts."""


def norms(vectors, *, squares):
    """The integer norms that engines compute."""
    if not squares:
        return np.abs(vectors).sum(axis=1)
    square = (vectors**2).sum(axis=1)
    root = np.array([math.isqrt(one) for one in square.tolist()])
    return root + (root * root < square)


def clipped(vectors, radius, *, squares):
    """sign(v) · ⌊|v| · C / N⌋ where the norm N is above the radius."""
    norm = np.maximum(norms(vectors, squares=squares), 1)[:, None]
    scaled = np.sign(vectors) * (np.abs(vectors) * radius // norm)
    return np.where(norm > radius, scaled, vectors)


def planned(figure, gaussian, unit):
    found = plans(figure, 4)[1]
    plan = next(one for one in found if one.spend.gaussian == gaussian)
    guarantee = plan.spend.guarantee
    if unit == "replace":
        guarantee = replace(guarantee, unit=guarantee.unit.replacing())
    return replace(plan, spend=replace(plan.spend, guarantee=guarantee))


@pytest.mark.parametrize("gaussian", [False, True], ids=["L1", "L2"])
@pytest.mark.parametrize("figure", ["SUM(x)", "AVG(x)"])
@pytest.mark.parametrize("unit", ["add", "replace"])
@pytest.mark.parametrize("cap", [2, 5, 9])
def test_no_unit_moves_what_is_cut_off_by_more_than_its_noise_is_for(
    gaussian, figure, unit, cap
):
    plan = planned(figure, gaussian, unit)
    (one,) = plan.measurements
    # A row of one step: four rows, and no low bits that norms lack
    vector = replace(one.vector, sure=False, bits=None)
    object.__setattr__(vector, "shift", 0)
    one = replace(one, vector=vector, cap=cap)
    units = np.abs(SMALL) if figure == "AVG(x)" else SMALL
    for radius in range(1, cap):
        most = plan.hidden_radius(one, radius)
        lost = units - clipped(units, radius, squares=gaussian)
        kept = norms(units, squares=gaussian) <= cap
        assert norms(lost[kept], squares=gaussian).max() <= most
        again = clipped(lost, most, squares=gaussian)
        assert np.array_equal(again[kept], lost[kept])
        moved = plan.sensitivity(most)
        if unit == "add":
            sizes = (again**2).sum(axis=1) if gaussian else np.abs(again).sum(axis=1)
        else:
            ends = np.unique(again, axis=0)
            apart = ends[:, None] - ends[None, :]
            sizes = (apart**2).sum(axis=2) if gaussian else np.abs(apart).sum(axis=2)
        assert sizes.max() <= (moved**2 if gaussian else moved)
        noise = plan.hidden(one, radius)
        assert noise.sensitivity >= moved


@pytest.mark.parametrize("rows", range(1, 40))
def test_the_rows_of_a_tree_lose_no_more_than_is_measured(rows):
    """Each row counts ⌊C / n⌋ steps where a whole one is too much."""
    for gaussian in (False, True):
        plan = planned("MEDIAN(x)", gaussian, "add")
        (one,) = plan.measurements
        one = replace(one, cap=40 * one.vector.row)
        for radius in (1, one.vector.row // 3, one.vector.row, 7 * one.vector.row + 5):
            n, row = rows, one.vector.row
            lost = n * row - n * (radius // n) if n * row > radius else 0
            assert lost <= plan.hidden_radius(
                replace(one, vector=replace(one.vector, most=40)), radius
            )
