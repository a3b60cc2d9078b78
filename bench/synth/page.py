"""Tables of the page on synthetic tables, and its picture, from the results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bench.harness import RESULTS, Row, load
from bench.synth.accuracy import ERROR, FLOOR, OURS, PLAIN, SECONDS, STAR, case_of
from bench.synth.peers import KINDS, PGM, REAL, SAMPLED, SMART_SAMPLED, SMARTNOISE
from dither.axes import Axes, Scale
from dither.picture import Picture, Shape, Text

__all__ = ["picture", "table"]

EPSILONS = (0.1, 1.0, 10.0)
Values = dict[tuple[str, str, str], float | None]


def values(*names: str) -> Values:
    found: Iterable[Row] = (
        row for name in names for row in load(RESULTS / f"{name}.json").rows
    )
    return {(row.case, row.system, row.metric): row.value for row in found}


def table(name: str) -> str:
    """One of the page's tables: accuracy, models or peers."""
    held = values("science_synth", "science_synth_peers")
    return {"accuracy": _accuracy, "models": _models, "peers": _peers}[name](held)


def _written(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rows = [heads, ["---"] * len(heads), *lines]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def _accuracy(held: Values) -> str:
    heads = (
        "two-way error",
        "Dither",
        "independent columns",
        "another sample",
        "CPU-s",
    )
    lines = []
    for name in ("people", "hidden classes"):
        for epsilon in EPSILONS:
            case = case_of(name, epsilon)
            found = (
                held[case, OURS, ERROR],
                held[case, PLAIN, ERROR],
                held[name, FLOOR, ERROR],
                held[case, OURS, SECONDS],
            )
            lines.append([case, *map(_number, found)])
    return _written(heads, lines)


def _models(held: Values) -> str:
    heads = ("AUC", *(f"ε = {epsilon:g}" for epsilon in EPSILONS))
    lines = []
    for kind in KINDS:
        real = _number(held.get((kind, REAL, "AUC")))
        lines.append([f"{kind}, {REAL}", *[real] * 3])
        for system in (STAR, OURS, PLAIN):
            cases = (f"{kind}, ε = {epsilon:g}" for epsilon in EPSILONS)
            found = [held.get((case, system, "AUC")) for case in cases]
            lines.append([f"{kind}, {system}", *map(_number, found)])
    return _written(heads, lines)


def _peers(held: Values) -> str:
    heads = ("", "two-way error", "CPU-s")
    case = case_of("people", 1.0)
    lines = []
    systems = (OURS, STAR, PGM, SAMPLED, SMARTNOISE, SMART_SAMPLED, PLAIN)
    for system in systems:
        found = [held.get((case, system, metric)) for metric in (ERROR, SECONDS)]
        lines.append([system, *map(_number, found)])
    return _written(heads, lines)


def picture() -> Picture:
    """Areas under the curve by ε, a panel for each model."""
    held = values("science_synth_peers")
    shapes: list[Shape] = [
        Text(
            16,
            20,
            "Models trained on synthetic rows, tested on real ones",
            15,
            bold=True,
        )
    ]
    for place, kind in enumerate(KINDS):
        shapes += _panel(held, kind, 70 + 370 * place)
    shapes += _axes(70).legend((REAL, STAR, OURS, PLAIN), left=0, top=278)
    return Picture.of(760, 400, shapes, "Models trained on synthetic rows")


def _axes(left: float) -> Axes:
    return Axes(left, 56, 280, 210, Scale(0.08, 12.5, log=True), Scale(0.45, 0.95))


def _panel(held: Values, kind: str, left: float) -> Iterable[Shape]:
    axes = _axes(left)
    yield Text(left, 46, kind, bold=True)
    yield from axes.frame("ε", "area under the curve")
    real = held[kind, REAL, "AUC"] or 0.0
    yield axes.line((0.08, 12.5), (real, real), 0)
    for style, system in enumerate((STAR, OURS, PLAIN), start=1):
        cases = (f"{kind}, ε = {epsilon:g}" for epsilon in EPSILONS)
        found = [held[case, system, "AUC"] or 0.0 for case in cases]
        yield axes.line(EPSILONS, found, style)
        for epsilon, value in zip(EPSILONS, found, strict=True):
            yield axes.dot(epsilon, value, style)
