"""Laws of rank statistics without an effect, and how ties compare with them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

from dither.mechanisms import Gaussian, Laplace
from dither.science.trials.columns import Reals
from dither.science.trials.null import Law
from dither.science.trials.rank_nulls import RankNull, signed_null, widened, wins_null
from dither.science.trials.ranks import capped, signed, wins
from tests.science.trials.laws import exact, exact_counts, laws, worst

NO_NOISE = Law.of(Laplace(sensitivity=1, epsilon=700.0))


@pytest.mark.parametrize("sizes", [(1, 1), (1, 5), (3, 4), (4, 3)])
def test_wins_without_an_effect(sizes: tuple[int, int]) -> None:
    """All orders, each equally likely."""
    orders = list(combinations(range(sum(sizes)), sizes[0]))
    seen = Counter(labelled(order, sum(sizes)) for order in orders)
    null = wins_null(*sizes)
    assert null.sensitivity == 2 * max(sizes)
    for value, chance in exact(null).items():
        assert chance == pytest.approx(seen[value] / len(orders), abs=1e-15)


def labelled(first: tuple[int, ...], count: int) -> int:
    rest = [one for one in range(count) if one not in first]
    return wins(np.array(first, float), np.array(rest, float))


@pytest.mark.parametrize("size", [1, 2, 5, 8])
def test_signed_ranks_without_an_effect(size: int) -> None:
    signs = list(product((-1.0, 1.0), repeat=size))
    seen = Counter(signed(np.array(one) * np.arange(1, size + 1)) for one in signs)
    for value, chance in exact(signed_null(size)).items():
        assert chance == pytest.approx(seen[value] / len(signs), abs=1e-15)


@pytest.mark.parametrize("sizes", [(5, 6), (20, 30), (100, 100), (120, 100)])
def test_the_variance_is_the_textbooks(sizes: tuple[int, int]) -> None:
    null = wins_null(*sizes)
    wanted = math.prod(sizes) * (sum(sizes) + 1) / 3
    assert null.sd**2 == pytest.approx(wanted)
    if null.values is not None:
        assert null.values**2 @ null.probabilities == pytest.approx(wanted)
    ranks = signed_null(sizes[0])
    assert ranks.sd**2 == pytest.approx(sum(r**2 for r in range(sizes[0] + 1)))


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_without_noise_pvalues_are_scipys(alternative: str) -> None:
    source = np.random.default_rng(5)  # allowed: test inputs, not noise
    for shift in (0.0, 0.7, -1.5):
        x, y = source.normal(shift, 1, 12), source.normal(0, 1, 15)
        wanted = stats.mannwhitneyu(x, y, alternative=alternative, method="exact")
        found = alone(wins_null(12, 15), wins(x, y), alternative)
        assert found == pytest.approx(wanted.pvalue, abs=1e-12)
        paired = stats.wilcoxon(x, alternative=alternative, method="exact")
        found = alone(signed_null(12), signed(x), alternative)
        assert found == pytest.approx(paired.pvalue, abs=1e-12)


def alone(null: RankNull, value: int, alternative: str) -> float:
    """The p-value if no noise is counted with."""
    bare = RankNull(0, null.sd, null.values, null.probabilities)
    return bare.pvalue(NO_NOISE, value, alternative)


@pytest.mark.parametrize("epsilon", [0.3, 3.0])
@pytest.mark.parametrize("sizes", [(100, 100), (3, 3000)])
def test_a_normal_law_takes_over_without_a_jump(
    sizes: tuple[int, int], epsilon: float
) -> None:
    null = wins_null(*sizes)
    law = Law.of(Laplace(sensitivity=null.sensitivity, epsilon=epsilon))
    normal = RankNull(null.sensitivity, null.sd)
    for alpha in (0.1, 0.05, 0.01):
        at = null.critical(law, alpha, "two-sided")
        assert normal.pvalue(law, at, "two-sided") == pytest.approx(alpha, rel=0.05)
        assert null.pvalue(law, at, "two-sided") <= alpha
        assert null.pvalue(law, at - 1, "two-sided") > alpha


def tie_patterns(count: int) -> Iterator[Reals]:
    """All ways in which so many outcomes can be tied."""
    for jumps in product((0, 1), repeat=count - 1):
        yield np.cumsum((0, *jumps)).astype(float)


def splits(values: Reals, first: int) -> Counter[int]:
    """The wins of all arms that could have been drawn."""
    found: Counter[int] = Counter()
    for chosen in combinations(range(values.size), first):
        inside = np.isin(np.arange(values.size), chosen)
        found[wins(values[inside], values[~inside])] += 1
    return found


@pytest.mark.parametrize("sizes", [(2, 2), (2, 3), (3, 3), (1, 5), (4, 4)])
def test_ties_make_pvalues_larger(sizes: tuple[int, int]) -> None:
    """All ties of small arms, at small and large costs."""
    null = wins_null(*sizes)
    for values in tie_patterns(sum(sizes)):
        seen = splits(values, sizes[0])
        assert all(worst(null, seen, law) <= 1 + 1e-9 for law in laws(null))


def test_without_widening_ties_would_make_them_too_small() -> None:
    null = wins_null(4, 4)
    bare = RankNull(0, null.sd, null.values, null.probabilities)
    seen = splits(np.array([0, 1, 2, 3, 3, 4, 5, 6.0]), 4)
    assert worst(bare, seen, Law.of(Laplace(sensitivity=8, epsilon=10.0))) > 1.3


@pytest.mark.parametrize("sizes", [(3, 4), (5, 5)])
def test_missing_outcomes_make_pvalues_larger(sizes: tuple[int, int]) -> None:
    null = wins_null(*sizes)
    for fewer in product(range(1, sizes[0] + 1), range(1, sizes[1] + 1)):
        seen = exact_counts(wins_null(*fewer))
        assert all(worst(null, seen, law) <= 1 + 1e-9 for law in laws(null))


@pytest.mark.parametrize("sizes", [(2, 3), (1, 4), (3, 3)])
def test_arms_that_are_too_full_spread_less(sizes: tuple[int, int]) -> None:
    """Against the law of the people there are, as an account of which people come and
    go counts with.
    """
    for more in product((0, 1, 2), (0, 1, 2)):
        there = sizes[0] + more[0], sizes[1] + more[1]
        null = wins_null(*there)
        seen: Counter[int] = Counter()
        for chosen in combinations(range(sum(there)), there[0]):
            inside = np.isin(np.arange(sum(there)), chosen)
            values = np.arange(float(sum(there)))
            seen[capped(values[inside], values[~inside], sizes)] += 1
        assert all(worst(null, seen, law) <= 1 + 1e-9 for law in laws(null))


@pytest.mark.parametrize("size", [2, 3, 4, 5, 6])
def test_ties_and_zeros_of_differences_make_pvalues_larger(size: int) -> None:
    null = signed_null(size)
    for pattern in tie_patterns(size):
        for zero in (0, 1):
            amounts = pattern + 1 - zero
            signs = product((-1.0, 1.0), repeat=size)
            seen = Counter(signed(amounts * np.array(one)) for one in signs)
            assert all(worst(null, seen, law) <= 1 + 1e-9 for law in laws(null))


def test_noise_is_counted_with_at_least_so_wide() -> None:
    laplace = Law.of(Laplace(sensitivity=1, epsilon=1.0))
    normal = Law.of(Gaussian(sensitivity=1, rho=0.5))
    assert widened(laplace, 0.5) == laplace
    assert widened(laplace, 3.0).scale == 3.0
    assert widened(normal, 3.0).scale == pytest.approx(3 * math.sqrt(2))


def test_critical_values_to_one_side() -> None:
    null = wins_null(10, 12)
    law = Law.of(Laplace(sensitivity=24, epsilon=1.0))
    at = null.critical(law, 0.05, "less")
    assert null.pvalue(law, -at, "less") <= 0.05 < null.pvalue(law, 1 - at, "less")
    assert at == null.critical(law, 0.05, "greater")
