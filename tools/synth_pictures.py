"""Draws the pictures of the page on synthetic tables: `python tools/synth_pictures.py`
writes docs/pictures/synth*.svg, one from a real run and one from bench/results.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # as a script this file knows only its own folder

from bench.synth import page  # noqa: E402
from bench.synth.accuracy import rho_of  # noqa: E402
from bench.synth.data import people  # noqa: E402
from dither.science import synth  # noqa: E402
from tools.pictures import FOLDER, on_paper  # noqa: E402


def errors() -> str:
    """Which pairs of eleven columns are far off at ε = 1."""
    table = people()
    made = synth.mst(table.columns(), domain=table.domain, rho=rho_of(1.0))
    return on_paper(
        made.plot().svg(),
        "Errors of all pairs of eleven columns; most are below 0.1, and the ten pairs "
        "that were measured are framed",
    )


def models() -> str:
    return on_paper(
        page.picture().svg(),
        "Areas under the curve of models by ε: trained on synthetic rows with the "
        "target's pairs first they come close to real rows; on independent columns "
        "they guess",
    )


def main() -> None:
    for name, svg in (("synth_errors", errors()), ("synth_models", models())):
        (FOLDER / f"{name}.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
