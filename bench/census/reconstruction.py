"""Rebuilding the people of blocks from exact tables, and from a release of them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from bench.harness import Goal, Row, at_least, at_most
from dither.audit import attacks
from dither.science import census

__all__ = ["ATTRIBUTES", "PRIOR", "TABLES", "after", "before", "reconstruction"]

LEVELS = ("state", "county", "tract", "block")
ATTRIBUTES = {
    "sex": ["f", "m"],
    "age": ["0-17", "18-29", "30-49", "50-64", "65+"],
    "group": ["a", "b", "c", "d"],
}
RECODES = {"adult": ("age", [False, True, True, True, True])}
TABLES: list[Any] = [("sex", "age"), ("sex", "group"), ("age", "group")]
FEWER: list[Any] = [("sex", "age"), ("sex", "group"), ("adult", "group")]
PRIOR = np.einsum(
    "i,j,k->ijk", [0.49, 0.51], [0.22, 0.16, 0.27, 0.18, 0.17], [0.62, 0.18, 0.14, 0.06]
)
COSTS = (0.05, 0.5, (542 / 339) ** 2, 10.0)
"""The last but one is what the persons of the Census 2020 redistricting data cost."""
DELTA = 1e-6
RELEASES = 10


@cache
def made_up(blocks: int = 1000) -> tuple[list[tuple[int, ...]], Any, dict[str, Any]]:
    """A list of blocks, how many people each has in each cell, and the people. Records
    are draws from the prior, so that guessing is what it says.
    """
    source = np.random.default_rng(20)  # allowed: made-up people
    places = np.arange(blocks)
    listed = np.stack([places // 250, places // 50, places // 10, places], axis=1)
    sizes = np.minimum(source.geometric(0.16, blocks), 40)
    truth = np.array([source.multinomial(size, PRIOR.ravel()) for size in sizes])
    block, cell = (
        one.repeat(truth.ravel()) for one in np.indices(truth.shape).reshape(2, -1)
    )
    codes = np.unravel_index(cell, PRIOR.shape)
    people: dict[str, Any] = dict(zip(LEVELS, listed[block].T, strict=True))
    for (name, labels), code in zip(ATTRIBUTES.items(), codes, strict=True):
        people[name] = [labels[one] for one in code]
    return [tuple(line) for line in listed.tolist()], truth, people


def before(wanted: list[Any]) -> attacks.Reconstruction:
    """The attack on exact tables."""
    _, truth, _ = made_up()
    shown = attacks.tables(truth, wanted, attributes=ATTRIBUTES, recodes=RECODES)
    return attacks.reconstruction(
        shown, truth, attributes=ATTRIBUTES, recodes=RECODES, prior=PRIOR
    )


def after(rho: float, *, others: bool = False) -> attacks.Reconstruction:
    """The attack on a release, by whoever knows how many live in each block, or all
    people of each block but one.
    """
    listed, truth, people = made_up()
    found = census.release(
        people,
        levels=LEVELS,
        keys=listed,
        attributes=ATTRIBUTES,
        invariants=["state"],
        rho=rho,
    )
    return attacks.reconstruction(found, truth, prior=PRIOR, others=others)


def reconstruction() -> tuple[list[Row], list[Goal]]:
    """Rows and goals: shares of blocks rebuilt exactly, before and after. The bound is
    never above e^ε × guessing + δ, which stands beside it.
    """
    rows, goals = [], []
    for system, wanted in (("three tables", TABLES), ("coarser tables", FEWER)):
        found = before(wanted)
        rows += [
            Row("reconstruction before", system, "blocks rebuilt", found.share),
            Row("reconstruction before", system, "blocks verified", found.verified),
            Row(
                "reconstruction before",
                system,
                "people matched",
                round(found.matched, 4),
            ),
        ]
        if wanted is TABLES:
            rows.append(
                Row("reconstruction", "guessing", "blocks rebuilt", found.guessed)
            )
            rows.append(
                Row(
                    "reconstruction",
                    "guessing",
                    "people matched",
                    round(found.matched_by_chance, 4),
                )
            )
            goals.append(at_least("blocks rebuilt from exact tables", 0.5, found.share))
    for rho in COSTS:
        more, kept = _after(rho)
        rows += more
        goals += kept
    return rows, goals


def _after(rho: float) -> tuple[list[Row], list[Goal]]:
    case = f"reconstruction after, ρ = {rho:.4g}"
    rows, goals = [], []
    for system, others in (("sizes known", False), ("all others known", True)):
        seen = [after(rho, others=others) for _ in range(RELEASES)]
        share = float(np.mean([one.share for one in seen]))
        spread = float(np.mean([one.standard_error for one in seen]))
        one = seen[0]
        rows.append(Row(case, system, "blocks rebuilt", round(share, 4)))
        if not others:
            matched = float(np.mean([each.matched for each in seen]))
            rows.append(Row(case, system, "people matched", round(matched, 4)))
        over = share - (one.bound or 0.0) - 3 * spread
        name = f"{case}, {system}: share less bound less 3 standard errors"
        goals.append(at_most(name, 0.0, round(over, 4)))
    most = round(one.allowed(DELTA) or 0.0, 4)
    rows.append(Row(case, "bound", "blocks rebuilt", round(one.bound or 0.0, 4)))
    rows.append(Row(case, f"e^ε × guessing + δ, δ = {DELTA:g}", "blocks rebuilt", most))
    return rows, goals
