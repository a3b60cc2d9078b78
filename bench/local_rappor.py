"""RAPPOR: how close decoded shares are to the truth, beside google/rappor's decoder,
how often intervals hold, and how long 10,000,000 messages take.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bench.harness import Goal, Report, Row, at_least, at_most, cpu_seconds, versions
from dither.local.rappor.bloom import text_of
from dither.local.rappor.decode import Decoded, decode
from dither.local.rappor.oracle import Rappor
from dither.local.words import FRESH, ONE

Reals = NDArray[np.float64]
Whole = NDArray[np.int64]

CLIENTS, VALUES, EXTRA = 1_000_000, 100, 20
RUNS = 40
GOOGLE = {"unif": 0.255, "exp": 0.176, "gauss": 0.201, "zipf1": 0.183, "zipf1.5": 0.115}
"""Total variation of google/rappor's decoder, of one run with another seed."""
MESSAGES, CANDIDATES = 10_000_000, 300
NOTES = (
    "google/rappor's regression test: 1,000,000 clients, 100 values, 8 cohorts of 128 "
    "bits, h = 2, p = 0.39, q = 0.61, f = 0.45. The list of candidates lacks every "
    "tenth value and has 20 that nobody holds.",
    "Total variation is half the sum of |true − estimated| over true values and "
    "candidates; a value that is not estimated counts as estimated 0, as in "
    "google/rappor's compare_dist.R. That decoder shows what it detects; 'found only' "
    "leaves out what Dither does not find, too.",
    f"Dither's figures are means of {RUNS} runs. The figures of google/rappor's "
    "decoder (R) are from one run of its own code, with limSolve's solver replaced by "
    "quadprog's.",
    "Tallies are simulated from their exact law: given who holds what, bits are "
    "independent.",
)


def distribution(name: str, size: int = VALUES) -> Reals:
    """The five distributions of google/rappor's regression test."""
    at = np.arange(1, size + 1, dtype=np.float64)
    weights = {
        "unif": np.ones(size),
        "exp": np.exp(-5 * at / size),
        "gauss": np.exp(-0.5 * ((at - size / 2) / (size / 6)) ** 2),
        "zipf1": 1 / at,
        "zipf1.5": at**-1.5,
    }[name]
    return np.asarray(weights / weights.sum())


def filters(oracle: Rappor, names: list[str]) -> Whole:
    """The bits of every name in every cohort: names × cohorts × bits."""
    items = oracle.encode([text_of(oracle.family, name) for name in names])
    rows = [
        oracle.filters(items, np.full(len(names), cohort))
        for cohort in range(oracle.cohorts)
    ]
    packed = np.stack(rows, axis=1)
    bits = np.unpackbits(packed, axis=2, count=oracle.bits, bitorder="little")
    return bits.astype(np.int64)


def simulated(
    oracle: Rappor,
    held: Whole,
    bits: Whole,
    random: np.random.Generator,
    periods: int = 1,
) -> Whole:
    """A tally of devices that hold each name so often and answer in each period."""
    even = np.full(oracle.cohorts, 1 / oracle.cohorts)
    spread = np.stack([random.multinomial(count, even) for count in held])
    devices = spread.sum(axis=0)
    ones = np.einsum("sc,scj->cj", spread, bits)
    thresholds = (oracle.flip, oracle.sent_one, oracle.sent_zero)
    flip, one, zero = (t / ONE for t in thresholds)
    zeros = devices[:, None] - ones
    kept = random.binomial(ones, 1 - flip) + random.binomial(zeros, flip)
    lost = devices[:, None] - kept
    said = random.binomial(periods * kept, one) + random.binomial(periods * lost, zero)
    return np.column_stack([periods * devices, said]).reshape(-1)


def variation(
    truth: dict[str, float], decoded: Decoded, *, all_shown: bool = True
) -> float:
    """Half the sum of differences, over all names; of candidates that were not found,
    the estimate or nothing is shown.
    """
    values = np.where(decoded.found | all_shown, decoded.frequency, 0.0)
    shown = dict(zip(decoded.names, values.tolist(), strict=True))
    names = truth.keys() | shown.keys()
    apart = [abs(truth.get(one, 0.0) - shown.get(one, 0.0)) for one in names]
    return float(sum(apart)) / 2


def regression(
    name: str, runs: int, random: np.random.Generator
) -> Iterator[tuple[dict[str, float], Decoded]]:
    """Runs of google/rappor's regression test."""
    oracle = Rappor.of(f=0.45, p=0.39, q=0.61)
    values = [f"v{i}" for i in range(1, VALUES + 1)]
    listed = [one for one in values if not one.endswith("9")]
    listed += [f"x{i}" for i in range(EXTRA)]
    bits = filters(oracle, values)
    for _ in range(runs):
        held = random.multinomial(CLIENTS, distribution(name))
        counts = simulated(oracle, held, bits, random)
        truth = dict(zip(values, (held / CLIENTS).tolist(), strict=True))
        yield truth, decode(oracle, counts, listed)


def held_share(truth: dict[str, float], decoded: Decoded) -> float:
    """How many intervals hold the true share."""
    true = np.array([truth.get(one, 0.0) for one in decoded.names])
    low, high = decoded.ends()
    return float(np.mean((low <= true) & (true <= high)))


def complete(
    periods: int, runs: int, random: np.random.Generator
) -> Iterator[tuple[dict[str, float], Decoded]]:
    """A complete list: 80 names of Zipf's law and 20 that nobody holds."""
    oracle = Rappor.of(f=0.45, p=0.39, q=0.61)
    names = [f"w{i}" for i in range(100)]
    bits = filters(oracle, names)
    law = np.append(distribution("zipf1", 80), np.zeros(20))
    for _ in range(runs):
        held = random.multinomial(CLIENTS // periods, law)
        counts = simulated(oracle, held, bits, random, periods)
        truth = dict(zip(names, (held / held.sum()).tolist(), strict=True))
        yield truth, decode(oracle, counts, names, periods=periods)


def false_share(truth: dict[str, float], decoded: Decoded) -> float:
    nobody = np.array([truth.get(one, 0.0) == 0 for one in decoded.names])
    return float((decoded.found & nobody).sum() / max(decoded.found.sum(), 1))


def timed() -> tuple[float, float]:
    """CPU seconds to tally many messages, and to decode the tally."""
    oracle = Rappor.of(f=0.45, p=0.39, q=0.61)
    names = [f"V_{i}" for i in range(CANDIDATES)]
    items = oracle.encode([text_of(oracle.family, name) for name in names])
    law = distribution("exp", CANDIDATES)
    random = np.random.default_rng(1)
    records = np.concatenate(
        [
            oracle.randomize(items[random.choice(CANDIDATES, 1_000_000, p=law)], FRESH)
            for _ in range(MESSAGES // 1_000_000)
        ]
    )
    counts = np.empty(0, np.int64)

    def tally() -> None:
        nonlocal counts
        counts = oracle.tally(records[oracle.valid(records)])

    tallied = cpu_seconds(tally)
    return tallied, cpu_seconds(lambda: decode(oracle, counts, names))


def run() -> Report:
    rows: list[Row] = []
    goals: list[Goal] = []
    random = np.random.default_rng(20)
    for name, theirs in GOOGLE.items():
        found = list(regression(name, RUNS, random))
        ours = float(np.mean([variation(*one) for one in found]))
        rows += _rows(name, found, ours)
        rows.append(Row(name, "google/rappor (R)", "total variation", theirs))
        goals.append(at_most(f"total variation, {name}", theirs, round(ours, 4)))
    for periods in (1, 30):
        found = list(complete(periods, 2 * RUNS, random))
        held = float(np.mean([held_share(*one) for one in found]))
        false = float(np.mean([false_share(*one) for one in found]))
        case = f"complete list, {periods} period{'s' if periods > 1 else ''}"
        rows.append(Row(case, "dither", "intervals that hold", round(held, 4)))
        rows.append(Row(case, "dither", "false discoveries", round(false, 4)))
        goals.append(at_least(f"intervals that hold, {case}", 0.94, held))
        goals.append(at_most(f"intervals that hold, {case}", 0.96, held))
        goals.append(at_most(f"false discoveries, {case}", 0.05, false))
    tallied, decoded = timed()
    case = f"{MESSAGES:,} messages, {CANDIDATES} candidates"
    rows.append(Row(case, "dither", "CPU-s to tally", round(tallied, 3)))
    rows.append(Row(case, "dither", "CPU-s to decode", round(decoded, 3)))
    goals.append(at_most(f"CPU-s, {case}", 5, round(tallied + decoded, 3)))
    return Report(
        tuple(rows), tuple(goals), NOTES, versions("dither", "numpy", "scipy")
    )


def _rows(
    name: str, found: list[tuple[dict[str, float], Decoded]], ours: float
) -> Iterator[Row]:
    yield Row(name, "dither", "total variation", round(ours, 4))
    found_only = np.mean([variation(*one, all_shown=False) for one in found])
    yield Row(
        name, "dither, found only", "total variation", round(float(found_only), 4)
    )
    held = float(np.mean([held_share(*one) for one in found]))
    yield Row(name, "dither", "intervals that hold", round(held, 4))
    false = float(np.mean([false_share(*one) for one in found]))
    yield Row(name, "dither", "false discoveries", round(false, 4))
    count = float(np.mean([decoded.found.sum() for _, decoded in found]))
    yield Row(name, "dither", "candidates found", round(count, 1))
