"""A task's document: how its lines are written, and read again."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

from dither.errors import ArgumentError
from dither.local.domain import Domain
from dither.local.registry import oracle_from

__all__ = ["FORMAT", "parsed", "typed", "written_domain"]

FORMAT = "dither local task, 1"


def written_domain(domain: Domain | None) -> Any:
    if domain is None:
        return None
    values = domain.values
    if isinstance(values, range):
        return {"from": values.start, "below": values.stop, "none": domain.none}
    return {"values": list(values), "none": domain.none}


def typed(read: dict[str, Any]) -> dict[str, Any]:
    typed = dict(read)
    typed["domain"] = _domain(read["domain"])
    typed["oracle"] = oracle_from(read["oracle"])
    typed["strata"] = tuple(read["strata"])
    for one in ("starts", "expires"):
        typed[one] = date.fromisoformat(read[one])
    return typed


def _domain(read: Any) -> Domain | None:
    if read is None:
        return None
    if "values" in read:
        return Domain(tuple(read["values"]), read["none"])
    return Domain(range(read["from"], read["below"]), read["none"])


def parsed(document: bytes) -> dict[str, Any]:
    try:
        read = json.loads(document.decode())
    except (UnicodeDecodeError, ValueError, RecursionError, AttributeError):
        read = None
    if not isinstance(read, dict):
        raise ArgumentError("document", "is not JSON; pass the bytes of a task")
    return read
