"""Tables of a nesting geography: every level measured, made consistent, with intervals
(docs/census.md).
"""

from __future__ import annotations

from dither.science.census.asking import unit
from dither.science.census.attributes import Edges, edges
from dither.science.census.geography import Geography, geography
from dither.science.census.ranges import Ranges, ranges
from dither.science.census.releasing import release
from dither.science.census.result import Census
from dither.science.census.tables import Measurements

__all__ = [
    "Census",
    "Edges",
    "Geography",
    "Measurements",
    "Ranges",
    "edges",
    "geography",
    "ranges",
    "release",
    "unit",
]
