"""Sums over a crowd, against every histogram of a few messages and against many digits."""

from __future__ import annotations

import math
import sys
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from dither.errors import ArgumentError, MissingExtra, UnitMismatch
from dither.privacy import (
    ROW,
    ApproxDP,
    Unit,
    gaussian_epsilon,
    shuffled,
    shuffled_numerically,
)
from dither.privacy.shuffling import _mass, _tail

Law = tuple[float, ...]
Randomizer = list[Law]
"""For every value, the probability of each message."""

Histogram = dict[tuple[int, ...], float]

DELTAS = (0.3, 0.1, 1e-2, 1e-3, 1e-5)


def response(epsilon: float, k: int) -> Randomizer:
    p = math.exp(epsilon)
    return [
        tuple((p if x == y else 1.0) / (p + k - 1) for y in range(k)) for x in range(k)
    ]


def unary(one: float, zero: float, d: int) -> Randomizer:
    def chance(x: int, bits: tuple[int, ...]) -> float:
        ones = [one if i == x else zero for i in range(d)]
        return math.prod(p if bit else 1 - p for p, bit in zip(ones, bits, strict=True))

    messages = list(product((0, 1), repeat=d))
    return [tuple(chance(x, bits) for bits in messages) for x in range(d)]


def subsets(epsilon: float, d: int, size: int) -> Randomizer:
    messages = list(combinations(range(d), size))
    odds = [[math.exp(epsilon) if x in y else 1.0 for y in messages] for x in range(d)]
    return [tuple(odd / sum(row) for odd in row) for row in odds]


def hadamard(epsilon: float) -> Randomizer:
    """A column of the four and the value's sign there, which lies sometimes."""
    signs = np.array([[1]])
    for _ in range(2):
        signs = np.block([[signs, signs], [signs, -signs]])
    true, false = math.exp(epsilon), 1.0
    total = 4 * (true + false)
    return [
        tuple(
            (true if sign == said else false) / total
            for sign in signs[x]
            for said in (-1, 1)
        )
        for x in range(4)
    ]


RANDOMIZERS = {
    "binary response": response(1.0, 2),
    "3-ary response": response(1.0, 3),
    "4-ary response": response(2.0, 4),
    "optimized unary": unary(0.5, 1 / (1 + math.exp(1.0)), 3),
    "symmetric unary": unary(0.7, 0.3, 2),
    "subsets": subsets(1.0, 4, 2),
    "hadamard": hadamard(1.0),
}


def largest_ratio(laws: Randomizer) -> float:
    pairs = permutations(laws, 2)
    return max(x / y for a, b in pairs for x, y in zip(a, b, strict=True) if x > 0)


def in_common(laws: Randomizer) -> float:
    return sum(min(law[y] for law in laws) for y in range(len(laws[0])))


def distance(one: Law, other: Law) -> float:
    return sum(max(x - y, 0.0) for x, y in zip(one, other, strict=True))


def largest_distance(laws: Randomizer) -> float:
    return max(distance(*pair) for pair in combinations(laws, 2))


def histograms(laws: list[Law]) -> Histogram:
    """The law of how often each message comes."""
    found: Histogram = {(0,) * len(laws[0]): 1.0}
    for law in laws:
        more: Histogram = defaultdict(float)
        for counts, mass in found.items():
            for y, chance in enumerate(law):
                after = (*counts[:y], counts[y] + 1, *counts[y + 1 :])
                more[after] += mass * chance
        found = more
    return found


def divergence(one: Histogram, other: Histogram, epsilon: float) -> float:
    factor = math.exp(epsilon)
    return math.fsum(max(one[h] - factor * other[h], 0.0) for h in one)


def neighbours(laws: Randomizer, n: int) -> Iterator[tuple[Histogram, Histogram]]:
    """Every pair of the first person's values beside every choice of the others'."""
    for others in combinations_with_replacement(laws, n - 1):
        rest = histograms([*others])
        for pair in permutations(laws, 2):
            yield tuple(_joined(rest, law) for law in pair)  # type: ignore[misc]


def _joined(rest: Histogram, law: Law) -> Histogram:
    more: Histogram = defaultdict(float)
    for counts, mass in rest.items():
        for y, chance in enumerate(law):
            more[(*counts[:y], counts[y] + 1, *counts[y + 1 :])] += mass * chance
    return more


def promised(laws: Randomizer, n: int, delta: float, **known: bool) -> float:
    values = {"common": in_common(laws), "total_variation": largest_distance(laws)}
    kept = {name: value for name, value in values.items() if known.get(name, True)}
    local = math.log(largest_ratio(laws)) * (1 + 1e-12)
    return shuffled_numerically(local, n, delta, **kept).epsilon


@pytest.mark.parametrize("name", RANDOMIZERS)
@pytest.mark.parametrize("n", [2, 4])
def test_no_histogram_tells_more(name: str, n: int) -> None:
    laws = RANDOMIZERS[name]
    bounds = [(delta, promised(laws, n, delta)) for delta in DELTAS]
    for one, other in neighbours(laws, n):
        for delta, epsilon in bounds:
            assert divergence(one, other, epsilon) <= delta * (1 + 1e-9)


@pytest.mark.parametrize("k", [2, 3])
def test_no_histogram_of_six_tells_more(k: int) -> None:
    laws = response(1.5, k)
    bounds = [(delta, promised(laws, 6, delta)) for delta in DELTAS]
    for one, other in neighbours(laws, 6):
        for delta, epsilon in bounds:
            assert divergence(one, other, epsilon) <= delta * (1 + 1e-9)


ODDS = st.lists(st.floats(1.0, 4.0), min_size=3, max_size=3)


@settings(max_examples=30, deadline=None)
@given(st.lists(ODDS, min_size=3, max_size=3), st.booleans(), st.integers(2, 4))
def test_no_randomizer_tells_more(odds: list[Any], distances: bool, n: int) -> None:
    laws = [tuple(odd / sum(row) for odd in row) for row in odds]
    if largest_ratio(laws) < 1.01:
        return
    bounds = [
        (delta, promised(laws, n, delta, total_variation=distances))
        for delta in (0.1, 1e-2, 1e-3)
    ]
    for one, other in neighbours(laws, n):
        for delta, epsilon in bounds:
            assert divergence(one, other, epsilon) <= delta * (1 + 1e-9)


def variation_ratio(epsilon: float, k: int, n: int) -> tuple[Histogram, Histogram]:
    """The pair to which Wang et al. 2024 reduce k-ary response: α = β/(p − 1), clones
    with probability 2α, nobody's message given away.
    """
    p = math.exp(epsilon)
    clone = 1 / (p + k - 1)
    like: Law = (clone, clone, 1 - 2 * clone)
    one: Law = (p * clone, clone, 1 - (p + 1) * clone)
    other: Law = (clone, p * clone, 1 - (p + 1) * clone)
    rest = [like] * (n - 1)
    return histograms([one, *rest]), histograms([other, *rest])


def test_the_published_reduction_is_too_small() -> None:
    """Two people, three answers: what the first one's companion says leaks whether the
    first one's message looks like neither of both values.
    """
    laws = response(1.0, 3)
    reduced = variation_ratio(1.0, 3, 2)
    true = histograms([laws[0], laws[0]]), histograms([laws[1], laws[0]])
    assert divergence(*true, 0.825) > 2 * divergence(*reduced, 0.825)
    others = histograms([laws[0], laws[2]]), histograms([laws[1], laws[2]])
    assert divergence(*others, 0.825) == pytest.approx(divergence(*reduced, 0.825))


CLONES = [
    (10**5, 4.0, 0.169770),
    (10**4, 1.0, 0.053005),
    (10**5, 1.0, 0.015282),
    (10**6, 1.0, 0.004335),
    (10**6, 4.0, 0.049307),
]


@pytest.mark.parametrize(("n", "local", "epsilon"), CLONES)
def test_clones(n: int, local: float, epsilon: float) -> None:
    """Summed exactly elsewhere; apple/ml-shuffling-amplification brackets the first
    three.
    """
    found = shuffled_numerically(local, n, 1e-6)
    assert found.epsilon == pytest.approx(epsilon, abs=6e-7)
    assert found.epsilon < shuffled(local, n, 1e-6).epsilon


def _binomial(hits: int, draws: int, chance: mpf) -> mpf:
    return mp.binomial(draws, hits) * chance**hits * (1 - chance) ** (draws - hits)


def response_delta(local: float, k: int, n: int, epsilon: float) -> mpf:
    """The blanket's sum for k-ary response, in many digits."""
    p, e = mp.e ** mpf(local), mp.e ** mpf(epsilon)
    share = k / (p + k - 1)
    total = mpf(0)
    for size in range(1, n + 1):
        for a, b in product(range(size + 1), repeat=2):
            if a + b > size:
                continue
            told = a * (p - e) + b * (1 - p * e) + (size - a - b) * (1 - e)
            if told > 0:
                mass = _binomial(size - 1, n - 1, share)
                mass *= _binomial(a, size, mpf(1) / k)
                mass *= _binomial(b, size - a, mpf(1) / (k - 1))
                total += mass * told * share / size
    return total


@pytest.mark.parametrize(("local", "k"), [(1.0, 2), (1.0, 3), (3.0, 10)])
@pytest.mark.parametrize("delta", [1e-2, 1e-6, 1e-12])
def test_the_sum_is_the_blankets_and_above_it(
    local: float, k: int, delta: float
) -> None:
    n = 12
    common = k / (math.exp(local) + k - 1)
    epsilon = shuffled_numerically(local, n, delta, common=common).epsilon
    if epsilon < local:
        assert response_delta(local, k, n, epsilon) <= delta
        assert response_delta(local, k, n, epsilon * (1 - 1e-4)) > delta


CROWDS = {
    "response": lambda p, k=100: (k / (p + k - 1), None),
    "unary": lambda p: ((p + 1) / (2 * p), (p - 1) / (p + 1) / 2),
    "hadamard": lambda p: (2 / (p + 1), (p - 1) / (p + 1) / 2),
}


@pytest.mark.parametrize("local", [1.0, 4.0])
@pytest.mark.parametrize("name", CROWDS)
def test_a_million_messages_are_nearly_gaussian(name: str, local: float) -> None:
    """In a large crowd μ² = 2β(e^ε₀ − 1)/n."""
    common, apart = CROWDS[name](p := math.exp(local))
    found = shuffled_numerically(
        local, 10**6, 1e-6, common=common, total_variation=apart
    )
    far = apart or min(1 - common, p * common - 1)
    limit = gaussian_epsilon(math.sqrt(2 * far * (p - 1) / 10**6), 1e-6)
    assert found.epsilon == pytest.approx(limit, rel=1e-3)


def test_never_above_the_clones() -> None:
    for n, local in product((10, 1000, 10**5), (0.1, 1.0, 3.0, 6.0)):
        clones = shuffled_numerically(local, n, 1e-6)
        assert clones.epsilon <= shuffled(local, n, 1e-6).epsilon <= local
        for common in (1.01 * math.exp(-local), 2 / (math.exp(local) + 1), 0.99):
            found = shuffled_numerically(local, n, 1e-6, common=common)
            assert 0 <= found.epsilon <= clones.epsilon * (1 + 1e-5)


def _epsilons(cases: Any) -> list[float]:
    return [
        shuffled_numerically(
            local, n, delta, common=2 / (math.exp(local) + 1), total_variation=apart
        ).epsilon
        for local, n, delta, apart in cases
    ]


def test_monotone() -> None:
    crowds = _epsilons((1.0, n, 1e-6, None) for n in (1, 10, 100, 10**4, 10**6))
    assert crowds == sorted(crowds, reverse=True)
    deltas = _epsilons((1.0, 1000, d, None) for d in (1e-100, 1e-9, 1e-3, 0.5))
    assert deltas == sorted(deltas, reverse=True)
    locals_ = _epsilons((local, 1000, 1e-6, None) for local in (0.01, 0.5, 1.0, 4.0))
    assert locals_ == sorted(locals_)
    distances = _epsilons((1.0, 1000, 1e-6, b) for b in (0.01, 0.1, 0.2, 0.4, 1.0))
    assert distances == sorted(distances)


def test_edges() -> None:
    assert shuffled_numerically(1.0, 1, 1e-6, common=0.5).epsilon == pytest.approx(
        1.0, 1e-5
    )
    assert shuffled_numerically(1.0, 10, 0.9, common=0.5).epsilon == 1e-12
    assert shuffled_numerically(800.0, 10**6, 1e-6) == shuffled(800.0, 10**6, 1e-6)
    assert shuffled_numerically(Fraction(1, 3), 10, 1e-300).epsilon <= 1 / 3 + 1e-12
    found = shuffled_numerically(1.0, 1000, 1e-3)
    assert found == ApproxDP(found.epsilon, 1e-3, unit=ROW.replacing())
    with pytest.raises(UnitMismatch, match=r"replacing"):
        shuffled_numerically(1.0, 1000, 1e-3, unit=Unit("device"))


@pytest.mark.parametrize(
    ("argument", "arguments"),
    [
        ("epsilon_local", {"epsilon_local": 0}),
        ("n", {"n": 0}),
        ("delta", {"delta": 0}),
        ("common", {"common": 0}),
        ("common", {"common": 0.2}),
        ("common", {"common": 1.5}),
        ("total_variation", {"common": 0.5, "total_variation": -0.1}),
        ("total_variation", {"total_variation": 0.1}),
    ],
)
def test_bad_crowds_are_named(argument: str, arguments: dict[str, Any]) -> None:
    usual = {"epsilon_local": 1.0, "n": 10, "delta": 1e-6}
    with pytest.raises(ArgumentError) as caught:
        shuffled_numerically(**usual | arguments)
    assert caught.value.argument == argument


def test_scipy_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(MissingExtra, match=r"'\.\[accounting\]'"):
        shuffled_numerically(1.0, 1000, 1e-6)


@pytest.mark.parametrize(
    ("hits", "draws", "chance"),
    [
        (0, 10, 0.25),
        (10, 10, 0.25),
        (600, 1000, 0.5),
        (503_000, 10**6, 0.5),
        (1200, 10**6, 0.001),
        (50_030_000, 10**8, 0.5),
    ],
)
def test_binomial_terms_are_as_exact_as_assumed(
    hits: int, draws: int, chance: float
) -> None:
    slack = 1e-10 + 1e-15 * draws
    exact = mp.exp(
        mp.loggamma(draws + 1)
        - mp.loggamma(hits + 1)
        - mp.loggamma(draws - hits + 1)
        + hits * mp.log(mpf(chance))
        + (draws - hits) * mp.log(1 - mpf(chance))
    )
    found = float(_mass(np.array([hits]), np.array([draws]), chance)[0])
    assert found == pytest.approx(float(exact), rel=slack)
    tail, term, place = mpf(0), exact, hits
    while term > tail * mpf(10) ** -20:
        tail += term
        term *= mpf(draws - place) / (place + 1) * mpf(chance) / (1 - mpf(chance))
        place += 1
    found = float(_tail(np.array([hits]), np.array([draws]), chance)[0])
    assert found == pytest.approx(float(tail), rel=slack)
