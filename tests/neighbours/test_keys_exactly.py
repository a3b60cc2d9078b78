"""Named keys on all tiny databases, with exact probabilities: every pair of neighbours,
every way to leave keys out.
"""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest

import dither
from dither.mechanisms import KeyThreshold

KEYS = "abc"
SUBSETS = [
    frozenset(chosen) for size in range(4) for chosen in combinations(KEYS, size)
]
EPSILONS = (0.0, 0.1, 0.5, 1.0, 2.0, 4.0)


def kept(units, most):
    """Each unit keeps the first of its keys, in an order of its own: how many units
    keep each key.
    """
    orders = [
        sorted(keys, key=lambda key, u=u: (ord(key) * (u + 3)) % 7)
        for u, keys in enumerate(units)
    ]
    return {key: sum(key in order[:most] for order in orders) for key in KEYS}


def raw(units, _most):
    return {key: sum(key in keys for keys in units) for key in KEYS}


def law(mechanism, candidates, counts):
    """The probability of each set of names, where some keys are candidates."""
    chances = {
        key: mechanism.found(max(counts[key], mechanism.at_least))
        if key in candidates
        else 0
        for key in KEYS
    }
    return np.array(
        [
            math.prod(
                chances[key] if key in names else 1 - chances[key] for key in KEYS
            )
            for names in SUBSETS
        ]
    )


def divergence(one, two, epsilon):
    return float(np.maximum(one - math.exp(epsilon) * two, 0).sum())


def neighbours(unit, people):
    """All pairs of databases of so many people that differ in the last one."""
    for others in product(SUBSETS, repeat=people - 1):
        for one, two in product(SUBSETS, repeat=2):
            if unit == dither.ROW.replacing() or not two:
                yield (*others, one), (*others, two)


def worst(mechanism, candidates_of, unit, people=3):
    """By how much the worst pair exceeds the promise, at the worst ε; above 0 it is
    broken.
    """
    excess = -math.inf
    promised = {epsilon: mechanism.guarantee.delta_at(epsilon) for epsilon in EPSILONS}
    for pair in neighbours(unit, people):
        counts = [kept(side, mechanism.groups) for side in pair]
        laws = [
            law(mechanism, candidates_of(side, count), count)
            for side, count in zip(pair, counts, strict=True)
        ]
        for one, two in (laws, laws[::-1]):
            excess = max(
                excess,
                *(
                    divergence(one, two, epsilon) - promised[epsilon]
                    for epsilon in EPSILONS
                ),
            )
    return excess


def enough(at_least):
    return lambda _side, counts: {key for key in KEYS if counts[key] >= at_least}


@pytest.mark.parametrize(
    "unit", [dither.ROW, dither.ROW.replacing()], ids=["add/remove", "replace"]
)
@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize("at_least", [1, 2, 3])
def test_keys_left_out_by_what_units_keep_hold_the_promise(unit, most, at_least):
    mechanism = KeyThreshold(
        groups=most, mu=1.5, delta=0.05, unit=unit, at_least=at_least
    )
    assert worst(mechanism, enough(at_least), unit) <= 1e-12


WRONG = {
    "a threshold that is not raised": (
        1,
        lambda _side, counts: {key for key in KEYS if counts[key] >= 3},
    ),
    "counts before each unit's keys are cut": (
        3,
        lambda side, _: {k for k, n in raw(side, 0).items() if n >= 3},
    ),
    "the key of the most units": (
        1,
        lambda _side, counts: {max(KEYS, key=lambda key: (counts[key], key))},
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_other_ways_to_leave_keys_out_break_it(name):
    """The check above can fail: with each of these, one unit decides about more than
    its own keys, or too visibly.
    """
    at_least, candidates_of = WRONG[name]
    mechanism = KeyThreshold(groups=1, mu=1.1, delta=0.05, at_least=at_least)
    assert worst(mechanism, candidates_of, dither.ROW) > 0.001


# All that is released: the names, and the noisy number of units of each

LAWS = {
    "gaussian": {"mu": 1.5},
    "laplace": {"epsilon": 1.0, "truncated": False},
    "truncated": {"epsilon": 1.0, "truncated": True},
}


def released(mechanism, count, threshold):
    """The probability that a key is not named, and that of each noisy number from the
    threshold on; what is beyond 24 more adds up to the last one.
    """
    if count < mechanism.at_least:
        return np.array([1.0, *np.zeros(25)])
    tails = np.array(
        [
            math.exp(mechanism.log_tail(number - count))
            for number in range(threshold, threshold + 25)
        ]
    )
    return np.array([1 - tails[0], *(tails[:-1] - tails[1:]), tails[-1]])


def moves(unit, most, people=3):
    """The numbers of units before and after, of the keys that one unit moves; each way
    to move them once.
    """
    found = set()
    for pair in neighbours(unit, people):
        one, two = (kept(side, most) for side in pair)
        found.add(tuple(sorted((one[k], two[k]) for k in KEYS if one[k] != two[k])))
    return found - {()}


def largest_excess(mechanism, promised, *, lower=0, noise=None):
    """By how much all that is released exceeds what is promised, for the worst
    neighbours; `noise` are the wrong ones of a broken copy, `lower` its threshold.
    """
    made, excess = noise or mechanism, -math.inf
    for moved in moves(promised.unit, promised.groups):
        sides = []
        for side in zip(*moved, strict=True):
            joint = np.ones(1)
            for count in side:
                law_of_key = released(made, count, promised.threshold - lower)
                joint = np.multiply.outer(joint, law_of_key).ravel()
            sides.append(joint)
        for epsilon in EPSILONS:
            allowed = promised.guarantee.delta_at(epsilon)
            excess = max(
                excess,
                *(
                    divergence(one, two, epsilon) - allowed
                    for one, two in (sides, sides[::-1])
                ),
            )
    return excess


@pytest.mark.parametrize(
    "unit", [dither.ROW, dither.ROW.replacing()], ids=["add/remove", "replace"]
)
@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize("law_name", LAWS)
def test_names_with_their_numbers_hold_the_promise(law_name, most, unit):
    for at_least in (1, 2, 3):
        mechanism = KeyThreshold(
            groups=most, delta=0.05, unit=unit, at_least=at_least, **LAWS[law_name]
        )
        assert largest_excess(mechanism, mechanism) <= 1e-12


@pytest.mark.parametrize("law_name", LAWS)
def test_less_noise_or_a_lower_threshold_break_it(law_name):
    """The check above can fail: half the noise, or a threshold that is lower by one."""
    stated = LAWS[law_name]
    mechanism = KeyThreshold(groups=1, delta=0.05, **stated)
    name = "mu" if "mu" in stated else "epsilon"
    half = KeyThreshold(groups=1, delta=0.05, **stated | {name: 2 * stated[name]})
    assert largest_excess(mechanism, mechanism, noise=half) > 0.01
    assert largest_excess(mechanism, mechanism, lower=1) > 1e-4
