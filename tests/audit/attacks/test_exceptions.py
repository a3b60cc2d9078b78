"""Exception bits: a database that fails for one row, and ours that does not."""

from __future__ import annotations

import math
from typing import Any

import pytest

from dither import ArgumentError
from dither.audit import attacks
from tests.audit.attacks.support import held, near, shown_well
from tests.chance import chance


@chance(1e-9)
def test_only_the_database_fails() -> None:
    found = attacks.exceptions(tries=16)
    shown_well(found)
    assert found.rates[0].share == 1
    assert found.raised == 0
    # Nothing fails, so "failed or not" says that nobody is ill: right by the coin.
    assert found.rates[1].release == "ours: failed or not"
    assert held(found.rates[1])


@chance(4e-9)
@pytest.mark.full
def test_the_count_tells_what_epsilon_allows() -> None:
    """A count has Laplace noise that is rounded to whole numbers: its sign is right in
    1 - e^(-ε/2)/2.
    """
    found = attacks.exceptions(tries=200, epsilon=1.0)
    assert found.rates[0].share == 1
    assert near(found.rates[1], 0.5)
    assert near(found.rates[2], 1 - math.exp(-0.5) / 2)


@pytest.mark.parametrize("given", [{"epsilon": 0}, {"tries": 0}])
def test_refusals(given: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match=next(iter(given))):
        attacks.exceptions(**given)
