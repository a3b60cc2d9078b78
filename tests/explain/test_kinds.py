"""Which promise to take: the prices of `explain.definitions` against mechanisms that
pay them.
"""

from __future__ import annotations

import json
import math

import pytest
from scipy import stats

from dither import explain
from dither.errors import ArgumentError
from dither.mechanisms import Gaussian, Laplace, RandomizedResponse
from dither.privacy import GaussianDP, compose

from . import pictures


@pytest.mark.parametrize("answers", [1, 8, 100])
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_prices_are_those_of_the_mechanisms(answers: int, epsilon: float) -> None:
    found = explain.definitions(epsilon, delta=1e-6, n=5000, answers=answers)
    pure, approximate, concentrated, local = (kind.error for kind in found.kinds)
    assert Laplace(sensitivity=1, epsilon=epsilon / answers).error() == pytest.approx(
        pure, rel=1e-5
    )
    noise = Gaussian(sensitivity=1, mu=found.mu / math.sqrt(answers))
    assert noise.error() == pytest.approx(approximate, rel=1e-5)
    assert approximate == concentrated
    together = compose([GaussianDP(noise.guarantee.mu)] * answers, 1e-6).epsilon
    assert together == pytest.approx(epsilon, rel=1e-6)
    truth = RandomizedResponse(epsilon=epsilon / answers).truth
    deviation = math.sqrt(5000 * truth * (1 - truth)) / (2 * truth - 1)
    assert local == pytest.approx(stats.norm.ppf(0.975) * deviation, rel=1e-6)
    assert found.rho == pytest.approx(found.mu**2 / 2)


@pytest.mark.parametrize(("epsilon", "delta"), [(1, 1e-6), (0.1, 1e-9), (3, 1e-5)])
def test_when_gaussian_noise_pays(epsilon: float, delta: float) -> None:
    first = explain.definitions(epsilon, delta=delta).gaussian_pays_from
    before, after = (
        explain.definitions(epsilon, delta=delta, answers=k) for k in (first - 1, first)
    )
    assert before.gaussian_error >= before.pure_error
    assert after.gaussian_error < after.pure_error


def test_local_costs_the_root_of_n() -> None:
    small, large = explain.definitions(n=100), explain.definitions(n=10_000)
    assert large.local_error == pytest.approx(10 * small.local_error)
    assert large.pure_error == small.pure_error


def test_the_words() -> None:
    found = explain.definitions()
    assert [kind.name for kind in found.kinds] == [
        "pure ε",
        "(ε, δ)",
        "zCDP and GDP",
        "local ε",
    ]
    assert [kind.trust for kind in found.kinds] == ["the curator"] * 3 + ["nobody"]
    assert "wins from 8 counts on" in found.sentences[0]
    assert "±189" in found.sentences[1]
    assert "not local" in found.notes[-1]  # textbook claim 7
    # Textbook claim 3: over events, not outcome by outcome
    assert "for every event" in found.kinds[1].promise
    assert found.heading[1] == "± at 95 %"


@pytest.mark.parametrize("epsilon", [1e-9, 0.5, 50, 1e6])
@pytest.mark.parametrize("answers", [1, 10**6])
@pytest.mark.parametrize("n", [1, 10**15])
def test_every_price_can_be_shown(epsilon: float, answers: int, n: int) -> None:
    found = explain.definitions(epsilon, n=n, answers=answers)
    assert "nan" not in str(found)
    assert len(json.loads(found.to_json())["kinds"]) == 4
    pictures.check(found)


@pytest.mark.parametrize(
    ("given", "argument"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": -1}, "epsilon"),
        ({"epsilon": True}, "epsilon"),
        ({"delta": 0}, "delta"),
        ({"delta": 1}, "delta"),
        ({"n": 0}, "n"),
        ({"answers": 0}, "answers"),
        ({"answers": 1.5}, "answers"),
    ],
)
def test_what_has_no_price(given: dict[str, float], argument: str) -> None:
    with pytest.raises(ArgumentError) as refused:
        explain.definitions(**given)
    assert refused.value.argument == argument
