"""How often printed intervals hold the truth: of counts by one column and by two, and
of the errors in the report.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np

from bench.harness import Goal, Row
from bench.synth.data import Table, classes
from bench.synth.measures import distance
from dither.science import synth

__all__ = ["coverage", "goals", "rows"]

TABLES = 300
Held = dict[str, list[float]]
COSTS: tuple[dict[str, Any], ...] = ({"rho": 0.05}, {"epsilon": 1.0}, {"epsilon": 0.05})
NOTES = (
    f"Coverage is the share of 95 % intervals that hold the truth, over {TABLES} tables "
    "each; intervals of one table share it, so standard errors are over tables.",
)


def populations() -> dict[str, tuple[Table, dict[str, Any]]]:
    small = classes(600, 5)
    few = Table(small.names[:5], small.sizes[:5], small.codes[:, :5])
    return {
        "600 rows": (few, {}),
        "no rows": (few.part(slice(0)), {}),
        "one row": (few.part(slice(1)), {}),
        "three rows of each owner": (few, {"owner": np.arange(600) // 3, "rows": 3}),
    }


def coverage(tables: int = TABLES) -> dict[str, Held]:
    found: dict[str, Held] = {}
    for name, (table, more) in populations().items():
        for cost in COSTS:
            stated = ", ".join(f"{key} = {value:g}" for key, value in cost.items())
            seen: Held = defaultdict(list)
            for _ in range(tables):
                made = synth.mst(table.columns(), domain=table.domain, **cost, **more)
                _add(seen, table, made)
            found[f"{name}, {stated}"] = seen
    return found


def _add(seen: Held, table: Table, made: synth.Synthetic) -> None:
    names = table.names
    seen["counts of a column"].append(_counts(table, made, (0,), (names[0],)))
    first, second = (names.index(one) for one in made.edges[0])
    pair = _counts(table, made, (first, second), made.edges[0])
    seen["counts of a pair"].append(pair)
    seen["errors of the report"].append(_errors(table, made))


def _counts(
    table: Table, made: synth.Synthetic, places: tuple[int, ...], names: Any
) -> float:
    sizes = [table.sizes[place] for place in places]
    cell = np.zeros(len(table), np.int64)
    for place, size in zip(places, sizes, strict=True):
        cell = cell * size + table.codes[:, place]
    truth = np.bincount(cell, minlength=math.prod(sizes))
    low, high = made.marginal(*names)["count"].interval()
    return float(np.mean((low <= truth) & (truth <= high)))


def _errors(table: Table, made: synth.Synthetic) -> float:
    """Of an empty table no shares are known, and no error."""
    held = []
    for one in made.report().errors if len(table) else ():
        places = tuple(table.names.index(name) for name in one.columns)
        assert one.low is not None
        assert one.high is not None
        truth = distance(table, made.codes, places)
        held.append(one.low - 1e-9 <= truth <= one.high + 1e-9)
    return float(np.mean(held)) if held else 1.0


def rows(found: dict[str, Held]) -> Iterator[Row]:
    for case, seen in found.items():
        for what, shares in seen.items():
            metric = f"{what}: intervals hold"
            yield Row(case, "dither", metric, round(float(np.mean(shares)), 4))


def goals(found: dict[str, Held]) -> Iterator[Goal]:
    """At least 95 % in each case, up to four standard errors."""
    for what in ("counts of a column", "counts of a pair", "errors of the report"):
        worst, where, met = 1.0, "", True
        for case, seen in found.items():
            shares = np.array(seen[what])
            error = float(shares.std(ddof=1)) / math.sqrt(shares.size)
            met = met and float(shares.mean()) + 4 * error >= 0.95
            if shares.mean() < worst:
                worst, where = float(shares.mean()), case
        name = f"{what}: intervals hold the truth, worst case ({where})"
        yield Goal(name, "0.95 less four standard errors", round(worst, 4), met)
