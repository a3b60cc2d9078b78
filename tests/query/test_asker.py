"""Whoever asks through a front end has a name."""

from __future__ import annotations

import getpass

import pytest

import dither
from dither.errors import BudgetExceeded
from dither.privacy import PureDP
from dither.query.asker import advice, asker, asking


def nameless() -> str:
    raise KeyError("getpwuid(): uid not found: 1000")


@pytest.fixture
def budget(monkeypatch: pytest.MonkeyPatch) -> dither.Budget:
    monkeypatch.setattr(getpass, "getuser", lambda: "login")
    return dither.Budget(epsilon=1.0)


def test_the_name_that_was_given(budget: dither.Budget) -> None:
    assert asker("ana") == "ana"
    with asking(budget, "ana") as name:
        assert name == "ana"


def test_the_login_name(budget: dither.Budget) -> None:
    assert asker(None) == "login"
    assert advice(budget, None, "login") == ""  # nobody has a share


@pytest.mark.parametrize("found", [nameless, lambda: "", lambda: "od\udcffd"])
def test_a_user_without_a_name(monkeypatch: pytest.MonkeyPatch, found: object) -> None:
    monkeypatch.setattr(getpass, "getuser", found)
    assert asker(None) == "unknown user"


def test_a_login_name_without_a_share(budget: dither.Budget) -> None:
    budget.share("ana", 0.5)
    with (
        pytest.raises(BudgetExceeded, match=r"login does not have a share.*pass --by"),
        asking(budget, None) as name,
    ):
        budget.charge(PureDP(0.1), by=name)


def test_other_refusals_stay_as_they_are(budget: dither.Budget) -> None:
    budget.share("login", 0.5)
    for by, cost in ((None, 0.7), ("ana", 0.1)):
        with pytest.raises(BudgetExceeded) as caught, asking(budget, by) as name:
            budget.charge(PureDP(cost), by=name)
        assert "--by" not in str(caught.value)
