"""What a question costs, in every way to say it, and that a preview told so before."""

from __future__ import annotations

import math
import re

import pytest

import dither
from dither.errors import ArgumentError, BudgetExceeded
from dither.ledger import Budget
from dither.privacy import GaussianDP, PureDP
from dither.query.asker import answer
from dither.query.preview import Preview
from dither.table import TableRelease
from tests.conformance.world import CATALOGUES

pytestmark = pytest.mark.only_on("duckdb", "postgres")
COUNT = "SELECT COUNT(*) FROM visits"
BOTH = "SELECT COUNT(*) AS n, SUM(cost) AS s FROM visits"
UNIT = CATALOGUES["clinic"].unit


def spent(account):
    """The part of the account that is gone."""
    return 1 - account.remaining.share


def half_widths(release, level=0.95):
    """Half of each interval before it is cut at zero; of one that is open, how far its
    known end lies away.
    """
    truth, both = release.cells(level), release.cells(level, of="noise")
    one = release.cells(2 * level - 1, of="noise")
    return [
        [_half(*cell) for cell in zip(*row, strict=True)]
        for row in zip(truth, both, one, strict=True)
    ]


def _half(ends, both, one):
    if ends is None:
        return None
    low, high = one if sum(map(math.isinf, ends)) == 1 else both
    return (high - low) / 2


def widths(preview):
    return {
        column.name: column.errors[0][1] for column in preview.columns if column.errors
    }


# A wanted error


@pytest.mark.parametrize(
    ("world", "sql", "stated", "wanted"),
    [
        ("survey", "SELECT COUNT(*) FROM answers", {}, 40),
        ("survey", "SELECT SUM(age) FROM answers", {}, "±2000"),
        (
            "survey",
            "SELECT party, COUNT(*) FROM answers GROUP BY party",
            {},
            "±25 at 99%",
        ),
        ("survey", "SELECT AVG(age) FROM answers", {"expect": 300}, 10),
        ("survey", "SELECT MEDIAN(age) FROM answers", {"expect": 300}, "±20 at 90%"),
        ("clinic", "SELECT COUNT(*) FROM visits", {"radius": 10}, 100),
        ("clinic", "SELECT SUM(cost) FROM visits", {"radius": 20_000}, "±50000"),
        ("clinic", "SELECT COUNT(*), COUNT(note) FROM visits", {"radius": 10}, 200),
        ("clinic", "SELECT COUNT(DISTINCT patient_id) FROM visits", {}, 12),
    ],
)
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_a_wanted_error_is_reached_at_hardly_more_than_the_least_cost(
    worlds, world, sql, stated, wanted, delta
):
    database = worlds.under(world, Budget(50.0, delta, unit=CATALOGUES[world].unit))
    preview = database.preview(sql, error=wanted, **stated)
    level = (
        float(found[1]) / 100
        if (found := re.search(r"at (\d+)%", str(wanted)))
        else 0.95
    )
    width = float(re.search(r"[\d.]+", str(wanted))[0])
    epsilon = preview.epsilon_alone
    cheaper = database.preview(sql, epsilon=epsilon * 0.99, **stated)
    if level == 0.95:
        assert all(found <= width for found in widths(preview).values())
        # with a δ, the same ε may be spent on another noise, which costs the account
        # more
        if not delta:
            assert any(found > width for found in widths(cheaper).values())
    release = database.sql(sql, error=wanted, **stated)
    if "expect" not in stated:
        got = [
            half
            for row in half_widths(release, level)
            for half in row
            if half is not None
        ]
        assert max(got) <= width + 1
        assert max(got) >= 0.9 * width - 1


def test_a_wanted_error_for_each_column(pure):
    preview = pure.preview(
        BOTH, error={"n": 400, "s": "±300000"}, radius={"n": 20, "s": 20_000}
    )
    found = widths(preview)
    assert found["n"] <= 400
    assert found["s"] <= 300_000
    assert found["n"] > 390 or found["s"] > 290_000


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({"error": 10}, "radius"),
        ({"error": 0.001, "radius": 5}, "whole account"),
        ({"error": {"m": 5}, "radius": 5}, "names 'm'"),
        ({"error": "small", "radius": 5}, "error cannot be read"),
        ({"error": 5, "epsilon": 1.0}, "pass exactly one of"),
    ],
)
def test_errors_that_cannot_be_promised(pure, stated, message):
    with pytest.raises(ArgumentError, match=message):
        pure.sql("SELECT COUNT(*) AS n FROM visits", **stated)
    assert spent(pure.account) == 0


# Ways to say the cost


def test_epsilon_is_the_guarantee_of_the_answer(pure, approximate):
    assert pure.sql(COUNT, epsilon=0.7).guarantee == PureDP(0.7, unit=UNIT)
    found = approximate.sql(
        "SELECT doctor, COUNT(*) FROM visits GROUP BY doctor", epsilon=0.7
    ).guarantee
    assert isinstance(found, GaussianDP)
    assert found.epsilon_at(1e-6) == pytest.approx(0.7, rel=1e-9)


def test_rho_is_half_the_square_of_mu(approximate):
    found = approximate.sql(COUNT, rho=0.02, radius=5).guarantee
    assert isinstance(found, GaussianDP)
    assert found.mu == pytest.approx(0.2)


def test_rho_needs_a_delta(pure):
    with pytest.raises(ArgumentError, match="rho"):
        pure.sql(COUNT, rho=0.02)


def test_shares_of_the_account_add_up_to_it(pure):
    preview = pure.preview(COUNT, share=0.25)
    assert preview.share == pytest.approx(0.25)
    for radius in (1, 2, 3, 4):
        pure.sql(COUNT, share=0.25, radius=radius)
    assert spent(pure.account) == pytest.approx(1.0)
    with pytest.raises(BudgetExceeded, match="Nothing was spent"):
        pure.sql(COUNT, share=0.25, radius=5)


def test_shares_of_an_account_with_a_delta_fit_in_whatever_noise_they_use(approximate):
    """Four quarters always fit. Pure answers may leave something: they count in the way
    that leaves more.
    """
    queries = (
        COUNT,
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward",
        "SELECT doctor FROM visits GROUP BY doctor",
        BOTH,
    )
    kinds = {
        type(approximate.sql(sql, share=0.25, radius=5).guarantee) for sql in queries
    }
    assert kinds == {PureDP, GaussianDP}
    assert approximate.account.remaining.share < 1e-5


def test_a_share_of_the_account_names_private_keys_too(approximate):
    sql = "SELECT doctor, COUNT(*) FROM visits GROUP BY doctor"
    for groups in (1, 2, 3, 4):
        approximate.sql(sql, share=0.25, groups=groups)
    with pytest.raises(BudgetExceeded):
        approximate.sql(sql, share=0.25, groups=5)


@pytest.mark.parametrize(
    "bad",
    [
        {},
        {"epsilon": 1.0, "rho": 0.1},
        {"epsilon": -1.0},
        {"share": 0.0},
        {"share": 1.5},
    ],
)
def test_costs_that_are_none(approximate, bad):
    with pytest.raises(ArgumentError):
        approximate.sql(COUNT, **bad)
    assert spent(approximate.account) == 0


# How it is spent


@pytest.mark.parametrize(("n", "s"), [(1, 1), (3, 1), (1, 9)])
def test_stated_shares_split_the_cost(pure, n, s):
    """Laplace noise is as wide as its part of ε is small."""
    found = widths(
        pure.preview(
            BOTH, epsilon=1.0, shares={"n": n, "s": s}, radius={"n": 20, "s": 20}
        )
    )
    assert found["n"] / found["s"] == pytest.approx(s / n, rel=0.01)
    alone = widths(
        pure.preview("SELECT COUNT(*) AS n FROM visits", epsilon=n / (n + s), radius=20)
    )
    assert found["n"] == pytest.approx(alone["n"], rel=1e-3)


def test_stated_shares_split_gaussian_noise_by_squares(approximate):
    found = widths(
        approximate.preview(
            BOTH, rho=0.1, shares={"n": 4, "s": 1}, radius={"n": 20, "s": 20}
        )
    )
    assert found["s"] / found["n"] == pytest.approx(2, rel=0.01)


def test_shares_leave_no_column_out(pure):
    for shares in ({"n": 1}, {"n": 1, "x": 1}, {"n": 1, "s": 0}):
        with pytest.raises(ArgumentError, match="shares"):
            pure.sql(BOTH, epsilon=1.0, shares=shares)


@pytest.mark.parametrize("radius", [1, 7, 500])
def test_the_radius_is_the_sensitivity(pure, radius):
    """One side of Laplace noise of scale radius / ε at 95 %: its scale times ln 10."""
    found = widths(pure.preview(COUNT, epsilon=1.0, radius=radius))
    assert found["count(*)"] == pytest.approx(radius * math.log(10), rel=1e-2)


def test_replacing_a_unit_moves_a_total_twice_as_far(worlds):
    found = {}
    for world in ("clinic", "clinic, replace"):
        database = worlds.under(world, Budget(10.0, unit=CATALOGUES[world].unit))
        found[world] = widths(database.preview(COUNT, epsilon=1.0, radius=5))[
            "count(*)"
        ]
    assert found["clinic, replace"] == pytest.approx(2 * found["clinic"], rel=1e-3)


def test_values_are_the_sensitivity_of_different_values(pure):
    few, many = (
        widths(
            pure.preview(
                "SELECT COUNT(DISTINCT note) AS n FROM visits",
                epsilon=1.0,
                values=values,
            )
        )["n"]
        for values in (10, 40)
    )
    assert many == pytest.approx(4 * few, rel=0.05)


def test_fewer_private_keys_for_a_unit_are_named_sooner(approximate):
    def threshold(groups):
        text = approximate.explain_plan(
            "SELECT doctor FROM visits GROUP BY doctor", epsilon=1.0, groups=groups
        )
        return int(
            re.search(rf"units is at least (\d+).* at most {groups} keys?", text)[1]
        )

    assert threshold(1) < threshold(4) < threshold(16)


@pytest.mark.parametrize("argument", ["groups", "values", "expect"])
def test_numbers_that_are_none(pure, argument):
    for bad in (0, -3, 2.5, "many"):
        with pytest.raises(ArgumentError, match=argument):
            pure.preview(COUNT, epsilon=1.0, **{argument: bad})


# Analysts


def test_an_analyst_spends_no_more_than_her_share(pure):
    pure.account.share("ann", 0.2)
    pure.sql(COUNT, epsilon=1.5, by="ann")
    assert pure.preview(COUNT, epsilon=0.4, by="ann").affordable
    assert not pure.preview(COUNT, epsilon=0.6, by="ann").affordable
    with pytest.raises(BudgetExceeded, match="share of ann"):
        pure.sql(COUNT, epsilon=0.6, by="ann")
    with pytest.raises(BudgetExceeded, match="bo does not have a share"):
        pure.sql(COUNT, epsilon=0.1, by="bo")
    assert spent(pure.account) == pytest.approx(0.15)
    assert pure.sql(COUNT, epsilon=0.5, by="ann").receipt.by == "ann"


# Before spending


def test_explain_previews_and_charges_nothing(pure):
    with pytest.raises(dither.QueryError, match=r"call preview\(\) instead"):
        pure.sql(f"EXPLAIN {BOTH}", epsilon=1.0)
    preview = answer(pure, f"EXPLAIN {BOTH}", epsilon=1.0)
    assert isinstance(preview, Preview)
    assert preview == pure.preview(BOTH, epsilon=1.0)
    assert spent(pure.account) == 0
    assert not preview.replay
    assert isinstance(pure.sql(BOTH, epsilon=1.0), TableRelease)
    assert answer(pure, f"EXPLAIN {BOTH}", epsilon=1.0).replay


def test_a_preview_says_what_does_not_fit(pure):
    preview = pure.preview(COUNT, epsilon=11.0)
    assert not preview.affordable
    with pytest.raises(BudgetExceeded):
        pure.sql(COUNT, epsilon=11.0)
    assert spent(pure.account) == 0


@pytest.mark.parametrize(
    ("world", "sql", "stated"),
    [
        ("survey", "SELECT COUNT(*) FROM answers", {}),
        (
            "survey",
            "SELECT SUM(age), SUM(score), SUM(income), COUNT(DISTINCT region) FROM answers",
            {},
        ),
        (
            "survey",
            "SELECT party, COUNT(*), SUM(income) FROM answers GROUP BY party",
            {},
        ),
        (
            "survey, replace",
            "SELECT party, COUNT(*), SUM(income) FROM answers GROUP BY party",
            {},
        ),
        ("clinic", "SELECT COUNT(*), SUM(cost), SUM(paid) FROM visits", {"radius": 50}),
        (
            "clinic",
            "SELECT ward, COUNT(*), SUM(change) FROM visits GROUP BY ward",
            {"radius": 12},
        ),
        (
            "clinic",
            "SELECT COUNT(DISTINCT patient_id), COUNT(DISTINCT note) FROM visits",
            {"values": 5},
        ),
        (
            "clinic, replace",
            "SELECT ward, COUNT(*), SUM(change) FROM visits GROUP BY ward",
            {"radius": 12},
        ),
        (
            "clinic",
            "SELECT sex, COUNT(*), SUM(weight) FROM patients GROUP BY sex",
            {"radius": {"SUM(weight)": 1e6}},  # all that one patient may weigh
        ),
    ],
)
@pytest.mark.parametrize("cost", [{"epsilon": 0.5}, {"rho": 0.01}, {"share": 0.1}])
def test_a_preview_tells_the_widths_of_counts_and_sums(
    worlds, world, sql, stated, cost
):
    """To the last step; whole numbers lose less than one at either end."""
    database = worlds.under(world, Budget(10.0, 1e-6, unit=CATALOGUES[world].unit))
    preview = database.preview(sql, **cost, **stated)
    release = database.sql(sql, **cost, **stated)
    assert release.guarantee == preview.guarantee
    told = widths(preview)
    for row in half_widths(release):
        for name, width in zip(release.columns, row, strict=True):
            if width is not None:
                # Ends and values that are whole are rounded
                assert told[name] - 2 < width <= told[name] + 1


def test_the_widths_of_reals_are_told_exactly(worlds):
    database = worlds.under("survey", Budget(10.0, unit=CATALOGUES["survey"].unit))
    sql = "SELECT SUM(income) AS s FROM answers"
    told = widths(database.preview(sql, epsilon=1.0))["s"]
    assert half_widths(database.sql(sql, epsilon=1.0))[0][0] == pytest.approx(
        told, rel=1e-9
    )


def test_open_gives_the_same_as_the_catalogue(worlds):
    """`dither.open` on one table of the same data: the same plan, cost and widths."""
    from tests.conformance.world import stored

    database = dither.open(
        stored(),
        table="stored.answers",
        unit="row",
        bounds={"age": (0, 110)},
        keys={"party": ["left", "right", "none"]},
        budget=10.0,
        ledger=":memory:",
    )
    sql = "SELECT party, COUNT(*), SUM(age) FROM answers GROUP BY party"
    other = worlds.under("survey", Budget(10.0, unit=CATALOGUES["survey"].unit))
    with database:
        assert widths(database.preview(sql, epsilon=1.0)) == widths(
            other.preview(sql, epsilon=1.0)
        )
        assert database.sql(sql, epsilon=1.0).columns == (
            "party",
            "count(*)",
            "sum(age)",
        )
