"""Ids of people, vertices and owners, in one form (rule R10): a whole number by its
digits, whatever type holds it, and a text as it is.

One odd id can change the type in which a reader holds all others (numbers become
strings, or reals), so what an id is compared as must not depend on that type.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Complex
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from dither.items import items_of

__all__ = [
    "EXACT",
    "MANY_DIGITS",
    "StoredIds",
    "canonical",
    "codes_of",
    "hashed",
    "identity",
    "mixed",
]

Integers = NDArray[np.int64]
Words = NDArray[np.uint64]

EXACT = 2**53
"""Floats below it are the whole numbers that they seem to be."""
MANY_DIGITS = 15
"""Number of digits up to which numbers are below `EXACT`."""
LONGEST = 1024
"""Bits of numbers that are written out."""
WHOLE = re.compile(r"([+-]?)0*([0-9]{1,40})(?:\.0*)?", re.ASCII)


def identity(value: Any) -> str | None:
    """The id that a string, bytes or a number stands for; None if it is missing, a
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
    """A string that is a whole number is that number: so a column of numbers reads the
    same if an odd entry has made it a column of strings.
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
    except KeyboardInterrupt:
        raise
    except BaseException:  # NaN of a Decimal, a type of somebody's own
        return None


@dataclass(frozen=True)
class StoredIds:
    """Owners as an opened dataset returns them, in the one form by which it tells its
    units apart: there "7" and "007" are two, so nothing else may make them one.
    """

    held: Sequence[Any]


def codes_of(owners: Any) -> Integers:
    """A number for each owner, -1 where a record has none. Owners are distinguished by
    their ids in canonical form (rule R10), those of a dataset as they are.
    """
    if isinstance(owners, StoredIds):
        return _numbered(owners.held)
    dtype = getattr(owners, "dtype", None)
    plain = isinstance(dtype, np.dtype) and dtype.kind in "iu"
    if plain and not np.ma.isMaskedArray(owners):
        return np.unique(np.asarray(owners), return_inverse=True)[1].astype(np.int64)
    return _numbered(map(canonical, items_of(owners)))


def _numbered(names: Iterable[str | bytes | int | None]) -> Integers:
    seen: dict[str | bytes | int, int] = {}
    found = [-1 if name is None else seen.setdefault(name, len(seen)) for name in names]
    return np.array(found, np.int64)


def canonical(owner: Any) -> str | bytes | int | None:
    """An id as text: a whole number by its digits, a text as it is. The id, or None for
    a missing value, a fraction or a boolean. Bytes are the text that they spell; those
    that spell none, and numbers of hundreds of digits, stay what they are.

    A float among other things is an id if it is a whole number. (A column of floats is
    refused: what made integers floats has merged large ones.)
    """
    try:
        return _canonical(owner)
    except KeyboardInterrupt:
        raise
    except BaseException:  # a class of its own may raise anything (rule R1)
        return None


def _canonical(owner: Any) -> str | bytes | int | None:
    if isinstance(owner, bytes):
        return _of_bytes(bytes(memoryview(owner)))
    if isinstance(owner, str | float | np.floating | Decimal | Fraction):
        return identity(owner)
    if isinstance(owner, int | np.integer) and not isinstance(owner, bool):
        # Python refuses to write out more digits than some thousands.
        number = int(owner)
        return str(number) if number.bit_length() < LONGEST else number
    return UUID.__str__(owner) if isinstance(owner, UUID) else None


def _of_bytes(held: bytes) -> str | bytes | None:
    """Bytes that are not text are not made one: that could merge two owners."""
    try:
        return identity(held.decode())
    except UnicodeDecodeError:
        return held


def hashed(owners: Any, rows: NDArray[np.intp], key: bytes) -> Words:
    """A keyed hash of the id of each of some rows, which have one: a choice by it depends
    on the id alone. (Its number depends on who else is there.)
    """
    words = b"".join(_hash(one, key) for one in _written_ids(owners, rows))
    found: Words = np.frombuffer(words, np.uint64)
    return found


def _hash(one: bytes, key: bytes) -> bytes:
    return hashlib.blake2b(one, key=key, digest_size=8).digest()


def _written_ids(owners: Any, rows: NDArray[np.intp]) -> Iterator[bytes]:
    """The ids of some rows as bytes, in the form by which they are distinguished."""
    stored = isinstance(owners, StoredIds)
    held = owners.held if stored else owners
    items = held if isinstance(held, np.ndarray) else items_of(held)
    for row in rows.tolist():
        one = items[row] if stored else canonical(items[row])
        written = one if isinstance(one, bytes) else _written(one)
        yield type(one).__name__.encode() + written


def _written(one: str | int | None) -> bytes:
    # Python refuses to write out more decimal digits than some thousands
    text = f"{one:x}" if isinstance(one, int) else str(one)
    return text.encode("utf-8", "surrogatepass")


def mixed(words: Words) -> Words:
    """A bijection of words whose bits all depend on all bits."""
    found = words.copy()
    for shift, factor in ((33, 0xFF51AFD7ED558CCD), (33, 0xC4CEB9FE1A85EC53)):
        found ^= found >> np.uint64(shift)
        found *= np.uint64(factor)
    found ^= found >> np.uint64(33)
    return found
