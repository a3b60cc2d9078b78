"""All databases of a few units with up to two rows each, over a tiny domain: every pair
of neighbours.
"""

from __future__ import annotations

from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from dither.privacy import Unit
from dither.query.catalogue.model import Catalogue, Field, Table
from dither.query.catalogue.types import ANY, Range, Type
from dither.query.plan.vectors import Kind
from tests.conformance.asking import in_turn
from tests.neighbours.neighbour_checks import check, collected, planned, radii_of
from tests.neighbours.neighbour_engines import PLACES
from tests.neighbours.neighbour_place import replacing

FIELDS = (
    Field("id", Type.TEXT),
    Field("k", Type.TEXT, ANY, ("A", "B")),
    Field("p", Type.TEXT),
)
TABLE = Table("t", (*FIELDS, Field("x", Type.INTEGER, Range(-1, 2))), owner="id")
TINY = Catalogue("tiny", (TABLE,), unit=Unit("id"))

ROWS = (("A", "a", "-1"), ("B", "b", "2"), ("A", "b", None))

QUESTIONS = {
    "sums by key": "SELECT k, COUNT(*), SUM(x), COUNT(x) FROM t GROUP BY k",
    "moments": "SELECT k, VAR_SAMP(x), AVG(x) FROM t GROUP BY k",
    "median": "SELECT k, MEDIAN(x) FROM t GROUP BY k",
    "distinct": "SELECT k, COUNT(DISTINCT p), COUNT(DISTINCT x), COUNT(DISTINCT id) FROM t GROUP BY k",
    "private keys": "SELECT p, COUNT(*), SUM(x), MAX(x) FROM t GROUP BY p",
    "self join": "SELECT a.k, SUM(a.x - b.x), COUNT(*) FROM t a LEFT JOIN t b ON a.id = b.id AND a.p <> b.p "
    "GROUP BY a.k",
    "union all": "SELECT SUM(x) FROM (SELECT id, x FROM t UNION ALL SELECT id, -x FROM t WHERE k = 'A')",
    "per unit": "SELECT n, SUM(s) FROM (SELECT id, LEAST(COUNT(*), 2) AS n, AVG(x) AS s FROM t GROUP BY id) GROUP BY n",
    "partners": "SELECT a.k, SUM(a.x), COUNT(*) FROM t a "
    "WHERE EXISTS (SELECT * FROM t b WHERE b.id = a.id AND b.p <> a.p) GROUP BY a.k",
    "no partners": "SELECT a.k, SUM(a.x) FROM t a WHERE NOT EXISTS (SELECT * FROM t b WHERE b.id = a.id AND b.p < a.p) "
    "GROUP BY a.k",
    "comma": "SELECT a.k, SUM(a.x + b.x), COUNT(*) FROM t a, t b WHERE b.id = a.id AND (a.p <> b.p OR a.x > b.x) "
    "GROUP BY a.k",
    "of owners": "SELECT k, SUM(x) FROM t WHERE id NOT IN (SELECT id FROM t WHERE p = 'a') GROUP BY k",
}


not_on_spark = pytest.mark.only_on("duckdb", "postgres")


@pytest.fixture(scope="module", params=in_turn(PLACES, ["duckdb"]))
def place(request):
    """On a server each database takes many times as long, so these wait for the full
    run.
    """
    made = PLACES[request.param](TINY)
    yield made
    made.close()


ASKED = [
    (name, gaussian)
    for name in QUESTIONS
    for gaussian in (True, False)
    if gaussian or name != "private keys"
]


@pytest.mark.only_on("duckdb", "postgres")
@pytest.mark.parametrize(("name", "gaussian"), ASKED[::2])
def test_two_units_with_two_kinds_of_rows(place, name, gaussian):
    """One unit brings whatever it can, beside another one with no row, one, and both."""
    beside = [(), ROWS[:1], ROWS[:2]]
    _exhaust(place, QUESTIONS[name], gaussian, units=2, kinds=2, beside=beside)


@pytest.mark.full
@pytest.mark.only_on("duckdb")
@pytest.mark.parametrize(("name", "gaussian"), ASKED)
def test_two_units_with_three_kinds_of_rows(place, name, gaussian):
    _exhaust(place, QUESTIONS[name], gaussian, units=2, kinds=3)


@pytest.mark.full
@pytest.mark.only_on("duckdb")
@pytest.mark.parametrize(
    ("number", "name"), list(enumerate(QUESTIONS)), ids=list(QUESTIONS)
)
def test_three_units_with_two_kinds_of_rows(place, number, name):
    """216 databases. Each question with one kind of noise, in turn."""
    _exhaust(
        place,
        QUESTIONS[name],
        number % 2 == 0 or name == "private keys",
        units=3,
        kinds=2,
    )


@pytest.mark.parametrize(
    "ordered",
    [
        pytest.param(True, marks=pytest.mark.only_on("duckdb")),
        pytest.param(False, marks=pytest.mark.full),
    ],
)
@pytest.mark.parametrize(
    ("most", "at_least"),
    [
        (1, 2),
        *(pytest.param(*one, marks=not_on_spark) for one in ((1, 3), (2, 2), (2, 3))),
    ],
)
def test_candidates_of_private_keys_by_what_units_keep(place, at_least, most, ordered):
    """Between all neighbours, a candidate of one side alone has just as many units as a
    candidate needs. In the quick run the last unit brings no less than the one before.
    """
    sql, stated = (
        "SELECT p, COUNT(*) FROM t GROUP BY p",
        {"gaussian": True, "at_least": at_least, "groups": most},
    )
    plans = [
        planned(place, sql, unit, **stated) for unit in (TINY.unit, replacing(TINY))
    ]
    brought = [(), ROWS[:1], ROWS[1:2], ROWS[:2]]
    found = {}
    for chosen in product(range(4), repeat=3):
        if ordered and chosen[1] > chosen[2]:
            continue
        place.hold(
            {
                "t": [
                    [str(unit), *row]
                    for unit, which in enumerate(chosen)
                    for row in brought[which]
                ]
            }
        )
        found[chosen] = collected(place, plans[0], {})
    assert any(one.candidates for one in found.values())
    for one, two in product(found, found):
        differ = [place for place in range(3) if one[place] != two[place]]
        if len(differ) == 1:
            added = 0 in (one[differ[0]], two[differ[0]])
            check(plans[0] if added else plans[1], found[one], found[two])


def _exhaust(place, sql, gaussian, units, kinds, beside=None):
    """Every pair of neighbours that differ in any unit; or in the first one, where
    `beside` says what the others bring.
    """
    # A unit has two private keys at most: all of them stay candidates, and count in
    # every database. They have two rows, although one is declared: what clipping hides
    # is then clipped in its turn.
    stated = {"gaussian": gaussian, "groups": 2, "values": 1, "cap": 1}
    plan, other = (
        planned(place, sql, unit, **stated) for unit in (TINY.unit, replacing(TINY))
    )
    brought = [
        rows
        for count in (0, 1, 2)
        for rows in combinations_with_replacement(ROWS[:kinds], count)
    ]
    others = [beside or brought] * (units - 1)
    found = [
        _found(
            place,
            plan,
            [[str(unit), *row] for unit, rows in enumerate(chosen) for row in rows],
        )
        for chosen in product(brought, *others)
    ]
    shape = (len(brought), *map(len, others))
    for what in found[0]:
        vectors = np.array([one[what] for one in found], object).reshape(*shape, -1)
        for one in (plan, other):
            _check(one, what, vectors, units if beside is None else 1)


def _found(place, plan, rows):
    """Each vector of the plan: the units of the private keys, norms, and totals,
    whatever keys there are.
    """
    place.hold({"t": rows})
    found = collected(
        place, plan, {m: sizes[1:4:2] or sizes for m, sizes in radii_of(plan).items()}
    )
    vectors = (
        {("keys", 0): [found.candidates.get((key,), 0) for key in "ab"]}
        if plan.keys is not None
        else {}
    )
    vectors |= {("norms", m): counts for m, counts in found.norms.items()}
    for (m, radius), groups in found.totals.items():
        keys = [(key,) for key in "ab"] if plan.keys is not None else [()]
        size = plan.measurements[m].vector.size * (
            1 if plan.keys is not None else plan.groups
        )
        vectors[m, radius] = np.concatenate(
            [groups.get(key, np.zeros(size, np.int64)) for key in keys]
        )
        if (m, radius) in found.hidden:
            none = np.zeros(size, np.int64)
            cut = [found.hidden[m, radius].get(key, none) for key in keys]
            vectors["hidden", (m, radius)] = np.concatenate(cut)
    return vectors


def _check(plan, what, vectors, units):
    """Every pair that differs in one of the first units: for add/remove, one of both
    has nothing of it.
    """
    kind, radius = what
    if kind == "hidden":
        m, clipped = radius
        kind, radius = m, plan.hidden_radius(plan.measurements[m], clipped)
    twice, l2 = 1 + plan.replacing, plan.spend.gaussian
    allowed = (
        plan.keys.groups * twice
        if kind == "keys"
        else twice
        if kind == "norms"
        else plan.sensitivity(radius)
    )
    if kind not in ("keys", "norms"):
        l2 = l2 and plan.measurements[kind].vector.kind is not Kind.TREE
        allowed = allowed**2 if l2 else allowed
    for axis in range(units):
        moved = np.moveaxis(vectors, axis, 0)
        pairs = moved[:, None] - (moved[None, :] if plan.replacing else moved[None, :1])
        sizes = (pairs * pairs).sum(-1) if l2 else abs(pairs).sum(-1)
        assert sizes.max() <= allowed
