"""Deadlines, failures, replay, names of charges: what happens around a charge. On both
backends.
"""

import os
from dataclasses import replace

import pytest

from dither.errors import (
    AccountFrozen,
    ArgumentError,
    BudgetExceeded,
    LedgerError,
    UnitMismatch,
)
from dither.ledger import Ledger, Policy, Receipt, clock, verify
from dither.privacy import ApproxDP, Composed, GaussianDP, PureDP, Unit

ONE = PureDP(1)


@pytest.fixture
def account(ledger):
    return ledger.account(
        "clinic",
        epsilon=100,
        policy=Policy(failures=3, failures_in_all=5, deadline=600),
    )


@pytest.fixture
def later(monkeypatch):
    """Move the clock forward."""

    def move(seconds):
        then = clock.after(clock.now(), seconds)
        monkeypatch.setattr(clock, "now", lambda: then)

    return move


class TestDeadlines:
    def test_processes_that_die_after_charging_freeze_the_account(
        self, account, later, ledger
    ):
        """Each may have died on what it read."""
        for _ in range(3):
            account.charge(ONE)
            later(601)
        with pytest.raises(AccountFrozen, match="3 failures after data was read"):
            account.charge(ONE)
        assert [entry.kind for entry in ledger.entries()].count("lapse") == 3
        verify(ledger, whole=True)

    def test_a_settled_charge_never_lapses(self, account, later):
        for _ in range(5):
            with account.spending(ONE):
                pass
            later(601)
        account.charge(ONE)
        assert account.frozen == ""

    def test_a_charge_may_say_how_long_its_answer_takes(self, account, later):
        account.charge(ONE, within=5000)
        later(601)
        account.charge(ONE)
        later(5000)
        account.charge(ONE)
        assert account.frozen == ""  # two have lapsed by now

    @pytest.mark.parametrize("within", [0, -1, float("nan"), float("inf"), True])
    def test_bad_deadlines(self, account, within):
        with pytest.raises(ArgumentError, match="within"):
            account.charge(ONE, within=within)
        assert account.charges == 0

    def test_an_answer_that_comes_late_is_kept(self, account, later, ledger):
        receipt = account.charge(ONE)
        later(601)
        account.charge(ONE)
        account.store(receipt, "key", "late")
        account.settle(receipt)
        assert account.stored("key") == "late"
        verify(ledger)


class TestFailures:
    def fail(self, account, by, times=3):
        for _ in range(times):
            with pytest.raises(ZeroDivisionError), account.spending(ONE, by=by):
                raise ZeroDivisionError

    def test_an_analyst_stops_only_herself(self, account, ledger):
        self.fail(account, "eve")
        with pytest.raises(AccountFrozen, match="eve is stopped"):
            account.charge(ONE, by="eve")
        account.charge(ONE, by="ana")
        account.charge(ONE)
        assert account.frozen == ""
        verify(ledger, whole=True)

    def test_so_many_failures_in_all_freeze_the_account(self, account):
        self.fail(account, "eve")
        self.fail(account, "mallory", 2)
        with pytest.raises(AccountFrozen, match="5 failures"):
            account.charge(ONE, by="ana")

    def test_what_has_no_name_on_it_freezes_the_account(self, account):
        self.fail(account, None)
        with pytest.raises(AccountFrozen):
            account.charge(ONE, by="ana")

    def test_the_curator_lets_an_analyst_go_on(self, account, ledger):
        self.fail(account, "eve")
        account.thaw("a broken table", analyst="eve")
        account.charge(ONE, by="eve")
        assert [(one.name, one.failures, one.frozen) for one in account.analysts()] == [
            ("eve", 0, "")
        ]
        account.freeze("not you", analyst="eve")
        with pytest.raises(AccountFrozen, match="not you"):
            account.charge(ONE, by="eve")
        verify(ledger, whole=True)

    def test_a_failure_after_the_answer_was_kept_is_none(self, account):
        def answer_and_stumble():
            with account.spending(ONE, by="ana") as receipt:
                account.store(receipt, "key", "42")
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            answer_and_stumble()
        assert [one.failures for one in account.analysts()] == [0]


class TestReceipts:
    @pytest.mark.parametrize("act", ["settle", "fail", "store"])
    def test_an_invented_receipt_changes_nothing(self, account, ledger, act):
        true = account.charge(ONE)
        opened = next(entry for entry in ledger.entries() if entry.kind == "open")
        head = ledger.head
        for number, digest in (
            (true.number, "0" * 64),
            (99, true.head),
            (opened.seq, opened.hash),
        ):
            forged = Receipt(
                number, ONE, "", account.place, "clinic", None, true.time, digest
            )
            arguments = {"settle": (), "fail": ("why",), "store": ("key", "text")}[act]
            with pytest.raises(LedgerError, match="not of a charge in this book"):
                getattr(account, act)(forged, *arguments)
        assert ledger.head == head

    def test_storing_settles_in_the_same_step(self, account, ledger):
        with account.spending(ONE) as receipt:
            before = ledger.head[0]
            account.store(receipt, "key", "42")
            assert ledger.head[0] == before + 2
        assert ledger.head[0] == before + 2
        assert [entry.kind for entry in ledger.entries()][-3:] == [
            "charge",
            "store",
            "settle",
        ]


class TestNames:
    def test_a_charge_under_a_name_is_made_once(self, account):
        first = account.charge(ONE, by="ana", purpose="count", once="job-17")
        assert account.charge(ONE, by="ana", purpose="count", once="job-17") == first
        assert account.charged("job-17") == first
        assert account.charges == 1
        assert account.charged("job-18") is None

    def test_another_charge_under_the_same_name_is_a_mistake(self, account):
        account.charge(ONE, once="job-17")
        with pytest.raises(LedgerError, match="choose a new name"):
            account.charge(PureDP(2), once="job-17")
        assert account.charges == 1

    @pytest.mark.parametrize(
        "name", ["", "50%", 'a"b', "é", "x" * 201, "a_b", "a\nb", 5]
    )
    def test_bad_names(self, account, name):
        with pytest.raises(ArgumentError, match="once"):
            account.charge(ONE, once=name)

    def test_a_name_pays_for_one_answer(self, account):
        first = account.charge(ONE, once="job-17")
        account.freeze("a look")
        with pytest.raises(AccountFrozen):
            account.charge(ONE, once="job-17")
        account.thaw("seen")
        account.settle(first)
        with pytest.raises(LedgerError, match="another answer needs another name"):
            account.charge(ONE, once="job-17")
        assert account.charged("job-17") == first


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
        with pytest.raises(BudgetExceeded, match="eve has no share"):
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
        with pytest.raises(LedgerError, match="not the one that was given"):
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


class TestRules:
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

    def test_a_write_off_is_final(self, ledger):
        account = ledger.account("clinic", epsilon=1, policy=Policy(renew_days=1e-9))
        account.write_off("receipts are lost")
        with pytest.raises(LedgerError, match="final"):
            ledger.amend("clinic", epsilon=2, reason="please")
        with pytest.raises(LedgerError, match="final"):
            ledger.renew("clinic", reason="please")
        with pytest.raises(BudgetExceeded, match="final"):
            account.charge(PureDP(1e-9))
        verify(ledger, whole=True)

    def test_a_clock_that_jumps_ahead_for_a_moment_renews_nothing(
        self, ledger, monkeypatch
    ):
        account = ledger.account("clinic", epsilon=1, policy=Policy(renew_days=30))
        account.charge(PureDP(1))
        true = clock.now()
        wrong = clock.after(true, 40 * 86400)
        monkeypatch.setattr(clock, "now", lambda: wrong)
        with pytest.raises(LedgerError, match="for the first time"):
            ledger.renew("clinic", reason="cron")
        monkeypatch.setattr(clock, "now", lambda: clock.after(true, 3600))
        with pytest.raises(LedgerError, match="set the clock"):
            ledger.renew("clinic", reason="cron")
        monkeypatch.setattr(clock, "now", lambda: clock.after(wrong, 86401))
        ledger.renew("clinic", reason="cron")
        assert account.remaining.epsilon == 1
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

    def test_a_policy_binds_accounts_that_are_open(self, ledger):
        account = ledger.account("clinic", epsilon=10)
        ledger.amend(
            "clinic", policy=Policy(ceiling=0.1, deadline=60), reason="stricter"
        )
        with pytest.raises(BudgetExceeded, match="at most"):
            account.charge(PureDP(5))
        account.charge(PureDP(0.1))
        assert account.policy.deadline == 60

    @pytest.mark.parametrize("by", [0, False, 0.0, "", 5, "a\0b"])
    def test_askers_are_texts(self, ledger, by):
        account = ledger.account("clinic", epsilon=10)
        with pytest.raises(ArgumentError, match="by"):
            account.charge(ONE, by=by)
        assert account.charges == 0

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

    def test_a_clock_that_is_behind_makes_nobody_late(self, ledger, monkeypatch):
        account = ledger.account("clinic", epsilon=10)
        account.charge(ONE)
        behind = clock.after(clock.now(), -7200)
        with monkeypatch.context() as slow:
            slow.setattr(clock, "now", lambda: behind)
            for _ in range(4):
                account.charge(ONE)
        account.charge(ONE)
        assert account.frozen == ""

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
