"""Models of the pages on training: accuracy at three ε, beside the same models without
privacy and the commonest class.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from bench.examples.page import (
    COMMONEST,
    ERROR,
    MEAN,
    NAMES,
    ORDINARY,
    case_of,
    private_of,
)
from bench.harness import Goal, Report, Row, at_least, versions

DOCS = Path(__file__).resolve().parents[1] / "docs"
CODE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
SPENDING = re.compile(r"learn\.(train|preview)|^\S.*\btrained\.|\.sql\(", re.MULTILINE)
"""Blocks of a page that train, ask or look at it; others declare what is used here.
Functions may name the release, which is there when they are called.
"""
RUNS = 20
EPSILONS = (1.0, 3.0, 8.0)
USUAL = 3.0
ENOUGH = 40.0
"""An account that is large enough for each of these runs."""
NEAR = 0.8
NOTES = (
    "Each run has other records: a split of the digits, or people made up anew. The "
    "code is that of the pages, block by block.",
    "Settings were tried on a few of these runs before; those of digits on their test "
    "images, which is a little too good.",
)
Names = dict[str, Any]


def linear() -> Any:
    """A model with fewer numbers to learn than the page's."""
    from torch import nn

    return nn.Linear(64, 10)


OTHERS: dict[str, dict[str, tuple[Callable[[], Any] | None, Names]]] = {
    "digits": {
        f"{private_of(1)}, a linear model": (linear, {"epsilon": 1, "lr": 0.05}),
        f"{private_of(3)}, batches of 70": (None, {"batch": 70}),
        f"{private_of(3)}, `clip=10`": (None, {"clip": 10.0}),
    }
}
"""Other settings that a page speaks about."""


def declaring(name: str) -> list[str]:
    """The blocks of a page that spend nothing."""
    text = (DOCS / f"training-{name}.md").read_text(encoding="utf-8")
    return [code for code in CODE.findall(text) if not SPENDING.search(code)]


def declared(name: str) -> Names:
    """What a page declares, with starting weights of its own."""
    names: Names = {"__name__": "__docs__"}
    with redirect_stdout(StringIO()):
        for code in declaring(name):
            exec(code, names)
    names["budget"] = (ENOUGH, names["budget"][1])
    return names


def accuracies(name: str, number: int) -> Iterator[tuple[str, float]]:
    """What is right on public records after one run of each kind."""
    from dither.learn import train

    names = declared(name)
    private, public = names["sample"](number)

    def right(model: Any = None, epsilon: float = USUAL, **other: Any) -> float:
        start = names["model"] if model is None else model
        settings = names["run"] | other
        data = names["opened"](private)
        trained = train(start, data, **settings, epsilon=epsilon)
        names["trained"] = trained  # it reads the page's frames
        return float(names["accuracy"](trained.value, public))

    found = [(private_of(epsilon), right(epsilon=epsilon)) for epsilon in EPSILONS]
    yield COMMONEST, _commonest(public, names["run"]["target"])
    yield ORDINARY, names["accuracy"](names["ordinary"](private), public)
    yield from found
    for system, (make, other) in OTHERS.get(name, {}).items():
        yield system, right(None if make is None else make(), **other)


def _commonest(public: Any, target: str) -> float:
    return float(public[target].value_counts(normalize=True).max())


def measured(name: str, runs: int = RUNS) -> Iterator[Row]:
    """Means over all runs, and their standard errors."""
    seen: dict[str, list[float]] = {}
    for number in range(runs):
        for system, value in accuracies(name, number):
            seen.setdefault(system, []).append(value)
    for system, values in seen.items():
        case, error = case_of(name), stdev(values) / len(values) ** 0.5
        yield Row(case, system, MEAN, round(mean(values), 5))
        yield Row(case, system, ERROR, round(error, 5))


def goals(rows: list[Row]) -> Iterator[Goal]:
    held = {(row.case, row.system): row.value for row in rows if row.metric == MEAN}
    for name in NAMES:
        wanted = (COMMONEST, ORDINARY, private_of(USUAL))
        low, high, found = (held[case_of(name), one] or 0.0 for one in wanted)
        said = f"{case_of(name)}, ε = {USUAL:g}: part of what an ordinary model gains"
        yield at_least(said, NEAR, (found - low) / (high - low))


def run() -> Report:
    import torch

    torch.set_num_threads(1)
    rows = [row for name in NAMES for row in measured(name)]
    kept = versions("torch", "scikit-learn", "numpy")
    return Report(tuple(rows), tuple(goals(rows)), NOTES, kept)
