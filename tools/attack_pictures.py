"""Draws the pictures of the page on attacks from real runs: `python
tools/attack_pictures.py` writes docs/pictures/attack_*.svg.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # as a script

from dither.audit import attacks
from tools.pictures import FOLDER, on_paper

DESCRIBED = {
    "linkage": "The share of people who are singled out grows from almost none by one "
    "column to nearly all by four, and a noisy count stays where it is",
    "background": "A k-anonymous table names more secrets the more the attacker can "
    "exclude, and all if everybody else is known; noisy counts stay below their bound",
    "averaging": "Fresh noise is averaged away after a thousand answers, while a stored "
    "answer and an account that runs empty tell no more than they did at first",
    "homogeneity": "Bars of how often a secret is named rightly from a k-anonymous table "
    "and from noisy counts, beside guessing and what the guarantee allows",
}


def main() -> None:
    for name, words in DESCRIBED.items():
        svg = on_paper(attacks.run(name).svg(), words)
        (FOLDER / f"attack_{name}.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
