"""A census: how far off each level is, what whole counts are biased by, how often
intervals hold the truth, how long 200,000 blocks take; ranges beside flat counts;
rebuilding people from tables, before and after.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from bench.census.country import CASE, NAMES, RHO, SIZES, Country, released
from bench.census.coverage import coverage, coverage_goals, coverage_rows
from bench.census.errors import (
    ERROR,
    FITTED,
    REPEATS,
    WHOLE,
    error_goals,
    error_rows,
    errors,
    stated_rows,
)
from bench.census.reconstruction import reconstruction
from bench.harness import (
    Goal,
    Report,
    Row,
    at_least,
    at_most,
    cpu_seconds,
    versions,
)
from dither.mechanisms import Gaussian
from dither.mechanisms.sums import noise_variance
from dither.mechanisms.tree import Tree as Flat
from dither.science import census
from dither.science.census.fitting import fit
from dither.science.census.ranges import ranges
from dither.science.census.whole import whole

NUMPY = "numpy, floats"
RANGES = "4,096 values, ε = 0.1"
NOTES = (
    "Two fifths of the blocks are empty, and the others have sizes of a lognormal law. "
    f"Errors are over {REPEATS} releases. The cost is split evenly over five levels of "
    "totals; with exact states over the three below them, for neighbours that replace a "
    "person (√2 more noise), which is why their errors below are not smaller.",
    "Each level alone has noise of deviation 2.25. A prototype with two passes reported "
    "0.07 and 1.9 for the nation and the ten states. Those are single draws of 1 and 10 "
    "numbers, and not expected errors: these are 2.1, which no linear unbiased estimate "
    "from the same measurements beats.",
    "Coverage is the share of 95 % intervals that hold the truth, from the public "
    "function. Whole counts are biased, and have no intervals of their own: those of the "
    "unbiased counts are shown beside them.",
    "Ranges: root mean squared error over 400 random ranges, from exact variances, and "
    "drawn.",
    f"{NUMPY}: np.bincount for each level and numpy's normal noise, without fitting.",
)


def speed(country: Country) -> Iterator[Row]:
    """CPU seconds; the second run counts, the first finds memory never touched."""
    random = np.random.default_rng(2)  # allowed: what numpy's own noise costs
    blocks = np.repeat(country.places["block"], country.counts)
    places = [np.repeat(country.places[name], country.counts) for name in NAMES]

    def plain() -> None:
        for one, size in zip(places, SIZES, strict=True):
            counts = np.bincount(one, minlength=size)
            counts + random.normal(0, 2.236, size)

    def counted() -> None:
        noise = Gaussian(sensitivity=1, rho=RHO / len(SIZES))
        leaves = np.bincount(blocks, minlength=SIZES[-1])
        levels = country.tree.counts_up(leaves[:, None])
        measured = [[noise.release(one)] for one in levels]
        variances = [[noise_variance(noise)]] * len(SIZES)
        fit(country.tree, (), [()], measured, variances)

    found, _, exact = released(country, states=True)
    calls: dict[tuple[str, str], Callable[[], Any]] = {
        (NUMPY, "bincount and noise"): plain,
        (FITTED, "bincount, noise and fit"): counted,
        (FITTED, "noise and fit"): lambda: released(country, states=False),
        (WHOLE, "whole counts from a fit"): lambda: whole(found, exact),
    }
    for (system, what), call in calls.items():
        used = min(cpu_seconds(call) for _ in range(3))
        yield Row(CASE, system, f"CPU seconds, {what}", round(used, 4))
    yield public(country, places)


def public(country: Country, places: list[Any]) -> Row:
    """The public function, from one row for each person."""
    keys = census.geography(country.places, levels=list(NAMES))
    people = dict(zip(NAMES, places, strict=True))
    used = cpu_seconds(lambda: census.release(people, keys=keys, rho=RHO))
    what = "CPU seconds, census.release from one row for each person"
    return Row(CASE, FITTED, what, round(used, 3))


def speed_goals(rows: list[Row]) -> Iterator[Goal]:
    found = {(row.system, row.metric): row.value for row in rows}
    mine = found[FITTED, "CPU seconds, bincount, noise and fit"]
    yield at_most("200,000 blocks: count, noise and fit, CPU seconds", 0.5, mine)


def range_rows() -> Iterator[Row]:
    random = np.random.default_rng(3)  # allowed: made-up values
    values = np.clip(random.normal(2000, 700, 200_000), 0, 4095).astype(int)
    ends = np.sort(random.integers(0, 4097, (400, 2)), axis=1)
    place = np.arange(4096)
    weights = (place >= ends[:, :1]) & (place < ends[:, 1:])
    truth = weights @ np.bincount(values, minlength=4096)
    for branching in (4096, 2, 4, 8, 16, 64):
        tree = Flat(4096, branching, root=False)
        one = ranges(values, domain=range(4096), branching=branching, epsilon=0.1)
        assert one.noise_of is not None
        each = noise_variance(one.noise_of)
        exact = math.sqrt(each * float(tree.variance(weights.astype(float)).mean()))
        name = "flat" if branching == 4096 else f"dither, branching {branching}"
        yield Row(RANGES, name, ERROR, round(exact, 1))
        drawn = [
            np.mean((weights @ _again(values, branching) - truth) ** 2)
            for _ in range(20)
        ]
        yield Row(RANGES, name, f"{ERROR}, drawn", round(math.sqrt(np.mean(drawn)), 1))


def _again(values: Any, branching: int) -> Any:
    return ranges(values, domain=range(4096), branching=branching, epsilon=0.1).value


def range_goals(rows: list[Row]) -> Iterator[Goal]:
    found = {row.system: row.value for row in rows if row.metric == ERROR}
    flat, tree = found["flat"], found["dither, branching 16"]
    assert flat is not None
    assert tree is not None
    yield at_least("error of flat ranges over that of a tree", 3, round(flat / tree, 2))


def run() -> Report:
    country = Country()
    fast = list(speed(country))
    exact = [*error_rows(errors(country)), *stated_rows(country)]
    long = list(range_rows())
    seen = list(coverage())
    attacked, held = reconstruction()
    rows = (*exact, *fast, *long, *coverage_rows(seen), *attacked)
    goals = (
        *error_goals(exact),
        *speed_goals(fast),
        *range_goals(long),
        *coverage_goals(seen),
        *held,
    )
    return Report(rows, goals, NOTES, versions("dither", "numpy"))
