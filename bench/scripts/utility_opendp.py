"""Counts of rows by a key that is not declared, as OpenDP releases them.

OpenDP calibrates anew for each release, for two CPU-seconds. Here it calibrates once and
says its scale and threshold, above which it names a key; then its own noise is drawn again
and again.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from bench.scripts.loop import serve

dp: Any = import_module("opendp.prelude")
pl: Any = import_module("polars")
dp.enable_features("contrib")


def answer(path: str, epsilon: float, delta: float, times: int) -> list[Any]:
    """Rows of [key, count] for each of so many releases; each row of the table is a
    unit.
    """
    table = pl.scan_parquet(path)
    context = dp.Context.compositor(
        data=table,
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(epsilon=epsilon, delta=delta),
        split_evenly_over=1,
    )
    (said,) = context.query().group_by("key").agg(dp.len()).summarize().to_dicts()
    exact = table.group_by("key").agg(pl.len()).collect().to_dicts()
    scale, threshold = float(said["scale"]), float(said["threshold"])
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    noise = dp.m.make_laplace(*space, scale=scale)
    keys, counts = [one["key"] for one in exact], [one["len"] for one in exact]
    return [
        [[key, n] for key, n in zip(keys, noise(counts), strict=True) if n > threshold]
        for _ in range(times)
    ]


if __name__ == "__main__":
    serve(answer)
