"""Draws the picture of the page on digits from a real run: `python
tools/training_pictures.py` writes docs/pictures/training_digits.svg.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # as a script this file knows only its own folder

from bench.learn_examples import declared  # noqa: E402
from dither.learn import train  # noqa: E402
from tools.pictures import FOLDER, on_paper  # noqa: E402


def digits() -> str:
    """The page's own run."""
    page = declared("digits")
    private, public = page["sample"](0)
    data = page["opened"](private)
    trained = train(page["model"], data, **page["run"], epsilon=3, public=public)
    return on_paper(
        trained.plot().svg(),
        "Accuracy on public images against the ε that a run would have cost had it "
        "stopped there: it rises steeply at first, and flattens above 0.9",
    )


def main() -> None:
    (FOLDER / "training_digits.svg").write_text(digits(), encoding="utf-8")


if __name__ == "__main__":
    main()
