"""All systems on the same splits, in turns, and what follows from their scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from statistics import mean, median, stdev
from typing import Any

from bench.fitting.data import MANY, SPLITS, Data
from bench.fitting.systems import ALONE, DELTA, constant, ours, plain
from bench.harness import Row
from bench.peers import Worker
from bench.scripts.estimators_parts import score, split, timed

__all__ = [
    "CONSTANT",
    "CPU",
    "EPSILONS",
    "GAIN",
    "LOOSE",
    "MINE",
    "OTHER",
    "PLAIN",
    "SCORES",
    "TUNED",
    "Cell",
    "cells",
    "rows",
]

EPSILONS = (0.3, 1.0, 3.0)
MINE, LOOSE = "dither", f"dither, δ = {DELTA:g}"
OTHER, TUNED = "diffprivlib", "diffprivlib, best C of 5 by test accuracy"
CONSTANT, PLAIN = "private constant", "scikit-learn, no privacy"
CPU, GAIN, ERROR = "fit, CPU-ms", "gain over", "standard error"
SCORES = {
    "LinearRegression": "R²",
    "Ridge": "R²",
    "KMeans": "adjusted Rand index",
    "PCA": "variance captured by 2 components",
    "StandardScaler": "minus the error of means and deviations, in deviations",
}
"""What a score is; of a classifier it is accuracy."""
SMALL = ("iris", "wine", "breast cancer")
PENALTIES = (0.01, 0.1, 10.0, 100.0)
"""Tried for diffprivlib's logistic regression on small sets, besides its usual 1."""
FEW = 2
"""So many splits without privacy where rows are many."""
FIT_SECONDS, CELL_SECONDS = 3.0, 6.0
"""The most CPU time of a fit of the peer, and of all its fits in one cell."""
Timed = tuple[float, float]


@dataclass
class Cell:
    """One model on one set at one ε: scores and CPU-seconds of each system by split."""

    model: str
    data: str
    epsilon: float
    seen: dict[str, list[Timed]] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)

    @property
    def case(self) -> str:
        return f"{self.model}, {self.data}, ε = {self.epsilon:g}"

    @property
    def metric(self) -> str:
        return SCORES.get(self.model, "accuracy")

    def scores(self, system: str) -> list[float]:
        return [one[0] for one in self.seen.get(system, ())]

    def seconds(self, system: str) -> float | None:
        found = [one[1] for one in self.seen.get(system, ())]
        return median(found) if found else None

    def gain(self, over: str, system: str = MINE) -> tuple[float, float] | None:
        """The mean difference on the splits that both have, and its standard error."""
        pairs = zip(self.scores(system), self.scores(over), strict=False)
        apart = [one - other for one, other in pairs]
        if len(apart) < 2:
            return None
        return mean(apart), stdev(apart) / math.sqrt(len(apart))


def cells(
    model: str, data: Data, path: str, peer: Worker | None, tried: Any = EPSILONS
) -> list[Cell]:
    """Each split in turn, and for each all systems at every ε."""
    found = [Cell(model, data.name, epsilon) for epsilon in tried]
    for number in range(SPLITS):
        parts = split(path, number)
        if number < FEW or data.name not in MANY:
            without = _fitted(model, parts, lambda: plain(model, data))
            for cell in found:
                cell.seen.setdefault(PLAIN, []).append(without)
        for cell in found:
            _own(cell, data, parts)
            if peer is not None and model not in ALONE:
                _other(cell, data, path, peer, number)
    return found


def _fitted(model: str, parts: Any, make: Callable[[], Any]) -> Timed:
    fitted, used = timed(lambda: make().fit(*parts[:2]))
    return score(model, fitted, parts), used


def _own(cell: Cell, data: Data, parts: Any) -> None:
    units = len(parts[0])
    for system, delta in ((MINE, None), (LOOSE, DELTA)):
        make = ours(cell.model, data, units, cell.epsilon, delta=delta)
        found = _fitted(cell.model, parts, lambda make=make: make)  # type: ignore[misc]
        cell.seen.setdefault(system, []).append(found)
    guess = constant(cell.model, data, parts[1], cell.epsilon)
    cell.seen.setdefault(CONSTANT, []).append((score(cell.model, guess, parts), 0.0))


def _other(cell: Cell, data: Data, path: str, peer: Worker, number: int) -> None:
    asked: dict[str, dict[str, float]] = {OTHER: {}}
    if cell.model == "LogisticRegression" and data.name in SMALL:
        asked |= {_penalty(penalty): {"C": penalty} for penalty in PENALTIES}
    for system, how in asked.items():
        held = cell.seen.setdefault(system, [])
        if system in cell.why:
            continue
        found = peer.ask(
            model=cell.model,
            path=path,
            number=number,
            classes=data.classes,
            epsilon=cell.epsilon,
            seconds=FIT_SECONDS,
            how=how,
        )
        if isinstance(found, str):
            cell.why[system] = found
            continue
        held.append((found[0], found[1]))
        if sum(one[1] for one in held) > CELL_SECONDS and number + 1 < SPLITS:
            cell.why[system] = f"its fits took {CELL_SECONDS:g} CPU-seconds"


def _penalty(penalty: float) -> str:
    return f"{OTHER}, C = {penalty:g}"


def rows(cell: Cell) -> Iterator[Row]:
    """Means, standard errors, gains and CPU time of a cell."""
    for system in (MINE, LOOSE, OTHER, CONSTANT, PLAIN):
        yield from _means(cell, system, cell.scores(system))
        seconds = cell.seconds(system)
        if seconds is not None and system != CONSTANT:
            yield Row(cell.case, system, CPU, round(seconds * 1e3, 3))
    tuned = [cell.scores(_penalty(one)) for one in PENALTIES]
    tuned = [one for one in (*tuned, cell.scores(OTHER)) if len(one) == SPLITS]
    if len(tuned) > 1:
        yield from _means(cell, TUNED, max(tuned, key=mean))
    for over in (OTHER, CONSTANT):
        gain = cell.gain(over)
        if gain is not None:
            yield Row(cell.case, MINE, f"{GAIN} {over}", round(gain[0], 4))
            yield Row(cell.case, MINE, f"{GAIN} {over}, {ERROR}", round(gain[1], 4))


def _means(cell: Cell, system: str, scores: list[float]) -> Iterator[Row]:
    if len(scores) > 1:
        spread = stdev(scores) / math.sqrt(len(scores))
        yield Row(cell.case, system, cell.metric, round(mean(scores), 4))
        yield Row(cell.case, system, ERROR, round(spread, 4))
    elif system in cell.why:
        yield Row(cell.case, system, cell.metric, None)
