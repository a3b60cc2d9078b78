"""The Kruskal–Wallis test: scipy's statistic, sensitivities and false alarms."""

from __future__ import annotations

import math
from itertools import combinations, combinations_with_replacement, product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import dither
from dither import ArgumentError, Budget, Unit, UnitMismatch
from dither.mechanisms import Laplace
from dither.science import trials
from dither.science.trials import kruskal_wallis
from dither.science.trials.columns import Reals
from dither.science.trials.kruskal_wallis import GRID, Arms, lengths
from dither.science.trials.null import Law
from tests.chance import at_most, chance
from tests.science.trials.laws import COSTS, quiet

NAN = float("nan")
ALPHAS = (0.1, 0.05, 0.01)
REPLACE = Unit("patient", "replace")  # type: ignore[arg-type]


def arms(seed: int = 1, sizes: tuple[int, ...] = (20, 30, 25)) -> Any:
    source = np.random.default_rng(seed)  # allowed: test inputs, not noise
    return [source.normal(at / 2, 1, size) for at, size in enumerate(sizes)]


@pytest.mark.parametrize("cost", [{"epsilon": 1.0}, {"rho": 0.5}])
def test_without_noise_it_is_scipys_statistic(
    monkeypatch: pytest.MonkeyPatch, cost: Any
) -> None:
    quiet(monkeypatch)
    groups = arms()
    found = trials.kruskal(*groups, sizes=(20, 30, 25), **cost)
    wanted = stats.kruskal(*groups).statistic
    assert found.statistic == pytest.approx(wanted, rel=1e-4)
    low, high = found.interval()
    assert 0 <= low < wanted < high
    assert "any arm differs" in str(found)
    assert "a replaced person stays in the same arm" in str(found)
    with pytest.raises(ArgumentError, match="confidence_interval"):
        found.confidence_interval()


@pytest.mark.parametrize("digits", [0, 9])
def test_sums_are_scipys(digits: int) -> None:
    """Before its root is rounded to the grid, H is scipy's to 1e-12; with ties scipy
    divides by its correction.
    """
    groups = [np.round(one, digits) for one in arms()]
    study = Arms((20, 30, 25))
    sums = study.sums(groups)
    parts = zip(sums, study.sizes, strict=True)
    h = 3 * sum(one * one / size for one, size in parts) / (75 * 76)
    tied = stats.tiecorrect(stats.rankdata(np.concatenate(groups)))
    assert h / tied == pytest.approx(stats.kruskal(*groups).statistic, abs=1e-12)
    assert study.squared(study.root(sums)) == pytest.approx(h, rel=1e-3)
    assert lengths(np.array([sums]), study.sizes)[0] // 1 == study.root(sums)


@pytest.mark.parametrize("sizes", [(1, 1), (1, 2), (3, 1, 1), (2, 2, 1), (2, 2, 2)])
def test_one_person_who_is_replaced(sizes: tuple[int, ...]) -> None:
    """All neighbours within the first arm. The vector moves by the bound and by no more,
    and so its length does not either.
    """
    outcomes = (NAN, 0.0, 1.0, 2.0)
    study = Arms(sizes)
    length, steps, published = 0.0, 0, 0.0
    bags = [combinations_with_replacement(outcomes, size) for size in sizes[1:]]
    mates = combinations_with_replacement(outcomes, sizes[0] - 1)
    for others, *rest in product(mates, *bags):
        found = [
            study.sums([np.array(one) for one in ((*others, value), *rest)])
            for value in outcomes
        ]
        for one, other in combinations(found, 2):
            apart = np.subtract(one, other)
            length = max(length, lengths(apart[None], sizes)[0])
            steps = max(steps, abs(study.root(one) - study.root(other)))
            absolute = abs(sum(map(abs, one)) - sum(map(abs, other)))
            published = max(published, absolute)
    people, few = study.people, sizes[0]
    assert length == pytest.approx(2 * GRID * math.sqrt(people * (people - few) / few))
    assert steps <= math.ceil(length) <= study.sensitivity
    # the published variant, 2(N − 1)/N² times the sum of absolutes, has 8 at most
    assert published <= 4 * (people - few)
    assert 2 * (people - 1) / people**2 * published < 8


@pytest.mark.parametrize("sizes", [(1, 2), (2, 2), (1, 1, 1), (3, 3)])
def test_one_person_who_changes_the_arm(sizes: tuple[int, ...]) -> None:
    """All that two arms can become, one record of each at a time: who leaves an arm that
    is too full makes room for another, and who enters it takes that.
    """
    study = Arms(sizes)
    bags = [combinations_with_replacement((NAN, 0.0, 1.0, 2.0), n) for n in sizes]
    length, steps = 0.0, 0
    for first, second, *rest in product(*bags):
        changed = product((NAN, 0.0, 1.0, 2.0), repeat=2)
        arms_of = [((a, *first[1:]), (b, *second[1:]), *rest) for a, b in changed]
        found = [study.sums([np.array(arm) for arm in one]) for one in arms_of]
        roots = [study.root(one) for one in found]
        apart = np.subtract(found, found[0])
        length = max(length, float(lengths(apart, sizes).max()))
        steps = max(steps, max(roots) - min(roots))
    assert max(steps, length) <= study.changing
    if sizes == (3, 3):
        assert steps > study.sensitivity  # a person who stays moves it less


def test_a_dataset_has_arms_that_people_may_change() -> None:
    """There the noise is for that, and no note says that arms are public."""
    columns = {"patient": [1, 2, 3], "pain": [1.0, 2.0, 3.0], "arm": ["a", "b", "b"]}
    frame = pd.DataFrame(columns)
    data = dither.open(frame, unit=REPLACE, budget=9.0, ledger=":memory:")
    study = {"outcome": "pain", "arm": "arm", "arms": ("a", "b"), "sizes": (1, 2)}
    found = data.trial("kruskal", **study, epsilon=1.0)
    assert "stays in theirs" not in str(found)
    wide = found.spread.inner.mechanism
    assert wide.sensitivity == Arms((1, 2)).changing


def test_the_bound_is_met() -> None:
    """One outcome of the smallest arm passes all others, and the arms end up as far
    from the middle as they were, each on its other side.
    """
    study = Arms((3, 6))
    rest = np.arange(1.0, 7.0)
    steps = [
        study.root(study.sums([np.array([one, 9.0, 10.0]), rest])) for one in (0.0, 8.0)
    ]
    assert abs(abs(steps[1] - steps[0]) - study.sensitivity) <= 1


@pytest.mark.parametrize("sizes", [(2, 2, 2), (1, 2, 3)])
def test_ties_make_pvalues_larger(
    monkeypatch: pytest.MonkeyPatch, sizes: tuple[int, ...]
) -> None:
    """All ties of small arms, with all orders instead of simulated ones."""
    study = Arms(sizes)
    free = all_roots(study, np.arange(6.0))
    monkeypatch.setattr(kruskal_wallis, "roots", lambda _: np.repeat(free, 100))
    laws = [Law.of(Laplace(sensitivity=study.sensitivity, epsilon=e)) for e in COSTS]
    claims = [
        (law, alpha, study.critical(law, alpha)) for law in laws for alpha in ALPHAS
    ]
    for jumps in product((0, 1), repeat=5):
        tied = all_roots(study, np.cumsum((0, *jumps)).astype(float))
        for law, alpha, at in claims:
            assert law.survival(at - tied).mean() <= alpha + 1e-9


def all_roots(study: Arms, values: Reals) -> Reals:
    """√H for all ways to put people into arms."""
    found = []
    few, some, _ = study.sizes
    for first in combinations(range(6), few):
        rest = [one for one in range(6) if one not in first]
        for second in combinations(rest, some):
            third = [one for one in rest if one not in second]
            groups = [values[list(one)] for one in (first, second, third)]
            found.append(study.root(study.sums(groups)))
    return np.array(found, np.float64)


@chance(1e-9)
def test_large_studies_have_normal_sums() -> None:
    sizes = (40, 60, 20)
    exact = np.quantile(lengths(kruskal_wallis._orders(sizes), sizes), (0.5, 0.95))
    normal = np.quantile(lengths(kruskal_wallis._normal(sizes), sizes), (0.5, 0.95))
    np.testing.assert_allclose(normal, exact, rtol=0.06)


@pytest.mark.parametrize(
    "groups", [([], []), ([NAN], [None]), ([1.0] * 9, [1.0]), ([np.inf], ["?", 3])]
)
def test_odd_data_is_answered_as_any_other(groups: Any) -> None:
    found = trials.kruskal(*groups, sizes=(3, 4), epsilon=0.1)
    assert 0 < found.pvalue <= 1
    assert found.statistic >= 0


@pytest.mark.parametrize(
    ("groups", "words", "named"),
    [
        (([1],), {"sizes": (1,)}, "groups"),
        (([1], [2]), {"sizes": (1, 1, 1)}, "sizes"),
        (([1], [2]), {"sizes": (1, 0)}, "sizes"),
        (([1], 2), {}, "group 2"),
        (([1], [2]), {"epsilon": 0}, "epsilon"),
    ],
)
def test_bad_questions_cost_nothing(groups: Any, words: Any, named: str) -> None:
    budget = Budget(epsilon=1.0, unit=REPLACE)
    asked = {"sizes": (1, 1), "epsilon": 1.0} | words
    with pytest.raises(ArgumentError, match=named):
        trials.kruskal(*groups, **asked, budget=budget)
    assert budget.charges == 0
    with pytest.raises(UnitMismatch, match="without sizes"):
        trials.kruskal([1], [2], sizes=(1, 1), epsilon=1.0, budget=Budget(epsilon=1.0))


@chance(1e-7)
def test_power_is_what_simulations_find() -> None:
    source = np.random.default_rng(8)  # allowed: test inputs, not noise
    found = [
        trials.kruskal(x, y + 0.4, z + 0.8, sizes=(40, 40, 40), epsilon=1.0).pvalue
        <= 0.05
        for x, y, z in source.normal(0, 1, (1000, 3, 40))
    ]
    planned = trials.power("kruskal", effect=(0, 0.4, 0.8), n=40, epsilon=1.0)
    assert np.mean(found) == pytest.approx(planned, abs=0.02 + 5.5 * 0.0158)
    assert trials.power("kruskal", effect=0, n=40, rho=0.5) == pytest.approx(
        0.05, abs=0.02
    )
    assert trials.power("kruskal", effect=0.6, sizes=(40, 50), epsilon=1.0) > 0.3


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ({}, "n"),
        ({"n": 5, "arms": 1}, "arms"),
        ({"n": 5, "effect": (1, 2)}, "effect"),
        ({"sizes": (5,)}, "arms"),
        ({"n": 5, "sizes": (5, 5, 5)}, "n"),
    ],
)
def test_bad_plans_are_refused(words: Any, named: str) -> None:
    with pytest.raises(ArgumentError, match=named):
        trials.power("kruskal", **({"effect": 0.5, "epsilon": 1.0} | words))


@chance(1e-8)
def test_false_alarms_are_rare() -> None:
    """Outcomes with three values, a tenth missing. The law that p-values come from is
    simulated too, so that the rate may be 0.06.
    """
    source = np.random.default_rng(9)  # allowed: test inputs, not noise
    outcomes = source.integers(0, 3, (800, 3, 30)).astype(float)
    outcomes[source.random(outcomes.shape) < 0.1] = NAN
    found = [
        trials.kruskal(*groups, sizes=(30, 30, 30), epsilon=3.0).pvalue <= 0.05
        for groups in outcomes
    ]
    assert sum(found) <= at_most(800, 0.06, 1e-8)


def test_declared_people_take_no_memory() -> None:
    found = trials.kruskal([1.0], [2.0], sizes=(1 << 31, 1 << 30), epsilon=1.0)
    assert 0 < found.pvalue <= 1
