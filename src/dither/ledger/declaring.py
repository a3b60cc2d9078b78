"""The cost of a declared run for an account: the cheapest way of charging (rule R17)."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from dither.errors import ArgumentError
from dither.ledger.state import Price
from dither.ledger.terms import ATTO, NANO, Accounting, Terms
from dither.privacy import ApproxDP, Declared, Guarantee, Run, calibrate
from dither.privacy.training import LEAST_NOISE, MOST_NOISE, smallest

__all__ = ["cheapest", "noise_for_share", "pays_for", "share_taken"]

HALVES = 12
"""δ′ of the plain way is tried at the whole of what may be used, its half, and so on."""
ROUNDING = 1e-9
"""Largest difference between two machines in an ε."""


def share_taken(price: Price, terms: Terms) -> Fraction:
    """The part of an account that a price takes: of its losses or of its δ, whichever
    is more.
    """
    loss = _part(price.loss, terms.loss_cap)
    return max(loss, _part(price.delta, terms.delta_cap))


def _part(spent: int, cap: int) -> Fraction:
    if not spent:
        return Fraction(0)
    return Fraction(spent, cap) if cap else Fraction(2)


def cheapest(run: Guarantee, terms: Terms, *, coarse: bool = False) -> Guarantee:
    """The run as the account is charged for it least.

    Guarantee: what is returned holds for the run: itself with its loss at the
    account's order; cut off at a loss that is rarely exceeded, as `Declared`; or its
    plain (ε, δ′). All of δ′ is within the account's reserved δ.
    Why: docs/proofs/training.md.
    Assumes: all steps of the run were fixed before the first.
    """
    if terms.accounting is Accounting.PURE:
        raise ArgumentError(
            "budget",
            "needs a δ for the noise of training; open an account with delta=",
        )
    options = [*_cut(run, terms, coarse), *_plain(run, terms)]
    priced = [(_share(one, terms), place) for place, one in enumerate(options)]
    part, place = min(priced, default=(math.inf, 0))
    return options[place] if part < _share(run, terms) else run


def pays_for(charged: Guarantee, run: Guarantee) -> bool:
    """Whether a charge is one of the ways in which `cheapest` charges a run: as itself,
    cut off, or by its plain (ε, δ′). Which one was the cheapest is not asked again, and ε
    may differ by rounding: another machine adds losses up in another order.
    """
    if isinstance(charged, Declared):
        return charged.of == run
    if isinstance(charged, ApproxDP) and charged.unit == run.unit:
        return run.epsilon_at(charged.delta) <= charged.epsilon * (1 + ROUNDING)
    return charged == run


def _share(guarantee: Guarantee, terms: Terms) -> float:
    try:
        return float(share_taken(terms.cost(guarantee), terms))
    except ArgumentError:
        return math.inf


def _cut(run: Guarantee, terms: Terms, coarse: bool) -> list[Guarantee]:
    from dither.privacy.truncated import truncation  # and numpy with it

    if terms.accounting is not Accounting.RENYI or not terms.loss_cap:
        return []
    reserved = terms.delta_cap / ATTO
    try:
        cuts = truncation(run, terms.order, reserved * 1e-3, coarse=coarse)
    except ArgumentError:
        return []
    found = cuts.cheapest(terms.loss_cap / NANO, reserved)
    return [] if found is None else [found]


def _plain(run: Guarantee, terms: Terms) -> list[Guarantee]:
    """(ε, δ′) at several δ′: the only way of Gaussian accounting for sampled steps."""
    if terms.accounting is not Accounting.GDP:
        return []
    return [run.approx(terms.delta_cap / ATTO / 2**halved) for halved in range(HALVES)]


def noise_for_share(run: Run, terms: Terms, share: Fraction) -> Run:
    """The run with the smallest noise, within a thousandth, that takes no more than a
    share of the account; its stages are taken as factors of the noise.

    Says the smallest share there is where even the most noise takes more.
    """
    return run.times(_noise(run, terms, share))


@lru_cache(maxsize=256)
def _noise(run: Run, terms: Terms, share: Fraction) -> float:
    """Kept, because a preview and its run ask for the same."""

    def taken(noise: float, coarse: bool) -> float:
        guarantee = run.times(noise).guarantee
        return _share(cheapest(guarantee, terms, coarse=coarse), terms)

    found = smallest(taken, float(share), _guess(run, terms, share))
    if found is None:
        least = taken(MOST_NOISE, False)
        raise ArgumentError(
            "share",
            f"is too small: {run.steps:,} such steps cost {least:.3g} of this account, "
            f"not {float(share):g}; pass fewer steps"
            f"{f', or a share of {least:.3g}' if least <= 1 else ''}",
        )
    return found


def _guess(run: Run, terms: Terms, share: Fraction) -> float:
    """About the noise that takes a share, in closed form."""
    total = terms.total
    wanted = ApproxDP(
        float(share) * total.epsilon, float(share) * total.delta / 2, unit=run.unit
    )
    try:
        return calibrate(
            lambda noise: run.times(noise).guarantee,
            wanted,
            LEAST_NOISE,
            MOST_NOISE,
            tolerance=0.05,
            tight=False,
        )
    except ArgumentError:
        return 1.0
