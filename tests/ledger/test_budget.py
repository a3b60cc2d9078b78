import contextlib
import copy
import io
import math
import os
import pickle
import re
import threading
from pathlib import Path

import numpy as np
import pytest

import dither
from dither.errors import BudgetExceeded
from dither.privacy import GaussianDP, PureDP


def test_sums_are_exact():
    """Numbers count as they are written: ten times 0.1 is 1, and not a billionth more."""
    budget = dither.Budget(epsilon=1.0)
    for _ in range(10):
        budget.charge(dither.PureDP(0.1))
    with pytest.raises(dither.BudgetExceeded, match="remains"):
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
    assert "remaining: 50 %" in str(budget)
    assert "this process only" in str(budget)


def test_a_thousand_gaussian_counts_fit_within_a_hundredth_of_the_closed_form() -> None:
    """The largest ρ that the tight conversion allows at δ_conv, over all real orders,
    split over a thousand counts.
    """
    epsilon, delta = 3.0, 5e-7
    orders = [1 + 10 ** (k / 2000) for k in range(-2000, 6000)]
    rho = max(
        (epsilon - math.log1p(-1 / a) + math.log(delta * a) / (a - 1)) / a
        for a in orders
    )
    for part, fits in ((0.99, True), (1.0001, False)):
        mu = math.sqrt(2 * rho * part / 1000)
        budget = dither.Budget(epsilon=epsilon, delta=2 * delta)
        with pytest.raises(BudgetExceeded) if not fits else _nothing():
            for _ in range(1000):
                budget.charge(GaussianDP(mu))


class _nothing:  # noqa: N801
    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


def test_three_laplace_counts_fit_and_a_fourth_does_not() -> None:
    budget = dither.Budget(epsilon=3, delta=1e-6)
    for _ in range(3):
        budget.charge(PureDP(1))
    with pytest.raises(BudgetExceeded):
        budget.charge(PureDP(1))
    with pytest.raises(BudgetExceeded):
        budget.charge(GaussianDP(0.01))


def test_the_table_in_the_docs_is_what_its_snippet_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "ledger.md").read_text(
        encoding="utf-8"
    )
    (code,) = [
        block
        for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL)
        if "def row(" in block
    ]
    monkeypatch.chdir(tmp_path)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(
            compile(code, "docs/ledger.md", "exec"),
            {"dither": dither, "__name__": "__docs__"},
        )
    shown = [
        line
        for line in page.splitlines()
        if re.match(r"\| (Laplace|Gaussian) \| ±", line)
    ]
    assert shown == printed.getvalue().splitlines()
    assert len(shown) == 10
