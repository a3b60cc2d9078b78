"""Charges to an account: prices, deadlines, failures, names. On both backends."""

import math

import pytest

import dither
from dither.errors import AccountFrozen, ArgumentError, LedgerError
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
    ZeroConcentratedDP,
)
from tests.ledger.support import ONE, PATIENT, REPLACED, spend_until_refused


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


class TestNames:
    def test_a_charge_under_a_name_is_made_once(self, account):
        first = account.charge(ONE, by="ana", purpose="count", once="job-17")
        assert account.charge(ONE, by="ana", purpose="count", once="job-17") == first
        assert account.charged("job-17") == first
        assert account.charges == 1
        assert account.charged("job-18") is None

    def test_another_charge_under_the_same_name_is_a_mistake(self, account):
        account.charge(ONE, once="job-17")
        with pytest.raises(LedgerError, match="pass another name"):
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
        with pytest.raises(LedgerError, match="has paid for its answer, or has failed"):
            account.charge(ONE, once="job-17")
        assert account.charged("job-17") == first


class TestRules:
    @pytest.mark.parametrize("by", [0, False, 0.0, "", 5, "a\0b"])
    def test_askers_are_texts(self, ledger, by):
        account = ledger.account("clinic", epsilon=10)
        with pytest.raises(ArgumentError, match="by"):
            account.charge(ONE, by=by)
        assert account.charges == 0

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
        with pytest.raises(dither.UnitMismatch, match=r"charge it to an"):
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
            match=r"% (of the ε of the account )?remains\. .*epsilon=0\.3 .* Nothing was spent",
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
            with pytest.raises(LedgerError, match="cannot be replaced"):
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
