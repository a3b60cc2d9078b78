"""Allele frequencies, top variants and attacks on them: error, coverage, recall, speed
and memory, against the textbook's way.
"""

from __future__ import annotations

import math
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.harness import Goal, Report, Row, at_least, at_most, cpu_seconds, versions
from dither import Budget, TopK, Unit
from dither.audit import attacks
from dither.audit.attacks.roc import Allowed
from dither.noise import discrete_laplace, rounded_gaussian
from dither.science import genomes
from dither.science.genomes.association import sensitivity
from dither.science.genomes.clusters import Roster
from dither.science.genomes.matrix import Matrix
from dither.science.genomes.panel import Panel

Reals = NDArray[np.float64]
Table = NDArray[np.int8]

PERSON = Unit("person")
NOTES = (
    "Frequencies: 1,000 people, variants of frequencies between 0.05 and 0.95, root mean "
    "square error of the released value. The naive way adds noise to the plain sum of "
    "copies (sensitivity 2 for each variant), as if no call was missing.",
    "Coverage: 95 % intervals of the frequency among those called, 20,000 variants each, "
    "a fifth of which all or none carry; the worst of four costs.",
    "Top variants: 5,000 variants, 1,000 cases and 1,000 controls, frequencies between "
    "0.1 and 0.5, ten of them 0.12 higher among cases; the truth is the exact top ten by "
    "allelic χ². Uncentred scores have sensitivity 2; χ² has the proved one.",
    "Membership: 400 people of one population, a coin each decides who is in the study; "
    "20,000 variants; five releases each. The bound is Φ(μ/√2). Errors are over people, "
    "the mean of five releases.",
    "Speed: an int8 matrix in memory, CPU seconds of one process. numpy sums copies and "
    "counts calls without clusters, and would count a missing call as -1 copies.",
    "Memory: the peak of a process that counts VCF-Zarr in chunks of 1,000 variants.",
)


def cohort(people: int, variants: int, missing: float, source: Any) -> Table:
    frequencies = source.uniform(0.05, 0.95, variants)
    drawn = source.binomial(2, frequencies, (people, variants)).astype(np.int8)
    drawn[source.random((people, variants)) < missing] = -1
    return np.asarray(drawn)


def frequency(table: Table) -> Reals:
    called = (table >= 0).sum(axis=0)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(table > 0, table, 0).sum(axis=0) / (2 * called))


def names(count: int) -> list[str]:
    return [f"rs{number}" for number in range(count)]


def error(value: Any, truth: Reals) -> float:
    return float(np.sqrt(np.nanmean((np.asarray(value) - truth) ** 2)))


def naive(table: Table, cost: dict[str, float]) -> Reals:
    """The textbook's way: the plain sum, and noise for 2 at each variant."""
    people, variants = table.shape
    total = np.where(table > 0, table, 0).sum(axis=0, dtype=np.int64)
    if "rho" in cost:
        noise = rounded_gaussian(2 * math.sqrt(variants / (2 * cost["rho"])), variants)
    else:
        noise = discrete_laplace(2 * variants / cost["epsilon"], variants)
    return np.asarray(np.clip((total + noise) / (2 * people), 0, 1))


def errors() -> Iterator[Row]:
    source = np.random.default_rng(1)
    for variants, cost, missing in (
        (10, {"epsilon": 1.0}, 0.0),
        (10, {"epsilon": 1.0}, 0.1),
        (100, {"rho": 0.02}, 0.0),
        (100, {"rho": 0.02}, 0.1),
        (1000, {"rho": 0.5}, 0.1),
    ):
        table = cohort(1000, variants, missing, source)
        truth = frequency(table)
        told = ", ".join(f"{name}={value:g}" for name, value in cost.items())
        case = f"{variants} variants, {told}, {missing:.0%} missing"
        seen: dict[str, list[float]] = {"naive": []}
        for _ in range(max(20, 4000 // variants)):
            seen["naive"].append(error(naive(table, cost), truth))
            for calls in ("counted", "complete"):
                found = genomes.frequencies(
                    table,
                    panel=names(variants),
                    samples=1000,
                    calls=calls,
                    coarse=True,
                    **cost,  # type: ignore[arg-type]
                )
                key = f"dither, calls {calls}"
                seen.setdefault(key, []).append(error(found.value, truth))
        for system, figures in seen.items():
            square = math.sqrt(float(np.mean(np.square(figures))))
            yield Row(case, system, "root mean square error", round(square, 5))


def coverage() -> Iterator[Row]:
    """The worst over costs, for tiny and larger clusters."""
    source = np.random.default_rng(2)
    variants = 20_000
    for missing in (0.0, 0.1, 0.5):
        for size in (1, 2, 3, 5, 50, 500):
            table = cohort(size, variants, missing, source)
            table[:, :2000] = np.where(table[:, :2000] < 0, -1, 0)
            table[:, 2000:4000] = np.where(table[:, 2000:4000] < 0, -1, 2)
            truth = frequency(table)
            held = []
            for cost in (
                {"rho": 100.0},
                {"rho": 3e5},
                {"epsilon": 2e4},
                {"epsilon": 4e5},
            ):
                found = genomes.frequencies(
                    table,
                    panel=names(variants),
                    samples=size,
                    coarse=True,
                    **cost,  # type: ignore[arg-type]
                )
                low, high = found.interval()
                known = np.isfinite(truth)
                inside = (low <= truth + 1e-12) & (truth <= high + 1e-12)
                held.append(float(inside[known].mean()))
            case = f"cluster of {size}, {missing:.0%} missing"
            yield Row(case, "dither", "intervals hold (95 %)", round(min(held), 4))


def simulated(source: Any) -> tuple[Table, Table]:
    low = source.uniform(0.1, 0.5, 5000)
    high = low.copy()
    high[source.choice(5000, 10, replace=False)] += 0.12
    cases = source.binomial(2, high, (1000, 5000)).astype(np.int8)
    return cases, source.binomial(2, low, (1000, 5000)).astype(np.int8)


def chi2(cases: Table, controls: Table) -> Reals:
    x, y = cases.sum(axis=0, dtype=float), controls.sum(axis=0, dtype=float)
    r, s = len(cases), len(controls)
    below = r * s * (x + y) * (2 * (r + s) - x - y)
    return np.asarray(2 * (r + s) * (s * x - r * y) ** 2 / below)


def recall() -> Iterator[Row]:
    epsilons = (1.0, 3.0, 10.0)
    systems = ("dither", "allele difference, uncentred", "exponential on χ²")
    seen: dict[tuple[str, float], list[float]] = {}
    moved = float(sensitivity(1000, 1000, 2))
    for seed in range(20):
        cases, controls = simulated(np.random.default_rng(100 + seed))
        statistic = chi2(cases, controls)
        best = {int(at) for at in np.argsort(-statistic)[:10]}
        apart = abs(cases.sum(axis=0, dtype=int) - controls.sum(axis=0, dtype=int))
        table, case = np.vstack([cases, controls]), [1] * 1000 + [0] * 1000
        for epsilon in epsilons:
            found = genomes.top_snps(
                table, case, 10, panel=names(5000), epsilon=epsilon
            )
            chosen: tuple[Any, ...] = (
                [int(name[2:]) for name in found.variants],
                TopK(k=10, sensitivity=2, epsilon=epsilon).release(apart),
                TopK(k=10, sensitivity=moved, epsilon=epsilon).release(statistic),
            )
            for system, places in zip(systems, chosen, strict=True):
                share = len(best & {int(at) for at in places}) / 10
                seen.setdefault((system, epsilon), []).append(share)
    for (system, epsilon), shares in seen.items():
        yield Row(f"top 10, ε = {epsilon:g}", system, "recall", float(np.mean(shares)))


def membership() -> tuple[list[Row], list[Goal]]:
    source = np.random.default_rng(3)
    people, variants = 400, 20_000
    background = source.uniform(0.1, 0.9, variants)
    table = source.binomial(2, background, (people, variants)).astype(np.int8)
    inside = source.random(people) < 0.5
    members, others = table[inside], table[~inside]
    hidden = np.where(inside[:, None], table, np.int8(-1))

    def area(published: Any) -> tuple[float, float]:
        found = attacks.membership(published, members, others, reference=background)
        return found.area, found.roc.standard_error

    exact = area(frequency(members))[0]
    rows = [Row("membership", "exact frequencies", "area under ROC", round(exact, 4))]
    goals = [at_least("membership attack on exact frequencies: area", 0.99, exact)]
    for epsilon in (1.0, 10.0, 100.0):
        seen: dict[str, list[tuple[float, float]]] = {}
        for _ in range(5):
            budget = Budget(epsilon=2 * epsilon, delta=1e-6, unit=PERSON)
            found = genomes.frequencies(
                hidden,
                panel=names(variants),
                samples=people,
                epsilon=epsilon,
                budget=budget,
                coarse=True,
            )
            low, high = found.interval()
            for kind, published in (("value", found), ("low", low), ("high", high)):
                seen.setdefault(kind, []).append(area(published))
        bound = Allowed(found.guarantee).area
        case = f"membership, ε = {epsilon:g}, δ = 1e-6"
        for kind, areas in seen.items():
            mean, spread = np.mean(areas, axis=0).tolist()
            rows.append(Row(case, f"release, {kind}", "area under ROC", round(mean, 4)))
            name = f"{case}: area on {kind} less bound less 3 standard errors"
            goals.append(at_most(name, 0.0, round(mean - bound - 3 * spread, 4)))
        rows.append(Row(case, "bound Φ(μ/√2)", "area under ROC", round(bound, 4)))
    return rows, goals


def handful() -> Iterator[Row]:
    source = np.random.default_rng(4)
    frequencies = source.uniform(0.1, 0.9, 32)
    table = source.binomial(2, frequencies, (2000, 32)).astype(np.int8)
    members, others = table[:1000], table[1000:]
    released = genomes.frequencies(
        members, panel=names(32), samples=1000, rho=0.1, coarse=True
    )
    for system, published in (("exact table", members), ("release", released)):
        found = attacks.markers(published, members, others)
        for at, count in enumerate(found.counts):
            case = f"{count} markers known"
            yield Row(case, system, "members matched", round(found.matched[at], 4))
            yield Row(case, system, "outsiders matched", round(found.mistaken[at], 4))


def summed(table: Table) -> tuple[Any, Any]:
    return table.sum(axis=0, dtype=np.int64), (table >= 0).sum(axis=0)


def speed() -> tuple[list[Row], list[Goal]]:
    source = np.random.default_rng(5)
    people, variants = 1000, 1_000_000
    panel, all_of = Panel.of(names(variants)), Roster.of(None, people)
    five = Roster.of([f"c{at % 5}" for at in range(people)], None)
    rows, goals = [], []
    for order in ("people by variants", "variants by people"):
        shape = (people, variants) if order[0] == "p" else (variants, people)
        held = source.integers(-1, 3, shape, dtype=np.int8)
        table = held if order[0] == "p" else held.T
        case = f"1e6 variants, 1e3 people, {order} in memory"
        raw = cpu_seconds(partial(summed, table))
        rows.append(Row(case, "numpy: sum and calls", "CPU seconds", round(raw, 2)))
        for name, roster in (("one cluster", all_of), ("five clusters", five)):
            took = cpu_seconds(partial(Matrix(table).count, panel, roster))
            rows.append(Row(case, f"dither, {name}", "CPU seconds", round(took, 2)))
            goals.append(at_most(f"{case}, {name}: CPU seconds", 3.0, round(took, 2)))
    return rows, goals


WRITE = """
import sys, numpy as np, zarr
path, variants, people = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
group = zarr.create_group(store=path, zarr_format=2)
calls = group.create_array(
    "call_genotype", shape=(variants, people, 2), dtype="i1", chunks=(1000, people, 2)
)
source = np.random.default_rng(0)
for start in range(0, variants, 1000):
    calls[start : start + 1000] = source.integers(0, 2, (1000, people, 2), dtype="i1")
text = np.dtypes.StringDType()
ids = np.array([f"rs{at}" for at in range(variants)], text)
group.create_array("variant_id", data=ids, chunks=(1000,))
group.create_array("sample_id", data=np.array([f"s{at}" for at in range(people)], text))
"""
READ = """
import sys
from pathlib import Path
from dither.science.genomes.clusters import Roster
from dither.science.genomes.panel import Panel
from dither.science.genomes.reading import genotypes
path, variants, people = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
panel = Panel.of([f"rs{at}" for at in range(0, variants, variants // 1000)])
roster = Roster.of(None, [f"s{at}" for at in range(people)])
def peak():
    # since this program began: getrusage would count what forked it as well
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if "VmHWM" in line)
before = peak()
assert genotypes(path).count(panel, roster).called.min() == people
print(before, peak())
"""


def memory() -> tuple[list[Row], Goal]:
    people, rows = 1000, []
    peaks: list[float] = []
    sizes: list[float] = []
    for variants in (10_000, 80_000):
        with tempfile.TemporaryDirectory() as folder:
            store = str(Path(folder) / "cohort.vcz")
            told = [store, str(variants), str(people)]
            subprocess.run([sys.executable, "-c", WRITE, *told], check=True)
            command = [sys.executable, "-c", READ, *told]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
        before, peak = map(float, done.stdout.split())
        peaks.append(peak)
        sizes.append(2 * variants * people / 2**20)
        case = f"VCF-Zarr of {variants:,} variants, {people:,} people"
        rows.append(Row(case, "before it reads", "peak memory (MB)", round(before)))
        rows.append(Row(case, "dither", "peak memory (MB)", round(peak)))
        rows.append(Row(case, "calls unpacked", "size (MB)", round(sizes[-1])))
    grown = (peaks[1] - peaks[0]) / (sizes[1] - sizes[0])
    name = "VCF-Zarr of 8 times the variants: growth of the peak over that of the calls"
    return rows, at_most(name, 0.1, round(grown, 3))


def run() -> Report:
    accuracy, intervals, found = list(errors()), list(coverage()), list(recall())
    attacked, kept = membership()
    fast, quick = speed()
    streamed, flat = memory()
    least = min(row.value or 0.0 for row in intervals)
    goals = (
        at_least("95 % intervals hold the frequency, worst case", 0.945, least),
        at_least("recall of the top 10 at ε = 3", 0.98, _of(found, "top 10, ε = 3")),
        *kept,
        *quick,
        flat,
    )
    rows = (*accuracy, *intervals, *found, *attacked, *handful(), *fast, *streamed)
    return Report(rows, goals, NOTES, versions("numpy", "zarr", "dither"))


def _of(rows: list[Row], case: str) -> float | None:
    return next(row.value for row in rows if row.case == case)
