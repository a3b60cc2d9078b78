"""Attacks by their names."""

from __future__ import annotations

import pytest

from dither import ArgumentError
from dither.audit import attacks
from dither.audit.attacks.listed import ATTACKS, Listed

QUICK: dict[str, dict[str, object]] = {
    "averaging": {"tries": 50},
    "differencing": {"tries": 50},
    "exceptions": {"tries": 2},
    "low-bits": {"tries": 100},
    "membership": {"people": 20, "variants": 50},
    "blocks": {"blocks": 5},
    "subsets": {"people": 8, "epsilon": 1.0},
    "timing": {"tries": 2},
}


@pytest.mark.parametrize("name", ATTACKS)
def test_each_runs_and_says_what_is_not_stopped(name: str) -> None:
    found = attacks.run(name, **QUICK.get(name, {}))
    assert found.name == name
    assert found.rates
    assert found.notes[-1].startswith("Not stopped by differential privacy: ")
    assert len(ATTACKS[name].words) < 60


def test_what_is_no_attack_or_no_option() -> None:
    with pytest.raises(
        ArgumentError, match="'magic' is not an attack; name one of: homog"
    ):
        attacks.run("magic")
    with pytest.raises(ArgumentError, match="k is not an argument of timing"):
        attacks.run("timing", k=3)


def test_they_are_public() -> None:
    assert all(isinstance(one, Listed) for one in ATTACKS.values())
    assert set(attacks.__all__) <= set(dir(attacks))
