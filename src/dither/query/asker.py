"""Who asks, where a front end was not told: charges and failures always count for
somebody (rule R31).
"""

from __future__ import annotations

import getpass
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dither.errors import ArgumentError, BudgetExceeded
from dither.ledger.receipt import check_text

if TYPE_CHECKING:
    from dither.ledger import Account

__all__ = ["advice", "asker", "asking"]

UNKNOWN = "unknown user"


def asker(by: str | None) -> str:
    """The name to ask under: the one that was given, or that of the operating system's
    user, which proves nothing.
    """
    if by is not None:
        return by
    try:
        name = getpass.getuser()
        check_text("by", name, needed=True)
    except (
        OSError,
        KeyError,
        ImportError,
        ArgumentError,
    ):
        # A container may run under a number that has no name
        return UNKNOWN
    return name


@contextmanager
def asking(account: Account, by: str | None) -> Iterator[str]:
    """Ask under a name. Where that is the login name and has no share, the refusal says
    what to do.
    """
    name = asker(by)
    try:
        yield name
    except BudgetExceeded as error:
        hint = advice(account, by, name)
        if not hint:
            raise
        raise BudgetExceeded(f"{error} {hint}") from error


def advice(account: Account, by: str | None, name: str) -> str:
    """What to do where the login name has no share, but others have; empty where that
    is not so.
    """
    if by is not None:
        return ""
    shares = account.shares()
    if not shares or name in shares:
        return ""
    return (
        f"You ask as {name}, your login name, which has no share: pass "
        "--by to ask under the name that has one."
    )
