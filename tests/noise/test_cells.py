"""Large scales: a uniform place in a cell, accepted in proportion to the density."""

import itertools
import math
from decimal import Decimal

import mpmath
import numpy as np
import pytest

from dither.noise import cauchy, cells, gaussian, laplace
from dither.noise.cells import (
    COARSE,
    LARGEST,
    SURE,
    halvings,
    place,
    saturate,
    settle,
    spread,
)
from dither.noise.exact import context
from tests.chance import chance
from tests.noise.support import LEVEL, ONES, Replay, always, p_value, random_words

MIXED = 0x9E3779B97F4A7C15
CTX = context(64)


@pytest.mark.parametrize(
    "scale",
    [1.0, COARSE, math.nextafter(COARSE, 9e9), 2 * COARSE, 1e9, 2.0**52, 2.0**56],
)
def test_halvings(scale):
    r = halvings(scale)
    assert scale / 2**r <= COARSE
    assert (r == 0) == (scale <= COARSE)
    assert r == 0 or scale / 2**r >= COARSE / 2


def ends(ratio, cell, r):
    """The ratio's ends over places that cover the whole cell."""
    size = Decimal(1 << r)
    cuts = [CTX.divide(CTX.multiply(size, Decimal(i)), Decimal(64)) for i in range(65)]
    return [ratio(CTX, cell, low, high) for low, high in itertools.pairwise(cuts)]


@pytest.mark.parametrize(
    "scale", [math.nextafter(COARSE, 9e9), 2 * COARSE, 1.7 * COARSE, 1e9, 2.0**56]
)
def test_ratios_of_sure_cells_are_nearly_one(scale):
    """Laplace but for cell 0; Gaussian up to |Z| = 5.3; Cauchy everywhere. Below SURE,
    a word accepts any place.
    """
    least = Decimal(SURE) / Decimal(1 << 64)
    e, g, c = laplace.plan(scale), gaussian.plan(scale), cauchy.plan(scale)
    some = [1, 2, 100, int(3 * e.coarse), int(30 * e.coarse)]
    normal = [
        0,
        -1,
        1,
        100,
        int(g.coarse),
        int(gaussian.WIDEST * g.coarse) + 1,
        -int(gaussian.WIDEST * g.coarse) - 1,
    ]
    heavy = [
        0,
        -1,
        1,
        int(c.coarse / 2),
        int(c.coarse),
        -int(c.coarse),
        int(5 * c.coarse),
        LARGEST >> c.r,
    ]
    checks = [
        (laplace.ratio(scale), some, e.r),
        (gaussian.ratio(g), normal, g.r),
        (cauchy.ratio(c), heavy, c.r),
    ]
    for ratio, numbers, r in checks:
        for cell in numbers:
            low, high = (
                min(x[0] for x in ends(ratio, cell, r)),
                max(x[1] for x in ends(ratio, cell, r)),
            )
            assert least < low
            assert high < Decimal("1.0000000000000000000000001")


def truth(kind, scale, cell, r, x):
    """density(x) up to a factor, with x counted from the begin of the cell."""
    y = mpmath.mpf(cell) * 2**r + x - mpmath.mpf("0.5")
    if kind == "laplace":
        return mpmath.exp(-x / scale)
    return (
        mpmath.exp(-(y**2) / (2 * mpmath.mpf(scale) ** 2))
        if kind == "gaussian"
        else 1 / (mpmath.mpf(scale) ** 2 + y**2)
    )


@pytest.mark.parametrize("kind", ["laplace", "gaussian", "cauchy"])
@pytest.mark.parametrize("cell", [1, 0, -1, 70_000, -3_000_000])
def test_ratios_are_proportional_to_the_density(kind, cell):
    scale = 2.0**30 * 1.3
    module = {"laplace": laplace, "gaussian": gaussian, "cauchy": cauchy}[kind]
    prepared = module.plan(scale)
    ratio = laplace.ratio(scale) if kind == "laplace" else module.ratio(prepared)
    cell = max(cell, 1) if kind == "laplace" else cell
    with mpmath.workdps(40):
        places = [Decimal(x) / 8 for x in (1, 5, 4000, 7 << prepared.r)]
        seen = [ratio(CTX, cell, x, x) for x in places]
        true = [
            truth(kind, scale, cell, prepared.r, mpmath.mpf(str(x))) for x in places
        ]
        for (low, high), exact in zip(seen, true, strict=True):
            assert low <= high
            assert (
                abs(
                    mpmath.mpf(str(low)) / mpmath.mpf(str(seen[0][0])) - exact / true[0]
                )
                < 1e-30
            )
            assert CTX.subtract(high, low) < Decimal("1e-45")


def test_the_first_laplace_cell_begins_at_kappa():
    """κ is just below ½ at large scales: a place below it is never accepted, one above
    it nearly always.
    """
    scale = 2.0**30
    r, ratio = halvings(scale), laplace.ratio(scale)
    below, above = (int(x * 2.0 ** (64 - r)) for x in (0.4, 0.6))
    assert settle(0, r, below, 0, ratio, Replay([(above + (5 << (64 - r))), 0])) == 5
    assert settle(0, r, above, 0, ratio, Replay([])) == 0
    # Κ lies inside this word's step: its next bits decide
    at = int(0.5 * 2.0 ** (64 - r))
    seen = {
        settle(
            0, r, at - 1, 0, ratio, Replay(extra=[ONES, word, 7 << (64 - r), 0, 0, 0])
        )
        for word in (0, ONES)
    }
    assert seen <= {0, 7}


def test_rejected_places_are_drawn_again_in_the_same_cell():
    prepared = gaussian.plan(2.0**40)
    ratio, r = gaussian.ratio(prepared), prepared.r
    far = int(5 * prepared.coarse)
    source = Replay([MIXED, 0])
    assert settle(far, r, ONES, ONES, ratio, source) == (far << r) + (MIXED >> (64 - r))
    assert source.used == 2


def test_places_of_an_array_sit_in_their_cells():
    prepared = gaussian.plan(2.0**40)
    ratio, r = gaussian.ratio(prepared), prepared.r
    numbers = np.arange(-200, 200)
    words = random_words(800)
    words[400::7] = ONES  # chances that need the exact path
    seen = spread(
        numbers, r, numbers % 5 == 0, ratio, Replay(words, itertools.repeat(MIXED))
    )
    for i, cell in enumerate(numbers.tolist()):
        where, chance = int(words[i]), int(words[400 + i])
        assert seen[i] == settle(cell, r, where, chance, ratio, always(MIXED))
        one = Replay(extra=itertools.chain([where, chance], itertools.repeat(MIXED)))
        assert seen[i] == place(cell, r, cell % 5 != 0, ratio, one)
        assert seen[i] >> r == cell


@chance(1e-8)
def test_exact_places_follow_the_density():
    """A cell as wide as the scale, so that the ratio matters: places 0 … 7 at scale 4."""
    ratio = laplace.ratio(4.0)
    source = laplace.stream.current()
    draws = [
        settle(1, 3, source.word(), source.word(), ratio, source) - 8
        for _ in range(5_000)
    ]
    law = np.exp(-np.arange(8) / 4.0)
    assert p_value(np.bincount(draws, minlength=8), law / law.sum()) > LEVEL
    zero = [
        settle(0, 3, source.word(), source.word(), ratio, source) for _ in range(5_000)
    ]
    kappa = 4 * math.log(2 / (1 + math.exp(-0.25)))
    law = np.exp(-np.maximum(np.arange(8), kappa) / 4) - np.exp(-np.arange(1, 9) / 4)
    assert p_value(np.bincount(zero, minlength=8), law / law.sum()) > LEVEL


def test_values_beyond_the_edge_are_held_there():
    def flat(*_):
        return Decimal(1), Decimal(1)

    edge = 1 << 40
    numbers = np.array([edge, edge - 1, -edge, -edge - 1, 1 << 60, -(1 << 60)])
    words = np.concatenate([np.zeros(6, np.uint64), np.zeros(6, np.uint64)])
    expected = [LARGEST, LARGEST - (1 << 22), -LARGEST, -LARGEST, LARGEST, -LARGEST]
    for unsure in (False, True):
        seen = spread(numbers, 22, np.full(6, unsure), flat, Replay(words))
        assert seen.tolist() == expected
    assert [
        place(int(cell), 22, True, flat, Replay([0, 0])) for cell in numbers
    ] == expected
    assert (saturate(1 << 70), saturate(-(1 << 70)), saturate(5)) == (
        LARGEST,
        -LARGEST,
        5,
    )


def test_squares_inside_a_cell():
    half = Decimal("0.5")
    assert cells.squares_inside(CTX, 0, 2, Decimal(0), Decimal(1)) == (
        0,
        Decimal("0.25"),
        0,
    )
    assert cells.squares_inside(CTX, 1, 2, Decimal(1), Decimal(2)) == (
        (4 + half) ** 2,
        (5 + half) ** 2,
        (3 + half) ** 2,
    )
    assert cells.squares_inside(CTX, -1, 2, Decimal(1), Decimal(2)) == (
        (2 + half) ** 2,
        (3 + half) ** 2,
        half**2,
    )
