"""What a search costs beside its theorem, and what it gains over the defaults."""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import mean, stdev
from typing import Any

import numpy as np
import torch

from bench.fitting.data import SPLITS, Data
from bench.fitting.systems import DELTA, ours
from bench.harness import Goal, Row, at_least, at_most
from bench.scripts.estimators_parts import score, split
from dither.learn import GridSearch
from dither.learn import search as search_runs
from dither.learn.estimators.data import source_of

__all__ = ["SEARCHED", "gains", "theorem", "training_gains"]

SEARCHED: tuple[tuple[str, str, dict[str, list[Any]]], ...] = (
    ("LogisticRegression", "digits", {"max_iter": [5, 10, 20, 40, 80, 160]}),
    ("Ridge", "diabetes", {"alpha": [0.1, 1.0, 10.0, 100.0]}),
)
EPSILONS = (1.0, 3.0)
ETA, CANDIDATES = 1.0, 6
TENTH = 10
RATES = (0.01, 0.1, 0.5, 2.0, 8.0, 32.0)
"""Rates from far too small to far too large, as nobody knows the right one before."""


def gains(model: str, grid: dict[str, list[Any]], data: Data, path: str) -> list[Row]:
    """A search with private and with public scores beside the defaults, at the same ε and
    δ in all. Public rows are a tenth of the training rows, and the defaults see them too.
    """
    found: list[Row] = []
    for epsilon in EPSILONS:
        usual, private, public = [], [], []
        for number in range(SPLITS):
            parts = split(path, number)
            rows, targets = parts[:2]
            default = ours(model, data, len(rows), epsilon, delta=DELTA)
            usual.append(score(model, default.fit(rows, targets), parts))
            search = _search(model, data, len(rows), grid, epsilon)
            private.append(score(model, search.fit(rows, targets), parts))
            seen = len(rows) // TENTH
            search = _search(model, data, len(rows) - seen, grid, epsilon)
            search.set_params(public=(rows[:seen], targets[:seen]))
            public.append(score(model, search.fit(rows[seen:], targets[seen:]), parts))
        case = f"search, {model}, {data.name}, ε = {epsilon:g}, δ = {DELTA:g}"
        found += _rows(case, usual, private)
        found += _rows(f"{case}, public scores", usual, public)
    return found


def training_gains(path: str, splits: int = SPLITS) -> list[Row]:
    """A search over learning rates of `train` beside one rate taken blindly: training has
    no default. Both cost the same; a tenth of the training rows is public.
    """
    found: list[Row] = []
    for epsilon in EPSILONS:
        blind, searched = [], []
        for number in range(splits):
            parts = split(path, number)
            rate = RATES[number % len(RATES)]
            blind.append(_trained(parts, {"lr": [rate]}, epsilon))
            searched.append(_trained(parts, {"lr": list(RATES)}, epsilon))
        case = f"search, train, digits, ε = {epsilon:g}, δ = {DELTA:g}, public scores"
        found += _rows(f"{case}, beside a rate taken blindly", blind, searched)
    return found


def _trained(parts: Any, grid: dict[str, list[Any]], epsilon: float) -> float:
    """The accuracy of a linear model on the rows for the test."""
    rows = torch.from_numpy(np.asarray(parts[0], np.float32))
    targets = torch.from_numpy(np.asarray(parts[1], np.int64))
    seen = len(rows) // TENTH
    best = search_runs(
        torch.nn.Linear(rows.shape[1], 10),
        (rows[seen:], targets[seen:]),
        grid,
        public=(rows[:seen], targets[:seen]),
        loss=torch.nn.functional.cross_entropy,
        owner="row",
        units=len(rows) - seen,
        epochs=20,
        batch=256,
        epsilon=epsilon,
        delta=DELTA,
    )
    with torch.no_grad():
        tested = torch.from_numpy(np.asarray(parts[2], np.float32))
        predicted = best.value(tested).argmax(1).numpy()
    return float(np.mean(predicted == parts[3]))


def _search(
    model: str, data: Data, units: int, grid: dict[str, list[Any]], epsilon: float
) -> GridSearch:
    inner = ours(model, data, units, None)
    return GridSearch(inner, grid, epsilon=epsilon, delta=DELTA)


def _rows(case: str, usual: list[float], searched: list[float]) -> Iterator[Row]:
    apart = [one - other for one, other in zip(searched, usual, strict=True)]
    error = stdev(apart) / math.sqrt(len(apart))
    yield Row(case, "defaults", "score", round(mean(usual), 4))
    yield Row(case, "search", "score", round(mean(searched), 4))
    yield Row(case, "search", "gain over defaults", round(mean(apart), 4))
    yield Row(case, "search", "gain over defaults, standard error", round(error, 4))


def theorem(data: Data, path: str) -> Iterator[Goal]:
    """The promised ε of a search is between the loss of the worst run, by the law of the
    best of a geometric number, and theorem 2 of Papernot & Steinke 2022: (2 + η)·ε of a
    run.
    """
    inputs, targets = split(path, 0)[:2]
    grid = {"max_iter": list(range(1, CANDIDATES + 1))}
    inner = ours("LogisticRegression", data, len(inputs), None)
    search = GridSearch(inner, grid, epsilon=1, eta=ETA)
    plan: Any = search._asked(source_of(inputs, targets, None)).plan
    run, repetitions = plan.way.run.epsilon, plan.way.repetitions
    promised = plan.guarantee.epsilon
    yield at_most("search: promised ε beside the stated one", 1.0, promised)
    goal = "search: promised ε beside (2 + η)·ε of a run, theorem 2 of its paper"
    yield at_most(goal, 1.0, round(promised / ((2 + ETA) * run), 6))
    goal = "search: promised ε beside the loss of the worst run, computed anew"
    shown = largest_loss(run, 1 / repetitions.mean)
    yield at_least(goal, 1.0, promised / shown)
    yield at_most(f"{goal}, not more", 1.0001, round(promised / shown, 6))


def largest_loss(epsilon: float, gamma: float) -> float:
    """Of runs that promise ε: the largest log ratio of densities of the best output, of a
    geometric number of runs of mean 1/γ. A run ranks below an output with chance `below`
    on one dataset and `above` on its neighbour.
    """
    below = np.linspace(0, 1, 200_001)
    above = np.minimum(below * math.exp(epsilon), 1 - (1 - below) * math.exp(-epsilon))
    slopes = (1 - (1 - gamma) * below) / (1 - (1 - gamma) * above)
    return epsilon + (1 + ETA) * math.log(float(slopes.max()))
