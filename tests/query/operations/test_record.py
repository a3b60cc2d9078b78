"""Every operation is one whole record, and nothing about it is written elsewhere."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from textwrap import indent

import pytest
import sqlglot
from sqlglot import exp

import dither.query
from dither.errors import QueryError
from dither.query.catalogue.types import ANY, Type
from dither.query.operations.calls import FUNCTIONS, call, literal
from dither.query.operations.evaluate import ends
from dither.query.operations.expressions import AggregateLeaf, Call, Expr
from dither.query.operations.reading import Reading
from dither.query.operations.record import (
    OPERATIONS,
    Operation,
    register,
)
from dither.query.operations.writing import ENGINES, function
from dither.query.sql.scope import Scalars
from dither.query.sql.text import QueryText
from tests.query.operations.expression_cases import CASES, C

ROOM = Path(dither.query.__file__).parent
TOTAL = AggregateLeaf(Type.REAL, ANY, 0)


@pytest.mark.parametrize("record", OPERATIONS.values(), ids=OPERATIONS.keys())
def test_every_record_has_all_its_parts(record: Operation) -> None:
    assert record.reads
    assert callable(record.build)
    assert callable(record.python)
    assert all(callable(record.writer(engine)) for engine in ENGINES)
    for reading in record.reads:
        named = isinstance(reading.form, str)
        assert named == (reading.count is not None)
        assert named or issubclass(reading.form, exp.Expr)


ASKED = {
    "exp": "EXP(x)",
    "power": "POWER(x, 2)",
    "between": "x BETWEEN 1 AND 2",
}
"""What the cases ask DuckDB for in words that no question may use."""


def test_every_operation_is_asked_for_in_sql() -> None:
    texts = [case.plain for case in CASES if case.plain is not None]
    found = {op for sql in (*texts, *ASKED.values()) for op in _asked(sql)}
    assert found == set(OPERATIONS)


def _asked(sql: str) -> set[str]:
    """The operations that DuckDB's own SQL of a case means to us."""

    def leaf(node: exp.Expr) -> Expr | None:
        return C[node.name] if isinstance(node, exp.Column) else None

    tree = sqlglot.parse_one(sql.replace(" COLLATE C", ""), read="duckdb")
    try:
        return _operations(Scalars(QueryText(sql, ()), leaf).bind(tree))
    except QueryError:
        return set()


def _operations(expr: Expr) -> set[str]:
    if not isinstance(expr, Call):
        return set()
    return {expr.op}.union(*map(_operations, expr.args))


def test_nothing_is_written_about_an_operation_elsewhere() -> None:
    """No table outside of the records has operations for its keys."""
    others = [
        path
        for path in ROOM.rglob("*.py")
        if "operations" not in path.relative_to(ROOM).parts
    ]
    tables = {
        f"{path.relative_to(ROOM)}:{node.lineno}"
        for path in others
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Dict) and len(_keys(node) & set(OPERATIONS)) > 1
    }
    assert others
    assert tables == set()


def _keys(node: ast.Dict) -> set[object]:
    return {key.value for key in node.keys if isinstance(key, ast.Constant)}


def test_the_worked_example_is_the_source() -> None:
    """CONTRIBUTING.md shows how REVERSE was added: the very text."""
    section = _read("CONTRIBUTING.md").partition("## Add an operation")[2]
    record, cases = re.findall(r"```py\n(.*?)```", section, re.DOTALL)[:2]
    assert indent(record, "    ") in _read("src/dither/query/operations/texts.py")
    assert indent(cases, "    ") in _read("tests/query/operations/expression_cases.py")


def test_analysts_find_every_function() -> None:
    page = _read("docs/sql.md")
    assert [name for name in sorted(FUNCTIONS) if f"`{name}`" not in page] == []


def _read(name: str) -> str:
    return (Path(__file__).parents[3] / name).read_text(encoding="utf-8")


def test_a_record_without_a_form_or_a_reading_cannot_exist() -> None:
    reads = (Reading(exp.Abs),)
    with pytest.raises(ValueError, match="no form for spark"):
        Operation(
            "half",
            reads,
            build=lambda args, _: args[0],
            python=abs,
            duckdb=function("half"),
            postgres=function("half"),
        )
    with pytest.raises(ValueError, match="no way to be asked"):
        Operation("half", (), lambda args, _: args[0], abs, function("half"))


def test_a_name_has_one_record() -> None:
    with pytest.raises(ValueError, match="two records of abs"):
        register(OPERATIONS["abs"])


def test_an_operation_without_a_rule_has_no_interval() -> None:
    assert OPERATIONS["mod"].ends is None
    assert ends(call("mod", TOTAL, literal(2)), (), [(1.0, 2.0)]) is None
