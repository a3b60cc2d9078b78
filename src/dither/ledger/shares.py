"""Parts of an account: what part a guarantee costs, and what a part buys."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from dither.errors import ArgumentError
from dither.ledger.terms import Accounting, Terms
from dither.privacy import GaussianDP, Guarantee, PureDP
from dither.privacy.numbers import float_down, fraction, written

__all__ = ["mu_of", "part_of", "pure_of", "share_of"]

WAY_OUT = "pass a part of the account, such as 0.1"


def part_of(share: float) -> Fraction:
    """A stated share as an exact number above 0, and 1 at most."""
    part = fraction("share", share, WAY_OUT)
    if not 0 < part <= 1:
        raise ArgumentError("share", f"must be above 0 and at most 1; {WAY_OUT}")
    return part


def pure_of(part: Fraction, terms: Terms) -> float:
    """The largest ε of a pure answer that costs no more than a part of the account."""
    if terms.accounting is Accounting.PURE:
        return float_down(part * written(terms.total.epsilon))
    most = part * terms.loss_cap
    return _search(lambda eps: terms.cost(PureDP(eps, unit=terms.unit)).loss <= most)


def mu_of(part: Fraction, terms: Terms) -> float:
    """The largest μ of a Gaussian answer that costs no more than a part of the
    account.
    """
    most = part * terms.loss_cap
    return _search(lambda mu: terms.cost(GaussianDP(mu, unit=terms.unit)).loss <= most)


def _search(fits: Callable[[float], bool]) -> float:
    """The largest number, within a millionth, that still fits."""
    low, high = 1e-9, 1e3
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if _safe(fits, middle) else (low, middle)
    if not _safe(fits, low):
        raise ArgumentError(
            "share", f"is too small for an answer from this account; {WAY_OUT}"
        )
    return low


def _safe(fits: Callable[[float], bool], value: float) -> bool:
    try:
        return fits(value)
    except ArgumentError:
        return False


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
    return min(ways, default=Fraction(2))  # an account that grants no such charge
