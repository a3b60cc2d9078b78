"""The words of DuckDB's SQL, for what is not an operation."""

from __future__ import annotations

from dither.query.operations.writing import DUCKDB, quoted

__all__ = ["NAMES", "once", "quoted", "written"]

NAMES = DUCKDB.types
once = DUCKDB.once
written = DUCKDB.written
