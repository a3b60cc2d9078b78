"""How often attacks are right about what people publish, and about releases.

Tries of several runs are pooled. A release keeps to its bound if its rate is at most
three standard errors above it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from bench.harness import Goal, Report, Row, at_least, at_most, versions
from dither.audit import attacks

__all__ = ["RUNS", "SUCCESS", "excess", "pooled", "run", "table"]

RUNS: dict[str, tuple[int, Callable[[], attacks.Attack]]] = {
    "homogeneity": (10, attacks.homogeneity),
    "background": (10, attacks.background),
    "linkage": (4, attacks.linkage),
    "differencing": (1, lambda: attacks.differencing(tries=200_000)),
    "averaging": (1, lambda: attacks.averaging(tries=20_000)),
    "subsets": (
        1,
        lambda: attacks.subsets(people=128, tables=8, epsilon=(100, 10, 4, 1)),
    ),
    "blocks": (10, attacks.census_blocks),
    "membership": (30, attacks.frequencies),
    "low-bits": (1, lambda: attacks.low_bits(tries=1_000_000)),
    "exceptions": (1, lambda: attacks.exceptions(tries=400)),
    "timing": (1, attacks.timing),
}
"""How often each attack is run."""

SUCCESS: dict[str, tuple[str, float]] = {
    "homogeneity": ("3-anonymous table, certain", 0.07),
    "background": ("classes, all others known", 1.0),
    "linkage": ("table without names", 0.98),
    "differencing": ("exact counts", 1.0),
    "averaging": ("fresh noise, 1,024 answers", 0.99),
    "subsets": ("errors up to ±2", 0.97),
    "blocks": ("exact tables", 0.9),
    "membership": ("exact frequencies", 0.95),
    "low-bits": ("float noise: not a multiple", 0.2),
    "exceptions": ("noise alone: failed or not", 1.0),
    "timing": ("noise alone: slow or fast", 0.9),
}
"""What is attacked without protection, and the rate that is promised."""

NOTES = (
    "A rate is the share of people, blocks or bits that the attacker names rightly.",
    "Excess: how many standard errors the rate of a release lies above its bound, the "
    "largest of all releases of the attack; below 0 it lies below.",
    "k-anonymous tables are of one study: their rates have no noise, and count once. "
    "People of one study of genomes share its noise: their standard "
    "error is one of independent people.",
    "Time is outside of every guarantee, so that timing has no bound.",
)


def pooled(results: Sequence[attacks.Attack]) -> list[attacks.Rate]:
    """The rates of several runs of one attack together. One without noise that is the
    same again is about the same people, and counts once.
    """
    together: dict[str, attacks.Rate] = {}
    for one in (rate for found in results for rate in found.rates):
        seen = together.get(one.release)
        again = seen is not None and one.bound is None and seen.share == one.share
        if not again:
            together[one.release] = one if seen is None else _sum(seen, one)
    return list(together.values())


def _sum(a: attacks.Rate, b: attacks.Rate) -> attacks.Rate:
    tries = a.tries + b.tries
    values: dict[str, Any] = {"right": a.right + b.right, "tries": tries}
    part = b.tries / tries
    values["guessing"] = (1 - part) * a.guessing + part * b.guessing
    if a.bound is not None and b.bound is not None:
        values["bound"] = (1 - part) * a.bound + part * b.bound
    return replace(a, **values)


def excess(rates: Sequence[attacks.Rate]) -> float | None:
    """Standard errors that the worst release lies above its bound."""
    found = []
    for one in rates:
        if one.bound is not None:
            wide = (one.bound * (1 - one.bound) / one.tries) ** 0.5
            apart = one.share - one.bound
            found.append(apart / wide if wide else apart * one.tries)
    return max(found, default=None)


def _rows(name: str, one: attacks.Rate) -> list[Row]:
    values = {
        "right": one.share,
        "guessing": one.guessing,
        "allowed": one.bound,
        "tries": float(one.tries),
    }
    return [Row(one.release, name, metric, value) for metric, value in values.items()]


def _goals(name: str, rates: Sequence[attacks.Rate]) -> list[Goal]:
    label, least = SUCCESS[name]
    share = next(one.share for one in rates if one.release == label)
    goals = [at_least(f"{name}: right about {label}", least, share)]
    above = excess(rates)
    if above is not None:
        goals.append(
            at_most(f"{name}: standard errors of a release above its bound", 3, above)
        )
    return goals


def table(rows: Sequence[dict[str, Any]]) -> str:
    """For each attack what is not protected, and the release that comes nearest to its
    bound, as a page shows them.
    """
    values: dict[str, dict[str, dict[str, Any]]] = {}
    for row in rows:
        cases = values.setdefault(row["system"], {})
        cases.setdefault(row["case"], {})[row["metric"]] = row["value"]
    lines = [
        "| attack | measured | right | guessing | allowed | tries |",
        "|---|---|---|---|---|---|",
    ]
    for name, cases in values.items():
        label = SUCCESS[name][0]
        rates = {case: _read(case, one) for case, one in cases.items()}
        kept = [one for one in rates.values() if one.bound is not None]
        nearest = max(kept, key=lambda one: excess([one]) or 0.0, default=None)
        others = [one for case, one in rates.items() if case != label]
        shown = (rates[label], nearest or others[-1])
        lines += [_line(name, one) for one in shown]
    return "\n".join(lines) + "\n"


def _read(case: str, one: dict[str, Any]) -> attacks.Rate:
    tries = int(one["tries"])
    right = one["right"] * tries
    return attacks.Rate(case, right, tries, one["guessing"], one["allowed"])


def _line(name: str, one: attacks.Rate) -> str:
    allowed = "no promise" if one.bound is None else f"{one.bound:.1%}"
    cells = f"{one.share:.1%} | {one.guessing:.1%} | {allowed} | {one.tries:,}"
    return f"| `{name}` | {one.release} | {cells} |"


def run() -> Report:
    rows: list[Row] = []
    goals: list[Goal] = []
    for name, (often, attack) in RUNS.items():
        rates = pooled([attack() for _ in range(often)])
        rows += [row for one in rates for row in _rows(name, one)]
        goals += _goals(name, rates)
    installed = versions("dither", "numpy", "duckdb", "scipy")
    return Report(tuple(rows), tuple(goals), NOTES, installed)
