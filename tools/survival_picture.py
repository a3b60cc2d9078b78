"""Draws the picture of the page on survival from a real run: `python
tools/survival_picture.py` writes docs/pictures/trials_survival.svg.
"""

from __future__ import annotations

import numpy as np

from dither.science import trials
from tools.pictures import FOLDER, on_paper


def curves() -> str:
    """Two arms of 300 people, followed for a year."""
    source = np.random.default_rng(7)
    drug = np.arange(600) < 300
    weeks = source.exponential(np.where(drug, 80.0, 40.0))
    lost = source.uniform(0, 120, 600)
    found = trials.kaplan_meier(
        np.minimum(weeks, lost),
        weeks <= lost,
        edges=range(0, 53, 4),
        groups=np.where(drug, "drug", "placebo"),
        arms=("drug", "placebo"),
        sizes=(300, 300),
        censoring="evenly",
        epsilon=1,
    )
    return on_paper(
        found.plot().svg(),
        "Two survival curves in steps of four weeks with bands, and the noisy numbers at "
        "risk below; the drug's lies higher from the first months on",
    )


def main() -> None:
    (FOLDER / "trials_survival.svg").write_text(curves(), encoding="utf-8")


if __name__ == "__main__":
    main()
