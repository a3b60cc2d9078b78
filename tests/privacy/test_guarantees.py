from __future__ import annotations

import pickle
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from dither.errors import ArgumentError, NoConversion, UnitMismatch
from dither.privacy import (
    ROW,
    ApproxDP,
    BoundedRange,
    Composed,
    GaussianDP,
    Guarantee,
    MetricDP,
    PureDP,
    Relation,
    RenyiDP,
    Unit,
    ZeroConcentratedDP,
    compose,
)

from .support import (
    EXACT,
    Pair,
    exponential_mechanism,
    hockey_stick,
    randomized_response,
    together,
    written,
)


def leaking_response(epsilon: float, delta: float) -> Pair:
    """Randomized response that reveals everything with probability δ: the worst (ε, δ)
    mechanism.
    """
    leak = mpf(delta)
    kept = [(a * (1 - leak), b * (1 - leak)) for a, b in randomized_response(epsilon)]
    return [*kept, (leak, mpf(0)), (mpf(0), leak)]


@settings(max_examples=100, deadline=None)
@given(st.floats(1e-6, 30.0), st.floats(0.0, 1.5))
def test_pure_delta_is_that_of_randomized_response(
    epsilon: float, share: float
) -> None:
    wanted = epsilon * share
    truth = hockey_stick(randomized_response(epsilon), wanted)
    assert (
        truth
        <= PureDP(epsilon).delta_at(wanted) + EXACT
        <= truth * (1 + mpf(1e-9)) + 2 * EXACT
    )


@pytest.mark.parametrize(
    ("epsilon", "wanted"),
    [(1.0, 0.99999), (0.7, 0.699999999), (0.1, 0.1 - 1e-15), (3.3, 3.3 - 1e-14)],
)
def test_delta_just_below_epsilon_is_that_of_the_numbers_as_written(
    epsilon: float, wanted: float
) -> None:
    """The difference of two numbers that are nearly alike shows what each was rounded
    by.
    """
    truth = hockey_stick(randomized_response(epsilon), wanted)
    assert truth <= PureDP(epsilon).delta_at(wanted)
    twice = together(*[randomized_response(epsilon / 2)] * 2)
    assert hockey_stick(twice, wanted) <= Composed([PureDP(epsilon / 2)] * 2).delta_at(
        wanted
    )
    top = written(epsilon)
    range_truth = (1 - mp.e ** ((written(wanted) - top) / 2)) ** 2 / (1 - mp.e**-top)
    assert range_truth <= BoundedRange(epsilon).delta_at(wanted)


@settings(max_examples=100, deadline=None)
@given(
    st.floats(1e-6, 30.0),
    st.just(0.0) | st.floats(1e-300, 0.2),
    st.just(0.0) | st.floats(1e-300, 0.7),
)
def test_approx_epsilon_holds_on_the_worst_mechanism(
    epsilon: float, carried: float, more: float
) -> None:
    guarantee = ApproxDP(epsilon, carried)
    found = guarantee.epsilon_at(carried + more)
    assert found <= epsilon
    assert (
        hockey_stick(leaking_response(epsilon, carried), found)
        <= carried + more + EXACT
    )


def test_approx_needs_at_least_its_own_delta() -> None:
    assert ApproxDP(1.0, 1e-6).epsilon_at(1e-6) == 1.0
    with pytest.raises(
        NoConversion, match=r"^delta must be at least 1e-06, .*pass a larger delta"
    ):
        ApproxDP(1.0, 1e-6).epsilon_at(1e-7)


@settings(max_examples=60, deadline=None)
@given(st.floats(0.01, 8.0), st.floats(0.0, 0.95))
def test_bounded_range_curve_is_the_worst_two_point_ratio(
    epsilon: float, share: float
) -> None:
    import math

    guarantee, wanted = BoundedRange(epsilon), epsilon * share
    t = (epsilon + wanted) / 2
    high = -math.expm1(t - epsilon) / (math.exp(t) - math.exp(t - epsilon))
    worst = [(high * math.exp(t), high), ((1 - high) * math.exp(t - epsilon), 1 - high)]
    there = sum(max(p - math.exp(wanted) * q, 0.0) for p, q in worst)
    found = guarantee.delta_at(wanted)
    assert there * (1 - 1e-9) <= found <= there * (1 + 1e-6)
    assert wanted - 1e-9 <= guarantee.epsilon_at(found) <= epsilon


def test_bounded_range_holds_for_exponential_mechanisms() -> None:
    for scores in ([0, 0, 0], [2, 0, 1], [0, 4, 4]):
        pair = exponential_mechanism(
            scores, [scores[0] + 0.5, scores[1] - 0.5, scores[2]]
        )
        for epsilon in (0.0, 0.3, 0.8, 1.0):
            assert hockey_stick(pair, epsilon) <= BoundedRange(1.0).delta_at(epsilon)


def test_a_family_of_five() -> None:
    assert PureDP(0.5).for_group(5) == PureDP(2.5)
    family = ApproxDP(1.0, 1e-5).for_group(5)
    assert (family.epsilon, family.delta) == (5.0, pytest.approx(8.6e-4, rel=3e-3))  # type: ignore[attr-defined]
    assert BoundedRange(0.5).for_group(4) == BoundedRange(2.0)
    assert PureDP(0.5).for_group(1) == PureDP(0.5)


def test_group_delta_holds_on_a_chain_of_responses() -> None:
    """The worst (ε, δ) chain of three datasets, whose far ends are a group of two."""
    step = leaking_response(0.5, 0.01)
    ends = together(step, step)
    group = ApproxDP(0.5, 0.01).for_group(2)
    assert hockey_stick(ends, group.epsilon) <= group.delta  # type: ignore[attr-defined]


def test_replacement_is_a_removal_and_an_addition() -> None:
    assert PureDP(0.5).for_replacement() == PureDP(1.0, unit=ROW.replacing())
    replaced = ApproxDP(1.0, 1e-6).for_replacement()
    assert isinstance(replaced, ApproxDP)
    assert (replaced.epsilon, replaced.delta) == (
        2.0,
        pytest.approx(1e-6 * (1 + 2.718281828)),
    )
    assert replaced.for_replacement() is replaced


def test_a_group_that_is_not_protected_is_refused() -> None:
    with pytest.raises(NoConversion, match=r"smaller ε or δ"):
        ApproxDP(5.0, 1e-3).for_group(10)
    with pytest.raises(ArgumentError, match=r"^size .*such as 5"):
        PureDP(1.0).for_group(0)


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), "1", None])
@pytest.mark.parametrize("make", [PureDP, BoundedRange, lambda e: ApproxDP(e, 1e-6)])
def test_bad_epsilon_is_named(make: Any, bad: Any) -> None:
    with pytest.raises(ArgumentError, match=r"pass a finite ε") as caught:
        make(bad)
    assert caught.value.argument == "epsilon"


@pytest.mark.parametrize("bad", [-1e-9, 1, 1.5, float("nan"), "0"])
def test_bad_delta_is_named(bad: Any) -> None:
    for call in (
        lambda: ApproxDP(1, bad),
        lambda: PureDP(1).epsilon_at(bad),
        lambda: PureDP(1).approx(bad),
    ):
        with pytest.raises(ArgumentError, match=r"^delta .*such as 1e-6"):
            call()


@pytest.mark.parametrize("bad", [1, 0.5, -2, float("nan"), float("inf"), "2"])
def test_bad_order_is_named(bad: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^order .*pass"):
        PureDP(1).renyi(bad)


def test_a_unit_must_be_a_unit() -> None:
    with pytest.raises(ArgumentError, match=r"^unit .*Unit\('row'\)"):
        PureDP(1, unit="row")  # type: ignore[arg-type]


def test_words() -> None:
    assert str(PureDP(0.5)) == "ε = 0.5 (pure), protects one row (add/remove)"
    assert (
        str(ApproxDP(1.2, 1e-6)) == "ε = 1.2, δ = 1e-06, protects one row (add/remove)"
    )
    assert (
        str(BoundedRange(1, unit=Unit("patient_id")))
        == "ε = 1 (bounded range), protects one patient_id (add/remove)"
    )


@pytest.mark.parametrize(
    "guarantee",
    [PureDP(0.5), ApproxDP(1, 1e-6), BoundedRange(0.1, unit=ROW.replacing())],
)
def test_guarantees_are_values(guarantee: Guarantee) -> None:
    assert pickle.loads(pickle.dumps(guarantee)) == guarantee
    assert hash(guarantee) == hash(pickle.loads(pickle.dumps(guarantee)))
    with pytest.raises(AttributeError):
        guarantee.epsilon = 3.0  # type: ignore[attr-defined]


def test_values_between_floats_round_up() -> None:
    assert Fraction(PureDP(Fraction(1, 3)).epsilon) > Fraction(1, 3)  # type: ignore[arg-type]


def test_an_epsilon_of_zero_is_stated_as_a_tiny_one() -> None:
    assert PureDP(0.1).epsilon_at(0.5) == 0.0
    assert 0.0 < PureDP(0.1).approx(0.5).epsilon <= 1e-12


def test_small_bounded_ranges_are_not_understated() -> None:
    """Absolute rounding errors once made ε(δ) 4e-4 too small here."""
    from mpmath import mp, mpf

    for epsilon, delta in (
        (1.189e-12, 1.975e-13),
        (1e-6, 1e-8),
        (1.3e-4, 3e-6),
        (1e-9, 2e-10),
    ):
        eta = mpf(epsilon)
        truth = eta + 2 * mp.log1p(-mp.sqrt(mpf(delta) * -mp.expm1(-eta)))
        assert mpf(BoundedRange(epsilon).epsilon_at(delta)) >= truth


def test_numbers_of_other_types_are_not_rounded_down() -> None:
    from decimal import Decimal

    import numpy as np

    for number in (np.int64(2**53 + 1), Decimal(2**53 + 1), 2**53 + 1):
        assert PureDP(number).epsilon == 2.0**53 + 2


FACTS = ("total of each state",)
REPLACED = Unit("person", Relation.REPLACE)
EVERY_KIND = (
    PureDP(0.5, unit=REPLACED),
    ApproxDP(0.5, 1e-6, unit=REPLACED),
    BoundedRange(0.5, unit=REPLACED),
    ZeroConcentratedDP(0.1, 1e-9, unit=REPLACED),
    GaussianDP(0.5, unit=REPLACED),
    RenyiDP({2: 0.1, 8: 0.5}, unit=REPLACED),
    Composed([PureDP(0.5, unit=REPLACED), GaussianDP(0.5, unit=REPLACED)]),
    MetricDP(0.5, unit=REPLACED),
)


@pytest.mark.parametrize("guarantee", EVERY_KIND, ids=lambda one: type(one).__name__)
def test_a_promise_holds_given_exact_facts(guarantee: Guarantee) -> None:
    assert guarantee.given == ()
    assert guarantee.for_facts([]) is guarantee
    told = guarantee.for_facts(FACTS)
    assert told.given == FACTS
    assert told.unit == REPLACED.with_facts(FACTS)
    assert str(told) == f"{guarantee}, given the exact total of each state"
    assert told.for_facts(FACTS) is told
    assert told.for_replacement() == told
    assert told.for_facts(["all"]).given == ("all", *FACTS)
    if not isinstance(told, MetricDP):
        assert told.approx(1e-6).given == FACTS
        assert told.epsilon_at(1e-6) == guarantee.epsilon_at(1e-6)


def test_facts_are_for_those_who_are_replaced() -> None:
    person = PureDP(0.5, unit=Unit("person"))
    with pytest.raises(NoConversion, match=r"\.for_replacement\(\) first"):
        person.for_facts(FACTS)
    assert person.for_facts([]) is person
    converted = person.for_replacement().for_facts(FACTS)
    assert converted == PureDP(1.0, unit=REPLACED.with_facts(FACTS))


def test_guarantees_given_different_facts_do_not_add_up() -> None:
    one, other = PureDP(0.5, unit=REPLACED), GaussianDP(0.1, unit=REPLACED)
    with pytest.raises(UnitMismatch, match=r"given the exact total"):
        Composed([one.for_facts(FACTS), other])
    with pytest.raises(UnitMismatch, match=r"\.for_facts"):
        compose([one.for_facts(FACTS), other.for_facts(["all"])], 1e-6)
    both = Composed([one.for_facts(FACTS), other.for_facts(FACTS)])
    assert both.given == compose(both.parts, 1e-6).guarantee.given == FACTS


def test_nothing_follows_for_groups_given_facts() -> None:
    """Two people in one state each: whoever publishes who is where tells no two
    neighbours apart that agree on the totals, and tells a swap of both apart.
    """
    worlds = [(a, b) for a in "xy" for b in "xy"]

    def agree(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
        return sorted(one) == sorted(other)

    def apart(one: tuple[str, ...], other: tuple[str, ...]) -> int:
        return sum(a != b for a, b in zip(one, other, strict=True))

    pairs = [(one, other) for one in worlds for other in worlds if agree(one, other)]
    assert not [pair for pair in pairs if apart(*pair) == 1]
    assert [pair for pair in pairs if apart(*pair) == 2]
    told = PureDP(0.5, unit=REPLACED.with_facts(FACTS))
    for guarantee in (told, Composed([told, told])):
        with pytest.raises(NoConversion, match=r"\.for_group before \.for_facts"):
            guarantee.for_group(2)
        assert guarantee.for_group(1) is guarantee
    grouped = PureDP(0.5, unit=REPLACED).for_group(2).for_facts(FACTS)
    assert grouped == replace(told, epsilon=1.0)
