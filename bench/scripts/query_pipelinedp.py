"""The questions of the race through PipelineDP on its local backend, from a list of
rows in memory.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from importlib import import_module
from operator import itemgetter
from pathlib import Path
from typing import Any

from bench.scripts.entrant import AMOUNTS, CATEGORIES, GROUPS, PER_GROUP, ROWS, race

dp: Any = import_module("pipeline_dp")
Metrics: Any = dp.Metrics


def begin(
    path: str, epsilon: float, delta: float
) -> dict[str, Callable[[], list[list[Any]]]]:
    with Path(f"{path}.csv").open(encoding="utf-8", newline="") as file:
        lines = csv.reader(file)
        next(lines)
        rows = [
            (int(user), category, city, int(amount))
            for user, category, city, amount in lines
        ]

    def ask(
        metric: Any, key: Callable[[Any], Any], groups: int, per_group: int, public: Any
    ) -> list[list[Any]]:
        accountant = dp.NaiveBudgetAccountant(total_epsilon=epsilon, total_delta=delta)
        low, high = (
            (None, None)
            if metric in (Metrics.COUNT, Metrics.PRIVACY_ID_COUNT)
            else AMOUNTS
        )
        params = dp.AggregateParams(
            metrics=[metric],
            noise_kind=dp.NoiseKind.LAPLACE,
            max_partitions_contributed=groups,
            max_contributions_per_partition=per_group,
            partition_selection_strategy=dp.PartitionSelectionStrategy.GAUSSIAN_THRESHOLDING,
            min_value=low,
            max_value=high,
        )
        extractors = dp.DataExtractors(
            partition_extractor=key,
            privacy_id_extractor=itemgetter(0),
            value_extractor=itemgetter(3),
        )
        engine = dp.DPEngine(accountant, dp.LocalBackend())
        found = engine.aggregate(rows, params, extractors, public_partitions=public)
        accountant.compute_budgets()
        return [
            [*([] if groups == 1 else [name]), float(values[0])]
            for name, values in found
        ]

    def scalar(metric: Any, per_group: int = ROWS) -> list[list[Any]]:
        return ask(metric, lambda _: 0, 1, per_group, [0])

    def by_category(metric: Any) -> list[list[Any]]:
        return ask(metric, itemgetter(1), GROUPS, PER_GROUP, CATEGORIES)

    return {
        "count": lambda: scalar(Metrics.COUNT),
        "distinct users": lambda: scalar(Metrics.PRIVACY_ID_COUNT, 1),
        "sum": lambda: scalar(Metrics.SUM),
        "mean": lambda: scalar(Metrics.MEAN),
        "grouped count": lambda: by_category(Metrics.COUNT),
        "grouped sum": lambda: by_category(Metrics.SUM),
        "private keys": lambda: ask(
            Metrics.COUNT, itemgetter(2), GROUPS, PER_GROUP, None
        ),
        "median": lambda: scalar(Metrics.PERCENTILE(50)),
    }


if __name__ == "__main__":
    race(begin)
