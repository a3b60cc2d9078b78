"""Five hospitals that trust no server: accuracy at three ε, beside each hospital alone and
a model without privacy on all records together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, redirect_stdout
from io import StringIO
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import torch

from bench.examples.page import ERROR, MEAN, case_of
from bench.harness import Goal, Report, Row, at_least, versions
from dither.learn import hospitals

PAGE = Path(__file__).resolve().parents[1] / "docs" / "hospitals.md"
CODE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
RUNS = 20
EPSILONS = (1.0, 3.0, 8.0)
POOLED = "without privacy, all records in one place"
TOGETHER = "together, ε = {:g}"
OWN = "each hospital alone, ε = {:g}: on its own patients"
ELSEWHERE = "each hospital alone, ε = {:g}: on all patients"
NOTES = (
    "Each run has other patients. The code is that of the page, block by block.",
    "Rounds, steps, rate and radius were tried on one of these runs before; alone, a "
    "hospital has the same ones.",
    "Alone, on its own patients: visits of all hospitals, each scored by the model of "
    "its own hospital. On all patients: the mean of five models.",
)
Names = dict[str, Any]
Seen = dict[str, list[float]]


def declared() -> Names:
    """What the page declares: its blocks that print nothing."""
    names: Names = {"__name__": "__docs__"}
    text = PAGE.read_text(encoding="utf-8")
    with redirect_stdout(StringIO()):
        for code in CODE.findall(text):
            if "print(" not in code:
                exec(code, names)
    return names


def accuracies(names: Names, number: int) -> Iterator[tuple[str, float]]:
    """What is right on public visits after one run of each kind."""
    private, public = names["sample"](number)
    right, everybody = names["accuracy"], list(public.values())
    yield POOLED, right(names["ordinary"](private.values()), everybody)
    for epsilon in EPSILONS:
        yield (
            TOGETHER.format(epsilon),
            right(together(names, private, epsilon), everybody),
        )
        models = {
            name: names["alone"](name, frame, epsilon)
            for name, frame in private.items()
        }
        sizes = {name: len(frame) for name, frame in public.items()}
        own = sum(
            sizes[name] * right(model, [public[name]]) for name, model in models.items()
        )
        yield OWN.format(epsilon), own / sum(sizes.values())
        away = [right(model, everybody) for model in models.values()]
        yield ELSEWHERE.format(epsilon), mean(away)


def together(names: Names, private: Names, epsilon: float) -> Any:
    """The model of all hospitals. Their datasets are closed: each holds a database."""
    with ExitStack() as stack:
        members = [
            names["hospital"](
                name, stack.enter_context(names["opened"](name, frame, budget=40.0))
            )
            for name, frame in private.items()
        ]
        asked = {"epsilon": epsilon, "patients": "in one hospital", **names["run"]}
        return hospitals.train(names["network"](), members, **asked).value


def measured(runs: int = RUNS) -> Iterator[Row]:
    """Means over all runs, and their standard errors."""
    names, seen = declared(), Seen()
    for number in range(runs):
        for system, value in accuracies(names, number):
            seen.setdefault(system, []).append(value)
    yield from rows_of(seen)


def rows_of(seen: Seen) -> Iterator[Row]:
    for system, values in seen.items():
        yield Row(case_of("hospitals"), system, MEAN, round(mean(values), 5))
        error = stdev(values) / len(values) ** 0.5
        yield Row(case_of("hospitals"), system, ERROR, round(error, 5))


def goals(rows: list[Row]) -> Iterator[Goal]:
    """Together is near a model without privacy, and better than alone elsewhere."""
    held = {row.system: row.value or 0.0 for row in rows if row.metric == MEAN}
    for epsilon in EPSILONS:
        found = held[TOGETHER.format(epsilon)]
        part = found / held[POOLED]
        yield at_least(
            f"ε = {epsilon:g}: part of what is right without privacy", 0.97, part
        )
        gain = found - held[ELSEWHERE.format(epsilon)]
        yield at_least(f"ε = {epsilon:g}: gain over a hospital alone", 0.0, gain)


def run() -> Report:
    torch.set_num_threads(1)
    rows = list(measured())
    kept = versions("torch", "numpy")
    return Report(tuple(rows), tuple(goals(rows)), NOTES, kept)
