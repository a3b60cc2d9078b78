"""Every mechanism against its promise on neighbouring inputs: exactly where outputs are
finite, else by samples.
"""

import inspect
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import dither
from dither import mechanisms
from dither.mechanisms import (
    AboveThreshold,
    ContinualCount,
    Exponential,
    Gaussian,
    Geometric,
    KeyThreshold,
    Ladder,
    Laplace,
    NoisyMax,
    PartitionSelection,
    PermuteAndFlip,
    QuantileExponential,
    RandomizedResponse,
    SmoothSensitivity,
    TopK,
    Tree,
    TreeMechanism,
)
from tests.chance import chance
from tests.neighbours.audit import epsilon_lower_bound
from tests.privacy.support import renyi_divergence

DRAWS = 100_000
ROOM = 1 + 1e-12


def test_every_mechanism_states_its_promise():
    classes = [m for _, m in inspect.getmembers(mechanisms, inspect.isclass)]
    found = [m for m in classes if hasattr(m, "release") or hasattr(m, "open")]
    for mechanism in found:
        if not inspect.isabstract(mechanism):
            for line in ("Guarantee:", "Why:", "Assumes:"):
                assert line in (mechanism.__doc__ or ""), mechanism
    assert len(found) >= 16


def exponential_law(scores, weight):
    top = max(scores)
    odds = [math.exp(weight * (score - top)) for score in scores]
    return [o / sum(odds) for o in odds]


def permute_and_flip_law(scores, weight):
    """Enumerate all orders; in each, the first candidate whose coin comes up wins. The
    best one's always does.
    """
    keep = [math.exp(weight * (score - max(scores))) for score in scores]
    law = [0.0] * len(scores)
    orders = list(itertools.permutations(range(len(scores))))
    for order in orders:
        left = 1.0 / len(orders)
        for i in order:
            law[i] += left * keep[i]
            left *= 1 - keep[i]
    return law


@pytest.mark.parametrize(
    ("mechanism", "law"),
    [(Exponential, exponential_law), (PermuteAndFlip, permute_and_flip_law)],
)
@pytest.mark.parametrize("monotone", [False, True])
def test_selection_by_exact_enumeration(law, mechanism, monotone):
    epsilon = 0.7
    weight = mechanism(sensitivity=1, epsilon=epsilon, monotone=monotone).weight
    steps = [(0, 1)] if monotone else [(-1, 0, 1)]
    for scores in itertools.product(range(3), repeat=3):
        for move in itertools.product(*steps * 3):
            here = law(scores, weight)
            there = law([s + m for s, m in zip(scores, move, strict=True)], weight)
            losses = [math.log(a / b) for a, b in zip(here, there, strict=True)]
            assert max(map(abs, losses)) <= epsilon * ROOM
            if mechanism is Exponential:
                assert max(losses) - min(losses) <= epsilon * ROOM


def test_monotone_weight_breaks_the_promise_for_other_scores():
    """The enumeration above can fail: twice the weight on scores that move both ways."""
    weight = Exponential(sensitivity=1, epsilon=0.7, monotone=True).weight
    here, there = exponential_law([1, 0, 0], weight), exponential_law([0, 1, 1], weight)
    assert max(abs(math.log(a / b)) for a, b in zip(here, there, strict=True)) > 0.7


ORDERS = (1.1, 1.5, 2.0, 4.0, 16.0, 100.0)


def neighbouring_laws(law, mechanism, scores=range(3)):
    """Pairs of laws for all scores of three candidates and all moves by at most 1."""
    for here in itertools.product(scores, repeat=3):
        for move in itertools.product((-1, 0, 1), repeat=3):
            there = [s + m for s, m in zip(here, move, strict=True)]
            yield list(
                zip(
                    law(here, mechanism.weight),
                    law(there, mechanism.weight),
                    strict=True,
                )
            )


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_the_renyi_cost_of_the_exponential_mechanism_is_that_of_bounded_range(epsilon):
    mechanism = Exponential(sensitivity=1, epsilon=epsilon)
    rho = mechanism.guarantee.to(dither.ZeroConcentratedDP).rho
    assert rho == pytest.approx(epsilon**2 / 8)
    pairs = list(neighbouring_laws(exponential_law, mechanism))
    for order in ORDERS:
        worst = max(renyi_divergence(pair, order) for pair in pairs)
        assert worst <= mechanism.guarantee.renyi(order) <= order * rho * ROOM
    # Many candidates on one side make the worst case nearly attained.
    crowd = (
        exponential_law([0] + [1] * 3, mechanism.weight),
        exponential_law([1] + [0] * 3, mechanism.weight),
    )
    pair = list(zip(*crowd, strict=True))
    assert (
        max(
            renyi_divergence(pair, order) / mechanism.guarantee.renyi(order)
            for order in ORDERS
        )
        > 0.9
    )


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_permute_and_flip_costs_what_pure_privacy_costs_and_not_less(epsilon):
    """It has no bounded range: one choice can lose ε one way and another ε the other
    way.
    """
    mechanism = PermuteAndFlip(sensitivity=1, epsilon=epsilon)
    rho = mechanism.guarantee.to(dither.ZeroConcentratedDP).rho
    assert rho == pytest.approx(epsilon * math.tanh(epsilon / 2))
    pairs = list(neighbouring_laws(permute_and_flip_law, mechanism, range(0, 9, 4)))
    for order in ORDERS:
        assert (
            max(renyi_divergence(pair, order) for pair in pairs)
            <= mechanism.guarantee.renyi(order)
            <= order * rho
        )
    ranges = [math.log(a / b) for pair in pairs for a, b in pair]
    spread = max(
        max(math.log(a / b) for a, b in pair) - min(math.log(a / b) for a, b in pair)
        for pair in pairs
    )
    assert max(map(abs, ranges)) <= epsilon * ROOM
    assert spread > epsilon * 1.01


def test_permute_and_flip_exceeds_the_cost_of_bounded_range():
    """So charging ε² / 8 for it would be wrong: two candidates whose gap closes and
    opens again.
    """
    mechanism = PermuteAndFlip(sensitivity=1, epsilon=0.5)
    pair = list(
        zip(
            *(permute_and_flip_law(s, mechanism.weight) for s in ([1, 0], [0, 1])),
            strict=True,
        )
    )
    cheaper = dither.BoundedRange(0.5)
    assert (
        max(renyi_divergence(pair, order) / cheaper.renyi(order) for order in ORDERS)
        > 1.01
    )


@pytest.mark.parametrize("epsilon", [0.01, 0.5, math.log(3), 4.0, 30.0, 60.0])
@pytest.mark.parametrize("categories", [2, 3, 100])
def test_randomized_response_exactly(epsilon, categories):
    mechanism = RandomizedResponse(epsilon=epsilon, categories=categories)
    lie = (1 - mechanism.truth) / (categories - 1)
    assert mechanism.truth + lie * (categories - 1) == 1
    ratio = mechanism.truth / lie
    assert ratio <= Fraction(math.exp(epsilon)) * Fraction(1 + 1e-14)
    assert epsilon > 40 or math.log(ratio) == pytest.approx(epsilon, rel=1e-6)


@pytest.mark.parametrize("sensitivity", [1, 3, 0.1, 2.5, 1e-30, 1e12])
@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1 / 3, 1, 7.3])
def test_laplace_scale_keeps_the_promise_exactly(sensitivity, epsilon):
    mechanism = Laplace(sensitivity=sensitivity, epsilon=epsilon)
    exact = Fraction(mechanism.sensitivity), Fraction(mechanism.epsilon)
    assert exact[0] / Fraction(mechanism.scale) <= exact[1]
    for size in (1, 7, 1000):
        grid, scale = mechanism.scale_on(size)
        assert (exact[0] / grid.step + size) / Fraction(scale) <= exact[1]
        assert float(Fraction(scale) * grid.step) <= mechanism.scale * (1 + 2e-6)


@pytest.mark.parametrize("sensitivity", [1, 0.1, 2.5, 1e12])
@pytest.mark.parametrize("mu", [1e-3, 0.1, 1 / 3, 1, 7.3])
def test_gaussian_scale_keeps_the_promise_exactly(sensitivity, mu):
    mechanism = Gaussian(sensitivity=sensitivity, mu=mu)
    exact = Fraction(mechanism.sensitivity), Fraction(mechanism.mu)
    assert exact[0] / Fraction(mechanism.scale) <= exact[1]
    for size in (1, 7, 1000):
        grid, scale = mechanism.scale_on(size)
        # At least the square root of the size
        rest = Fraction(scale) * exact[1] - exact[0] / grid.step
        assert rest > 0
        assert rest**2 >= size
        assert float(Fraction(scale) * grid.step) <= mechanism.scale * (1 + 2e-6)


def test_grid_sensitivity_by_brute_force():
    """Rounding to the grid moves an L1 distance by at most one step for each changing
    entry.
    """
    generator = np.random.default_rng(1)  # allowed: test inputs, not noise
    for _ in range(300):
        size = int(generator.integers(1, 6))
        here = generator.normal(size=size) * 10.0 ** generator.integers(-3, 4)
        move = generator.normal(size=size)
        there = here + move / np.abs(move).sum()
        sensitivity = sum(
            (abs(Fraction(a) - Fraction(b)) for a, b in zip(here, there, strict=True)),
            Fraction(0),
        )
        grid, _ = Laplace(sensitivity=float(sensitivity), epsilon=1).scale_on(size)
        moved = sum(
            abs(grid.nearest(a) - grid.nearest(b))
            for a, b in zip(here, there, strict=True)
        )
        assert moved <= sensitivity / grid.step + size


CASES = [
    ("Laplace on an int", Laplace(sensitivity=1, epsilon=0.8), 0, 1),
    ("Geometric", Geometric(sensitivity=2, epsilon=0.8), 5, 7),
    ("Laplace on a float", Laplace(sensitivity=1, epsilon=0.8), 0.0, 1.0),
    ("NoisyMax", NoisyMax(sensitivity=1, epsilon=0.8), [1, 0, 0], [0, 1, 1]),
    (
        "NoisyMax, monotone",
        NoisyMax(sensitivity=1, epsilon=0.8, monotone=True),
        [0, 0, 0],
        [1, 0, 0],
    ),
    ("Exponential", Exponential(sensitivity=1, epsilon=0.8), [1, 0, 0], [0, 1, 1]),
    (
        "PermuteAndFlip",
        PermuteAndFlip(sensitivity=1, epsilon=0.8),
        [1, 0, 0],
        [0, 1, 1],
    ),
    ("RandomizedResponse", RandomizedResponse(epsilon=0.8), 0, 1),
]


@chance(5e-8)
@pytest.mark.parametrize(
    ("mechanism", "here", "there"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_samples_do_not_refute_the_promise(mechanism, here, there):
    def draws(value, count=8_000):
        found = [mechanism.release(value) for _ in range(count)]
        return [round(x) if isinstance(x, float) else x for x in found]

    assert epsilon_lower_bound(draws(here), draws(there)) <= 0.8


@chance(5e-8)
def test_gaussian_samples_do_not_refute_the_promise():
    mechanism = Gaussian(sensitivity=1, epsilon=1, delta=1e-3)
    here, there = (mechanism.release(np.full(DRAWS, value)) for value in (0, 1))
    assert epsilon_lower_bound(list(here), list(there), delta=1e-3) <= 1


@chance(5e-8)
def test_vector_laplace_samples_do_not_refute_the_promise():
    """Two entries that both move by half the sensitivity."""
    mechanism = Laplace(sensitivity=2, epsilon=1)
    here, there = (
        [
            tuple(row)
            for row in np.clip(
                np.array([mechanism.release([v, v]) for _ in range(20_000)]), -3, 4
            )
        ]
        for v in (0, 1)
    )
    assert epsilon_lower_bound(here, there) <= 1


@chance(5e-8)
@pytest.mark.parametrize(
    ("promise", "delta"), [({"epsilon": 0.8}, 0.0), ({"mu": 0.5}, 1e-3)]
)
def test_tree_samples_do_not_refute_the_promise(promise, delta):
    """One unit at one leaf moves a node of each level."""
    mechanism = TreeMechanism(tree=Tree(2, 2), radius=1, **promise)
    here, there = (
        [
            tuple(row)
            for row in np.clip(
                mechanism.noisy(np.tile(leaves, (DRAWS, 1))), 0, 1
            ).tolist()
        ]
        for leaves in ([0, 0], [1, 0])
    )
    assert epsilon_lower_bound(here, there, delta) <= mechanism.guarantee.epsilon_at(
        delta
    )


@chance(1e-9)
def test_half_the_noise_of_a_tree_breaks_its_promise():
    """The audit above can fail: noise for one level on two."""
    mechanism = Laplace(sensitivity=1, epsilon=0.8)
    here, there = (
        [
            tuple(row)
            for row in np.clip(
                mechanism.release(np.tile(nodes, (DRAWS, 1))), 0, 1
            ).tolist()
        ]
        for nodes in ([0, 0, 0], [1, 1, 0])
    )
    assert epsilon_lower_bound(here, there) > 0.8


@chance(9e-8)
@pytest.mark.parametrize("unit", [dither.ROW, dither.ROW.replacing()])
def test_named_keys_do_not_refute_the_promise(unit):
    """A unit with two keys, one of which nobody else has; where neighbours replace it,
    the other has two of its own.
    """
    mechanism = KeyThreshold(groups=2, mu=1.0, delta=0.02, unit=unit)
    replaced = unit == dither.ROW.replacing()
    here = {"a": 5, "b": 4, "alone": 1}
    there = {"a": 4, "b": 5, "another": 1} if replaced else {"a": 4, "b": 4}

    def draws(counts):
        names = list(counts)
        masks = mechanism.release(np.tile(list(counts.values()), (DRAWS, 1)))
        return [
            tuple(name for name, named in zip(names, mask, strict=True) if named)
            for mask in masks.tolist()
        ]

    for delta in (0.03, 0.1):
        assert epsilon_lower_bound(
            draws(here), draws(there), delta
        ) <= mechanism.guarantee.epsilon_at(delta)
    assert epsilon_lower_bound(
        draws({"alone": 6}), draws({}), 0.03
    ) > mechanism.guarantee.epsilon_at(0.03)


@chance(9e-8)
@pytest.mark.parametrize("unit", [dither.ROW, dither.ROW.replacing()])
def test_keys_that_reach_what_a_candidate_needs_do_not_refute_the_promise(unit):
    """A unit lifts two keys from 3 units to 4, which is what a candidate needs; a
    replaced one lets two others fall.
    """
    mechanism = KeyThreshold(groups=2, mu=1.0, delta=0.02, unit=unit, at_least=4)
    replaced = unit == dither.ROW.replacing()
    here = {"a": 8, "risen": 4, "too": 4, "fallen": 3, "as well": 3}
    there = {
        "a": 8,
        "risen": 3,
        "too": 3,
        "fallen": 4 if replaced else 3,
        "as well": 4 if replaced else 3,
    }

    def draws(counts, threshold=mechanism):
        names = list(counts)
        masks = threshold.release(np.tile(list(counts.values()), (DRAWS, 1)))
        return [
            tuple(name for name, named in zip(names, mask, strict=True) if named)
            for mask in masks.tolist()
        ]

    for delta in (0.03, 0.1):
        assert epsilon_lower_bound(
            draws(here), draws(there), delta
        ) <= mechanism.guarantee.epsilon_at(delta)
    # The threshold that was not raised, on pruned counts
    low = KeyThreshold(groups=2, mu=1.0, delta=0.02, unit=unit)
    pruned = [
        {key: count if count >= 4 else 0 for key, count in side.items()}
        for side in (here, there)
    ]
    refuted = epsilon_lower_bound(draws(pruned[0], low), draws(pruned[1], low), 0.03)
    assert refuted > mechanism.guarantee.epsilon_at(0.03)


@chance(9e-8)
@pytest.mark.parametrize("truncated", [False, True])
def test_named_keys_with_their_numbers_do_not_refute_the_promise(truncated):
    """A unit lifts one key by a unit, and another one to the least that a named key
    has. A quarter of the noise, or a threshold that is lower by two, is refuted.
    """
    stated = {"groups": 2, "delta": 0.05, "at_least": 2, "truncated": truncated}
    mechanism = KeyThreshold(epsilon=1.0, **stated)
    less = KeyThreshold(epsilon=4.0, **stated)
    high = mechanism.threshold

    def bound(here, there, made=mechanism, least=high):
        sides = []
        for counts in (here, there):
            tiled = np.tile(counts, (20_000, 1))
            numbers = made.release_counts(tiled)[1]
            # Coarse, so that no event is one that delta alone explains
            shown = 0 + (numbers >= least) + (numbers >= least + 3)
            shown = np.where(tiled >= 2, shown, 0)
            sides.append([tuple(row) for row in shown.tolist()])
        return epsilon_lower_bound(*sides, 0.05)

    here, there = [high + 1, 2], [high, 1]
    assert max(bound(here, there), bound(there, here)) <= 1.0
    both = [high + 3, high + 3], [high + 2, high + 2]
    assert bound(*both) <= 1.0 < bound(*both, made=less)
    assert bound([2, 2], [1, 1]) <= 1.0 < bound([2, 2], [1, 1], least=high - 2)


def ask_all(values):
    stream = AboveThreshold(threshold=0, sensitivity=1, epsilon=0.8, answers=2).open()
    return tuple(stream.ask(value) for value in values if not stream.halted)


MEDIAN = QuantileExponential(q=0.5, bounds=(0, 4), epsilon=0.8, points=5)
SMOOTH = SmoothSensitivity(epsilon=0.8, global_sensitivity=4, growth=1, integer=True)
LADDER = Ladder(epsilon=0.8, bounds=(0, 20), global_sensitivity=4, growth=1)
TWO = TopK(k=2, sensitivity=1, epsilon=0.8)
ODDS = PartitionSelection(epsilon=0.8, delta=0.02)
RUNNING = ContinualCount(horizon=3, participations=2, mu=0.4)
MORE = [
    ("AboveThreshold", ask_all, [-1, -1, 1], [0, 0, 0], 0.8, 0.0),
    (
        "TopK",
        lambda scores: tuple(TWO.release(scores).tolist()),
        [1, 0, 0],
        [0, 1, 1],
        0.8,
        0.0,
    ),
    ("QuantileExponential", MEDIAN.release, [0, 0], [0, 0, 4], 0.8, 0.0),
    (
        "SmoothSensitivity",
        lambda given: max(-9, min(9, SMOOTH.release(*given))),
        (0, 0),
        (1, 1),
        0.8,
        0.0,
    ),
    ("Ladder", lambda given: LADDER.release(*given), (10, 1), (11, 2), 0.8, 0.0),
    (
        "PartitionSelection",
        lambda counts: tuple(ODDS.release(counts).tolist()),
        [1, 5],
        [0, 5],
        0.8,
        0.02,
    ),
    (
        "ContinualCount",
        lambda steps: tuple(np.clip(RUNNING.release(steps), -1, 3).round().tolist()),
        [0, 0, 0],
        [1, 1, 0],
        RUNNING.guarantee.epsilon_at(0.01),
        0.01,
    ),
]


@chance(5e-8)
@pytest.mark.parametrize(
    ("once", "here", "there", "epsilon", "delta"),
    [c[1:] for c in MORE],
    ids=[c[0] for c in MORE],
)
def test_more_samples_do_not_refute_the_promise(once, here, there, epsilon, delta):
    first, second = ([once(value) for _ in range(3_000)] for value in (here, there))
    assert epsilon_lower_bound(first, second, delta) <= epsilon


ARRAYS = [
    ("count", lambda x: dither.count(x, epsilon=1), np.ones(3), np.ones(4)),
    (
        "sum of integers",
        lambda x: dither.sum(x, bounds=(-1, 2), epsilon=1),
        np.array([1, 1]),
        np.array([1, 1, 9]),
    ),
    (
        "sum of reals",
        lambda x: dither.sum(x, bounds=(-1, 2), epsilon=1),
        [1.0, 1.0],
        [1.0, 1.0, math.inf],
    ),
    (
        "mean",
        lambda x: dither.mean(x, bounds=(0, 1), epsilon=1),
        [0.0] * 3,
        [0.0] * 3 + [1.0],
    ),
    (
        "mean of n",
        lambda x: dither.mean(x, bounds=(0, 1), n=3, epsilon=1),
        [0.0, 0.0, 0.0],
        [0.0, 0.0, 1.0],
    ),
    (
        "variance",
        lambda x: dither.variance(x, bounds=(0, 1), epsilon=1),
        [0.0] * 3,
        [0.0] * 3 + [1.0],
    ),
    (
        "variance of n",
        lambda x: dither.variance(x, bounds=(0, 1), n=3, epsilon=1),
        [0.0] * 3,
        [0.0, 0.0, 1.0],
    ),
    (
        "median",
        lambda x: dither.quantile(x, 0.5, bounds=(0, 4), epsilon=1),
        np.array([0, 0]),
        np.array([0, 0, 4]),
    ),
    (
        "histogram",
        lambda x: dither.histogram(x, keys=["a", "b"], epsilon=1),
        ["a", "b"],
        ["a", "b", "b"],
    ),
    ("empty", lambda x: dither.mean(x, bounds=(0, 1), epsilon=1), [], [1.0]),
    ("missing", lambda x: dither.sum(x, bounds=(1, 2), epsilon=1), [1.0], [1.0, None]),
]


@chance(5e-8)
@pytest.mark.parametrize("count", [2_000, pytest.param(10_000, marks=pytest.mark.full)])
@pytest.mark.parametrize(
    ("ask", "here", "there"), [c[1:] for c in ARRAYS], ids=[c[0] for c in ARRAYS]
)
def test_array_answers_do_not_refute_their_promise(ask, here, there, count):
    """With 95 % intervals beside the value, because these are published too. Half of the
    noise of counts, sums and means shows in the fewer draws.
    """

    def draws(data):
        return [coarse(ask(data)) for _ in range(count)]

    def coarse(release):
        low, _ = release.interval()
        return tuple(np.round(np.ravel([release.value, low]) * 2).tolist())

    assert epsilon_lower_bound(draws(here), draws(there)) <= 1
