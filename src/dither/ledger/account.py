"""One budget for one dataset and unit: charge before reading, settle after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from dither.errors import AccountFrozen, ArgumentError, BudgetExceeded, LedgerError, UnitMismatch
from dither.ledger.left import Remaining
from dither.ledger.policy import Policy
from dither.ledger.state import State
from dither.ledger.store import ADD, SPEND, SPEND_SHARE
from dither.ledger.terms import Cost, Terms
from dither.ledger.wire import Entry, from_json, to_json
from dither.privacy import Composed, Guarantee, Unit
from dither.privacy.numbers import fraction, written

if TYPE_CHECKING:
    from dither.ledger.ledger import Ledger
    from dither.ledger.store import Run

__all__ = ["Account", "Receipt"]


@dataclass(frozen=True)
class Receipt:
    """The line of one charge: its number in the book, what it promised, for what and for whom.

    `head` is the hash of the log up to this line. Kept outside the book, a receipt shows if the book was cut or
    replaced by an older copy.
    """

    number: int
    guarantee: Guarantee
    purpose: str
    book: str
    account: str
    by: str | None
    time: str
    head: str
    disjoint: bool = False

    def __str__(self) -> str:
        return f"receipt {self.number} ({self.book})"


class Account:
    """A budget in a book. Every charge is durable before it returns; a refused one spends nothing."""

    def __init__(self, ledger: Ledger, name: str, terms: Terms, policy: Policy) -> None:
        self.name, self.terms, self.policy = name, terms, policy
        self._ledger = ledger
        self._cost = lru_cache(maxsize=256)(terms.cost)
        self._json = lru_cache(maxsize=256)(to_json)

    @property
    def unit(self) -> Unit:
        return self.terms.unit

    @property
    def epsilon(self) -> float:
        """The total ε."""
        return self.terms.total.epsilon

    def charge(self, guarantee: Guarantee, *, by: str | None = None, purpose: str = "") -> Receipt:
        """Spend a guarantee, or raise `BudgetExceeded` and spend nothing."""
        self._check(guarantee)
        return self._charge(self._cost(guarantee), guarantee, self._json(guarantee), by, purpose)

    def charge_disjoint(self, guarantees: Sequence[Guarantee], *, by: str | None = None, purpose: str = "") -> Receipt:
        """Spend what answers about disjoint keys of *one* plan cost together (rule R13); separate questions add up."""
        for guarantee in guarantees:
            self._check(guarantee)
        cost = self.terms.disjoint(guarantees)
        body = {"kind": "disjoint", "parts": [to_json(guarantee) for guarantee in guarantees]}
        return self._charge(cost, Composed(guarantees), body, by, purpose)

    def _check(self, guarantee: Guarantee) -> None:
        if not isinstance(guarantee, Guarantee):
            raise ArgumentError("guarantee", f"must be one, such as PureDP(0.5), not {type(guarantee).__name__}")
        if guarantee.unit != self.unit:
            way_out = "convert it with .for_replacement(), or charge it to its own account"
            raise UnitMismatch("guarantee", f"is for {guarantee.unit}, but the account is for {self.unit}; {way_out}")

    def _charge(self, cost: Cost, guarantee: Guarantee, body: dict[str, Any], by: str | None, purpose: str) -> Receipt:
        self.policy.check(cost, self.terms)
        check_text("purpose", purpose)
        check_text("by", by or "")
        details = {"guarantee": body, "cost": [cost.pure, cost.loss, cost.delta], "by": by, "purpose": purpose}
        entry = self._ledger.charge(self.name, by, _added(cost), details)
        if entry is None:
            with self._ledger.store.writing() as run:
                if run(SPEND, (*_added(cost), self.name, *_tested(cost))) != 1:
                    self._refuse(run, guarantee)
                if by is not None:
                    self._charge_share(run, by, cost, guarantee)
                entry = self._ledger.append(run, "charge", self.name, details)
        self._ledger.store.note(entry.seq, entry.hash)
        return self._receipt(entry, guarantee)

    def _charge_share(self, run: Run, by: str, cost: Cost, guarantee: Guarantee) -> None:
        if run(SPEND_SHARE, (*_added(cost), self.name, by, *_tested(cost))) == 1:
            return
        if not run("SELECT 1 FROM share WHERE account = ? LIMIT 1", (self.name,)):
            return
        rows = run(f"SELECT {State.COLUMNS} FROM share WHERE account = ? AND analyst = ?", (self.name, by))
        if not rows:
            raise BudgetExceeded(f"{by} has no share of {self.name}; its curator can give one. Nothing was spent.")
        left = Remaining(self.terms, State(*rows[0]))
        raise BudgetExceeded(f"{guarantee} does not fit into the share of {by}: {left.in_words()} Nothing was spent.")

    def _refuse(self, run: Run, guarantee: Guarantee) -> None:
        frozen, state = self._state(run)
        if frozen:
            raise AccountFrozen(f"{self.name} is frozen ({frozen}); its curator can look at it and thaw it")
        left = Remaining(self.terms, state)
        raise BudgetExceeded(f"{guarantee} does not fit: {left.in_words()} Nothing was spent.")

    def _state(self, run: Run) -> tuple[str, State]:
        rows = run(f"SELECT frozen, {State.COLUMNS} FROM account WHERE name = ?", (self.name,))
        if not rows:
            raise LedgerError(f"the account {self.name} is no longer in the book")
        return str(rows[0][0]), State(*rows[0][1:])

    def _receipt(self, entry: Entry, guarantee: Guarantee) -> Receipt:
        book, body = self._ledger.store.place, entry.body
        about = (body["purpose"], book, self.name, body["by"], entry.time, entry.hash)
        return Receipt(entry.seq, guarantee, *about, disjoint=body["guarantee"]["kind"] == "disjoint")

    @contextmanager
    def spending(self, guarantee: Guarantee, *, by: str | None = None, purpose: str = "") -> Iterator[Receipt]:
        """Charge, run what is inside, settle. The charge stays whatever happens; failures inside are counted."""
        receipt = self.charge(guarantee, by=by, purpose=purpose)
        try:
            yield receipt
        except BaseException as error:
            self.fail(receipt, type(error).__name__)
            raise
        self.settle(receipt)

    def settle(self, receipt: Receipt) -> None:
        """Note that the answer was given."""
        self._check_receipt(receipt)
        with self._ledger.changing() as run:
            self._ledger.append(run, "settle", self.name, {"charge": receipt.number})

    def fail(self, receipt: Receipt, reason: str) -> None:
        """Note that there was no answer after data was read. Too many of these freeze the account (rule R5)."""
        self._check_receipt(receipt)
        check_text("reason", reason, needed=True)
        with self._ledger.changing() as run:
            run("UPDATE account SET failures = failures + 1 WHERE name = ?", (self.name,))
            self._ledger.append(run, "fail", self.name, {"charge": receipt.number, "reason": reason})
            failures = run("SELECT failures FROM account WHERE name = ?", (self.name,))[0][0]
            if failures >= self.policy.failures:
                self._freeze(run, f"{failures} failures after data was read")

    def _check_receipt(self, receipt: Receipt) -> None:
        if receipt.account != self.name:
            raise ArgumentError("receipt", f"belongs to the account {receipt.account}, not to {self.name}")

    def freeze(self, reason: str) -> None:
        """Grant nothing more until thawed."""
        check_text("reason", reason, needed=True)
        with self._ledger.changing() as run:
            self._freeze(run, reason)

    def _freeze(self, run: Run, reason: str) -> None:
        run("UPDATE account SET frozen = ? WHERE name = ?", (reason, self.name))
        self._ledger.append(run, "freeze", self.name, {"reason": reason})

    def thaw(self, reason: str) -> None:
        """The curator has looked: grant charges again, and count failures anew."""
        check_text("reason", reason, needed=True)
        with self._ledger.changing() as run:
            run("UPDATE account SET frozen = '', failures = 0 WHERE name = ?", (self.name,))
            self._ledger.append(run, "thaw", self.name, {"reason": reason})

    def recover(self, receipts: Sequence[Receipt]) -> None:
        """Enter charges that a restored book has lost, each once. They count even where they exceed the account."""
        for receipt in receipts:
            self._check_receipt(receipt)
        known = {entry.body["head"] for entry in self._ledger.entries(account=self.name, kind="recover")}
        with self._ledger.changing() as run:
            for receipt in receipts:
                if receipt.head in known or run("SELECT 1 FROM log WHERE hash = ?", (receipt.head,)):
                    continue
                known.add(receipt.head)
                cost = self._cost_again(receipt)
                run(f"UPDATE account SET {ADD} WHERE name = ?", (*_added(cost), self.name))
                run(f"UPDATE share SET {ADD} WHERE account = ? AND analyst = ?", (*_added(cost), self.name, receipt.by))
                self._ledger.append(run, "recover", self.name, _lost(receipt, cost))

    def _cost_again(self, receipt: Receipt) -> Cost:
        if receipt.disjoint and isinstance(receipt.guarantee, Composed):
            return self.terms.disjoint(receipt.guarantee.parts)
        return self.terms.cost(receipt.guarantee)

    def write_off(self, reason: str) -> None:
        """Give up what is left: nothing more can be charged."""
        check_text("reason", reason, needed=True)
        with self._ledger.changing() as run:
            all_of_it = ", ".join(
                f"{name}_spent = CASE WHEN {name}_spent < {name}_cap THEN {name}_cap ELSE {name}_spent END"
                for name in ("pure", "loss", "delta")
            )
            run(f"UPDATE account SET {all_of_it}, impure = impure + 1 WHERE name = ?", (self.name,))
            self._ledger.append(run, "write off", self.name, {"reason": reason})

    def share(self, analyst: str, part: float) -> None:
        """Let an analyst spend at most this part of the account; all together never spend more than the account."""
        check_text("analyst", analyst, needed=True)
        exact = written(float(fraction("part", part, "pass a part of the account such as 0.25")))
        if not 0 <= exact <= 1:
            raise ArgumentError("part", "must lie from 0 to 1; pass a part of the account such as 0.25")
        with self._ledger.changing() as run:
            caps = self._state(run)[1].share_caps(exact)
            known = (
                "UPDATE share SET part = ?, pure_cap = ?, loss_cap = ?, delta_cap = ? WHERE account = ? AND analyst = ?"
            )
            if run(known, (str(exact), *caps, self.name, analyst)) != 1:
                new = "INSERT INTO share VALUES (?, ?, ?, ?, ?, ?, 0, 0, 0, 0)"
                run(new, (self.name, analyst, str(exact), *caps))
            self._ledger.append(run, "share", self.name, {"analyst": analyst, "part": str(exact), "caps": caps})

    @property
    def place(self) -> str:
        """Where the book is."""
        return self._ledger.store.place

    def shares(self) -> dict[str, float]:
        """The part of the account that each analyst may spend; empty where nobody's is limited."""
        with self._ledger.store.reading() as run:
            rows = run("SELECT analyst, part FROM share WHERE account = ? ORDER BY analyst", (self.name,))
        return {str(analyst): float(Fraction(part)) for analyst, part in rows}

    def affords(self, guarantee: Guarantee, *, by: str | None = None) -> bool:
        """Whether a charge would be granted now; nothing is spent."""
        self._check(guarantee)
        cost = self._cost(guarantee)
        try:
            self.policy.check(cost, self.terms)
        except BudgetExceeded:
            return False
        with self._ledger.store.reading() as run:
            frozen, state = self._state(run)
            shares = run(f"SELECT analyst, {State.COLUMNS} FROM share WHERE account = ?", (self.name,))
        states = [State(*row[1:]) for row in shares if row[0] == by]
        if frozen or (by is not None and shares and not states):
            return False
        return all(one.fits(cost) for one in [state, *states])

    @property
    def remaining(self) -> Remaining:
        """What can still be asked: `.share`, `.epsilon`, `.counts(error=10)`."""
        with self._ledger.store.reading() as run:
            return Remaining(self.terms, self._state(run)[1])

    @property
    def spent(self) -> float:
        """The share of the account that is spent."""
        return 1 - self.remaining.share

    @property
    def frozen(self) -> str:
        """Why the account grants nothing; empty if it does."""
        with self._ledger.store.reading() as run:
            return self._state(run)[0]

    def history(self) -> tuple[Receipt, ...]:
        """All charges, oldest first."""
        entries = self._ledger.entries(account=self.name, kind="charge")
        return tuple(self._receipt(entry, _promised(entry.body["guarantee"])) for entry in entries)

    def burn_down(self) -> list[float]:
        """The share left at the beginning and after each charge of this period."""
        with self._ledger.store.reading() as run:
            now = self._state(run)[1]
        state = State(now.pure_cap, now.loss_cap, now.delta_cap)
        shares = [1.0]
        for entry in self._ledger.entries(account=self.name):
            if entry.kind == "renew":
                state, shares = State(now.pure_cap, now.loss_cap, now.delta_cap), [1.0]
            elif entry.kind in ("charge", "recover"):
                state = state.plus(Cost(*entry.body["cost"]))
                shares.append(Remaining(self.terms, state).share)
        return shares

    def stored(self, key: str) -> str | None:
        """The release that was stored under a replay key, if there is one; it costs nothing (rule R19)."""
        with self._ledger.store.reading() as run:
            rows = run("SELECT body FROM replay WHERE account = ? AND name = ?", (self.name, key))
        return str(rows[0][0]) if rows else None

    def store(self, receipt: Receipt, key: str, release: str) -> None:
        """Keep a release for replay. It is durable when this returns, so show it only then."""
        self._check_receipt(receipt)
        check_text("key", key, needed=True)
        check_text("release", release)
        with self._ledger.changing() as run:
            self._ledger.keep(run, self.name, receipt.number, key, release)

    def _periods(self) -> int:
        with self._ledger.store.reading() as run:
            return int(run("SELECT period FROM account WHERE name = ?", (self.name,))[0][0])

    def __str__(self) -> str:
        left, periods = self.remaining, self._periods()
        bar = "█" * int(20 * (1 - left.share))
        lines = [
            f"{self.name}: {self.terms.total}, {self.terms.accounting} accounting ({self._ledger.store.place})",
            f"{bar:·<20} {1 - left.share:.0%} spent, charges: {len(self.history())}; {left.in_words()}",
        ]
        if periods > 1:
            lines.append(f"period {periods}: whoever was there in all periods was promised this {periods} times over")
        return "\n".join([*lines, *([f"frozen: {self.frozen}"] if self.frozen else [])])

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}: {self.spent:.0%} spent>"

    def _repr_html_(self) -> str:
        from dither.ledger.picture import burn_down

        return burn_down(self)


def _added(cost: Cost) -> tuple[int, int, int, int]:
    return cost.pure or 0, cost.loss, cost.delta, int(cost.pure is None)


def _tested(cost: Cost) -> tuple[int, int, int, int]:
    return int(cost.pure is None), cost.pure or 0, cost.loss, cost.delta


def _promised(body: dict[str, Any]) -> Guarantee:
    """What a line of the log promised; for disjoint keys, the promises of all of them."""
    return Composed([from_json(part) for part in body["parts"]]) if body["kind"] == "disjoint" else from_json(body)


def _lost(receipt: Receipt, cost: Cost) -> dict[str, Any]:
    about = {"number": receipt.number, "head": receipt.head, "by": receipt.by, "purpose": receipt.purpose}
    return {"guarantee": to_json(receipt.guarantee), "cost": [cost.pure, cost.loss, cost.delta], **about}


def check_text(argument: str, text: str, *, needed: bool = False) -> None:
    """A text that every book can hold."""
    if text == "" and not needed:
        return
    if not isinstance(text, str) or "\0" in text or text != text.encode(errors="replace").decode():
        raise ArgumentError(argument, "must be a text without odd characters; pass plain words")
    if needed and not text:
        raise ArgumentError(argument, "is empty; say it in a few words, for whoever reads the log")
