"""The questions of the race through OpenDP's Polars front, each a scan of a Parquet
file.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any

from bench.scripts.entrant import AMOUNTS, CATEGORIES, GROUPS, PER_GROUP, ROWS, race

dp: Any = import_module("opendp.prelude")
pl: Any = import_module("polars")
dp.enable_features("contrib")

MOST_ROWS = 100_000_000
"""A public limit on the length of the table, which sums and means need."""


def begin(
    path: str, epsilon: float, delta: float, keep: str
) -> dict[str, Callable[[], list[list[Any]]]]:
    table = pl.scan_parquet(f"{path}.parquet")
    keys = pl.LazyFrame({"category": CATEGORIES})
    amount = pl.col("amount").fill_null(0)

    whole = {"epsilon": epsilon, "delta": delta}

    def query(by: list[str], loss: dict[str, float]) -> Any:
        margin = dp.polars.Margin(
            by=by, max_length=MOST_ROWS, max_groups=len(CATEGORIES) if by else None
        )
        return dp.Context.compositor(
            data=table,
            privacy_unit=dp.unit_of(contributions=1, identifier="user_id"),
            privacy_loss=dp.loss_of(**loss),
            split_evenly_over=1,
            margins=[] if by == ["city"] else [margin],
        ).query()

    def scalar(value: Any, rows: int = ROWS) -> list[list[Any]]:
        return rows_of(
            query([], whole).truncate_per_group(rows, keep=keep).select(value)
        )

    def grouped(
        key: str,
        value: Any,
        groups: int = GROUPS,
        per_group: int = PER_GROUP,
        loss: dict[str, float] = whole,
    ) -> Any:
        kept = query([key], loss).truncate_per_group(per_group, by=[key], keep=keep)
        # A sample of groups fails: it names the key twice.
        return (
            kept.truncate_num_groups(groups, by=[key], keep="first")
            .group_by(key)
            .agg(value)
        )

    def by_hand() -> list[list[Any]]:
        """Names by one row a user and city, then counts, each at half of ρ; half of δ
        for names, half to convert ρ.
        """
        rho = most_rho(epsilon, delta / 2) / 2
        named = (
            grouped(
                "city", dp.len(), per_group=1, loss={"rho": rho, "delta": delta / 2}
            )
            .release()
            .collect()
        )
        cities = pl.LazyFrame({"city": named["city"]})
        return rows_of(
            grouped("city", dp.len(), loss={"rho": rho, "delta": 0.0}).with_keys(cities)
        )

    return {
        "count": lambda: scalar(dp.len()),
        "distinct users": lambda: scalar(dp.len(), rows=1),
        "sum": lambda: scalar(amount.dp.sum(bounds=AMOUNTS)),
        "mean": lambda: scalar(amount.dp.mean(bounds=AMOUNTS)),
        "grouped count": lambda: rows_of(grouped("category", dp.len()).with_keys(keys)),
        "grouped sum": lambda: rows_of(
            grouped("category", amount.dp.sum(bounds=AMOUNTS)).with_keys(keys)
        ),
        "private keys": lambda: rows_of(grouped("city", dp.len())),
        "grouped count, by hand": lambda: rows_of(
            grouped("category", dp.len(), groups=30).with_keys(keys)
        ),
        "private keys, by hand": by_hand,
        "median": lambda: scalar(
            amount.dp.median(candidates=list(range(AMOUNTS[0], AMOUNTS[1] + 1)))
        ),
    }


def most_rho(epsilon: float, delta: float) -> float:
    """The largest ρ of zero-concentrated privacy that gives this ε and δ (Canonne,
    Kamath and Steinke 2020).
    """

    def reached(rho: float) -> float:
        orders = (1 + 1.01**k for k in range(-500, 1000))
        return min(
            (a - 1) * (a * rho - epsilon) - math.log(a - 1) + a * math.log1p(-1 / a)
            for a in orders
        )

    low, high = 0.0, epsilon
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if reached(middle) <= math.log(delta) else (low, middle)
        )
    return low


def rows_of(query: Any) -> list[list[Any]]:
    return [list(row) for row in query.release().collect().rows()]


if __name__ == "__main__":
    race(begin)
