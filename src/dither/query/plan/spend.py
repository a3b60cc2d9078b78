"""How a stated cost can be spent, and the least that a question costs: a public part of
the account, so that nobody can ask without end (rules R2, R4 and R31).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from dither.cost import Cost
from dither.errors import ArgumentError
from dither.ledger.shares import mu_of, part_of, pure_of, share_of
from dither.ledger.terms import ATTO, Terms
from dither.privacy import ApproxDP, GaussianDP, Guarantee, PureDP, gaussian_mu
from dither.privacy.numbers import float_down, positive, written
from dither.query.plan.plan import Spend, root_down

__all__ = ["afford", "check_minimum", "least_epsilon"]

DELTA_PART = 100
"""A question with private keys carries this part of the account's δ: fifty such
questions fit.
"""
SMALLEST = 1e-15
CLOSE = 1e-3
"""The least cost is found within this relative error, and then rounded up to two
digits.
"""


def afford(cost: Cost, terms: Terms, *, keys: bool) -> Sequence[Spend]:
    """The ways to spend what was stated: with Laplace noise, with Gaussian noise, or
    with either. If keys are private, both carry the same δ.
    """
    delta = terms.total.delta
    if keys and not delta:
        raise ArgumentError(
            "keys",
            "the keys of this question are not declared, and releasing private keys "
            "needs δ > 0; declare the keys, or open the account with a delta or a "
            "population",
        )
    ways: list[Spend] = []
    if cost.rho is None:
        carried = _carried(cost, terms) if keys else 0.0
        ways.append(_laplace(_pure(cost, terms), carried, terms))
    if delta:
        ways.append(_gaussian(cost, terms, keys=keys))
    if not ways:
        raise ArgumentError(
            "rho",
            "needs Gaussian noise, which needs an account with a delta; pass epsilon or "
            "share instead",
        )
    return ways


def _laplace(epsilon: float, carried: float, terms: Terms) -> Spend:
    pure = PureDP(epsilon, unit=terms.unit)
    if not carried:
        return Spend(False, pure.epsilon, 0.0, pure)
    guarantee = ApproxDP(pure.epsilon, carried, unit=terms.unit)
    return Spend(False, pure.epsilon, carried, guarantee)


def _carried(cost: Cost, terms: Terms) -> float:
    """The δ of a question with private keys."""
    if cost.share is not None:
        return float_down(part_of(cost.share) * Fraction(terms.delta_cap, ATTO))
    return float_down(written(terms.total.delta) / DELTA_PART)


def _gaussian(cost: Cost, terms: Terms, *, keys: bool) -> Spend:
    carried = _carried(cost, terms) if keys else 0.0
    if cost.share is not None:
        mu = mu_of(part_of(cost.share), terms)
    elif cost.rho is not None:
        mu = float_down(
            root_down(2 * Fraction(positive("rho", cost.rho, "pass a rho such as 0.1")))
        )
    else:
        delta = float_down(written(terms.total.delta) - written(carried))
        mu = gaussian_mu(PureDP(_stated(cost)).epsilon, delta)
    return Spend(True, mu, carried, GaussianDP(mu, carried, unit=terms.unit))


def _pure(cost: Cost, terms: Terms) -> float:
    """The ε of a pure answer for what was stated."""
    if cost.share is None:
        return PureDP(_stated(cost)).epsilon
    return pure_of(part_of(cost.share), terms)


def _stated(cost: Cost) -> float:
    return 0.0 if cost.epsilon is None else cost.epsilon


def check_minimum(
    guarantee: Guarantee, cost: Cost, terms: Terms, minimum: float, *, keys: bool
) -> None:
    """Refuse what costs less than the minimum, and say the least that is accepted."""
    least = written(minimum)
    # Noise is rounded to cost a little less than the share that was stated
    if cost.share is not None:
        if written(float(cost.share)) < least:
            raise ArgumentError(
                "share", f"{_too_little(minimum)}; pass share={minimum:g} or more"
            )
    elif share_of(guarantee, terms) < least:
        name = "rho" if cost.rho is not None else "epsilon"
        found = _rounded(_least(_accepted(name, terms, least, keys=keys)))
        raise ArgumentError(
            name, f"{_too_little(minimum)}; pass {name}={found} or more"
        )


def least_epsilon(terms: Terms, minimum: float, *, keys: bool) -> float:
    """The least ε that is accepted, whichever noise is chosen."""
    return float(
        _rounded(_least(_accepted("epsilon", terms, written(minimum), keys=keys)))
    )


def _too_little(minimum: float) -> str:
    return (
        f"is too small: each question must cost at least {minimum:g} of the account, "
        "so that the number of questions is limited"
    )


def _accepted(
    name: str, terms: Terms, least: Fraction, *, keys: bool
) -> Callable[[float], bool]:
    """Whether a number is enough, whichever of the possible kinds of noise the plan
    then uses.
    """

    def accepted(value: float) -> bool:
        stated = Cost(rho=value) if name == "rho" else Cost(epsilon=value)
        ways = afford(stated, terms, keys=keys)
        return all(share_of(way.guarantee, terms) >= least for way in ways)

    return accepted


def _least(accepted: Callable[[float], bool]) -> float:
    low, high = math.log(SMALLEST), 0.0
    while not accepted(math.exp(high)):
        high += 1.0
    while high - low > CLOSE:
        middle = (low + high) / 2
        low, high = (low, middle) if accepted(math.exp(middle)) else (middle, high)
    return math.exp(high)


def _rounded(value: float) -> str:
    """The number with two digits, rounded up."""
    digit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return f"{math.ceil(value / digit) * digit:.2g}"
