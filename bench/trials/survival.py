"""Survival curves and the log-rank test: how far curves are off on lifelines' data,
coverage, false positives, and power beside what was published.

Studies are simulated as counts in cells, and go through the functions that the release
itself is made of; each figure is of 2,000 studies or more.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.harness import Goal, Row, at_least, at_most
from bench.peers import Worker
from dither.mechanisms import Laplace
from dither.science import trials
from dither.science.trials.bands import Bands
from dither.science.trials.cells import counted, placed
from dither.science.trials.curve import LifeTable
from dither.science.trials.logrank import Scores, pvalue
from dither.science.trials.null import Law, special

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]

FIXTURE = Path("tests/fixtures/trials/survival.json")
EDGES = {
    "rossi": [float(week) for week in range(0, 53, 4)],
    "waltons": [float(day) for day in range(0, 73, 6)],
}
STUDIES = 2000
LEVEL = 0.05
OURS, NAIVE, SPLIT = "dither", "ordinary test on noisy counts", "test of tests"
NOTES = (
    "survival: curves are compared with the binned Kaplan-Meier curve of the same people; "
    "add/remove noise is Laplace(1/ε), replace noise Laplace(2/ε)",
    "survival: 'ordinary test on noisy counts' compares the log-rank statistic of noisy "
    "counts with its usual table, as Gondara & Wang 2020 propose (no power was "
    "published); 'test of tests' is Kazan, Shi, Groce & Bray 2023 with an ordinary "
    "log-rank test in each part, and the best number of parts and level for each "
    "setting, chosen by knowing the answer",
)


def fixture() -> None:
    """Write what lifelines finds on binned times, for the tests to compare with."""
    with Worker("lifelines", "survival_lifelines") as worker:
        found = {
            name: worker.ask(name=name, edges=ends) for name, ends in EDGES.items()
        }
    FIXTURE.parent.mkdir(parents=True, exist_ok=True)
    FIXTURE.write_text(json.dumps(found) + "\n", encoding="utf-8")


def rows() -> Iterator[Row]:
    yield from errors()
    yield from coverages()
    yield from false_positives()
    yield from powers()


# How far curves are off


def errors() -> Iterator[Row]:
    studies = json.loads(FIXTURE.read_text(encoding="utf-8"))
    for name, study in studies.items():
        time, event = np.array(study["time"], float), np.array(study["event"], float)
        cells = placed(time, event, study["edges"])
        everyone = np.zeros(cells.size, np.int64)
        bins = len(study["edges"]) - 1
        for relation, sizes in (
            ("add/remove", False),
            ("replace", False),
            ("replace", True),
        ):
            public = [cells.size] if sizes else None
            exact = counted(cells, everyone, 1, bins, public)
            case = f"{name}, {bins} bins, {cells.size} people, ε = 1, {relation}"
            found = _mean_error(exact, 1 if relation == "add/remove" else 2, public)
            yield Row(
                case + (", public size" if sizes else ""), OURS, "sup error", found
            )


def _mean_error(
    exact: Integers, sensitivity: int, public: Sequence[int] | None
) -> float:
    mechanism = Laplace(sensitivity=sensitivity, epsilon=1.0)
    law = Law.of(mechanism)
    noisy = exact + law.draw((STUDIES, exact.shape[1]))
    sizes = None if public is None else np.repeat(public, STUDIES)
    own = LifeTable.of(exact, 0.0, None if public is None else np.array(public))
    found = LifeTable.of(noisy, law.variance, sizes)
    # where a curve is cut, nothing is claimed
    off = np.abs(np.where(found.shown, found.survival - own.unbiased, 0.0))
    return float(off.max(axis=1).mean())


# Coverage and false positives

Settings = dict[str, tuple[float, float, float]]
"""Survival at the end, and the shares of each arm that are lost before."""
SETTINGS: Settings = {
    "ordinary": (0.4, 0.3, 0.3),
    "few deaths": (0.97, 0.0, 0.0),
    "much censoring": (0.7, 0.8, 0.8),
    "nobody dies": (1.0, 0.7, 0.7),
    "nearly all die": (0.02, 0.1, 0.1),
    "unlike censoring": (0.4, 0.8, 0.0),
    "all die in one bin": (0.0, 0.0, 0.0),
}
SIZES, COSTS, BINS = (50, 200), (0.3, 1.0, 3.0), (4, 12)


def hazards_of(survival: float, bins: int) -> Reals:
    if survival > 0:
        return np.full(bins, 1 - survival ** (1 / bins))
    return np.where(np.arange(bins) == 1, 0.98, 0.0)


def people(
    rng: np.random.Generator, size: int, hazards: Reals, lost: float, studies: int
) -> Integers:
    """Exact cells of many studies, with one more for those who count for nobody."""
    bins = len(hazards)
    rate = 1 - (1 - lost) ** (1 / bins)
    left = np.full(studies, size)
    cells = np.zeros((studies, 2 * bins + 1), np.int64)
    for place in range(bins):
        died = rng.binomial(left, hazards[place])
        last = place == bins - 1
        gone = left - died if last else rng.binomial(left - died, rate)
        cells[:, place], cells[:, bins + place] = died, gone
        left = left - died - gone
    return cells


def coverages() -> Iterator[Row]:
    rng = np.random.default_rng(61)
    for (name, setting), size, epsilon in product(SETTINGS.items(), SIZES, COSTS):
        found = [
            _coverage(rng, setting, size, epsilon, bins, known)
            for bins, known in product(BINS, (False, True))
        ]
        case = f"{name}, {size} people, ε = {epsilon:g}"
        yield Row(case, OURS, "coverage of these people", min(one[0] for one in found))
        yield Row(
            case, OURS, "coverage of the population", min(one[1] for one in found)
        )
        yield Row(case, OURS, "mean width (4 bins, public size)", found[1][2])


def _coverage(
    rng: np.random.Generator,
    setting: tuple[float, float, float],
    size: int,
    epsilon: float,
    bins: int,
    known: bool,
) -> tuple[float, float, float]:
    """The worst bin's coverage of these people and of the population, and the width."""
    hazards = hazards_of(setting[0], bins)
    cells = people(rng, size, hazards, setting[1], STUDIES)
    mechanism = Laplace(sensitivity=2, epsilon=epsilon)
    bands = Bands(
        _noisy(cells, mechanism, [size] * STUDIES if known else None), mechanism
    )
    own = LifeTable.of(cells[:, :-1], 0.0, None)
    low, high = bands.of_population(0.95)
    return (
        _held(bands.of_table(0.95), own.unbiased),
        _held((low, high), np.asarray(np.cumprod(1 - hazards), np.float64)),
        float((high - low).mean()),
    )


def _held(ends: tuple[Reals, Reals], truth: Reals) -> float:
    low, high = ends
    inside = (low <= truth + 1e-12) & (truth <= high + 1e-12)
    return float(inside.mean(axis=0).min())


def _noisy(
    cells: Integers, mechanism: Laplace, sizes: Sequence[int] | None
) -> LifeTable:
    law = Law.of(mechanism)
    noisy = cells + law.draw(cells.shape)
    if sizes is None:
        return LifeTable.of(noisy[:, :-1], law.variance, None)
    return LifeTable.of(noisy, law.variance, np.array(sizes))


def false_positives() -> Iterator[Row]:
    rng = np.random.default_rng(67)
    for (name, setting), size, epsilon in product(SETTINGS.items(), SIZES, COSTS):
        ours, naive = [], []
        for bins, known in ((4, True), (12, False)):
            hazards = [hazards_of(setting[0], bins)] * 2
            both = _pvalues(rng, hazards, setting[1:], size, epsilon, known)
            ours.append(_share_below(both[0]))
            naive.append(_share_below(both[1]))
        case = f"{name}, {size} people an arm, ε = {epsilon:g}"
        yield Row(case, OURS, "false positives", max(ours))
        yield Row(case, NAIVE, "false positives", max(naive))


def _pvalues(
    rng: np.random.Generator,
    hazards: Sequence[Reals],
    lost: Sequence[float],
    size: int,
    epsilon: float,
    known: bool,
) -> tuple[Reals, Reals]:
    """The p-values of many studies: ours, and those of the usual table."""
    mechanism = Laplace(sensitivity=2, epsilon=epsilon)
    arms = [
        people(rng, size, one, share, STUDIES)
        for one, share in zip(hazards, lost, strict=True)
    ]
    found, plain = [], []
    for two in zip(*arms, strict=True):
        table = _noisy(np.array(two), mechanism, [size, size] if known else None)
        scores = Scores(table)
        found.append(pvalue(scores, mechanism)[1])
        plain.append(_usual(scores))
    return np.array(found), np.array(plain)


def _usual(scores: Scores) -> float:
    variance = float(scores.sampling[0, 0])
    if variance <= 0:
        return 1.0
    return float(special().chdtrc(1, float(scores.values[0]) ** 2 / variance))


def _share_below(probabilities: Reals) -> float:
    return float((probabilities <= LEVEL).mean())


# Power

EFFECTS = tuple(product((0.5, 0.67), (50, 100, 200), (1.0, 3.0)))
ALIVE, POWER_BINS = 0.3, 6
PARTS = (3, 5, 8, 12, 16, 20)
SMALLEST = 10
"""Smaller parts have too few people for the usual table of a log-rank test."""
LEVELS = (0.05, 0.15, 0.3)


def powers() -> Iterator[Row]:
    rng = np.random.default_rng(71)
    for ratio, size, epsilon in EFFECTS:
        case = (
            f"hazard ratio {ratio:g}, {size} people an arm, {ALIVE:g} survive, "
            f"{POWER_BINS} bins, ε = {epsilon:g}, replace"
        )
        hazards = [hazards_of(ALIVE, POWER_BINS), hazards_of(ALIVE**ratio, POWER_BINS)]
        found, _ = _pvalues(rng, hazards, (0.0, 0.0), size, epsilon, True)
        planned = trials.power(
            "logrank",
            hazard_ratio=ratio,
            n=size,
            survival=ALIVE,
            bins=POWER_BINS,
            epsilon=epsilon,
        )
        yield Row(case, OURS, "power", _share_below(found))
        yield Row(case, OURS, "planned power", planned)
        yield Row(case, "without privacy", "power", _public_power(rng, hazards, size))
        yield Row(case, SPLIT, "power", _split_power(rng, hazards, size, epsilon))


def _public_power(
    rng: np.random.Generator, hazards: Sequence[Reals], size: int
) -> float:
    return _share_below(
        _ordinary(*(people(rng, size, one, 0.0, STUDIES) for one in hazards))
    )


def _ordinary(first: Integers, second: Integers) -> Reals:
    """p-values of ordinary log-rank tests of many studies at once."""
    bins = first.shape[1] // 2
    at_risk = [
        np.cumsum((one[:, :bins] + one[:, bins:-1])[:, ::-1], axis=1)[:, ::-1]
        for one in (first, second)
    ]
    deaths = first[:, :bins] + second[:, :bins]
    pooled = np.maximum(at_risk[0] + at_risk[1], 1)
    share = at_risk[0] / pooled
    score = (first[:, :bins] - deaths * share).sum(axis=1)
    rest = np.where(pooled > 1, (pooled - deaths) / np.maximum(pooled - 1, 1), 0.0)
    variance = (share * (1 - share) * deaths * rest).sum(axis=1)
    usable = variance > 0
    statistic = np.where(usable, score**2 / np.where(usable, variance, 1.0), 0.0)
    return np.asarray(special().chdtrc(1, statistic))


def _split_power(
    rng: np.random.Generator, hazards: Sequence[Reals], size: int, epsilon: float
) -> float:
    """The best of several numbers of parts and levels."""
    return max(
        _test_of_tests(rng, hazards, size // parts, parts, level, epsilon)
        for parts, level in product(PARTS, LEVELS)
        if size // parts >= SMALLEST
    )


def _test_of_tests(
    rng: np.random.Generator,
    hazards: Sequence[Reals],
    size: int,
    parts: int,
    level: float,
    epsilon: float,
) -> float:
    """Parts whose own test rejects are counted with noise, and that count is tested:
    one person is in one part, so it moves by 1.
    """
    arms = [people(rng, size, one, 0.0, STUDIES * parts) for one in hazards]
    rejected = (_ordinary(*arms) <= level).reshape(STUDIES, parts).sum(axis=1)
    law = Law.of(Laplace(sensitivity=1, epsilon=epsilon))
    counts = rejected + law.draw(STUDIES)
    values, chances = np.arange(parts + 1), _binomial(parts, level)
    tails = {
        count: law.with_pmf(values, chances, count)
        for one in set(counts.tolist())
        for count in (one, one + 1)
    }
    reached = np.array([tails[one] for one in counts.tolist()])
    beyond = np.array([tails[one + 1] for one in counts.tolist()])
    # a uniform number splits the chance of each whole count (Awan & Slavković 2018)
    found = beyond + (reached - beyond) * rng.uniform(0, 1, STUDIES)
    return _share_below(found)


def _binomial(parts: int, chance: float) -> Reals:
    from scipy.stats import binom

    return np.asarray(binom.pmf(np.arange(parts + 1), parts, chance))


def goals(rows: Iterable[Row]) -> Iterator[Goal]:
    found = list(rows)
    rossi = "rossi, 13 bins, 432 people, ε = 1"
    error = _only(found, case=f"{rossi}, add/remove", metric="sup error")
    yield at_most(f"mean sup error of the curve: {rossi}, add/remove", 0.012, error)
    for about in ("these people", "the population"):
        values = _all(found, system=OURS, metric=f"coverage of {about}")
        yield at_least(
            f"coverage of {about}, worst bin of all settings", 0.935, min(values)
        )
    most = LEVEL + 3 * (LEVEL * (1 - LEVEL) / STUDIES) ** 0.5
    values = _all(found, system=OURS, metric="false positives")
    yield at_most(
        "false positives of the log-rank test, worst setting", most, max(values)
    )
    ours = {
        row.case: row.value
        for row in found
        if (row.system, row.metric) == (OURS, "power")
    }
    split = {row.case: row.value for row in found if row.system == SPLIT}
    better = sum((ours[case] or 0) >= (value or 0) for case, value in split.items())
    yield at_least(
        "settings with at least the power of the test of tests", len(split), better
    )


def _all(rows: Iterable[Row], **wanted: Any) -> list[float]:
    return [
        row.value
        for row in rows
        if row.value is not None
        and all(getattr(row, name) == value for name, value in wanted.items())
    ]


def _only(rows: Iterable[Row], **wanted: Any) -> float | None:
    found = _all(rows, **wanted)
    return found[0] if found else None


if __name__ == "__main__":
    fixture()
