"""What Spark is told to read; `tests/conformance/test_declared_types.py` asks it."""

from __future__ import annotations

from dither.query.catalogue.types import Type
from dither.query.engines.spark.casts import of_text, written


def test_a_text_is_written_once_where_it_is_long() -> None:
    long = f"upper({'x' * 200})"
    for type_ in Type:
        assert of_text(long, type_).count(long) == 1


def test_no_parameter_is_made() -> None:
    """A statement of the engine has $1, $2, … for parameters."""
    for type_ in Type:
        assert not any(f"${place}" in of_text("x", type_) for place in range(10))


def test_backslashes_are_written_twice() -> None:
    assert written(r"\.") == r"\\."
