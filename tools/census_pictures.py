"""Draws the pictures of the page on a census from real runs: `python
tools/census_pictures.py` writes docs/pictures/census*.svg.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.census.reconstruction import LEVELS, TABLES, after, before, made_up
from dither.axes import Axes, Scale
from dither.picture import Picture, Text
from dither.science import census
from tools.pictures import FOLDER, on_paper

COSTS = (0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0)
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


def errors(releases: int = 200) -> tuple[NDArray[Any], dict[bool, NDArray[Any]]]:
    """How many people live in each block, and the mean errors of both tables."""
    blocks, truth, people = made_up()
    size = truth.sum(axis=1)
    found = {one: np.zeros(len(blocks)) for one in (False, True)}
    for _ in range(releases):
        one = census.release(people, levels=LEVELS, keys=blocks, rho=0.05)
        for nonnegative, seen in found.items():
            rows = one.table("block", nonnegative=nonnegative).rows
            seen[:] += ([row[-1] for row in rows] - size) / releases
    return size, found


def bias() -> str:
    size, found = errors()
    edges = (1, 2, 3, 4, 6, 8, 11, 15, 20, 41)
    bins = [(size >= low) & (size < high) for low, high in pairwise(edges)]
    middles = [float(size[chosen].mean()) for chosen in bins]
    axes = Axes(64, 40, 400, 240, Scale(1, 25, log=True), Scale(-3, 3))
    names = ["unbiased table", "non-negative table"]
    lines = [
        axes.line(middles, [float(seen[chosen].mean()) for chosen in bins], style)
        for style, seen in enumerate(found.values())
    ]
    title = "Mean error of a block's total"
    shapes = [
        *axes.frame("people in the block", "mean error"),
        *lines,
        *axes.legend(names, left=220, top=24),
        Text(64, 20, title, bold=True),
    ]
    return on_paper(
        Picture.of(488, 340, shapes, title).svg(),
        "The unbiased table has no error on average, whatever the size of a block. The "
        "non-negative one is too high for small blocks and too low for large ones",
    )


def main() -> None:
    drawn = {"census_reconstruction": reconstruction(), "census_bias": bias()}
    for name, svg in drawn.items():
        (FOLDER / f"{name}.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
