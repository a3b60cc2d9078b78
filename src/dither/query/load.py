"""Catalogue files, with the keys that they take from public tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dither.errors import ArgumentError
from dither.query.catalogue.file import KeysFrom, read_catalogue
from dither.query.catalogue.model import Catalogue
from dither.query.engines.choice import engine_of, lookup_of

__all__ = ["load_catalogue", "parse_catalogue"]


def load_catalogue(path: str | Path) -> Catalogue:
    """Read a catalogue file. Other files that it names are beside it."""
    place = Path(path)
    try:
        text = place.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ArgumentError(
            str(path),
            f"{_gone(place, error)}; pass the path of a catalogue, such as clinic.toml",
        ) from None
    except UnicodeDecodeError:
        words = f"the file {str(path)!r} is not UTF-8 text; save it as UTF-8"
        raise ArgumentError(str(path), words) from None
    return parse_catalogue(text, place.name, place.absolute().parent)


def _gone(place: Path, error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return f"the file {str(place)!r} does not exist"
    return f"the file {str(place)!r} cannot be read ({error.strerror})"


def parse_catalogue(
    text: str, file: str = "catalogue", folder: Path | None = None
) -> Catalogue:
    """Read the text of a catalogue file."""
    return read_catalogue(text, _public_keys, file, folder)


def _public_keys(wanted: KeysFrom) -> list[Any]:
    engine = wanted.engine or engine_of(wanted.source)
    stored = wanted.stored
    if stored is None:
        # A DuckDB source is a file, which may hold one table; elsewhere it has a name.
        stored = "" if engine == "duckdb" else wanted.table
    return lookup_of(engine).public_values(
        wanted.source, stored, wanted.column, wanted.type
    )
