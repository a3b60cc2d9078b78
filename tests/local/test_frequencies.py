"""Estimates: right on average, with intervals, p-values and discoveries that hold."""

from __future__ import annotations

import json
import math
import pickle
from typing import Any

import numpy as np
import pytest
from scipy import stats

from bench import local_accuracy as bench
from dither import local
from dither.errors import ArgumentError
from dither.local.estimates import Score, discoveries
from dither.local.evidence import pure
from dither.local.frequencies import nearest_shares
from dither.local.oracles import CountMeanSketch, HadamardSketch
from dither.privacy import PureDP
from dither.release import Release
from tests.chance import at_most, chance


def found(held: list[Any], **options: Any) -> local.Frequencies:
    task = local.task("x", epsilon=2, n=len(held), minimum=2, **options)
    return task.tally(task.randomize(held)).estimate()


HELD = ["a"] * 3000 + ["b"] * 1500 + ["?"] * 500


@chance(1e-12)
def test_a_release_like_all_others() -> None:
    release = found(HELD, domain=["a", "b", "c"])
    assert isinstance(release, Release)
    assert release.keys == ("a", "b", "c", None)
    assert release.value == pytest.approx([0.6, 0.3, 0, 0.1], abs=0.1)
    low, high = release.interval()
    assert (low < release.value).all()
    assert (release.value < high).all()
    assert isinstance(release.guarantee, PureDP)
    assert release.guarantee.epsilon <= 2
    assert release.receipt is None
    assert "each device adds its own noise" in str(release)
    assert "(none)" in str(release)
    assert release["b"].value == release.value[1]
    assert release[None].value == release.value[3]
    assert (release["a"] - release["b"]).interval()[0] > 0.1
    assert "svg" in release.plot().svg()
    assert len(json.loads(release.to_json())["rows"]) == 4
    frame = release.to_pandas()
    assert list(frame["found"]) == release.found.tolist()
    assert {"standard_error", "p_value"} <= set(frame.columns)
    assert set(frame.columns) == set(release.to_polars().columns)
    assert pickle.loads(pickle.dumps(release)).value.tolist() == release.value.tolist()


def test_what_is_done_to_it_is_a_plain_release() -> None:
    """p-values and flags belong to the estimates, and to nothing made of them."""
    release = found(HELD, domain=["a", "b", "c"])
    for made in (release * 2, release.round(2), release["a"], release.map(abs)):
        assert type(made) is Release


@chance(1e-9)
def test_consistent_shares() -> None:
    release = found(HELD[:1000], domain=[f"{i}" for i in range(30)])
    assert (release.value < 0).any()
    shares = release.consistent()
    assert (shares.value >= 0).all()
    assert shares.value.sum() == pytest.approx(1)
    low, high = shares.interval()
    assert ((low <= shares.value) & (shares.value <= high)).all()
    assert ((low >= 0) & (high <= 1)).all()
    assert "sum to 1, but are biased" in str(shares)


@pytest.mark.parametrize("whole", [True, False])
def test_the_nearest_shares(whole: bool) -> None:
    """Against a search over all shares on a grid."""
    value = np.array([0.7, 0.5, -0.3])
    near = nearest_shares(value, whole=whole)
    steps = np.linspace(0, 1, 51)
    grid = [
        (a, b, c)
        for a in steps
        for b in steps
        for c in steps
        if (abs(a + b + c - 1) < 1e-9 if whole else a + b + c <= 1 + 1e-9)
    ]
    best = min(grid, key=lambda one: float(((one - value) ** 2).sum()))
    assert near == pytest.approx(best, abs=0.02)
    assert nearest_shares(np.array([0.2, -0.1]), whole=False).tolist() == [0.2, 0]


@pytest.mark.parametrize("count", [0, 1, 9])
def test_too_few_messages(count: int) -> None:
    task = local.task("x", domain=3, epsilon=1, n=100)
    tally = task.tally(task.randomize([0] * count))
    with pytest.raises(ArgumentError, match="needs at least 10"):
        tally.estimate()


def test_candidates() -> None:
    task = local.task("x", epsilon=4, n=100)
    tally = task.tally(task.randomize(["a"] * 100))
    for candidates in (None, [], "abc", ["a", "a"], ["a", ""], ["é", "e\u0301"]):
        with pytest.raises(ArgumentError, match="candidates"):
            tally.estimate(candidates)
    closed = local.task("x", domain=["a", "b"], epsilon=4, n=100)
    some = closed.tally(closed.randomize(["a"] * 100))
    assert some.estimate(["b", None]).keys == ("b", None)
    with pytest.raises(ArgumentError, match="domain"):
        some.estimate(["z"])


def test_p_values_are_exact_where_few_hits_are_expected() -> None:
    """A mean of one: the normal law is off by a factor of 2,000 in the tail."""
    n, q = 100_000, 1e-5
    hits = np.array([0, 1, 8])
    evidence = pure(hits, n, 0.5, q)
    exact = [1, 1 - math.exp(-1), 1.02e-5]
    assert Score(evidence).p_values == pytest.approx(exact, rel=0.01)
    normal = math.erfc((8 - 1) / math.sqrt(2)) / 2
    assert Score(evidence).p_values[2] > 1000 * normal
    low, high = Score(evidence).ends(0.95)
    assert (low * n <= hits / 0.5).all()
    assert (high * n >= (hits - 1) / 0.5).all()


def test_discoveries_follow_benjamini_and_hochberg() -> None:
    p = np.array([0.041, 0.01, 0.8, 0.02])
    assert discoveries(p, 0.05).tolist() == [False, True, False, True]
    assert discoveries(p, 0.06).tolist() == [True, True, False, True]
    assert not discoveries(np.ones(3), 0.05).any()


CAMPAIGN = [(name, epsilon) for name in bench.ORACLES for epsilon in (1.0, 3.0)]


@chance(1e-8)
@pytest.mark.parametrize(("name", "epsilon"), CAMPAIGN)
def test_errors_and_intervals_are_as_stated(name: str, epsilon: float) -> None:
    """5,000 values. 7 standard errors of the campaign leave room for the skewness of
    its sums, and for that of an estimated standard error.

    Values of one trial are not independent: a hash of three values is not three-wise
    independent, and a trial's coverage varies by up to 0.042 where that of independent
    values would by 0.031. So trials are what is counted.
    """
    seen = bench.watch(bench.ORACLES[name](50, epsilon), 50, 100)
    assert seen.ratio == pytest.approx(1, abs=7 * seen.deviation)
    assert seen.coverage >= 0.95 - 7 * 0.045 / math.sqrt(100)


@chance(1e-8)
@pytest.mark.full
@pytest.mark.parametrize("name", ["loloha", "longitudinal unary"])
def test_pooled_intervals_count_devices(name: str) -> None:
    seen = bench.watch(bench.ORACLES[name](20, 1.0), 20, 100, periods=30)
    assert seen.ratio == pytest.approx(1, abs=7 * seen.deviation)
    assert seen.coverage == pytest.approx(0.95, abs=0.045)


@chance(1e-8)
@pytest.mark.full
@pytest.mark.parametrize(
    "name", ["optimized unary", "local hashing", "Hadamard response"]
)
def test_false_discoveries_stay_at_their_rate(name: str) -> None:
    """100 trials: the mean share has a standard error of about 0.007."""
    false, true = bench.false_discoveries(bench.ORACLES[name](300, 1.0), 300, 100)
    assert false <= 0.05 + 7 * 0.008
    assert true > 0.7


@chance(1e-12)
def test_several_periods_promise_a_lifetime() -> None:
    task = local.task(
        "x", domain=3, epsilon=1, for_ever=2, distinct=1, every="day", n=100
    )
    days = [task.tally(task.randomize([0] * 100, period=day)) for day in range(3)]
    one, all_days = days[0].estimate(), sum(days).estimate()  # type: ignore[union-attr]
    assert one.guarantee.epsilon <= 1
    assert all_days.guarantee.epsilon == task.lifetime.epsilon
    assert "change and return at the same times" in str(all_days)
    # the same devices: three days are not three times the evidence
    ratio = (all_days.standard_errors / one.standard_errors).mean()
    assert 1 / math.sqrt(3) < ratio < 1


@pytest.mark.parametrize("kind", [CountMeanSketch, HadamardSketch])
def test_a_sketch_of_few_messages_finds_nothing_by_chance(kind: Any) -> None:
    oracle = kind.at(4.0, rows=64, columns=64)
    hits = np.arange(21)
    found = pure(hits, 20, *oracle.rates)
    evidence = oracle._collided(found, 20, np.empty(0, np.int64))
    _, chance = oracle.rates
    exact = [stats.binom.sf(hit - 1, 20, chance) for hit in hits]
    assert np.all(Score(evidence).p_values >= np.array(exact) * (1 - 1e-9))


@chance(1e-8)
def test_few_messages_about_many_texts_find_nothing_by_chance() -> None:
    """At most one tally in 20 finds a text that nobody holds."""
    nobody = local.task("any", epsilon=4, n=60_000)
    wanted = [f"w{number}" for number in range(1000)]
    tallies = (nobody.tally(nobody.randomize(["x"] * 150)) for _ in range(24))
    found = sum(any(tally.estimate(wanted).found) for tally in tallies)
    assert found <= at_most(24, 0.05, 1e-8)
