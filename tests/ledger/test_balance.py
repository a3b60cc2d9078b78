"""What an account shows of itself: what is left, its history, its burn-down."""

import os

import pytest

import dither
from dither.errors import AccountFrozen, BudgetExceeded, LedgerError
from dither.privacy import GaussianDP, PureDP
from tests.ledger.support import ONE, spend_until_refused


class TestLooking:
    def test_history(self, ledger):
        account = ledger.account("clinic", epsilon=1)
        ledger.account("other", epsilon=1).charge(PureDP(0.5))
        made = [
            account.charge(PureDP(0.1), by=name, purpose=f"of {name}")
            for name in ("ana", "bo", None)
        ]
        assert account.history() == tuple(made)
        assert [receipt.by for receipt in made] == ["ana", "bo", None]
        assert [receipt.number for receipt in made] == [5, 6, 7]
        assert made[-1].head == ledger.head[1]

    @pytest.mark.parametrize(
        ("accounting", "delta", "answer"),
        [("pure", 0, PureDP), ("renyi", 1e-6, GaussianDP), ("gdp", 1e-6, GaussianDP)],
    )
    def test_so_many_counts_can_be_asked(self, ledger, accounting, delta, answer):
        account = ledger.account(
            "clinic", epsilon=5, delta=delta, accounting=accounting
        )
        promised = account.remaining.counts(error=10)
        if answer is PureDP:
            one = PureDP(dither.privacy.epsilon_for_error(10, 0.95, 1, integer=True))
        else:
            one = GaussianDP(dither.privacy.mu_for_error(10, 0.95, 1))
        assert promised > 10
        assert spend_until_refused(account, one) == promised
        assert account.remaining.counts(error=10) == 0

    def test_burn_down(self, ledger):
        account = ledger.account("clinic", epsilon=1)
        for epsilon in (0.5, 0.25):
            account.charge(PureDP(epsilon))
        assert account.burn_down() == [1.0, 0.5, 0.25]

    def test_it_prints(self, ledger):
        account = ledger.account("clinic <b>", epsilon=1)
        account.charge(PureDP(0.5))
        first, second, third, fourth = str(account).splitlines()
        assert first == "clinic <b>: ██████████·········· after 1 charge"
        assert second == "remaining: 50 %, for example one Laplace answer at ε = 0.5"
        assert third == (
            "guarantee: ε = 1, protects one row (add/remove), for all charges together"
        )
        assert fourth == f"ledger: {account.place}, pure accounting"
        page = account._repr_html_()
        assert "<svg" in page
        assert "polyline" in page
        assert "clinic &lt;b&gt;" in page


class TestReplay:
    def keep(self, account, by=None):
        with account.spending(ONE, by=by) as receipt:
            account.store(receipt, "key", "42")

    def test_a_frozen_account_replays_nothing(self, account):
        self.keep(account)
        account.freeze("a look")
        with pytest.raises(AccountFrozen):
            account.stored("key")

    def test_an_analyst_needs_a_share_where_there_are_shares(self, account):
        self.keep(account, "ana")
        assert account.stored("key", by="eve") == "42"
        account.share("ana", 0.5)
        assert account.stored("key", by="ana") == "42"
        with pytest.raises(BudgetExceeded, match="eve does not have a share"):
            account.stored("key", by="eve")

    def test_a_stopped_analyst_replays_nothing(self, account):
        self.keep(account, "ana")
        account.freeze("too many failures", analyst="eve")
        with pytest.raises(AccountFrozen, match="eve is stopped"):
            account.stored("key", by="eve")

    def test_a_changed_release_is_not_shown(self, account, ledger):
        self.keep(account)
        with ledger.changing() as run:
            run("UPDATE replay SET body = '43'")
        with pytest.raises(LedgerError, match="differs from the one that was charged"):
            account.stored("key")

    def test_a_forked_process_is_no_curator(self, account):
        account.share("ana", 0.5)
        account.charge(ONE)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                account.charge(ONE, by="ana")
                account.charge(ONE)
            except BudgetExceeded:
                code = 2
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2
        assert account.charges == 2


class TestReading:
    def test_looking_at_an_account_does_not_read_its_log(self, ledger, monkeypatch):
        account = ledger.account("clinic", epsilon=1000, delta=1e-6)
        read = []
        for _ in range(2):
            for _ in range(60):
                account.settle(account.charge(PureDP(0.01)))
            with monkeypatch.context() as patch:
                rows = count_rows(ledger, patch)
                str(account), account.burn_down(), account.remaining.in_words()
                read.append(sum(rows))
        assert read[1] <= read[0] + 5
        assert len(account.burn_down()) <= 51


def count_rows(ledger, patch):
    """How many rows each statement of the book brings."""
    rows, reading = [], ledger.store.reading

    from contextlib import contextmanager

    @contextmanager
    def counting():
        with reading() as run:

            def counted(sql, parameters=()):
                found = run(sql, parameters)
                rows.append(len(found) if isinstance(found, list) else 0)
                return found

            yield counted

    patch.setattr(ledger.store, "reading", counting)
    return rows
