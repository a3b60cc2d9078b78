"""Draws the picture of the page on estimators from bench/results: `python
tools/estimator_pictures.py` writes docs/pictures/estimators.svg.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # as a script this file knows only its own folder

from bench.fitting import page  # noqa: E402
from tools.pictures import FOLDER, on_paper  # noqa: E402


def main() -> None:
    said = (
        "Scores of eight estimators by ε: with more ε they come close to those without "
        "privacy, sooner with a δ, and are above those of diffprivlib"
    )
    svg = on_paper(page.picture().svg(), said)
    (FOLDER / "estimators.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
