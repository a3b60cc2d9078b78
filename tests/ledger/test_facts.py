"""Facts are copied without sharing, and survive being written as data."""

import json

from dither.ledger import Ledger
from dither.ledger.facts import AnalystFacts, Facts, Pending
from dither.ledger.state import State
from dither.ledger.tables import load_all
from tests.ledger.golden.make import fill


def facts_of_a_book():
    with Ledger.open(":memory:") as ledger:
        fill(ledger)
        with ledger.store.reading() as run:
            return load_all(run)


def test_facts_are_the_same_after_being_written():
    facts = facts_of_a_book()
    assert facts.accounts
    assert facts.analysts
    assert Facts.from_json(json.loads(json.dumps(facts.to_json()))) == facts


def test_a_copy_shares_nothing_that_changes():
    facts = facts_of_a_book()
    copy = facts.copy()
    assert copy == facts
    copy.pending[99] = Pending("clinic", None, "then", "name")
    copy.recovered.add("head")
    copy.analysts["clinic", "eve"] = AnalystFacts(state=State(1, 0, 0))
    assert 99 not in facts.pending
    assert "head" not in facts.recovered
    assert "eve" not in facts.of("clinic")


def test_a_policy_without_a_rule_has_the_default():
    account = facts_of_a_book().accounts["clinic"]
    assert account.rule("no such rule", 7) == 7
