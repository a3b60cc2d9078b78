"""The one rule for what is printed (rule R30), on every release of the library: a value
lies in its own interval, at every confidence, and within what is publicly known.

Few people and much noise, so that noise takes most numbers to where they cannot be. Each
check holds for every draw, so more draws only look further.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dither
from dither import local
from dither.audit import science_catalogue
from dither.query.arrays.quantiles import QuantileSpread
from dither.release import Release
from dither.science import census, genomes, graphs, maps, synth, trials
from dither.table import TableRelease
from tests.chance import chance
from tests.each import each

RATES = (0.5, 0.8, 0.9, 0.95, 0.99)
DRAWS = 2
FEW, FOUR = [1.0, 2.0, 3.0], np.array([3.0, 4.0, 5.0, 9.0])
ARM = np.arange(8) % 2
EDGES = np.array([(0, 1), (1, 2), (2, 3), (3, 4), (0, 2)])


def outside(value: Any, ends: Any) -> bool:
    """Whether a value is not in an interval. What is not known lies anywhere."""
    low, high = (np.asarray(end, np.float64) for end in ends)
    known = np.asarray(value, np.float64)
    return bool(np.any((known < low) | (known > high)))


def check(found: Any) -> None:
    """All that is printed with an interval lies in it."""
    if isinstance(found, TableRelease):
        for rate in RATES:
            for row, cells in zip(found.rows, found.cells(rate), strict=True):
                for value, ends in zip(row, cells, strict=True):
                    if value is None:  # an extreme that noise hides
                        continue
                    low, high = (None, None) if ends is None else ends
                    assert low is None or low <= value, (rate, row, ends)
                    assert high is None or value <= high, (rate, row, ends)
        return
    if found.spread is None:
        return
    measured_at = getattr(found.spread, "confidence", 1.0)
    for rate in RATES:
        if rate > measured_at and isinstance(found.spread, QuantileSpread):
            continue  # it was measured at one confidence, and knows no larger one
        ends = found.interval(rate)
        assert not outside(found.value, ends), (rate, found.what, found.value, ends)
        for key, value, low, high in found.rows(rate):
            assert not outside(value, (low, high)), (rate, key, value, low, high)
    if getattr(found, "population", None) is not None:
        told = getattr(found, "superiority", getattr(found, "above", found.value))
        for rate in (0.5, 0.95):  # tests are inverted, which takes a while
            ends = found.confidence_interval(rate)
            assert not outside(told, ends), (rate, found.what, told, ends)


def derived(found: Any) -> Iterator[Any]:
    """What is computed from a release for free."""
    if isinstance(found, TableRelease):
        yield found
        yield found.round(-1)
        return
    yield found
    if found.spread is None:
        return
    if isinstance(found.spread, QuantileSpread):
        return
    yield found.round(-1)
    if isinstance(found, graphs.releases.MixingRelease):
        yield found[0, 0] if 0 in found.keys else found[found.keys[0], found.keys[0]]
    elif np.size(found.value) and np.ndim(found.value):
        yield found[0]
    yield found * -2 + 3
    yield found - found
    if np.ndim(found.value) < 2:
        yield found.map(np.arctan, monotone=True)


def every(asked: Callable[[], Any], draws: int = DRAWS) -> None:
    for _ in range(draws):
        for found in asked():
            for one in derived(found):
                check(one)


def sciences() -> Iterator[tuple[str, Callable[[], Any]]]:
    """The audit's list of the science room."""
    for asked in science_catalogue.science():
        if asked.covers != "science.trials.median":  # which refuses so small a cost
            yield asked.covers + asked.words, partial(_asked, asked)


def _asked(asked: Any) -> list[Any]:
    found = asked.ask(asked.a)
    return [found] if isinstance(found, Release) else []


def parts() -> Iterator[tuple[str, Callable[[], Any]]]:
    """What rooms compute from their releases."""
    yield "curves", curves
    yield "degrees", degrees
    yield "a census", places
    yield "a map", heat
    yield "a beacon", beacon
    yield "frequencies", frequencies
    yield "measured counts", measured


def curves() -> list[Any]:
    time, event, arm = np.arange(60) % 9, np.arange(60) % 2, np.arange(60) % 2
    found = trials.kaplan_meier(
        time, event, edges=(0, 3, 6, 9), groups=arm, arms=(0, 1), epsilon=1.5
    )
    alone = found.curve(0)
    return [
        *(found, alone, found.at(3), found.difference(6), found.hazard_ratio(6)),
        *(found.median(1), found.restricted_mean(9, 0), alone.at(6)),
    ]


def tables() -> list[Any]:
    held = {"arm": ARM, "arms": [0, 1], "epsilon": 0.3}
    found = trials.risk_difference(np.arange(8) // 2 % 2, **held)
    more = trials.risk_difference(np.arange(8) // 2 % 2, sizes=(4, 4), **held)
    return [
        one
        for each_ in (found, more)
        for one in (
            *(each_, each_.table, each_.proportion(0)),
            *(each_.odds_ratio(), each_.risk_ratio()),
        )
    ]


def degrees() -> list[Any]:
    found = graphs.degrees(EDGES, vertices=8, unit="node", max_degree=3, epsilon=0.2)
    sequence = graphs.degrees(EDGES, vertices=8, epsilon=0.2)
    return [
        one
        for each_ in (found, sequence)
        for one in (each_, each_.histogram(), each_.ccdf())
    ]


def ranks() -> list[Any]:
    return [
        trials.mannwhitneyu(FEW, FOUR, sizes=(3, 4), epsilon=0.2),
        trials.mannwhitneyu(FEW, FOUR, epsilon=0.2),
        trials.wilcoxon(FOUR, size=4, epsilon=0.2),
        trials.kruskal(FEW, FOUR, sizes=(3, 4), epsilon=0.2),
        trials.mean(FEW, bounds=(0, 10), size=3, epsilon=0.2),
        trials.mean(FEW, bounds=(0, 10), epsilon=0.2),
        trials.mean_difference(FEW, FOUR, bounds=(0, 10), sizes=(3, 4), epsilon=0.2),
    ]


def places() -> list[Any]:
    blocks = [("1", "11"), ("1", "12"), ("2", "21")]
    keys = census.geography(blocks, levels=["state", "block"])
    made = census.release(
        {"state": ["1", "2"], "block": ["11", "21"]},
        keys=keys,
        unit=census.unit("person"),
        rho=0.05,
    )
    ranged = census.ranges(FEW, edges=[0, 1, 2, 3, 4], epsilon=0.2)
    return [
        *(made, made.table("state"), made.table("block", nonnegative=True)),
        *(made.union([("1", "11")]), ranged, ranged.range(0, 2)),
    ]


def heat() -> list[Any]:
    points = np.array([[0.1, 0.1], [0.2, 0.1]])
    made = maps.heatmap(points, bounds=(0, 0, 0.4, 0.4), expect=3, epsilon=0.2)
    return [made, made.total(), made.within((0.0, 0.0, 0.15, 0.4))]


def beacon() -> list[Any]:
    held = {"panel": science_catalogue.PANEL, "samples": 12, "epsilon": 0.2}
    opened = genomes.beacon(science_catalogue.GENOTYPES, questions=2, **held)
    return [opened.ask(name) for name in science_catalogue.PANEL[:2]]


def frequencies() -> list[Any]:
    held = {"panel": science_catalogue.PANEL, "samples": 12, "epsilon": 0.5}
    asked = partial(genomes.frequencies, science_catalogue.GENOTYPES, coarse=True)
    return [asked(**held), asked(calls=0.5, **held)]


def measured() -> list[Any]:
    domain = {"ill": synth.booleans(), "ward": synth.categories(["A", "B"])}
    table = {"ill": [True, False], "ward": ["A", "B"]}
    made = synth.mst(table, domain=domain, n=20, epsilon=0.3)
    return [made.marginal("ill"), made.marginal("ill", "ward")]


def arrays() -> Iterator[tuple[str, Callable[[], Any]]]:
    for low, high in ((0, 10), (-10, -1), (-5, 5)):
        held = {"bounds": (low, high), "epsilon": 0.2}
        for ask in (dither.sum, dither.mean, dither.variance):
            name = f"{ask.__name__} within {low} and {high}"
            yield name, lambda ask=ask, held=held: [ask(FEW, **held)]
    held = {"bounds": (0, 10), "epsilon": 0.2}
    yield "mean of n", lambda: [dither.mean(FEW, n=3, **held)]
    yield "variance of n", lambda: [dither.variance(FEW, n=3, **held)]
    yield "quantile", lambda: [dither.quantile(FEW, 0.5, **held)]
    yield "count", lambda: [dither.count([False], epsilon=0.2)]
    yield "histogram", lambda: [dither.histogram(["A"], keys=["A", "B"], epsilon=0.2)]


def devices() -> Iterator[tuple[str, Callable[[], Any]]]:
    few = [2, 3, 5, 2, 9, 4, 7, 8] * 3
    yield "shares", lambda: shares(["a", "b", "c"], ["a", "a", "b"] * 8)
    for what in ("mean", "variance", "distribution"):
        yield what, lambda what=what: numbers(what, few)


def shares(domain: Any, held: Any) -> list[Any]:
    task = local.task("x", domain=domain, epsilon=0.4, n=len(held), minimum=2)
    found = task.tally(task.randomize(held)).estimate()
    return [found, found.consistent()]


def numbers(what: str, held: Any) -> list[Any]:
    domain = local.Numbers(0, 10, ask=what)
    task = local.task("x", domain=domain, epsilon=0.4, n=len(held), minimum=2)
    found = task.tally(task.randomize(held)).estimate()
    if what == "variance":
        return [found, found.mean, found.deviation]
    if what == "distribution":
        return [found, found.quantile(0.5), found.up_to(4), found.consistent()]
    return [found]


SQL = (
    "SELECT ward, COUNT(*) AS n, COUNT(DISTINCT person) AS people, SUM(x) AS s, "
    "SUM(-x) AS less, SUM(s) AS both, AVG(s) AS mean, VAR_SAMP(x) AS v, "
    "STDDEV(x) AS d, COUNT(*) + 40 AS more, -SUM(x) / 7 AS part "
    "FROM visits GROUP BY ward",
    "SELECT ward, MEDIAN(x) AS m, MAX(day) AS last, MIN(x) AS least "
    "FROM visits GROUP BY ward",
    "SELECT CORR(x, s) AS r, COVAR_POP(x, s) AS c, COUNT(DISTINCT x) AS k FROM visits",
    "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward "
    "HAVING COUNT(*) > 0 ORDER BY n DESC LIMIT 2",
)


def visits(rows: int | None) -> Any:
    day = pd.Timestamp("2024-01-01")
    frame = pd.DataFrame(
        {
            "person": [1, 2, 3],
            "ward": ["A", "A", "B"],
            "x": [0, 1, 9],
            "s": [-5, 0, 5],
            "day": [day, day, day + pd.Timedelta(days=9)],
        }
    )
    between = day.to_pydatetime(), (day + pd.Timedelta(days=30)).to_pydatetime()
    return dither.open(
        frame,
        name="visits",
        unit="person",
        bounds={"x": (0, 10), "s": (-5, 5), "day": between},
        keys={"ward": ("A", "B", "C")},
        rows=rows,
        budget=(1e4, 1e-6),
    )


@pytest.mark.parametrize("rows", [1, 5, None])
def test_tables_of_sql(rows: int | None) -> None:
    with visits(rows) as data:
        for draw in range(DRAWS):
            for sql in SQL:
                found = data.sql(sql, epsilon=1 + draw / 1000)
                for one in derived(found):
                    check(one)
                for one in derived(found[found.columns[-1]]):
                    check(one)


def test_arrays() -> None:
    each(arrays(), every)


def test_devices() -> None:
    each(devices(), every)


def test_what_sciences_compute_from_their_releases() -> None:
    each(parts(), every)


def test_every_release_of_the_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(science_catalogue, "COST", {"epsilon": 0.4})
    each(sciences(), partial(every, draws=1))


@pytest.mark.full
def test_many_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(science_catalogue, "COST", {"epsilon": 0.4})
    slow = [("tables", tables), ("ranks", ranks)]
    each([*arrays(), *devices(), *parts(), *slow, *sciences()], partial(every, draws=9))


LIMITS: dict[str, tuple[Callable[[], Any], float, float]] = {
    "a count": (lambda: dither.count([False], epsilon=0.2), 0, math.inf),
    "a sum of 0 to 10": (
        lambda: dither.sum(FEW, bounds=(0, 10), epsilon=0.2),
        0,
        math.inf,
    ),
    "a sum of -10 to -1": (
        lambda: dither.sum([-2.0], bounds=(-10, -1), epsilon=0.2),
        -math.inf,
        0,
    ),
    "a mean of n": (
        lambda: dither.mean(FEW, bounds=(0, 10), n=3, epsilon=0.2),
        0,
        10,
    ),
    "a mean of a trial": (
        lambda: trials.mean(FEW, bounds=(0, 10), size=3, epsilon=0.2),
        0,
        10,
    ),
    "U": (lambda: trials.mannwhitneyu(FEW, FOUR, sizes=(3, 4), epsilon=0.2), 0, 12),
    "a signed-rank sum": (lambda: trials.wilcoxon(FOUR, size=4, epsilon=0.2), -10, 10),
    "edges": (lambda: graphs.edges(EDGES, vertices=8, epsilon=0.2), 0, 28),
    "carriers": (lambda: beacon()[0], 0, 12),
    "a share up to": (lambda: numbers("distribution", FEW * 9)[2], 0, 1),
}


def test_values_and_intervals_stay_within_what_is_public() -> None:
    each(LIMITS.items(), within)


def within(case: tuple[Callable[[], Any], float, float]) -> None:
    ask, least, most = case
    for _ in range(12):
        found = ask()
        for rate in RATES:
            for one in (found.value, *found.interval(rate)):
                assert least <= one <= most, (rate, found.value, found.interval(rate))


def test_counts_of_tables_and_curves_stay_within_their_arms() -> None:
    """A table printed -1 with an interval from 0 to 2, and a curve 303 of 300 at risk."""
    time, event, arm = np.arange(60) % 9, np.arange(60) % 2, np.arange(60) % 2
    for _ in range(20):
        found = trials.risk_difference(
            np.arange(8) // 2 % 2, arm=ARM, arms=[0, 1], sizes=(4, 4), epsilon=0.3
        )
        assert all(0 <= count <= 4 for *_, count in found.table.rows)
        curve = trials.kaplan_meier(
            time,
            event,
            edges=(0, 3, 6, 9),
            groups=arm,
            arms=(0, 1),
            sizes=(30, 30),
            epsilon=0.5,
        )
        assert np.all((curve.at_risk >= 0) & (curve.at_risk <= 30))
        assert np.all(np.diff(curve.at_risk) <= 0)
        assert np.all((curve.deaths >= 0) & (curve.deaths <= curve.at_risk))


@chance(1e-7)
def test_what_is_added_up_stays_as_it_was_measured() -> None:
    """Sums of estimates that were pushed up to 0 would be too large. One draw has a
    number below 0 in a third of all cases at least: two points in one cell of a map,
    with Laplace noise of scale 5.
    """
    for ask in (partial(shares, list("abcdefgh"), ["a"] * 24), places, heat):
        assert min(np.min(ask()[0].value) for _ in range(45)) < 0
