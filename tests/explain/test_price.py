"""What accuracy costs: the error laws of `explain.tradeoff` against the mechanisms and
answers that follow them.
"""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import dither
from dither import explain
from dither.errors import ArgumentError
from dither.explain.price import EPSILONS, LAWS, POINTS
from dither.mechanisms import Gaussian, Laplace
from dither.privacy import Relation
from dither.query.arrays import quantiles

from . import pictures

LN20 = math.log(20)


def half_width(release: dither.Release) -> float:
    low, high = release.interval(0.95)
    return (high - low) / 2


@pytest.mark.parametrize("epsilon", [0.03, 0.1, 1.0])
def test_a_count(epsilon: float) -> None:
    found = explain.tradeoff("count", 10_000)
    assert found.error_at(epsilon) == pytest.approx(LN20 / epsilon)
    assert found.share_at(epsilon) == pytest.approx(LN20 / epsilon / 10_000)
    assert Laplace(sensitivity=1, epsilon=epsilon).error(integer=True) == pytest.approx(
        found.error_at(epsilon), abs=1
    )
    ours = half_width(dither.count(np.ones(10_000), epsilon=epsilon))
    assert ours == pytest.approx(found.error_at(epsilon), abs=1)


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_a_sum(epsilon: float) -> None:
    found = explain.tradeoff("sum", 1000, bounds=(-20, 50))
    assert found.error_at(epsilon) == pytest.approx(50 * LN20 / epsilon)
    assert found.share_at(epsilon) == pytest.approx(LN20 / epsilon / 1000)
    ours = half_width(dither.sum(np.zeros(1000), bounds=(-20, 50), epsilon=epsilon))
    assert ours == pytest.approx(found.error_at(epsilon), rel=1e-3)


@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_a_mean(epsilon: float) -> None:
    found = explain.tradeoff("mean", 1000, bounds=(0, 110))
    # Textbook claim 8: range / n only under replace, with n public
    assert found.law.relation is Relation.REPLACE
    assert found.error_at(epsilon) == pytest.approx(110 / 1000 * LN20 / epsilon)
    ours = half_width(
        dither.mean(np.full(1000, 55.0), bounds=(0, 110), n=1000, epsilon=epsilon)
    )
    assert ours == pytest.approx(found.error_at(epsilon), rel=1e-3)


def test_a_histogram_costs_epsilon_once() -> None:
    """Textbook claim 16: each person is in one bin, so more bins do not need more
    noise; their share is smaller.
    """
    few, many = (
        explain.tradeoff("histogram", 1000, bins=2),
        explain.tradeoff("histogram", 1000, bins=50),
    )
    assert few.error_at(1) == many.error_at(1) == pytest.approx(LN20)
    assert many.share_at(1) == pytest.approx(25 * few.share_at(1))


@pytest.mark.parametrize("q", [0.5, 0.9, 0.25])
def test_a_quantile(q: float) -> None:
    """In ranks, as `dither.quantile` chooses its value."""
    found = explain.tradeoff("quantile", 10_000, q=q)
    level = Fraction(str(q))
    choice = quantiles.mechanisms(0.5, None, level, False, dither.ROW)[0]
    ranks = choice.error(0.95, candidates=quantiles.MOST) / level.denominator
    assert POINTS == quantiles.MOST
    assert found.error_at(0.5) == pytest.approx(ranks)
    assert "bound" in found.notes[0]


@pytest.mark.parametrize("query", ["count", "sum", "mean", "histogram"])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_gaussian_noise(query: str, confidence: float) -> None:
    found = explain.tradeoff(
        query, 1000, bounds=(0, 8), delta=1e-6, confidence=confidence
    )
    noise = Gaussian(sensitivity=found.law.sensitivity, epsilon=0.5, delta=1e-6)
    assert found.error_at(0.5) == pytest.approx(
        noise.scale * stats.norm.ppf((1 + confidence) / 2), rel=1e-9
    )
    assert found.error_at(0.5) == pytest.approx(noise.error(confidence), rel=1e-5)


@pytest.mark.parametrize("query", LAWS)
@pytest.mark.parametrize("delta", [0, 1e-6])
@pytest.mark.parametrize("share", [0.05, 0.01, 0.5])
def test_from_which_epsilon_on_it_is_good_enough(
    query: str, delta: float, share: float
) -> None:
    if delta and query == "quantile":
        return
    found = explain.tradeoff(query, 500, bounds=(-3, 4), bins=7, q=0.3, delta=delta)
    assert found.share_at(found.epsilon_for(share)) == pytest.approx(share, rel=1e-6)
    people = found.people_for(0.5, share)
    larger, smaller = (
        explain.tradeoff(query, n, bounds=(-3, 4), bins=7, q=0.3, delta=delta)
        for n in (people, people - 1)
    )
    assert (
        larger.share_at(0.5) <= share * (1 + 1e-9) < smaller.share_at(0.5) * (1 + 1e-9)
    )


def test_halving_epsilon_doubles_the_noise_and_ten_times_the_people_is_ten_times_better() -> (
    None
):
    found = explain.tradeoff("count", 100)
    assert found.error_at(0.25) == pytest.approx(2 * found.error_at(0.5))
    assert explain.tradeoff("count", 1000).share_at(1) == pytest.approx(
        found.share_at(1) / 10
    )
    assert "halving ε doubles the noise" in found.sentences[1]
    assert "about doubles" in explain.tradeoff("count", 100, delta=1e-6).sentences[1]


def test_the_words() -> None:
    found = explain.tradeoff("count", 10_000)
    assert "±3.0 (0.02996 %) at ε = 1" in found.sentences[0]
    assert "5 % from ε = 0.005992" in found.sentences[1]
    assert "1 % from ε = 0.02996" in found.sentences[1]
    assert found.heading == ("ε", "± at 95 %", "of the people")
    assert len(found.rows) == len(EPSILONS) + 2
    assert "noise alone" in found.notes[1]


@pytest.mark.parametrize("query", LAWS)
@pytest.mark.parametrize("n", [1, 1000, 10**15])
@pytest.mark.parametrize("delta", [0, 1e-9, 0.9])
def test_every_tradeoff_can_be_shown(query: str, n: int, delta: float) -> None:
    if delta and query == "quantile":
        return
    found = explain.tradeoff(query, n, bounds=(-1e150, 1e-150), delta=delta)
    assert len(found.sentences) == 2
    assert "nan" not in str(found)
    data = json.loads(found.to_json())
    assert [point["epsilon"] for point in data["points"]] == list(EPSILONS)
    assert [goal["share"] for goal in data["goals"]] == [0.05, 0.01]
    pictures.check(found)


def test_the_picture_marks_the_goals() -> None:
    root = pictures.check(explain.tradeoff("count", 1000))
    # Two goals, and the two dots that show what halving ε costs
    assert len(list(root.iter(f"{pictures.SVG}circle"))) == 4
    assert "1 % is reached at ε = 0.2996" in pictures.words(root)
    assert "± in percent of the people" in pictures.words(root)


@pytest.mark.parametrize(
    ("query", "n", "rest", "argument"),
    [
        ("median", 10, {}, "query"),
        (["count"], 10, {}, "query"),
        ("count", 0, {}, "n"),
        ("count", 2.5, {}, "n"),
        ("count", True, {}, "n"),
        ("sum", 10, {"bounds": (1, 1)}, "bounds"),
        ("sum", 10, {"bounds": (2, 1)}, "bounds"),
        ("sum", 10, {"bounds": (0, math.inf)}, "bounds"),
        ("sum", 10, {"bounds": (0, math.nan)}, "bounds"),
        ("sum", 10, {"bounds": (0, 1e200)}, "bounds"),
        ("sum", 10, {"bounds": (0, 5e-324)}, "bounds"),
        ("sum", 10, {"bounds": (False, True)}, "bounds"),
        ("sum", 10, {"bounds": 3}, "bounds"),
        ("histogram", 10, {"bins": 0}, "bins"),
        ("quantile", 10, {"q": 1}, "q"),
        ("quantile", 10, {"delta": 1e-6}, "delta"),
        ("count", 10, {"delta": 1}, "delta"),
        ("count", 10, {"confidence": 1}, "confidence"),
    ],
)
def test_what_has_no_law(
    query: str, n: int, rest: dict[str, float], argument: str
) -> None:
    with pytest.raises(ArgumentError) as refused:
        explain.tradeoff(query, n, **rest)
    assert refused.value.argument == argument


def test_no_error_law_at_zero() -> None:
    found = explain.tradeoff("count", 10)
    for epsilon in (0, -1, math.nan, True):
        with pytest.raises(ArgumentError, match="epsilon"):
            found.error_at(epsilon)
    for share in (0, 1, -1, math.nan):
        with pytest.raises(ArgumentError, match="share"):
            found.epsilon_for(share)
        with pytest.raises(ArgumentError, match="share"):
            found.people_for(1, share)


def test_the_mean_squared_error_is_that_of_the_mechanism() -> None:
    for asked, noise in (
        (explain.tradeoff("count", 1000), Laplace(sensitivity=1, epsilon=0.3)),
        (
            explain.tradeoff("sum", 1000, bounds=(-20, 50), delta=1e-6),
            Gaussian(sensitivity=50, epsilon=0.3, delta=1e-6),
        ),
    ):
        assert asked.mse_at(0.3) == pytest.approx(noise.mse, rel=1e-5)
    assert explain.tradeoff("count", 1000).mse_at(1e-200) == math.inf
    with pytest.raises(ArgumentError, match="error_at"):
        explain.tradeoff("quantile", 1000).mse_at(1)


def test_the_picture_marks_that_half_of_epsilon_is_four_times_the_error() -> None:
    found = explain.tradeoff("count", 10_000)
    assert found.mse_at(0.1) == pytest.approx(4 * found.mse_at(0.2))
    said = pictures.words(pictures.check(found))
    assert "× 4" in said
    assert "black dots: half of ε, 4 times the error" in said
    quantile = pictures.words(pictures.check(explain.tradeoff("quantile", 10_000)))
    assert not any("squared" in text for text in quantile)
