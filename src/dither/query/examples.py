"""The bundled clinic, copied to where it can be asked: synthetic patients, visits,
diagnoses and public regions.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

__all__ = ["example"]

TABLES = ("patients.parquet", "visits.parquet", "diagnoses.parquet", "regions.csv")
FILES = ("clinic.toml", *TABLES, "README.md")


def example(folder: str | Path = "clinic") -> Path:
    """Copy the synthetic clinic into a folder, unless it is there, and return the path
    of its catalogue.
    """
    place, bundled = Path(folder), files("dither") / "data" / "clinic"
    place.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        if not (place / name).exists():
            (place / name).write_bytes((bundled / name).read_bytes())
    return place / FILES[0]
