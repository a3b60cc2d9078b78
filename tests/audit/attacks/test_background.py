"""Background knowledge: each excluded secret and each known person tells more of a
k-anonymous table; noisy counts keep to their bound.
"""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from dither.audit import attacks
from dither.audit.attacks.background import _excluded
from tests.audit.attacks.support import held, near, shown_well
from tests.chance import chance


@chance(1e-8)
def test_the_bundled_study() -> None:
    found = attacks.background()
    shown_well(found)
    assert list(found.certain) == sorted(found.certain)
    assert found.certain[0] == pytest.approx(found.table.homogeneous)
    assert found.certain[-1] > 0.6
    assert found.anonymous[-1].share == 1
    assert held(*found.rates)
    assert len(found.certain) == 5


@chance(1e-8)
def test_diverse_classes_give_in_too() -> None:
    """Three secrets in each class: none is certain until two are excluded, and all are
    for whoever knows the others.
    """
    found = attacks.background(diversity=3)
    assert found.certain[:2] == (0.0, 0.0)
    assert found.certain[-1] > 0.3
    assert found.anonymous[-1].share == 1
    assert held(*found.rates)


def by_bits(shares: np.ndarray, epsilon: float) -> float:
    """How often the likeliest secret is the true one, over all outcomes: each count is
    1 or more with e^ε/(1 + e^ε) for the secret, and with 1/(1 + e^ε) for others.
    """
    likely = math.exp(epsilon) / (1 + math.exp(epsilon))
    total = 0.0
    for bits in product((True, False), repeat=shares.size):
        seen = np.array(bits)
        scores = shares * np.where(seen, math.exp(epsilon), math.exp(-epsilon))
        best = scores >= scores.max() * (1 - 1e-12)
        for secret, share in enumerate(shares):
            same = np.where(np.arange(shares.size) == secret, likely, 1 - likely)
            chance = np.prod(np.where(seen, same, 1 - same))
            total += share * chance * best[secret] / best.sum()
    return float(total)


@chance(2e-9)
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_everybody_else_is_known(epsilon: float) -> None:
    """The rate is the closed form, which keeps to the bound."""
    found = attacks.background(epsilon=epsilon)
    table = found.table
    shares = table.counts.sum(axis=0) / table.people
    expected = by_bits(shares, epsilon)
    assert near(found.ours[-1], expected)
    assert found.ours[-1].bound is not None
    assert expected <= found.ours[-1].bound


@chance(1e-8)
def test_excluded_secrets_are_drawn_evenly_and_never_the_own() -> None:
    codes = np.zeros(30_000, np.intp)
    order = _excluded(codes, 4)
    assert (order[:, 0] == 3).all()
    firsts = np.bincount((order == 0).argmax(axis=1), minlength=4)
    assert abs(firsts[1:] - 10_000).max() < 6 * math.sqrt(30_000 * 2 / 9)


@chance(1e-9)
def test_one_secret_alone() -> None:
    table = {"age": [1, 2, 3, 4], "ill": [0, 0, 0, 0]}
    found = attacks.background(table, ["age"], secret="ill", k=2, edges={"age": [0, 5]})
    assert found.certain == (1.0,)
    assert held(*found.rates)
    shown_well(found)
