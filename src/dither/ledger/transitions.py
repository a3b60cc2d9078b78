"""How each line of a log changes what the book says: the one definition, for charging,
verifying and rechecking.

`refusal` says why a charge is not granted, `apply` carries a line out. Both are pure.
What a guarantee costs and which caps follow from a total is mathematics that two
accountants compute for themselves: they pass it as `Rules`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from enum import Enum
from fractions import Fraction
from typing import Any, Protocol

from dither.errors import LedgerError
from dither.ledger.claims import begun, claim, close, go_on
from dither.ledger.entry import canonical
from dither.ledger.facts import (
    FAILURES,
    FAILURES_IN_ALL,
    AccountFacts,
    AnalystFacts,
    Facts,
    Pending,
)
from dither.ledger.neighbours import facts_in
from dither.ledger.state import Price, State

__all__ = ["SCHEMA", "Line", "Refusal", "Rules", "apply", "refusal"]

SCHEMA = 2
CAPS = ("pure_cap", "loss_cap", "delta_cap")


class Line(Protocol):
    """A line of the log."""

    @property
    def seq(self) -> int: ...
    @property
    def time(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def account(self) -> str: ...
    @property
    def body(self) -> Mapping[str, Any]: ...


class Rules(Protocol):
    """The computations of an accountant: both raise `LedgerError` if a line disagrees."""

    def check_caps(self, account: AccountFacts) -> None: ...
    def check_cost(
        self, account: AccountFacts, guarantee: Mapping[str, Any], price: Price
    ) -> None: ...


class Refusal(Enum):
    """Why a charge is not granted."""

    FROZEN = "the account is frozen"
    WRITTEN_OFF = "the account is written off"
    STOPPED = "the analyst is stopped"
    NO_SHARE = "the analyst does not have a share"
    SPENT = "the remaining budget of the account is too small"
    SHARE_SPENT = "the remaining share of the analyst is too small"


LENIENT = (Refusal.SHARE_SPENT, Refusal.NO_SHARE)
"""Refusals that the first schema did not have: shares began at nothing then, whatever
had been spent.
"""


def refusal(facts: Facts, name: str, by: str | None, price: Price) -> Refusal | None:
    """Why this charge is not granted, or None if it is. The statements in `store`
    decide the same.
    """
    account, analysts = facts.accounts[name], facts.of(name)
    if account.frozen:
        return Refusal.FROZEN
    if account.written_off:
        return Refusal.WRITTEN_OFF
    stopped = standing(analysts, by)
    if stopped is not None:
        return stopped
    if not account.state.fits(price):
        return Refusal.SPENT
    share = analysts.get(by or "", AnalystFacts())
    return Refusal.SHARE_SPENT if share.part and not share.state.fits(price) else None


def standing(analysts: Mapping[str, AnalystFacts], by: str | None) -> Refusal | None:
    """Whether an analyst may ask at all, be it for a stored release: she is not
    stopped, and has a share if any has.
    """
    if by is None:
        return None
    mine = analysts.get(by, AnalystFacts())
    if mine.frozen:
        return Refusal.STOPPED
    shared = any(one.part for one in analysts.values())
    return Refusal.NO_SHARE if shared and not mine.part else None


def apply(facts: Facts, line: Line, rules: Rules | None = None) -> None:
    """Carry a line out, or raise `LedgerError` where no honest book holds it."""
    if line.seq == 1 or line.kind == "book":
        _begin(facts, line)
        return
    if line.kind in _BOOK:
        _BOOK[line.kind](facts, line)
        return
    if line.kind == "open":
        _open(facts, line, rules)
        return
    if line.account not in facts.accounts:
        raise LedgerError(
            f"the account {line.account!r} is not open yet; open it first"
        )
    if line.kind in _PRICED:
        _PRICED[line.kind](facts, line, rules)
    elif line.kind in _ACCOUNT:
        _ACCOUNT[line.kind](facts, line)
    else:
        raise LedgerError(f"a line has the unknown kind {line.kind!r}")


def _begin(facts: Facts, line: Line) -> None:
    if line.seq != 1 or line.kind != "book":
        raise LedgerError(
            "the first line of a ledger is not of the kind 'book', or a later line is"
        )
    facts.schema = line.body.get("schema", 1)


def _mark(facts: Facts, line: Line) -> None:
    facts.mark = line.body["reason"]
    close(facts)


def _clear(facts: Facts, _: Line) -> None:
    facts.mark = None


def _schema(facts: Facts, line: Line) -> None:
    if line.body["version"] != facts.schema + 1:
        raise LedgerError("the schema of the ledger does not increase by one")
    facts.schema = line.body["version"]


def _clock(_: Facts, __: Line) -> None:
    """The book has seen this time, and nothing else happens."""


def _task(facts: Facts, line: Line) -> None:
    """Devices were promised something; no account pays for it."""
    facts_in(str(line.body["relation"]))
    linked = line.body["linked"]
    if linked is not None and linked not in facts.accounts:
        raise LedgerError(
            f"the task is linked to the account {linked!r}, which is not open yet"
        )


def _open(facts: Facts, line: Line, rules: Rules | None) -> None:
    body = line.body
    about = (str(body["dataset"]), str(body["unit"]), str(body["relation"]))
    facts_in(about[2])  # refused where no book writes it
    if line.account in facts.accounts:
        raise LedgerError(f"the account {line.account} is already open")
    for name, other in facts.accounts.items():
        if _same_people(about, other):
            raise LedgerError(
                f"the account {name} already has the budget of {other.dataset!r} for one "
                f"{other.unit} ({other.relation}){_why(about[2], other.relation)}; "
                "use that account"
            )
    total = (str(body["accounting"]), str(body["epsilon"]), str(body["delta"]))
    state = State(body["pure_cap"], body["loss_cap"], body["delta_cap"])
    opened = AccountFacts(
        *about, *total, body["order"], canonical(body["policy"]), state
    )
    opened = replace(opened, began=line.seq, began_at=line.time)
    _check_caps(rules, opened)
    facts.accounts[line.account] = opened


def _same_people(about: tuple[str, str, str], other: AccountFacts) -> bool:
    """Whether an account about them is there already. Exact facts are published beside
    all releases, so if there are any, nothing is promised without them (rule R22).
    """
    dataset, unit, relation = about
    if (dataset, unit) != (other.dataset, other.unit):
        return False
    given = facts_in(relation) or facts_in(other.relation)
    return bool(given) or relation == other.relation


def _why(relation: str, other: str) -> str:
    if relation == other:
        return ""
    return (
        ", and the same people cannot have a second account with other exact facts "
        "(invariants)"
    )


def _charge(facts: Facts, line: Line, rules: Rules | None) -> None:
    name, body = line.account, line.body
    by, price, account = body["by"], Price(*body["cost"]), facts.accounts[name]
    _check_cost(rules, account, body, price)
    found = refusal(facts, name, by, price)
    if facts.schema == 1 and found in LENIENT:
        found = None
    if found is not None:
        raise LedgerError(f"the charge was granted although {found.value}")
    state = account.state.plus(price)
    if "spent" in body and tuple(body["spent"]) != state.spent:
        raise LedgerError("the charge does not list the budget that is spent after it")
    facts.accounts[name] = replace(account, state=state, charges=account.charges + 1)
    _spend_by(facts, name, by, price)
    if facts.schema > 1:
        facts.pending[line.seq] = Pending(name, by, body["deadline"], body["id"])
    if "run" in body:
        facts.runs[line.seq] = begun(line)


def _recover(facts: Facts, line: Line, rules: Rules | None) -> None:
    body, account = line.body, facts.accounts[line.account]
    price = Price(*body["cost"])
    _check_cost(rules, account, body, price)
    if body["head"] in facts.recovered:
        raise LedgerError("this charge was already recovered")
    facts.recovered.add(body["head"])
    facts.accounts[line.account] = replace(account, state=account.state.plus(price))
    _spend_by(facts, line.account, body["by"], price, charges=0)


def _amend(facts: Facts, line: Line, rules: Rules | None) -> None:
    name, body = line.account, line.body
    account = facts.accounts[name]
    _not_written_off(facts, name, "its total cannot change")
    amended = replace(
        account,
        epsilon=str(body["epsilon"]),
        delta=str(body["delta"]),
        state=account.state.with_caps(body[cap] for cap in CAPS),
        policy=canonical(body["policy"]) if "policy" in body else account.policy,
    )
    _check_caps(rules, amended)
    if facts.schema > 1 and not amended.state.holds:
        raise LedgerError(
            f"the account {name} has already spent more than that; pass a larger total"
        )
    facts.accounts[name] = amended
    for analyst, one in facts.of(name).items():
        if one.part:
            caps = amended.state.share_caps(Fraction(one.part))
            facts.analysts[name, analyst] = replace(
                one, state=one.state.with_caps(caps)
            )


def _renew(facts: Facts, line: Line) -> None:
    name, account = line.account, facts.accounts[line.account]
    _not_written_off(facts, name, "it cannot be renewed")
    days = account.rule("renew_days")
    if days is None:
        raise LedgerError(
            f"the account {name} does not have a renewal window, so its total is permanent; "
            "set renew_days in its policy with Ledger.amend"
        )
    due = datetime.fromisoformat(account.began_at) + timedelta(days=days)
    if datetime.fromisoformat(line.time) < due:
        raise LedgerError(
            f"the account {name} can be renewed {days:g} days after {account.began_at}; "
            "wait until then"
        )
    state, period = account.state.emptied(), account.period + 1
    facts.accounts[name] = replace(
        account, state=state, period=period, began=line.seq, began_at=line.time
    )
    for analyst, one in facts.of(name).items():
        facts.analysts[name, analyst] = replace(one, state=one.state.emptied())
    close(facts, name)


def _write_off(facts: Facts, line: Line) -> None:
    account = facts.accounts[line.account]
    # By the rules of the first schema, a new promise undid it
    final = int(facts.schema > 1)
    facts.accounts[line.account] = replace(
        account, state=account.state.used_up(), written_off=final
    )
    close(facts, line.account)


def _share(facts: Facts, line: Line) -> None:
    name, analyst, part = line.account, line.body["analyst"], line.body["part"]
    caps = facts.accounts[name].state.share_caps(Fraction(part))
    if not 0 <= Fraction(part) <= 1 or list(line.body["caps"]) != caps:
        raise LedgerError(
            f"the share of {analyst} is larger than the part that was given"
        )
    mine = facts.analysts.get((name, analyst), AnalystFacts())
    facts.analysts[name, analyst] = replace(
        mine, part=part, state=mine.state.with_caps(caps)
    )


def _claim(facts: Facts, line: Line) -> None:
    _check_running(facts, line)
    claim(facts, line)


def _go_on(facts: Facts, line: Line) -> None:
    _check_running(facts, line)
    go_on(facts, line)


def _check_running(facts: Facts, line: Line) -> None:
    """Steps were paid for, but nobody reads anything for an account that is stopped."""
    found = facts.runs.get(line.body["charge"])
    if found is None or found.account != line.account:
        raise LedgerError("no charge has paid for these steps")
    frozen = facts.accounts[line.account].frozen
    if frozen or standing(facts.of(line.account), found.analyst) is not None:
        raise LedgerError(
            "steps are claimed although the account or the analyst is stopped"
        )


def _settle(facts: Facts, line: Line) -> None:
    if facts.schema > 1:
        _take_pending(facts, line)


def _store(facts: Facts, line: Line) -> None:
    body = line.body
    if (line.account, body["key"]) in facts.releases:
        raise LedgerError(
            "a release is already stored under this key, and cannot be replaced"
        )
    if facts.schema > 1 and not 0 < body["charge"] < line.seq:
        raise LedgerError("a release is stored for a charge that does not exist")
    facts.releases[line.account, body["key"]] = (
        body["charge"],
        line.seq,
        body["sha256"],
    )


def _fail(facts: Facts, line: Line) -> None:
    if facts.schema > 1:
        _count_failure(facts, line.account, _take_pending(facts, line).analyst)
        return
    account = facts.accounts[line.account]
    facts.accounts[line.account] = replace(
        account, failures=account.failures + 1, own=account.own + 1
    )


def _lapse(facts: Facts, line: Line) -> None:
    pending = _take_pending(facts, line)
    if line.time < pending.deadline:
        raise LedgerError("a charge lapsed before its deadline")
    _count_failure(facts, line.account, pending.analyst)


def _count_failure(facts: Facts, name: str, by: str | None) -> None:
    """Against the asker first, and against all together: no analyst alone can stop an
    account for everybody.
    """
    account = facts.accounts[name]
    most, in_all = (
        account.rule("failures", FAILURES),
        account.rule("failures_in_all", FAILURES_IN_ALL),
    )
    failures, own = account.failures + 1, account.own + (by is None)
    frozen = account.frozen
    if own >= most or failures >= in_all:
        frozen = frozen or f"{failures} failures after data was read"
    facts.accounts[name] = replace(account, failures=failures, own=own, frozen=frozen)
    if by is None:
        return
    mine = facts.analysts.get((name, by), AnalystFacts())
    stopped = mine.frozen
    if mine.failures + 1 >= most:
        stopped = stopped or f"{mine.failures + 1} failures after data was read"
    facts.analysts[name, by] = replace(mine, failures=mine.failures + 1, frozen=stopped)


def _freeze(facts: Facts, line: Line) -> None:
    name, analyst, reason = line.account, line.body.get("analyst"), line.body["reason"]
    if not reason:
        raise LedgerError("a freeze needs a reason")
    if analyst is None:
        facts.accounts[name] = replace(facts.accounts[name], frozen=reason)
    else:
        mine = facts.analysts.get((name, analyst), AnalystFacts())
        facts.analysts[name, analyst] = replace(mine, frozen=reason)


def _thaw(facts: Facts, line: Line) -> None:
    name, analyst = line.account, line.body.get("analyst")
    if analyst is None:
        facts.accounts[name] = replace(
            facts.accounts[name], frozen="", failures=0, own=0
        )
    else:
        mine = facts.analysts.get((name, analyst), AnalystFacts())
        facts.analysts[name, analyst] = replace(mine, frozen="", failures=0)


def _take_pending(facts: Facts, line: Line) -> Pending:
    found = facts.pending.get(line.body["charge"])
    if found is None or found.account != line.account:
        raise LedgerError(
            f"the charge {line.body['charge']} does not wait for an answer: it is settled, "
            "failed or lapsed"
        )
    del facts.pending[line.body["charge"]]
    return found


def _spend_by(
    facts: Facts, name: str, by: str | None, price: Price, charges: int = 1
) -> None:
    if by is not None:
        mine = facts.analysts.get((name, by), AnalystFacts())
        state = mine.state.plus(price)
        facts.analysts[name, by] = replace(
            mine, state=state, charges=mine.charges + charges
        )


def _not_written_off(facts: Facts, name: str, consequence: str) -> None:
    if facts.schema > 1 and facts.accounts[name].written_off:
        raise LedgerError(
            f"the account {name} was written off, which cannot be undone: {consequence}"
        )


def _check_caps(rules: Rules | None, account: AccountFacts) -> None:
    if rules is not None:
        rules.check_caps(account)


def _check_cost(
    rules: Rules | None, account: AccountFacts, body: Mapping[str, Any], price: Price
) -> None:
    if min(price.pure or 0, price.loss, price.delta) < 0:
        raise LedgerError("the charge has a negative cost")
    for part in body["guarantee"].get("parts", [body["guarantee"]]):
        if (part["unit"], part["relation"]) != (account.unit, account.relation):
            raise LedgerError("the guarantee of the charge is for another unit")
    if rules is not None:
        rules.check_cost(account, body["guarantee"], price)


_BOOK: dict[str, Callable[[Facts, Line], None]] = {
    "mark": _mark,
    "clear": _clear,
    "schema": _schema,
    "clock": _clock,
    "task": _task,
}
_PRICED: dict[str, Callable[[Facts, Line, Rules | None], None]] = {
    "charge": _charge,
    "recover": _recover,
    "amend": _amend,
}
_ACCOUNT: dict[str, Callable[[Facts, Line], None]] = {
    "renew": _renew,
    "write off": _write_off,
    "share": _share,
    "claim": _claim,
    "resume": _go_on,
    "settle": _settle,
    "store": _store,
    "fail": _fail,
    "lapse": _lapse,
    "freeze": _freeze,
    "thaw": _thaw,
}
