"""Asking for what is refused: in every way to ask, at once, and without a charge."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dither.dataset import Dataset
from dither.errors import DitherError, QueryError
from tests.clock import quick

__all__ = ["COUNT", "SOON", "refused", "told"]

SOON = 2.0
"""CPU-seconds that a refusal takes at most."""
COUNT = "SELECT COUNT(*) AS n FROM visits"


def refused(
    database: Dataset, sql: Any, kind: type[DitherError] = QueryError, **cost: Any
) -> str:
    """The message with which a question is refused in every way to ask it; nothing is
    charged, and it is quick.
    """
    before = [repr(receipt) for receipt in database.account.history()]
    cost = cost or {"epsilon": 0.1}
    for ask in (database.explain_plan, database.preview, database.sql):
        with quick(SOON), pytest.raises(kind) as problem:
            ask(sql, **cost)
        assert type(problem.value) is kind
    assert [repr(receipt) for receipt in database.account.history()] == before
    message = str(problem.value)
    assert len(message) < 1000
    return message


def told(ask: Callable[[], Any]) -> str:
    """What a call is refused with; empty if it is not."""
    try:
        ask()
    except DitherError as problem:
        return str(problem)
    return ""
