"""The promise that an account is opened with. Before its first charge nothing is
promised, and the account can be declared otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dither.errors import ArgumentError, LedgerError
from dither.ledger import clock
from dither.ledger.entry import Entry
from dither.ledger.policy import Policy
from dither.ledger.state import State
from dither.ledger.tables import load_all
from dither.ledger.terms import Accounting, Terms
from dither.ledger.transitions import apply
from dither.ledger.wire import relation_of, unit_of
from dither.privacy import ApproxDP, Unit

if TYPE_CHECKING:
    from dither.ledger.facts import AccountFacts, Facts
    from dither.ledger.store import Run

__all__ = ["Promise", "accounting_of", "caps_of", "fixed", "terms_of"]

CAPS = ("pure_cap", "loss_cap", "delta_cap")


@dataclass(frozen=True)
class Promise:
    """Terms, policy and shares as declared. A policy that is None was not declared: as
    it is, or the usual one.
    """

    terms: Terms
    dataset: str | None = None
    policy: Policy | None = None
    shares: Mapping[str, Fraction] = field(default_factory=dict)

    def lines(
        self, name: str, mark: str | None
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """The lines that open the account. In a book that is frozen as a whole, it
        begins frozen.
        """
        total, unit = self.terms.total, self.terms.unit
        yield (
            "open",
            {
                "dataset": self.dataset or name,
                "unit": unit.name,
                "relation": relation_of(unit),
                "epsilon": repr(total.epsilon),
                "delta": repr(total.delta),
                "accounting": str(self.terms.accounting),
                "order": self.terms.order,
                **caps_of(self.terms),
                "policy": (self.policy or Policy()).to_json(),
            },
        )
        if mark is not None:
            yield "freeze", {"reason": mark}
        yield from (self._share(analyst) for analyst in self.shares)

    def missing(self, name: str, facts: Facts) -> Iterator[tuple[str, dict[str, Any]]]:
        """The lines that give the shares which an account that is there does not have
        as declared.
        """
        there = facts.of(name)
        for analyst, part in self.shares.items():
            if analyst not in there or there[analyst].part != str(part):
                yield self._share(analyst)

    def _share(self, analyst: str) -> tuple[str, dict[str, Any]]:
        part = self.shares[analyst]
        caps = State(**caps_of(self.terms)).share_caps(part)
        return "share", {"analyst": analyst, "part": str(part), "caps": caps}

    def foretold(self, run: Run, name: str) -> Facts:
        """The account's entry if the account were opened now; nothing is written."""
        facts = load_all(run)
        for kind, body in self.lines(name, facts.mark):
            apply(facts, Entry(0, clock.now(), kind, name, body, ""))
        return facts

    def check(self, name: str, found: AccountFacts, place: str) -> None:
        """What is declared about an account that is there must be what it promises."""
        there, who = terms_of(found), f"{place}: the account {name}"
        if self.dataset is not None and self.dataset != found.dataset:
            raise LedgerError(
                f"{who} is for the dataset {found.dataset!r}, not {self.dataset!r}; choose "
                "another account name"
            )
        if there.unit != self.terms.unit:
            raise LedgerError(
                f"{who} is for {there.unit}, not for {self.terms.unit}; "
                f"{_other_unit(there.unit, self.terms.unit)}"
            )
        if (there.total.epsilon, there.total.delta) != (
            self.terms.total.epsilon,
            self.terms.total.delta,
        ):
            as_it_is = (
                f"declare {_shown(there)} (in the catalogue, if it has the budget) to use "
                "it as it is"
            )
            way_out = f"{as_it_is}; {self._amending(name, found, place)}"
            raise LedgerError(
                f"{who} has {_shown(there)}, not {_shown(self.terms)}; {way_out}"
            )
        if there.accounting is not self.terms.accounting:
            raise LedgerError(
                f"{who} uses {there.accounting} accounting, which is fixed when it is "
                "opened; leave accounting out"
            )
        rules = Policy.of(json.loads(found.policy))
        if self.policy is not None and self.policy != rules:
            way_out = (
                "leave policy out to use it as it is, or change it with Ledger.amend"
            )
            raise LedgerError(f"{who} has another policy ({rules}); {way_out}")

    def _amending(self, name: str, found: AccountFacts, place: str) -> str:
        """How the promise can be changed to the one that was declared."""
        terms = terms_of(found)
        there, wanted = terms.total, self.terms.total
        if bool(there.delta) != bool(wanted.delta):
            return fixed(name, terms)
        changes = [
            ("--epsilon", there.epsilon, wanted.epsilon),
            ("--delta", there.delta, wanted.delta),
        ]
        stated = " ".join(
            f"{option} {new:g}" for option, old, new in changes if old != new
        )
        return f"to change it, run `dither amend {place} --account {name} {stated} --reason …`"


def _other_unit(there: Unit, declared: Unit) -> str:
    """The fix if an account is for another unit than the declared one."""
    if there.name == declared.name and there.given != declared.given:
        return (
            "declare the exact facts (invariants) with which it was opened, because they "
            "cannot change later, or open a new account for data about other people"
        )
    return (
        "choose another name to open a separate account, because a guarantee for one "
        "does not hold for the other"
    )


def _shown(terms: Terms) -> str:
    delta = f" and δ = {terms.total.delta:g}" if terms.total.delta else ""
    return f"ε = {terms.total.epsilon:g}{delta}"


def fixed(name: str, terms: Terms) -> str:
    """Whether there is a δ decides how costs are counted, so it is fixed when an
    account is opened.
    """
    what = (
        "cannot give up its δ; keep it"
        if terms.total.delta
        else "was opened without a δ, which cannot be added; leave out delta and population"
    )
    return (
        f"the account {name} {what}, or give the dataset another name or ledger for a "
        "second account, whose guarantee adds to this one"
    )


def terms_of(facts: AccountFacts) -> Terms:
    """The terms that an account was opened, or last amended, with."""
    total = ApproxDP(
        float(facts.epsilon),
        float(facts.delta),
        unit=unit_of(facts.unit, facts.relation),
    )
    state = facts.state
    caps = (state.pure_cap, state.loss_cap, state.delta_cap)
    return Terms(Accounting(facts.accounting), total, facts.order, *caps)


def caps_of(terms: Terms) -> dict[str, int]:
    return dict(
        zip(CAPS, (terms.pure_cap, terms.loss_cap, terms.delta_cap), strict=True)
    )


def accounting_of(named: str | None, delta: float) -> Accounting:
    """How charges add up: pure if there is no δ, Rényi otherwise, or as it is named."""
    if named is None:
        return Accounting.RENYI if delta else Accounting.PURE
    try:
        return Accounting(named)
    except ValueError:
        raise ArgumentError(
            "accounting", f'must be "pure", "renyi" or "gdp", not {named!r}'
        ) from None
