"""The low-bits attack (Mironov 2012; Haney and others 2022): floats tell which value
the noise was added to.

A float near 0 has bits far below 2^-53, a float near 1 has none. So noise added to 1.0
gives multiples of 2^-53 only, noise added to 0.0 often gives something else: one such
answer is proof that the value was not 1, whatever ε was claimed.
"""

import json
import os
import subprocess
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from bench.peers import InstallError, interpreter
from dither import audit
from dither.mechanisms import Exponential, Gaussian, Laplace, SmoothSensitivity
from tests.chance import chance
from tests.noise.support import LEVEL, p_value

DRAWS = 100_000


def off_grid(answers):
    """The share of answers that are no multiple of 2^-53."""
    scaled = np.ldexp(np.asarray(answers), 53)
    return float(np.mean(scaled != np.rint(scaled)))


@chance(1e-15)
def test_numpy_is_separated_completely():
    noise = np.random.default_rng().laplace(0, 1, (2, DRAWS))
    assert off_grid(0.0 + noise[0]) > 0.2
    assert off_grid(1.0 + noise[1]) == 0


def product_of_logs_and_cosines(count):
    """Laplace noise as diffprivlib makes it: exact in law for real numbers, on floats
    as leaky as the plain formula.
    """
    a, b, c, d = np.random.default_rng().uniform(size=(4, count))
    return np.log(1 - a) * np.cos(np.pi * b) + np.log(1 - c) * np.cos(np.pi * d)


@chance(1e-15)
def test_a_sum_of_products_is_separated_completely():
    assert off_grid(0.0 + product_of_logs_and_cosines(DRAWS)) > 0.1
    assert off_grid(1.0 + product_of_logs_and_cosines(DRAWS)) == 0


@chance(1e-15)
@pytest.mark.full
def test_diffprivlib_is_separated_completely():
    try:
        python = interpreter("diffprivlib")
    except InstallError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"diffprivlib does not install here: {error}")
    code = (
        "import json; from diffprivlib.mechanisms import Laplace; m = Laplace(epsilon=1, sensitivity=1)\n"
        "print(json.dumps([[m.randomise(x) for _ in range(5000)] for x in (0.0, 1.0)]))"
    )
    done = subprocess.run(
        [str(python), "-W", "ignore", "-c", code], capture_output=True, check=True
    )
    zero, one = json.loads(done.stdout)
    assert off_grid(zero) > 0.1
    assert off_grid(one) == 0


OURS = [
    Laplace(sensitivity=1, epsilon=1),
    Gaussian(sensitivity=1, epsilon=1, delta=1e-6),
]


@chance(1e-8)
@pytest.mark.parametrize("mechanism", OURS, ids=lambda m: type(m).__name__)
def test_ours_is_not_separated(mechanism):
    """Every answer is a multiple of the same public step for both values, and its low
    bits are uniform for both.
    """
    for value in (0.0, 1.0):
        grid, _ = mechanism.scale_on(DRAWS)
        answers = mechanism.release(np.full(DRAWS, value))
        assert off_grid(answers) == 0
        steps = np.ldexp(answers, -grid.exponent)
        assert (steps == np.rint(steps)).all()
        counts = np.bincount(steps.astype(np.int64) & 15, minlength=16)
        assert p_value(counts, np.full(16, 1 / 16)) > LEVEL
        assert off_grid([mechanism.release(value) for _ in range(2000)]) == 0


NEAR, NEXT = 2**60 + 128, 2**60 + 129
"""One apart; as floats they are 256 apart: such floats are multiples of 256, and the
first of these lies halfway.
"""

WAYS = {
    "Decimal": (Decimal, None),
    "Fraction": (Fraction, None),
    "longdouble": (np.longdouble, None),
    "list of Decimals": (lambda x: [Decimal(x)], 0),
    "int among floats": (lambda x: [x, 0.5], 0),
    "int in an array of objects": (lambda x: np.array([x, 0.5, None], object), 0),
    "array of longdoubles": (lambda x: np.array([x], np.longdouble), 0),
}


@chance(1e-9)
@pytest.mark.skipif(
    np.longdouble(NEXT) == np.longdouble(NEAR), reason="longdouble is a double here"
)
@pytest.mark.parametrize(("way", "place"), WAYS.values(), ids=WAYS)
def test_values_beyond_53_bits_are_not_rounded_on_the_way_in(way, place):
    """Found by an audit: with ε = 1 such neighbours were told apart in every draw."""
    mechanism = Laplace(sensitivity=1, epsilon=1)

    def release(x):
        found = mechanism.release(x)
        return found if place is None else found[place]

    near, beyond = way(NEAR), way(NEXT)
    found = audit.mechanism(
        release,
        near,
        beyond,
        claimed=mechanism.guarantee,
        draws=1000,
        confidence=1 - 1e-9,
    )
    assert not found.refuted, found
    grid, _ = mechanism.scale_on(1)
    assert grid.nearest(Fraction(NEXT)) - grid.nearest(Fraction(NEAR)) == 1 / grid.step


@chance(2e-9)
def test_scores_and_smooth_values_are_not_rounded_either():
    chosen = Exponential(sensitivity=1, epsilon=1)
    for item in (Decimal, Fraction):
        found = audit.mechanism(
            chosen.release,
            [item(NEAR), item(NEAR)],
            [item(NEXT), item(NEAR)],
            draws=1000,
            confidence=1 - 1e-9,
        )
        assert not found.refuted, found
    smooth = SmoothSensitivity(global_sensitivity=1, epsilon=1)
    begin, step = Decimal(2**40), Decimal(2) ** smooth.grid.exponent
    assert float(begin + step) == float(begin)
    assert smooth._index(begin + step) == smooth._index(begin) + 1
