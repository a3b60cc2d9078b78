"""Maps of places that must not be found: where many points lie, and not where one lies."""

from __future__ import annotations

from dither.science.maps.density import HeatMap
from dither.science.maps.heatmap import heatmap
from dither.science.maps.planar import Blurred, blur

__all__ = ["Blurred", "HeatMap", "blur", "heatmap"]
