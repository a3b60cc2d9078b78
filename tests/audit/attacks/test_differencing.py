"""Differencing: two exact counts give a person away, two noisy ones do not."""

from __future__ import annotations

import math
import sys
from typing import Any

import pytest

from dither import ArgumentError
from dither.audit import attacks
from tests.audit.attacks.support import held, near, shown_well
from tests.chance import chance


def both_noisy(epsilon: float) -> float:
    """P(x ≥ y) of two discrete Laplace draws: (1 + P(x = y))/2."""
    a = math.exp(-epsilon)
    same = ((1 - a) / (1 + a)) ** 2 * (1 + a * a) / (1 - a * a)
    return (1 + same) / 2


@chance(5e-9)
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 2.0])
def test_rates_are_the_closed_forms(epsilon: float) -> None:
    found = attacks.differencing(epsilon=epsilon)
    exact, suppressed, rounded, shifted, ours = found.rates
    assert exact.share == suppressed.share == shifted.share == 1
    # One count in five crosses a multiple: half of all secrets, and a fifth of the rest.
    assert near(rounded, 0.6)
    assert near(ours, both_noisy(epsilon))
    assert held(ours)
    e2 = math.exp(2 * epsilon)
    assert ours.bound == pytest.approx(e2 / (1 + e2))
    assert both_noisy(epsilon) < ours.bound


@chance(3e-9)
def test_small_counts_are_suppressed() -> None:
    """Below five nothing is shown; the rest varies by up to four."""
    found = attacks.differencing(1, tries=5000)
    assert near(found.rates[1], 0.6)
    shown_well(found)


@chance(1e-12)
def test_noise_shared_by_both_counts_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A broken copy draws no noise of its own for the second count."""
    module: Any = sys.modules["dither.audit.attacks.differencing"]
    kept = module.Geometric

    class Shared(kept):  # type: ignore[misc, valid-type]
        def release(self, value: Any) -> Any:
            return value + 3

    monkeypatch.setattr(module, "Geometric", Shared)
    assert not attacks.differencing().kept


@pytest.mark.parametrize(
    "given",
    [{"epsilon": 0}, {"tries": 0}, {"count": -1}, {"count": 10**10}, {"tries": "x"}],
)
def test_refusals(given: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match=next(iter(given))):
        attacks.differencing(**given)
