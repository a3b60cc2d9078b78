"""The power of rank tests, beside published private ones."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from bench.harness import Row
from bench.trials.rank_noise import UNITS, Reals, draws, law_of, rate
from dither.science import trials
from dither.science.trials.kruskal_wallis import Arms
from dither.science.trials.rank_nulls import signed_null, wins_null

POWERED = 40_000
POWER = "power"


def ranked(values: Reals) -> Reals:
    return np.asarray(values.argsort(axis=1).argsort(axis=1) + 1.0)


def all_wins(values: Reals, first: int) -> Reals:
    """Σ sign(xᵢ − yⱼ) of many trials without ties."""
    people = values.shape[1]
    sums = ranked(values)[:, :first].sum(axis=1)
    return np.asarray(2 * sums - first * (people + 1))


def folded(values: Reals, sizes: tuple[int, int], scale: float, seed: int) -> Reals:
    """min(U, n₁n₂ − U) with Laplace noise, as published."""
    found = all_wins(values, sizes[0])
    least_of_both = (math.prod(sizes) - np.abs(found)) / 2
    return np.asarray(least_of_both + draws(seed).laplace(0, scale, len(values)))


def couch_public(n: int, effect: float, epsilon: float) -> float:
    source, shift = draws(21), np.repeat((effect, 0.0), n)
    scale = n / epsilon
    null = folded(source.normal(size=(POWERED, 2 * n)), (n, n), scale, 22)
    found = folded(shift + source.normal(size=(POWERED, 2 * n)), (n, n), scale, 23)
    return float(np.mean(found < np.quantile(null, 0.05)))


def couch_private(n: int, effect: float, epsilon: float) -> float:
    source, shift = draws(24), np.repeat((effect, 0.0), n)
    rates = []
    for seed in range(40):
        share = 0.65 * epsilon
        noisy = n + source.laplace(0, 1 / share)
        few = max(0, round(min(noisy, 2 * n - noisy) - math.log(1e6) / share))
        sizes = few, 2 * n - few
        scale = max(sizes) / (0.35 * epsilon)
        null = folded(source.normal(size=(1_000, 2 * n)), sizes, scale, seed)
        values = shift + source.normal(size=(1_000, 2 * n))
        found = folded(values, (n, n), scale, 100 + seed)
        rates.append(np.mean(found < np.quantile(null, 0.05)))
    return float(np.mean(rates))


def shifted(n: int, effect: float, seed: int) -> Reals:
    values = draws(1000 + seed).normal(size=(POWERED, 2 * n))
    return all_wins(np.repeat((effect, 0.0), n) + values, n)


def power_of_two(n: int, effect: float, epsilon: float) -> Iterator[Row]:
    case = f"mannwhitneyu, {n} in each arm, effect {effect:g}, ε = {epsilon:g}"
    null = wins_null(n, n)
    law = law_of(null.sensitivity, epsilon)
    # the fewer people, the nearer is power to its goal: they get more trials
    found = np.concatenate(
        [shifted(n, effect, seed) for seed in range(max(1, 250 // n))]
    )
    plain = np.quantile(np.abs(shifted(n, 0.0, 99)), 0.95)
    power = rate(found, law, null.critical(law, 0.05, "two-sided"))
    planned = {"effect": effect, "n": n, "epsilon": epsilon}
    yield Row(case, "without privacy", POWER, float(np.mean(np.abs(found) > plain)))
    yield Row(case, "dither", POWER, power)
    yield Row(case, "dither, planned", POWER, trials.power("mannwhitneyu", **planned))
    for name in UNITS:
        got = trials.power("mannwhitneyu", **planned, private_sizes=True, relation=name)
        yield Row(case, f"dither, planned, private sizes, {name}", POWER, got)
    yield Row(case, "Couch et al. 2019", POWER, couch_public(n, effect, epsilon))
    got = couch_private(n, effect, epsilon)
    yield Row(case, "Couch et al. 2019, private sizes, δ = 1e-6", POWER, got)


def power_of_differences(n: int, effect: float, epsilon: float) -> Iterator[Row]:
    case = f"wilcoxon, {n} people, effect {effect:g}, ε = {epsilon:g}"
    null = signed_null(n)
    law = law_of(null.sensitivity, epsilon)
    values = effect + draws(27).normal(size=(POWERED, n))
    found = (np.sign(values) * ranked(np.abs(values))).sum(axis=1)
    signs = np.sign(draws(28).normal(size=values.shape))
    drawn = (signs * np.arange(1, n + 1)).sum(axis=1)
    plain = np.quantile(np.abs(drawn), 0.95)
    published = np.quantile(np.abs(drawn + noise(2 * n / epsilon, 29)), 0.95)
    theirs = np.abs(found + noise(2 * n / epsilon, 30)) >= published
    power = rate(found, law, null.critical(law, 0.05, "two-sided"))
    got = trials.power("wilcoxon", effect=effect, n=n, epsilon=epsilon)
    yield Row(case, "without privacy", POWER, float(np.mean(np.abs(found) > plain)))
    yield Row(case, "dither", POWER, power)
    yield Row(case, "dither, planned", POWER, got)
    for name in UNITS:
        words = {"private_sizes": True, "relation": name}
        got = trials.power("wilcoxon", effect=effect, n=n, epsilon=epsilon, **words)
        yield Row(case, f"dither, planned, private size, {name}", POWER, got)
    yield Row(case, "Couch et al. 2019", POWER, float(np.mean(theirs)))


def noise(scale: float, seed: int) -> Reals:
    return draws(seed).laplace(0, scale, POWERED)


def sums_of(values: Reals, sizes: tuple[int, ...]) -> Reals:
    scores = 2 * ranked(values) - (sum(sizes) + 1)
    return np.asarray(np.add.reduceat(scores, np.cumsum((0, *sizes[:-1])), axis=1))


def power_of_three(means: tuple[float, ...], n: int, epsilon: float) -> Iterator[Row]:
    sizes = (n,) * len(means)
    case = f"kruskal, means {means}, {n} in each arm, ε = {epsilon:g}"
    arms, people = Arms(sizes), n * len(means)
    law = law_of(arms.sensitivity, epsilon)
    values = draws(31).normal(size=(POWERED, people))
    none, found = sums_of(values, sizes), sums_of(values + np.repeat(means, n), sizes)
    roots = [arms.root(one) for one in found.astype(int).tolist()]
    power = rate(roots, law, arms.critical(law, 0.05), absolute=False)
    planned = trials.power("kruskal", effect=means, n=n, epsilon=epsilon)
    # theirs, in units of the sum of absolutes: 8 over 2(N − 1)/N²
    scale = 4 * people**2 / (people - 1) / epsilon
    absolute = np.abs(none).sum(axis=1), np.abs(found).sum(axis=1)
    published = np.quantile(absolute[0] + noise(scale, 32), 0.95)
    theirs = float(np.mean(absolute[1] + noise(scale, 33) >= published))
    square = (none**2).sum(axis=1), (found**2).sum(axis=1)
    plain = float(np.mean(square[1] > np.quantile(square[0], 0.95)))
    yield Row(case, "without privacy", POWER, plain)
    yield Row(case, "dither", POWER, power)
    yield Row(case, "dither, planned", POWER, planned)
    yield Row(case, "Couch et al. 2019", POWER, theirs)


def powers() -> Iterator[Row]:
    for n in (50, 100, 200):
        yield from power_of_two(n, 0.5, 1.0)
    yield from power_of_two(40, 1.0, 1.0)
    for n in (50, 100, 200):
        yield from power_of_differences(n, 0.3, 1.0)
    yield from power_of_three((-1, 0, 1), 20, 1.0)
    for n in (50, 100):
        yield from power_of_three((0, 0.35, 0.7), n, 1.0)
        yield from power_of_three((0, 0, 0.6), n, 1.0)
