"""How many blocks, at which level."""

from __future__ import annotations

import pytest

from dither.mechanisms import Gaussian, Laplace
from dither.science.trials.groups import _needed, best, critical, power_of_blocks
from dither.science.trials.null import Law


def laplace(epsilon: float) -> Law:
    return Law.of(Laplace(sensitivity=1, epsilon=epsilon))


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_the_choice_is_near_the_best(epsilon: float) -> None:
    law = laplace(epsilon)
    count, level = best(law, None, None, None)
    found = _needed(law, count, level)
    others = [
        _needed(law, max(1, round(count * factor)), other)
        for factor in (0.5, 0.7, 1.4, 2)
        for other in (0.05, 0.1, 0.2, 0.3)
    ]
    assert found <= 1.04 * min(others)


def test_people_limit_the_number() -> None:
    assert best(laplace(0.1), None, None, 100)[0] == 5
    assert best(laplace(0.1), None, None, 3)[0] == 1
    assert best(laplace(0.1), 50, 0.2, 3) == (50, 0.2)


def test_gaussian_noise_has_a_choice_too() -> None:
    count, level = best(Law.of(Gaussian(sensitivity=1, rho=0.5)), None, None, None)
    assert 4 <= count <= 12
    assert 0.05 <= level <= 0.3


@pytest.mark.parametrize("epsilon", [0.3, 3.0])
def test_the_cut_has_its_level(epsilon: float) -> None:
    law = laplace(epsilon)
    cut = critical(law, 20, 0.1, 0.05)
    assert power_of_blocks(law, 20, 0.1, cut) == pytest.approx(0.05, rel=1e-6)
    assert power_of_blocks(law, 20, 0.8, cut) > 0.4
