"""The remaining budget: every number that is printed fits, and hardly more does."""

from __future__ import annotations

import random  # allowed: test inputs
import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import pytest

import dither
from dither.cost import Cost
from dither.errors import BudgetExceeded
from dither.ledger.left import Remaining
from dither.ledger.policy import Policy
from dither.ledger.state import State
from dither.ledger.terms import ATTO, NANO, Accounting, Terms
from dither.mechanisms import Gaussian
from dither.privacy import (
    ApproxDP,
    BoundedRange,
    GaussianDP,
    Guarantee,
    PureDP,
    Unit,
    ZeroConcentratedDP,
)
from dither.query.plan.spend import afford

TOTALS = [
    (0.001, 0.1),
    (0.3, 1e-9),
    (1.0, 1e-6),
    (2.0, 1e-6),
    (3.0, 1e-5),
    (20.0, 0.01),
    (1e5, 1e-6),
    (2e8, 1e-3),
]
PRINTED = re.compile(r"(ε|ρ|δ|epsilon|rho) ?= ?([0-9.e+-]*[0-9])( by itself)?")
NAMES = {"ε": "epsilon", "ρ": "rho"}


def terms_of(
    accounting: Accounting, total: tuple[float, float], unit: Unit = dither.ROW
) -> Terms:
    delta = 0.0 if accounting is Accounting.PURE else total[1]
    return Terms.of(accounting, ApproxDP(total[0], delta, unit=unit))


def opened(terms: Terms, part: Fraction = Fraction(1)) -> State:
    return State(
        *State(terms.pure_cap, terms.loss_cap, terms.delta_cap).share_caps(part)
    )


def spent(source: random.Random, terms: Terms, state: State) -> State:
    """What is left after a few charges of all kinds, some of which may not have fitted
    and were recovered.
    """
    for _ in range(source.choice((0, 1, 1, 2, 3, 12))):
        part = source.choice((1e-7, 0.01, 0.3, 1 / 3, 0.5)) * source.uniform(0.5, 1)
        epsilon = max(1e-9, part * terms.total.epsilon)
        kinds: list[Guarantee] = [
            PureDP(epsilon, unit=terms.unit),
            BoundedRange(epsilon, unit=terms.unit),
        ]
        if terms.accounting is not Accounting.PURE and not source.randrange(3):
            kinds = [
                GaussianDP(part * source.choice((0.1, 0.5)), unit=terms.unit),
                ApproxDP(epsilon / 9, part * terms.total.delta / 2, unit=terms.unit),
            ]
        state = state.plus(terms.cost(source.choice(kinds)))
    return state


def drawn(accounting: Accounting, times: int) -> Iterator[Remaining]:
    source = random.Random(f"what is left, {accounting}")
    for _ in range(times):
        unit = source.choice((dither.ROW, Unit("patient", "replace")))
        terms = terms_of(accounting, source.choice(TOTALS), unit)
        shares = [
            opened(terms, Fraction(source.randint(1, 100), 100))
            for _ in range(source.randrange(2))
        ]
        states = [spent(source, terms, state) for state in (opened(terms), *shares)]
        policy = (
            Policy(ceiling=terms.total.epsilon / 4)
            if source.randrange(4) == 0
            else None
        )
        yield Remaining.of(terms, *states, policy=policy)


def meant(left: Remaining, name: str, value: float, alone: bool) -> Iterator[Guarantee]:
    """All charges that a printed number can stand for."""
    unit, total = left.terms.unit, left.terms.total
    if name == "δ":
        yield ApproxDP(1e-9, value, unit=unit)
        yield GaussianDP(1e-9, value, unit=unit)
    elif name == "rho":
        yield from (
            way.guarantee for way in afford(Cost(rho=value), left.terms, keys=False)
        )
        yield Gaussian(sensitivity=1.0, rho=value, unit=unit).guarantee
        if left.terms.accounting is Accounting.RENYI:
            yield ZeroConcentratedDP(value, unit=unit)
    elif alone:
        yield next(
            way.guarantee
            for way in afford(Cost(epsilon=value), left.terms, keys=False)
            if way.gaussian
        )
        yield Gaussian(
            sensitivity=1.0, epsilon=value, delta=total.delta, unit=unit
        ).guarantee
    else:
        yield PureDP(value, unit=unit)


def granted(left: Remaining, guarantee: Guarantee) -> bool:
    """What the account itself asks, with nothing of `Remaining`."""
    cost = left.terms.cost(guarantee)
    if left.policy is not None:
        try:
            left.policy.check(cost, left.terms)
        except BudgetExceeded:
            return False
    return all(state.fits(cost) for state in (left.state, *left.shares))


@pytest.mark.parametrize("accounting", Accounting)
def test_every_printed_number_fits_and_little_more_does(accounting: Accounting) -> None:
    seen = set()
    for left in drawn(accounting, 100):
        for text in (
            left.in_words(),
            left.refusal(PureDP(1.0)).partition("does not fit")[2],
        ):
            for sign, digits, alone in PRINTED.findall(text):
                name = NAMES.get(sign, sign)
                value, unit = float(digits), 1 / ATTO if name == "δ" else 1 / NANO
                seen.add((name, bool(alone)))
                assert not value or all(
                    granted(left, one) for one in meant(left, name, value, alone)
                ), text
                assert not any(
                    granted(left, one)
                    for one in meant(left, name, 1.01 * value + unit, alone)
                ), text
    assert len(seen) == (1 if accounting is Accounting.PURE else 4)


@pytest.mark.parametrize("accounting", Accounting)
def test_the_share_that_is_left_can_be_asked_for_in_every_kind(
    accounting: Accounting,
) -> None:
    """`share=` in a question: the headline and the attribute promise nothing that is
    refused.
    """
    open_ones = 0
    for drawn_left in drawn(accounting, 60):
        left = replace(drawn_left, policy=None)
        percent, _, rest = left.in_words().partition(" %")
        by_epsilon = rest.startswith(" of the ε")  # which share= does not mean
        assert float(percent) / 100 <= (left.pure_share if by_epsilon else left.share)
        assert left.metered == (left.pure_share if by_epsilon else left.share)
        assert not (by_epsilon and left.mu)
        stated = 0.0 if by_epsilon else float(percent) / 100
        for share in (stated, left.share * (1 - 1e-9)):
            if share > 1e-6:
                open_ones += 1
                ways = afford(Cost(share=share), left.terms, keys=False)
                assert all(granted(left, way.guarantee) for way in ways)
    assert open_ones > 30


@pytest.mark.parametrize("accounting", Accounting)
def test_nothing_fits_where_it_says_so(accounting: Accounting) -> None:
    closed = [
        left for left in drawn(accounting, 80) if "nothing fits" in left.in_words()
    ]
    assert len(closed) > 3
    for left in closed:
        assert not left.fits(PureDP(1e-9, unit=left.terms.unit))
        assert not left.fits(GaussianDP(1e-9, unit=left.terms.unit))
        assert (
            left.share
            == left.epsilon
            == left.mu
            == left.rho
            == left.gaussian_epsilon
            == left.delta
            == 0
        )
        assert left.counts(1e6) == 0


def test_what_is_said_to_be_left_can_be_asked() -> None:
    for accounting in (Accounting.RENYI, Accounting.GDP):
        terms = terms_of(accounting, (1.0, 1e-6))
        left = Remaining(terms, opened(terms).plus(terms.cost(PureDP(0.1))))
        assert left.state.fits(terms.cost(PureDP(left.epsilon)))
        assert not left.state.fits(terms.cost(PureDP(left.epsilon + 2e-9)))
        assert left.state.fits(terms.cost(GaussianDP(left.mu)))
        assert not left.state.fits(terms.cost(GaussianDP(left.mu + 2e-9)))


def test_an_account_of_which_sixty_percent_seemed_left() -> None:
    """The sum of ε has 60 % left, the losses 29 %: that much an answer of either kind
    may take.
    """
    budget = dither.Budget(epsilon=2, delta=1e-6)
    budget.charge(PureDP(0.8))
    left = budget.remaining
    assert (left.pure_share, round(left.loss_share, 3), left.share) == (
        0.6,
        0.291,
        left.loss_share,
    )
    assert left.in_words() == (
        "29.1 %, for example one Laplace answer at ε = 1.2, or one Gaussian answer at "
        "ρ = 0.02428 (ε = 0.9258 by itself)"
    )
    assert left.refusal(GaussianDP(0.3)) == (
        "μ = 0.3 (Gaussian) does not fit: 29.1 % remains. Ask for at most epsilon=1.2 "
        "(Laplace), or rho=0.02428 (Gaussian, ε = 0.9258 by itself). Nothing was spent."
    )


def test_the_remaining_delta_is_printed_once_some_of_it_is_spent() -> None:
    budget = dither.Budget(epsilon=2, delta=1e-6)
    assert "δ" not in budget.remaining.in_words()
    budget.charge(ApproxDP(0.1, 1e-7))
    left = budget.remaining
    assert left.in_words().endswith("; at most δ = 4e-07 for answers that carry one")
    words = left.refusal(ApproxDP(0.1, 1e-5))
    assert words.endswith(
        "; an answer with a δ can carry at most δ = 4e-07, at a smaller ε. Nothing was "
        "spent."
    )
    assert "δ" not in left.refusal(PureDP(9.0))


def test_after_two_of_three_only_a_pure_answer_fits() -> None:
    budget = dither.Budget(epsilon=3, delta=1e-6)
    budget.charge(PureDP(1))
    budget.charge(PureDP(1))
    left = budget.remaining
    assert (left.share, left.epsilon, left.mu, left.delta) == (0, 1, 0, 0)
    assert left.in_words() == (
        "33.3 % of the ε of the account, for example one Laplace answer at ε = 1"
    )
    with pytest.raises(BudgetExceeded):
        budget.charge(GaussianDP(0.001))
    budget.charge(PureDP(1))
    assert budget.remaining.in_words() == "0 %, nothing fits"


def test_a_gaussian_answer_is_named_first_where_it_is_cheaper() -> None:
    terms = terms_of(Accounting.RENYI, (2.0, 1e-6))
    left = Remaining(terms, opened(terms).plus(terms.cost(GaussianDP(0.15))))
    assert left.epsilon < left.gaussian_epsilon
    assert "86.5 % remains. Ask for at most rho=" in left.refusal(PureDP(1.0))
    assert "86.5 %, for example one Gaussian answer at ρ = " in left.in_words()


def test_a_pure_account_says_one_number() -> None:
    terms = terms_of(Accounting.PURE, (1.0, 0.0))
    left = Remaining(terms, opened(terms).plus(terms.cost(PureDP(0.75))))
    assert left.in_words() == "25 %, for example one Laplace answer at ε = 0.25"
    assert left.refusal(PureDP(0.3), into="the share of ana") == (
        "ε = 0.3 (pure) does not fit into the share of ana: 25 % remains. "
        "Ask for at most epsilon=0.25 (Laplace). Nothing was spent."
    )
    assert str(left) == f"remaining: {left.in_words()}; or 0 counts of units within ±10"


@pytest.mark.parametrize("accounting", Accounting)
def test_every_number_fits_as_it_is(accounting: Accounting) -> None:
    for left in drawn(accounting, 60):
        for name, value in (
            ("epsilon", left.epsilon),
            ("rho", left.rho),
            ("δ", left.delta),
        ):
            assert not value or all(
                granted(left, one) for one in meant(left, name, value, alone=False)
            ), name
        alone = left.gaussian_epsilon
        assert not alone or all(
            granted(left, one) for one in meant(left, "epsilon", alone, alone=True)
        )


def test_numbers_are_never_rounded_up() -> None:
    terms = terms_of(Accounting.PURE, (1.0, 0.0))
    for rest, shown in (
        (123_456_789, "0.1234"),
        (999_999_999, "0.9999"),
        (1, "1e-09"),
        (10**9, "1"),
    ):
        left = Remaining(terms, replace(opened(terms), pure_spent=10**9 - rest))
        assert left.in_words().endswith(f" at ε = {shown}")
    almost = Remaining(terms, replace(opened(terms), pure_spent=1))
    assert almost.in_words().startswith("99.9 %, ")
    assert almost.share < 1


def test_a_share_limits_what_the_account_leaves_and_the_other_way_round() -> None:
    terms = terms_of(Accounting.RENYI, (3.0, 1e-6))
    account, half = opened(terms), opened(terms, Fraction(1, 2))
    assert Remaining.of(terms, account, half).share == pytest.approx(0.5)
    assert (
        Remaining.of(terms, account, half)
        .in_words()
        .startswith("50 % of the account, for example one Gaussian ")
    )
    assert Remaining.of(terms, account, half).epsilon == 1.5
    assert Remaining.of(terms, account, half).delta == 2.5e-7
    others = account.plus(terms.cost(GaussianDP(0.55)))
    alone, both = Remaining.of(terms, others), Remaining.of(terms, others, half)
    assert both.share == alone.share < 0.5
    assert both.mu == alone.mu
    used = Remaining.of(terms, account, half.plus(terms.cost(GaussianDP(0.3))))
    assert used.share < 0.5
    assert used.counts(10) < Remaining.of(terms, account).counts(10)


def test_a_ceiling_limits_what_fits() -> None:
    terms = terms_of(Accounting.PURE, (3.0, 0.0))
    left = Remaining.of(terms, opened(terms), policy=Policy(ceiling=0.5))
    assert left.in_words() == "100 %, for example one Laplace answer at ε = 0.5"
    assert left.counts(1) == 0 < left.counts(10)


def test_an_account_that_recovered_more_than_it_had_says_nothing_fits() -> None:
    terms = terms_of(Accounting.RENYI, (1.0, 1e-6))
    state = replace(opened(terms), delta_spent=terms.delta_cap + 1, impure=1)
    left = Remaining(terms, state)
    assert left.in_words() == "0 %, nothing fits"
    assert left.share == left.delta == 0


def test_a_large_delta_leaves_more_gaussian_noise_than_any_epsilon_states() -> None:
    """At ε = 0.001 and δ = 0.1 a μ far above ε fits; 1.01 times it does not."""
    terms = terms_of(Accounting.GDP, (0.001, 0.1))
    left = Remaining(terms, opened(terms))
    assert left.mu > 16 * 0.001
    assert not left.fits(GaussianDP(left.mu + 2 / NANO))


@pytest.mark.parametrize("accounting", Accounting)
def test_a_charge_takes_what_remains_less_of_after_it(accounting: Accounting) -> None:
    """The part that a charge costs and what remains are on one meter."""
    terms = terms_of(accounting, (3.0, 1e-6))
    left = Remaining.of(terms, opened(terms))
    taken = left.taking(PureDP(0.3))
    assert taken is not None
    assert taken.share + taken.remaining.share == pytest.approx(1)
    assert taken.in_words().endswith(" % of the account")
    assert (taken.delta, left.share) == (0, 1)
    if accounting is not Accounting.PURE:
        carried = left.taking(ApproxDP(0.1, 1e-7))
        assert carried is not None
        assert carried.delta == pytest.approx(0.2)
        assert carried.in_words().endswith(" of the account and 20 % of its δ")


def test_an_answer_that_only_the_sum_of_epsilon_has_room_for() -> None:
    """Its losses would be more than the whole account."""
    terms = terms_of(Accounting.GDP, (3.0, 1e-6))
    taken = Remaining.of(terms, opened(terms)).taking(PureDP(0.75))
    assert taken is not None
    assert taken.in_words() == "25 % of the ε of the account"
    assert taken.remaining.in_words() == (
        "75 % of the ε of the account, for example one Laplace answer at ε = 2.25"
    )


def test_a_charge_to_an_account_that_was_amended_elsewhere_says_no_part() -> None:
    """The caps of the book are then not those of the terms at hand."""
    terms = terms_of(Accounting.RENYI, (3.0, 1e-6))
    other = terms_of(Accounting.RENYI, (4.0, 1e-6))
    assert Remaining.of(terms, opened(other)).taking(PureDP(0.5)) is None
