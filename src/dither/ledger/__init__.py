"""The account book: everything that touches private data is charged before it looks.

Names are loaded when they are first used, so that `recheck` runs without the
mathematics that it checks.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dither.ledger.account import Account
    from dither.ledger.attempts import Attempt, Pinned
    from dither.ledger.budget import Budget
    from dither.ledger.curator import Analyst
    from dither.ledger.devices import DevicePromise
    from dither.ledger.ledger import Ledger
    from dither.ledger.policy import Policy
    from dither.ledger.receipt import Receipt
    from dither.ledger.replay import replay_key
    from dither.ledger.verifying import verify

__all__ = [
    "Account",
    "Analyst",
    "Attempt",
    "Budget",
    "DevicePromise",
    "Ledger",
    "Pinned",
    "Policy",
    "Receipt",
    "replay_key",
    "verify",
]

_HOME = {
    "Account": "account",
    "Analyst": "curator",
    "Attempt": "attempts",
    "Budget": "budget",
    "DevicePromise": "devices",
    "Ledger": "ledger",
    "Pinned": "attempts",
    "Policy": "policy",
    "Receipt": "receipt",
    "replay_key": "replay",
    "verify": "verifying",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # One home for each name; no module has the name of what it gives.
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
