"""What a book does, the same on every backend."""

import math
import os
import threading

import pytest

import dither
from dither.errors import AccountFrozen, LedgerError
from dither.ledger import Ledger, Policy, clock, verify
from dither.ledger.terms import Accounting
from dither.privacy import (
    ApproxDP,
    BoundedRange,
    Composed,
    GaussianDP,
    PoissonSampled,
    PureDP,
    RenyiDP,
    Unit,
    ZeroConcentratedDP,
)

PATIENT = Unit("patient")
REPLACED = Unit("row", "replace")


def spend_until_refused(account, guarantee, most=100_000, by=None):
    granted = 0
    try:
        while granted < most:
            account.charge(guarantee, by=by)
            granted += 1
    except dither.BudgetExceeded:
        pass
    return granted


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
            ({"unit": PATIENT}, "account of its own"),
            ({"unit": REPLACED}, "account of its own"),
            ({"accounting": "gdp"}, "leave it out"),
            ({"dataset": "visits"}, "another name"),
        ],
    )
    def test_other_terms_are_refused_with_a_way_out(self, ledger, other, way_out):
        terms = {"epsilon": 1, "delta": 1e-6}
        ledger.account("clinic", **terms)
        with pytest.raises(LedgerError, match=way_out):
            ledger.account("clinic", **(terms | other))

    def test_one_budget_for_a_dataset_and_unit(self, ledger):
        ledger.account("clinic", epsilon=1, dataset="visits")
        with pytest.raises(LedgerError, match="already holds the budget"):
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


class TestCharging:
    @pytest.mark.parametrize(
        "guarantee",
        [
            PureDP(0.1),
            BoundedRange(0.1),
            ZeroConcentratedDP(0.005),
            ZeroConcentratedDP(0.005, 1e-9),
            GaussianDP(0.1),
            PoissonSampled(0.01, GaussianDP(1.0), 10),
            ApproxDP(0.1, 1e-9),
            Composed([PureDP(0.1), GaussianDP(0.1)]),
        ],
        ids=str,
    )
    def test_any_guarantee_can_be_charged(self, ledger, guarantee):
        account = ledger.account("clinic", epsilon=3, delta=1e-6)
        receipt = account.charge(guarantee, purpose="count")
        assert account.history() == (receipt,)
        assert account.history()[0].guarantee == guarantee
        assert 0 < account.spent < 1
        verify(ledger, [receipt])

    def test_renyi_losses_at_the_order_of_the_account(self, ledger):
        account = ledger.account("clinic", epsilon=3, delta=1e-6)
        receipt = account.charge(RenyiDP({account.terms.order: 0.1}))
        assert account.history() == (receipt,)
        with pytest.raises(dither.NoConversion):
            account.charge(RenyiDP({2: 0.1}))
        assert account.history() == (receipt,)

    def test_what_has_no_finite_loss_is_refused_with_a_way_out(self, ledger):
        account = ledger.account("clinic", epsilon=3, delta=1e-6)
        with pytest.raises(dither.NoConversion, match=r"\.approx\(delta\)"):
            account.charge(ZeroConcentratedDP(1e10))
        assert account.spent == 0

    @pytest.mark.parametrize(("accounting", "delta"), [("pure", 0), ("gdp", 1e-6)])
    def test_what_an_accounting_cannot_count(self, ledger, accounting, delta):
        account = ledger.account(
            "clinic", epsilon=3, delta=delta, accounting=accounting
        )
        with pytest.raises(dither.NoConversion):
            account.charge(ZeroConcentratedDP(0.005))
        assert account.spent == 0

    @pytest.mark.parametrize("unit", [PATIENT, REPLACED])
    def test_units_are_not_mixed(self, ledger, unit):
        account = ledger.account("clinic", epsilon=1)
        with pytest.raises(dither.UnitMismatch, match="charge it to an account"):
            account.charge(PureDP(0.1, unit=unit))
        assert account.spent == 0

    @pytest.mark.parametrize("charge", [0.5, None, "PureDP(1)"])
    def test_only_guarantees_are_charged(self, ledger, charge):
        with pytest.raises(dither.ArgumentError, match="PureDP"):
            ledger.account("clinic", epsilon=1).charge(charge)

    @pytest.mark.parametrize("epsilon", [0, -1, math.nan])
    def test_negative_and_free_charges_do_not_exist(self, ledger, epsilon):
        account = ledger.account("clinic", epsilon=1)
        with pytest.raises(dither.ArgumentError):
            account.charge(PureDP(epsilon))
        assert account.history() == ()

    def test_a_tiny_charge_costs_a_unit(self, ledger):
        account = ledger.account("clinic", epsilon=1)
        account.charge(PureDP(1e-300))
        assert account.remaining.epsilon == 1 - 1e-9

    @pytest.mark.parametrize(
        ("accounting", "delta"), [("pure", 0), ("renyi", 1e-6), ("gdp", 1e-6)]
    )
    def test_a_refusal_spends_nothing_and_names_what_fits(
        self, ledger, accounting, delta
    ):
        account = ledger.account(
            "clinic", epsilon=1, delta=delta, accounting=accounting
        )
        account.charge(PureDP(0.7))
        head, left = ledger.head, account.remaining
        with pytest.raises(
            dither.BudgetExceeded,
            match=r"% is left.* epsilon = 0\.3\b.* Nothing was spent",
        ):
            account.charge(PureDP(0.31))
        assert ledger.head == head
        assert account.remaining == left
        account.charge(PureDP(left.epsilon))
        assert account.remaining.epsilon == 0

    def test_the_largest_gaussian_fits(self, ledger):
        account = ledger.account("clinic", epsilon=1, delta=1e-6)
        largest = account.remaining.mu
        with pytest.raises(dither.BudgetExceeded):
            account.charge(GaussianDP(largest + 1e-6))
        account.charge(GaussianDP(largest))
        assert account.remaining.share < 1e-6

    def test_three_laplace_counts_fit_and_a_fourth_does_not(self, ledger):
        account = ledger.account("clinic", epsilon=3, delta=1e-6)
        assert spend_until_refused(account, PureDP(1)) == 3

    def test_delta_is_counted(self, ledger):
        account = ledger.account("clinic", epsilon=3, delta=1e-6)
        assert spend_until_refused(account, ApproxDP(0.001, 1e-7)) == 5

    def test_a_pure_sum_counts_only_while_all_is_pure(self, ledger):
        account = ledger.account("clinic", epsilon=3, delta=1e-6)
        account.charge(GaussianDP(0.01))
        assert spend_until_refused(account, PureDP(1)) < 3

    def test_numbers_count_as_written(self, ledger):
        assert (
            spend_until_refused(ledger.account("clinic", epsilon=1), PureDP(0.1)) == 10
        )

    def test_a_thousand_gaussian_counts(self, ledger):
        """Within 1 % of what the closed-form Rényi bound at δ_conv allows, with real
        orders.
        """
        epsilon, delta = 3.0, 1e-6
        half = math.log(delta / 2)
        orders = [1 + 0.01 * k for k in range(1, 20_000)]
        cap = max(
            (epsilon - math.log1p(-1 / a) + (half + math.log(a)) / (a - 1)) / a
            for a in orders
        )
        mu = math.sqrt(2 * cap / 1000)
        account = ledger.account("clinic", epsilon=epsilon, delta=delta)
        assert 990 <= spend_until_refused(account, GaussianDP(mu)) <= 1000

    def test_a_thousand_gaussian_counts_fit_a_gdp_account_exactly(self, ledger):
        account = ledger.account("clinic", epsilon=3, delta=1e-6, accounting="gdp")
        mu = account.remaining.mu / math.sqrt(200)
        assert 199 <= spend_until_refused(account, GaussianDP(mu)) <= 200

    def test_other_order_for_other_total(self, ledger):
        assert (
            ledger.account("clinic", epsilon=3, delta=1e-6).terms.accounting
            is Accounting.RENYI
        )

    def test_disjoint_keys_cost_the_largest(self, ledger):
        account = ledger.account("clinic", epsilon=1)
        receipt = account.charge_disjoint([PureDP(0.1), PureDP(0.4), PureDP(0.2)])
        assert account.remaining.epsilon == 0.6
        assert account.history()[0].number == receipt.number
        verify(ledger)

    def test_disjoint_keys_cost_twice_where_units_are_replaced(self, ledger):
        account = ledger.account("clinic", epsilon=1, unit=REPLACED)
        account.charge_disjoint(
            [PureDP(0.1, unit=REPLACED), PureDP(0.4, unit=REPLACED)]
        )
        assert account.remaining.epsilon == 0.2
        account.charge_disjoint([PureDP(0.1, unit=REPLACED)])
        assert account.remaining.epsilon == 0.1

    def test_disjoint_keys_are_checked(self, ledger):
        account = ledger.account("clinic", epsilon=1)
        with pytest.raises(dither.ArgumentError, match="empty"):
            account.charge_disjoint([])
        with pytest.raises(dither.UnitMismatch):
            account.charge_disjoint([PureDP(0.1), PureDP(0.1, unit=PATIENT)])
        assert account.spent == 0


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
            dither.BudgetExceeded, match=r"share of ana: .* epsilon = 0\.5\b"
        ):
            account.charge(PureDP(1), by="ana")
        assert ledger.head == head
        assert account.remaining.epsilon == 8
        verify(ledger)

    def test_an_analyst_without_a_share(self, ledger):
        account = ledger.account("clinic", epsilon=10)
        assert account.charge(PureDP(1), by="eve").by == "eve"
        account.share("ana", 0.5)
        with pytest.raises(dither.BudgetExceeded, match="eve has no share"):
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

    def test_renewing_is_one_more_promise(self, ledger, monkeypatch):
        account = ledger.account("clinic", epsilon=1, policy=Policy(renew_days=30))
        account.share("ana", 0.5)
        account.charge(PureDP(0.5), by="ana")
        with pytest.raises(LedgerError, match="30 days after"):
            ledger.renew("clinic", reason="new year")
        assert account.remaining.epsilon == 0.5
        monkeypatch.setattr(clock, "now", lambda: "2099-01-01T00:00:00.000000+00:00")
        with pytest.raises(LedgerError, match="sees this date for the first time"):
            ledger.renew("clinic", reason="new year")
        monkeypatch.setattr(clock, "now", lambda: "2099-01-02T00:00:00.000000+00:00")
        ledger.renew("clinic", reason="new year")
        assert account.remaining.epsilon == 1
        account.charge(PureDP(0.5), by="ana")
        assert account.burn_down() == [1.0, 0.5]
        assert "promised this 2 times over" in str(account)
        with pytest.raises(LedgerError, match="30 days after"):
            ledger.renew("clinic", reason="again")
        verify(ledger)

    def test_without_a_window_a_total_is_for_ever(self, ledger):
        ledger.account("clinic", epsilon=1)
        with pytest.raises(LedgerError, match="for ever"):
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
        with pytest.raises(LedgerError, match="spent more than that already"):
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


class TestSettling:
    def test_a_charge_is_settled(self, ledger):
        account = ledger.account("clinic", epsilon=1)
        with account.spending(PureDP(0.1), purpose="count") as receipt:
            assert account.history() == (receipt,)
        assert [entry.kind for entry in ledger.entries()][-2:] == ["charge", "settle"]
        verify(ledger)

    @pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
    def test_a_failure_keeps_the_charge(self, ledger, error):
        account = ledger.account("clinic", epsilon=1)
        with pytest.raises(error), account.spending(PureDP(0.1)):
            raise error("secret 4711")
        assert account.remaining.epsilon == 0.9
        last = list(ledger.entries())[-1]
        assert (last.kind, last.body["reason"]) == ("fail", error.__name__)
        verify(ledger)

    def test_a_refused_charge_runs_nothing(self, ledger):
        account = ledger.account("clinic", epsilon=1)
        ran = []
        with pytest.raises(dither.BudgetExceeded), account.spending(PureDP(2)):
            ran.append(1)
        assert not ran

    def test_repeated_failures_freeze_until_thawed(self, ledger):
        account = ledger.account("clinic", epsilon=1, policy=Policy(failures=2))
        for _ in range(2):
            account.fail(account.charge(PureDP(0.1)), "TimeoutError")
        assert "2 failures" in account.frozen
        assert "frozen" in str(account)
        with pytest.raises(AccountFrozen, match="thaw"):
            account.charge(PureDP(0.1))
        assert account.remaining.epsilon == 0.8
        account.thaw("looked at it")
        account.fail(account.charge(PureDP(0.1)), "TimeoutError")
        assert account.frozen == ""
        verify(ledger)

    def test_freezing_by_hand(self, ledger):
        account = ledger.account("clinic", epsilon=1)
        with pytest.raises(dither.ArgumentError, match="reason"):
            account.freeze("")
        account.freeze("an audit")
        with pytest.raises(AccountFrozen, match="an audit"):
            account.charge(PureDP(0.1))

    def test_replay_is_stored_once_and_for_ever(self, place):
        with Ledger.open(place) as book:
            account = book.account("clinic", epsilon=1)
            assert account.stored("key") is None
            account.store(account.charge(PureDP(0.1)), "key", "42")
        with Ledger.open(place) as book:
            account = book.account("clinic")
            assert account.stored("key") == "42"
            with pytest.raises(LedgerError, match="never changes"):
                account.store(account.history()[0], "key", "43")
            assert account.stored("key") == "42"
            assert account.remaining.epsilon == 0.9
            assert book.account("other", epsilon=1).stored("key") is None
            verify(book)

    def test_what_is_returned_is_seen_by_others(self, place):
        """Stored before shown: another connection sees the release as soon as `store`
        returned.
        """
        with Ledger.open(place) as book, Ledger.open(place) as other:
            account = book.account("clinic", epsilon=1)
            receipt = account.charge(PureDP(0.1))
            assert other.account("clinic").history() == (receipt,)
            account.store(receipt, "key", "42")
            assert other.account("clinic").stored("key") == "42"


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
        assert "50% spent, charges: 1" in str(account)
        assert "epsilon = 0.5 fits" in str(account)
        page = account._repr_html_()
        assert "<svg" in page
        assert "polyline" in page
        assert "clinic &lt;b&gt;" in page

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
