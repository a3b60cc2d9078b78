"""What front ends share: who asks, where nobody said so (charges and failures always
count for somebody, rule R31), and EXPLAIN.
"""

from __future__ import annotations

import getpass
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Unpack

from dither.errors import ArgumentError, BudgetExceeded
from dither.ledger.receipt import check_text
from dither.query.sql.parse import explains

if TYPE_CHECKING:
    from dither.dataset import Dataset, QueryCost
    from dither.ledger import Account
    from dither.query.preview import Preview
    from dither.table import TableRelease

__all__ = ["advice", "answer", "asker", "asking"]

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


def answer(
    dataset: Dataset, query: str, **cost: Unpack[QueryCost]
) -> TableRelease | Preview:
    """The answer to what was typed in, or its preview where EXPLAIN stands before it."""
    ask = dataset.preview if explains(query) else dataset.sql
    return ask(query, **cost)


@contextmanager
def asking(account: Account, by: str | None) -> Iterator[str]:
    """Ask under a name. If that is the login name and has no share, the refusal says
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
    """Advice if the login name has no share, but others have; empty otherwise."""
    if by is not None:
        return ""
    shares = account.shares()
    if not shares or name in shares:
        return ""
    return (
        f"You ask as {name}, your login name, which has no share: pass "
        "--by to ask under the name that has one."
    )
