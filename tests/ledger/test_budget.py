import copy
import os
import pickle
import threading

import numpy as np
import pytest

import dither


def test_sums_are_exact():
    """Numbers count as they are written: ten times 0.1 is 1, and not a billionth more."""
    budget = dither.Budget(epsilon=1.0)
    for _ in range(10):
        budget.charge(dither.PureDP(0.1))
    with pytest.raises(dither.BudgetExceeded, match="left"):
        budget.charge(dither.PureDP(1e-9))
    assert len(budget.history()) == 10
    assert budget.remaining.epsilon == 0


def test_delta_is_counted_too():
    budget = dither.Budget(epsilon=10, delta=1e-6)
    """Half of δ is kept for charges that carry one."""
    budget.charge(dither.ApproxDP(1, 5e-7))
    with pytest.raises(dither.BudgetExceeded, match="δ = 0"):
        budget.charge(dither.ApproxDP(1, 1e-9))
    budget.charge(dither.PureDP(1))
    assert budget.remaining.epsilon > 0


def test_units_are_not_mixed():
    budget = dither.Budget(epsilon=1)
    with pytest.raises(dither.UnitMismatch):
        budget.charge(dither.PureDP(0.1, unit=dither.Unit("patient")))
    with pytest.raises(dither.UnitMismatch):
        dither.mean([1.0], bounds=(0, 1), n=1, epsilon=0.1, budget=budget)
    assert budget.spent == 0


def test_every_kind_can_be_charged_where_there_is_a_delta():
    budget = dither.Budget(epsilon=1, delta=1e-6)
    for guarantee in (
        dither.GaussianDP(0.01),
        dither.ZeroConcentratedDP(1e-5),
        dither.BoundedRange(0.01),
    ):
        budget.charge(guarantee)
    with pytest.raises(dither.NoConversion, match="pure"):
        dither.Budget(epsilon=1).charge(dither.GaussianDP(0.1))


def test_threads_never_overspend():
    budget = dither.Budget(epsilon=100)
    granted = []

    def spend():
        for _ in range(50):
            try:
                granted.append(budget.charge(dither.PureDP(1)))
            except dither.BudgetExceeded:
                return

    threads = [threading.Thread(target=spend) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(granted) == 100
    assert len({receipt.number for receipt in granted}) == 100


def test_a_forked_process_cannot_spend_it_again():
    budget = dither.Budget(epsilon=1)
    child = os.fork()
    if child == 0:
        try:
            budget.charge(dither.PureDP(1))
        except dither.LedgerError:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_a_budget_cannot_be_copied():
    budget = dither.Budget(epsilon=1)
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError):
            attempt(budget)


@pytest.mark.parametrize("total", [0, -1, np.nan, np.inf])
def test_bad_totals(total):
    with pytest.raises(dither.ArgumentError, match="epsilon"):
        dither.Budget(epsilon=total)


def test_it_prints():
    budget = dither.Budget(epsilon=2)
    budget.charge(dither.PureDP(1), purpose="count")
    assert "50% spent" in str(budget)
    assert "this process only" in str(budget)
