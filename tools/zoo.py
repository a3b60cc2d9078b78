"""Writes docs/training-zoo.md, what happens to models that people have, from the models
that the tests train: `python tools/zoo.py`.

The tests hold each model to the words that the page shows, and the page to the models.
"""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # as a script

from tests.learn.zoo.every import ZOO
from tests.learn.zoo.made import ALONE, REFUSED, TRACED, Model
from tools import pages as made

TOOL, PAGE = "tools/zoo.py", "training-zoo.md"
TITLE = "Models that train"
INTRODUCTION = """\
Small forms of the models that people train, and what [`dither.learn.train`](training.md) does with each of them. Ask
`dither.learn.preview(model, …)` about your own: it prints one of these, tries the model on made-up rows only, and spends
nothing.

| what happens | how many | what it means |
|---|---|---|
"""
MEANINGS = {
    TRACED: "The model is traced once, for one made-up row. The trace then runs for many "
    "rows at once. This is about as fast as training without privacy.",
    ALONE: "The model cannot be traced. It sees each row as a batch of one row. This is "
    "slow, and no row can change another one.",
    REFUSED: "Before anything is charged: the rows of a batch change each other, and a "
    "model that sees each row alone would be another one.",
}
KINDS = {
    "tables": ("Tables", ""),
    "images": ("Convolutions", ""),
    "sequences": ("Sequences", ""),
    "texts": ("Words and attention", ""),
    "tricks": (
        "Tricks",
        "Models in which rows meet, in which values decide what is computed, or that have "
        "draws and gradients of their own.",
    ),
}
TRIED = """\
The tests of the project run each model that is not refused. They compare the clipped sums with those of one row at a time.
Then they add one unit and measure how far the sums move. Its numbers are all −1, 0, 10⁸, 3·10³⁸, missing or infinite; its
ids are the largest, or have no line in the embedding; its label is not a class. The sums never move by more than the
clipping norm. Among the other rows are some with −1 for missing values, some of padding only, and some with large
numbers. [The proof](proofs/training.md) does not depend on these rows.
"""


def pages() -> made.Pages:
    parts = [INTRODUCTION.rstrip() + "\n" + _meanings()]
    for kind, models in groupby(ZOO, key=lambda one: one.kind):
        title, words = KINDS[kind]
        parts.append(f"## {title}")
        parts += [words] if words else []
        parts.append(_table(list(models)))
    parts += ["## How it is tested", TRIED]
    return {PAGE: made.page(TOOL, TITLE, *parts)}


def _meanings() -> str:
    happens = [one.expected for one in ZOO]
    lines = [
        f"| {one} | {happens.count(one)} | {said} |" for one, said in MEANINGS.items()
    ]
    return "\n".join(lines)


def _table(models: list[Model]) -> str:
    lines = ["| model | what happens | why |", "|---|---|---|"]
    lines += [
        f"| {made.cell(one.name)} | {one.expected} | {_why(one)} |" for one in models
    ]
    return "\n".join(lines)


def _why(model: Model) -> str:
    return made.cell(model.reason or model.note)


if __name__ == "__main__":
    made.write(pages())
