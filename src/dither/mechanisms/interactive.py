"""The base of interactive mechanisms, which answer step by step: one charge when opened
(rule R21), and one place to ask.

Other charges come between the answers of an interactive mechanism. That its one charge
still covers all of them is a claim of its own, about concurrent composition: the
docstring of each mechanism says what it relies on there (docs/proofs/filter.md lists
what is known).

An interactive mechanism remembers noise. Two copies of it would answer with the same
noise, so it cannot be copied or pickled, and a forked process cannot resume it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, Protocol

from dither.errors import ArgumentError
from dither.privacy import Guarantee

__all__ = ["Interactive", "Payer", "charged"]


class Payer(Protocol):
    """An account, as far as opening a mechanism needs one."""

    def charge(self, guarantee: Guarantee, *, purpose: str = "") -> Any: ...

    def settle(self, receipt: Any) -> None: ...


def charged(budget: Payer | None, guarantee: Guarantee, purpose: str) -> Any:
    """The receipt for the whole cost, or None if nobody pays; raises before anything
    else if it does not fit.
    """
    if budget is None:
        return None
    if not hasattr(budget, "charge"):
        raise ArgumentError(
            "budget",
            f"must be a dither.Budget or an account, not {type(budget).__name__}; pass "
            "dither.Budget(epsilon=1.0)",
        )
    receipt = budget.charge(guarantee, purpose=purpose)
    # Opening it is the answer: how long it then answers for, and whether it is asked at
    # all, is up to its user.
    budget.settle(receipt)
    return receipt


class Interactive:
    """The base of interactive mechanisms. Steps are taken one at a time, from any thread
    of the process that opened it.
    """

    def __init__(self, guarantee: Guarantee, receipt: Any) -> None:
        self.guarantee, self.receipt = guarantee, receipt
        self._process, self._lock = os.getpid(), threading.Lock()

    @contextmanager
    def _step(self) -> Iterator[None]:
        if os.getpid() != self._process:
            raise RuntimeError(
                "this was opened before the process forked; open another one here"
            )
        with self._lock:
            yield

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"{type(self).__name__} cannot be copied or pickled: the copy "
            "would answer with the same noise"
        )
