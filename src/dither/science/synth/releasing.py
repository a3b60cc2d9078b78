"""Synthetic tables by MST: measure single columns and the pairs along a tree, with
noise, and draw rows that fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from dither.by_name import by_name
from dither.cost import Cost
from dither.mechanisms import Additive
from dither.privacy import Guarantee, PureDP, Unit, ZeroConcentratedDP
from dither.question import Asking, Question
from dither.science.synth.asking import question_of
from dither.science.synth.checking import (
    Checked,
    Places,
    checked,
    checker,
    share_of_check,
    tables_of,
)
from dither.science.synth.domain import Domain
from dither.science.synth.marginals import Codes
from dither.science.synth.model import Model, Plan, checked_rows, plan, run
from dither.science.synth.names import pairs_of
from dither.science.synth.reading import Source, source_of
from dither.science.synth.result import Synthetic

__all__ = ["mst"]

MOST_MADE = 10_000_000
"""Rows that are made where `n` does not say how many: noise could make it any number."""
EXAMPLE = "mst(table, domain=Domain({…}), rho=0.05)"
MADE = (
    "rows are made up from noisy counts of columns and pairs: not for rare groups, "
    "standard errors or single people; .report() lists what they are good for"
)


@dataclass(frozen=True)
class Steps:
    """What a synthetic table will do, from public facts alone. `guarantee` is of the
    whole, which is charged; `model` and `check` are its parts.
    """

    question: Question
    guarantee: Guarantee
    model: Plan
    check: Additive | None
    tables: tuple[Places, ...]


@by_name(EXAMPLE, Asking)
def mst(
    table: Any,
    *,
    domain: Domain | Mapping[str, Any] | None = None,
    rows: int | None = None,
    owner: Any = None,
    unit: str | Unit | None = None,
    name: str | None = None,
    pairs: Any = (),
    n: int | None = None,
    check: float | None = None,
    **cost: Unpack[Asking],
) -> Synthetic:
    """A synthetic table: made-up rows over a declared domain, whose counts by single
    columns and along a tree of pairs are those of the private rows, up to noise.

    `table` is a frame, a mapping of columns or a dataset, of whose tables `name` is one.
    Every row is a unit of its own, unless `owner` says whose it is (a column or ids):
    then at most `rows` rows of each owner count, which must be said. `unit` is what one
    owner is called in the account ("patient"), where the column has another name.
    `pairs` of columns that matter are measured in any case; the other edges of the tree are chosen with
    noise. `n` is how many rows to make (else about as many as there are); `check` is
    the share of the cost that measures how good they are (5 %; 0 for none). A row with
    a value outside of the domain counts for nobody, unless its column declares a place
    for it.

    Guarantee: ρ-zero-concentrated or ε-differential privacy for one unit: a row, or an
    owner with all of its rows.
    Why: a unit of k rows moves each table of counts by k, so that noise for all columns,
    for each choice of an edge, for all chosen pairs and for the distances of the check
    have known costs, which add up; rows are drawn from what was released
    (McKenna, Miklau & Sheldon 2021; docs/proofs/synth.md).
    Assumes: domain, pairs and n are public and not read off the data.
    """
    source = source_of(table, domain, owner=owner, rows=rows, name=name)
    count = None if n is None else checked_rows(n, source.domain.sizes)
    # Of no rows there is nothing to check.
    settled = steps(
        source, question_of(source, cost, unit), pairs, 0 if count == 0 else check
    )
    # Odd numbers must not warn, or fail where warnings are errors (rule R1).
    with settled.question.paying(settled.guarantee) as paid, np.errstate(all="ignore"):
        codes = source.read(paid.receipt)
        model = run(settled.model, codes)
        made = model.sample(min(model.count, MOST_MADE) if count is None else count)
        held = _check(settled, model, codes, made)
        drawn = source.domain.frame_columns(made)
    return Synthetic(
        what="synthetic table",
        value=drawn,
        sources=(paid.source,),
        notes=(
            *source.notes,
            MADE,
        ),
        domain=source.domain,
        model=model,
        codes=made,
        checked=held,
        asked=_asked(source.domain, pairs),
    )


def steps(source: Source, asked: Question, pairs: Any, check: Any) -> Steps:
    """Settle the cost and split it: one part for the model, one for the check."""
    domain, rows = source.domain, source.rows
    wanted = pairs_of(domain, pairs)
    share = share_of_check(check)
    whole = plan(domain.sizes, wanted, asked, rows)
    # The account buys a cost only once: parts are of what it bought. A release holds
    # its plan, so the plan holds neither the account nor the data.
    bought = replace(asked, cost=_cost(whole.guarantee), account=None, dataset=None)
    if not share:
        alone = plan(domain.sizes, wanted, bought, rows)
        return Steps(asked, whole.guarantee, alone, None, ())
    first, second = bought.parts(float(1 - share), float(share))
    tables = tables_of(whole.measured)
    return Steps(
        question=asked,
        guarantee=whole.guarantee,
        model=plan(domain.sizes, wanted, first, rows),
        check=checker(second, rows, len(tables)),
        tables=tables,
    )


def _cost(guarantee: Guarantee) -> Cost:
    if isinstance(guarantee, ZeroConcentratedDP):
        return Cost(rho=guarantee.rho)
    return Cost(epsilon=guarantee.to(PureDP).epsilon)


def _check(settled: Steps, model: Model, codes: Any, made: Any) -> Checked | None:
    if settled.check is None:
        return None
    sizes = settled.model.sizes
    scale = model.total / max(len(made), 1)
    real, drawn = Codes.of(codes, sizes), Codes.of(made, sizes)
    return checked(settled.check, real, drawn, settled.tables, scale)


def _asked(domain: Domain, pairs: Any) -> tuple[tuple[str, str], ...]:
    names, wanted = domain.names, pairs_of(domain, pairs)
    return tuple((names[min(pair)], names[max(pair)]) for pair in wanted)
