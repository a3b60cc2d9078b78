"""Synthetic tables over a declared domain (docs/synth.md)."""

from dither.science.synth.bins import numbers
from dither.science.synth.calendar import dates
from dither.science.synth.columns import booleans, categories
from dither.science.synth.domain import Domain
from dither.science.synth.releasing import mst
from dither.science.synth.report import Report, TableError
from dither.science.synth.result import Synthetic

__all__ = [
    "Domain",
    "Report",
    "Synthetic",
    "TableError",
    "booleans",
    "categories",
    "dates",
    "mst",
    "numbers",
]
