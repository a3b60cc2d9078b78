"""An exported book added up again with Google's dp-accounting.

Of Dither it uses only its errors and the transitions of a book, which are whole numbers
only. Every charge is replayed: its cost is computed again from the guarantee that it
names, and the total must stay within what was promised at that moment. A pure ε is
treated as ε-randomized response, which no ε-DP mechanism exceeds; counted as Laplace
noise, charges for anything else would look cheaper than they are. For a bounded range,
for samples of a fixed size and for listed Rényi losses dp-accounting 0.6 has no event
as sharp as the book's, and a simpler upper bound stands in, or the book's own cost
where that is less. A declared run is composed again, from its steps.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import Any

from dither.errors import LedgerError, MissingExtra
from dither.ledger.entry import Entry
from dither.ledger.facts import AccountFacts, Facts
from dither.ledger.neighbours import bare
from dither.ledger.recheck_runs import declared_loss, steps_of
from dither.ledger.state import Price
from dither.ledger.transitions import apply

__all__ = ["FORMAT", "Total", "recheck"]

FORMAT = 2
READ = (1, FORMAT)
AGAIN = "export the ledger again with `dither log export`"
NEARLY = 1e-7
"""Largest difference between two accountants' floats; a book counts in units of 1e-9.
"""
NANO, ATTO = 10**9, 10**18


@dataclass(frozen=True)
class Loss:
    """One charge, as computed here: its ε if it is pure, its Rényi loss or μ², its δ,
    and whether the loss is exact.
    """

    pure: Fraction | None
    loss: float
    delta: Fraction
    exact: bool = True

    def __add__(self, other: Loss) -> Loss:
        return self._with(other, lambda one, two: one + two)

    def largest_with(self, other: Loss) -> Loss:
        return self._with(other, max)

    def _with(self, other: Loss, both: Callable[[Any, Any], Any]) -> Loss:
        pure = (
            None
            if self.pure is None or other.pure is None
            else both(self.pure, other.pure)
        )
        exact = self.exact and other.exact
        return Loss(
            pure, both(self.loss, other.loss), both(self.delta, other.delta), exact
        )


NOTHING = Loss(Fraction(0), 0.0, Fraction(0))


@dataclass(frozen=True)
class Total:
    """An account, re-added: what was promised, and what its charges of this period come
    to.
    """

    account: str
    accounting: str
    order: int
    relation: str
    epsilon: Fraction
    delta: Fraction
    charges: int = 0
    spent: Loss = NOTHING

    @property
    def recomputed(self) -> float:
        """The ε that all charges together have: the plain sum or, at half of the
        promised δ, that of their losses.
        """
        plain = math.inf if self.spent.pure is None else float(self.spent.pure)
        if plain <= self.epsilon or self.accounting == "pure":
            return plain
        return min(
            plain,
            _epsilon(
                self.accounting, self.order, self.spent.loss, float(self.delta / 2)
            ),
        )

    @property
    def fits(self) -> bool:
        """Whether the charges are within the promise by either of the two ways an
        account may grant.
        """
        if self.spent.pure is not None and self.spent.pure <= self.epsilon:
            return True
        if self.accounting == "pure" or self.spent.delta > self.delta / 2:
            return False
        lost = _epsilon(
            self.accounting, self.order, self.spent.loss, float(self.delta / 2)
        )
        return lost <= float(self.epsilon) * (1 + NEARLY)

    def __str__(self) -> str:
        promised = f"ε = {float(self.epsilon):g}" + (
            f", δ = {float(self.delta):g}" if self.delta else ""
        )
        return (
            f"{self.account}: {self.charges} charges, ε = "
            f"{self.recomputed:.6g} re-added; promised {promised}"
        )


def recheck(
    lines: Iterable[str], anchors: Iterable[tuple[int, str]] = ()
) -> tuple[Total, ...]:
    """Add an exported book up again; raises `LedgerError` at the first thing that is
    not as it says.

    Anchors are (number, hash) pairs of receipts that were kept elsewhere: without one,
    an export whose writer left charges out and made all of it agree again cannot be
    told from a true one.
    """
    parsed = [
        _parsed(number, line) for number, line in enumerate(lines, 1) if line.strip()
    ]
    if (
        not parsed
        or parsed[0].get("line") != "book"
        or parsed[0].get("format") not in READ
    ):
        raise LedgerError(
            f"the file is not an exported ledger of format {FORMAT}; write one with "
            "`dither log export`"
        )
    try:
        log = [line for line in parsed if line["line"] in ("charge", "note")]
        _chain(parsed[0], log, anchors)
        facts, totals = _replay(log)
        _compare(facts, totals, [line for line in parsed if line["line"] == "account"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise LedgerError(
            f"the export was changed, and cannot be read; {AGAIN}"
        ) from error
    return tuple(totals.values())


def _parsed(number: int, line: str) -> dict[str, Any]:
    try:
        parsed = json.loads(line)
    except ValueError:
        parsed = None
    if not isinstance(parsed, dict) or "line" not in parsed:
        raise LedgerError(
            f"line {number} of the export was not written by `dither log export`; {AGAIN}"
        )
    return parsed


def _chain(
    book: Mapping[str, Any],
    log: list[dict[str, Any]],
    anchors: Iterable[tuple[int, str]],
) -> None:
    previous = ""
    for expected, line in enumerate(log, 1):
        kind = "charge" if line["line"] == "charge" else line["kind"]
        text = _canonical(
            [
                previous,
                expected,
                line["time"],
                kind,
                line["account"],
                _canonical(_body(line)),
            ]
        )
        previous = hashlib.sha256(text.encode()).hexdigest()
        if (line["number"], line["hash"]) != (expected, previous):
            raise LedgerError(
                f"line {expected} of the log was changed, moved or removed; {AGAIN}"
            )
    if (book["lines"], book["head"]) != (len(log), previous):
        raise LedgerError(f"the end of the log was removed; {AGAIN}")
    for number, digest in anchors:
        if not 1 <= number <= len(log) or log[number - 1]["hash"] != digest:
            raise LedgerError(
                f"line {number} is missing or was changed, so this is not the ledger that "
                "the receipt is from; export that ledger"
            )


PLACE = ("line", "number", "time", "account", "hash")


def _body(line: Mapping[str, Any]) -> Any:
    if line["line"] == "note":
        return line["body"]
    return {name: value for name, value in line.items() if name not in PLACE}


def _canonical(data: Any) -> str:
    return json.dumps(
        data, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def _replay(log: list[dict[str, Any]]) -> tuple[Facts, dict[str, Total]]:
    """Follow the lines by the book's own transitions, and add every charge up again
    beside them.
    """
    facts, totals = Facts(), dict[str, Total]()
    for line in log:
        entry = _entry(line)
        try:
            apply(facts, entry, Prices())
        except LedgerError as error:
            raise LedgerError(
                f"line {entry.seq} cannot be part of a ledger: {error}"
            ) from None
        if entry.account:
            name, account = entry.account, facts.accounts[entry.account]
            totals[name] = _after(totals.get(name), entry, account)
            if entry.kind == "charge" and not totals[name].fits:
                raise LedgerError(
                    f"line {entry.seq} spends more than the remaining budget of {name}: "
                    f"{totals[name]}"
                )
    return facts, totals


def _entry(line: Mapping[str, Any]) -> Entry:
    kind = "charge" if line["line"] == "charge" else line["kind"]
    return Entry(
        line["number"], line["time"], kind, line["account"], _body(line), line["hash"]
    )


def _after(total: Total | None, entry: Entry, account: AccountFacts) -> Total:
    promised = Fraction(account.epsilon), Fraction(account.delta)
    if total is None:
        return Total(
            entry.account,
            account.accounting,
            account.order,
            account.relation,
            *promised,
        )
    if entry.kind == "renew":
        return replace(total, charges=0, spent=NOTHING)
    if entry.kind not in ("charge", "recover"):
        return replace(total, epsilon=promised[0], delta=promised[1])
    lost = _loss_in(account, entry.body["guarantee"])
    # Only an upper bound is known here, and the book may have a better one
    if not lost.exact:
        lost = replace(lost, loss=min(lost.loss, entry.body["cost"][1] / NANO))
    return replace(total, charges=total.charges + 1, spent=total.spent + lost)


class Prices:
    """The computations of costs and caps by an accountant other than Dither's (see
    `transitions.Rules`).
    """

    def check_caps(self, account: AccountFacts) -> None:
        """A cap that is too large lets charges through, and those are added up: see
        `Total.fits`.
        """

    def check_cost(
        self, account: AccountFacts, guarantee: Mapping[str, Any], price: Price
    ) -> None:
        lost = _loss_in(account, guarantee)
        cheaper = (
            (
                price.pure is not None
                and (lost.pure is None or price.pure < lost.pure * NANO)
            )
            or price.delta < lost.delta * ATTO
            or (
                lost.exact
                and account.accounting != "pure"
                and price.loss < lost.loss * NANO * (1 - NEARLY) - 1
            )
        )
        if cheaper:
            raise LedgerError("the charge costs less than its guarantee")


def _loss_in(account: AccountFacts, guarantee: Mapping[str, Any]) -> Loss:
    return _loss(
        _canonical(guarantee), account.accounting, account.order, account.relation
    )


def _compare(
    facts: Facts, totals: Mapping[str, Total], accounts: list[dict[str, Any]]
) -> None:
    said = {line["name"]: line for line in accounts}
    if said.keys() != totals.keys() or len(said) != len(accounts):
        raise LedgerError(f"the accounts of the export do not match its log; {AGAIN}")
    for name, line in said.items():
        account = facts.accounts[name]
        terms = (
            line["accounting"],
            line["order"],
            line["relation"],
            line["epsilon"],
            line["delta"],
        )
        if terms != (
            account.accounting,
            account.order,
            account.relation,
            account.epsilon,
            account.delta,
        ):
            raise LedgerError(
                f"the terms of the account {name} do not match the log; {AGAIN}"
            )
        if tuple(line["spent"]) != account.state.spent[:3]:
            raise LedgerError(
                f"the spent budget of the account {name} is not the sum of its charges; "
                f"{AGAIN}"
            )


@lru_cache(maxsize=4096)
def _loss(guarantee: str, accounting: str, order: int, relation: str) -> Loss:
    return _loss_of(json.loads(guarantee), accounting, order, relation)


def _loss_of(
    data: Mapping[str, Any], accounting: str, order: int, relation: str
) -> Loss:
    kind = data["kind"]
    if kind in ("composed", "disjoint"):
        losses = [_loss_of(part, accounting, order, relation) for part in data["parts"]]
        return (
            _together(losses, doubled=bare(relation) == "replace")
            if kind == "disjoint"
            else _added(losses)
        )
    delta = _written(data.get("delta", 0.0))
    pure = None
    if kind in ("pure", "laplace", "bounded range") or (
        kind == "approximate" and not delta
    ):
        pure = _written(data["epsilon"])
    if accounting == "pure":
        if pure is None:
            raise LedgerError(
                "a charge that is not pure ε was made on an account with pure accounting"
            )
        return Loss(pure, 0.0, Fraction(0))
    loss, exact = _squared_mu(data) if accounting == "gdp" else _renyi(data, order)
    return Loss(pure, loss, delta, exact)


def _added(losses: list[Loss]) -> Loss:
    return sum(losses[1:], losses[0])


def _together(losses: list[Loss], doubled: bool) -> Loss:
    largest = losses[0]
    for other in losses[1:]:
        largest = largest.largest_with(other)
    return largest + largest if doubled and len(losses) > 1 else largest


def _written(number: float) -> Fraction:
    return Fraction(repr(float(number)))


def _squared_mu(data: Mapping[str, Any]) -> tuple[float, bool]:
    if data["kind"] == "gaussian":
        return float(data["mu"]) ** 2, True
    if data["kind"] in ("pure", "laplace", "approximate", "bounded range"):
        mu = -2 * NormalDist().inv_cdf(1 / (1 + math.exp(min(data["epsilon"], 700.0))))
        return mu * mu, True
    raise LedgerError(
        f"a charge of the kind {data['kind']!r} was made on an account with gdp accounting"
    )


def _renyi(data: Mapping[str, Any], order: int) -> tuple[float, bool]:
    """The loss at an order, and whether it is exact."""
    exact = _exact(data, order)
    return (_bound(data, order), False) if exact is None else (exact, True)


def _exact(data: Mapping[str, Any], order: int) -> float | None:
    dp = _accounting()
    match data["kind"]:
        case "pure" | "approximate":
            return _response(data["epsilon"], order)
        case "laplace":
            event = dp.LaplaceDpEvent(1 / data["epsilon"])
        case "gaussian":
            event = dp.GaussianDpEvent(1 / data["mu"])
        case "zero-concentrated":
            event = dp.ZCDpEvent(data["rho"])
        case "poisson sampled":
            step = dp.GaussianDpEvent(1 / data["mu"])
            sampled = dp.PoissonSampledDpEvent(data["rate"], step)
            event = dp.SelfComposedDpEvent(sampled, data["steps"])
        case "declared":
            if data["order"] == order:
                return declared_loss(data)
            return sum(_exact(part, order) or math.inf for part in steps_of(data))
        case _:
            return None
    return _rdp(event, order)


def _bound(data: Mapping[str, Any], order: int) -> float:
    dp = _accounting()
    match data["kind"]:
        case "fixed-size sampled":
            return _fixed_size(data, order)
        case "bounded range":
            concentrated = _rdp(dp.ZCDpEvent(data["epsilon"] ** 2 / 8), order)
            return min(concentrated, _response(data["epsilon"], order))
        case "renyi":
            losses = [loss for place, loss in data["losses"] if place >= order]
            # Losses grow with the order, and are listed so
            return _rdp(dp.ZCDpEvent(0.0, losses[0]), order) if losses else math.inf
    raise LedgerError(f"a guarantee has the unknown kind {data['kind']!r}")


def _fixed_size(data: Mapping[str, Any], order: int) -> float:
    """By the bound of Wang, Balle & Kasiviswanathan 2019, about twice the book's."""
    dp = _accounting()
    drawn = Fraction(data["rate"])
    sample = dp.SampledWithoutReplacementDpEvent(
        drawn.denominator, drawn.numerator, dp.GaussianDpEvent(1 / data["mu"])
    )
    run = dp.SelfComposedDpEvent(sample, data["steps"])
    return _rdp(run, order, dp.NeighboringRelation.REPLACE_ONE)


def _response(epsilon: float, order: int) -> float:
    """Randomized response between two answers; above ε = 30 its truth is certain in
    floats, and ε is its loss.
    """
    if epsilon > 30:
        return epsilon
    dp = _accounting()
    event = dp.RandomizedResponseDpEvent(2 / (1 + math.exp(epsilon)), 2)
    return _rdp(event, order, dp.NeighboringRelation.REPLACE_ONE)


def _rdp(event: Any, order: int, relation: Any = None) -> float:
    from dp_accounting.rdp import RdpAccountant

    relation = (
        _accounting().NeighboringRelation.ADD_OR_REMOVE_ONE
        if relation is None
        else relation
    )
    return float(RdpAccountant([order], relation).compose(event).rdp[0])


def _epsilon(accounting: str, order: int, loss: float, delta: float) -> float:
    dp = _accounting()
    if loss == 0:
        return 0.0
    if accounting == "gdp":
        return float(dp.get_epsilon_gaussian(1 / math.sqrt(loss), delta))
    from dp_accounting.rdp import compute_epsilon

    return float(compute_epsilon([order], [loss], delta)[0])


def _accounting() -> Any:
    try:
        import dp_accounting
    except ImportError:
        raise MissingExtra("dp-accounting", "accounting") from None
    return dp_accounting
