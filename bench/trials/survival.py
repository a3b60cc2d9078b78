"""Survival curves and the log-rank test: how far curves are off on lifelines' data,
coverage, false positives, and power beside what was published.

People of simulated studies die and are censored at any time. Their cells go through the
functions that the release itself is made of; each figure is of 2,000 studies.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
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
from dither.science.trials.curve import EVENLY, WITHIN, LifeTable
from dither.science.trials.logrank_test import pvalue
from dither.science.trials.null import Law, special
from dither.science.trials.scores import Scores

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]

FIXTURE = Path("tests/fixtures/trials/survival.json")
EDGES = {
    "rossi": [float(week) for week in range(0, 53, 4)],
    "waltons": [float(day) for day in range(0, 73, 6)],
}
STUDIES = 2000
LEVEL = 0.05
OURS, OURS_EVENLY = "dither", 'dither, censoring="evenly"'
NAIVE, SPLIT = "ordinary test on noisy counts", "test of tests"
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
AT_ONCE = 0.98


@dataclass(frozen=True)
class Arm:
    """People who die and are lost at constant rates through the bins of a study, or all
    at once in its second bin.
    """

    survival: float
    lost: float
    bins: int

    def truth(self) -> Reals:
        """Survival in the population, at the ends of the bins."""
        ends = np.arange(1, self.bins + 1)
        if self.survival > 0:
            return np.asarray(self.survival ** (ends / self.bins), np.float64)
        return np.where(ends > 1, 1 - AT_ONCE, 1.0)

    def _deaths(self, rng: np.random.Generator, shape: tuple[int, int]) -> Reals:
        if self.survival >= 1:
            return np.full(shape, np.inf)
        if self.survival > 0:
            return rng.exponential(-self.bins / np.log(self.survival), shape)
        together = rng.uniform(1, 2, shape)
        return np.where(rng.random(shape) < AT_ONCE, together, np.inf)

    def cells(self, rng: np.random.Generator, size: int, studies: int) -> Integers:
        """Exact cells of many studies, with one more for those who count for nobody."""
        died = self._deaths(rng, (studies, size))
        gone = np.full(died.shape, np.inf)
        if self.lost:
            gone = rng.exponential(-self.bins / np.log1p(-self.lost), died.shape)
        time, event = np.minimum(died, gone), (died <= gone).astype(float)
        cells = placed(time, event, tuple(range(self.bins + 1))).astype(np.int64)
        width = 2 * self.bins + 2
        flat = cells + width * np.arange(studies)[:, None]
        counts = np.bincount(flat.ravel(), minlength=width * studies)
        return counts.reshape(studies, width).astype(np.int64)


def coverages() -> Iterator[Row]:
    rng = np.random.default_rng(61)
    for (name, setting), size, epsilon in product(SETTINGS.items(), SIZES, COSTS):
        found = [
            _coverage(rng, Arm(*setting[:2], bins), size, epsilon, known)
            for bins, known in product(BINS, (False, True))
        ]
        case = f"{name}, {size} people, ε = {epsilon:g}"
        for metric in found[0]:
            several = [one[metric] for one in found]
            worst = min(several) if "coverage" in metric else several[1]
            yield Row(case, OURS, metric, worst)


def _coverage(
    rng: np.random.Generator, arm: Arm, size: int, epsilon: float, known: bool
) -> dict[str, float]:
    """The worst bin's coverage of these people and of the population, and widths."""
    cells = arm.cells(rng, size, STUDIES)
    mechanism = Laplace(sensitivity=2, epsilon=epsilon)
    table = _noisy(cells, mechanism, [size] * STUDIES if known else None)
    own = LifeTable.of(cells[:, :-1], 0.0, None)
    ends = Bands(table, mechanism).of_table(0.95)
    found = {"coverage of these people": _held(ends, own.unbiased)}
    for when in (WITHIN, EVENLY):
        ends = Bands(table, mechanism, when).of_population(0.95)
        found[f"coverage of the population, {when}"] = _held(ends, arm.truth())
        width = float((ends[1] - ends[0]).mean())
        found[f"mean width, 4 bins, public size, {when}"] = width
    return found


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
        for bins, known in ((4, True), (12, False)):
            arms = [Arm(setting[0], lost, bins) for lost in setting[1:]]
            found = _pvalues(rng, arms, size, epsilon, known)
            case = f"{name}, {size} people an arm, ε = {epsilon:g}, {bins} bins"
            for system, values in found.items():
                yield Row(case, system, "false positives", _share_below(values))


def _pvalues(
    rng: np.random.Generator,
    arms: Sequence[Arm],
    size: int,
    epsilon: float,
    known: bool,
) -> dict[str, Reals]:
    """The p-values of many studies: ours, and those of the usual table."""
    mechanism = Laplace(sensitivity=2, epsilon=epsilon)
    both = [arm.cells(rng, size, STUDIES) for arm in arms]
    found: dict[str, list[float]] = {OURS: [], OURS_EVENLY: [], NAIVE: []}
    for two in zip(*both, strict=True):
        table = _noisy(np.array(two), mechanism, [size, size] if known else None)
        found[OURS].append(pvalue(table, mechanism)[1])
        found[OURS_EVENLY].append(pvalue(table, mechanism, EVENLY)[1])
        found[NAIVE].append(_usual(Scores.of(table)))
    return {system: np.array(values) for system, values in found.items()}


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
PARTS = (3, 5, 10, 20)
SMALLEST = 10
"""Smaller parts have too few people for the usual table of a log-rank test."""
LEVELS = (0.05, 0.15, 0.3)


def powers() -> Iterator[Row]:
    rng = np.random.default_rng(71)
    for (ratio, size, epsilon), lost in (
        *((one, 0.0) for one in EFFECTS),
        *(((0.5, size, 1.0), 0.3) for size in (100, 200)),
    ):
        case = (
            f"hazard ratio {ratio:g}, {size} people an arm, {ALIVE:g} survive, "
            f"{lost:g} lost, {POWER_BINS} bins, ε = {epsilon:g}, replace"
        )
        arms = [Arm(one, lost, POWER_BINS) for one in (ALIVE, ALIVE**ratio)]
        found = _pvalues(rng, arms, size, epsilon, True)
        for system, when in ((OURS, WITHIN), (OURS_EVENLY, EVENLY)):
            planned = trials.power(
                "logrank",
                hazard_ratio=ratio,
                n=size,
                survival=ALIVE,
                bins=POWER_BINS,
                censored=lost,
                censoring=when,
                epsilon=epsilon,
            )
            yield Row(case, system, "power", _share_below(found[system]))
            yield Row(case, system, "planned power", planned)
        public = _ordinary(*(arm.cells(rng, size, STUDIES) for arm in arms))
        yield Row(case, "without privacy", "power", _share_below(public))
        yield Row(case, SPLIT, "power", _split_power(rng, arms, size, epsilon))


def _ordinary(first: Integers, second: Integers) -> Reals:
    """p-values of ordinary log-rank tests of many studies at once."""
    bins = first.shape[1] // 2 - 1
    at_risk = [LifeTable.of(one[:, :-1], 0.0, None).at_risk for one in (first, second)]
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
    rng: np.random.Generator, arms: Sequence[Arm], size: int, epsilon: float
) -> float:
    """The best of several numbers of parts and levels."""
    return max(
        _test_of_tests(rng, arms, size // parts, parts, level, epsilon)
        for parts, level in product(PARTS, LEVELS)
        if size // parts >= SMALLEST
    )


def _test_of_tests(
    rng: np.random.Generator,
    arms: Sequence[Arm],
    size: int,
    parts: int,
    level: float,
    epsilon: float,
) -> float:
    """Parts whose own test rejects are counted with noise, and that count is tested:
    one person is in one part, so it moves by 1.
    """
    both = [arm.cells(rng, size, STUDIES * parts) for arm in arms]
    rejected = (_ordinary(*both) <= level).reshape(STUDIES, parts).sum(axis=1)
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
    for about in (
        "these people",
        *(f"the population, {one}" for one in (WITHIN, EVENLY)),
    ):
        values = _all(found, system=OURS, metric=f"coverage of {about}")
        name = f"coverage of {about}, worst bin of all settings"
        yield at_least(name, 0.935, min(values))
    most = LEVEL + 3 * (LEVEL * (1 - LEVEL) / STUDIES) ** 0.5
    for system in (OURS, OURS_EVENLY):
        values = _all(found, system=system, metric="false positives")
        name = f"false positives of the log-rank test, worst setting, {system}"
        yield at_most(name, most, max(values))
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
