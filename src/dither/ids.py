"""Ids of people, vertices and owners, in one form (rule R10): a whole number by its
digits, whatever type holds it, and a text as it is.

One odd id can change the type in which a reader holds all others (numbers become texts,
or reals), so what an id is compared as must not depend on that type.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from numbers import Complex
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

__all__ = ["EXACT", "MANY_DIGITS", "canonical", "codes_of", "identity"]

Integers = NDArray[np.int64]

EXACT = 2**53
"""Floats below it are the whole numbers that they seem to be."""
MANY_DIGITS = 15
"""Numbers of so many digits are below `EXACT`."""
LONGEST = 1024
"""Bits of numbers that are written out."""
WHOLE = re.compile(r"([+-]?)0*([0-9]{1,40})(?:\.0*)?", re.ASCII)


def identity(value: Any) -> str | None:
    """The id that a text, bytes or a number is; None where it is none: missing, a
    fraction, or of another type.
    """
    if isinstance(value, str):
        return _of_text(str.__str__(value))  # whatever a class of its own says
    if isinstance(value, bytes):
        return _of_text(value.decode("utf-8", "replace"))
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


def codes_of(owners: Any) -> Integers:
    """A number for each owner, -1 where a point has none. Owners are told apart by
    their ids in canonical form (rule R10).
    """
    dtype = getattr(owners, "dtype", None)
    plain = isinstance(dtype, np.dtype) and dtype.kind in "iu"
    if plain and not np.ma.isMaskedArray(owners):
        return np.unique(np.asarray(owners), return_inverse=True)[1].astype(np.int64)
    return _numbered(map(_safely, _items(owners)))


def _safely(owner: Any) -> str | bytes | int | None:
    """The id, or none where a class of its own makes it raise (rule R1)."""
    try:
        return canonical(owner)
    except Exception:
        return None


def _items(owners: Any) -> Iterable[Any]:
    listed = next(
        (
            getattr(owners, name)
            for name in ("to_pylist", "to_list", "tolist")
            if hasattr(owners, name)
        ),
        None,
    )
    found: Iterable[Any] = owners if listed is None else listed()
    return found


def _numbered(names: Iterable[str | bytes | int | None]) -> Integers:
    seen: dict[str | bytes | int, int] = {}
    found = [-1 if name is None else seen.setdefault(name, len(seen)) for name in names]
    return np.array(found, np.int64)


def canonical(owner: Any) -> str | bytes | int | None:
    """An id as text: a whole number by its digits, a text as it is. None for what is no
    id: a missing one, a fraction, a truth. Bytes, and numbers of hundreds of digits, stay
    what they are.

    A float among other things is an id if it is a whole number. (A column of floats is
    refused: what made integers floats has merged large ones.)
    """
    if isinstance(owner, str | float | np.floating):
        return identity(owner)
    if isinstance(owner, int | np.integer) and not isinstance(owner, bool):
        # Python refuses to write out more digits than some thousands.
        number = int(owner)
        return str(number) if number.bit_length() < LONGEST else number
    if isinstance(owner, bytes):
        return bytes(owner)
    return str(owner) if isinstance(owner, UUID) else None
