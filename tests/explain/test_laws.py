"""Closed forms against independent computation: every mechanism obeys them, and some
mechanism reaches each of them.
"""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from dither.explain import laws
from dither.mechanisms import Gaussian, Laplace, RandomizedResponse
from dither.privacy import ApproxDP, GaussianDP, PureDP, gaussian_mu

EPSILONS = (0.0, 1e-9, 0.01, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0)
DELTAS = (0.0, 1e-9, 1e-6, 1e-3, 0.1)
ALARMS = (0.0, 1e-6, 0.01, 0.05, 0.3, 0.5, 0.9, 1.0)

Pair = tuple[list[float], list[float]]


def worst(epsilon: float, delta: float) -> Pair:
    """The mechanism that reaches every bound of (ε, δ): the truth with probability δ,
    else randomized response.
    """
    truth = (1 - delta) * math.exp(epsilon) / (1 + math.exp(epsilon))
    lie = (1 - delta) / (1 + math.exp(epsilon))
    return [delta, truth, lie, 0.0], [0.0, lie, truth, delta]


def excess(pair: Pair, epsilon: float) -> float:
    """The smallest δ at an ε, in both orders of the neighbours."""
    one, other = pair
    return max(
        sum(max(p - math.exp(epsilon) * q, 0.0) for p, q in zip(*order, strict=True))
        for order in ((one, other), (other, one))
    )


def best_power(pair: Pair, alarms: float) -> float:
    """By Neyman and Pearson: outcomes in the order of their likelihood ratio, the last
    one in part.
    """
    order = sorted(
        zip(*pair, strict=True),
        key=lambda both: -both[0] / both[1] if both[1] else -math.inf,
    )
    found = 0.0
    for p, q in order:
        if q <= alarms:
            found, alarms = found + p, alarms - q
        else:
            return found + p * alarms / q
    return found


def variation(pair: Pair) -> float:
    return sum(abs(p - q) for p, q in zip(*pair, strict=True)) / 2


def divergence(pair: Pair) -> float:
    return sum(p * math.log(p / q) for p, q in zip(*pair, strict=True) if p)


weights = st.lists(st.floats(0.01, 1.0), min_size=4, max_size=4)


@st.composite
def pairs(draw: st.DrawFn) -> Pair:
    one, other = draw(weights), draw(weights)
    return [p / sum(one) for p in one], [q / sum(other) for q in other]


@settings(deadline=None)
@given(pairs(), st.floats(0.0, 3.0), st.sampled_from(ALARMS), st.floats(0.01, 0.99))
def test_no_mechanism_exceeds_the_bounds(
    pair: Pair, epsilon: float, alarms: float, prior: float
) -> None:
    delta = excess(pair, epsilon)
    assert variation(pair) <= laws.advantage(epsilon, delta) + 1e-12
    assert best_power(pair, alarms) <= laws.power(alarms, epsilon, delta) + 1e-12
    right = sum(max(prior * p, (1 - prior) * q) for p, q in zip(*pair, strict=True))
    assert right <= laws.guess(prior, epsilon, delta) + 1e-12


@settings(deadline=None)
@given(pairs(), st.floats(0.0, 2.0), st.floats(1.01, 3.0))
def test_answers_beyond_the_margin_are_rare(
    pair: Pair, epsilon: float, margin: float
) -> None:
    limit = margin * math.exp(epsilon)
    bound = laws.chance_outside(epsilon, excess(pair, epsilon), margin)
    for world in (0, 1):
        beyond = sum(
            both[world]
            for both in zip(*pair, strict=True)
            if max(both) > limit * min(both)
        )
        assert beyond <= bound + 1e-12


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
def test_the_chance_beyond_the_margin_is_reached(epsilon: float) -> None:
    delta, margin = 1e-3, 1.1
    often = delta * margin / (margin - 1)
    rarely = often / (margin * math.exp(epsilon))
    rest = 1 - often - rarely
    pair = [often, rarely, rest], [rarely, often, rest]
    assert excess(pair, epsilon) == pytest.approx(delta)
    assert laws.chance_outside(epsilon, delta, margin) == pytest.approx(often + rarely)


@settings(deadline=None)
@given(pairs())
def test_no_pure_mechanism_exceeds_its_divergence(pair: Pair) -> None:
    epsilon = max(abs(math.log(p / q)) for p, q in zip(*pair, strict=True))
    assert divergence(pair) <= laws.pure_kl(epsilon) + 1e-12
    prior = 0.3
    for p, q in zip(*pair, strict=True):
        after = prior * p / (prior * p + (1 - prior) * q)
        assert (
            laws.posterior(prior, -epsilon) - 1e-12
            <= after
            <= laws.posterior(prior, epsilon) + 1e-12
        )


@pytest.mark.parametrize(("epsilon", "delta"), [*itertools.product(EPSILONS, DELTAS)])
def test_one_mechanism_reaches_the_bounds(epsilon: float, delta: float) -> None:
    pair = worst(epsilon, delta)
    assert variation(pair) == pytest.approx(
        laws.advantage(epsilon, delta), rel=1e-9, abs=1e-15
    )
    closed = (math.exp(epsilon) - 1 + 2 * delta) / (math.exp(epsilon) + 1)
    assert laws.advantage(epsilon, delta) == pytest.approx(closed, rel=1e-6, abs=1e-15)
    for alarms in ALARMS:
        assert best_power(pair, alarms) == pytest.approx(
            laws.power(alarms, epsilon, delta), rel=1e-9
        )
    for prior in (0.01, 0.5, 0.9):
        right = sum(max(prior * p, (1 - prior) * q) for p, q in zip(*pair, strict=True))
        assert laws.guess(prior, epsilon, delta) == pytest.approx(right, rel=1e-9)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_randomized_response_reaches_the_pure_bounds(epsilon: float) -> None:
    pair = worst(epsilon, 0.0)[0][1:3], worst(epsilon, 0.0)[1][1:3]
    assert divergence(pair) == pytest.approx(laws.pure_kl(epsilon), rel=1e-6, abs=1e-15)
    assert laws.pure_kl(epsilon) == pytest.approx(epsilon * math.tanh(epsilon / 2))
    assert laws.advantage(epsilon) == pytest.approx(math.tanh(epsilon / 2), rel=1e-12)
    assert laws.posterior(0.5, epsilon) == pytest.approx(
        math.exp(epsilon) / (1 + math.exp(epsilon))
    )


@pytest.mark.parametrize(
    ("epsilon", "half", "hundredth", "advantage", "power"),
    [
        (0.1, 0.5250, 0.0110, 0.0500, 0.0553),
        (0.5, 0.6225, 0.0164, 0.2449, 0.0824),
        (1.0, 0.7311, 0.0267, 0.4621, 0.1359),
        (2.0, 0.8808, 0.0695, 0.7616, 0.3695),
        (4.0, 0.9820, 0.3555, 0.9640, 0.9826),
        (8.0, 0.9997, 0.9679, 0.9993, 0.9997),
    ],
)
def test_known_figures(
    epsilon: float, half: float, hundredth: float, advantage: float, power: float
) -> None:
    assert laws.posterior(0.5, epsilon) == pytest.approx(half, abs=5e-5)
    assert laws.posterior(0.01, epsilon) == pytest.approx(hundredth, abs=5e-5)
    assert laws.advantage(epsilon) == pytest.approx(advantage, abs=5.1e-5)
    assert laws.power(0.05, epsilon) == pytest.approx(power, abs=5e-5)


@pytest.mark.parametrize(("mu", "power"), [(0.5, 0.1261), (1.0, 0.2595), (2.0, 0.6388)])
def test_the_gaussian_curve(mu: float, power: float) -> None:
    assert laws.gaussian_power(0.05, mu) == pytest.approx(power, abs=5e-5)
    for alarms in (1e-6, 0.05, 0.5, 0.99):
        threshold = stats.norm.isf(alarms)
        assert laws.gaussian_power(alarms, mu) == pytest.approx(
            stats.norm.sf(threshold - mu), rel=1e-9
        )
    assert (laws.gaussian_power(0.0, mu), laws.gaussian_power(1.0, mu)) == (0.0, 1.0)
    distance = integrate.quad(
        lambda x: abs(stats.norm.pdf(x) - stats.norm.pdf(x - mu)) / 2,
        -10,
        12,
        points=[mu / 2],
    )
    assert laws.gaussian_advantage(mu) == pytest.approx(distance[0], rel=1e-7)
    assert laws.gaussian_advantage(mu) == pytest.approx(
        GaussianDP(mu).delta_at(0), rel=1e-6
    )


@pytest.mark.parametrize(
    ("epsilon", "delta"), [*itertools.product((0.1, 1.0, 3.0), (1e-9, 1e-6, 1e-3))]
)
def test_the_gaussian_stays_below_what_its_promise_allows(
    epsilon: float, delta: float
) -> None:
    mu = gaussian_mu(epsilon, delta)
    for alarms in ALARMS:
        assert (
            laws.gaussian_power(alarms, mu)
            <= laws.power(alarms, epsilon, delta) + 1e-12
        )
    assert laws.gaussian_advantage(mu) <= laws.advantage(epsilon, delta)


@pytest.mark.parametrize(
    ("epsilon", "delta"), [*itertools.product((0.1, 1.0, 3.0), (1e-9, 1e-6, 1e-5))]
)
def test_delta_is_not_the_chance_of_a_larger_loss(epsilon: float, delta: float) -> None:
    """Textbook claim 4: the loss of a Gaussian exceeds ε several to a hundred times as
    often as δ.
    """
    mu = gaussian_mu(epsilon, delta)
    loss = stats.norm(mu * mu / 2, mu)
    assert laws.gaussian_beyond(mu, epsilon) == pytest.approx(
        loss.sf(epsilon) + loss.cdf(-epsilon), rel=1e-9
    )
    assert 5 < loss.sf(epsilon) / delta < 400


@pytest.mark.parametrize(
    ("epsilon", "delta", "size"),
    [*itertools.product((0.1, 1.0), (0.0, 1e-9, 1e-5), (1, 2, 5))],
)
def test_groups(epsilon: float, delta: float, size: int) -> None:
    total, missed = laws.group(epsilon, delta, size)
    assert total == pytest.approx(size * epsilon)
    assert missed == pytest.approx(
        sum(delta * math.exp(i * epsilon) for i in range(size))
    )
    ours = (
        ApproxDP(epsilon, delta).for_group(size)
        if delta
        else PureDP(epsilon).for_group(size)
    )
    assert (total, missed) == pytest.approx((ours.epsilon, ours.delta_part))


def test_a_group_without_epsilon_and_one_without_promise() -> None:
    assert laws.group(0.0, 1e-3, 5) == pytest.approx((0.0, 5e-3))
    assert laws.group(1.0, 1e-3, 1000) == (1000.0, 1.0)
    # Textbook claim 10
    assert laws.group(1.0, 1e-5, 5)[1] == pytest.approx(8.6e-4, rel=0.01)
    assert laws.group(1e-12, 1e-3, 3) == pytest.approx((3e-12, 3e-3))


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 3.0])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_error_laws_are_those_of_the_mechanisms(
    epsilon: float, confidence: float
) -> None:
    for sensitivity in (1.0, 7.5):
        law = laws.laplace_error(epsilon, confidence, sensitivity)
        assert law == pytest.approx(
            stats.laplace(scale=sensitivity / epsilon).ppf((1 + confidence) / 2)
        )
        assert Laplace(sensitivity=sensitivity, epsilon=epsilon).error(
            confidence
        ) == pytest.approx(law, rel=1e-5)
        law = laws.gaussian_error(epsilon, 1e-6, confidence, sensitivity)
        noise = Gaussian(sensitivity=sensitivity, epsilon=epsilon, delta=1e-6)
        assert law == pytest.approx(
            stats.norm(scale=noise.scale).ppf((1 + confidence) / 2), rel=1e-9
        )
        assert noise.error(confidence) == pytest.approx(law, rel=1e-5)


def test_laplace_is_ln_20_over_epsilon() -> None:
    assert laws.laplace_error(0.5, 0.95) == pytest.approx(math.log(20) / 0.5)
    assert laws.laplace_error(0.0, 0.95) == math.inf


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 6.0])
def test_the_error_of_randomized_response(epsilon: float) -> None:
    truth = RandomizedResponse(epsilon=epsilon).truth
    deviation = math.sqrt(1000 * truth * (1 - truth)) / (2 * truth - 1)
    assert laws.response_error(epsilon, 1000, 0.95) == pytest.approx(
        stats.norm.ppf(0.975) * deviation, rel=1e-6
    )


@pytest.mark.parametrize("epsilon", [800.0, 1e6, 1e308])
def test_nothing_overflows(epsilon: float) -> None:
    assert laws.exp(epsilon) == math.inf
    assert laws.posterior(1e-300, 1e6) == 1.0
    assert laws.posterior(0.5, -epsilon) == 0.0
    assert laws.advantage(epsilon, 1e-6) == 1.0
    assert [laws.power(alarms, epsilon, 0.1) for alarms in (0.0, 1e-9, 1.0)] == [
        0.1,
        1.0,
        1.0,
    ]
    assert laws.guess(0.5, epsilon) == 1.0
    assert laws.pure_kl(epsilon) == epsilon
    assert laws.chance_outside(epsilon, 1e-6, 1.1) == pytest.approx(1.1e-5)
    assert laws.group(epsilon, 1e-6, 5)[1] == 1.0
    assert laws.response_error(epsilon, 10, 0.95) == pytest.approx(0.0, abs=1e-170)
    assert laws.gaussian_beyond(1e-3, epsilon) == 0.0
