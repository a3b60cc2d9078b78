"""Local clients of another library that are not as private as they say (pure-ldp), and
ours beside them.

Both faults leave a bit at one that should have been drawn again. Written from what the
clients do, not from their code.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dither import audit
from dither.privacy import PureDP
from tests.chance import chance

RANDOM = np.random.default_rng()
DRAWS = 20_000
SURE = 1 - 1e-9
ITEMS = 4

Bits = NDArray[np.bool_]
Client = Callable[[int, int], Any]


def encoded(item: int, size: int) -> Bits:
    bits = np.zeros((size, ITEMS), np.bool_)
    bits[:, item] = True
    return bits


def rappor_that_never_clears(f: float) -> Client:
    """RAPPOR's permanent noise sets a bit with probability 1 − f/2 if it is one and f/2
    if it is zero. pure-ldp 1.2.0 writes the ones into the filter that it randomizes,
    and clears none: a zero in a message rules its values out for certain.
    """

    def client(item: int, size: int) -> Bits:
        bits = encoded(item, size)
        chance = np.where(bits, 1 - f / 2, f / 2)
        return bits | (RANDOM.random(bits.shape) < chance)

    return client


def unary_that_draws_twice(one: float, zero: float) -> Client:
    """Before pure-ldp 1.2.0 (its issue 11), an item's own bit was drawn like all others
    and then set with probability `one`: it is one more often than it should be.
    """

    def client(item: int, size: int) -> Bits:
        bits = RANDOM.random((size, ITEMS)) < zero
        bits[:, item] |= RANDOM.random(size) < one
        return bits

    return client


def unary(one: float, zero: float) -> Client:
    def client(item: int, size: int) -> Bits:
        chance = np.where(encoded(item, size), one, zero)
        return RANDOM.random(chance.shape) < chance

    return client


def found(client: Client, epsilon: float, draws: int = DRAWS) -> audit.Finding:
    return audit.mechanism(
        client, 0, 1, claimed=PureDP(epsilon), draws=draws, confidence=SURE
    )


@chance(1e-9)
def test_rappor_that_never_clears_is_refuted() -> None:
    """The server says ε = 2·ln((1 − f/2)/(f/2)), 2.197 at f = ½."""
    finding = found(rappor_that_never_clears(0.5), 2 * math.log(3))
    assert finding.refuted
    assert finding.epsilon_lower > 4


@chance(2e-9)
@pytest.mark.parametrize("epsilon", [1.0, 2.0])
def test_unary_encoding_that_draws_twice_is_refuted(epsilon: float) -> None:
    """P(1 | 1) is ½ + ½·zero instead of ½."""
    zero = 1 / (math.exp(epsilon) + 1)
    finding = found(unary_that_draws_twice(0.5, zero), epsilon, 200_000)
    assert finding.refuted
    truth = math.log((1 + zero) / zero)
    assert epsilon < finding.epsilon_lower <= truth


@chance(1e-9)
def test_unary_encoding_that_draws_once_is_not() -> None:
    assert not found(unary(0.5, 1 / (math.e + 1)), 1.0).refuted
