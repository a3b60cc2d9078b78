"""What a policy allows, asked of accounts that follow one."""

import math

import pytest

import dither
from dither.errors import BudgetExceeded, LedgerError
from dither.ledger import Ledger, Policy, verify
from dither.privacy import ApproxDP, PureDP


class TestPolicy:
    def test_a_ceiling_for_one_release(self, ledger):
        account = ledger.account("clinic", epsilon=1, policy=Policy(ceiling=0.2))
        with pytest.raises(dither.BudgetExceeded, match=r"at most ε = 0\.2"):
            account.charge(PureDP(0.21))
        account.charge(PureDP(0.2))
        assert len(account.history()) == 1

    def test_a_ceiling_is_kept_when_opened_again(self, place):
        with Ledger.open(place) as book:
            book.account("clinic", epsilon=1, policy=Policy(ceiling=0.2))
        with (
            Ledger.open(place) as book,
            pytest.raises(dither.BudgetExceeded, match="at most"),
        ):
            book.account("clinic").charge(PureDP(0.3))

    @pytest.mark.parametrize(
        "rule",
        [{"ceiling": 0}, {"ceiling": math.nan}, {"renew_days": -1}, {"failures": 0}],
    )
    def test_bad_policies(self, rule):
        with pytest.raises(dither.ArgumentError):
            Policy(**rule)

    def test_a_ceiling_limits_delta_too(self, ledger):
        account = ledger.account(
            "clinic", epsilon=10, delta=1e-6, policy=Policy(ceiling=1)
        )
        with pytest.raises(BudgetExceeded, match="δ = 5e-08"):
            account.charge(ApproxDP(0.1, 6e-8))
        account.charge(ApproxDP(0.1, 5e-8))

    def test_another_policy_is_refused_and_can_be_amended(self, ledger):
        ledger.account("clinic", epsilon=1, policy=Policy(ceiling=0.5))
        with pytest.raises(LedgerError, match="another policy"):
            ledger.account("clinic", epsilon=1, policy=Policy())
        ledger.amend("clinic", policy=Policy(ceiling=0.2), reason="stricter")
        account = ledger.account("clinic", epsilon=1, policy=Policy(ceiling=0.2))
        with pytest.raises(BudgetExceeded, match="at most"):
            account.charge(PureDP(0.3))
        verify(ledger, whole=True)

    def test_a_policy_binds_accounts_that_are_open(self, ledger):
        account = ledger.account("clinic", epsilon=10)
        ledger.amend(
            "clinic", policy=Policy(ceiling=0.1, deadline=60), reason="stricter"
        )
        with pytest.raises(BudgetExceeded, match="at most"):
            account.charge(PureDP(5))
        account.charge(PureDP(0.1))
        assert account.policy.deadline == 60
