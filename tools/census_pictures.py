"""Draws the pictures of the page on a census from real runs: `python
tools/census_pictures.py` writes docs/pictures/census*.svg.
"""

from __future__ import annotations

from bench.census.reconstruction import TABLES, after, before
from dither.axes import Axes, Scale
from dither.picture import Picture, Text
from tools.pictures import FOLDER, on_paper

COSTS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
TITLE = "Blocks rebuilt with every record"


def reconstruction() -> str:
    """Exact tables, and releases at several costs."""
    exact = before(TABLES)
    sizes = [after(rho) for rho in COSTS]
    known = [after(rho, others=True) for rho in COSTS]
    axes = Axes(64, 40, 400, 280, Scale(COSTS[0], COSTS[-1], log=True), Scale(0, 1))
    lines = [
        axes.line((COSTS[0], COSTS[-1]), (exact.share, exact.share), 0),
        axes.line(COSTS, [one.share for one in sizes], 1),
        axes.line(COSTS, [one.share for one in known], 2),
        axes.line(COSTS, [one.bound or 1.0 for one in known], 3),
    ]
    names = [
        f"exact tables: {exact.share:.0%}",
        "release, sizes known",
        "release, all others known",
        "what the guarantee allows",
    ]
    shapes = [
        *axes.frame("ρ of the release", "share of blocks"),
        *lines,
        *axes.legend(names, left=16, top=44),
        Text(64, 20, TITLE, bold=True),
    ]
    return on_paper(
        Picture.of(488, 380, shapes, TITLE).svg(),
        "Exact tables rebuild most blocks. From releases next to none are rebuilt up to "
        "ρ = 1, and whoever knows all neighbours stays below what the guarantee allows",
    )


def main() -> None:
    path = FOLDER / "census_reconstruction.svg"
    path.write_text(reconstruction(), encoding="utf-8")


if __name__ == "__main__":
    main()
