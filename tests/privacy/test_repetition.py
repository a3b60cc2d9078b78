"""The best of a random number of runs: the theorem against the law of the best output,
computed exactly.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import special, stats

from dither.errors import ArgumentError
from dither.privacy import (
    ApproxDP,
    GaussianDP,
    PureDP,
    RenyiDP,
    Unit,
    ZeroConcentratedDP,
)
from dither.privacy.repetition import (
    Repetitions,
    largest,
    repeated,
    repeated_approx,
)

SHAPES = [1.0, 0.0, 0.5, -0.5, 3.0, None]
MEANS = [2, 5, 12]


def law(one: Repetitions, most: int = 4000) -> Any:
    """Probabilities of 0, 1, 2 … runs, by their definition."""
    if one.eta is None:
        return stats.poisson.pmf(np.arange(most), one.gamma)
    found = [0.0, 1.0]
    for count in range(1, most):
        ratio = (1 - one.gamma) * (count + one.eta) / (count + 1)
        found.append(found[-1] * ratio)
    return np.array(found) / sum(found)


def best(one: Repetitions, run: Any) -> Any:
    """The law of the best of the runs: outcomes stand in the order of their scores. No
    run at all is an outcome too.
    """
    laws, reached = law(one), np.minimum(np.concatenate([[0.0], np.cumsum(run)]), 1.0)
    below = np.array([laws @ end ** np.arange(len(laws)) for end in reached])
    return np.concatenate([[laws[0]], np.diff(below)])


def hockey_stick(p: Any, q: Any, epsilon: float) -> float:
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


def both_ways(p: Any, q: Any) -> list[tuple[Any, Any]]:
    return [(p, q), (q, p), (p[::-1], q[::-1]), (q[::-1], p[::-1])]


def response(epsilon: float) -> tuple[Any, Any]:
    high = math.exp(epsilon) / (1 + math.exp(epsilon))
    return np.array([1 - high, high]), np.array([high, 1 - high])


@pytest.mark.parametrize("eta", SHAPES)
@pytest.mark.parametrize("mean", MEANS)
def test_the_mean_is_as_stated(eta: float | None, mean: int) -> None:
    one = Repetitions.of_mean(mean, eta)
    laws = law(one)
    assert laws.sum() == pytest.approx(1)
    assert laws @ np.arange(len(laws)) == pytest.approx(mean, rel=1e-2)
    assert one.mean == pytest.approx(mean)
    missing = laws @ 0.9 ** np.arange(len(laws))
    assert one.missing(0.1) == pytest.approx(missing, rel=1e-3)


@pytest.mark.parametrize("eta", SHAPES)
@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_the_best_of_pure_runs_costs_no_more_than_said(
    eta: float | None, mean: int, epsilon: float
) -> None:
    """Of two outcomes, and of three: the third is rare, and stands where it shows
    most, so the cost is not less than said either.
    """
    one = Repetitions.of_mean(mean, eta)
    said = repeated(PureDP(epsilon), one)
    assert isinstance(said, PureDP)
    for p, q in both_ways(*response(epsilon)):
        found = np.log(best(one, p)[1:] / best(one, q)[1:])
        assert np.abs(found).max() <= said.epsilon
    tiny, high = 1e-6, math.exp(epsilon) / (1 + math.exp(epsilon))
    p = np.array([high - tiny * math.exp(epsilon), tiny * math.exp(epsilon), 1 - high])
    q = np.array([1 - high - tiny, tiny, high])
    found = np.log(best(one, p)[2] / best(one, q)[2])
    assert found == pytest.approx(said.epsilon, rel=1e-3)
    assert found <= said.epsilon


def test_closed_forms() -> None:
    """Geometric 3ε and logarithmic 2ε, which few runs stay below."""
    for eta, factor in ((1.0, 3.0), (0.0, 2.0), (0.5, 2.5)):
        many = repeated(PureDP(0.1), Repetitions.of_mean(9000, eta))
        few = repeated(PureDP(0.1), Repetitions.of_mean(4, eta))
        assert isinstance(many, PureDP)
        assert isinstance(few, PureDP)
        assert many.epsilon == pytest.approx(0.1 * factor, rel=2e-2)
        assert few.epsilon < 0.95 * many.epsilon <= 0.1 * factor
    geometric = Repetitions(1.0, 0.1)
    corner = (0.1 + 0.9 / (1 + math.exp(-0.5))) / (0.1 + 0.9 / (1 + math.exp(0.5)))
    said = repeated(PureDP(0.5), geometric)
    assert isinstance(said, PureDP)
    assert said.epsilon == pytest.approx(0.5 + 2 * math.log(corner), rel=1e-9)


@pytest.mark.parametrize("eta", SHAPES)
def test_a_delta_of_runs_is_multiplied_by_their_mean(eta: float | None) -> None:
    """A run that shows all with probability δ, and is randomized response otherwise."""
    one, delta, epsilon = Repetitions.of_mean(8, eta), 1e-3, 0.4
    said = repeated(ApproxDP(epsilon, delta), one)
    assert isinstance(said, ApproxDP)
    assert said.delta == pytest.approx(8 * delta)
    p, q = response(epsilon)
    for place in (0, 1, 2):
        leak = np.insert(p * (1 - delta), place, [delta, 0.0])
        other = np.insert(q * (1 - delta), place, [0.0, delta])
        for first, second in both_ways(leak, other):
            lost = hockey_stick(best(one, first), best(one, second), said.epsilon)
            assert lost <= said.delta


def gaussian(mu: float, cells: int = 150) -> tuple[Any, Any]:
    ends = np.concatenate([[-40.0], np.linspace(-6, 6 + mu, cells), [40.0]])
    return np.diff(stats.norm.cdf(ends)), np.diff(stats.norm.cdf(ends - mu))


@pytest.mark.parametrize("eta", [1.0, 0.0, None])
@pytest.mark.parametrize("mu", [0.2, 1.0])
def test_the_best_of_gaussian_runs(eta: float | None, mu: float) -> None:
    one = Repetitions.of_mean(6, eta)
    said = repeated(GaussianDP(mu), one)
    plain = repeated_approx(GaussianDP(mu), one, 1e-3)
    seen, losses = [], []
    for p, q in both_ways(*gaussian(mu)):
        first, second = best(one, p), best(one, q)
        fine = (first > 1e-13) & (second > 1e-13)
        for order in (2.0, 8.0, 30.0):
            power = order * np.log(first[fine]) + (1 - order) * np.log(second[fine])
            loss = float(special.logsumexp(power)) / (order - 1)
            losses.append(loss / said.renyi(order))
        seen.append(hockey_stick(first, second, plain.epsilon))
    assert max(losses) <= 1
    assert max(losses) > 0.4
    assert max(seen) <= plain.delta
    assert max(seen) > 0  # some way of scoring does show more than nothing


@pytest.mark.parametrize("eta", [0.0, 1.0, math.inf])
def test_it_is_at_most_what_others_compute(eta: float) -> None:
    from dp_accounting.rdp import rdp_privacy_accountant as theirs

    orders = np.linspace(1.1, 100, 500)
    one = Repetitions.of_mean(10, None if math.isinf(eta) else eta)
    compute = theirs._compute_rdp_repeat_and_select
    for mu in (0.1, 1.0):
        loss = orders * mu**2 / 2
        wanted = compute(orders, loss, 10, eta)
        ours = repeated(GaussianDP(mu), one)
        found = np.array([ours.renyi(order) for order in orders])
        assert (found <= wanted * 1.001).all()
        same = repeated(ZeroConcentratedDP(mu**2 / 2), one)
        assert same.renyi(8) == pytest.approx(ours.renyi(8), rel=0.5)


def test_other_promises_keep_their_unit_and_delta() -> None:
    one, unit = Repetitions.of_mean(5), Unit("person")
    said = repeated(RenyiDP({2: 0.1, 8: 0.5}, 1e-7, unit=unit), one)
    assert said.unit == unit
    assert said.delta_part == pytest.approx(5e-7)
    assert repeated(PureDP(1, unit=unit), one).unit == unit


def test_more_runs_and_more_noise_cost_in_their_order() -> None:
    costs = [
        repeated_approx(GaussianDP(0.2), Repetitions.of_mean(mean), 1e-6).epsilon
        for mean in (2, 4, 8, 100)
    ]
    assert costs == sorted(costs)
    assert GaussianDP(0.2).epsilon_at(1e-6) < costs[0]


@pytest.mark.parametrize(
    ("mean", "eta"), [(1, 1), (1e6, 1), ("x", 1), (5, -1), (5, 1e-5), (5, 99), (5, "x")]
)
def test_what_is_no_distribution_is_refused(mean: Any, eta: Any) -> None:
    with pytest.raises(ArgumentError):
        Repetitions.of_mean(mean, eta)


def test_largest() -> None:
    assert largest(lambda x: x <= 2, 1e-3, 10) == pytest.approx(2)
    assert largest(lambda x: False, 1e-3, 10) == 0
