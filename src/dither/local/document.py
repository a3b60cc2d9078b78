"""A task's document: how its lines are written, and read again."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

from dither.errors import ArgumentError
from dither.local.attributes import Attributes
from dither.local.domain import Counted, Domain
from dither.local.numbers import Numbers
from dither.local.registry import oracle_from
from dither.local.vocabulary import Vocabulary

__all__ = ["FORMAT", "parsed", "typed"]

FORMAT = "dither local task, 1"


def typed(read: dict[str, Any]) -> dict[str, Any]:
    typed = dict(read)
    typed["domain"] = None if read["domain"] is None else _domain(read["domain"])
    typed["oracle"] = oracle_from(read["oracle"])
    typed["strata"] = tuple(read["strata"])
    for one in ("starts", "expires"):
        typed[one] = date.fromisoformat(read[one])
    return typed


def _domain(read: Any) -> Counted:
    """What is written another way than it would be is refused by `Task`."""
    if "attributes" in read:
        fields = tuple((name, _field(one)) for name, one in read["attributes"])
        return Attributes(fields, read["pairs"])
    return Vocabulary(**read) if "alphabet" in read else _field(read)


def _field(read: Any) -> Domain | Numbers:
    if "low" in read:
        return Numbers(**read)
    if "values" in read:
        return Domain(tuple(read["values"]), read["none"])
    return Domain(range(read["from"], read["below"]), read["none"])


def parsed(document: bytes) -> dict[str, Any]:
    try:
        read = json.loads(document.decode())
    except (UnicodeDecodeError, ValueError, RecursionError, AttributeError):
        read = None
    if not isinstance(read, dict):
        raise ArgumentError(
            "document", "is not valid JSON; pass what task.to_json() returned"
        )
    return read
