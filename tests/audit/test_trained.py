"""Canaries in one training run: a sound run is hardly ever refuted, a leaky one is."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from dither import audit
from dither.audit.trained import _chance
from dither.errors import ArgumentError
from dither.privacy import ApproxDP, GaussianDP, PureDP
from tests.chance import at_most, chance

SOURCE = np.random.default_rng(11)  # allowed: made-up scores


def response(epsilon, leak=0.0):
    """The run that promises (ε, leak) exactly: each canary's coin by randomized
    response, given away with the probability `leak`.
    """
    right = 1 / (1 + math.exp(-epsilon))

    def f(included):
        told = np.where(SOURCE.random(included.size) < right, included, ~included)
        shown = np.where(told, 1.0, -1.0)
        given = SOURCE.random(included.size) < leak
        return np.where(given, np.where(included, 2.0, -2.0), shown)

    return f


@pytest.mark.parametrize("delta", [0.0, 1e-3, 0.05])
@pytest.mark.parametrize("right", [5, 60, 93])
def test_the_chance_is_that_of_the_theorem(right, delta):
    """Against the sum written out with scipy's binomial."""
    canaries, guesses, epsilon = 150, 100, 1.3
    each = 1 / (1 + math.exp(-epsilon))
    tail = binom.sf(right - 1, guesses, each)
    below = [binom.sf(right - i - 1, guesses, each) - tail for i in range(1, right + 1)]
    slope = max(one / i for i, one in enumerate(below, 1))
    wanted = min(tail + 2 * canaries * delta * slope, 1.0)
    found = _chance(right, guesses, epsilon, 2 * canaries * delta)
    assert found == pytest.approx(wanted, rel=1e-6, abs=1e-12)


@chance(1e-8)
@pytest.mark.parametrize(
    ("claim", "leak"), [(PureDP(1.0), 0.0), (ApproxDP(1.0, 0.01), 0.01)], ids=str
)
def test_a_run_that_keeps_its_promise_is_refuted_as_seldom_as_stated(claim, leak):
    f = response(1.0, leak)
    alarms = sum(
        audit.training(f, 200, claimed=claim, confidence=0.95).refuted
        for _ in range(200)
    )
    assert alarms <= at_most(200, 0.05, 1e-8)


@chance(1e-9)
def test_half_the_noise_is_found():
    found = audit.training(response(2.0), 2000, claimed=PureDP(1.0))
    assert found.refuted
    assert 1.5 < found.lower <= 2.3
    assert "In one training run" in str(found)
    assert found.to_dict()["refuted"] is True


@chance(1e-9)
def test_more_leaks_than_delta_allows_are_found():
    found = audit.training(response(0.1, 0.2), 2000, claimed=ApproxDP(0.1, 1e-5))
    assert found.refuted


@chance(1e-9)
def test_a_gaussian_claim_is_looked_at_with_its_delta():
    found = audit.training(
        response(0.1), 200, claimed=GaussianDP(0.5), delta=1e-3, confidence=1 - 1e-9
    )
    assert not found.refuted
    assert found.claimed.delta == pytest.approx(1e-3)
    assert "This does not prove" in str(found)


@chance(3e-9)
def test_scores_that_are_equal_or_no_number_tell_nothing():
    for score in (0.0, math.nan, math.inf):
        found = audit.training(
            lambda included, score=score: np.full(included.size, score),
            1000,
            claimed=PureDP(0.5),
            confidence=1 - 1e-9,
        )
        assert not found.refuted


@pytest.mark.parametrize(
    ("f", "options", "words"),
    [
        (lambda included: 3.0, {}, "must return 100 scores"),
        (lambda included: included[:-1], {}, "must return 100 scores"),
        (lambda included: ["a"] * 100, {}, "must return 100 scores"),
        (lambda included: included, {"claimed": 1.0}, "must be a guarantee"),
        (lambda included: included, {"canaries": 5}, "must be 20 or more"),
        (lambda included: included, {"confidence": 0}, "confidence"),
    ],
)
def test_what_cannot_be_audited_is_refused(f, options, words):
    with pytest.raises(ArgumentError, match=words):
        audit.training(f, **{"canaries": 100, "claimed": PureDP(1.0)} | options)


def gradient_sum(noise):
    """One step of training on canaries that lie along axes of their own: a score is how
    well the change aligns with a canary's gradient.
    """

    def f(included):
        return included + noise * SOURCE.normal(size=included.size)

    return f


@chance(2e-9)
def test_a_trained_step_with_too_little_noise_is_found():
    """μ = 1/2 is claimed, and its noise is divided by 8."""
    claim = GaussianDP(0.5)
    assert not audit.training(
        gradient_sum(2.0), 2000, claimed=claim, confidence=1 - 1e-9
    ).refuted
    assert audit.training(gradient_sum(1 / 4), 2000, claimed=claim).refuted
