"""The steps that every function of the work floor takes: settle the cost, charge it,
and only then read the data (rule R1).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Self

from dither.cost import Cost, Stated
from dither.dataset import Account, Dataset
from dither.errors import ArgumentError
from dither.ledger import Account as LedgerAccount
from dither.ledger import Ledger, Pinned, Receipt
from dither.ledger.shares import mu_of, part_of, pure_of, share_of
from dither.mechanisms import Additive, Gaussian, Laplace
from dither.noise.shapes import LARGEST_SCALE
from dither.privacy import (
    ROW,
    Guarantee,
    PureDP,
    Relation,
    Unit,
    ZeroConcentratedDP,
    epsilon_for_error,
    gaussian_mu,
)
from dither.privacy.numbers import at_most, float_down, positive, written
from dither.progress import Tell, working
from dither.release import Source

__all__ = ["Asking", "AskingError", "Paid", "Question"]


class Asking(Stated, total=False):
    """Keywords for the cost of an answer, the account that pays, and the analyst who
    asks.
    """

    budget: Account | None
    by: str | None


class AskingError(Asking, total=False):
    """The same where the error does not depend on the data, so it can be asked for."""

    error: float | str | None


@dataclass(frozen=True)
class Question:
    """One question: what it may cost, for which unit, and who pays."""

    what: str
    cost: Cost
    unit: Unit = ROW
    account: Account | None = None
    by: str | None = None
    dataset: Dataset | None = None
    run: Pinned | None = None
    """Steps that are declared with the charge, and claimed one after the other."""

    @classmethod
    def of(
        cls,
        what: str,
        stated: Mapping[str, Any],
        *,
        unit: Unit = ROW,
        dataset: Dataset | None = None,
    ) -> Question:
        """A question from its keywords; a keyword that is unknown is a TypeError. A
        dataset brings its own unit and account.
        """
        words = dict(stated)
        budget, by = words.pop("budget", None), words.pop("by", None)
        cost = Cost(**words)
        check_budget(budget)
        if dataset is not None:
            unit, budget = dataset.unit, payer(dataset, budget)
        return cls(what, cost, unit, budget, by, dataset)

    @property
    def replacing(self) -> bool:
        return self.unit.relation is Relation.REPLACE

    @property
    def _converts(self) -> bool:
        """Whether a promise about a unit that comes or goes is charged to an account
        about one that is replaced: a removal and an addition (rule R7).
        """
        return not self.replacing and self._fits(self.unit.replacing())

    def _fits(self, unit: Unit) -> bool:
        """Whether a promise for this unit holds as it is for the account's: its
        neighbours may have to agree on more exact facts (rule R22).
        """
        if not isinstance(self.account, LedgerAccount):
            return False
        theirs = self.account.terms.unit
        return unit.relation is theirs.relation and theirs.follows_from(unit)

    def owed(self, promised: Guarantee) -> Guarantee:
        """A guarantee in the terms of the account that pays: under replacement if the
        account is, and given the exact facts that are published there.
        """
        stated = promised.for_replacement() if self._converts else promised
        if not isinstance(self.account, LedgerAccount) or not self._fits(stated.unit):
            return stated  # the account says why it does not take it
        return stated.for_facts(self.account.terms.unit.given)

    def affordable(self, promised: Guarantee) -> bool:
        """Whether the account would grant a promise now; nothing is spent. What costs
        too little is refused.
        """
        owed = self.owed(promised)
        self._check_minimum(owed)
        if not isinstance(self.account, LedgerAccount):
            return True
        return self.account.affords(owed, by=self.by)

    @property
    def epsilon(self) -> float | None:
        """The ε to spend, where the cost is stated so; None if it is stated as rho."""
        if self.cost.share is not None:
            return self._share(self.cost.share)
        if self.cost.error is not None:
            raise ArgumentError(
                "error",
                f"the error of {_article(self.what)} depends on the data; pass epsilon, "
                "rho or share instead",
            )
        return self.cost.epsilon

    def _share(self, share: float) -> float:
        part = part_of(share)
        if self.account is None:
            raise ArgumentError(
                "share", "needs an account; pass budget=, or pass epsilon instead"
            )
        if isinstance(self.account, LedgerAccount):
            bought = pure_of(part, self.account.terms)
            return bought / 2 if self._converts else bought
        return float_down(part * written(self.account.epsilon))

    @property
    def rho(self) -> float | None:
        """The ρ to spend, where the cost is stated so."""
        return self.cost.rho

    @property
    def delta(self) -> float:
        """The account's δ; without an account there is none."""
        account = self.account
        return account.terms.total.delta if isinstance(account, LedgerAccount) else 0.0

    @property
    def mu(self) -> float:
        """The μ that Gaussian noise may cost at the account's δ, where the cost is
        stated as ε or as a share.
        """
        if self.cost.share is not None and isinstance(self.account, LedgerAccount):
            bought = mu_of(part_of(self.cost.share), self.account.terms)
            return bought / 2 if self._converts else bought
        return gaussian_mu(PureDP(self.epsilon or 0.0).epsilon, self.delta)

    @property
    def guarantee(self) -> PureDP | ZeroConcentratedDP:
        """The guarantee if all of the cost is spent: pure ε, or ρ."""
        if self.rho is not None:
            return ZeroConcentratedDP(self.rho, unit=self.unit)
        return PureDP(self.epsilon or 0.0, unit=self.unit)

    def parts(self, *shares: float) -> tuple[Self, ...]:
        """The question split into parts of its cost, which together cost no more."""
        exact = [written(share) for share in shares]
        if sum(exact) > 1:
            raise ValueError("the parts exceed the whole")
        return tuple(self._part(share) for share in exact)

    def _part(self, share: Fraction) -> Self:
        if self.rho is not None:
            rho = positive("rho", self.rho, "pass a rho such as 0.1", float_down)
            return replace(self, cost=Cost(rho=float_down(at_most(rho) * share)))
        whole = PureDP(self.epsilon or 0.0).epsilon
        return replace(self, cost=Cost(epsilon=float_down(at_most(whole) * share)))

    def additive(self, l1: float, l2: float | None = None) -> Additive:
        """The mechanism for integers of these sensitivities that costs what was stated:
        Laplace for ε, Gaussian for ρ.
        """
        if self.rho is not None:
            moved = l1 if l2 is None else l2
            return _fits(Gaussian(sensitivity=moved, rho=self.rho, unit=self.unit))
        epsilon = self.epsilon or 0.0
        return _fits(Laplace(sensitivity=l1, epsilon=epsilon, unit=self.unit))

    def vector(self, l1: float, l2: float) -> Additive:
        """The same for a vector that one unit moves in many entries: where the account
        has a δ, Gaussian noise of (ε, δ) if that is less.
        """
        if self.rho is not None or not self.delta:
            return self.additive(l1, l2)
        gaussian = Gaussian(sensitivity=l2, mu=self.mu, unit=self.unit)
        plain = Laplace(sensitivity=l1, epsilon=self.epsilon or 0.0, unit=self.unit)
        better = gaussian.error(0.95) < plain.error(0.95)
        return _fits(gaussian if better else plain)

    def for_error(self, sensitivity: float, step: float = 1.0) -> Self:
        """The same question with a wanted error turned into the ε that reaches it, for
        integers in steps.
        """
        wanted = self.cost.wanted
        if wanted is None:
            return self
        epsilon = epsilon_for_error(
            wanted.width / step, wanted.confidence, sensitivity, integer=True
        )
        return replace(self, cost=Cost(epsilon=epsilon))

    @contextmanager
    def paying(self, guarantee: Guarantee | None = None) -> Iterator[Paid]:
        """Charge the account, if there is one, before anything inside reads data;
        settle afterwards (rule R5).

        If the charge is refused, nothing was spent and nothing read. A failure inside
        is counted, and the charge stays.

        An account whose neighbours replace a unit is charged what a promise about one
        that comes or goes is then worth, and the release says so: 2ε, 2μ or 4ρ. If
        exact facts are published beside its releases, this one repeats them.
        """
        promised = self.owed(self.guarantee if guarantee is None else guarantee)
        with self._charged(promised) as source, working(self.what) as tell:
            yield Paid(source, tell=tell)

    def charged_once(self, guarantee: Guarantee, name: str) -> Receipt:
        """The receipt of the charge that has this name in the account's book: made now,
        before anything is read, unless it was made before. Anyone who answers in parts,
        on many days, settles each part by itself.
        """
        account = self.account
        assert isinstance(account, LedgerAccount)
        found = account.charged(name)
        if found is None:
            self._check_minimum(guarantee)
            found = account.charge(
                guarantee, by=self.by, purpose=self.what, once=name, run=self.run
            )
        account.settle(found)
        return found

    @contextmanager
    def _charged(self, guarantee: Guarantee) -> Iterator[Source]:
        if self.account is None:
            yield Source(guarantee)
            return
        self._check_minimum(guarantee)
        more: dict[str, Any] = {"by": self.by, "run": self.run}
        said = {name: one for name, one in more.items() if one is not None}
        charge = self.account.spending(guarantee, purpose=self.what, **said)
        with charge as receipt:
            yield Source(guarantee, receipt, self.delta)

    def _check_minimum(self, guarantee: Guarantee) -> None:
        """A dataset has analysts, and nobody may ask it without end (rule R31)."""
        if self.dataset is None or not isinstance(self.account, LedgerAccount):
            return
        least = self.account.policy.minimum
        # noise is rounded to cost a little less than the share that was stated
        stated = self.cost.share
        found = (
            share_of(guarantee, self.account.terms)
            if stated is None
            else part_of(stated)
        )
        if found < written(least):
            raise ArgumentError(
                "epsilon",
                f"is too small: each question must cost at least {least:g} of the "
                "account, so that the number of questions is limited; pass "
                f"share={least:g} or more",
            )


@dataclass(frozen=True)
class Paid:
    """A question that was paid for: from here on its data may be read."""

    source: Source
    tell: Tell | None = field(default=None, kw_only=True, repr=False)
    """Where steps are told to, for a bar that shows them."""

    @property
    def receipt(self) -> Receipt | None:
        return self.source.receipt


def check_budget(budget: Any) -> None:
    if isinstance(budget, Ledger):
        raise ArgumentError(
            "budget",
            "is a ledger, which holds several accounts; pass one of them, such as "
            'ledger.account("clinic", epsilon=3.0)',
        )
    if budget is not None and not hasattr(budget, "charge"):
        kind = type(budget).__name__
        raise ArgumentError(
            "budget",
            f"must be a dither.Budget or an account, not {kind}; pass dither.Budget(epsilon=1.0)",
        )


def payer(dataset: Dataset, budget: Account | None) -> Account | None:
    """The account that pays for a dataset: its own, if it has one."""
    account = dataset.payer
    if account is not None and budget is not None and budget is not account:
        raise ArgumentError(
            "budget",
            "cannot replace the dataset's own account; leave budget out",
        )
    return account or budget


def _fits(mechanism: Additive) -> Additive:
    if mechanism.scale > LARGEST_SCALE:
        raise ArgumentError(
            "epsilon",
            "is too small: the noise would not fit into 64-bit integers; pass a larger "
            "one",
        )
    return mechanism


def _article(what: str) -> str:
    return what if what.endswith("s") else f"a {what}"
