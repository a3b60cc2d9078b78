"""How often intervals of a census hold the truth."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from bench.harness import Goal, Row
from dither import Budget
from dither.science import census

__all__ = ["coverage", "coverage_goals", "coverage_rows"]

TOWNS: dict[str, tuple[list[tuple[int, int, int]], list[int], bool]] = {
    "1 block": ([(0, 0, 0)], [3], False),
    "2 blocks": ([(0, 0, 0), (0, 0, 1)], [0, 12], False),
    "3 blocks in 2 states": ([(0, 0, 0), (0, 0, 1), (1, 0, 0)], [2, 0, 7], False),
    "40 blocks": (
        [(s, c, b) for s in range(2) for c in range(4) for b in range(5)],
        [3 * (b % 4) for b in range(40)],
        True,
    ),
}
COSTS: tuple[dict[str, float], ...] = (
    {"rho": 4.0},
    {"rho": 0.5},
    {"rho": 0.02},
    {"epsilon": 20.0},
    {"epsilon": 1.0},
    {"epsilon": 0.1},
)


def coverage(releases: int = 150) -> Iterator[tuple[str, list[float], list[float]]]:
    """Shares of intervals that hold the truth, one for each release: of all tables'
    entries, and of unions.
    """
    for name, (blocks, sizes, crossed) in TOWNS.items():
        people = _people(blocks, sizes, crossed)
        keys = dict(
            zip(("state", "county", "block"), zip(*blocks, strict=True), strict=True)
        )
        for exact in ((), ("state",)):
            for cost in COSTS:
                stated = ", ".join(f"{key} = {value:g}" for key, value in cost.items())
                case = f"{name}, {stated}{', exact states' if exact else ''}"
                seen = [
                    _held(_ask(people, keys, crossed, exact, cost), people)
                    for _ in range(releases)
                ]
                tables, unions = zip(*seen, strict=True)
                yield case, list(tables), list(unions)


def _people(
    blocks: list[tuple[int, int, int]], sizes: list[int], crossed: bool
) -> dict[str, list[Any]]:
    lived = [
        block for block, size in zip(blocks, sizes, strict=True) for _ in range(size)
    ]
    people: dict[str, list[Any]] = {
        name: [one[place] for one in lived]
        for place, name in enumerate(("state", "county", "block"))
    }
    if crossed:
        people["sex"] = ["fm"[i % 3 == 0] for i in range(len(lived))]
        people["adult"] = [i % 5 > 0 for i in range(len(lived))]
    return people


def _ask(
    people: dict[str, list[Any]],
    keys: Any,
    crossed: bool,
    exact: tuple[str, ...],
    cost: dict[str, float],
) -> Any:
    more: dict[str, Any] = dict(cost)
    if crossed:
        more["attributes"] = {"sex": ["f", "m"], "adult": [True, False]}
    if exact:
        unit = census.unit("person", invariants=list(exact))
        more["invariants"] = list(exact)
        more["budget"] = Budget(epsilon=1e6, delta=1e-6, unit=unit)
    return census.release(
        people, keys=keys, levels=["state", "county", "block"], **more
    )


def _held(found: Any, people: dict[str, list[Any]]) -> tuple[float, float]:
    """The share of a release's intervals that hold the truth: of tables, of unions."""
    tables = [_shares(found.table(level), people) for level in found.levels]
    blocks = list(zip(*(people[name] for name in found.levels), strict=True))
    random = np.random.default_rng(4)  # allowed: which unions are asked for
    held = []
    for _ in range(3):
        places = (found.geography.path(2, one) for one in range(found.geography.blocks))
        chosen = {place for place in places if random.random() < 0.7}
        if chosen:
            low, high = found.union(sorted(chosen)).interval(0.95)
            held.append(low <= sum(block in chosen for block in blocks) <= high)
    return float(np.mean(tables)), float(np.mean(held)) if held else 1.0


def _shares(table: Any, people: dict[str, list[Any]]) -> float:
    names = table.columns[:-1]
    truth = Counter(zip(*(people[name] for name in names), strict=True))
    cells = table.cells(0.95)
    held = [
        low <= truth[row[:-1]] <= high
        for row, (*_, (low, high)) in zip(table.rows, cells, strict=True)
    ]
    return float(np.mean(held))


def coverage_rows(seen: list[tuple[str, list[float], list[float]]]) -> Iterator[Row]:
    for case, tables, unions in seen:
        for what, shares in (("tables", tables), ("unions", unions)):
            value = round(float(np.mean(shares)), 4)
            yield Row(case, "dither", f"{what}: intervals hold", value)


def coverage_goals(seen: list[tuple[str, list[float], list[float]]]) -> Iterator[Goal]:
    """At least 95 % in each case, up to four standard errors."""
    for place, what in ((1, "tables"), (2, "unions")):
        worst, where, met = 1.0, "", True
        for one in seen:
            shares = np.array(one[place])
            error = float(shares.std(ddof=1)) / math.sqrt(shares.size)
            met = met and float(shares.mean()) + 4 * error >= 0.95
            if shares.mean() < worst:
                worst, where = float(shares.mean()), one[0]
        name = f"{what}: intervals hold the truth, worst case ({where})"
        yield Goal(name, "0.95 less four standard errors", round(worst, 4), met)
