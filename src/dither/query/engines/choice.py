"""Which engine a source belongs to. Each is loaded when it is chosen.

An engine's folder holds `engine`, with the class whose `of(catalogue, sources)` makes
it, and `lookup`, which says what can be known of a source before that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from dither.errors import ArgumentError
from dither.query.catalogue.model import Catalogue
from dither.query.engines.protocol import Engine, Lookup
from dither.query.plugins import engine_named

__all__ = [
    "ADDRESSES",
    "OWN",
    "apart",
    "engine_for",
    "engine_of",
    "lookup_of",
    "maker",
]

OWN = {"duckdb": "DuckDBEngine", "postgres": "PostgresEngine", "spark": "SparkEngine"}
ADDRESSES = ("postgresql://", "postgres://")


def engine_of(source: Any) -> str:
    """The name of the engine that a source is read by."""
    if isinstance(source, str | Path):
        return "postgres" if str(source).lower().startswith(ADDRESSES) else "duckdb"
    return "spark" if type(source).__module__.split(".")[0] == "pyspark" else "duckdb"


def engine_for(catalogue: Catalogue) -> str:
    """The engine that a catalogue names, or that all of its sources belong to."""
    if catalogue.engine:
        return catalogue.engine
    found = {
        engine_of(table.source): table.name
        for table in catalogue.tables
        if table.source
    }
    if len(found) > 1:
        raise ArgumentError(
            "source", f"{apart(found)}; put all tables where one engine can read them"
        )
    return next(iter(found), "duckdb")


def apart(found: Mapping[str, str]) -> str:
    """That tables are read by different engines, with one table of each."""
    places = " and ".join(
        f"{table!r} ({engine})" for engine, table in sorted(found.items())
    )
    return f"the tables {places} are read by different engines"


def maker(name: str) -> Callable[..., Engine]:
    """A factory of an engine from a catalogue and its sources: our own, or one that a
    package brings.
    """
    if name not in OWN:
        return engine_named(name, list(OWN))
    module = import_module(f"dither.query.engines.{name}.engine")
    made: Callable[..., Engine] = getattr(module, OWN[name]).of
    return made


def lookup_of(name: str) -> Lookup:
    """Facts about an engine's sources before they are opened. Engines of other packages
    read the same as ours.
    """
    own = name if name in OWN else "duckdb"
    return cast(Lookup, import_module(f"dither.query.engines.{own}.lookup"))
