"""An exported book says everything that its charges say."""

from __future__ import annotations

import json

from dither.ledger.export import export
from tests.ledger.support import full, three_accounts


def test_every_line_has_its_fields() -> None:
    book = three_accounts()
    parsed = [json.loads(line) for line in export(full(book))]
    assert [line["line"] for line in parsed[:4]] == [
        "book",
        "account",
        "account",
        "account",
    ]
    charges = [line for line in parsed if line["line"] == "charge"]
    names = {
        "line",
        "number",
        "time",
        "account",
        "guarantee",
        "cost",
        "by",
        "purpose",
        "hash",
    }
    names |= {"deadline", "id", "spent"}
    assert all(set(line) == names for line in charges)
    receipts = {
        receipt.number: receipt.head for receipt in book.account("clinic").history()
    }
    assert {
        line["number"]: line["hash"] for line in charges if line["account"] == "clinic"
    } == receipts
