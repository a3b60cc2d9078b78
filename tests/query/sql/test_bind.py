"""Binding: names, joins, owners and facts of columns; that no text makes it fail in
another way than a refusal.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from itertools import product

import pytest

from dither.errors import QueryError
from dither.query.catalogue.model import Field
from dither.query.catalogue.types import Type
from dither.query.operations.expressions import (
    AggregateLeaf,
    Call,
    Expr,
    KeyLeaf,
    Literal,
    Ref,
)
from dither.query.plan.describe import describe
from dither.query.sql.bind import bind
from dither.query.sql.parse import parse
from dither.query.sql.question import (
    Distinct,
    Filter,
    InPublic,
    Join,
    Node,
    OfOwners,
    PerUnit,
    Project,
    Question,
    Scan,
    SemiJoin,
    Union,
)
from tests.clock import quick
from tests.query.sql.clinic import CLINIC
from tests.query.sql.fixtures import FOLDER, catalogue_of, outcome, read

CASES = [case for path in sorted(FOLDER.glob("*.sql")) for case in read(path)]


def question(sql: str) -> Question:
    return bind(sql, CLINIC)


def refused(sql: str) -> str:
    with pytest.raises(QueryError) as caught:
        bind(sql, CLINIC)
    return caught.value.reason


def refs(expr: Expr) -> Iterator[Ref]:
    if isinstance(expr, Ref):
        yield expr
    for arg in expr.args if isinstance(expr, Call) else ():
        yield from refs(arg)


def check_refs(exprs: object, below: Node) -> None:
    for expr in exprs:  # type: ignore[attr-defined]
        for ref in refs(expr):
            assert ref.column == below.columns[ref.index]


def check(node: Node) -> None:
    """What must hold of every node, whatever was asked (rule R9)."""
    match node:
        case Scan():
            assert node.private != node.table.public
        case Filter():
            check_refs([node.condition], node.source)
            assert node.condition.type is Type.BOOLEAN
        case Project():
            check_refs(node.exprs, node.source)
            for column, expr in zip(node.columns, node.exprs, strict=True):
                assert (column.type, column.range) == (expr.type, expr.range)
                assert isinstance(expr, Ref) or column.keys is None
                assert (
                    not column.owner
                    or (isinstance(expr, Ref) and expr.column.owner)
                    or is_coalesced(expr)
                )
        case Join():
            width = len(node.left.columns)
            assert len(node.columns) == width + len(node.right.columns)
            assert node.private == (node.left.private or node.right.private)
            check_refs([node.condition] if node.condition else [], node)
        case OfOwners() | SemiJoin():
            check_partners(node)
        case InPublic():
            check_refs([node.expr], node.source)
            assert not node.values.private
        case PerUnit():
            assert node.source.private
            check_refs(node.keys, node.source)
            assert any(isinstance(key, Ref) for key in node.keys)
            check_refs(
                [one.expr for one in node.summaries if one.expr is not None],
                node.source,
            )
        case Distinct():
            assert not node.private or any(column.owner for column in node.columns)
        case Union():
            assert all(source.private for source in node.sources)
            assert {len(source.columns) for source in node.sources} == {
                len(node.columns)
            }
            for place, column in enumerate(node.columns):
                assert {source.columns[place].type for source in node.sources} == {
                    column.type
                }
    for below in children(node):
        check(below)


def check_partners(node: OfOwners | SemiJoin) -> None:
    """Private rows decide about no row that is not their owner's."""
    assert node.columns == node.source.columns
    assert node.private == node.source.private
    assert node.private or not node.others.private
    if isinstance(node, OfOwners):
        assert node.others.private
        assert node.others.columns[0].owner
        return
    both = Node(node.source.columns + node.others.columns, node.private, None)
    check_refs([node.condition] if node.condition else [], both)


def is_coalesced(expr: Expr) -> bool:
    return (
        isinstance(expr, Call)
        and expr.op == "coalesce"
        and all(isinstance(arg, Ref) for arg in expr.args)
    )


def children(node: Node) -> list[Node]:
    names = ("source", "left", "right", "others", "values")
    return [getattr(node, name) for name in names if hasattr(node, name)] + list(
        getattr(node, "sources", ())
    )


def check_question(found: Question) -> None:
    check(found.rows)
    assert found.rows.private
    check_refs([key.expr for key in found.keys], found.rows)
    for key in found.keys:
        assert key.expr.type is not Type.REAL
        assert not (isinstance(key.expr, Ref) and key.expr.column.owner)
    for aggregate in found.aggregates:
        check_refs(aggregate.args, found.rows)
        if aggregate.function not in ("count", "units", "distinct"):
            assert all(arg.range.bounded for arg in aggregate.args)
    after = [output.expr for output in found.outputs] + [
        expr for expr, _ in found.order
    ]
    for expr in [*after, *([found.having] if found.having else [])]:
        check_after(expr, found)


def check_after(expr: Expr, found: Question) -> None:
    """Only keys, aggregates and constants stand in what is shown."""
    if isinstance(expr, KeyLeaf):
        assert expr.index < len(found.keys)
    elif isinstance(expr, AggregateLeaf):
        assert expr.index < len(found.aggregates)
    elif isinstance(expr, Call):
        for arg in expr.args:
            check_after(arg, found)
    else:
        assert isinstance(expr, Literal)


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: " ".join(case.sql.split())[:60]
)
def test_every_accepted_fixture_is_well_formed(case: object) -> None:
    try:
        found = bind(case.sql, catalogue_of(case.file))  # type: ignore[attr-defined]
    except QueryError:
        return
    check_question(found)


def test_broken_questions_are_refused_and_never_crash() -> None:
    """Words of the fixtures in a random order: every outcome is a well-formed question
    or a QueryError.
    """
    rng = random.Random(20260101)
    texts = [re.findall(r"\w+|'[^']*'|\s+|.", case.sql) for case in CASES]
    words = [word for text in texts for word in text if word.strip()]
    accepted = 0
    for _ in range(4_000):
        text = list(rng.choice(texts))
        for _ in range(rng.randint(1, 3)):
            place = rng.randrange(len(text))
            text[place : place + rng.randint(0, 1)] = (
                [" ", rng.choice(words), " "] if rng.random() < 0.7 else []
            )
            text = text or [" "]
        try:
            found = bind("".join(text), CLINIC)
        except QueryError:
            continue
        check_question(found)
        describe(found)
        accepted += 1
    assert accepted > 10


def test_the_same_text_gives_the_same_question() -> None:
    for case in CASES[::7]:
        if case.expected.startswith("refused"):
            assert (
                outcome(case.sql, case.file)
                == outcome(case.sql, case.file)
                == case.expected
            )
        elif not case.file.startswith("rows_"):
            assert question(case.sql) == bind(parse(case.sql), CLINIC)


JOINABLE = {
    ("patients", "visits"): {("patient_id", "patient_id")},
    ("visits", "diagnoses"): {("visit_id", "visit_id")},
    ("visits", "visits"): {("patient_id", "patient_id"), ("visit_id", "visit_id")},
    ("diagnoses", "diagnoses"): {("visit_id", "visit_id")},
    ("patients", "diagnoses"): set(),
}


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.full)])
@pytest.mark.parametrize("tables", JOINABLE)
def test_private_tables_join_on_equal_ids_and_nothing_else(
    tables: tuple[str, str], step: int
) -> None:
    """All columns that join and, in the quick run, every fifth pair of the others."""
    sides = [
        next(table for table in CLINIC.tables if table.name == name) for name in tables
    ]
    pairs = list(product(*(side.fields for side in sides)))
    ids = [pair for pair in pairs if _names(*pair) in JOINABLE[tables]]
    for one, two in (*ids, *pairs[::step]):
        for sign in ("=", "<>", "<", "IS NOT DISTINCT FROM"):
            on = f"l.{one.name} {sign} r.{two.name}"
            for condition in (
                on,
                f"{on} AND l.{one.name} IS NOT NULL",
                f"TRUE AND ({on})",
            ):
                allowed = sign == "=" and _names(one, two) in JOINABLE[tables]
                for sql in written(*tables, condition)[
                    : None if condition is on else 1
                ]:
                    assert question(sql).rows.private if allowed else refused(sql)
            for condition in (f"{on} OR l.{one.name} IS NULL", f"NOT ({on})"):
                assert all(refused(sql) for sql in written(*tables, condition))


def _names(one: Field, two: Field) -> tuple[str, str]:
    return one.name, two.name


def written(left: str, right: str, condition: str) -> list[str]:
    """The ways to let rows of one table meet rows of another."""
    inner = f"SELECT * FROM {right} r WHERE {condition}"
    return [
        f"SELECT COUNT(*) FROM {left} l JOIN {right} r ON {condition}",
        f"SELECT COUNT(*) FROM {left} l, {right} r WHERE {condition}",
        f"SELECT COUNT(*) FROM {left} l CROSS JOIN {right} r WHERE {condition}",
        f"SELECT COUNT(*) FROM {left} l WHERE EXISTS ({inner})",
        f"SELECT COUNT(*) FROM {left} l WHERE NOT EXISTS ({inner})",
    ]


@pytest.mark.parametrize(
    ("kind", "left", "right"),
    [
        ("", True, True),
        ("LEFT", True, False),
        ("RIGHT", False, True),
        ("FULL", False, False),
    ],
)
def test_a_side_that_can_be_missing_has_no_owner_column(
    kind: str, left: bool, right: bool
) -> None:
    found = question(
        f"SELECT COUNT(*) FROM patients p {kind} JOIN visits v ON p.patient_id = v.patient_id"
    )
    width = len(CLINIC.tables[0].fields)
    columns = found.rows.columns
    assert any(column.owner for column in columns[:width]) is left
    assert any(column.owner for column in columns[width:]) is right


@pytest.mark.parametrize(
    ("item", "keeps"),
    [("ward", True), ("v.ward", True), ("(ward)", True), ("ward || ''", False), ("COALESCE(ward, 'A')", False),
     ("CASE WHEN TRUE THEN ward END", False), ("LOWER(ward)", False)],
)  # fmt: skip
def test_only_a_column_by_itself_keeps_its_keys(item: str, keeps: bool) -> None:
    found = question(f"SELECT COUNT(*) FROM (SELECT {item} AS ward FROM visits v)")
    assert (found.rows.columns[0].keys == ("A", "B", "C")) is keeps


@pytest.mark.parametrize(
    "item",
    [
        "patient_id || ''",
        "UPPER(patient_id)",
        "CASE WHEN TRUE THEN patient_id END",
        "'p1'",
    ],
)
def test_an_id_that_was_computed_is_no_id(item: str) -> None:
    inner = f"SELECT {item} AS patient_id, cost FROM visits"
    assert not any(
        column.owner
        for column in question(f"SELECT COUNT(*) FROM ({inner})").rows.columns
    )
    assert refused(
        f"SELECT COUNT(*) FROM (SELECT patient_id, COUNT(*) FROM ({inner}) GROUP BY patient_id)"
    )
    assert refused(
        f"SELECT COUNT(*) FROM patients WHERE patient_id IN (SELECT patient_id FROM ({inner}))"
    )
    assert refused(
        f"SELECT COUNT(*) FROM patients p JOIN ({inner}) v ON p.patient_id = v.patient_id"
    )


def test_rows_of_one_unit_are_counted_through_the_plan() -> None:
    def most(rows: str) -> int | None:
        return question(f"SELECT COUNT(*) FROM {rows}").rows.most

    once = "(SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id)"
    assert (
        most("patients") == most(f"{once} t") == most("patients WHERE weight > 3") == 1
    )
    assert (
        most("visits")
        is most("patients JOIN regions USING (region)")
        is most("patients JOIN visits USING (patient_id)")
    )
    assert most("patients p FULL JOIN patients q USING (patient_id)") == 2
    assert (
        most(
            "(SELECT * FROM patients UNION ALL SELECT * FROM patients UNION ALL SELECT * FROM patients)"
        )
        == 3
    )
    assert most("(SELECT patient_id, ward, COUNT(*) FROM visits GROUP BY ALL)") is None


def test_queries_named_by_with_cannot_multiply_without_end() -> None:
    doubled = ", ".join(
        f"a{i} AS (SELECT * FROM a{i - 1} UNION ALL SELECT * FROM a{i - 1})"
        for i in range(1, 40)
    )
    with quick(3):
        assert "parts" in refused(
            f"WITH a0 AS (SELECT * FROM visits), {doubled} SELECT COUNT(*) FROM a39"
        )
        joined = ", ".join(
            f"a{i} AS (SELECT x.* FROM a{i - 1} x JOIN a{i - 1} y ON x.patient_id = y.patient_id)"
            for i in range(1, 40)
        )
        assert "parts" in refused(
            f"WITH a0 AS (SELECT * FROM visits), {joined} SELECT COUNT(*) FROM a39"
        )
        chain = ", ".join(
            f"a{i} AS (SELECT patient_id, 1 AS x FROM a{i - 1})" for i in range(1, 210)
        )
        assert "words" in refused(
            f"WITH a0 AS (SELECT * FROM visits), {chain} SELECT COUNT(*) FROM a209"
        )


def test_wide_questions_are_bounded() -> None:
    joins = " ".join(f"JOIN visits v{i} USING (patient_id)" for i in range(40))
    assert "join" in refused(f"SELECT COUNT(*) FROM patients {joins}")
    sums = ", ".join(f"SUM(cost + {i})" for i in range(120))
    assert "aggregates" in refused(f"SELECT {sums} FROM visits")
    keys = ", ".join(f"LEFT(note, {i})" for i in range(30))
    assert "keys" in refused(f"SELECT COUNT(*) FROM visits GROUP BY {keys}")
    stars = ", ".join(["*"] * 300)
    assert "columns" in refused(
        f"SELECT COUNT(*) FROM (SELECT {stars} FROM (SELECT {stars} FROM visits))"
    )
    owners = " AND ".join(["patient_id IN (SELECT patient_id FROM visits)"] * 60)
    assert "subqueries" in refused(f"SELECT COUNT(*) FROM visits WHERE {owners}")
    partners = " AND ".join(
        ["EXISTS (SELECT * FROM visits w WHERE w.patient_id = visits.patient_id)"] * 60
    )
    assert "subqueries" in refused(f"SELECT COUNT(*) FROM visits WHERE {partners}")
    commas = ", ".join(f"visits v{i}" for i in range(20))
    links = " AND ".join(
        f"v{i}.patient_id = v{j}.patient_id" for i in range(20) for j in range(0, 20, 2)
    )
    assert question(f"SELECT COUNT(*) FROM {commas} WHERE {links}").rows.private
    union = " UNION ALL ".join(["SELECT patient_id FROM visits"] * 300)
    assert "parts" in refused(f"SELECT COUNT(*) FROM ({union})")


def test_long_lists_and_chains_are_bound() -> None:
    values = ", ".join(f"'n{i}'" for i in range(1_200))
    assert question(
        f"SELECT COUNT(*) FROM visits WHERE note IN ({values})"
    ).rows.private
    anything = " OR ".join(f"cost = {i}" for i in range(600))
    assert question(f"SELECT COUNT(*) FROM visits WHERE {anything}").rows.private
    assert (
        question(f"SELECT AVG({' + '.join(['cost'] * 95)}) FROM visits")
        .aggregates[0]
        .args[0]
        .range.high
        == 1_900_000
    )


@pytest.mark.parametrize(
    "inner",
    [
        "DROP TABLE visits",
        "INSERT INTO visits VALUES (1)",
        "VALUES (1)",
        "DESCRIBE visits",
    ],
)
def test_with_names_only_selects(inner: str) -> None:
    assert refused(f"WITH a AS ({inner}) SELECT COUNT(*) FROM visits")


def test_a_text_reaches_the_question_as_a_value_only() -> None:
    text = "x'; DROP TABLE visits; --"
    found = question(
        f"SELECT COUNT(*) AS \"a'; --\" FROM visits WHERE note = '{text.replace(chr(39), chr(39) * 2)}'"
    )
    assert isinstance(found.rows, Filter)
    assert isinstance(found.rows.condition, Call)
    assert found.rows.condition.args[1] == Literal(
        Type.TEXT, found.rows.condition.args[1].range, text
    )
    assert found.outputs[0].name == "a'; --"
