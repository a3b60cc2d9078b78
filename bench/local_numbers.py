"""Means, variances, quantiles, tables and new words from devices: how far estimates are
off, against closed forms, and how often their intervals hold the truth.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.harness import Goal, Report, Row, at_least, at_most, versions
from dither import local
from dither.local.attributes import Attributes
from dither.local.averages import MeanSpread, VarianceSpread
from dither.local.domain import Domain
from dither.local.estimates import Score
from dither.local.numbers import DISTRIBUTION, MEAN, VARIANCE, Numbers
from dither.local.parts import Part, parts
from dither.local.vocabulary import Vocabulary

Whole = NDArray[np.int64]
Reals = NDArray[np.float64]

EPSILONS = (0.5, 1.0, 2.0, 4.0)
TOP = 1000
LEAVES = 1023
LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
PERIODS = 30
LETTERS = "abcdefghijklmnopqrstuvwxyz"
TRIALS = {100: 500, 1000: 300, 2000: 60, 10_000: 80, 20_000: 20, 100_000: 5}
NOTES = (
    f"Numbers lie on a grid of {TOP:,} steps; distributions have {LEAVES + 1:,} leaves. "
    "Populations: all at an end, all in the middle, half at each end, 30 % at a tenth "
    "of the range and the others at nine tenths, uniform, lognormal and cut, Zipf. "
    "Values are fixed; trials draw the noise, and who answers which part.",
    "The closed form of a mean is the mean of its oracle's variance at each device's "
    "value. Intervals of means allow for the spread of values besides, which they "
    "cannot tell from noise: where values differ, they are wider than is needed.",
    "The closed form of a variance takes both of its means as independent. That of a "
    "share is the variance of the oracle, and of which devices drew its part.",
    "The error that is stated for a share up to a number comes with the estimate: there "
    "is no closed form.",
    "Intervals of quantiles come from tests of two shares, and hold more often.",
    "Worst cases are of all numbers of devices together: some hundred intervals or more, "
    "which are off by 1 or 2 points by chance.",
    "Words: five words at the stated detection limit among 500 of Zipf's law. 'Found' "
    "are those of the five; the limit promises four in five at the last step.",
)


def population(name: str, n: int, top: int) -> Whole:
    """The places of n devices on a grid of so many steps."""
    share = (np.arange(n) + 0.5) / n
    return np.asarray(POPULATIONS[name](share, top)).astype(np.int64)


def _lognormal(share: Reals, top: int) -> Reals:
    normal = NormalDist()
    heights = np.array([normal.inv_cdf(one) for one in share.tolist()])
    return np.asarray(np.minimum(np.exp(heights) * top / 8, top))


def _zipf(share: Reals, top: int) -> Reals:
    sums = np.cumsum(1 / np.arange(1, top + 2))
    return np.asarray(np.searchsorted(sums / sums[-1], share))


POPULATIONS: dict[str, Callable[[Reals, int], Any]] = {
    "end": lambda share, _: 0 * share,
    "middle": lambda share, top: 0 * share + top // 2,
    "both ends": lambda share, top: np.where(share < 0.5, 0, top),
    "two points": lambda share, top: np.where(share < 0.3, top // 10, top * 9 // 10),
    "uniform": lambda share, top: share * (top + 1),
    "lognormal": _lognormal,
    "Zipf": _zipf,
}


@dataclass
class Cell:
    """Squared errors, closed forms and hits of intervals of one case. `wide` is a mean
    width over that of a normal variable with the error that was seen.
    """

    squares: list[Any] = field(default_factory=list)
    stated: list[Any] = field(default_factory=list)
    covered: list[Any] = field(default_factory=list)
    widths: list[Any] = field(default_factory=list)

    def add(self, value: Any, truth: Any, stated: Any, ends: Any) -> None:
        low, high = ends
        self.squares.append((np.asarray(value) - truth) ** 2)
        self.stated.append(np.broadcast_to(stated, np.shape(value)))
        # the arithmetic of a grid is off in the last digit
        self.covered.append((low <= truth + 1e-12) & (truth - 1e-12 <= high))
        self.widths.append(np.asarray(high) - low)

    @property
    def ratio(self) -> float:
        stated = float(np.mean(self.stated))
        return float(np.mean(self.squares)) / stated if stated > 0 else math.nan

    @property
    def coverage(self) -> float:
        return float(np.mean(self.covered))

    @property
    def wide(self) -> float:
        seen = 2 * 1.96 * math.sqrt(float(np.mean(self.squares)))
        return float(np.mean(self.widths)) / seen if seen > 0 else math.nan


@dataclass
class Study:
    """All cells of one kind of question, with the devices that each had."""

    name: str
    cells: dict[str, Cell] = field(default_factory=dict)

    def cell(self, *case: Any) -> Cell:
        return self.cells.setdefault(", ".join(map(str, case)), Cell())

    @property
    def pooled(self) -> float:
        return float(np.mean([cell.coverage for cell in self.cells.values()]))

    @property
    def worst(self) -> tuple[float, str]:
        """Of all numbers of devices together."""
        hits: dict[str, list[Any]] = {}
        for case, cell in self.cells.items():
            epsilon, _, *rest = case.split(", ")
            hits.setdefault(", ".join((epsilon, *rest)), []).extend(cell.covered)
        return min((float(np.mean(seen)), case) for case, seen in hits.items())

    @property
    def ratio(self) -> float:
        """Of all cells together: mean squares over closed forms, each cell alike."""
        ratios = [cell.ratio for cell in self.cells.values()]
        return float(np.nanmean(ratios))

    def rows(self) -> Iterator[Row]:
        for case, cell in self.cells.items():
            named = f"{self.name}, {case}"
            for metric, value in (
                ("mean square / closed form", cell.ratio),
                ("intervals hold", cell.coverage),
                ("width / least width", cell.wide),
            ):
                if math.isfinite(value):
                    yield Row(named, "dither", metric, round(value, 4))

    def goals(self) -> Iterator[Goal]:
        share, case = self.worst
        yield at_least(f"{self.name}: intervals hold the truth", 0.94, self.pooled)
        name = f"{self.name}: intervals hold the truth, worst case ({case})"
        yield at_least(name, 0.9, round(share, 4))


def close(study: Study) -> Goal:
    """Closed forms are met on average over the cells."""
    name = f"{study.name}: mean square over closed form"
    return Goal(name, "0.9 to 1.1", round(study.ratio, 4), 0.9 <= study.ratio <= 1.1)


def split(task: Any, values: Any, periods: int = 1) -> list[Part]:
    """The parts of one draw of all messages."""
    if not task.every:
        return parts(task.tally(task.randomize(values)))
    return parts(task.tally(task.rehearse([values] * periods)))


def within(oracle: Any, shares: Reals, periods: int = 1) -> float:
    """The mean variance of a device's mean score, over all devices: what is kept stays
    in every period.
    """
    places, counts = np.unique(shares, return_counts=True)
    each = np.array([oracle.variance(place) for place in places.tolist()])
    kept = np.array([oracle.shared(place) for place in places.tolist()])
    return float((each * (kept + (1 - kept) / periods)) @ counts) / len(shares)


def asked(ask: str, epsilon: float, n: int, **more: Any) -> Any:
    top = LEAVES if ask == DISTRIBUTION else TOP
    numbers = Numbers(0, top, ask=ask)
    return local.task("bench", domain=numbers, epsilon=epsilon, n=n, **more)


def means(name: str, sizes: Sequence[int], periods: int = 0) -> Study:
    """Of devices that answer once, or of one bit that is kept in so many periods."""
    study = Study(name)
    for epsilon in EPSILONS:
        more = {"every": "day", "for_ever": 2 * epsilon} if periods else {}
        for n in sizes:
            task = asked(MEAN, epsilon, n, **more)
            for people in POPULATIONS:
                values = population(people, n, TOP)
                _mean(study.cell(f"ε = {epsilon:g}", n, people), task, values, periods)
    return study


def _mean(cell: Cell, task: Any, values: Whole, periods: int) -> None:
    n, truth = len(values), float(values.mean()) / TOP
    stated = within(task.oracle, values / TOP, max(periods, 1)) / n
    for _ in range(TRIALS[n] // (3 if periods > 1 else 1)):
        spread = MeanSpread(split(task, values, periods)[0])
        cell.add(spread.value, truth, stated, spread.ends(0.95))


def variances(sizes: Sequence[int]) -> Study:
    study = Study("variance")
    for epsilon in EPSILONS:
        for n in sizes:
            task = asked(VARIANCE, epsilon, n)
            for people in POPULATIONS:
                values = population(people, n, TOP)
                cell = study.cell(f"ε = {epsilon:g}", n, people)
                truth = float((values / TOP).var())
                stated = _stated_variance(task, values)
                for _ in range(TRIALS[n] // 2):
                    spread = VarianceSpread(*map(MeanSpread, split(task, values)))
                    cell.add(spread.value, truth, stated, spread.ends(0.95))
    return study


def _stated_variance(task: Any, values: Whole) -> float:
    shares, n = values / TOP, len(values)
    first, second = (
        within(oracle, seen) * 2 / n + float(seen.var()) / n
        for oracle, seen in zip(
            task.oracle.parts, (shares, (2 * shares - 1) ** 2), strict=True
        )
    )
    off = float(shares.mean()) - 0.5
    return second / 16 + 4 * off**2 * first + 2 * first**2


def distributions(sizes: Sequence[int]) -> tuple[Study, Study]:
    """Shares up to fifteen numbers, and quantiles as parts of the range."""
    upto, quantiles = Study("share up to a number"), Study("quantile")
    at = np.linspace(0, LEAVES, 17).astype(np.int64)[1:-1]
    for epsilon in EPSILONS:
        for n in sizes:
            task = asked(DISTRIBUTION, epsilon, n)
            for people in POPULATIONS:
                values = population(people, n, LEAVES)
                case = (f"ε = {epsilon:g}", n, people)
                for _ in range(TRIALS[n]):
                    found = task.tally(task.randomize(values)).estimate()
                    _up_to(upto.cell(*case), found, values, at)
                    _quantiles(quantiles, case, found, values)
    return upto, quantiles


def _up_to(cell: Cell, found: Any, values: Whole, at: Whole) -> None:
    truth = np.searchsorted(values, at, side="right") / len(values)
    releases = [found.up_to(int(place)) for place in at]
    value = np.array([float(one.value) for one in releases])
    ends = np.array([one.interval() for one in releases]).T
    fixed, drawn = found.known.variances(0.0)
    spread = np.clip(value, 0, 1) * (1 - np.clip(value, 0, 1))
    cell.add(value, truth, fixed[at] + drawn[at] * spread, ends)


def _quantiles(study: Study, case: Any, found: Any, values: Whole) -> None:
    for level in LEVELS:
        truth = values[max(math.ceil(level * len(values) - 1e-9) - 1, 0)]
        one = found.quantile(level)
        study.cell(*case, level).add(float(one.value), truth, 0.0, one.interval())


ONE_WAY = {"two": 2, "ten": 10, "fifty": 50}
TWO_WAY = {"four": 4, "five": 5, "six": 6}


def tables(name: str, sizes: Sequence[int], values: dict[str, int]) -> Study:
    """Attributes of Zipf's law that depend on each other, alone or in pairs."""
    study, pairs = Study(name), values is TWO_WAY
    fields = tuple(
        (key, Domain(range(size), none=False)) for key, size in values.items()
    )
    for epsilon in EPSILONS:
        for n in sizes:
            domain = Attributes(fields, pairs)
            task = local.task("bench", domain=domain, epsilon=epsilon, n=n)
            columns = _columns(n, values)
            for _ in range(2 * TRIALS[n]):
                for number, part in enumerate(split(task, columns)):
                    case = (f"ε = {epsilon:g}", n, " × ".join(domain.parts[number]))
                    _cells(study.cell(*case), part, _items(domain, number, columns))
    return study


def _columns(n: int, values: dict[str, int]) -> dict[str, Whole]:
    """The columns are Zipf's, in orders that agree for the half of the devices."""
    half, columns = n // 2, {}
    for number, (key, size) in enumerate(values.items()):
        column = population("Zipf", n, size - 1)
        order = np.arange(n) * (7919 + 2 * number) % n
        column[:half] = column[:half][order[order < half]]
        columns[key] = column
    return columns


def _items(domain: Attributes, number: int, columns: dict[str, Whole]) -> Reals:
    """The true share of each item of a part."""
    items = np.asarray(domain._joined(domain.parts[number], columns))
    counts = np.bincount(items, minlength=domain.sizes[number])
    return np.asarray(counts / len(items))


def _cells(cell: Cell, part: Part, truth: Reals) -> None:
    found = part.evidence(np.arange(len(truth)))
    score, held = Score(found), truth * found.messages
    variance = found.null + found.slope * held + found.curve * held**2
    stated = variance / (found.gain * found.messages) ** 2
    cell.add(score.value, truth, stated, score.ends(0.95))


@dataclass
class Words:
    """What was found of new words, over all trials of a case."""

    found: list[float] = field(default_factory=list)
    false: list[float] = field(default_factory=list)
    held: list[bool] = field(default_factory=list)
    limits: list[float] = field(default_factory=list)
    widths: list[float] = field(default_factory=list)


def new_words() -> dict[str, Words]:
    seen: dict[str, Words] = {}
    random = np.random.default_rng(11)
    for epsilon, n in (
        (0.5, 100_000),
        *((e, n) for e in (1.0, 2.0, 4.0) for n in MANY),
    ):
        vocabulary = Vocabulary(LETTERS, 6, 2)
        task = local.task("bench", domain=vocabulary, epsilon=epsilon, n=n)
        words = seen.setdefault(f"new words, ε = {epsilon:g}, {n}", Words())
        limit = _tried(task, [_word(random) for _ in range(200)] * (n // 200))
        for _ in range(12):
            held = _held(random, n, limit)
            _discovered(words, task, *held)
    return seen


MANY = (20_000, 100_000)


def _word(random: np.random.Generator) -> str:
    size = int(random.integers(3, 7))
    return "".join(random.choice(list(LETTERS), size))


def _tried(task: Any, values: list[str]) -> float:
    return float(task.tally(task.randomize(values)).estimate().detection_limit)


def _held(
    random: np.random.Generator, n: int, limit: float
) -> tuple[list[str], list[str]]:
    """Five words at the limit, and what all devices hold."""
    wanted = [_word(random) for _ in range(5)]
    others = [_word(random) for _ in range(500)]
    law = 1 / np.arange(20, 520)
    values = [one for one in wanted for _ in range(min(round(limit * n), n // 5))]
    drawn = random.choice(500, n - len(values), p=law / law.sum())
    return wanted, values + [others[place] for place in drawn]


def _discovered(seen: Words, task: Any, wanted: list[str], values: list[str]) -> None:
    found = task.tally(task.randomize(values)).estimate()
    names, counts = np.unique(values, return_counts=True)
    truth = dict(zip(names.tolist(), (counts / len(values)).tolist(), strict=True))
    low, high = found.interval()
    seen.found.append(float(np.mean([one in found.keys for one in wanted])))
    false = sum(one not in truth for one in found.keys)
    seen.false.append(false / max(len(found.keys), 1))
    shares = [truth.get(one, 0.0) for one in found.keys]
    seen.held += [a <= b <= c for a, b, c in zip(low, shares, high, strict=True)]
    seen.limits.append(found.detection_limit)
    seen.widths += list((high - low) / (2 * 1.96 * found.standard_errors))


def word_rows(seen: dict[str, Words]) -> Iterator[Row]:
    for case, words in seen.items():
        for metric, values in (
            ("found at the limit", words.found),
            ("false among found", words.false),
            ("intervals hold", words.held),
            ("detection limit", words.limits),
            ("width / least width", words.widths),
        ):
            if values:
                yield Row(case, "dither", metric, round(float(np.mean(values)), 4))


def word_goals(seen: dict[str, Words]) -> Iterator[Goal]:
    found = [one for words in seen.values() for one in words.found]
    false = [one for words in seen.values() for one in words.false]
    held = [one for words in seen.values() for one in words.held]
    worst = min(float(np.mean(words.found)) for words in seen.values())
    yield at_least("new words: found at the limit", 0.8, float(np.mean(found)))
    yield at_least("new words: found at the limit, worst", 0.7, worst)
    yield at_most("new words: false among found", 0.055, float(np.mean(false)))
    yield at_least("new words: intervals hold the truth", 0.94, float(np.mean(held)))


def run() -> Report:
    few, many = (100, 1000, 10_000), (2000, 20_000, 100_000)
    exact = [
        means("mean, once", (*few, 100_000)),
        means("mean, one bit", few, 1),
        variances(few),
        tables("attribute", many[:2], ONE_WAY),
        tables("two-way table", many[:2], TWO_WAY),
    ]
    pooled = means(f"mean, one bit, {PERIODS} periods", few, PERIODS)
    upto, quantiles = distributions(many)
    words = new_words()
    studies = (*exact, pooled, upto, quantiles)
    rows = [row for study in studies for row in study.rows()]
    goals = [goal for study in studies for goal in study.goals()]
    goals += [close(study) for study in (*exact, pooled, upto)]
    rows += word_rows(words)
    goals += word_goals(words)
    return Report(tuple(rows), tuple(goals), NOTES, versions("dither", "numpy"))
