"""What a curator does to an account: share it, write it off, recover lost charges."""

import math
from dataclasses import replace

import pytest

import dither
from dither.errors import ArgumentError, BudgetExceeded, LedgerError, UnitMismatch
from dither.ledger import Ledger, Policy, verify
from dither.privacy import Composed, GaussianDP, PureDP, Unit
from tests.ledger.support import ONE, spend_until_refused


class TestSharing:
    def test_two_large_shares_get_at_most_the_account(self, ledger):
        account = ledger.account("clinic", epsilon=10)
        account.share("ana", 0.8)
        account.share("bo", 0.8)
        assert spend_until_refused(account, PureDP(1), by="ana") == 8
        assert spend_until_refused(account, PureDP(1), by="bo") == 2
        verify(ledger)

    def test_a_refused_share_leaves_the_account_alone(self, ledger):
        account = ledger.account("clinic", epsilon=10)
        account.share("ana", 0.25)
        account.charge(PureDP(2), by="ana")
        head = ledger.head
        with pytest.raises(
            dither.BudgetExceeded, match=r"share of ana: .* epsilon=0\.5 "
        ):
            account.charge(PureDP(1), by="ana")
        assert ledger.head == head
        assert account.remaining.epsilon == 8
        verify(ledger)

    def test_an_analyst_without_a_share(self, ledger):
        account = ledger.account("clinic", epsilon=10)
        assert account.charge(PureDP(1), by="eve").by == "eve"
        account.share("ana", 0.5)
        with pytest.raises(dither.BudgetExceeded, match="eve does not have a share"):
            account.charge(PureDP(1), by="eve")
        assert account.remaining.epsilon == 9

    def test_a_share_can_change(self, ledger):
        account = ledger.account("clinic", epsilon=10)
        account.share("ana", 0.5)
        assert spend_until_refused(account, PureDP(1), by="ana") == 5
        account.share("ana", 0.6)
        assert spend_until_refused(account, PureDP(1), by="ana") == 1
        account.share("ana", 0)
        assert spend_until_refused(account, PureDP(1e-9), by="ana") == 0
        verify(ledger)

    @pytest.mark.parametrize(
        ("analyst", "part"), [("ana", -0.1), ("ana", 1.1), ("ana", math.nan), ("", 0.5)]
    )
    def test_bad_shares(self, ledger, analyst, part):
        with pytest.raises(dither.ArgumentError, match=r"part|analyst"):
            ledger.account("clinic", epsilon=1).share(analyst, part)


class TestShares:
    def test_a_share_counts_what_was_spent_before(self, ledger):
        account = ledger.account("clinic", epsilon=10)
        account.charge(PureDP(4), by="ana")
        account.share("ana", 0.5)
        with pytest.raises(BudgetExceeded, match="share of ana"):
            account.charge(PureDP(2), by="ana")
        account.charge(PureDP(1), by="ana")
        assert account.analysts()[0].charges == 2
        verify(ledger, whole=True)

    def test_nothing_is_left_to_whoever_has_no_share(self, ledger):
        account = ledger.account("clinic", epsilon=10)
        account.charge(PureDP(1), by="eve")
        account.share("ana", 0.5)
        left = {one.name: one.remaining.epsilon for one in account.analysts()}
        assert left == {"ana": 5, "eve": 0}
        assert account.remaining_for("mallory").epsilon == 0
        assert account.remaining_for(None).epsilon == 9

    def test_gaussian_charges_count_for_analysts_too(self, ledger):
        account = ledger.account("clinic", epsilon=1, delta=1e-6)
        account.share("ana", 0.01)
        while account.affords(GaussianDP(0.01), by="ana"):
            account.charge(GaussianDP(0.01), by="ana")
        with pytest.raises(BudgetExceeded, match="share of ana"):
            account.charge(GaussianDP(0.01), by="ana")
        assert account.affords(GaussianDP(0.01))
        assert account.analysts()[0].remaining.mu < 0.01
        verify(ledger, whole=True)


class TestRecovering:
    def test_a_write_off_is_final(self, ledger):
        account = ledger.account("clinic", epsilon=1, policy=Policy(renew_days=1e-9))
        account.write_off("receipts are lost")
        with pytest.raises(LedgerError, match="cannot be undone"):
            ledger.amend("clinic", epsilon=2, reason="please")
        with pytest.raises(LedgerError, match="cannot be undone"):
            ledger.renew("clinic", reason="please")
        with pytest.raises(BudgetExceeded, match="cannot be undone"):
            account.charge(PureDP(1e-9))
        verify(ledger, whole=True)

    def test_recovered_charges_stay_in_64_bits(self, ledger, tmp_path):
        with Ledger.open(tmp_path / "other.db") as other:
            lost = [other.account("clinic", epsilon=4.6e9).charge(PureDP(4.6e9))]
        with Ledger.open(tmp_path / "third.db") as other:
            lost += [other.account("clinic", epsilon=4.6e9).charge(PureDP(4.5e9))]
        account = ledger.account("clinic", epsilon=4.6e9)
        account.recover(lost)
        assert account.remaining.epsilon == 0
        assert not account.affords(PureDP(1e-9))
        with pytest.raises(BudgetExceeded):
            account.charge(PureDP(1e-9))
        verify(ledger, whole=True)

    def test_nested_disjoint_charges_are_recovered_at_their_price(
        self, ledger, tmp_path
    ):
        parts = [Composed([PureDP(1), PureDP(1)]), PureDP(1)]
        with Ledger.open(tmp_path / "other.db") as other:
            lost = other.account("clinic", epsilon=10)
            lost.charge_disjoint(parts)
            (receipt,) = lost.history()
        account = ledger.account("clinic", epsilon=10)
        account.recover([receipt])
        assert account.remaining.epsilon == 8
        verify(ledger, whole=True)

    def test_receipts_of_another_unit_are_not_recovered(self, ledger, tmp_path):
        with Ledger.open(tmp_path / "other.db") as other:
            receipt = other.account("clinic", epsilon=10).charge(PureDP(4))
        unit = Unit("row", "replace")
        account = ledger.account("clinic", epsilon=10, unit=unit)
        with pytest.raises(UnitMismatch):
            account.recover([receipt])

    @pytest.mark.parametrize(
        "change",
        [{"by": 5}, {"by": "a\0"}, {"head": 7}, {"number": True}, {"purpose": []}],
    )
    def test_receipts_that_were_made_up_are_refused(self, ledger, change):
        account = ledger.account("clinic", epsilon=10)
        receipt = replace(account.charge(ONE), **change)
        with pytest.raises(ArgumentError):
            account.recover([receipt])


def test_writing_off_never_lowers_what_is_spent(ledger):
    account = ledger.account("clinic", epsilon=3, delta=1e-6)
    for _ in range(3):
        account.charge(PureDP(1))
    before = account.remaining.state
    account.write_off("enough")
    after = account.remaining.state
    assert (after.pure_spent, after.loss_spent) >= (
        before.pure_spent,
        before.loss_spent,
    )
    assert after.loss_spent == before.loss_spent > after.loss_cap
    with pytest.raises(LedgerError, match="written off, which cannot be undone"):
        ledger.amend("clinic", epsilon=6, delta=1e-6, reason="more")
    assert not account.affords(GaussianDP(0.001))
    verify(ledger)
