"""Rounded Gaussian noise: its law, and that floats and exact arithmetic decide alike."""

import itertools
import math

import mpmath
import numpy as np
import pytest

from dither.noise import gaussian, rounded_gaussian
from dither.noise.cells import LARGEST, settle
from dither.noise.gaussian import RIM, plan, z_error
from dither.noise.polar import CHUNK, heads
from tests.chance import chance
from tests.noise.support import (
    FULL,
    LEVEL,
    ONES,
    QUICK,
    SCALES,
    Replay,
    always,
    low_bits_p,
    neighbours_p,
    random_words,
    symmetric_p,
)

MIXED = 0x9E3779B97F4A7C15
SHORT = [(1.0, 27), (100.0, 33), (12345.678, 40)]


def tail(sigma):
    return lambda k: math.erfc((k - 0.5) / (sigma * math.sqrt(2))) / 2


@chance(1e-8)
@pytest.mark.parametrize("sigma", [1e-6, *SCALES])
def test_law(sigma):
    if sigma < 0.01:
        assert not rounded_gaussian(sigma, 1000).any()
    else:
        assert (
            symmetric_p(lambda n: rounded_gaussian(sigma, n), tail(sigma), QUICK)
            > LEVEL
        )


@chance(1e-8)
@pytest.mark.full
@pytest.mark.parametrize("sigma", SCALES)
def test_law_in_a_long_campaign(sigma):
    assert symmetric_p(lambda n: rounded_gaussian(sigma, n), tail(sigma), FULL) > LEVEL
    if sigma > 10_000:
        assert low_bits_p(lambda n: rounded_gaussian(sigma, n), FULL) > LEVEL


@chance(1e-8)
@pytest.mark.parametrize("sigma", [1.0, 2.0**24 * 1.1])
def test_law_of_single_draws(sigma):
    def sample(n):
        return np.array([rounded_gaussian(sigma) for _ in range(n)])

    assert symmetric_p(sample, tail(sigma), 50_000) > LEVEL


@chance(1e-8)
def test_neighbours_and_both_sides_of_a_point_are_independent():
    assert neighbours_p(rounded_gaussian(3.0, 1_000_000)) > LEVEL
    values = gaussian._draw_chunk(
        plan(3.0), random_words(400_000), gaussian.stream.current()
    )
    assert neighbours_p(values.reshape(2, -1).T.reshape(-1)) > LEVEL


@chance(1e-8)
@pytest.mark.parametrize(("sigma", "bits"), [*SHORT, (2.0**24 * 1.1, 46)])
def test_law_with_shortened_words(sigma, bits):
    short, words = plan(sigma, bits), random_words(20_000)
    assert gaussian.floors(short, words)[2].size >= 1000
    source = gaussian.stream.current()
    assert (
        symmetric_p(lambda n: gaussian.draw(short, n, source), tail(sigma), 20_000)
        > LEVEL
    )


def agree(prepared, words):
    """Where floats are sure, the exact path gives the same whatever bits come next."""
    values, inside, unsure = gaussian.floors(prepared, words)
    sure = np.setdiff1d(np.arange(inside.size), unsure)
    for i in sure:
        for word in (0, ONES):
            pair = gaussian.exact_pair(
                prepared, *heads(words, i, prepared.bits), always(word)
            )
            assert pair == (tuple(values[:, i].tolist()) if inside[i] else None)
    return sure.size


@chance(1e-15)
@pytest.mark.parametrize("sigma", [1e-6, *SCALES])
def test_fast_and_exact_agree(sigma):
    assert agree(plan(sigma), random_words(300)) > 140


@chance(1e-15)
@pytest.mark.full
@pytest.mark.parametrize("sigma", [1.0, 12345.678, 2.0**24 * 1.1])
def test_fast_and_exact_agree_on_many_words(sigma):
    assert agree(plan(sigma), random_words(20_000)) > 9_950


@chance(1e-15)
@pytest.mark.parametrize(("sigma", "bits"), SHORT)
def test_fast_and_exact_agree_on_shortened_words(sigma, bits):
    assert agree(plan(sigma, bits), random_words(800)) > 200


def boundary_word(sigma, step, u, v):
    """The U nearest above this one beside which ⌊(σZ + ½) / step⌋ changes, if S stays
    in the range of floats.
    """
    one = mpmath.mpf(2) ** 63

    def floor(u):
        s = (mpmath.mpf(u) ** 2 + mpmath.mpf(v) ** 2) / one**2
        if not RIM < s < 1 - RIM:
            return None
        return int(
            mpmath.floor(
                (sigma * u / one * mpmath.sqrt(-2 * mpmath.log(s) / s) + 0.5) / step
            )
        )

    here, width = floor(u), 1
    while floor(u + width) == here is not None:
        width *= 2
    if floor(u + width) is None:
        return None
    low, high = u, u + width
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if floor(middle) == here else (low, middle)
    return low


RADII = [
    2.0**-9.9,
    0.03,
    0.3,
    0.7,
    0.95,
    *(math.sqrt(1 - RIM * part) for part in (1.02, 1.1, 1.5, 2, 5)),
]


@pytest.mark.parametrize(
    ("sigma", "bits"), [(100.0, 64), (2.0**20, 64), (2.0**20, 56), (2.0**24 * 1.1, 64)]
)
def test_words_beside_a_rounding_boundary(sigma, bits):
    """Near S = 2^-20, near S = 1 − 2^-20 and between, on either side of a boundary."""
    prepared, unseen, points = plan(sigma, bits), 1 << (64 - bits), []
    with mpmath.workdps(50):
        for radius, angle in itertools.product(RADII, (0.1, 0.7, 1.4)):
            u, v = (
                int(radius * part * 2**63)
                for part in (math.cos(angle), math.sin(angle))
            )
            edge = boundary_word(mpmath.mpf(sigma), 1 << prepared.r, u, v)
            for offset in (-100, -3, -2, -1, 0, 1, 2, 3, 100) if edge else ():
                points.append((edge + offset * unseen, v))
    words = np.array(points, np.int64).T.reshape(-1).view(np.uint64)
    assert words.size > 100
    agree(prepared, words)


def test_points_beside_the_rim_of_the_disc():
    """The float never decides a point that further bits could move across S = 1."""
    prepared = plan(1.0)
    u = np.linspace(0.1, 0.9, 60)
    for offset in (
        0.0,
        2.0**-30,
        -(2.0**-30),
        2.0**-20,
        -(2.0**-20),
        1.01 * 2.0**-20,
        -1.01 * 2.0**-20,
    ):
        v = np.sqrt(1 + offset - u * u)
        words = np.concatenate([u * 2.0**63, v * 2.0**63]).astype(np.uint64)
        agree(prepared, words)
        assert (gaussian.floors(prepared, words)[2].size == 60) == (
            abs(offset) < 2.0**-20
        ) or abs(offset) == 2.0**-20


def test_samples_of_a_chunk_sit_in_their_own_places():
    for sigma, bits in [(1.0, 64), *SHORT]:
        prepared, words = plan(sigma, bits), random_words(400)
        seen = gaussian._draw_chunk(
            prepared, words, Replay(extra=itertools.repeat(MIXED))
        )
        pairs = [
            gaussian.exact_pair(prepared, *heads(words, i, bits), always(MIXED))
            for i in range(200)
        ]
        kept = [pair for pair in pairs if pair is not None]
        assert seen.tolist() == [pair[0] for pair in kept] + [pair[1] for pair in kept]


def test_samples_of_a_chunk_of_a_large_scale_sit_in_their_own_places():
    prepared, words, places = (
        plan(2.0**24 * 1.1, 46),
        random_words(300),
        random_words(600),
    )
    pairs = [
        gaussian.exact_pair(prepared, *heads(words, i, 46), always(MIXED))
        for i in range(150)
    ]
    cells = [pair[side] for side in (0, 1) for pair in pairs if pair is not None]
    source = Replay(places[: 2 * len(cells)], itertools.repeat(MIXED))
    seen = gaussian._draw_chunk(prepared, words, source)
    expected = [
        settle(
            cell,
            prepared.r,
            int(places[i]),
            int(places[len(cells) + i]),
            gaussian.ratio(prepared),
            always(MIXED),
        )
        for i, cell in enumerate(cells)
    ]
    assert seen.tolist() == expected


def test_cells_of_unsure_points_are_always_decided_exactly(monkeypatch):
    """Both sides of such a point, because its Z may be large and its cell not flat."""
    prepared, words, seen = plan(2.0**24 * 1.1, 46), random_words(2000), []
    monkeypatch.setattr(
        gaussian, "spread", lambda cells, _r, unsure, *_: seen.append(unsure) or cells
    )
    gaussian._draw_chunk(prepared, words, always(MIXED))
    unsure = set(gaussian.floors(prepared, words)[2].tolist())
    inside = [
        i
        for i in range(1000)
        if gaussian.exact_pair(prepared, *heads(words, i, 46), always(MIXED))
        is not None
    ]
    assert seen[0].tolist() == [i in unsure for i in inside] * 2


def test_draws_are_the_chunks_one_after_the_other():
    words, count, expected = random_words(80_000), 30_000, []
    seen = gaussian.draw(plan(5.0), count, Replay(words, itertools.repeat(MIXED)))
    rest = words
    while len(expected) < count:
        size = 2 * min(CHUNK, (count - len(expected)) * 2 // 3 + 16)
        expected += gaussian._draw_chunk(plan(5.0), rest[:size], always(MIXED)).tolist()
        rest = rest[size:]
    assert seen.tolist() == expected[:count]


@pytest.mark.parametrize("sigma", [1e-6, 1.0, 100.0, 2.0**20, 2.0**24 * 1.1])
def test_single_draws_and_arrays_give_the_same(sigma):
    """A single draw takes the top bit of a word the other way round (offset binary),
    and one side of each point.
    """
    prepared = plan(sigma)
    for u, v in random_words(600).reshape(-1, 2).tolist():
        values, inside, unsure = gaussian.floors(
            prepared, np.array([u ^ 1 << 63, v ^ 1 << 63], np.uint64)
        )
        if inside[0] and not unsure.size:
            source = Replay(extra=[u, v])
            assert gaussian._draw_cell(prepared, source) == (values[0, 0], True)


def test_extreme_words():
    """The point (0, 0): S is 0 until more bits come; the far corners of the square are
    outside.
    """
    assert gaussian.exact_pair(plan(1.0), 0, 0, Replay([1, 1, 5, 5, 5, 5])) is not None
    assert gaussian.exact_pair(plan(1.0), -(1 << 63), -(1 << 63), Replay([])) is None
    assert gaussian.exact_pair(plan(1.0), (1 << 63) - 1, 5, always(0)) is not None
    far = gaussian.exact_pair(plan(1.0), 1, 0, always(0))
    assert far == (13, 0)  # √(−2 ln 2^-126) = 13.2
    assert gaussian.exact_pair(plan(1.0), -2, 0, always(0))[0] < -12
    corner = np.array([0, ONES, 1 << 63, 0, ONES, 1 << 63], np.uint64)
    assert gaussian._draw_chunk(plan(1.0), corner, always(MIXED)).size == 4


@chance(1e-8)
@pytest.mark.parametrize("power", [52, 56])
def test_huge_scales(power):
    sigma = 2.0**power
    assert (
        symmetric_p(lambda n: rounded_gaussian(sigma, n), tail(sigma), 100_000) > LEVEL
    )
    assert low_bits_p(lambda n: rounded_gaussian(sigma, n), 100_000) > LEVEL
    assert np.abs(rounded_gaussian(sigma, 10_000)).max() <= LARGEST


def test_every_sure_point_lies_in_a_flat_cell():
    """|Z| ≤ 5.3 and cells of at most 2^-19 σ: the density falls by less than 2^-16
    inside one.
    """
    assert math.sqrt(-2 * math.log(RIM * (1 - 2.0**-30))) < gaussian.WIDEST - 2.0**-19
    assert 1 - math.exp(-gaussian.WIDEST * 2.0**-19) < 2.0**-16


def test_z_error_covers_the_derivation():
    """docs/proofs/noise.md, term by term, at the points where each is largest."""
    for bits in (64, 56, 40):
        unit = 2.0 ** (1 - bits)
        worst = 0.0
        for s in [RIM * 2**i for i in np.arange(0, 20, 0.25)] + [
            1 - RIM * 2**i for i in np.arange(0, 19, 0.25)
        ]:
            relative = (
                2.0**-51 + 2 * math.sqrt(2) * unit / math.sqrt(s) + 2 * unit**2 / s
            )
            z = math.sqrt(-2 * math.log(s))
            slope = z / 2 * (1 + 1 / -math.log(s)) * relative
            own = unit * z / math.sqrt(s)
            worst = max(worst, own + slope + z * (1.5 * 2.0**-45 + 8 * 2.0**-53))
        assert z_error(bits) >= worst * 1.01
        for sigma in (1e-6, 1.0, 2.0**20, 2.0**40):
            p = plan(sigma, bits)
            assert p.margin >= p.coarse * worst + 2.0**-52
