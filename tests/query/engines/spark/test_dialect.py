"""What Spark writes in its own way: wide integers and sums that do not overflow."""

from __future__ import annotations

import math
import random

import pytest

from dither.privacy import Unit
from dither.query.catalogue.model import Catalogue, Field, Table
from dither.query.catalogue.types import Type
from dither.query.engines.spark.dialect import SparkDialect
from dither.query.engines.spark.engine import SparkEngine
from tests.conformance.spark_asking import session

pytestmark = pytest.mark.engine("spark")


@pytest.fixture(scope="module")
def engine():
    table = Table("visits", (Field("id", Type.INTEGER),), owner="id")
    frame = session().range(1).selectExpr("id")
    with SparkEngine(
        Catalogue("clinic", (table,), unit=Unit("id")), {"visits": frame}
    ) as made:
        yield made


def test_wide_integers(engine):
    """Exact at every size that bounding a unit's contribution can reach, against
    Python's own.
    """
    picks = random.Random(5)
    numbers = [
        0,
        1,
        2,
        3,
        4,
        *((1 << k) + d for k in range(2, 119) for d in (-1, 0, 1)),
    ]
    numbers += [picks.getrandbits(picks.randint(1, 118)) for _ in range(300)]
    numbers += [picks.getrandbits(picks.randint(1, 57)) ** 2 for _ in range(300)]
    dialect: SparkDialect = engine.dialect
    rows = ", ".join(f"({n}BD)" for n in numbers)
    table = f"(SELECT CAST(n AS DECIMAL(38,0)) AS n FROM VALUES {rows} AS v(n)) t"
    halves, roots = dialect.doublings("n", 5, 2), dialect.root_above("n")
    with engine.session() as opened:
        found = opened.fetch(
            f"SELECT n, {roots}, {halves}, {dialect.doublings('n', 9, 1)} FROM {table} WHERE n > 0"
        )
    for n, root, half, whole in [tuple(map(int, row)) for row in found]:
        assert root == math.isqrt(n - 1) + 1
        assert half == max(0, _doublings(n * n, 25))
        assert whole == max(0, _doublings(n, 9))


def _doublings(n: int, first: int) -> int:
    """The least k with first · 2^k ≥ n."""
    k = 0
    while first << k < n:
        k += 1
    return k


def test_sums_do_not_overflow(engine):
    dialect = engine.dialect
    for value in (2**62, -(2**62), 2**63 - 1, -(2**63), -1):
        narrow, wide = dialect.total("n"), dialect.total(f"{dialect.wide('n')} * n")
        with engine.session() as opened:
            rows = f"(SELECT CAST({value} AS BIGINT) AS n FROM range(9)) t"
            assert opened.fetch(f"SELECT {narrow} FROM {rows}") == [(9 * value,)]
            if abs(value) < 2**62:
                assert opened.fetch(f"SELECT {wide} FROM {rows}") == [(9 * value**2,)]


def test_clipped_parts_are_cut_toward_zero(engine):
    dialect = engine.dialect
    cases = [
        (v, c, n)
        for v in (-(2**45), -7, -1, 0, 1, 7, 2**45)
        for c in (1, 3, 2**61)
        for n in (2**61 + 1, 2**62)
    ]
    rows = ", ".join(f"({v}L, {c}L, {n}BD)" for v, c, n in cases)
    with engine.session() as opened:
        divided = dialect.divided(f"({dialect.wide('v')} * c)", "n")
        found = opened.fetch(
            f"SELECT v, c, n, {divided} FROM VALUES {rows} AS t(v, c, n)"
        )
    assert all(
        w == (abs(v) * c // int(n)) * (1 if v > 0 else -1) for v, c, n, w in found
    )
