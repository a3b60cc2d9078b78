"""Promises to devices: listed in the book, linked to an account, and never charged."""

from __future__ import annotations

from pathlib import Path

import pytest

from dither import local
from dither.errors import ArgumentError
from dither.ledger import Ledger, verify
from dither.ledger.devices import promised
from dither.ledger.export import export
from dither.ledger.recheck import recheck
from dither.privacy import PureDP

TASK = local.task("emoji", domain=3, epsilon=1, for_ever=2, every="day", n=1000)


def test_a_task_is_listed_once_and_costs_nothing(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "book.db") as book:
        account = book.account("people", epsilon=3.0)
        account.charge(PureDP(0.5))
        before = str(account.remaining)
        promise = TASK.record(book)
        TASK.record(book)
        linked = TASK.record(book, account="people")
        assert promised(book) == (promise, linked)
        assert (promise.account, linked.account) == (None, "people")
        assert promise.once == TASK.once
        assert promise.lifetime == TASK.lifetime
        assert str(account.remaining) == before
        assert "same people as in the account people" in str(linked)
        verify(book)
        newer = TASK.changed(minimum=7).record(book)
        assert newer.document != promise.document
        assert len(promised(book)) == 3


def test_an_account_that_is_not_there(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "book.db") as book:
        with pytest.raises(ArgumentError, match="must name an account of this ledger"):
            TASK.record(book, account="nobody")
        assert promised(book) == ()


def test_others_can_add_up_a_book_with_tasks(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "book.db") as book:
        book.account("people", epsilon=3.0).charge(PureDP(0.5))
        TASK.record(book, account="people")
        lines = list(export(book))
    assert recheck(lines)
