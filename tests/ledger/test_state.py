"""The state of an account is a filter, tested against brute force: every path of an
adaptive adversary, enumerated.
"""

from __future__ import annotations

import math
import random  # allowed: test inputs
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import NormalDist

import pytest

from dither.ledger.state import State
from dither.ledger.terms import LARGEST, NANO, Accounting, Price, Terms
from dither.privacy import (
    ApproxDP,
    BoundedRange,
    GaussianDP,
    Guarantee,
    PureDP,
    ZeroConcentratedDP,
)
from tests.ledger.support import BOTH, opened, terms_of

PHI = NormalDist().cdf


@dataclass(frozen=True)
class Mechanism:
    """A guarantee, and the probabilities of each outcome on two neighbours of something
    that has it.
    """

    guarantee: Guarantee
    here: tuple[float, ...]
    there: tuple[float, ...]


def response(epsilon: float, kind: Callable[[float], Guarantee] = PureDP) -> Mechanism:
    truth = 1 / (1 + math.exp(-epsilon))
    return Mechanism(kind(epsilon), (truth, 1 - truth), (1 - truth, truth))


def exponential(epsilon: float, tops: Sequence[float]) -> Mechanism:
    """The exponential mechanism on scores that one unit raises by at most 1, all in one
    direction.
    """
    here = [math.exp(epsilon * top) for top in tops]
    there = [1.0 for _ in tops]
    return Mechanism(BoundedRange(epsilon), normal(here), normal(there))


def normal(weights: Sequence[float]) -> tuple[float, ...]:
    return tuple(weight / math.fsum(weights) for weight in weights)


def gaussian(
    mu: float, cuts: Sequence[float], kind: Callable[[float], Guarantee] = GaussianDP
) -> Mechanism:
    """N(0, 1) against N(μ, 1), seen only through which interval the value lies in."""
    edges = [-math.inf, *sorted(cuts), math.inf]

    def bins(shift: float) -> tuple[float, ...]:
        return tuple(
            PHI(high - shift) - PHI(low - shift) for low, high in pairwise(edges)
        )

    return Mechanism(kind(mu), bins(0.0), bins(mu))


def revealing(mechanism: Mechanism, delta: float) -> Mechanism:
    """With probability δ the dataset itself, otherwise the mechanism."""
    guarantee = mechanism.guarantee
    if isinstance(guarantee, GaussianDP):
        carried: Guarantee = replace(guarantee, delta=delta)
    else:
        assert isinstance(guarantee, PureDP)
        carried = ApproxDP(guarantee.epsilon, delta)
    here = (delta, 0.0, *((1 - delta) * p for p in mechanism.here))
    there = (0.0, delta, *((1 - delta) * p for p in mechanism.there))
    return Mechanism(carried, here, there)


def concentrated(mu: float) -> Guarantee:
    return ZeroConcentratedDP(math.nextafter(mu * mu / 2, 1.0))


def drawn(source: random.Random, terms: Terms) -> Mechanism:
    """A mechanism that costs between a tenth and all of the account."""
    epsilon, part = (
        terms.total.epsilon,
        source.choice((0.1, 0.25, 1 / 3, 0.5, 0.8, 1.0)),
    )
    mu = (
        math.sqrt(
            part * terms.loss_cap / NANO * (2 / terms.order if terms.order else 1)
        )
        * 0.999_999
    )
    kinds = [
        lambda: response(part * epsilon),
        lambda: response(part * epsilon * 0.999, lambda e: ApproxDP(e, 0.0)),
        lambda: exponential(part * epsilon, [source.random() for _ in range(3)]),
        lambda: gaussian(mu, [mu / 2 + source.uniform(-1.5, 1.5) for _ in range(2)]),
        lambda: revealing(gaussian(mu / 2, [mu / 4]), terms.total.delta / 2 * part),
        lambda: revealing(response(part * epsilon / 2), terms.total.delta / 2 * part),
    ]
    if terms.accounting is Accounting.RENYI:
        kinds.append(lambda: gaussian(mu, [mu / 2 + 0.5], concentrated))
    return source.choice(kinds)()


Fits = Callable[[State, Price], bool]
Priced = tuple[Mechanism, Price]


def priced(pool: Sequence[Mechanism], terms: Terms) -> list[Priced]:
    return [(mechanism, terms.cost(mechanism.guarantee)) for mechanism in pool]


def worst(
    state: State,
    here: float,
    there: float,
    pool: list[Priced],
    epsilon: float,
    depth: int,
    fits: Fits,
) -> float:
    """The largest Σ(P − e^ε·Q)₊ that any strategy reaches from here: at each point it
    takes the best next question.
    """
    best = max(0.0, here - math.exp(epsilon) * there)
    if depth == 0 or here == 0.0 or there == 0.0:
        return best
    for mechanism, cost in pool:
        if fits(state, cost):
            after = state.plus(cost)
            outcomes = zip(mechanism.here, mechanism.there, strict=True)
            parts = (
                worst(after, here * p, there * q, pool, epsilon, depth - 1, fits)
                for p, q in outcomes
            )
            best = max(best, math.fsum(parts))
    return best


def followed(
    state: State, here: float, there: float, strategy: Strategy, past: tuple[int, ...]
) -> float:
    """Σ(P − e^ε·Q)₊ of one strategy, which also asks for what will be refused, and
    learns that it was.
    """
    mechanism, cost = strategy.next(past)
    if len(past) == strategy.depth:
        return max(0.0, here - math.exp(strategy.epsilon) * there)
    if not state.fits(cost):
        return followed(state, here, there, strategy, (*past, -1))
    after, outcomes = (
        state.plus(cost),
        zip(mechanism.here, mechanism.there, strict=True),
    )
    return math.fsum(
        followed(after, here * p, there * q, strategy, (*past, k))
        for k, (p, q) in enumerate(outcomes)
    )


@dataclass
class Strategy:
    """What to ask next, as a function of everything seen so far: drawn at random once
    for each past.
    """

    source: random.Random
    terms: Terms
    depth: int
    chosen: dict[tuple[int, ...], Priced]

    @property
    def epsilon(self) -> float:
        return self.terms.total.epsilon

    def next(self, past: tuple[int, ...]) -> Priced:
        if past not in self.chosen:
            self.chosen[past] = priced([drawn(self.source, self.terms)], self.terms)[0]
        return self.chosen[past]

    def reversed(self) -> Strategy:
        flipped = {
            past: (replace(m, here=m.there, there=m.here), cost)
            for past, (m, cost) in self.chosen.items()
        }
        return replace(self, chosen=flipped)


TOTALS = [(1.0, 0.1), (1.0, 0.02), (0.5, 0.2), (3.0, 0.01), (2.0, 0.3)]
FLOATS = 1e-12


@pytest.mark.parametrize("accounting", BOTH)
@pytest.mark.parametrize("total", TOTALS)
def test_no_random_strategy_exceeds_the_promise(
    accounting: Accounting, total: tuple[float, float]
) -> None:
    source, terms = random.Random(f"{accounting} {total}"), terms_of(accounting, total)
    for _ in range(40):
        strategy = Strategy(source, terms, 6, {})
        assert followed(opened(terms), 1.0, 1.0, strategy, ()) <= total[1] + FLOATS
        assert (
            followed(opened(terms), 1.0, 1.0, strategy.reversed(), ())
            <= total[1] + FLOATS
        )


@pytest.mark.parametrize("accounting", BOTH)
@pytest.mark.parametrize("total", TOTALS)
def test_no_best_strategy_exceeds_the_promise(
    accounting: Accounting, total: tuple[float, float]
) -> None:
    """From random pools, the adversary that is best at every point, whatever the
    earlier answers were.
    """
    source, terms = random.Random(f"{total} {accounting}"), terms_of(accounting, total)
    for _ in range(12):
        pool = priced([drawn(source, terms) for _ in range(4)], terms)
        assert (
            worst(opened(terms), 1.0, 1.0, pool, total[0], 4, State.fits)
            <= total[1] + FLOATS
        )


def hard_pool(terms: Terms) -> list[Priced]:
    """Pure charges that fill branch 1, a Gaussian that fills branch 2, one that
    reveals, and a small pure one.
    """
    epsilon, delta = terms.total.epsilon, terms.total.delta
    mu = (
        math.sqrt(terms.loss_cap / NANO * (2 / terms.order if terms.order else 1))
        * 0.999_999
    )
    pool = [
        response(epsilon),
        gaussian(mu, [mu / 2, mu / 2 + 1.5]),
        revealing(response(epsilon / 8), delta / 2),
    ]
    return priced([*pool, response(epsilon / 2)], terms)


@pytest.mark.parametrize("accounting", BOTH)
@pytest.mark.parametrize("total", TOTALS)
def test_pure_charges_first_and_then_others(
    accounting: Accounting, total: tuple[float, float]
) -> None:
    terms = terms_of(accounting, total)
    whole, *_, half = hard_pool(terms)
    for first in ([whole], [half, half], [half]):
        state = opened(terms)
        for _, cost in first:
            assert state.fits(cost)
            state = state.plus(cost)
        for _, cost in hard_pool(terms):
            fits = (
                state.loss_spent + cost.loss <= state.loss_cap
                and cost.delta <= state.delta_cap
            )
            assert cost.pure is not None or state.fits(cost) == fits
    assert (
        worst(opened(terms), 1.0, 1.0, hard_pool(terms), total[0], 4, State.fits)
        <= total[1] + FLOATS
    )


def test_a_spent_plain_sum_leaves_nothing_for_others() -> None:
    for accounting in BOTH:
        terms = terms_of(accounting, (3.0, 1e-6))
        state = opened(terms).plus(terms.cost(PureDP(3.0)))
        assert not any(
            state.fits(terms.cost(other))
            for other in (PureDP(1e-9), GaussianDP(1e-6), ApproxDP(1e-9, 1e-12))
        )


def counting_only_pure(state: State, cost: Price) -> bool:
    """Broken: branch 1 looks at the pure charges alone, though others were made."""
    pure = cost.pure is not None and state.pure_spent + cost.pure <= state.pure_cap
    return pure or state.fits(cost)


def doubled(state: State, cost: Price) -> bool:
    """Broken: caps twice as high as promised."""
    caps = (2 * state.pure_cap, 2 * state.loss_cap, 2 * state.delta_cap)
    return replace(state, pure_cap=caps[0], loss_cap=caps[1], delta_cap=caps[2]).fits(
        cost
    )


def blind_to_delta(state: State, cost: Price) -> bool:
    """Broken: the δ that charges carry is not counted."""
    return replace(state, delta_cap=LARGEST).fits(cost)


@pytest.mark.parametrize("accounting", BOTH)
@pytest.mark.parametrize("broken", [counting_only_pure, doubled, blind_to_delta])
def test_broken_filters_are_found(accounting: Accounting, broken: Fits) -> None:
    terms = terms_of(accounting, (1.0, 0.02))
    assert worst(opened(terms), 1.0, 1.0, hard_pool(terms), 1.0, 4, broken) > 0.02 * 1.1


def test_forgetting_what_branch_one_granted_is_found() -> None:
    """Broken: pure charges that branch 1 granted leave no trace in the losses."""

    class Forgetful(State):
        def plus(self, cost: Price) -> State:
            free = (
                cost.pure is not None
                and self.impure == 0
                and self.pure_spent + cost.pure <= self.pure_cap
            )
            after = super().plus(replace(cost, loss=0) if free else cost)
            return Forgetful(
                *(getattr(after, name.strip()) for name in State.COLUMNS.split(","))
            )

    for accounting in BOTH:
        terms = terms_of(accounting, (1.0, 0.02))
        start = Forgetful(terms.pure_cap, terms.loss_cap, terms.delta_cap)
        assert worst(start, 1.0, 1.0, hard_pool(terms), 1.0, 4, State.fits) > 0.02 * 1.1


def test_the_check_comes_close_to_the_promise() -> None:
    """The bound is not kept from far below: half of δ is revealed, and Gaussians use
    most of the other half.
    """
    terms = terms_of(Accounting.GDP, (1.0, 0.1))
    mu = math.sqrt(terms.loss_cap / NANO) * 0.999_999
    tiny = revealing(response(1e-4), 0.05)
    found = worst(
        opened(terms),
        1.0,
        1.0,
        priced([gaussian(mu * 0.999, [k / 2 for k in range(-8, 9)]), tiny], terms),
        1.0,
        2,
        State.fits,
    )
    assert 0.09 < found <= 0.1


def with_caps(state: State, terms: Terms) -> State:
    """The same sums under other caps: what `amend` does."""
    return replace(
        state,
        pure_cap=terms.pure_cap,
        loss_cap=terms.loss_cap,
        delta_cap=terms.delta_cap,
    )


NOTHING = Price(0, 0, 0)


def amended(
    state: State, here: float, there: float, raising: Raising, past: tuple[int, ...]
) -> Iterator[tuple[State, float, float]]:
    """Every way in which an account ends whose total is raised, or lowered again,
    depending on the answers.
    """
    if raising.raises(past):
        state = with_caps(state, raising.larger)
    elif with_caps(state, raising.strategy.terms).fits(NOTHING):
        state = with_caps(state, raising.strategy.terms)
    mechanism, cost = raising.strategy.next(past)
    if len(past) == raising.strategy.depth:
        yield state, here, there
    elif not state.fits(cost):
        yield from amended(state, here, there, raising, (*past, -1))
    else:
        for k, (p, q) in enumerate(zip(mechanism.here, mechanism.there, strict=True)):
            yield from amended(
                state.plus(cost), here * p, there * q, raising, (*past, k)
            )


@dataclass
class Raising:
    """A strategy, a larger total of the same order, and when it is in force."""

    strategy: Strategy
    larger: Terms
    chosen: dict[tuple[int, ...], bool]

    def raises(self, past: tuple[int, ...]) -> bool:
        return self.chosen.setdefault(past, self.strategy.source.random() < 0.4)


@pytest.mark.parametrize("accounting", BOTH)
@pytest.mark.parametrize("total", TOTALS)
def test_what_ends_within_a_total_keeps_it_whenever_totals_change(
    accounting: Accounting, total: tuple[float, float]
) -> None:
    """Whoever changes the total knows the answers. Ways that end within either total
    keep that one, all together.
    """
    source, terms = (
        random.Random(f"amended {accounting} {total}"),
        terms_of(accounting, total),
    )
    larger = Terms.of(
        accounting, ApproxDP(1.5 * total[0], 1.5 * total[1]), terms.order or None
    )
    raised = 0
    for _ in range(20):
        raising = Raising(Strategy(source, terms, 6, {}), larger, {})
        ends = list(amended(opened(terms), 1.0, 1.0, raising, ()))
        within = {
            kept: [end for end in ends if with_caps(end[0], kept).fits(NOTHING)]
            for kept in (terms, larger)
        }
        for kept, found in within.items():
            factor = math.exp(kept.total.epsilon)
            assert (
                math.fsum(max(0.0, p - factor * q) for _, p, q in found)
                <= kept.total.delta + FLOATS
            )
            assert (
                math.fsum(max(0.0, q - factor * p) for _, p, q in found)
                <= kept.total.delta + FLOATS
            )
        assert len(within[larger]) == len(ends)
        raised += len(within[terms]) < len(ends)
    assert raised > 3
