"""The release of a map: counts with intervals, free sums over regions, and the forms in
which people of the field take them.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dither.release import Release
from dither.science.maps.fitting import Noises
from dither.science.maps.grids import Cells
from dither.science.maps.places import Box, Place
from dither.text import quantity
from dither.wording import in_html

if TYPE_CHECKING:
    from dither.picture import Picture

__all__ = ["HeatMap"]

Reals = NDArray[np.float64]
DIGITS = 7
"""Of coordinates: a degree's are centimetres."""


@dataclass(frozen=True, eq=False, repr=False)
class HeatMap(Release):
    """Counts of points in the cells of a map, in `value`, with their intervals.

    Sums over regions (`within`), exports and pictures are free: they are made from what
    was released.
    """

    partition: Cells = None  # type: ignore[assignment]
    noises: Noises = None  # type: ignore[assignment]

    @property
    def place(self) -> Place:
        """The public ground."""
        return self.partition.place

    @property
    def bounds(self) -> Box:
        """Its box."""
        return self.place.box

    @property
    def areas(self) -> Reals:
        """The ground that each cell covers: square metres, where the map is on Earth."""
        return self.partition.areas

    def within(self, region: Any) -> Release:
        """How many points lie in a region: (west, south, east, north), or a polygon of
        shapely or GeoJSON in the map's coordinates. Free.

        The value takes points as evenly spread inside of cells that the region cuts.
        The interval does not: it reaches from the cells inside to all cells that are
        touched.
        """
        from dither.science.maps.regions import within

        return within(self, region)

    def total(self) -> Release:
        """How many points lie on the whole map. Free."""
        from dither.science.maps.regions import whole

        return whole(self)

    def _derived(self, **changes: Any) -> Release:
        """Other values are not counts of these cells any more."""
        kept = ("what", "value", "sources", "spread", "keys", "notes", "noise")
        return Release(**{name: getattr(self, name) for name in kept} | changes)

    def to_pandas(self, confidence: float = 0.95) -> Any:
        """A pandas frame: the borders of each cell, its area, count, low and high."""
        from dither.frames import package

        return package("pandas").DataFrame(self.columns(confidence))

    def to_polars(self, confidence: float = 0.95) -> Any:
        """The same as a Polars frame."""
        from dither.frames import package

        return package("polars").DataFrame(self.columns(confidence))

    def to_csv(self, path: str | Path | None = None) -> str | None:
        """The same as CSV text, or a file of it."""
        columns = self.columns()
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        rounded = [np.round(one, DIGITS).tolist() for one in columns.values()]
        writer.writerows(zip(*rounded, strict=True))
        if path is None:
            return text.getvalue()
        Path(path).write_text(text.getvalue(), encoding="utf-8", newline="")
        return None

    def columns(self, confidence: float = 0.95) -> dict[str, Any]:
        """What the frames hold, by column: the cell of the first grid, which part of it
        this is, borders, area, count, low and high.
        """
        low, high = self.interval(confidence)
        names = ("west", "south", "east", "north")
        borders = dict(zip(names, self.partition.borders, strict=True))
        return {
            "cell": self.partition.parent,
            "part": self.partition.places,
            **borders,
            "area": self.areas,
            "count": self.value,
            "low": low,
            "high": high,
        }

    def to_geojson(
        self, path: str | Path | None = None, *, confidence: float = 0.95
    ) -> dict[str, Any] | None:
        """A GeoJSON collection, or a file of it: a polygon for each cell, with count, low
        and high, in longitude and latitude.
        """
        from dither.science.maps.export import to_geojson, written

        return written(to_geojson(self, confidence), path)

    def to_geopandas(self, confidence: float = 0.95) -> Any:
        """A GeoDataFrame in the map's coordinate system: cells, count, low and high."""
        from dither.science.maps.export import to_geopandas

        return to_geopandas(self, confidence)

    def plot(  # type: ignore[override]
        self,
        confidence: float = 0.95,
        *,
        overlay: Any = None,
        title: str | None = None,
        listed: int = 5,
    ) -> Picture:
        """The map as a picture: shades for points per area, a second panel for how wide
        the intervals are, with a scale, a legend and the hottest cells in numbers.

        `overlay` is a public layer, drawn as outlines: a polygon or a line of shapely or
        GeoJSON, a list of them, a GeoDataFrame, or names with such shapes. `listed` is how
        many cells are listed.
        """
        from dither.science.maps.drawing import draw

        return draw(self, confidence, overlay, title, listed)

    def _lines(self) -> list[str]:
        low, high = self.interval()
        total = self.total()
        ends = " to ".join(f"{end:,.0f}" for end in total.interval())
        sure = int(np.sum(low > 0))
        cells = "1 cell" if len(self) == 1 else f"{len(self):,} cells"
        lines = [
            f"heat map of {cells}: {float(total.value):,.0f} counted points "
            f"(95 % interval {ends})",
            f"{quantity(sure, 'cell')} with an interval above 0; the widest interval is "
            f"{float(np.max(high - low)):,.0f} points wide",
        ]
        if total.interval()[0] <= 0:
            axes = "lon, lat" if self.place.system.lonlat else "x, y"
            lines.append(
                f"the map may be empty: are the points {axes} in {self.place.system}, "
                "within bounds?"
            )
        return lines

    def __repr__(self) -> str:
        return f"<HeatMap of {len(self):,} cells>"

    def _repr_html_(self) -> str:
        about = in_html(str(self).splitlines())
        return f"{self.plot().svg()}<br><small>{about}</small>"
