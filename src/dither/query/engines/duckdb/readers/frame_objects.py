"""Python objects as strings, each by itself (rule R1), and in one form (rule R10).

Equal numbers have one text, whatever their type: 1, 1.0 and Decimal("1.00") are all
"1". Different ones of a type have different strings: nothing is rounded. What has no
plain text is missing: a NaN, bytes, lists, and a text with a lone surrogate, which
UTF-8 cannot hold.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import singledispatch
from typing import Any
from uuid import UUID

import numpy as np

__all__ = ["text_of", "texts_of"]

LONGEST = 1 << 128
LONGEST_REAL = float(LONGEST)
"""Whole numbers have strings up to here, or one of them could fill the memory."""
DIGITS = 400
"""Largest number of places before and behind the point of a decimal: more than any
double.
"""


def texts_of(items: Iterable[Any]) -> list[str | None]:
    """Objects as strings; most are plain strings already, and are passed on at once."""
    return [
        item if type(item) is str and item.isascii() else text_of(item)
        for item in items
    ]


@singledispatch
def text_of(item: Any) -> str | None:  # noqa: ARG001 - of a kind that is not listed here
    """An object as a text; None for what has no plain one."""
    return None


@text_of.register
def _text(item: str) -> str | None:
    try:
        return item if item.isascii() else item.encode().decode()
    except UnicodeEncodeError:
        return None


@text_of.register(bool)
@text_of.register(np.bool_)
def _truth(item: Any) -> str:
    return "true" if item else "false"


@text_of.register(int)
@text_of.register(np.integer)
def _whole(item: Any) -> str | None:
    whole = int(item)
    return str(whole) if -LONGEST < whole < LONGEST else None


@text_of.register(float)
@text_of.register(np.floating)
def _real(item: Any) -> str | None:
    # A longdouble may have more digits than a float, and keeps them.
    number: Any = item if isinstance(item, np.longdouble) else float(item)
    if math.isnan(number):
        return None
    if abs(number) < LONGEST_REAL and number == int(number):
        return str(int(number))
    return str(number)


@text_of.register
def _decimal(item: Decimal) -> str | None:
    if not item:
        return "0" if item.is_finite() else None
    if (
        not item.is_finite()
        or abs(item.adjusted()) > DIGITS
        or len(item.as_tuple().digits) > DIGITS
    ):
        return None
    plain = f"{item:f}"
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


@text_of.register
def _id(item: UUID) -> str:
    return str(item)


@text_of.register
def _time(item: datetime) -> str | None:
    """Time stamps in DuckDB's format, in UTC if there is a zone."""
    if type(item).__name__ == "NaTType":
        return None
    try:
        plain = (
            item if item.tzinfo is None else item.astimezone(UTC).replace(tzinfo=None)
        )
    except OverflowError:
        return None
    text = plain.isoformat(sep=" ")
    return text.rstrip("0") if "." in text else text


@text_of.register
def _day(item: date) -> str:
    return item.isoformat()
