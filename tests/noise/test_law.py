"""Tails and quantiles of sums of noise: never too small, and hardly ever too large."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from dither.errors import ArgumentError
from dither.mechanisms import Gaussian, Geometric, Laplace
from dither.noise import Law
from dither.noise.law import Part
from tests.noise.laws import Exact

LAPLACE, GAUSSIAN = Law.laplace(2.0), Law.gaussian(3.0)
MISSED = (0.3, 0.05, 0.025, 0.005, 1e-4, 1e-6)
SCALES = (0.2, 0.5, 1.0, 1.6, 3.0, 6.0)
WEIGHTS = (0.1, 0.3, 0.5, 0.7, 1.0, 2.0)


def some(random, most=4):
    """A random sum of a few noises."""
    law = Law()
    for _ in range(random.integers(1, most + 1)):
        make = (Law.laplace, Law.gaussian)[random.integers(2)]
        one = make(float(random.choice(SCALES)))
        law += float(random.choice(WEIGHTS)) * one.copies(random.integers(1, 4))
    return law


def test_no_tail_or_quantile_is_understated():
    random = np.random.default_rng(5)
    for _ in range(25):
        law = some(random, 3)
        exact = Exact(law)
        for missed in MISSED:
            q = law.quantile(missed)
            assert exact.above(q) <= missed * (1 + 1e-9), (law, missed)
            x = q * random.uniform(0.3, 1.3)
            assert law.tail(x) >= exact.from_(x) * (1 - 1e-9) - 1e-14, (law, x)
            # and they are near: all these weights lie on a lattice
            assert q <= exact.quantile(missed) + 0.06 * law.deviation, (law, missed)


def test_sums_beside_a_lattice_are_near_too():
    """Weights that are not multiples of each other are inverted with a little more."""
    random = np.random.default_rng(6)
    for _ in range(12):
        law = some(random) + 0.01 * math.sqrt(2) * Law.laplace(1.0)
        near = Exact(Law(tuple(p for p in law.parts if p.weight >= 0.1)))
        for missed in (0.2, 0.025, 1e-4):
            q = law.quantile(missed)
            # the small noise moves the sum, but less than half of a tenth
            assert near.above(q + 0.05) <= missed * (1 + 1e-9)
            assert q <= near.quantile(missed) + 0.05 * law.deviation + 0.4


def test_parts_that_are_equal_are_one():
    assert LAPLACE + LAPLACE == LAPLACE.copies(2) == LAPLACE.weighed([1, -1])
    assert 2 * LAPLACE + GAUSSIAN == GAUSSIAN + LAPLACE * -2.0
    assert LAPLACE.copies(0) == 0 * LAPLACE == Law()
    assert LAPLACE.weighed([3, 0]) == 3 * LAPLACE
    assert hash(0.3 * LAPLACE) == hash((0.1 + 0.2) * LAPLACE)


def test_no_noise_has_no_width():
    for none in (Law(), 0 * LAPLACE, Law.laplace(1e-5).copies(3), Law.normal(0.0)):
        assert none.reach(0.95) == none.variance == 0
        assert none.tail(1e-3) == 0
        assert none.tail(0) == 1
    assert LAPLACE.quantile(0.7) == (LAPLACE + GAUSSIAN).quantile(0.7) == 0


@pytest.mark.parametrize(
    "law", [LAPLACE + GAUSSIAN, 0.3 * LAPLACE + math.pi * LAPLACE.copies(5)], ids=repr
)
def test_rarer_misses_need_more_room(law):
    levels = np.concatenate(
        [np.linspace(0.49, 0.01, 20), np.geomspace(0.01, 1e-13, 30)]
    )
    found = [law.quantile(float(one)) for one in levels]
    assert found == sorted(found)
    tails = [law.tail(x) for x in np.linspace(0.1, 12 * law.deviation, 40)]
    assert tails == sorted(tails, reverse=True)


@pytest.mark.parametrize("times", [0.001, 7.3, 1e9])
def test_a_weight_scales_everything(times):
    law = LAPLACE.copies(3) + 0.7 * GAUSSIAN + 0.123 * LAPLACE
    assert (times * law).reach(0.9) == pytest.approx(times * law.reach(0.9), rel=1e-6)
    assert (times * law).deviation == pytest.approx(times * law.deviation)
    assert (times * law).tail(times * 5.0) == pytest.approx(law.tail(5.0), rel=1e-5)


def test_normal_sums_are_normal():
    law = 3 * Law.normal(1.0) + Law.normal(4.0)
    assert law.quantile(0.025) == pytest.approx(5 * norm.isf(0.025), rel=1e-9)
    assert law.tail(9.0) == pytest.approx(norm.sf(9 / 5), rel=1e-9)
    assert Law.normal(2.0).quantile(1e-20) == pytest.approx(2 * norm.isf(1e-20))


def test_wide_sums_keep_the_shape_of_the_line():
    wide = Law.laplace(1e6)
    assert (wide + wide).reach(0.95) == pytest.approx(4.1130e6, rel=1e-3)
    many = wide.copies(10_000)
    assert 1.9599 <= many.reach(0.95) / many.deviation <= 1.9599 * 1.01
    both = (Law.gaussian(1e6) + 0.5 * Law.gaussian(1e5)).reach(0.95)
    assert both == pytest.approx(norm.isf(0.025) * math.hypot(1e6, 5e4), rel=1e-5)
    mixed = (wide + Law.normal(2e6)).reach(0.95)
    assert 1.97 <= mixed / math.sqrt(2e12 + 4e12) <= 2.03


def test_mechanisms_name_their_law():
    assert Laplace(sensitivity=2, epsilon=0.5).law == Law.laplace(4.0)
    assert Geometric(sensitivity=1, epsilon=0.5).law == Law.laplace(2.0)
    gaussian = Gaussian(sensitivity=2, mu=0.5)
    assert gaussian.law == Law.gaussian(4.0)
    assert gaussian.error(0.9, integer=True) == gaussian.law.reach(0.9)


def test_what_is_no_law_is_refused():
    for scale in (0.0, -1.0, math.nan, math.inf):
        for make in (Law.laplace, Law.gaussian):
            with pytest.raises(ArgumentError, match="positive"):
                make(scale)
    for missed in (0.0, 1.0, -1.0, math.nan):
        with pytest.raises(ArgumentError, match="between 0 and 1"):
            LAPLACE.quantile(missed)
    with pytest.raises(ArgumentError, match="finite"):
        _ = math.inf * LAPLACE
    for ask in (
        lambda law: law.allows([1.0], 1.0, 0.9),
        lambda law: law.reaches(np.ones(1), np.ones(1), 0.9),
        lambda law: law.pair_reach(0.9),
    ):
        with pytest.raises(ArgumentError, match="one noise"):
            ask(LAPLACE + GAUSSIAN)


# The engines that were there before


BEFORE = json.loads(Path(__file__).with_name("sums_before.json").read_text("utf-8"))
CHANGES = {
    "sums.reach": (-0.04, 0.05),
    "maps.intervals.reach": (-1.0, 0.0),
    "trials.bands.reach": (-0.5, 0.08),
    "genomes.ratios.reach": (-0.1, 0.005),
    "totals._both": (-0.2, 0.25),
    "trials.null.survival": (0.0, 0.0),
}
"""How much narrower and wider the new ± may be. Maps' noises lie on lattices; in bands
the normal quantile stood for coarse noise; the sum of an estimate and of what was hidden
was taken as normal for Laplace noise too."""


@pytest.mark.parametrize("engine", CHANGES)
def test_the_engines_before(engine):
    cases = [one for one in BEFORE if one["engine"] == engine]
    assert len(cases) >= 20
    for one in cases:
        law = Law.of(Part(*part) for part in one["parts"])
        width, missed = law.reach(one["confidence"]), (1 - one["confidence"]) / 2
        low, high = CHANGES[engine]
        before = one["before"]
        assert before * (1 + low) - 1e-6 <= width <= before * (1 + high) + 1e-6, one
        if all(scale < 20 for *_, scale in one["parts"]):
            assert Exact(law).above(width) <= missed * (1 + 1e-9), one


@pytest.mark.parametrize("weight", [1 / 3, 2 / 3, 1 / 7, 1e-3 / 3])
@pytest.mark.parametrize("copies", [1, 2, 3])
def test_a_weight_of_many_digits_hides_no_noise(weight: float, copies: int) -> None:
    """Noise lies on multiples of the weight itself, not of one with fewer digits."""
    for of in (Law.laplace, Law.gaussian):
        plain = of(0.6).copies(copies)
        for missed in (0.2, 0.025, 1e-4):
            found = (weight * plain).quantile(missed)
            first = next(k for k in range(100) if k * weight > found)
            assert plain.tail(first) <= missed
