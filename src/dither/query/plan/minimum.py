"""The least that a question costs: a public part of the account, so that nobody can ask
without end (rule R31).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from dither.cost import Cost
from dither.errors import ArgumentError
from dither.ledger.terms import Terms
from dither.privacy import Guarantee
from dither.privacy.numbers import written
from dither.query.plan.spend import afford

__all__ = ["check_minimum", "least_epsilon", "share_of"]

SMALLEST = 1e-15
CLOSE = 1e-3
"""The least cost is found within this relative error, and then rounded up to two
digits.
"""


def share_of(guarantee: Guarantee, terms: Terms) -> Fraction:
    """The part of the account that a guarantee costs, counted the way that leaves more
    of it.

    If every question costs at least a part p in this count, no account grants more than
    1/p of them: it grants by one of its sums, and each question adds at least p to
    both.
    """
    cost = terms.cost(guarantee)
    ways = (
        [Fraction(cost.pure, terms.pure_cap)]
        if cost.pure is not None and terms.pure_cap
        else []
    )
    ways += [Fraction(cost.loss, terms.loss_cap)] if terms.loss_cap else []
    return min(ways)


def check_minimum(
    guarantee: Guarantee, cost: Cost, terms: Terms, minimum: float, *, keys: bool
) -> None:
    """Refuse what costs less than the minimum, and say the least that is accepted."""
    least = written(minimum)
    # Noise is rounded to cost a little less than the share that was stated
    if cost.share is not None:
        if written(float(cost.share)) < least:
            raise ArgumentError(
                "share", f"{_too_little(minimum)}; ask for share={minimum:g} or more"
            )
    elif share_of(guarantee, terms) < least:
        name = "rho" if cost.rho is not None else "epsilon"
        found = _rounded(_least(_accepted(name, terms, least, keys=keys)))
        raise ArgumentError(
            name, f"{_too_little(minimum)}; ask for {name}={found} or more"
        )


def least_epsilon(terms: Terms, minimum: float, *, keys: bool) -> float:
    """The least ε that is accepted, whichever noise is chosen."""
    return float(
        _rounded(_least(_accepted("epsilon", terms, written(minimum), keys=keys)))
    )


def _too_little(minimum: float) -> str:
    return (
        f"is too small: a question costs at least {minimum:g} of the "
        "account, so that nobody can ask without end"
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
