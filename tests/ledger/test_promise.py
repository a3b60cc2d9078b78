"""Accounts that their first charge opens: what they show before, and who wins where two
declare different things.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from dither.errors import BudgetExceeded, LedgerError, UnitMismatch
from dither.ledger import Ledger, Policy, verify
from dither.ledger.promise import Promise, accounting_of
from dither.ledger.terms import Terms
from dither.privacy import ApproxDP, PureDP, Unit

HALF = {"ana": Fraction(1, 2)}


def promise(
    epsilon: float = 3, delta: float = 0.0, unit: str = "row", **more: Any
) -> Promise:
    return Promise(
        Terms.of(accounting_of(None, delta), ApproxDP(epsilon, delta, unit=Unit(unit))),
        **more,
    )


def kinds(ledger: Ledger) -> list[str]:
    return [entry.kind for entry in ledger.entries()]


def test_nothing_is_written_before_the_first_charge(ledger: Ledger) -> None:
    account = ledger.promised("clinic", promise(shares=HALF))
    assert account.affords(PureDP(1), by="ana")
    assert not account.affords(PureDP(2), by="ana")
    assert account.shares() == {"ana": 0.5}
    assert [one.name for one in account.analysts()] == ["ana"]
    assert (
        account.spent,
        account.frozen,
        account.charges,
        account.stored("key", by="ana"),
    ) == (0, "", 0, None)
    with pytest.raises(BudgetExceeded, match="bob does not have a share"):
        account.charge(PureDP(1), by="bob")
    with pytest.raises(BudgetExceeded, match="does not fit into the share of ana"):
        account.charge(PureDP(2), by="ana")
    assert kinds(ledger) == ["book"]


def test_the_first_charge_opens_it_with_its_shares(ledger: Ledger) -> None:
    account = ledger.promised(
        "clinic", promise(shares=HALF, policy=Policy(ceiling=2.0))
    )
    receipt = account.charge(PureDP(1), by="ana")
    account.settle(receipt)
    account.charge(PureDP(0.5), by="ana", once="a")
    assert kinds(ledger) == ["book", "open", "share", "charge", "settle", "charge"]
    assert "not open yet" not in str(account)
    assert ledger.account("clinic").remaining_for("ana").epsilon == 0
    assert ledger.account("clinic").policy.ceiling == 2
    verify(ledger)


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        ({"epsilon": 5}, "has ε = 3, not ε = 5"),
        ({"delta": 1e-6}, "was opened without a δ"),
        ({"unit": "patient"}, r"is for one row \(add/remove\), not for one patient"),
        ({"policy": Policy(ceiling=1.0)}, "has another policy"),
    ],
)
def test_the_first_charge_wins(
    place: str, declared: dict[str, Any], words: str
) -> None:
    """Of two processes that declare different things, the second is refused, and
    nothing is charged for it.
    """
    with Ledger.open(place) as one, Ledger.open(place) as two:
        first, second = (
            one.promised("clinic", promise()),
            two.promised("clinic", promise(**declared)),
        )
        assert second.spent == 0
        first.charge(PureDP(1))
        guarantee = PureDP(1, unit=second.unit)
        for act in (
            lambda: second.charge(guarantee),
            lambda: second.share("ana", 0.5),
            lambda: second.affords(guarantee),
        ):
            with pytest.raises(LedgerError, match=words):
                act()
        assert kinds(one) == ["book", "open", "charge"]


def test_the_same_declaration_joins_in(place: str) -> None:
    with Ledger.open(place) as one, Ledger.open(place) as two:
        first, second = (
            one.promised("clinic", promise()),
            two.promised("clinic", promise(shares=HALF)),
        )
        first.charge(PureDP(1))
        second.charge(PureDP(1), by="ana")
        assert kinds(one) == ["book", "open", "charge", "share", "charge"]
        assert first.remaining.epsilon == 1


def test_terms_that_were_amended_meanwhile_are_refused(ledger: Ledger) -> None:
    """An amended account keeps its order, at which a cost of the declared terms means
    nothing.
    """
    late = ledger.promised("clinic", promise(30, 1e-6))
    ledger.account("clinic", epsilon=0.1, delta=1e-6)
    ledger.amend("clinic", epsilon=30, reason="more")
    with pytest.raises(LedgerError, match="was amended after it was opened"):
        late.charge(PureDP(1))
    assert ledger.account("clinic").charges == 0


def test_a_frozen_book_opens_it_frozen(ledger: Ledger) -> None:
    with ledger.changing() as run:
        ledger.freeze_all(run, "restored")
    account = ledger.promised("clinic", promise())
    assert account.frozen == "restored"
    with pytest.raises(LedgerError, match="is frozen"):
        account.charge(PureDP(1))
    account.thaw("looked at it")
    account.charge(PureDP(1))
    assert kinds(ledger)[-4:] == ["open", "freeze", "thaw", "charge"]


def test_a_dataset_has_one_account(ledger: Ledger) -> None:
    ledger.account("clinic", epsilon=3)
    other = ledger.promised("copy", promise(dataset="clinic"))
    with pytest.raises(LedgerError, match="clinic already has the budget of 'clinic'"):
        other.charge(PureDP(1))


@pytest.mark.parametrize(
    ("account", "guarantee", "words"),
    [
        (
            Unit("patient"),
            Unit(),
            r'pass unit=Unit\("patient"\) if each patient has one value; otherwise ask the table in SQL',
        ),
        (
            Unit("patient"),
            Unit("site"),
            r"one patient \(add/remove\); charge it to an account for one site$",
        ),
        (Unit().replacing(), Unit(), r"convert it with \.for_replacement\(\)$"),
        (Unit(), Unit().replacing(), "pass a guarantee under add/remove"),
    ],
)
def test_another_unit_is_refused_with_the_true_way_out(
    account: Unit, guarantee: Unit, words: str
) -> None:
    with (
        Ledger.open(":memory:") as ledger,
        pytest.raises(UnitMismatch, match=words) as problem,
    ):
        ledger.account("clinic", epsilon=1, unit=account).charge(
            PureDP(1, unit=guarantee)
        )
    assert (account.relation == "replace") == (".for_replacement" in str(problem.value))


@pytest.mark.parametrize(
    ("opened", "amended", "words"),
    [
        (0.0, 1e-6, "clinic was opened without a δ, which cannot be added"),
        (1e-6, 0.0, "clinic cannot give up its δ"),
    ],
)
def test_whether_there_is_a_delta_is_fixed(
    ledger: Ledger, opened: float, amended: float, words: str
) -> None:
    """Another process may have the account open, and count costs as they were counted
    when it was opened.
    """
    ledger.account("clinic", epsilon=3, delta=opened)
    with pytest.raises(LedgerError, match=words) as problem:
        ledger.amend("clinic", delta=amended, reason="other")
    assert ledger.store.place in str(problem.value)
    assert kinds(ledger) == ["book", "open"]
