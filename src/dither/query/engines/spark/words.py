"""The words of Spark's SQL, for what is not an operation."""

from __future__ import annotations

from dither.query.operations.writing import LARGEST, SPARK

__all__ = ["LARGEST", "NAMES", "WIDE", "finite", "once", "written"]

NAMES = SPARK.types
WIDE = "DECIMAL(38,0)"
once = SPARK.once
finite = SPARK.finite
written = SPARK.written
