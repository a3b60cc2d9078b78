"""What a report says about an answer: its noise, what was declared about the tables it
reads, and what is done after the noise.
"""

from __future__ import annotations

from collections.abc import Iterator

from dither.details import Details
from dither.query.catalogue.calendar import day, moment
from dither.query.catalogue.model import Field, Table
from dither.query.catalogue.types import Type
from dither.query.operations.expressions import AggregateLeaf, KeyLeaf
from dither.query.plan.describe import describe, described
from dither.query.plan.plan import Plan
from dither.query.sql.question import Scan, nodes
from dither.text import quantity

__all__ = ["details_of"]

MOST = 12
"""Number of columns of a table that are listed."""
SHOWN = 6
UNSTATED = "who declared it is not stated"
AFTER = ("having ", "order by ", "limit ")


def details_of(plan: Plan) -> Details:
    """From the plan alone, which knows no data."""
    return Details(
        mechanism=tuple(described(plan)[1:]),
        declared=tuple(_declared(plan)),
        afterwards=tuple(_afterwards(plan)),
    )


def _declared(plan: Plan) -> Iterator[str]:
    scanned = {
        node.table.name: node.table
        for node in nodes(plan.question.rows)
        if isinstance(node, Scan)
    }
    for table in scanned.values():
        yield _table(table)
        told = [one for one in table.fields if _facts(one)]
        for field in told[:MOST]:
            yield f"{table.name}.{field.name}: {_facts(field)}; {_source(field)}"
        if len(told) > MOST:
            yield f"{table.name}: {len(told) - MOST} more columns"


def _table(table: Table) -> str:
    if table.public:
        return f"{table.name}: public"
    whose = table.owner or (table.link.column if table.link else "")
    owned = f"rows belong to {whose}" if whose else "each row is a unit"
    most = ""
    if table.rows is not None:
        most = f"; no unit has more than {quantity(table.rows, 'row')}"
    return f"{table.name}: {owned}{most}"


def _facts(field: Field) -> str:
    low, high = field.range.low, field.range.high
    found = []
    if low is not None and high is not None:
        found.append(f"from {_end(field.type, low)} to {_end(field.type, high)}")
    if field.keys is not None:
        more = ", …" if len(field.keys) > SHOWN else ""
        shown = ", ".join(map(str, field.keys[:SHOWN]))
        found.append(f"{len(field.keys)} public keys ({shown}{more})")
    if field.total is not None:
        found.append(f"at most {field.total:g} in total per unit")
    return ", ".join(found)


def _end(kind: Type, end: float) -> str:
    if kind is Type.DATE:
        return str(day(int(end)))
    return str(moment(int(end))) if kind is Type.TIMESTAMP else f"{end:,.10g}"


def _source(field: Field) -> str:
    return f"provenance: {field.provenance}" if field.provenance else UNSTATED


def _afterwards(plan: Plan) -> Iterator[str]:
    plain = AggregateLeaf | KeyLeaf
    computed = {
        output.name
        for output in plan.question.outputs
        if not isinstance(output.expr, plain)
    }
    for line in describe(plan.question).splitlines():
        name = line.removeprefix("output ").partition(" = ")[0]
        if line.startswith(AFTER):
            yield line
        elif line.startswith("output ") and name in computed:
            yield f"computed {line.removeprefix('output ')}"
