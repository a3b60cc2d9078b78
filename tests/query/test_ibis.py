"""Ibis expressions as questions: the shapes Ibis writes, and that the road is that of
SQL.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ibis
import pytest
from ibis import _

import dither
from dither.errors import ArgumentError, MissingExtra, QueryError
from dither.query import ibis as expressions
from dither.query.ibis import sql_of
from dither.query.sql.bind import bind

CLINIC = Path(dither.__file__).parent / "data" / "clinic" / "clinic.toml"
Shape = Callable[[Any, Any], Any]

SHAPES: dict[str, tuple[Shape, str]] = {
    "groups": (
        lambda v, _p: v.group_by("ward").agg(
            n=_.count(), mean=_.cost.mean(), who=_.patient_id.nunique()
        ),
        "SELECT ward, COUNT(*) AS n, AVG(cost) AS mean, COUNT(DISTINCT patient_id) AS who FROM visits GROUP BY ward",
    ),
    "a condition after the aggregation": (
        lambda v, _p: (
            v.group_by("ward")
            .agg(n=_.count())
            .filter(_.n > 10)
            .order_by(ibis.desc("n"))
            .limit(3)
        ),
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING COUNT(*) > 10 ORDER BY COUNT(*) DESC LIMIT 3",
    ),
    "arithmetic after the aggregation": (
        lambda v, _p: (
            v.group_by("ward")
            .agg(n=_.count(), s=_.cost.sum())
            .select("ward", mean=_.s / _.n)
        ),
        "SELECT ward, SUM(cost) / COUNT(*) AS mean FROM visits GROUP BY ward",
    ),
    "two levels after the aggregation": (
        lambda v, _p: (
            v.group_by("ward")
            .agg(n=_.count())
            .mutate(m=_.n + 1)
            .filter(_.m > 3)
            .select("m", "ward")
        ),
        "SELECT COUNT(*) + 1 AS m, ward FROM visits GROUP BY ward HAVING (COUNT(*) + 1) > 3",
    ),
    "a new column": (
        lambda v, _p: (
            v.mutate(half=_.cost / 2).filter(_.half > 3).aggregate(s=_.half.sum())
        ),
        "SELECT SUM(cost / 2) AS s FROM visits WHERE cost / 2 > 3",
    ),
    "a join": (
        lambda v, p: v.join(p, "patient_id").group_by("region").agg(n=_.count()),
        "SELECT p.region AS region, COUNT(*) AS n FROM visits v JOIN patients p ON v.patient_id = p.patient_id "
        "GROUP BY p.region",
    ),
    "a semi join": (
        lambda v, p: v.semi_join(p.filter(_.age > 60), "patient_id").aggregate(
            n=_.count()
        ),
        "SELECT COUNT(*) AS n FROM visits WHERE patient_id IN (SELECT patient_id FROM patients WHERE age > 60)",
    ),
    "an anti join": (
        lambda v, p: v.anti_join(p.filter(_.age > 60), "patient_id").aggregate(
            n=_.count()
        ),
        "SELECT COUNT(*) AS n FROM visits WHERE patient_id NOT IN (SELECT patient_id FROM patients WHERE age > 60)",
    ),
    "a summary of each unit": (
        lambda v, _p: (
            v.group_by("patient_id")
            .agg(t=_.cost.sum())
            .mutate(t=_.t.clip(0, 9000))
            .aggregate(m=_.t.mean())
        ),
        "SELECT AVG(LEAST(GREATEST(t, 0), 9000)) AS m "
        "FROM (SELECT patient_id, SUM(cost) AS t FROM visits GROUP BY patient_id)",
    ),
    "clipping": (
        lambda v, _p: v.aggregate(m=_.cost.clip(0, 1000).mean()),
        "SELECT AVG(LEAST(GREATEST(cost, 0), 1000)) AS m FROM visits",
    ),
    "cases": (
        lambda v, _p: v.aggregate(
            n=_.count(where=_.cost > 3), s=_.cost.sum(where=_.ward == "surgery")
        ),
        "SELECT COUNT(*) FILTER (WHERE cost > 3) AS n, SUM(cost) FILTER (WHERE ward = 'surgery') AS s FROM visits",
    ),
    "the most frequent": (
        lambda v, _p: v.ward.topk(3, name="n"),
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY COUNT(*) DESC LIMIT 3",
    ),
    "months": (
        lambda v, _p: v.group_by(m=_.day.truncate("M")).agg(n=_.count()),
        "SELECT DATE_TRUNC('month', day) AS m, COUNT(*) AS n FROM visits GROUP BY 1",
    ),
    "a quantile": (
        lambda v, _p: v.aggregate(m=_.cost.quantile(0.9)),
        "SELECT QUANTILE(cost, 0.9) AS m FROM visits",
    ),
    "different rows": (
        lambda v, _p: (
            v[["patient_id", "ward"]].distinct().group_by("ward").agg(n=_.count())
        ),
        "SELECT ward, COUNT(*) AS n FROM (SELECT DISTINCT patient_id, ward FROM visits) GROUP BY ward",
    ),
}


@pytest.fixture(name="clinic")
def _clinic() -> dither.Dataset:
    return dither.open(CLINIC, ledger=":memory:")


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_costs_and_errs_like_its_sql(clinic: dither.Dataset, name: str) -> None:
    shape, sql = SHAPES[name]
    expression = shape(clinic.ibis("visits"), clinic.ibis("patients"))
    ours, theirs = (
        clinic.preview(expression, epsilon=1.0),
        clinic.preview(sql, epsilon=1.0),
    )
    assert [column.name for column in ours.columns] == [
        column.name for column in theirs.columns
    ]
    assert ours.guarantee == theirs.guarantee
    assert [column.errors for column in ours.columns] == [
        column.errors for column in theirs.columns
    ]


def test_an_answer_is_charged_and_replayed(clinic: dither.Dataset) -> None:
    visits = clinic.ibis("visits")
    wards = visits.group_by("ward").agg(n=visits.count())
    first = clinic.ask(wards, epsilon=0.5)
    assert first.columns == ("ward", "n")
    assert len(first) == 6
    assert clinic.ask(wards, epsilon=0.5).replayed
    assert len(clinic.account.history()) == 1


def test_a_table_has_the_declared_columns_only(clinic: dither.Dataset) -> None:
    assert list(clinic.ibis("VISITS").columns) == [
        field.name for field in clinic.catalogue.table("visits").fields
    ]


def test_what_no_unit_may_ask_is_refused(clinic: dither.Dataset) -> None:
    visits = clinic.ibis("visits")
    with pytest.raises(QueryError):
        clinic.ask(visits.limit(3), epsilon=1.0)
    with pytest.raises(QueryError):
        clinic.ask(visits.mutate(r=ibis.row_number()).r.max(), epsilon=1.0)
    with pytest.raises(QueryError, match="no table"):
        clinic.ask(ibis.table({"a": "int64"}, name="other").count(), epsilon=1.0)
    assert not clinic.account.history()


def test_what_follows_a_limit_stays_outside_and_is_refused(
    clinic: dither.Dataset,
) -> None:
    visits = clinic.ibis("visits")
    two = visits.group_by("ward").agg(n=_.count()).order_by("n").limit(2)
    with pytest.raises(QueryError):
        clinic.ask(two.filter(_.n > 10), epsilon=1.0)


@pytest.mark.parametrize("kind", ["right", "outer"])
@pytest.mark.parametrize("half", ["semi_join", "anti_join"])
def test_rows_that_a_later_join_adds_are_not_left_out(
    clinic: dither.Dataset, half: str, kind: str
) -> None:
    """In WHERE, a condition of the half join would also be about those rows."""
    visits, patients = clinic.ibis("visits"), clinic.ibis("patients")
    kept = getattr(visits, half)(patients.filter(_.age > 60), "patient_id")
    with pytest.raises(QueryError, match="JOIN is not supported"):
        clinic.preview(kept.join(patients, "patient_id", how=kind).count(), epsilon=1.0)
    clinic.preview(kept.join(patients, "patient_id", how="left").count(), epsilon=1.0)


def test_a_case_that_compares_keeps_its_values(clinic: dither.Dataset) -> None:
    """CASE y WHEN x IS NULL THEN x: where y is false, x is there."""
    visits = clinic.ibis("visits")
    found = sql_of(
        visits.aggregate(s=(_.days > 5).cases((_.cost.isnull(), _.cost), else_=0).sum())
    )
    plain = "SELECT SUM(CASE days > 5 WHEN cost IS NULL THEN cost ELSE 0 END) AS s FROM visits"
    ours, theirs = (bind(sql, clinic.catalogue).aggregates for sql in (found, plain))
    assert [one.args for one in ours] == [one.args for one in theirs]


def test_a_name_stands_for_the_whole_expression(clinic: dither.Dataset) -> None:
    visits = clinic.ibis("visits")
    short = (
        visits.group_by(short=~(_.days > 5))
        .agg(n=_.count())
        .mutate(long=_.short == False)  # noqa: E712
    )
    assert "(NOT (" in sql_of(short)
    assert [column.name for column in clinic.preview(short, epsilon=1.0).columns] == [
        "short",
        "n",
        "long",
    ]


def test_what_ibis_cannot_write(clinic: dither.Dataset) -> None:
    visits = clinic.ibis("visits")
    with pytest.raises(QueryError, match="Ibis cannot write"):
        clinic.ask(visits.aggregate(c=_.cost.corr(_.days, how="sample")), epsilon=1.0)


@pytest.mark.parametrize("thing", ["SELECT 1", None, 3, _.n])
def test_what_is_no_expression(thing: Any) -> None:
    with pytest.raises(ArgumentError, match=r"expression must be an Ibis expression"):
        sql_of(thing)


def test_without_ibis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ibis", None)
    with pytest.raises(MissingExtra, match="ibis-framework"):
        expressions._ibis()
