"""Which randomizer a question gets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dither.errors import ArgumentError
from dither.local.asking import Asked, counted, fitting
from dither.local.attributes import Attributes
from dither.local.evidence import apart
from dither.local.numbers import Numbers
from dither.local.oracles import (
    BinaryMean,
    HybridMean,
    Loloha,
    OneBitMean,
    Oracle,
    Sampled,
)
from dither.local.tree import Tree
from dither.local.vocabulary import Vocabulary

TOP = 255
N = 20_000


def asked(epsilon: float, ever: float | None = None, n: int = N) -> Asked:
    return Asked(epsilon, ever, n, 4096)


def made(domain: Any, wanted: Asked, **more: Any) -> Any:
    options = {"none": False, "pairs": False} | more
    return fitting(counted(domain, wanted, **options), wanted)


@pytest.mark.parametrize(
    ("epsilon", "kind"), [(0.3, BinaryMean), (0.6, BinaryMean), (0.7, HybridMean)]
)
def test_a_mean_has_the_smaller_worst_variance(epsilon: float, kind: Any) -> None:
    oracle = made(Numbers(0, 100), asked(epsilon))
    assert type(oracle) is kind
    others = (BinaryMean.at(101, epsilon), HybridMean.at(101, epsilon))
    assert oracle.worst == min(other.worst for other in others)


def test_a_mean_that_is_asked_again_is_one_bit() -> None:
    oracle = made(Numbers(0, 100), asked(1.0, 2.0))
    assert isinstance(oracle, OneBitMean)
    with pytest.raises(ArgumentError, match="for_ever"):
        made(Numbers(0, 100), asked(1.0, 1.0))


def test_a_variance_asks_for_two_means() -> None:
    oracle = made(Numbers(0, 100, ask="variance"), asked(1.0))
    assert isinstance(oracle, Sampled)
    assert oracle.sizes == (101, 10_001)


def test_attributes_have_an_oracle_each() -> None:
    domain = {"colour": ["red", "blue"], "age": Numbers(0, 100)}
    oracle = made(domain, asked(1.0))
    assert [part.items for part in oracle.parts] == [2, 101]
    assert isinstance(oracle.parts[1], HybridMean)
    again = made({"one": 5, "other": 300}, asked(1.0, 2.0))
    assert again.longitudinal
    assert sum(p.functions for p in again.parts if isinstance(p, Loloha)) <= 256


def test_pairs_have_a_table_each() -> None:
    domain = counted({"a": 2, "b": 3, "c": 4}, asked(1.0), none=False, pairs=True)
    assert isinstance(domain, Attributes)
    assert fitting(domain, asked(1.0)).sizes == (6, 8, 12)
    with pytest.raises(ArgumentError, match="pairs"):
        counted(["a", "b"], asked(1.0), none=False, pairs=True)


def test_words_have_a_sketch_for_each_length() -> None:
    oracle = made(Vocabulary("abc", 6, 2), asked(2.0))
    assert isinstance(oracle, Sampled)
    assert [part.rows for part in oracle.parts] == [256] * 3
    more = made(Vocabulary("abc", 6, 2), asked(4.0, n=10_000_000))
    assert more.parts[0].rows > 256
    with pytest.raises(ArgumentError, match="every"):
        made(Vocabulary("abc", 6, 2), asked(1.0, 2.0))


def doubt(branching: int, epsilon: float, shares: np.ndarray) -> float:
    """The mean variance of the share up to a number, over all numbers."""
    numbers = Numbers(0, TOP, ask="distribution", branching=branching)
    oracle = made(numbers, asked(epsilon))
    several = isinstance(oracle, Sampled)
    each: tuple[Oracle, ...] = oracle.parts if several else (oracle,)
    n, levels = N // len(each), []
    for part, width in zip(each, numbers.widths, strict=True):
        held = n * np.add.reduceat(shares, np.arange(0, TOP + 1, width))
        found, other = part.outlook(n), part.rates[1]
        variance = apart(found, held, other, 1, adds_up=part.adds_up)
        levels.append(variance / (found.gain * n) ** 2)
    nothing = [np.zeros(len(level)) for level in levels]
    sums, upto = Tree(nothing, levels, branching).sums(), np.cumsum(shares)
    return float((sums.variance - upto * (1 - upto) / N).mean())


POPULATIONS = {
    "uniform": np.full(TOP + 1, 1 / (TOP + 1)),
    "one number": np.eye(TOP + 1)[100],
    "Zipf": 1 / np.arange(1, TOP + 2) / (1 / np.arange(1, TOP + 2)).sum(),
}


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("population", POPULATIONS)
def test_the_branching_is_near_the_best(epsilon: float, population: str) -> None:
    shares = POPULATIONS[population]
    numbers = Numbers(0, TOP, ask="distribution")
    chosen = counted(numbers, asked(epsilon), none=False, pairs=False)
    assert isinstance(chosen, Numbers)
    tries = (2, 3, 4, 5, 6, 8, 12, 16, 32, TOP + 1)
    best = min(doubt(one, epsilon, shares) for one in tries)
    assert doubt(chosen.branching, epsilon, shares) <= 1.1 * best
    assert doubt(TOP + 1, epsilon, shares) > 2 * best
