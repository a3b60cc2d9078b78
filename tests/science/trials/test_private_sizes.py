"""Private sizes: one person moves them by no more than is claimed, and what they bound
holds.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations_with_replacement as bags
from itertools import product

import numpy as np
import pytest

from dither import ArgumentError, Unit
from dither.cost import Cost
from dither.mechanisms import Gaussian, Laplace
from dither.privacy import GaussianDP, PureDP
from dither.question import Question
from dither.science.trials.null import Law
from dither.science.trials.private_sizes import (
    EACH,
    TOGETHER,
    UNKNOWN,
    ArmSizes,
    OneSize,
    SizesPlan,
    UnsurePairs,
    margin,
    margin_of_two,
)
from dither.science.trials.rank_nulls import signed_null, wins_null
from dither.science.trials.ranks import capped, capped_signs, known
from tests.science.trials.laws import exact_counts, laws, worst

NAN = float("nan")
PEOPLE = [(2, NAN), *((arm, value) for arm in (0, 1) for value in (NAN, 0.0, 1.0, 2.0))]
LAW = Law.of(Laplace(sensitivity=1, epsilon=0.4))


def question(relation: str, **cost: float) -> Question:
    unit = Unit("patient", relation)  # type: ignore[arg-type]
    return Question("wins", Cost(**cost), unit)  # type: ignore[arg-type]


def seen(people: tuple[tuple[int, float], ...], caps: tuple[int, int]) -> list[int]:
    """The numbers that are noised: both sizes, and the wins held at some caps."""
    x, y = (
        known(np.array([value for where, value in people if where == arm]))
        for arm in (0, 1)
    )
    return [x.size, y.size, capped(x, y, caps)]


@pytest.mark.parametrize("caps", [(1, 1), (1, 2), (2, 2), (3, 1)])
@pytest.mark.parametrize("relation", ["add/remove", "replace"])
def test_every_neighbour(caps: tuple[int, int], relation: str) -> None:
    """Up to four people in two arms, or in none: full arms and arms that change
    included. The claims are met, and by no more.
    """
    plan = SizesPlan.of(question(relation, epsilon=1.0))
    farthest = [0, 0]
    for others in (bag for size in range(4) for bag in bags(PEOPLE, size)):
        with_one = [seen((*others, person), caps) for person in PEOPLE]
        pairs = list(product(with_one, with_one))
        if relation == "add/remove":
            pairs = [(seen(others, caps), one) for one in with_one]
        for one, other in pairs:
            sizes = abs(one[0] - other[0]) + abs(one[1] - other[1])
            farthest[0] = max(farthest[0], sizes)
            farthest[1] = max(farthest[1], abs(one[2] - other[2]))
    assert farthest == [plan.moved, plan.moved * max(caps)]
    assert plan.sizing.sensitivity == plan.moved
    assert plan.noise(*caps).sensitivity == plan.moved * max(caps)


@pytest.mark.parametrize("cap", [1, 2, 3])
@pytest.mark.parametrize("relation", ["add/remove", "replace"])
def test_every_neighbour_of_differences(cap: int, relation: str) -> None:
    """Up to five people, some of whom have no difference: the claims are met, and by no
    more.
    """
    plan = SizesPlan.of(question(relation, epsilon=1.0), arms=1)
    people = (NAN, -2.0, -1.0, 0.0, 1.0, 2.0)

    def noised(differences: tuple[float, ...]) -> tuple[int, int]:
        found = known(np.array(differences))
        return found.size, capped_signs(found, cap)

    farthest = [0, 0]
    for others in (bag for size in range(5) for bag in bags(people, size)):
        with_one = [noised((*others, person)) for person in people]
        pairs = list(product(with_one, with_one))
        if relation == "add/remove":
            pairs = [(noised(others), one) for one in with_one]
        for one, other in pairs:
            for at in (0, 1):
                farthest[at] = max(farthest[at], abs(one[at] - other[at]))
    assert farthest == [plan.sizing.sensitivity, plan.noise(cap).sensitivity]
    assert farthest == [1, plan.moved * cap]


@pytest.mark.parametrize("cap", [1, 2, 3])
def test_differences_that_are_too_many_spread_less(cap: int) -> None:
    for people in range(1, 7):
        null = signed_null(people)
        signs = product((-1.0, 1.0), repeat=people)
        ranks = np.arange(1.0, people + 1)
        seen = Counter(capped_signs(ranks * np.array(one), cap) for one in signs)
        assert all(worst(null, seen, law) <= 1 + 1e-9 for law in laws(null))


def test_what_one_size_bounds() -> None:
    size = OneSize(60, LAW)
    assert size.below(0.01) < 60 < size.cap
    assert size.hidden(0.05) == 0
    assert size.hidden(1e-4) > 0
    assert size.null.sd == signed_null(60 + margin(LAW, UNKNOWN)).sd
    assert OneSize(-60, LAW).cap == 1


@pytest.mark.parametrize("relation", ["add/remove", "replace"])
def test_parts_cost_no_more_than_the_whole(relation: str) -> None:
    asked = question(relation, epsilon=1.0)
    plan = SizesPlan.of(asked)
    parts = plan.sizing.guarantee, plan.noise(5).guarantee
    assert sum(one.epsilon for one in parts if isinstance(one, PureDP)) <= 1
    asked = question(relation, rho=0.5)
    plan = SizesPlan.of(asked)
    spent = [plan.sizing.guarantee, plan.noise(5).guarantee]
    assert sum(one.mu**2 / 2 for one in spent if isinstance(one, GaussianDP)) <= 0.5
    assert isinstance(plan.sizing, Gaussian)
    exact = 1 if relation == "add/remove" else 2
    assert exact <= plan.sizing.sensitivity**2 < exact + 1e-12


def test_a_cost_too_small_is_refused_before_anything_is_read() -> None:
    with pytest.raises(ArgumentError, match="too small"):
        SizesPlan.of(question("replace", epsilon=1e-9))


@pytest.mark.parametrize(
    "law",
    [
        LAW,
        Law.of(Gaussian(sensitivity=1, rho=0.02)),
        Law.of(Laplace(sensitivity=1, epsilon=0.001)),
    ],
)
def test_margins(law: Law) -> None:
    for missed in (0.4, 0.05, 0.001):
        least = margin(law, missed)
        assert law.survival(least + 1) <= missed < law.survival(least)
        steps = np.arange(-12 * int(law.scale + 9), 12 * int(law.scale + 9) + 1)
        two = margin_of_two(law, missed)
        assert law.with_pmf(steps, law.pmf(steps), two + 1) <= missed
        slack = two - 1 - law.scale / 8
        assert law.with_pmf(steps, law.pmf(steps), slack) > missed
    assert margin(law, 0.9) < 0


@pytest.mark.parametrize("people", [4, 7])
def test_arms_of_the_same_size_spread_most(people: int) -> None:
    """All sizes that two arms of so many people, or fewer, can have."""
    null = wins_null((people + 1) // 2, people // 2)
    for first in range(1, people):
        for second in range(1, people + 1 - first):
            counts = exact_counts(wins_null(first, second))
            assert all(worst(null, counts, law) <= 1 + 1e-9 for law in laws(null))


def test_what_sizes_bound() -> None:
    sizes = ArmSizes((65, 80), LAW)
    assert sizes.likely == (65, 80)
    assert ArmSizes((-3, 2), LAW).likely == (1, 2)
    assert ArmSizes((-300, 2), LAW).caps[0] == 1
    assert ArmSizes((1 << 40, 2), LAW).caps[0] == 1 << 31
    assert sizes.caps > (65, 80)
    assert sizes.below(0.01) < (65, 80)
    assert sizes.hidden(0.05) == 0
    assert sizes.hidden(1e-4) > 0
    both = 145 + margin_of_two(LAW, TOGETHER)
    assert sizes.null.sd == wins_null((both + 1) // 2, both // 2).sd
    first, second = ArmSizes((10, 400), LAW).above(EACH)
    both = 410 + margin_of_two(LAW, TOGETHER)
    assert ArmSizes((400, 10), LAW).null.sd == wins_null(first, both - first).sd
    assert second > both - first
    assert ArmSizes((-90, -90), LAW).null.sd == wins_null(1, 1).sd
    assert pytest.approx(TOGETHER + 2 * EACH) == UNKNOWN


def test_ends_about_the_population_hold_the_estimate() -> None:
    law = Law.of(Laplace(sensitivity=100, epsilon=0.6))
    for wins in (-3000, -10, 0, 10, 3000):
        pairs = UnsurePairs(wins, ArmSizes((100, 100), LAW), law)
        low, high = pairs.ends(0.95)
        assert 0 <= low < 0.5 + wins / 20_000 < high <= 1
        assert pairs.ends(0.5)[0] > low
    assert UnsurePairs(5, ArmSizes((3, 3), LAW), law).ends(0.95) == (0.0, 1.0)
