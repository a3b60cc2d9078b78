"""Draws the pictures of the pages on genomes and on attacks from real runs: `python
tools/genome_pictures.py` writes docs/pictures/genomes*.svg.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dither.audit import attacks
from dither.science import genomes
from tools.pictures import FOLDER, on_paper


def frequencies() -> str:
    """Two regions that differ."""
    source = np.random.default_rng(7)
    common = source.uniform(0.1, 0.6, 12)
    north = source.binomial(2, common, (600, 12))
    south = source.binomial(2, common + 0.15, (400, 12))
    found = genomes.frequencies(
        np.vstack([north, south]),
        panel=[f"rs{number}" for number in range(100, 112)],
        clusters=["north"] * 600 + ["south"] * 400,
        rho=0.02,
    )
    return on_paper(
        found.plot().svg(),
        "Twelve variants with their allele frequencies in two regions, each with the "
        "whiskers of its 95 % interval; the south lies higher almost everywhere",
    )


def cohort() -> tuple[Any, Any, Any]:
    """People of one population, a coin each, and the population's frequencies."""
    source = np.random.default_rng(11)
    background = source.uniform(0.1, 0.9, 5000)
    table = source.binomial(2, background, (400, 5000)).astype(np.int8)
    return table, source.random(400) < 0.5, background


def membership() -> str:
    table, inside, background = cohort()
    found = genomes.frequencies(
        np.where(inside[:, None], table, np.int8(-1)),
        panel=[f"rs{number}" for number in range(5000)],
        samples=400,
        rho=0.5,
        coarse=True,
    )
    attack = attacks.membership(
        found, table[inside], table[~inside], reference=background
    )
    return on_paper(
        attack.plot().svg(),
        "The curve of a membership attack on released frequencies lies between a coin "
        "and the most that the guarantee allows",
    )


def main() -> None:
    for name, svg in (("genomes", frequencies()), ("genomes_attack", membership())):
        (FOLDER / f"{name}.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
