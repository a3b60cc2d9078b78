"""`audit.query`: tries to refute the guarantee of a question in SQL, asked with and
without one unit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any, Unpack

from dither.audit.criteria import criterion_of
from dither.audit.drawing import Progress
from dither.audit.finding import Finding
from dither.audit.neighbour import Without, left_out
from dither.audit.redraw import Redrawn
from dither.audit.trial import mechanism
from dither.by_name import keywords
from dither.dataset import Dataset, QueryCost
from dither.errors import ArgumentError
from dither.noise import token
from dither.privacy import Guarantee
from dither.privacy.numbers import confidence_level, float_down
from dither.query.catalogue.model import Catalogue
from dither.query.collect.runner import Runner
from dither.query.collect.statements import Statements
from dither.query.open import dataset_of
from dither.query.plan.plan import Plan

__all__ = ["query"]

DRAWS = 20_000
SALT_BYTES = 16


@keywords(QueryCost)
def query(
    dataset: Dataset,
    sql: str,
    unit: Any = None,
    *,
    without: Dataset | None = None,
    claimed: Guarantee | None = None,
    draws: int = DRAWS,
    confidence: float = 0.999,
    progress: Progress | None = None,
    **cost: Unpack[QueryCost],
) -> Finding:
    """Tries to refute the guarantee of a question about a dataset and about the same
    dataset without one unit.

    `dataset` is what `dither.open` returns, and `unit` the id that is left out of all
    its private tables. Pass a neighbouring dataset as `without` instead where rows are
    units, where neighbours replace a unit, or to find out whether what is declared
    depends on the data. What the question may cost is stated as for `Dataset.sql`.
    Nothing is charged, whatever book the dataset has, so this is for data that is made
    up.

    The engine computes exact integers of both neighbours; what is released of them
    (keys, radii, sums) is drawn again in every draw. If the two are not even planned
    alike, the guarantee is refuted without a draw.

    Guarantee: a claim that holds is called refuted with probability at most 1 −
    confidence.
    Why: as for `audit.mechanism`.
    Assumes: the two datasets are neighbours, and agree on the exact facts of their unit
    where it lists any. A guarantee that is not refuted is not proved.
    """
    first, second = _opened("dataset", dataset), _neighbour(dataset, unit, without)
    plans = _plans(first, second, sql, cost)
    promise = plans[0].guarantee if claimed is None else claimed
    if len(plans) != 2:
        return _planned_apart(promise, confidence)
    left = left_out(dataset, unit) if without is None else None
    with _sides((first, second), plans, left) as sides:
        return mechanism(
            lambda side, size: sides[side].draw(size),
            0,
            1,
            claimed=promise,
            unit=plans[0].guarantee.unit,
            draws=draws,
            confidence=confidence,
            vectorized=True,
            progress=progress,
        )


def _opened(argument: str, dataset: Any) -> Dataset:
    if not isinstance(dataset, Dataset):
        raise ArgumentError(
            argument,
            f"must be an open dataset, not {type(dataset).__name__}; pass the result of "
            "dither.open",
        )
    return dataset


def _neighbour(dataset: Dataset, unit: Any, without: Any) -> Dataset:
    """The dataset that the other side asks: another one, or the same with one unit left
    out.
    """
    if without is None:
        if unit is None:
            raise ArgumentError(
                "unit",
                "is missing; pass the id of the unit to leave out, or a neighbouring "
                "dataset as without",
            )
        return dataset
    if unit is not None:
        raise ArgumentError(
            "without", "cannot be passed together with unit; pass one or the other"
        )
    other = _opened("without", without)
    if other.catalogue.unit != dataset.catalogue.unit:
        raise ArgumentError(
            "without",
            f"has the unit {other.catalogue.unit}, not {dataset.catalogue.unit}; open "
            "both with the same unit",
        )
    if _columns(other.catalogue) != _columns(dataset.catalogue):
        raise ArgumentError(
            "without", "has other tables or columns; open both with the same names"
        )
    return other


def _columns(catalogue: Catalogue) -> list[Any]:
    return [
        (table.name, [field.name for field in table.fields])
        for table in catalogue.tables
    ]


def _plans(first: Dataset, second: Dataset, sql: str, cost: QueryCost) -> list[Plan]:
    """The plans of both; of one alone where the other is refused or planned
    differently.
    """
    found = [_planned(one, sql, cost) for one in (first, second)]
    plans = [one for one in found if isinstance(one, Plan)]
    if not plans:
        raise next(one for one in found if isinstance(one, ArgumentError))
    alike = (
        len(plans) == 2
        and len({_bare(one).plan(sql, **cost).identity for one in (first, second)}) == 1
    )
    return plans if alike else plans[:1]


def _planned(dataset: Dataset, sql: str, cost: QueryCost) -> Plan | ArgumentError:
    try:
        return dataset.plan(sql, **cost)
    except ArgumentError as problem:
        return problem


def _bare(dataset: Dataset) -> Dataset:
    """The same without where its rows are and who declared what: neighbours may lie in
    different places.
    """
    tables = tuple(
        replace(
            table,
            source="",
            stored="",
            fields=tuple(replace(field, provenance="") for field in table.fields),
        )
        for table in dataset.catalogue.tables
    )
    return dataset_of(
        replace(dataset.catalogue, tables=tables), dataset.engine, dataset.account
    )


@contextmanager
def _sides(
    datasets: Sequence[Dataset], plans: Sequence[Plan], left: Any
) -> Iterator[list[Redrawn]]:
    """Both neighbours, ready to be drawn from; the second one without the unit that is
    left out, if one is.
    """
    salt = token(SALT_BYTES)
    with ExitStack() as opened:
        runners: list[Runner] = []
        for number, (one, plan) in enumerate(zip(datasets, plans, strict=True)):
            session = opened.enter_context(one.engine.session())
            about = plan, one.engine.dialect, one.catalogue.table, salt
            without = number and left is not None
            statements = Without(*about, unit=left) if without else Statements(*about)
            runners.append(Runner(statements, session))
            runners[-1].begin()
        found: list[list[Any]] = [
            one.every_key() if plans[0].keys is not None else [] for one in runners
        ]
        keys = sorted({key for each in found for key in each})
        yield [
            Redrawn(one.statements.plan, one, each, keys)
            for one, each in zip(runners, found, strict=True)
        ]


def _planned_apart(claimed: Guarantee, confidence: float) -> Finding:
    criterion = criterion_of(claimed)
    return Finding(
        refuted=True,
        claimed=claimed,
        measure=criterion.name,
        lower=math.inf,
        epsilon_lower=math.inf,
        event=(
            "the question is planned differently, so something that is "
            "declared was read off the data"
        ),
        right=0,
        guesses=0,
        draws=0,
        false_alarm=float_down(1 - confidence_level("confidence", confidence)),
    )
