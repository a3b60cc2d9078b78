"""One definition of what may happen to a book: what the statement grants, what a forged
line may not do.
"""

from __future__ import annotations

import random  # allowed: test inputs
from dataclasses import replace
from typing import Any

import pytest

from dither.errors import LedgerError
from dither.ledger import Ledger, verify
from dither.ledger.entry import Entry, canonical
from dither.ledger.export import export, recheck
from dither.ledger.facts import AnalystFacts, Facts
from dither.ledger.state import Price, State
from dither.ledger.store import APPEND, LAST, Charge
from dither.ledger.tables import load, save
from dither.ledger.transitions import refusal
from dither.ledger.wire import to_json
from dither.privacy import PureDP


def any_state(chance: random.Random) -> State:
    numbers = [chance.choice([0, 1, 5, 10]) for _ in range(6)]
    return State(*numbers, chance.choice([0, 0, 1]))


def any_facts(chance: random.Random, facts: Facts) -> Facts:
    account = replace(
        facts.accounts["clinic"],
        state=any_state(chance),
        frozen=chance.choice(["", "", "", "why"]),
        written_off=chance.choice([0, 0, 0, 1]),
    )
    analysts = {}
    for name in ("ana", "bob"):
        if chance.random() < 0.7:
            part, frozen = (
                chance.choice(["", "1/2"]),
                chance.choice(["", "", "", "why"]),
            )
            analysts["clinic", name] = AnalystFacts(
                part, any_state(chance), 1, 0, frozen
            )
    return replace(facts, accounts={"clinic": account}, analysts=analysts)


def any_cost(chance: random.Random) -> Price:
    return Price(
        chance.choice([None, 0, 1, 5, 6]),
        chance.choice([0, 1, 5]),
        chance.choice([0, 0, 1, 5]),
    )


def test_the_statement_grants_what_the_transitions_grant(ledger: Ledger) -> None:
    """Random accounts, analysts and costs; whoever is new is left to the ordinary way."""
    ledger.account("clinic", epsilon=1, delta=1e-6)
    chance, granted = random.Random(5), 0
    for number in range(400):
        with ledger.changing() as run:
            before = load(run, "clinic")
            facts = any_facts(chance, before)
            run("DELETE FROM analyst")
            save(run, Facts(), facts)
        by, cost = chance.choice([None, "ana", "bob"]), any_cost(chance)
        expected = refusal(facts, "clinic", by, cost) is None
        new = by is not None and ("clinic", by) not in facts.analysts
        units = (cost.pure or 0, cost.loss, cost.delta, int(cost.pure is None))
        now = "2020-01-01T00:00:00.000000+00:00"
        charge = Charge(
            "clinic",
            by,
            units,
            now,
            "2999",
            str(number),
            {"by": by},
            facts.accounts["clinic"].policy,
        )
        made = ledger.store.charge(charge)
        assert (made is not None) == (expected and not new), (facts, by, cost)
        granted += expected
    assert 40 < granted < 360


def append(ledger: Ledger, kind: str, account: str, body: dict[str, Any]) -> None:
    """A forged line with a true hash, and tables that were not touched."""
    with ledger.changing() as run:
        seq, time, head = run(LAST)[0]
        entry = Entry.after(seq + 1, head, time, kind, account, body)
        run(APPEND, (entry.seq, entry.time, kind, account, canonical(body), entry.hash))


def opened(ledger: Ledger) -> dict[str, Any]:
    return dict(next(entry for entry in ledger.entries() if entry.kind == "open").body)


FORGERIES = {
    "a negative recovery": lambda _: (
        "recover",
        {
            "guarantee": to_json(PureDP(0.5)),
            "cost": [-(10**9), 0, 0],
            "by": None,
            "head": "x",
            "number": 1,
            "purpose": "",
        },
    ),
    "a cheap recovery": lambda _: (
        "recover",
        {
            "guarantee": to_json(PureDP(0.5)),
            "cost": [1, 0, 0],
            "by": None,
            "head": "x",
            "number": 1,
            "purpose": "",
        },
    ),
    "a renewal without a window": lambda _: ("renew", {"reason": "please"}),
    "a second opening": lambda ledger: ("open", opened(ledger)),
    "a settled charge that never was": lambda _: ("settle", {"charge": 1}),
    "a failure that never was": lambda _: ("fail", {"charge": 2, "reason": "x"}),
    "a lapse before its time": lambda _: ("lapse", {"charge": 3}),
    "a share larger than its part": lambda _: (
        "share",
        {"analyst": "eve", "part": "1/2", "caps": [10**9, 0, 0]},
    ),
    "a share larger than one": lambda _: (
        "share",
        {"analyst": "eve", "part": "2", "caps": [2 * 10**9, 0, 0]},
    ),
    "a lower total": lambda _: (
        "amend",
        {
            "epsilon": "0.1",
            "delta": "0.0",
            "pure_cap": 10**8,
            "loss_cap": 0,
            "delta_cap": 0,
            "reason": "x",
        },
    ),
    "a total with larger caps": lambda _: (
        "amend",
        {
            "epsilon": "1.0",
            "delta": "0.0",
            "pure_cap": 10**10,
            "loss_cap": 0,
            "delta_cap": 0,
            "reason": "x",
        },
    ),
    "a second book": lambda _: ("book", {"id": "x", "schema": 2}),
    "a step back": lambda _: ("schema", {"version": 1}),
    "a line of no kind": lambda _: ("gift", {"cost": [-1, 0, 0]}),
    "a release of no charge": lambda _: (
        "store",
        {"charge": 99, "key": "k", "sha256": "x"},
    ),
    "ice without a reason": lambda _: ("freeze", {"reason": ""}),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_lines_are_found_by_both_accountants(name: str) -> None:
    ledger = Ledger.open(":memory:")
    account = ledger.account("clinic", epsilon=1)
    account.charge(PureDP(0.5), by="ana")
    verify(ledger)
    list(recheck(export(ledger)))
    kind, body = FORGERIES[name](ledger)
    append(ledger, kind, "" if kind in ("book", "schema") else "clinic", body)
    for whole in (False, True):
        with pytest.raises(LedgerError, match="cannot be part of"):
            verify(ledger, whole=whole)
    # Dp-accounting adds charges up, and looks at no caps
    if name != "a total with larger caps":
        with pytest.raises(LedgerError, match="cannot be part of"):
            recheck(export(ledger))
