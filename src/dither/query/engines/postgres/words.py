"""The words of PostgreSQL's SQL, for what is not an operation."""

from __future__ import annotations

from dither.query.operations.writing import (
    BYTES,
    POSTGRES,
    quoted,
    real,
    storable,
    text,
)
from dither.query.operations.writing import named as once

__all__ = ["BYTES", "NAMES", "once", "quoted", "real", "storable", "text", "written"]

NAMES = POSTGRES.types
written = POSTGRES.written
