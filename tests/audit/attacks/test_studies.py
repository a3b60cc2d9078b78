"""Attacks on releases of the science room, before and after."""

from __future__ import annotations

from typing import Any

import pytest

from dither import ArgumentError
from dither.audit import attacks
from tests.audit.attacks.support import held, shown_well
from tests.chance import chance


@chance(1e-8)
def test_who_is_in_a_study() -> None:
    """Exact frequencies tell nearly all; the release keeps to its bound."""
    found = attacks.frequencies()
    shown_well(found)
    assert found.rates[0].share > 0.9
    assert found.exact.area > 0.97
    assert held(*found.rates)
    assert found.ours.bound is not None
    assert found.ours.area < found.ours.bound + 6 * found.ours.roc.standard_error


@chance(1e-8)
@pytest.mark.full
def test_many_studies_keep_to_the_bound() -> None:
    """20 studies of 200 people: noise is shared by the people of a study, so the error
    is taken over studies. At ε = 8 the attack gains, and stays below its bound.
    """
    found = [attacks.frequencies(epsilon=8.0, people=200).rates[1] for _ in range(20)]
    shares = [one.share for one in found]
    mean = sum(shares) / len(shares)
    spread = (sum((one - mean) ** 2 for one in shares) / (len(shares) - 1)) ** 0.5
    assert found[0].bound is not None
    assert mean <= found[0].bound + 6 * spread / len(shares) ** 0.5


@chance(1e-8)
def test_blocks_of_a_town() -> None:
    found = attacks.census_blocks(blocks=120)
    shown_well(found)
    exact, ours, informed = found.rates
    assert exact.share > 0.85
    assert held(ours, informed)
    assert ours.share < 0.2


@pytest.mark.parametrize(
    ("attack", "given"),
    [
        (attacks.frequencies, {"epsilon": 0}),
        (attacks.frequencies, {"people": 0}),
        (attacks.frequencies, {"variants": 0}),
        (attacks.census_blocks, {"rho": 0}),
        (attacks.census_blocks, {"blocks": 0}),
    ],
)
def test_refusals(attack: Any, given: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match=next(iter(given))):
        attack(**given)
