"""What a book does, the same on every backend."""

import math
import os
import threading

import pytest

import dither
from dither.errors import LedgerError
from dither.ledger import Ledger, Policy, clock, verify
from dither.privacy import PureDP
from tests.ledger.support import PATIENT, REPLACED, spend_until_refused


def in_child(call):
    """The exit code of a forked process that makes a call: 0, or 7 where Dither
    refuses.
    """
    child = os.fork()
    if child == 0:
        code = 1
        try:
            call()
            code = 0
        except dither.DitherError:
            code = 7
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


class TestOpening:
    def test_a_book_is_the_same_when_opened_again(self, place):
        with Ledger.open(place) as book:
            receipt = book.account("clinic", epsilon=1).charge(
                PureDP(0.25), purpose="count"
            )
        with Ledger.open(place) as book:
            account = book.account("clinic")
            assert account.history() == (receipt,)
            assert account.remaining.epsilon == 0.75
            assert verify(book, [receipt]) == 3

    def test_closing_twice(self, place):
        book = Ledger.open(place)
        book.close()
        book.close()

    def test_a_closed_book_grants_nothing(self, place):
        book = Ledger.open(place)
        account = book.account("clinic", epsilon=1)
        book.close()
        with pytest.raises(LedgerError, match="closed"):
            account.charge(PureDP(0.1))

    def test_the_same_terms_twice(self, ledger):
        terms = {
            "epsilon": 1,
            "delta": 1e-6,
            "unit": PATIENT,
            "dataset": "visits",
            "accounting": "gdp",
        }
        ledger.account("clinic", **terms).charge(PureDP(0.1, unit=PATIENT))
        assert len(ledger.account("clinic", **terms).history()) == 1
        assert [account.name for account in ledger.accounts()] == ["clinic"]

    @pytest.mark.parametrize(
        ("other", "way_out"),
        [
            ({"epsilon": 2}, "amend"),
            ({"delta": 1e-5}, "amend"),
            ({"unit": PATIENT}, "separate account"),
            ({"unit": REPLACED}, "separate account"),
            ({"accounting": "gdp"}, "leave accounting out"),
            ({"dataset": "visits"}, "another account name"),
        ],
    )
    def test_other_terms_are_refused_with_a_way_out(self, ledger, other, way_out):
        terms = {"epsilon": 1, "delta": 1e-6}
        ledger.account("clinic", **terms)
        with pytest.raises(LedgerError, match=way_out):
            ledger.account("clinic", **(terms | other))

    def test_one_budget_for_a_dataset_and_unit(self, ledger):
        ledger.account("clinic", epsilon=1, dataset="visits")
        with pytest.raises(LedgerError, match="already has the budget"):
            ledger.account("again", epsilon=1, dataset="visits")
        ledger.account("patients", epsilon=1, dataset="visits", unit=PATIENT)
        assert len(ledger.accounts()) == 2

    def test_an_unknown_account(self, ledger):
        with pytest.raises(LedgerError, match="pass epsilon="):
            ledger.account("clinic")

    @pytest.mark.parametrize("name", ["", None, 3])
    def test_bad_names(self, ledger, name):
        with pytest.raises(dither.ArgumentError, match="name"):
            ledger.account(name, epsilon=1)

    @pytest.mark.parametrize(
        "name", ["Ärzte 'A'; DROP TABLE log", "100 % of ?", "\u2028", 'quote " and \\']
    )
    def test_odd_names(self, ledger, name):
        ledger.account(name, epsilon=1).charge(PureDP(0.1), purpose=name)
        assert ledger.account(name).history()[0].purpose == name
        verify(ledger)

    @pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, "much"])
    def test_bad_totals(self, ledger, epsilon):
        with pytest.raises(dither.ArgumentError, match="epsilon"):
            ledger.account("clinic", epsilon=epsilon)
        assert ledger.accounts() == ()

    def test_bad_accounting(self, ledger):
        with pytest.raises(dither.ArgumentError, match="renyi"):
            ledger.account("clinic", epsilon=1, accounting="hope")
        with pytest.raises(dither.ArgumentError, match="delta"):
            ledger.account("clinic", epsilon=1, delta=1e-6, accounting="pure")

    def test_a_newer_book_is_not_touched(self, place):
        with Ledger.open(place) as book, book.store.writing() as run:
            run("UPDATE meta SET value = ? WHERE name = ?", ("99", "schema"))
        with pytest.raises(LedgerError, match="newer"):
            Ledger.open(place)

    def test_many_processes_start_one_book(self, place):
        """All see an empty place and begin; one of them makes the tables."""
        ready, go = os.pipe()
        children = []
        for _ in range(6):
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    os.close(go)
                    os.read(ready, 1)
                    Ledger.open(place).account("clinic", epsilon=10).charge(PureDP(1))
                    code = 0
                finally:
                    os._exit(code)
            children.append(child)
        os.close(go)
        assert [
            os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children
        ] == [0] * 6
        os.close(ready)
        with Ledger.open(place) as book:
            assert len(book.account("clinic").history()) == 6
            assert verify(book) == 8


class TestRenewing:
    def test_renewing_is_one_more_promise(self, ledger, monkeypatch):
        account = ledger.account("clinic", epsilon=1, policy=Policy(renew_days=30))
        account.share("ana", 0.5)
        account.charge(PureDP(0.5), by="ana")
        with pytest.raises(LedgerError, match="30 days after"):
            ledger.renew("clinic", reason="new year")
        assert account.remaining.epsilon == 0.5
        monkeypatch.setattr(clock, "now", lambda: "2099-01-01T00:00:00.000000+00:00")
        with pytest.raises(LedgerError, match="has not been used on this date before"):
            ledger.renew("clinic", reason="new year")
        monkeypatch.setattr(clock, "now", lambda: "2099-01-02T00:00:00.000000+00:00")
        ledger.renew("clinic", reason="new year")
        assert account.remaining.epsilon == 1
        account.charge(PureDP(0.5), by="ana")
        assert account.burn_down() == [1.0, 0.5]
        assert "have this guarantee 2 times" in str(account)
        with pytest.raises(LedgerError, match="30 days after"):
            ledger.renew("clinic", reason="again")
        verify(ledger)

    def test_without_a_window_a_total_is_for_ever(self, ledger):
        ledger.account("clinic", epsilon=1)
        with pytest.raises(LedgerError, match="permanent"):
            ledger.renew("clinic", reason="please")

    def test_amending_is_a_new_promise_in_the_log(self, ledger):
        account = ledger.account("clinic", epsilon=1)
        account.charge(PureDP(1))
        amended = ledger.amend("clinic", epsilon=2, reason="the board agreed")
        assert amended.remaining.epsilon == 1
        amended.charge(PureDP(1))
        assert ledger.account("clinic", epsilon=2).spent == 1
        assert [entry.kind for entry in ledger.entries()] == [
            "book",
            "open",
            "charge",
            "amend",
            "charge",
        ]
        verify(ledger)

    def test_amending_downwards_ends_at_what_is_spent(self, ledger):
        account = ledger.account("clinic", epsilon=2)
        account.charge(PureDP(1.5))
        with pytest.raises(LedgerError, match="already spent more than that"):
            ledger.amend("clinic", epsilon=1, reason="too much")
        assert (
            ledger.amend("clinic", epsilon=1.5, reason="too much").remaining.epsilon
            == 0
        )
        assert spend_until_refused(account, PureDP(1e-9)) == 0
        verify(ledger)

    def test_bad_amendments(self, ledger):
        with pytest.raises(LedgerError, match="no account"):
            ledger.amend("clinic", epsilon=1, reason="why not")
        ledger.account("clinic", epsilon=1)
        with pytest.raises(dither.ArgumentError, match="epsilon"):
            ledger.amend("clinic", epsilon=math.nan, reason="why not")
        verify(ledger)

    def test_a_clock_that_jumps_ahead_for_a_moment_renews_nothing(
        self, ledger, monkeypatch
    ):
        account = ledger.account("clinic", epsilon=1, policy=Policy(renew_days=30))
        account.charge(PureDP(1))
        true = clock.now()
        wrong = clock.after(true, 40 * 86400)
        monkeypatch.setattr(clock, "now", lambda: wrong)
        with pytest.raises(LedgerError, match="not been used on this date before"):
            ledger.renew("clinic", reason="cron")
        monkeypatch.setattr(clock, "now", lambda: clock.after(true, 3600))
        with pytest.raises(LedgerError, match="set the clock"):
            ledger.renew("clinic", reason="cron")
        monkeypatch.setattr(clock, "now", lambda: clock.after(wrong, 86401))
        ledger.renew("clinic", reason="cron")
        assert account.remaining.epsilon == 1
        verify(ledger, whole=True)


class TestLooking:
    def test_the_log_never_runs_backwards(self, ledger, monkeypatch):
        account = ledger.account("clinic", epsilon=1)
        receipts = []
        for year in (2099, 2001):
            monkeypatch.setattr(
                clock, "now", lambda year=year: f"{year}-01-01T00:00:00.000000+00:00"
            )
            receipts.append(account.charge(PureDP(0.1)))
        assert [receipt.time[:4] for receipt in receipts] == ["2099", "2099"]
        times = [entry.time for entry in ledger.entries()]
        assert times == sorted(times)
        verify(ledger)

    def test_a_password_is_not_shown(self):
        with pytest.raises(LedgerError) as caught:
            Ledger.open("postgresql://ana:topsecret@127.0.0.1:1/none?connect_timeout=1")
        assert "topsecret" not in str(caught.value)


class TestTogether:
    def test_threads_share_one_book(self, ledger):
        account = ledger.account("clinic", epsilon=100)
        granted = []

        def spend():
            granted.append(spend_until_refused(account, PureDP(1), most=50))

        threads = [threading.Thread(target=spend) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sum(granted) == 100
        assert len(account.history()) == 100
        verify(ledger)

    def test_a_forked_process_uses_its_own_connection(self, ledger):
        account = ledger.account("clinic", epsilon=1)
        account.charge(PureDP(0.1))
        assert in_child(lambda: account.charge(PureDP(0.1))) == 0
        account.charge(PureDP(0.1))
        assert account.remaining.epsilon == 0.7
        assert verify(ledger) == 5

    def test_a_forked_process_cannot_spend_a_budget_in_memory(self):
        budget = dither.Budget(epsilon=1)
        assert in_child(lambda: budget.charge(PureDP(0.1))) == 7
        assert budget.spent == 0

    def test_a_fork_while_a_thread_is_charging(self, ledger):
        """The child does not inherit a lock that nobody will let go."""
        account = ledger.account("clinic", epsilon=1)
        with ledger.store.reading():
            assert in_child(lambda: account.charge(PureDP(0.1))) == 0
        assert len(account.history()) == 1
