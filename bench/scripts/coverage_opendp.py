"""Intervals as OpenDP's accuracy gives them, around counts and sums whose units are
truncated to some rows.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from bench.scripts.loop import serve

dp: Any = import_module("opendp.prelude")
pl: Any = import_module("polars")
dp.enable_features("contrib")

MOST_ROWS = 100_000_000
KEYS = pl.LazyFrame({"g": list("ABCDEF")})


def answer(
    path: str,
    figure: str,
    grouped: bool,
    epsilon: float,
    delta: float,
    rows: int,
    times: int,
) -> Any:
    """The ends of each group's interval, for each of so many releases; rows of [key,
    low, high].
    """
    table = pl.scan_parquet(path)
    value = (
        dp.len()
        if figure == "count"
        else pl.col("x").fill_null(0).dp.sum(bounds=(0, 100))
    )
    return [
        _ends(_query(table, grouped, rows, epsilon, delta, value)) for _ in range(times)
    ]


def _query(
    table: Any, grouped: bool, rows: int, epsilon: float, delta: float, value: Any
) -> Any:
    by = ["g"] if grouped else []
    margin = dp.polars.Margin(by=by, max_length=MOST_ROWS, max_groups=6 if by else None)
    asked = dp.Context.compositor(
        data=table,
        privacy_unit=dp.unit_of(contributions=1, identifier="u"),
        privacy_loss=dp.loss_of(epsilon=epsilon, delta=delta),
        split_evenly_over=1,
        margins=[margin],
    ).query()
    if not grouped:
        return asked.truncate_per_group(rows).select(value)
    kept = asked.truncate_per_group(-(-rows // 6), by=["g"]).truncate_num_groups(
        6, by=["g"], keep="first"
    )
    return kept.group_by("g").agg(value).with_keys(KEYS)


def _ends(query: Any) -> list[list[Any]]:
    width = float(query.summarize(alpha=0.05)["accuracy"][0])
    found = query.release().collect().rows()
    return [
        [row[0] if len(row) > 1 else "", row[-1] - width, row[-1] + width]
        for row in found
    ]


if __name__ == "__main__":
    serve(answer)
