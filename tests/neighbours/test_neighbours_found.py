"""What neighbouring databases showed once, each in its smallest form: failures and
moves that a unit must not cause.
"""

from __future__ import annotations

import pytest

from dither.query.collect import runner as collect
from tests.conformance.asking import marks_of
from tests.neighbours.neighbour_checks import check, collected, planned, radii_of
from tests.neighbours.neighbour_engines import PLACES
from tests.neighbours.neighbour_place import IDS, NUMBERED
from tests.neighbours.neighbours import HIGH, LOW, NAMES

PERSON = ["F", "Rome", 0.3]
VISIT = ["A", "2020-01-01", None, "7", "1", 1.25, 0.5, "true", "x"]
SCORE, RAW, BIG = 5, 6, 4


KINDS = {"text ids": IDS, "numbers as ids": NUMBERED}


def where(**fewer):
    """Each engine with each kind of ids, but for engines of which fewer kinds are
    named.
    """
    return [
        pytest.param((name, kind), id=f"{name}, {kind}", marks=marks_of(name))
        for name in PLACES
        for kind in fewer.get(name, KINDS)
    ]


@pytest.fixture(scope="module", params=where(spark=["text ids"]))
def place(request):
    name, kind = request.param
    made = PLACES[name](KINDS[kind])
    yield made
    made.close()


about_ids = pytest.mark.parametrize("place", where(), indirect=True)


def some_radii(place, plan):
    """All of them; on Spark, where each takes a second, the least and a row."""
    found = radii_of(plan)
    if place.engine.dialect.name != "spark":
        return found
    rows = {m: plan.measurements[m].vector.row for m in found}
    return {m: sorted({sizes[0], rows[m]} & set(sizes)) for m, sizes in found.items()}


def visit(key, id, **changed):
    row = list(VISIT)
    for column, value in changed.items():
        row[{"score": SCORE, "raw": RAW, "big": BIG, "cost": 3}[column]] = value
    return [key, id, *row]


def compared(place, sql, others, mine, *, gaussian=False, radii=None):
    """Both databases of a pair, after the check that they are close enough."""
    plan = planned(place, sql, place.catalogue.unit, gaussian=gaussian)
    place.hold(others)
    found = [collected(place, plan, radii or some_radii(place, plan))]
    place.version(mine)
    found.append(collected(place, plan, radii or some_radii(place, plan)))
    check(plan, *found)
    return found


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(n * 4611686018427387904 % 7) FROM (SELECT id, COUNT(*) AS n FROM people GROUP BY id)",
        "SELECT SUM(FLOOR(SQRT(0.7 - t) * 9)) FROM (SELECT id, SUM(weight) AS t FROM people GROUP BY id)",
    ],
)
def test_more_rows_than_declared_do_not_fail(place, sql):
    """A count above its range overflowed; a sum above it made a NaN, which no integer
    can hold.
    """
    compared(place, sql, {}, {"people": [["1", *PERSON]] * 3})


@pytest.mark.parametrize("score", [7.3, -2.5, 0.1, 1 / 3])
def test_an_average_within_a_unit_stays_in_its_range(place, score):
    """It is a sum of whole steps, and was just outside: under a square root that made a
    NaN.
    """
    number = "FLOOR(SQRT(7.3 - s) * 9) + FLOOR(SQRT(s + 2.5) * 9) + FLOOR(LN(s + 2.6))"
    sql = f"SELECT SUM({number}) FROM (SELECT id, AVG(score) AS s FROM visits GROUP BY id)"
    compared(place, sql, {}, {"visits": [visit("1", "1", score=score)] * 3})


@pytest.mark.parametrize("big", ["9223372036854775807", "-9223372036854775808"])
def test_the_leaf_of_a_long_integer_does_not_overflow(place, big):
    sql = "SELECT MEDIAN(LEAST(GREATEST(big, -9223372036854775808), 9223372036854775807)), MAX(cost * 40000000000000000)"
    compared(
        place,
        f"{sql} FROM visits",
        {},
        {"visits": [visit("1", "1", big=big, cost="100")]},
    )


def test_tiny_ranges_have_steps(place):
    sql = "SELECT SUM(score * 1e-322), AVG(score * 1e-322), SUM(t) FROM (SELECT id, score, score AS t FROM visits)"
    compared(place, sql, {}, {"visits": [visit("1", "1")]})
    sql = "SELECT SUM(t) FROM (SELECT id, AVG(score * 1e-322) AS t FROM visits GROUP BY id)"
    compared(place, sql, {}, {"visits": [visit("1", "1")]})


@pytest.mark.parametrize(
    "rows",
    [
        "SELECT id, MIN(raw) AS r FROM visits GROUP BY id",
        "SELECT id, raw AS r FROM visits GROUP BY id, raw",
        "SELECT DISTINCT id, raw AS r FROM visits",
    ],
)
def test_zeros_of_both_signs_are_one_value(place, rows):
    """They are equal, but as texts they differ: which of them was kept depended on the
    order of all rows.
    """
    sql = (
        f"SELECT CAST(r AS VARCHAR), COUNT(*) FROM ({rows}) GROUP BY CAST(r AS VARCHAR)"
    )
    plan = planned(place, sql, place.catalogue.unit, gaussian=True)
    seen = []
    for raws in ([0.0, -0.0], [-0.0, 0.0]):
        place.hold({"visits": [visit("1", "1", raw=raw) for raw in raws]})
        seen.append(collected(place, plan, {}).candidates)
    assert seen[0] == seen[1] == {("0.0",): 1}


def test_sums_beyond_64_bits_are_held_after_clipping(place, monkeypatch):
    """Held one by one, the sum of all parts stood still at the limit while what
    clipping takes off went on moving.
    """
    monkeypatch.setattr(collect, "LARGEST", 20 << 12)
    others = {"visits": [visit(str(n), str(n % 9)) for n in range(90)]}
    mine = {"visits": [visit(str(n), "10") for n in range(100, 150)]}
    for gaussian in (False, True):
        one, two = compared(
            place,
            "SELECT COUNT(*) FROM visits",
            others,
            mine,
            gaussian=gaussian,
            radii={0: [1 << 12]},
        )
        assert one.totals[0, 1 << 12][()][0] in range((9 << 12) - 50, (9 << 12) + 1)
        assert two.totals[0, 1 << 12][()][0] > 9 << 12


@about_ids
def test_bounds_of_a_parent_key_do_not_mix_units(place):
    """Clipped to its bounds, one unit's key became another's, and linked rows lost
    their owner.
    """
    code = ["I10", "3"]
    others = {"visits": [visit("5000", "1")], "codes": [["5000", *code]]}
    mine = {"visits": [visit("6000", "2")], "codes": [["6000", *code]] * 2}
    one, two = compared(
        place, "SELECT COUNT(*) FROM codes", others, mine, radii={0: [5 << 12]}
    )
    assert [found.totals[0, 5 << 12][()][0] for found in (one, two)] == [
        1 << 12,
        3 << 12,
    ]


@about_ids
def test_rows_linked_to_a_key_of_several_units_have_no_owner(place):
    """Given to the unit that comes first, they would change hands when a unit before it
    comes in.
    """
    others = {
        "visits": [visit("5", "2"), visit("5", "3")],
        "codes": [["5", "I10", "3"], ["5", "J45", "1"]],
    }
    one, two = compared(
        place,
        "SELECT code, COUNT(*) FROM codes GROUP BY code",
        others,
        {"visits": [visit("5", "1")]},
    )
    assert one.candidates == two.candidates == {}


@about_ids
@pytest.mark.parametrize("alike", [0, 1, -2, -1])
def test_ids_that_look_alike_are_different_units(place, alike):
    """Rule R10: case, blanks, Unicode forms and bounds tell units apart; the spellings
    of a number do not.
    """
    ids = (
        [[name] for name in NAMES[alike]]
        if place.catalogue is IDS
        else (HIGH, LOW)[alike % 2]
    )
    rows = [{"visits": [visit("1", spelling) for spelling in one] * 3} for one in ids]
    others = {"visits": [row for brought in rows[1:] for row in brought["visits"]]}
    _, two = compared(
        place, "SELECT COUNT(DISTINCT id), COUNT(*) FROM visits", others, rows[0]
    )
    assert two.totals[0, 1][()][0] == len(ids)


@about_ids
def test_ids_that_tables_clip_differently_are_one_unit(place):
    """A unit had a row for each form of its id, although a summary has one row for each
    unit.
    """
    rows = "SELECT id, COUNT(*) AS n FROM (SELECT id FROM people UNION ALL SELECT id FROM visits) GROUP BY id"
    mine = {"people": [["9", *PERSON]], "visits": [visit("1", "9")]}
    _, two = compared(place, f"SELECT COUNT(*) FROM ({rows})", {}, mine)
    assert two.totals[0, 1][()][0] == 1


@pytest.mark.only_on("duckdb")  # so many rows take too long elsewhere
def test_a_sum_that_fits_no_integer_is_held(place):
    """Public rows can be multiplied at will: 13 million rows of 2^39 steps each."""
    joins = " ".join(f"CROSS JOIN wards w{n}" for n in range(8))
    sql = f"SELECT SUM(v.cost * 30000000000000000) FROM visits v {joins}"
    mine = {"visits": [visit(str(n), "1", cost="100") for n in range(8)]}
    compared(place, sql, {}, mine, radii={0: [1 << 44]})
