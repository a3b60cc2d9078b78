"""Fingerprints of plans: the same where all parts are the same, found by looking at
each shared part once.

A question can name one long list of keys in many places, or one query many times:
written out, a plan would be far larger than what it is made of.
"""

from __future__ import annotations

import hashlib
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any

from dither.query.catalogue.types import Keys

__all__ = ["fingerprint"]


def fingerprint(value: Any) -> str:
    """A hash of a value that is made of frozen dataclasses, tuples, lists and
    constants.
    """
    # A part is kept beside its hash, so that its place in memory is not given to
    # another one meanwhile.
    return _hash(value, {}).hex()


def _hash(value: Any, known: dict[int, tuple[Any, bytes]]) -> bytes:
    found = known.get(id(value))
    if found is not None:
        return found[1]
    if isinstance(value, Keys):
        return value.digest
    if isinstance(value, tuple | list):
        hashed = hashlib.sha256(b"(%d" % len(value))
        parts = value
    elif is_dataclass(value):
        kind: Any = type(value)
        hashed = hashlib.sha256(kind.__qualname__.encode())
        parts = [getattr(value, name) for name in _compared(kind)]
    else:
        return hashlib.sha256(
            f"{type(value).__qualname__} {value!r}".encode("utf-8", "surrogatepass")
        ).digest()
    for part in parts:
        hashed.update(_hash(part, known))
    known[id(value)] = value, hashed.digest()
    return known[id(value)][1]


@lru_cache(maxsize=256)
def _compared(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind) if field.compare)
