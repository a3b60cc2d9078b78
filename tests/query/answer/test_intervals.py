"""Printed intervals hold the true answer, say where they are open, and never look more
precise than they are.
"""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pandas as pd
import pytest

import dither
from bench.redraw import redrawn
from dither.errors import ArgumentError
from dither.explain.report.answer import of_file, of_release
from tests.chance import at_least, chance

KEYS = tuple("ABCDEF")
SURE = 1 - 2e-9
RANDOM = np.random.default_rng(5)  # allowed: test inputs, not noise


def visits(people: int = 3000, most: int = 60) -> pd.DataFrame:
    rows = np.minimum(1 + RANDOM.geometric(0.25, people), most)
    person = np.repeat(np.arange(people), rows)
    size = person.size
    return pd.DataFrame(
        {
            "person": person,
            "ward": RANDOM.choice(list(KEYS), size),
            "x": RANDOM.integers(0, 100, size),
            "s": RANDOM.integers(-50, 50, size),
            "day": pd.Timestamp("2024-01-01")
            + pd.to_timedelta(RANDOM.integers(0, 300, size), unit="D"),
        }
    )


VISITS = visits()
COUNTS = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"


def opened(
    rows: int | None = 60,
    frame: pd.DataFrame = VISITS,
    budget: tuple[float, float] = (100.0, 1e-6),
):
    days = (
        pd.Timestamp("2024-01-01").to_pydatetime(),
        pd.Timestamp("2024-12-31").to_pydatetime(),
    )
    return dither.open(
        frame,
        name="visits",
        unit="person",
        bounds={"x": (0, 100), "s": (-50, 50), "day": days},
        keys={"ward": KEYS},
        rows=rows,
        budget=budget,
    )


@chance(2e-8)
def test_forty_people_with_five_each_are_not_six() -> None:
    """Without signal one row's bound counts, the interval is open upwards, and the
    first line says so.
    """
    frame = pd.DataFrame({"id": range(40), "x": [5] * 40})
    with dither.open(
        frame, name="t", unit="id", bounds={"x": (0, 10)}, budget=1000.0
    ) as data:
        for _ in range(5):
            found = data.sql(
                "SELECT SUM(x) AS s FROM t", epsilon=1.0 + RANDOM.random() / 100
            )
            low, high = found.interval(SURE)
            assert high == math.inf
            assert low <= 200
            assert "at least" in str(found)


@chance(1e-11)
def test_the_first_line_says_that_nothing_was_seen() -> None:
    with opened(
        None, visits(people=3)
    ) as data:  # noise passes for units in one of fifteen draws
        asked = [data.sql(COUNTS, rho=0.001 + n * 1e-5) for n in range(10)]
        found = next(one for one in asked if one.first)
        first = str(found).splitlines()[0]
        assert first.startswith("n: at this cost there are too few units to find out")
        assert "declare rows" in first
        assert found.first in found._repr_html_()


@chance(3e-9)
def test_with_a_cap_ungrouped_answers_are_as_wide_as_previewed() -> None:
    with opened() as data:
        shown = (
            data.preview("SELECT COUNT(*) AS n FROM visits", epsilon=1.0)
            .columns[0]
            .errors
        )
        ((when, width),) = shown
        found = data.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1.0)
        assert re.fullmatch(
            "at radius = cap; a smaller radius gives a nearer number and, where it cuts "
            r"off little, about [\d.]+ × that width",
            when,
        )
        assert width > 0
        low, high = found.interval(SURE)
        assert low <= len(VISITS) <= high
        # a stated error needs the public one
        exact = data.preview("SELECT COUNT(*) AS n FROM visits", error=1000)
        ((when, width),) = exact.columns[0].errors
        assert (when, width) == ("", pytest.approx(1000, rel=0.01))
        found = data.sql("SELECT COUNT(*) AS n FROM visits", error=1000)
        low, high = found.interval(of="noise")
        assert (high - low) / 2 == pytest.approx(width, abs=1)


@chance(1e-8)
def test_grouped_gaussian_answers_measure_what_they_hide() -> None:
    with opened() as data:
        found = data.sql(
            "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", rho=0.05
        )
        truth = VISITS.groupby("ward").size()
        noise = found.interval(SURE, of="noise")
        for (key, value), (_, ends), (_, alone) in zip(
            found.rows, found.interval(SURE), noise, strict=True
        ):
            assert ends[0] <= truth[key] <= ends[1]
            assert ends[0] <= value <= ends[1]
            assert ends[1] >= alone[1]
        assert "are scaled down; the interval includes this" in str(found)
        # rows are whole, also if the limit is not
        assert re.search(r"units with more than [\d,]+ rows? \(a limit", str(found))


@chance(1e-8)
def test_without_a_cap() -> None:
    with opened(None) as data:
        found = data.sql(
            "SELECT COUNT(*) AS n, SUM(s) AS z, AVG(x) AS a, MEDIAN(day) AS d FROM visits",
            epsilon=4.0,
        )
        n, z, a, d = found.interval(SURE)[0]
        assert n[0] < len(VISITS)
        assert n[1] == math.inf
        assert z == a == (-math.inf, math.inf)
        assert d == (None, None)
        assert "at least" in str(found)
        assert str(found).count("no interval: declare rows") >= 3
        frame = found.to_pandas()
        assert frame["n_high"][0] == math.inf
        assert found["n"].interval()[1] == math.inf
        assert found["n"].interval(of="noise")[1] < math.inf


def test_an_interval_is_of_the_truth_or_of_the_noise() -> None:
    with opened() as data:
        found = data.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1.0)
        with pytest.raises(ArgumentError, match='must be "truth" or "noise"'):
            found.interval(of="both")


@chance(5e-9)
def test_a_maximum_may_be_as_high_as_its_bound() -> None:
    with opened() as data:
        found = data.sql(
            "SELECT MAX(x) AS top, MIN(x) AS bottom FROM visits", epsilon=2.0
        )
        (low, high), (least, most) = found.interval(SURE)[0]
        assert (high, least) == (100, 0)
        assert low <= VISITS.x.max()
        assert most >= VISITS.x.min()


def test_a_wanted_error_is_that_of_the_whole_interval() -> None:
    sql = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    with opened() as data:
        found = data.sql(sql, error="±400 at 95%")
        assert max(high - low for _, (low, high) in found.interval()) <= 800
        with pytest.raises(ArgumentError, match="cannot be reached"):
            data.preview(sql, error=1e-3)
    with opened(None) as data:
        with pytest.raises(ArgumentError, match="declare rows, or pass radius"):
            data.preview(sql, error="±400 at 95%")
        assert data.preview(sql, error="±400 at 95%", radius=5).affordable


def test_a_smaller_error_never_costs_less() -> None:
    with opened(budget=(4.0, 1e-6)) as data:
        sql = "SELECT COUNT(*) AS n FROM visits"
        shares = [
            data.preview(sql, error=error).share
            for error in (100, 150, 200, 300, 400, 600, 1000, 2000)
        ]
        assert shares == sorted(shares, reverse=True)


def test_selected_rows_have_intervals_that_hold_all_at_once() -> None:
    """At a radius that is public, so that widths are."""
    sql = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    stated = {"epsilon": 1.0, "radius": 1000}
    with opened() as data:
        alone = data.sql(sql, **stated).interval()
        best = data.sql(f"{sql} ORDER BY n DESC LIMIT 2", **stated)
        chosen = data.sql(f"{sql} HAVING COUNT(*) > 0", **stated)
        keys = data.sql(f"{sql} ORDER BY ward LIMIT 2", **stated)
    assert "rows were selected from 6" in str(best)
    assert "rows were chosen" not in str(keys)

    def width(cells):
        return cells[0][1][1] - cells[0][1][0]

    assert width(best.interval()) > 1.3 * width(alone)
    assert width(chosen.interval()) > 1.3 * width(alone)
    assert width(keys.interval()) == width(alone)


def test_a_total_can_be_declared_when_a_table_is_opened() -> None:
    frame = pd.DataFrame(
        {"id": [n % 50 for n in range(500)], "x": [n % 90 for n in range(500)]}
    )
    told = {"bounds": {"x": (0, 1000)}, "rows": 100, "totals": {"x": 2000}}
    with dither.open(frame, name="t", unit="id", budget=9.0, **told) as data:
        assert width(data, "SELECT SUM(x) AS s FROM t") == pytest.approx(
            2 * 2000 * math.log(20), rel=0.01
        )
    several = {name: {"t": one} for name, one in told.items()}
    with dither.open({"t": frame}, unit="id", budget=9.0, **several) as data:
        assert width(data, "SELECT SUM(x) AS s FROM t") == pytest.approx(
            2 * 2000 * math.log(20), rel=0.01
        )
    with pytest.raises(ArgumentError, match="the column 'y' in totals= does not exist"):
        dither.open(frame, name="t", unit="id", budget=9.0, totals={"y": 3})


def covered(data, sql: str, draws: int = 300, **cost: float) -> float:
    """How often the last column's intervals hold the truth."""
    with redrawn(data, sql, **cost) as again:
        return float(np.nanmean(again.covered(draws)[:, -1]))


@chance(1e-9)
@pytest.mark.parametrize("zeros", [0.495, 0.5005, 0.505])
@pytest.mark.parametrize("epsilon", [0.2, 1.0])
def test_a_median_beside_a_gap(zeros, epsilon) -> None:
    """Thousands of points that nobody has, and the median at their edge."""
    rows = 4000
    values = np.where(
        np.arange(rows) < zeros * rows, 0.0, 3000 + RANDOM.random(rows) * 7000
    )
    frame = pd.DataFrame({"c": RANDOM.permutation(values)})
    with dither.open(
        frame, name="t", unit="row", bounds={"c": (0.0, 10_000.0)}, budget=9.0
    ) as data:
        share = covered(data, "SELECT MEDIAN(c) AS m FROM t", epsilon=epsilon)
        assert share >= at_least(300, 0.95, 1e-9) / 300


@chance(1e-12)
@pytest.mark.parametrize("function", ["STDDEV", "VAR_SAMP", "VAR_POP"])
@pytest.mark.parametrize("size", [2, 4, 15])
def test_deviations_of_small_groups(function, size) -> None:
    keys = [f"k{n}" for n in range(12)]
    frame = pd.DataFrame(
        {"g": np.repeat(keys, size), "x": [n % 2 for n in range(12 * size)]}
    )
    with dither.open(
        frame, name="t", unit="row", bounds={"x": (0, 1)}, keys={"g": keys}, budget=9.0
    ) as data:
        assert (
            covered(
                data,
                f"SELECT g, {function}(x) AS v FROM t GROUP BY g",
                draws=60,
                epsilon=1.0,
            )
            > 0.87
        )


@chance(3e-9)
def test_different_values_beyond_the_declared_ones() -> None:
    """Declared keys keep no other value out of the data, so they close no interval."""
    frame = pd.DataFrame(
        {"id": np.repeat(np.arange(200), 30), "code": [f"x{n}" for n in range(6000)]}
    )
    with dither.open(
        frame, name="t", unit="id", keys={"code": ["a", "b"]}, rows=40, budget=99.0
    ) as data:
        low, high = data.sql(
            "SELECT COUNT(DISTINCT code) AS n FROM t", epsilon=1.0
        ).interval(SURE)
        assert (low < 6000, high) == (True, math.inf)
        with pytest.raises(ArgumentError, match="the error of 'n' has no upper bound"):
            data.preview("SELECT COUNT(DISTINCT code) AS n FROM t", error=50)


def test_a_correlation_that_noise_drowned_may_be_anything() -> None:
    with (
        opened(frame=visits(people=20)) as data,
        redrawn(data, f"{CORR} GROUP BY ward", rho=0.3) as again,
    ):
        drawn = again.drawn(50)
    assert drawn.open[:, -1].max() == 0
    assert np.nanmax(drawn.width[:, -1]) <= 2


CORR = "SELECT ward, CORR(x, s) AS r FROM visits"


@pytest.mark.parametrize(
    ("stated", "sql", "words"),
    [
        (
            {"error": 5, "expect": 3000},
            "SELECT ward, AVG(x) AS a FROM visits GROUP BY ward",
            "declare rows",
        ),
        (
            {"error": 5, "expect": 3000},
            "SELECT MEDIAN(x) AS a FROM visits",
            "declare rows",
        ),
    ],
)
def test_errors_that_would_not_be_kept(stated, sql, words) -> None:
    with opened(None) as data, pytest.raises(ArgumentError, match=words):
        data.preview(sql, **stated)


def test_an_error_is_kept_where_rows_are_chosen() -> None:
    with opened() as data:
        for sql in (
            f"{COUNTS} ORDER BY n DESC LIMIT 2",
            f"{COUNTS} HAVING COUNT(*) > 1",
            COUNTS,
        ):
            found = data.sql(sql, error=900)
            assert max(high - low for _, (low, high) in found.interval()) <= 1800
            with pytest.raises(ArgumentError, match="leave radius out"):
                data.preview(sql, error=900, radius=2)


CLINIC = """
unit = "id"
[budget]
epsilon = 50
[tables.t]
source = "t.csv"
rows = 100
[tables.t.columns]
id = "integer"
place = "integer"
x = { type = "integer", low = 0, high = 1000, total = 2000 }
[tables.places]
source = "places.csv"
public = true
[tables.places.columns]
place = "integer"
"""


@pytest.fixture
def catalogue(tmp_path):
    (tmp_path / "t.csv").write_text(
        "id,place,x\n" + "\n".join(f"{n % 50},{n % 3},{n % 90}" for n in range(500))
    )
    (tmp_path / "places.csv").write_text("place\n0\n1\n2\n2\n")
    (tmp_path / "c.toml").write_text(CLINIC)
    with dither.open(tmp_path / "c.toml", ledger=":memory:") as data:
        yield data


def width(data, sql):
    """Of an interval at radius = cap, if all of the cost went to the estimate."""
    ((when, half), *_) = data.preview(sql, epsilon=1.0).columns[0].errors
    assert when.startswith("at radius = cap; a smaller radius gives a nearer number")
    return 2 * half * (1 - 4 / 25)


def test_a_declared_total_is_a_cap_too(catalogue) -> None:
    """2000 in all instead of 100 rows of 1000; through a join or a sum of two it no
    longer holds.
    """
    assert width(catalogue, "SELECT SUM(x) AS s FROM t") == pytest.approx(
        2 * 2000 * math.log(20), rel=0.01
    )
    assert width(catalogue, "SELECT SUM(x) AS s FROM t WHERE x > 3") == pytest.approx(
        2 * 2000 * math.log(20), rel=0.01
    )
    twice = "SELECT SUM(t.x) AS s FROM t JOIN places p ON t.place = p.place"
    assert width(catalogue, twice) == pytest.approx(
        2 * 200_000 * math.log(20), rel=0.01
    )
    assert width(catalogue, "SELECT SUM(x + 1) AS s FROM t") > 100_000


def test_a_join_with_a_public_table_multiplies_the_cap(catalogue) -> None:
    alone = width(catalogue, "SELECT COUNT(*) AS n FROM t")
    assert alone == pytest.approx(2 * 100 * math.log(20), rel=0.02)
    assert width(
        catalogue, "SELECT COUNT(*) AS n FROM t JOIN places p ON t.place = p.place"
    ) == pytest.approx(2 * alone, rel=0.02)


def test_an_outer_join_keeps_the_cap(catalogue) -> None:
    alone = width(catalogue, "SELECT COUNT(*) AS n FROM t")
    once = "SELECT COUNT(*) AS n FROM t LEFT JOIN (SELECT DISTINCT place FROM places WHERE place = 1) p USING (place)"
    assert alone <= width(catalogue, once) < 5 * alone


@pytest.mark.parametrize("total", ["0", "-3", '"many"', "true"])
def test_bad_totals_are_refused(tmp_path, total) -> None:
    (tmp_path / "c.toml").write_text(CLINIC.replace("total = 2000", f"total = {total}"))
    with pytest.raises(ArgumentError, match="total"):
        dither.open(tmp_path / "c.toml", ledger=":memory:")


def test_values_lie_in_their_intervals() -> None:
    few = opened(1, visits(4, 1), (1e3, 1e-6))
    asked = (
        "SELECT ward, COUNT(*) AS n, COUNT(DISTINCT person) AS people, SUM(x) AS s, "
        "SUM(-x) AS less, AVG(s) AS mean, MEDIAN(x) AS middle, VAR_POP(x) AS v, "
        "COUNT(*) + 40 AS more FROM visits GROUP BY ward"
    )
    for draw in range(30):
        found = few.sql(asked, epsilon=2 + draw / 1000)
        for row, ends in zip(found.rows, found.spread(0.95), strict=True):
            for value, pair in zip(row, ends, strict=True):
                assert pair is None or pair[0] <= value <= pair[1], (row, ends)
            assert min(row[1:4]) >= 0 >= row[4]


def uneven() -> pd.DataFrame:
    """Three thousand rows in A, thirty in B and none in the others."""
    return pd.DataFrame(
        {
            "person": range(3030),
            "ward": ["A"] * 3000 + ["B"] * 30,
            "x": np.append(RANDOM.integers(20, 80, 3000), np.arange(35, 65)),
            "s": np.append(RANDOM.integers(-30, 30, 3000), np.arange(-15, 15)),
            "day": pd.Timestamp("2024-03-01")
            + pd.to_timedelta(RANDOM.integers(0, 90, 3030), unit="D"),
        }
    )


FEW = [
    "not enough rows: at least 0, declared",
    "not enough rows: at most 100, declared",
    "not enough rows: at most 2024-12-31T00:00:00, declared",
    "not enough rows",
]


@chance(1e-7)
def test_an_extreme_is_shown_if_noise_hides_a_tenth_of_the_rows_at_most() -> None:
    """A printed maximum below the printed minimum was seen before; the bound is all
    that few rows tell. The chance is that thirty rows look like three hundred.
    """
    with opened(1, uneven()) as data:
        found = data.sql(
            "SELECT ward, MIN(x), MAX(x), MAX(day), MAX(x) - MIN(x) AS span, "
            "MAX(s) AS top FROM visits WHERE ward IN ('A', 'B') GROUP BY ward",
            epsilon=4,
        )
        (_, *told), (_, *untold), *_ = found.rows
        assert all(value is not None for value in told)
        assert told[0] <= told[1]
        assert untold == [None] * 5
        assert found.shown()[1][1:5] == FEW
        for text in (str(found), found.to_markdown(), found._repr_html_()):
            assert all(words in text for words in FEW)
        frame, row = found.to_pandas(), json.loads(found.to_json())["rows"][1]
        assert frame["max(x)"].isna().tolist()[:2] == [False, True]
        assert row["values"][1:] == [None] * 5
        assert row["words"] == [None, *FEW, "not enough rows: at most 50, declared"]
        assert (row["low"][1], row["high"][2]) == (0, 100)
        assert FEW[0] in of_file(found.to_json()).rows[1]
        assert of_release(found).rows[1][1:5] == tuple(FEW)
        for (low, high), true in zip(
            found.interval(SURE)[1][1:3], (35, 64), strict=True
        ):
            assert low <= true <= high
        assert "no number is shown for groups with fewer than 10" in str(found)


@chance(1e-7)
def test_an_extreme_that_is_not_shown_is_null_in_what_follows() -> None:
    with opened(1, uneven()) as data:
        sql = "SELECT ward, MAX(x) AS top FROM visits GROUP BY ward"
        ordered = data.sql(f"{sql} ORDER BY top DESC LIMIT 1", epsilon=2)
        assert [row[0] for row in ordered.rows] == ["A"]
        smallest = data.sql(f"{sql} ORDER BY top", epsilon=2)
        assert smallest.rows[0][0] == "A"
        kept = data.sql(f"{sql} HAVING top >= 0", epsilon=2)
        assert [row[0] for row in kept.rows] == ["A"]
        other = data.sql(
            "SELECT ward, COALESCE(MAX(x), -7) AS top FROM visits GROUP BY ward",
            epsilon=2,
        )
        assert other.rows[1] == ("B", -7)
        low, high = other.spread(0.95)[1][1]
        assert low <= -7 < 64 <= high
        (total,) = data.sql("SELECT MAX(x) - MIN(x) FROM visits", epsilon=8).rows
        assert total[0] > 0


def test_a_preview_says_where_an_extreme_will_not_be_shown() -> None:
    with opened(1, uneven()) as data:
        sql = "SELECT MAX(x) AS top FROM visits"
        assert "not enough rows for groups of 100 rows" in str(
            data.preview(sql, epsilon=0.5)
        )
    with opened(1, uneven(), (1.0, 1e-6)) as data:
        with pytest.raises(ArgumentError, match="too few rows for a minimum"):
            data.preview(sql, error=5, expect=3)
        assert data.preview(sql, error=40, expect=10_000).columns


@chance(1e-9)
@pytest.mark.parametrize("top", [100, 1_000_000])
def test_the_interval_of_a_median_holds_the_plain_one(top) -> None:
    """Real data are not on our grid: half of these are 10.57626, as in a survey where
    missing values were set to the mean.
    """
    values = np.append(np.full(10_000, 10.57626), RANDOM.lognormal(2.3, 0.6, 10_000))
    frame = pd.DataFrame({"x": np.minimum(values, 100)})
    with dither.open(
        frame, name="t", unit="row", bounds={"x": (0, top)}, budget=100
    ) as data:
        for level in (0.25, 0.5, 0.9):
            sql = f"SELECT QUANTILE_CONT(x, {level}) AS q FROM t"
            found = data.sql(sql, epsilon=2)
            low, high = found.interval(SURE)
            assert low <= np.quantile(frame.x, level) <= high
            assert high - low < 2
            assert low <= found.value <= high
