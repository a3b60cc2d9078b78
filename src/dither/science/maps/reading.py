"""Points as people hold them: arrays, frames, GeoDataFrames, a dataset's columns.

`source_of` looks at types and declared names only. What it returns reads the data after
the charge, and then nothing is refused: a coordinate that is missing or no number is
NaN, and its point is left out (rule R1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dither.dataset import ColumnFacts, Dataset, Kind, kind_of
from dither.errors import ArgumentError
from dither.ledger import Receipt
from dither.mechanisms.values import real
from dither.science.maps.places import System, reprojected
from dither.science.owners import StoredIds

__all__ = ["Points", "Source", "source_of"]

Reals = NDArray[np.float64]

LONGEST = 64
"""Characters of a coordinate that is written out."""
WAY_OUT = (
    "pass an array of (x, y) rows, a pair of columns (lon, lat), a frame with x= and "
    "y=, a GeoDataFrame or a dataset"
)


class Points(NamedTuple):
    """Coordinates as floats, and the owners' ids as they came."""

    x: Reals
    y: Reals
    owners: Any


@dataclass(frozen=True)
class Source:
    """Where the points come from. `owned` says whether each has an owner by an id."""

    read: Callable[[Receipt | None], Points]
    owned: bool
    owner: str | None = None
    dataset: Dataset | None = None


def source_of(
    points: Any,
    system: System,
    *,
    x: str | None = None,
    y: str | None = None,
    owner: Any = None,
    table: str | None = None,
) -> Source:
    """How to read the points, decided by types and declared names."""
    if isinstance(points, Dataset):
        return _dataset(points, x, y, owner, table)
    if table is not None:
        raise ArgumentError(
            "table", "can be passed only with a dataset; leave table out"
        )
    ids = _ids(points, owner)
    name = owner if isinstance(owner, str) else None
    columns = _columns(points, system, x, y)
    return Source(lambda _: Points(*columns(), ids()), owner is not None, name)


def _dataset(
    dataset: Dataset, x: str | None, y: str | None, owner: Any, table: str | None
) -> Source:
    """A dataset knows its unit, so nobody else says who owns a row."""
    if owner is not None:
        raise ArgumentError(
            "owner",
            f"is declared by the dataset, which protects {dataset.unit}; leave owner out",
        )
    names = [_named("x", x), _named("y", y)]
    known = [one.name for one in dataset.catalogue.private]
    if table not in known and (table is not None or len(known) > 1):
        raise ArgumentError("table", f"must be one of {', '.join(map(repr, known))}")
    pairs = zip("xy", names, strict=True)
    facts = [_check_column(dataset, argument, name, table) for argument, name in pairs]
    columns = [one.column for one in facts]

    def read(receipt: Receipt | None) -> Points:
        rows = dataset.fetch(columns, table=table, receipt=receipt)
        across, up = (floats(rows.columns[name]) for name in columns)
        owners = None if rows.owners is None else StoredIds(rows.owners)
        return Points(across, up, owners)

    return Source(read, not dataset.single, None, dataset)


def _check_column(
    dataset: Dataset, argument: str, name: str, table: str | None
) -> ColumnFacts:
    """That there is such a column, declared to hold numbers."""
    facts = dataset.facts.get(f"{table}.{name}") or dataset.facts.get(name)
    if facts is None or table not in (None, facts.table):
        listed = ", ".join(map(repr, dataset.facts))
        words = f"the dataset has no column {name!r}; use one of {listed}"
        raise ArgumentError(argument, words)
    if facts.kind in (Kind.OTHER, Kind.TRUTHS):
        raise ArgumentError(
            argument,
            f"the column {name!r} does not hold numbers; name a column that does",
        )
    return facts


def _named(argument: str, name: str | None) -> str:
    if not isinstance(name, str):
        words = (
            'must name the column of this coordinate; pass x= and y=, such as x="lon"'
        )
        raise ArgumentError(argument, words)
    return name


def _ids(points: Any, owner: Any) -> Callable[[], Any]:
    if owner is None:
        return lambda: None
    if isinstance(owner, str):
        if not _is_frame(points):
            words = "must be a list of ids, because the points have no named columns"
            raise ArgumentError("owner", f"{words}; pass one id per point")
        held = _column(points, "owner", owner)
    else:
        held = owner
    kind = getattr(getattr(held, "dtype", None), "kind", "O")
    flat = len(getattr(held, "shape", (0,))) == 1
    if not _is_column(held) or not flat or kind not in "iuOUST":
        raise ArgumentError(
            "owner",
            "must be a column of strings or whole numbers, because floats merge large "
            'ids; read the column as strings or, in pandas, as "Int64"',
        )
    return lambda: held


def _is_frame(points: Any) -> bool:
    return isinstance(points, Mapping) or hasattr(points, "columns")


def _is_geo(points: Any) -> bool:
    kinds = type(points).__mro__
    return any(
        kind.__module__.partition(".")[0] == "geopandas"
        and kind.__name__ in ("GeoDataFrame", "GeoSeries")
        for kind in kinds
    )


def _columns(
    points: Any, system: System, x: str | None, y: str | None
) -> Callable[[], tuple[Reals, Reals]]:
    if _is_geo(points):
        return _geo(points, system)
    if _is_frame(points):
        pair = [
            _column(points, argument, _named(argument, name))
            for argument, name in (("x", x), ("y", y))
        ]
        return _pair(pair)
    if x is not None or y is not None:
        raise ArgumentError(
            "x",
            "x and y name columns of a frame, and these points are not a frame; leave both "
            "out",
        )
    if isinstance(points, tuple):
        # Always columns: what a tuple means must not depend on how many points it has.
        if len(points) != 2:
            words = (
                "must be two columns if they are a tuple; pass (lon, lat), or a list of"
            )
            raise ArgumentError("points", f"{words} points")
        return _pair(list(points))
    return _rows(points)


def _is_column(given: Any) -> bool:
    return hasattr(given, "__len__") and not isinstance(given, str | bytes | Mapping)


def _column(frame: Any, argument: str, name: str) -> Any:
    names = list(frame) if isinstance(frame, Mapping) else _names(frame)
    if name not in names:
        listed = ", ".join(repr(one) for one in names[:12])
        raise ArgumentError(
            argument, f"the frame has no column {name!r}; use one of {listed}"
        )
    return frame[name]


def _names(frame: Any) -> list[Any]:
    """An Arrow table names its columns elsewhere than pandas and Polars do."""
    names = getattr(frame, "column_names", None)
    # a column of pandas can have that name, and what it holds is private
    return list(names if isinstance(names, list) else frame.columns)


def _pair(pair: list[Any]) -> Callable[[], tuple[Reals, Reals]]:
    for argument, column in zip("xy", pair, strict=True):
        _check_numeric(argument, column)

    def read() -> tuple[Reals, Reals]:
        across, up = map(floats, pair)
        # A coordinate without its other one is no point.
        both = min(across.size, up.size)
        return across[:both], up[:both]

    return read


def _check_numeric(argument: str, column: Any) -> None:
    flat = len(getattr(column, "shape", (0,))) == 1
    if not _is_column(column) or not flat or kind_of(column) is Kind.OTHER:
        raise ArgumentError(argument, f"must be a column of numbers; {WAY_OUT}")


def _rows(points: Any) -> Callable[[], tuple[Reals, Reals]]:
    shape = getattr(points, "shape", None)
    if shape == (0,):  # what numpy makes of an empty list of points
        return lambda: (np.empty(0), np.empty(0))
    fits = len(shape) == 2 and shape[1] == 2 if shape is not None else None
    if fits is False or not _is_column(points):
        raise ArgumentError("points", f"must have two coordinates each; {WAY_OUT}")
    if fits:
        array = points if isinstance(points, np.ndarray) else np.asarray(points)
        return _pair([array[:, 0], array[:, 1]])

    def read() -> tuple[Reals, Reals]:
        pairs = [_two(one) for one in points]
        found = np.array(pairs, np.float64).reshape(-1, 2)
        return found[:, 0], found[:, 1]

    return read


def _two(point: Any) -> tuple[float, float]:
    """A point of a list; NaN where it is none."""
    try:
        across, up = (point.x, point.y) if hasattr(point, "geom_type") else point
    except KeyboardInterrupt:
        raise
    except BaseException:  # whatever it is instead
        return np.nan, np.nan
    return _number(across), _number(up)


def _geo(points: Any, system: System) -> Callable[[], tuple[Reals, Reals]]:
    """Points of geopandas, in the declared system. Its own system is metadata."""
    try:
        own = points.crs
    except AttributeError:
        words = "has no geometry column; choose one with .set_geometry"
        raise ArgumentError("points", f"the GeoDataFrame {words}") from None
    if own is None and not system.plane:
        raise ArgumentError(
            "crs",
            "the GeoDataFrame has no coordinate system; declare it, such as with "
            ".set_crs(4326)",
        )
    if own is not None and system.plane:
        raise ArgumentError(
            "crs",
            "cannot be None, because the GeoDataFrame has a coordinate system; pass its "
            ".crs",
        )

    def read() -> tuple[Reals, Reals]:
        import shapely

        shapes = np.array(points.geometry.values, object)
        # What is no point has no coordinates: NaN. An empty one would be an error.
        shapes[shapely.is_empty(shapes)] = None
        x, y = shapely.get_x(shapes), shapely.get_y(shapes)
        if own is None or own == system.name:
            return x, y
        return reprojected(own, system.name, x, y)

    return read


def floats(column: Any) -> Reals:
    """A column as floats; what is missing or no number is NaN."""
    # Whether a number is too large for a float must not warn, or fail (rule R1).
    with np.errstate(all="ignore"):
        return _floats(column)


def _floats(column: Any) -> Reals:
    if isinstance(column, np.ma.MaskedArray) and column.dtype.kind in "biuf":
        plain = np.asarray(column.data).astype(np.float64)
        return np.where(np.ma.getmaskarray(column), np.nan, plain)
    dtype = getattr(column, "dtype", None)
    masked = isinstance(column, np.ma.MaskedArray)
    if isinstance(dtype, np.dtype) and dtype.kind in "biuf" and not masked:
        return np.asarray(column).astype(np.float64, copy=False).reshape(-1)
    listed = next(
        (
            getattr(column, name)
            for name in ("to_pylist", "to_list", "tolist")
            if hasattr(column, name)
        ),
        None,
    )
    items = column if listed is None else listed()
    return np.array([_number(item) for item in items], np.float64)


def _number(item: Any) -> float:
    """One coordinate. A string that is a number is read as that number: one odd string
    among numbers makes strings of them all.
    """
    if item is None or isinstance(item, bool):
        return np.nan
    try:
        if isinstance(item, str | bytes):
            return float(item) if len(item) <= LONGEST else np.nan
        return float(real(item))
    except KeyboardInterrupt:
        raise
    except BaseException:  # a number of some class that turns out to be none
        return np.nan
