"""How wide the steps of a vector are, and that nothing leaves the integers that engines
and noise can hold: at the extremes of what may be declared and spent.
"""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product
from random import Random

import duckdb
import pytest

import dither
from dither.ledger.terms import Accounting, Terms
from dither.noise.shapes import LARGEST_SCALE
from dither.privacy import ApproxDP, Unit
from dither.query.catalogue.model import Catalogue, Field, Table
from dither.query.catalogue.types import ANY, Range, Type
from dither.query.collect.statements import Statements
from dither.query.engines.duckdb.dialect import DuckDBDialect
from dither.query.plan.choose import plans_of
from dither.query.plan.request import request_of
from dither.query.plan.vectors import CAP
from dither.query.sql.bind import bind
from tests.chance import chance

DECIMAL = 10**38 - 1
"""Spark's widest integer, which is narrower than DuckDB's and PostgreSQL's."""
GROUPS = 1 << 36
ROWS = 10**8
ASKED = ("SUM(x)", "AVG(x)", "VAR_POP(x)", "COVAR_POP(x, y)", "CORR(x, y)", "SUM(n)")
DECLARED = (1, 2, 3, 90, 600, 2000, 1 << 14, 1 << 18, 1 << 33, 1 << 40)


def plans(figure, rows, epsilon=1.0, *, unit="id", grouped=True, total=None, **stated):
    row = unit == "row"
    fields = (
        *([] if row else [Field("id", Type.TEXT)]),
        Field("g", Type.TEXT, ANY, tuple("ABCD")),
        replace(Field("x", Type.REAL, Range(-3.0, 1e6)), total=total),
        Field("y", Type.REAL, Range(0.1, 0.7)),
        Field("n", Type.INTEGER, Range(0, 2**56)),
    )
    owner = {} if row else {"owner": "id", "rows": rows}
    units = dither.ROW if row else Unit("id")
    catalogue = Catalogue("t", (Table("t", fields, **owner),), unit=units)
    terms = Terms.of(Accounting.RENYI, ApproxDP(200.0, 1e-6, unit=units))
    sql = (
        f"SELECT g, {figure} FROM t GROUP BY g"
        if grouped
        else f"SELECT {figure} FROM t"
    )
    return catalogue, plans_of(
        bind(sql, catalogue), request_of({"epsilon": epsilon, **stated}), terms
    )


def every_plan():
    for figure, rows in product(ASKED, (None, *DECLARED)):
        # With so many rows, 64 bits do not hold the noise of the coarsest steps
        least = 0.01 if (rows or 0) > 1 << 14 else 1e-4
        for epsilon, grouped in product((least, 0.1, 1.0, 100.0), (False, True)):
            yield from plans(figure, rows, epsilon, grouped=grouped)[1]
    for figure, epsilon in product(ASKED, (1e-4, 0.01, 1.0, 100.0)):
        yield from plans(figure, None, epsilon, unit="row")[1]


def test_everything_fits_at_its_extremes():
    for plan in every_plan():
        (one,) = plan.measurements
        vector = one.vector
        assert plan.fits()
        # What engines hold in 64 bits: a row's parts, a unit's, and their sum
        assert vector.row <= 1 << 62
        if vector.sure:
            continue
        assert vector.size * vector.limit <= 1 << 62
        # What they hold in their widest integers: scaled parts, norms and their squares
        largest = one.radius or one.cap or one.bins.edges[-1]
        assert largest <= vector.limit <= 1 << 62
        radii = {largest, one.cap or 1, vector.limit}
        radii |= {plan.hidden_radius(one, 1)} if one.hiding else set()
        assert all(vector.limit * radius <= DECIMAL for radius in radii)
        short = -(-vector.limit >> vector.shift)
        assert short <= CAP
        assert vector.size * short**2 * (GROUPS // vector.size) <= DECIMAL
        norm = (math.isqrt(vector.size * GROUPS) + 1) * short << vector.shift
        assert norm <= DECIMAL
        # What noise draws
        for noise in plan._largest_noises(one):
            assert noise.scale <= LARGEST_SCALE


def norm_of(vector, parts, *, gaussian):
    """The integer norm, as an engine computes it."""
    short = [-(-abs(part) >> vector.shift) for part in parts]
    if not gaussian:
        return sum(short) << vector.shift
    square = sum(part * part for part in short)
    root = math.isqrt(square)
    return root + (root * root < square) << vector.shift


def test_nobody_within_a_cap_is_scaled():
    """Whatever groups the declared rows are in, with the largest values."""
    random = Random(5)  # allowed: test inputs, not noise
    seen = 0
    for plan in every_plan():
        (one,) = plan.measurements
        vector, rows = one.vector, one.vector.most
        if vector.sure or one.cap is None or not rows or not vector.shift:
            continue
        seen += 1
        for groups in {1, min(rows, 4), min(rows, 200)}:
            cuts = sorted(random.randint(0, rows) for _ in range(groups - 1))
            each = [b - a for a, b in zip([0, *cuts], [*cuts, rows], strict=True)]
            parts = [n * vector.row // vector.size for n in each] * vector.size
            norm = norm_of(vector, parts, gaussian=plan.spend.gaussian)
            assert math.isqrt(sum(part**2 for part in parts)) <= norm <= one.cap
    assert seen > 100


@pytest.mark.parametrize(
    ("about", "bits"),
    [
        ({"rows": None, "unit": "row"}, 49),
        ({"rows": 1}, 49),
        ({"rows": 600}, 41),
        ({"rows": None}, 37),
    ],
    ids=["rows as units", "one row", "600 rows", "undeclared"],
)
@pytest.mark.parametrize("epsilon", [0.001, 0.1, 1.0, 10.0])
def test_rounding_is_a_hundredth_of_the_noise(about, bits, epsilon):
    """Of 1e8 rows, for a radius of one row; as far as steps can be chosen freely, they
    are this fine."""
    for plan in plans("SUM(x)", epsilon=epsilon, grouped=False, **about)[1]:
        (one,) = plan.measurements
        noise = plan.additive(one, one.vector.row)
        assert 0.01 * noise.error(0.95, integer=True) >= ROWS / 2
        if epsilon >= 1:
            assert one.vector.step <= Fraction(10**6, 1 << bits)
        # The margin that is printed holds for far more rows
        assert one.vector.rounding >= float(500 * ROWS * one.vector.step)


def test_a_declared_total_needs_no_slack():
    """A total may be far below one row."""
    for plan in plans("SUM(x)", None, total=0.5)[1]:
        (one,) = plan.measurements
        assert (one.vector.shift, one.vector.slack) == (0, 0)
        assert one.cap == math.ceil(Fraction(1, 2) / one.vector.step)


def test_a_stated_radius_has_room():
    (plan, *_) = plans("SUM(x)", None, radius=1e6 * 2**30, grouped=False)[1]
    (one,) = plan.measurements
    assert one.radius == int(Fraction(10**6 * 2**30) / one.vector.step)
    assert one.radius <= one.vector.limit


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("figure", ["SUM(x)", "AVG(x)"])
@pytest.mark.parametrize("part", [Fraction(1, 10**6), Fraction(1, 3), Fraction(1)])
def test_units_at_their_limits_are_clipped_to_the_last_step(figure, gaussian, part):
    """Statements about partial sums at the ends of their range, beside Python's
    integers."""
    catalogue, found = plans(figure, None)
    plan = next(one for one in found if one.spend.gaussian == gaussian)
    (one,) = plan.measurements
    vector, radius = one.vector, max(1, int(part * one.vector.limit))
    ends = [vector.limit, vector.limit - 1, vector.row, (1 << vector.shift) + 1, 1, 0]
    signs = (1, -1) if figure == "SUM(x)" else (1,)
    values = [sign * end for sign in signs for end in ends]
    units = [
        (u, g, values[(u * 7 + g * 3) % len(values)])
        for u in range(40)
        for g in range(u % 4 + 1)
    ]
    columns = ", ".join(f"{{v}} AS v0_{j}" for j in range(vector.size))
    statements = Statements(plan, DuckDBDialect(), catalogue.table, "salt")
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE units (u BIGINT, g BIGINT, v BIGINT)")
        connection.executemany("INSERT INTO units VALUES (?, ?, ?)", units)
        listed = columns.format(v="v")
        connection.execute(
            f"CREATE TEMP TABLE dither_partials AS SELECT u, g, {listed} FROM units"
        )
        norms = statements._norms()
        connection.execute(f"CREATE TEMP TABLE {norms.name} AS {norms.sql}")
        totals = {}
        for statement in statements.totals(0, radius):
            for g, total, *_ in connection.execute(statement.sql).fetchall():
                totals[g] = totals.get(g, 0) + int(total)
    wanted = {}
    for u in range(40):
        mine = {g: v for unit, g, v in units if unit == u}
        norm = norm_of(vector, [*mine.values()] * vector.size, gaussian=gaussian)
        for g, v in mine.items():
            scaled = abs(v) * radius // norm if norm > radius else abs(v)
            wanted[g] = wanted.get(g, 0) + (scaled if v > 0 else -scaled)
    assert totals == wanted


@chance(1e-8)
def test_a_sum_is_not_biased_by_its_steps():
    """Where values of a quarter were rounded to steps of a half, all of them were 0."""
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT 0.2499 AS x FROM range(2_000_000)")
    about = {"unit": "row", "bounds": {"x": (0, 2.0**20)}, "ledger": ":memory:"}
    with dither.open(connection, table="t", budget=200.0, **about) as data:
        release = data.sql("SELECT SUM(x) AS s FROM t", epsilon=100.0)
    low, high = release.interval(1 - 1e-8)
    assert low <= 0.2499 * 2_000_000 <= high
    assert low > 0


@chance(1e-8)
def test_totals_are_wider_than_64_bits():
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE t AS SELECT {2**50} AS n FROM range(1 << 15)")
    about = {"unit": "row", "bounds": {"n": (0, 2**50)}, "ledger": ":memory:"}
    with dither.open(connection, table="t", budget=200.0, **about) as data:
        release = data.sql("SELECT SUM(n) AS s FROM t", epsilon=100.0)
        again = data.sql("SELECT SUM(n) AS s FROM t", epsilon=100.0)
    low, high = release.interval(1 - 1e-8)
    assert low <= 2**65 <= high
    assert release.value == again.value
    assert abs(release.value - 2**65) < 2**50
