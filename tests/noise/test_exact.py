"""Decisions beyond floats: intervals that hold the truth, and no thread's decimal
context touched.
"""

import decimal
import importlib
import itertools
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from dither.noise import (
    Noise,
    bernoulli_exp,
    cauchy,
    gaussian,
    laplace,
    select,
    uniform,
)
from dither.noise.exact import (
    Uniform,
    below,
    context,
    decide,
    decimal_of,
    floor_of,
    widen,
)
from dither.noise.polar import Point
from tests.noise.support import ONES, Replay, always, random_words

discrete = importlib.import_module("dither.noise.discrete_gaussian")


def test_a_uniform_number_gains_bits():
    u = Uniform(5, 3, Replay([7]))
    u.refine()
    assert (u.head, u.bits) == ((5 << 64) + 7, 67)


def test_digits_outgrow_bits():
    for bits in (8, 64, 640, 64_000):
        assert 10 ** (context(bits).prec - 34) > 1 << bits


def test_widening_holds_the_roundings_of_dozens_of_operations():
    for value in ("0", "1", "-3.7", "1e-40", "123456789.5", "9e20"):
        ctx = context(64)
        exact_value = Decimal(value)
        low, high = widen(ctx, exact_value, exact_value)
        one_digit = (
            Decimal(10) ** (exact_value.adjusted() - ctx.prec + 1)
            if exact_value
            else Decimal(0)
        )
        wide = decimal.Context(prec=200)
        assert wide.subtract(exact_value, low) > wide.multiply(
            one_digit, Decimal(100_000)
        )
        assert wide.subtract(high, exact_value) > wide.multiply(
            one_digit, Decimal(100_000)
        )


def test_floors():
    assert floor_of((Decimal("1.2"), Decimal("1.9"))) == 1
    assert floor_of((Decimal("-0.2"), Decimal("-0.1"))) == -1
    assert floor_of((Decimal("0.9"), Decimal("1.1"))) is None
    assert floor_of((Decimal(10) ** 70, Decimal(10) ** 70)) == 10**70


def test_decide_asks_for_more_bits_until_there_is_an_answer():
    u, v = Uniform(0, 64, Replay([1, 2])), Uniform(0, 64, Replay([3, 4]))
    seen = []

    def attempt(ctx):
        seen.append(ctx.prec)
        return "done" if len(seen) == 3 else None

    assert decide(attempt, u, v) == "done"
    assert (u.head, v.head) == ((1 << 64) + 2, (3 << 64) + 4)
    assert seen == sorted(set(seen))


@pytest.mark.parametrize(
    "p", [Fraction(1, 3), Fraction(1, 2**70), 1 - Fraction(1, 3**50)]
)
def test_below_is_what_fractions_say(p):
    def bound(ctx):
        value = decimal_of(ctx, p)
        return widen(ctx, value, value)

    for words in (
        [0, 0],
        [ONES, ONES],
        [int(p * 2**64), 0],
        [int(p * 2**64), ONES],
        [int(p * 2**64), 1 << 62],
    ):
        more = [*words[1:], 1, 1, 1]
        value = sum(
            Fraction(word, 1 << 64 * (i + 1))
            for i, word in enumerate([words[0], *more])
        )
        assert below(Uniform(words[0], 64, Replay(more)), bound) == (value < p)


@pytest.mark.parametrize("scale", [2.0**-1000, 1e-17, 1e-6, 0.3, 1.0, 1e6, 2.0**56])
def test_kappa_holds_the_truth(scale):
    with mpmath.workdps(400):
        t = mpmath.mpf(scale)
        true = t * mpmath.log(2 / (1 + mpmath.exp(-1 / t)))
        low, high = (mpmath.mpf(str(end)) for end in laplace.kappa(context(64), scale))
        assert low < true < high
        assert high - low < t * mpmath.mpf(10) ** -50
        assert 0 < true <= mpmath.mpf("0.5")


@pytest.mark.parametrize("bits", [64, 128, 640])
def test_normals_hold_the_truth(bits):
    """The interval of exact_side holds Z at every corner of what is known, near S = 0,
    S = 1 and between.
    """
    one = 1 << (bits - 1)
    with mpmath.workdps(300):
        for u, v in [
            (one // 2, one // 3),
            (-one // 2, one // 3),
            (one - 1, 1),
            (3, 5),
            (-4, 7),
            (one // 3, -one // 9),
        ]:
            low, high = gaussian._normal(context(bits), Point(u, v, bits, always(0)), 0)
            for du, dv in itertools.product((0, 1), (0, 1)):
                x, y = mpmath.mpf(u + du) / one, mpmath.mpf(v + dv) / one
                s = min(x * x + y * y, mpmath.mpf(1))
                z = x * mpmath.sqrt(-2 * mpmath.log(s) / s)
                assert mpmath.mpf(str(low)) <= z <= mpmath.mpf(str(high))


def everything():
    """One run through every exact path, on fixed words."""
    words = np.random.default_rng(7).integers(0, 1 << 64, 60, dtype=np.uint64)
    out = []
    for scale in (1e-6, 3.7, 1e5, 2.0**40 + 0.5):
        extra = itertools.cycle([0x9E3779B97F4A7C15, 0x123456789ABCDEF])
        source = Replay(extra=extra)
        out += [
            laplace.exact_magnitude(
                laplace.plan.__wrapped__(scale, 30), int(w) >> 1, source
            )
            for w in words
        ]
        p = gaussian.plan.__wrapped__(scale, 30)
        out += [
            gaussian.exact_pair(p, int(w) >> 35, -int(w) >> 36, source) for w in words
        ]
        out += [
            cauchy.exact_ratio(cauchy.plan(scale, 30), int(w) >> 35, -5, source)
            for w in words
        ]
        out += [
            discrete.exact_coin(scale, 5.0, 3, Uniform(int(w), 64, source))
            for w in words
        ]
        for ratio in (
            laplace.ratio(scale),
            gaussian.ratio(p),
            cauchy.ratio(cauchy.plan(scale)),
        ):
            out.append(ratio(context(64), 0, Decimal("0.2"), Decimal("0.7")))
    for noise in Noise:
        source = Replay(
            words[:9], itertools.cycle([0x9E3779B97F4A7C15, 0x123456789ABCDEF, 3])
        )
        out.append(select.contest(np.arange(9.0), 0.25, noise, source, 3))
    out.append(
        uniform._whole(
            lambda ctx: widen(ctx, *[ctx.exp(decimal_of(ctx, Fraction(-1, 3)))] * 2)
        )
    )
    out.append(decimal_of(context(64), 0.1))
    out.append(bool(bernoulli_exp(1e-300)))
    return out


def test_the_threads_decimal_context_is_neither_read_nor_changed():
    normal = everything()
    signals = list(decimal.Context().flags)
    hostile = decimal.Context(
        prec=1, Emin=-1, Emax=1, rounding=decimal.ROUND_UP, traps=signals
    )
    with decimal.localcontext(hostile) as local:
        before = repr(local)
        seen = everything()
        assert repr(local) == before
    assert seen == normal
    with decimal.localcontext(decimal.Context(prec=1, traps=[])) as local:
        assert everything() == normal
        assert not any(local.flags.values())


def test_slow_words_are_used_once():
    source = Replay(random_words(10))
    laplace.exact_magnitude(laplace.plan(1.0), 0, source)
    assert source.used == 1
