"""Ids of people, vertices and owners, in one form (rule R10): a whole number by its
digits, whatever type holds it, and a text as it is.

One odd id can change the type in which a reader holds all others (numbers become texts,
or reals), so what an id is compared as must not depend on that type.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from numbers import Complex
from typing import Any

import numpy as np

__all__ = ["EXACT", "MANY_DIGITS", "identity"]

EXACT = 2**53
"""Floats below it are the whole numbers that they seem to be."""
MANY_DIGITS = 15
"""Numbers of so many digits are below `EXACT`."""
WHOLE = re.compile(r"([+-]?)0*([0-9]{1,40})(?:\.0*)?", re.ASCII)


def identity(value: Any) -> str | None:
    """The id that a text, bytes or a number is; None where it is none: missing, a
    fraction, or of another type.
    """
    if isinstance(value, str):
        return _of_text(str.__str__(value))  # whatever a class of its own says
    if isinstance(value, bytes):
        return _of_text(bytes.decode(value, "utf-8", "replace"))
    if isinstance(value, Complex | Decimal | np.number | np.bool_):
        return _of_number(value)
    return None


def _of_text(text: str) -> str:
    """A text that is a whole number is that number: so a column of numbers reads the
    same where an odd entry has made it one of texts.
    """
    found = WHOLE.fullmatch(text.strip())
    if found is None:
        return text
    sign = "-" if found[1] == "-" and found[2] != "0" else ""
    return sign + found[2]


def _of_number(value: Any) -> str | None:
    exact = isinstance(value, int | np.integer | Fraction | Decimal)
    most = 10**40 if exact else EXACT
    try:
        real = value if isinstance(value, Decimal) else value.real
        # a long number is not turned into an integer, which could take for ever
        if (
            value.imag if not isinstance(value, Decimal) else 0
        ) or not -most < real < most:
            return None
        return str(int(real)) if int(real) == real else None
    except Exception:  # NaN of a Decimal, a type of somebody's own
        return None
