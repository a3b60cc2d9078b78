"""Exact facts beside releases: declared before an account opens, written in the book as
part of its relation, and never changed (rule R22).
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dither.errors import LedgerError, UnitMismatch
from dither.ledger import Budget, Ledger, Receipt, verify
from dither.ledger.devices import DevicePromise, promised, record
from dither.ledger.export import export, recheck
from dither.ledger.neighbours import LONGEST, MOST, bare, facts_in, relation_text
from dither.ledger.promise import Promise
from dither.ledger.terms import Accounting, Terms
from dither.ledger.wire import from_json, relation_of, to_json, unit_of
from dither.privacy import (
    ApproxDP,
    Composed,
    GaussianDP,
    Guarantee,
    PureDP,
    Relation,
    Unit,
    ZeroConcentratedDP,
    units,
)
from tests.ledger.notes import agree
from tests.ledger.test_transitions import append, opened

FACTS = ("total of each state",)
TEXT = 'replace given ["total of each state"]'
BARE = Unit("person", Relation.REPLACE)
PEOPLE = Unit("person", Relation.REPLACE, FACTS)
MORE = PEOPLE.with_facts(["number of households"])
ODD = ('a "quoted" one', "a \\ b", "größer, 人口", "x" * LONGEST, "]", "given")


def census(ledger: Ledger, unit: Unit = PEOPLE, name: str = "census") -> Any:
    return ledger.account(
        name, epsilon=3, delta=1e-6, unit=unit, dataset="census of 2030"
    )


# The text


def test_facts_are_written_as_part_of_the_relation() -> None:
    assert relation_of(PEOPLE) == TEXT
    assert relation_of(BARE) == "replace"
    assert relation_of(Unit("person")) == "add/remove"
    assert (MOST, LONGEST) == (units.MOST_GIVEN, units.LONGEST_GIVEN)


@pytest.mark.parametrize(
    "unit",
    [
        *(Unit("person"), BARE, PEOPLE, MORE, BARE.with_facts(ODD)),
        BARE.with_facts([f"{i:0100}" for i in range(MOST)]),
    ],
    ids=lambda unit: str(len(unit.given)),
)
def test_what_is_written_is_read_again(unit: Unit) -> None:
    assert unit_of(unit.name, relation_of(unit)) == unit
    guarantee = Composed([PureDP(0.1, unit=unit), GaussianDP(0.1, unit=unit)])
    assert from_json(json.loads(json.dumps(to_json(guarantee)))) == guarantee
    assert facts_in(relation_of(unit)) == unit.given
    assert bare(relation_of(unit)) == unit.relation


FORGED = (
    *("swap", "", "replace given", "replace given ", "replace given []"),
    *("replace given null", "replace given {}", 'replace given "all"'),
    *('replace given ["b","a"]', 'replace given ["a","a"]', 'replace given ["a", "b"]'),
    *('replace given [""]', 'replace given [" a"]', "replace given [1]"),
    *(
        'replace given ["a\\n"]',
        'replace given ["\\u0061"]',
        'replace given ["\\ud800"]',
    ),
    *('add/remove given ["a"]', f"{TEXT} ", f" {TEXT}", TEXT.upper()),
    *(f"replace given {'[' * 10_000}", f"replace given {'[' * 1_000_000}"),
    f'replace given ["{"x" * (LONGEST + 1)}"]',
    relation_text("replace", tuple(f"{i:03}" for i in range(MOST + 1))),
)


@pytest.mark.parametrize("text", FORGED, ids=lambda text: repr(text)[:40])
def test_a_text_that_no_book_writes_is_an_error(text: str) -> None:
    for read in (facts_in, bare, lambda one: unit_of("person", one)):
        with pytest.raises(LedgerError, match="describes neighbours as") as one:
            read(text)
        assert len(str(one.value)) < 200


# The book


def test_a_book_repeats_facts_with_every_charge(ledger: Ledger, place: str) -> None:
    account = census(ledger)
    given = [PureDP(0.1, unit=PEOPLE), ZeroConcentratedDP(0.001, unit=PEOPLE)]
    receipts = [account.charge(one) for one in given]
    receipts.append(account.charge_disjoint(given))
    assert all(isinstance(one, Receipt) for one in receipts)
    assert {one.guarantee.given for one in receipts} == {FACTS}
    assert opened(ledger)["relation"] == TEXT
    assert str(account).count("given the exact total of each state") == 1
    assert verify(ledger, receipts, whole=True) == 5
    lines = list(export(ledger))
    assert json.loads(lines[1])["relation"] == TEXT
    (total,) = recheck(lines)
    assert total.charges == 3
    with Ledger.open(place) as again:
        found = again.account("census")
        assert found.unit == PEOPLE
        assert found.history() == tuple(receipts)
        assert census(again).terms == account.terms
        assert again.amend("census", epsilon=4, reason="more").unit == PEOPLE
        verify(again, whole=True)


def test_disjoint_keys_cost_twice_given_facts_too() -> None:
    """Whoever is replaced leaves one key and enters another."""
    two = [PureDP(0.5, unit=PEOPLE), PureDP(0.5, unit=PEOPLE)]
    budget = Budget(epsilon=3, unit=PEOPLE)
    budget.charge_disjoint(two)
    assert budget.remaining.epsilon == 2
    (total,) = recheck(export(budget._ledger))
    assert total.recomputed == 1


@pytest.mark.parametrize(
    ("charged", "words"),
    [
        (Unit("person"), r"convert it with \.for_replacement\(\)\.for_facts\(\['total"),
        (BARE, r"convert it with \.for_facts\(\['total of each state'\]\)$"),
        (MORE, r"opened with the same exact facts \(invariants\), because .*$"),
        (BARE.with_facts(["another"]), r"opened with the same exact facts"),
        (Unit("patient", Relation.REPLACE, FACTS), r"an account for one patient"),
    ],
    ids=str,
)
def test_other_facts_are_not_charged(charged: Unit, words: str) -> None:
    budget = Budget(epsilon=3, unit=PEOPLE)
    for guarantee in (PureDP(1, unit=charged), Composed([PureDP(1, unit=charged)])):
        with pytest.raises(UnitMismatch, match=words):
            budget.charge(guarantee)
    assert budget.charges == 0


def test_no_promise_given_facts_is_charged_to_an_account_without() -> None:
    for unit in (Unit("person"), BARE):
        budget = Budget(epsilon=3, unit=unit)
        with pytest.raises(UnitMismatch, match=r"given the exact total of each state"):
            budget.charge(PureDP(1, unit=PEOPLE))
        assert budget.charges == 0


def test_a_converted_promise_is_charged() -> None:
    budget = Budget(epsilon=3, unit=MORE)
    for guarantee in (PureDP(0.5, unit=Unit("person")), PureDP(1, unit=PEOPLE)):
        told = guarantee.for_replacement().for_facts(MORE.given)
        assert budget.charge(told).guarantee == told == PureDP(1, unit=MORE)
    assert budget.remaining.epsilon == 1


@pytest.mark.parametrize(
    "declared", [BARE, MORE, BARE.with_facts(["another"]), Unit("person")], ids=str
)
def test_invariants_come_before_the_account(ledger: Ledger, declared: Unit) -> None:
    account = census(ledger)
    for charged in (False, True):
        with pytest.raises(LedgerError, match="with which it was opened"):
            census(ledger, declared)
        with pytest.raises(LedgerError, match="with which it was opened"):
            ledger.promised("census", promise(declared))
        if not charged:
            account.charge(PureDP(1, unit=PEOPLE))
    assert ledger.account("census").unit == PEOPLE


@pytest.mark.parametrize(
    ("first", "second"),
    [
        *((PEOPLE, BARE), (BARE, PEOPLE), (PEOPLE, MORE), (MORE, PEOPLE)),
        *((PEOPLE, Unit("person")), (Unit("person"), PEOPLE), (PEOPLE, PEOPLE)),
    ],
    ids=str,
)
def test_the_same_people_have_no_second_account(
    ledger: Ledger, first: Unit, second: Unit
) -> None:
    """Another name for the account, and other facts, are no way to a new budget."""
    census(ledger, first)
    words = "census already has the budget of 'census of 2030' for one person"
    why = (
        "" if first == second else ", and the same people cannot have a second account"
    )
    with pytest.raises(LedgerError, match=words) as problem:
        census(ledger, second, "another")
    assert why in str(problem.value)
    later = ledger.promised("another", promise(second))
    with pytest.raises(LedgerError, match=words):
        later.charge(PureDP(1, unit=second))
    assert [one.name for one in ledger.accounts()] == ["census"]


def promise(unit: Unit) -> Promise:
    terms = Terms.of(Accounting.PURE, ApproxDP(3, 0, unit=unit))
    return Promise(terms, dataset="census of 2030")


def test_households_have_an_account_of_their_own(ledger: Ledger) -> None:
    census(ledger)
    home = Unit("household", Relation.REPLACE, ("households of each state",))
    census(ledger, home, "households").charge(PureDP(1, unit=home))
    with pytest.raises(UnitMismatch, match="an account for one household"):
        ledger.account("census").charge(PureDP(1, unit=home))
    verify(ledger, whole=True)


def test_before_the_first_charge_facts_can_be_declared_otherwise(
    ledger: Ledger,
) -> None:
    ledger.promised("census", promise(BARE))
    account = ledger.promised("census", promise(PEOPLE))
    account.charge(PureDP(1, unit=PEOPLE))
    assert ledger.account("census").unit == PEOPLE


def test_backups_and_recoveries_keep_facts(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "book.db") as ledger:
        account = census(ledger)
        account.charge(PureDP(1, unit=PEOPLE))
        ledger.backup(tmp_path / "copy.db")
        lost = account.charge(PureDP(0.5, unit=PEOPLE))
    with Ledger.restore(tmp_path / "copy.db", tmp_path / "restored.db") as restored:
        found = restored.account("census")
        assert (found.unit, bool(found.frozen)) == (PEOPLE, True)
        found.recover([lost])
        found.thaw("all entered")
        assert found.remaining.epsilon == 1.5
        verify(restored, whole=True)
        dropped = Receipt(**{**vars(lost), "guarantee": PureDP(0.5, unit=BARE)})
        with pytest.raises(UnitMismatch):
            found.recover([dropped])


def test_devices_are_promised_facts_in_the_same_words(ledger: Ledger) -> None:
    told: tuple[PureDP, PureDP] = PureDP(1, unit=PEOPLE), PureDP(2, unit=PEOPLE)
    record(ledger, DevicePromise("emoji", 1, "0" * 64, *told))
    assert promised(ledger)[0].once == told[0]
    verify(ledger)


# Forgeries


@pytest.mark.parametrize("text", FORGED, ids=lambda text: repr(text)[:40])
def test_a_forged_relation_is_an_error_of_verification(text: str) -> None:
    """Lines with true hashes, and an export of them."""
    ledger = Ledger.open(":memory:")
    census(ledger)
    body = opened(ledger) | {"relation": text, "dataset": "another"}
    append(ledger, "open", "forged", body)
    with pytest.raises(LedgerError, match="line 3 cannot be part of"):
        verify(ledger)
    with pytest.raises(LedgerError, match="line 3 cannot be part of"):
        recheck(export(ledger))


@pytest.mark.parametrize("given", [(), MORE.given, ("another",)], ids=str)
def test_no_line_opens_the_same_people_again(given: tuple[str, ...]) -> None:
    ledger = Ledger.open(":memory:")
    census(ledger)
    body = opened(ledger) | {"relation": relation_text("replace", given)}
    append(ledger, "open", "forged", body)
    for check in (verify, lambda book: recheck(export(book))):
        with pytest.raises(LedgerError, match="already has the budget"):
            check(ledger)


@pytest.mark.parametrize("relation", ["replace", relation_of(MORE), "swap"])
def test_no_line_charges_a_promise_with_other_facts(relation: str) -> None:
    ledger = Ledger.open(":memory:")
    census(ledger).charge(PureDP(1, unit=PEOPLE))
    (charge,) = [one for one in ledger.entries() if one.kind == "charge"]
    told = to_json(PureDP(1, unit=PEOPLE)) | {"relation": relation}
    append(ledger, "charge", "census", dict(charge.body) | {"guarantee": told})
    for check in (verify, lambda book: recheck(export(book))):
        with pytest.raises(
            LedgerError, match="guarantee of the charge is for another unit"
        ):
            check(ledger)


@pytest.mark.parametrize("text", ["replace", "swap", TEXT.replace("state", "town")])
def test_facts_that_were_changed_in_a_table_are_found(
    tmp_path: Path, text: str
) -> None:
    path = tmp_path / "book.db"
    with Ledger.open(path) as ledger:
        census(ledger).charge(PureDP(1, unit=PEOPLE))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE account SET relation = ?", (text,))
    agree(path)
    with Ledger.open(path) as ledger:
        with pytest.raises(LedgerError, match="one of them was changed"):
            verify(ledger)
        with pytest.raises(LedgerError):
            census(ledger)
        if text == "swap":
            with pytest.raises(LedgerError, match="so it was changed"):
                ledger.accounts()


def test_every_kind_is_told() -> None:
    kinds: list[Guarantee] = [PureDP(1, unit=PEOPLE), GaussianDP(1, unit=PEOPLE)]
    assert all(
        str(one).endswith("given the exact total of each state") for one in kinds
    )
