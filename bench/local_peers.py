"""Means, quantiles, two-way tables and new words from devices, beside what users of
diffprivlib, pure-ldp and multi-freq-ldpy do, at equal ε and n.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.harness import Goal, Report, Row, at_least, at_most, versions
from bench.local_numbers import LETTERS, LEVELS, population
from bench.peers import PEERS, Worker
from dither import local
from dither.local.attributes import Attributes
from dither.local.domain import Domain
from dither.local.numbers import DISTRIBUTION, Numbers
from dither.local.oracles import Mean
from dither.local.vocabulary import Vocabulary

Whole = NDArray[np.int64]

OURS, PURE, MULTI, IBM = "dither", "pure-ldp", "multi-freq-ldpy", "diffprivlib"
EPSILONS = (1.0, 4.0)
MEANS, N, TABLES, WORDS = 2_000, 10_000, 10_000, 20_000
LEAVES, VALUES, NAMES, LONGEST = 256, 4, 4, 6
TRIALS = 3
MEAN_TRIALS = 40
TOP_WORDS = 10
FOUND, FALSE = "found of ten", "false ones"
ALIKE = 1.1  # a few trials are off by that by chance
NOTES = (
    f"Means: {MEANS:,} devices with numbers of a lognormal law, cut to a range of one. "
    "diffprivlib: each device adds Laplace noise to its number. Closed forms: the worst "
    "variance of Duchi's, the piecewise and the hybrid mechanism over real numbers, and "
    "that of Dither's integers on a grid.",
    f"Quantiles: {N:,} devices, a lognormal law on {LEAVES} numbers. pure-ldp: optimized "
    "unary encoding of the number, shares added up; the first number that reaches the "
    "level. Errors are root mean squares, as parts of the range.",
    f"Tables: {TABLES:,} devices, {NAMES} attributes of {VALUES} values, so six tables. "
    "multi-freq-ldpy: each device samples one of the pairs (SMP, k-ary response); its "
    "shares are cut at zero and scaled, which lowers their error and biases them. "
    "pure-ldp: optimized unary encoding of every pair, with a sixth of ε each.",
    f"Words: {WORDS:,} devices, six letters of 26; ten words have 2 to 20 % each, and "
    "the others are different. Peers are told to look for ten, and show ten, true or "
    "false; Dither is not told, and shows what is there beyond chance, with at most 5 % "
    "false ones among it. Not found counts as a share of zero.",
    "pure-ldp's SFP is left out of the table: it runs (its alphabet must be a set), and "
    "takes 100 s for one trial. In one trial at ε = 4 it showed five words, four of them "
    "true.",
    "pure-ldp's PEM over its default oracle (OLH) is left out: its server goes through "
    "all fragments, up to 26⁶ of them, for each message. Here it has a count-mean sketch.",
)


def mean_rows(worker: Worker) -> Iterator[Row]:
    values = population("lognormal", MEANS, 1000) / 1000
    truth = float(values.mean())
    for epsilon in (0.5, *EPSILONS, 2.0):
        case = f"mean, ε = {epsilon:g}"
        task = local.task(
            "bench", domain=Numbers(0, 1, 0.001), epsilon=epsilon, n=MEANS
        )
        assert isinstance(task.oracle, Mean)
        ours, theirs = [], []
        for _ in range(MEAN_TRIALS):
            ours.append(task.tally(task.randomize(values)).estimate().value - truth)
            listed = values.tolist()
            theirs.append(worker.ask(values=listed, epsilon=epsilon) - truth)
        yield Row(case, OURS, "error", root(ours))
        yield Row(case, IBM, "error", root(theirs))
        yield Row(case, OURS, "worst variance · n", round(task.oracle.worst, 4))
        for name, variance in closed(epsilon).items():
            yield Row(case, name, "worst variance · n", round(variance, 4))


def closed(epsilon: float) -> dict[str, float]:
    """Worst variances of one message, for numbers from 0 to 1."""
    whole, half = math.exp(epsilon), math.exp(epsilon / 2)
    duchi = ((whole + 1) / (whole - 1)) ** 2 / 4
    piecewise = (1 / (half - 1) + (half + 3) / (3 * (half - 1) ** 2)) / 4
    hybrid = duchi
    if epsilon > 0.61:
        mixed = (half + 3) / (3 * half * (half - 1)) / 4
        hybrid = mixed + duchi / half
    laplace = 2 / epsilon**2
    names = ("Duchi", "piecewise", "hybrid", "Laplace")
    found = (duchi, piecewise, hybrid, laplace)
    return {
        f"{name} (closed form)": one for name, one in zip(names, found, strict=True)
    }


def root(errors: Any) -> float:
    return round(float(np.sqrt(np.mean(np.square(errors)))), 6)


def quantile_rows(worker: Worker) -> Iterator[Row]:
    values = population("lognormal", N, LEAVES - 1)
    truth = np.array([values[math.ceil(level * N) - 1] for level in LEVELS])
    shares = np.searchsorted(values, np.arange(LEAVES), side="right") / N
    for epsilon in EPSILONS:
        numbers = Numbers(0, LEAVES - 1, ask=DISTRIBUTION)
        task = local.task("bench", domain=numbers, epsilon=epsilon, n=N)
        errors: dict[str, list[Any]] = {OURS: [], PURE: []}
        sums: dict[str, list[Any]] = {OURS: [], PURE: []}
        for _ in range(TRIALS):
            found = task.tally(task.randomize(values)).estimate()
            errors[OURS].append([found.quantile(one).value for one in LEVELS] - truth)
            sums[OURS].append(found.known.up_to - shares)
            request = {"items": LEAVES, "epsilon": epsilon, "values": values.tolist()}
            theirs = np.cumsum(worker.ask(ask="histogram", **request))
            places = [int(np.argmax(theirs >= one)) for one in LEVELS]
            errors[PURE].append(places - truth)
            sums[PURE].append(theirs - shares)
        for name in (OURS, PURE):
            case = f"distribution, ε = {epsilon:g}"
            yield Row(case, name, "error of quantiles", root(errors[name]) / LEAVES)
            yield Row(case, name, "error of shares up to a number", root(sums[name]))


def table_rows(pure: Worker, multi: Worker) -> Iterator[Row]:
    random = np.random.default_rng(4)
    law = 1 / np.arange(1, VALUES + 1)
    base = random.choice(VALUES, TABLES, p=law / law.sum())
    columns = [
        (base + random.integers(0, 2, TABLES) * one) % VALUES for one in range(NAMES)
    ]
    names = [f"a{number}" for number in range(NAMES)]
    pairs = [columns[a] * VALUES + columns[b] for a, b in combinations(range(NAMES), 2)]
    size = VALUES**2
    truth = np.array([np.bincount(pair, minlength=size) / TABLES for pair in pairs])
    fields = tuple((name, Domain(range(VALUES), none=False)) for name in names)
    request = {"columns": [one.tolist() for one in pairs], "items": [size] * len(pairs)}
    for epsilon in EPSILONS:
        domain = Attributes(fields, pairs=True)
        task = local.task("bench", domain=domain, epsilon=epsilon, n=TABLES)
        errors: dict[str, list[Any]] = {OURS: [], PURE: [], MULTI: []}
        consistent: list[Any] = []
        for _ in range(TRIALS):
            rows = dict(zip(names, columns, strict=True))
            tally = task.tally(task.randomize(rows))
            found = [tally.estimate(pair) for pair in combinations(names, 2)]
            errors[OURS].append(np.array([one.value for one in found]) - truth)
            nearest = [one.consistent().value for one in found]
            consistent.append(np.array(nearest) - truth)
            theirs = pure.ask(ask="tables", epsilon=epsilon, **request)
            errors[PURE].append(np.array(theirs) - truth)
            theirs = multi.ask(epsilon=epsilon, **request)
            errors[MULTI].append(np.array(theirs) - truth)
        case = f"two-way tables, ε = {epsilon:g}"
        for name, seen in errors.items():
            yield Row(case, name, "error of cells", root(seen))
        yield Row(case, f"{OURS}, consistent", "error of cells", root(consistent))


def word_rows(worker: Worker) -> Iterator[Row]:
    random = np.random.default_rng(8)
    for epsilon in (2.0, 4.0):
        vocabulary = Vocabulary(LETTERS, LONGEST, 2)
        task = local.task("bench", domain=vocabulary, epsilon=epsilon, n=WORDS)
        seen: dict[str, list[Any]] = {}
        for _ in range(TRIALS):
            truth, values = _words(random)
            found = task.tally(task.randomize(values)).estimate()
            ours = dict(zip(found.keys, found.value.tolist(), strict=True))
            seen.setdefault(OURS, []).append(_judged(truth, ours))
            request = {"values": values, "alphabet": LETTERS, "longest": LONGEST}
            for way in ("PEM", "TreeHistogram"):
                more = {"epsilon": epsilon, "most": TOP_WORDS, "way": way}
                theirs = worker.ask(ask="words", **request, **more)
                seen.setdefault(f"{PURE}, {way}", []).append(_judged(truth, theirs))
        for name, rows in seen.items():
            found_of, false, error = np.mean(rows, axis=0).tolist()
            case = f"new words, ε = {epsilon:g}"
            yield Row(case, name, FOUND, found_of)
            yield Row(case, name, FALSE, false)
            yield Row(case, name, "error of the ten shares", error)


def _words(random: np.random.Generator) -> tuple[dict[str, float], list[str]]:
    def word() -> str:
        return "".join(random.choice(list(LETTERS), LONGEST))

    counts = [WORDS // (5 * rank) for rank in range(1, TOP_WORDS + 1)]
    wanted = {word(): count for count in counts}
    values = [one for one, count in wanted.items() for _ in range(count)]
    values += [word() for _ in range(WORDS - len(values))]
    return {one: count / WORDS for one, count in wanted.items()}, values


def _judged(truth: dict[str, float], found: dict[str, float]) -> list[float]:
    """How many are found, how many found ones are false, and how far off shares are."""
    right = [one for one in found if one in truth]
    errors = [found.get(one, 0.0) - share for one, share in truth.items()]
    return [float(len(right)), float(len(found) - len(right)), root(errors)]


def run() -> Report:
    rows: list[Row] = []
    with (
        Worker(IBM, "local_answers_diffprivlib") as laplace,
        Worker(PURE, "local_answers_pure_ldp") as pure,
        Worker(MULTI, "local_answers_multi_freq") as multi,
    ):
        rows += mean_rows(laplace)
        rows += quantile_rows(pure)
        rows += table_rows(pure, multi)
        rows += word_rows(pure)
    pinned = {
        name: version
        for peer in (IBM, PURE, MULTI)
        for name, _, version in [PEERS[peer].requirements[0].partition("==")]
    }
    return Report(tuple(rows), tuple(_goals(rows)), NOTES, versions("dither") | pinned)


def _goals(rows: list[Row]) -> Iterator[Goal]:
    """Errors beside the smallest of all peers; of words, true ones less false ones."""
    for case in dict.fromkeys(row.case for row in rows):
        of = {
            (row.metric, row.system): float(row.value or 0.0)
            for row in rows
            if row.case == case
        }
        systems = [name for _, name in of if not name.startswith(OURS)]
        for metric in dict.fromkeys(metric for metric, _ in of):
            if metric.startswith("error"):
                known = [of[metric, one] for one in systems if (metric, one) in of]
                mine = min(
                    of[key] for key in of if key[0] == metric and key[1][:6] == OURS
                )
                ratio = round(mine / min(known), 4)
                yield at_most(f"{case}: {metric}, over the best peer's", ALIKE, ratio)
        if case.startswith("new words"):
            less = {one: of[FOUND, one] - of[FALSE, one] for one in (OURS, *systems)}
            best = max(less[one] for one in systems)
            yield at_least(f"{case}: found, less false ones", best, less[OURS])
