"""What is imported, and when."""

from __future__ import annotations

import subprocess
import sys

PLAIN = """
import sys
from dither.science import maps
found = maps.heatmap([(0.5, 0.5)], bounds=(0, 0, 1, 1), epsilon=1)
found.plot().svg(); found.within((0, 0, 0.5, 1)); found.to_geojson(); str(found)
maps.blur([(0.5, 0.5)], bounds=(0, 0, 1, 1), epsilon=1, radius=100)
heavy = ("geopandas", "numba", "pandas", "PIL", "pyproj", "scipy", "shapely")
print([name for name in heavy if name in sys.modules])
"""


def test_boxes_in_longitude_and_latitude_need_numpy_only() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PLAIN],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"
