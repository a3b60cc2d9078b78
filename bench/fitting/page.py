"""Tables of the page on estimators, and its picture, from the results."""

from __future__ import annotations

import math
from collections.abc import Iterator

from bench.fitting.compare import (
    CONSTANT,
    EPSILONS,
    LOOSE,
    MINE,
    OTHER,
    PLAIN,
    SCORES,
)
from bench.fitting.systems import MODELS
from bench.harness import RESULTS, load
from dither.axes import Axes, Scale
from dither.picture import Picture, Shape, Text

__all__ = ["picture", "table"]

SHOWN = {
    "LogisticRegression": "digits",
    "GaussianNB": "digits",
    "RandomForestClassifier": "digits",
    "ExplainableBoostingClassifier": "breast cancer",
    "LinearRegression": "diabetes",
    "Ridge": "diabetes",
    "KMeans": "iris",
    "PCA": "breast cancer",
}
"""The set that the picture shows for each model."""
CURVES = (PLAIN, LOOSE, MINE, OTHER)
NAMED = (PLAIN, LOOSE, f"{MINE}, pure ε", f"{OTHER}, pure ε")
SHORT = {"KMeans": "adjusted Rand index", "PCA": "variance captured"}
Values = dict[tuple[str, str, str], float | None]


def values() -> Values:
    found = load(RESULTS / "estimators.json").rows
    return {(row.case, row.system, row.metric): row.value for row in found}


def score(held: Values, model: str, name: str, epsilon: float, system: str) -> float:
    case = f"{model}, {name}, ε = {epsilon:g}"
    found = held.get((case, system, SCORES.get(model, "accuracy")))
    return float("nan") if found is None else found


def table(model: str) -> str:
    """Scores of a model on each set: pure ε, with δ, and diffprivlib's."""
    if model == "search":
        return _search()
    if model == "objective":
        return _objective()
    held = values()
    heads = [SCORES.get(model, "accuracy"), "no privacy"]
    heads += [f"ε = {epsilon:g}" for epsilon in EPSILONS] + ["constant, ε = 1"]
    lines = [heads, ["---"] * len(heads)]
    for name in MODELS[model]:
        cells = [_number(score(held, model, name, 1.0, PLAIN))]
        for epsilon in EPSILONS:
            three = (
                score(held, model, name, epsilon, system)
                for system in (MINE, LOOSE, OTHER)
            )
            cells.append(" · ".join(map(_number, three)))
        constant = _number(score(held, model, name, 1.0, CONSTANT))
        lines.append([name, *cells, constant])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _search() -> str:
    held = values()
    metrics = ("gain over defaults", "gain over defaults, standard error")
    lines = [["search", "defaults", "search", "gain", "its standard error"]]
    lines.append(["---"] * 5)
    for case, system, metric in held:
        if metric == "score" and system == "defaults":
            gain, error = (held[case, "search", name] for name in metrics)
            both = held[case, "defaults", "score"], held[case, "search", "score"]
            found = [_number(one) for one in (*both, gain, error)]
            lines.append([case.removeprefix("search, "), *found])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _objective() -> str:
    """Pure logistic regression beside objective perturbation."""
    rows = load(RESULTS / "estimators_objective.json").rows
    lines = [["pure ε", "LogisticRegression", "objective perturbation", "gain"]]
    lines[0].append("its standard error")
    lines.append(["---"] * 5)
    for case in dict.fromkeys(row.case for row in rows):
        found = [_number(row.value) for row in rows if row.case == case]
        lines.append([case, *found])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _number(value: float | None) -> str:
    return "–" if value is None or math.isnan(value) else f"{value:.3g}"


WIDTH, HEIGHT = 165, 140
NUMBERS = ("LinearRegression", "Ridge")


def picture() -> Picture:
    """Scores by ε, a panel for each model."""
    held = values()
    shapes: list[Shape] = [
        Text(16, 22, "Scores on rows that a fit has not seen, by ε", 15, bold=True)
    ]
    for place, model in enumerate(SHOWN):
        left = 62 + 240 * (place % 4)
        shapes += _panel(held, model, left, 76 + 250 * (place // 4))
    shapes += _axes(62, 76, (0, 1)).legend(NAMED, left=0, top=460)
    return Picture.of(1010, 620, shapes, "Scores of estimators by ε")


def _axes(left: float, top: float, ends: tuple[float, float]) -> Axes:
    return Axes(left, top, WIDTH, HEIGHT, Scale(0.25, 3.6, log=True), Scale(*ends))


def _panel(held: Values, model: str, left: float, top: float) -> Iterator[Shape]:
    """Curves of one model; one that leaves the frame is left out."""
    name = SHOWN[model]
    ends = (-0.4, 0.6) if model in NUMBERS else (0.0, 1.0)
    axes = _axes(left, top, ends)
    metric = SHORT.get(model, SCORES.get(model, "accuracy"))
    yield Text(left, top - 24, model, bold=True)
    yield Text(left, top - 8, f"{name}: {metric}")
    yield from axes.frame("ε", "", {one: f"{one:g}" for one in EPSILONS})
    for style, system in enumerate(CURVES):
        found = [score(held, model, name, epsilon, system) for epsilon in EPSILONS]
        if all(ends[0] <= one <= ends[1] for one in found):
            yield axes.line(EPSILONS, found, style)
            for epsilon, value in zip(EPSILONS, found, strict=True):
                yield axes.dot(epsilon, value, style)
