"""`audit.query`: questions with and without one unit."""

import math

import pytest

import dither
from dither import audit
from dither.errors import ArgumentError, QueryError, UnitMismatch
from dither.query.plan.plan import Plan
from tests.audit.support import FRAME, ask, opened
from tests.chance import chance

OTHERS = FRAME[FRAME["id"] != "one"]
COUNT = "SELECT ward, COUNT(*) AS n FROM data GROUP BY ward"
SUM = "SELECT SUM(age) AS s FROM data"


@pytest.fixture(scope="module")
def data():
    with opened(FRAME) as database:
        yield database


@chance(1e-9)
@pytest.mark.parametrize(
    ("sql", "draws", "options"),
    [
        ("SELECT COUNT(DISTINCT id) AS n FROM data", 20_000, {}),
        (COUNT, 20_000, {"radius": 5}),
        (COUNT, 300, {}),
        (
            "SELECT SUM(age) AS s, AVG(age) AS m FROM data",
            4000,
            {"radius": {"s": 200, "m": 3}},
        ),
        ("SELECT MEDIAN(age) AS m FROM data", 1000, {"radius": 2}),
        ("SELECT COUNT(DISTINCT age) AS n FROM data", 4000, {"values": 2}),
        ("SELECT code, COUNT(*) AS n FROM data GROUP BY code", 500, {"radius": 5}),
        (
            "SELECT code, ward, MEDIAN(age) AS m, COUNT(*) AS n FROM data GROUP BY code, ward",
            300,
            {"radius": 2},
        ),
    ],
)
def test_questions_keep_their_promise(data, sql, draws, options):
    found = ask(data, sql, draws, **options)
    assert not found.refuted
    assert found.draws == draws


@chance(1e-8)
def test_a_count_of_units_is_bounded_closely(data):
    found = audit.query(
        data,
        "SELECT COUNT(DISTINCT id) AS n FROM data",
        "one",
        draws=50_000,
        epsilon=1.0,
    )
    assert found.lower > 0.9


@chance(1e-9)
@pytest.mark.parametrize("sql", [COUNT, "SELECT MEDIAN(age) AS m FROM data"])
def test_too_little_noise_is_found(data, sql, monkeypatch):
    monkeypatch.setattr(Plan, "sensitivity", lambda self, radius: max(1, radius // 8))
    assert ask(data, sql, radius=16).refuted


@chance(1e-9)
def test_a_unit_that_counts_for_too_much_is_found(data, monkeypatch):
    """The radius is taken for larger by those who clip than by those who add noise."""
    from dither.query.collect.runner import Runner

    honest = Runner.totals
    monkeypatch.setattr(
        Runner, "totals", lambda self, m, radius: honest(self, m, 6 * radius)
    )
    assert ask(data, COUNT, radius=4).refuted


def careless(frame):
    return opened(frame, bounds={"age": (0, int(frame["age"].max()))})


def test_what_is_read_off_the_data_is_found():
    with careless(FRAME) as database, careless(OTHERS) as without:
        found = ask(database, SUM, without=without)
    assert found.refuted
    assert math.isinf(found.lower)
    first, second = found.sentences
    assert first.startswith(
        "Refuted without a draw: the question is planned differently"
    )
    assert first.endswith("read off the data.")
    assert "with certainty" in second
    assert found.to_dict()["lower"] is None


def test_a_question_that_one_neighbour_refuses_is_found():
    with (
        opened(FRAME, bounds={"age": (0, 110)}) as database,
        opened(OTHERS, bounds={}) as without,
    ):
        assert ask(database, SUM, without=without).draws == 0
        assert ask(without, SUM, without=database).refuted
        with pytest.raises(QueryError):
            ask(database, "SELECT SUM(nothing) AS s FROM data", without=without)


@chance(1e-9)
def test_neighbours_may_lie_in_different_files(tmp_path):
    places = []
    for name, frame in (("with", FRAME), ("less", OTHERS)):
        (tmp_path / name).mkdir()
        places.append(tmp_path / name / "data.csv")
        frame.to_csv(places[-1], index=False)
    types = {"age": "integer"}
    with (
        opened(places[0], types=types) as database,
        opened(places[1], types=types) as without,
    ):
        found = ask(database, COUNT, without=without, radius=5)
    assert not found.refuted
    assert found.draws == 4000


def test_leaving_out_is_what_a_neighbour_without_is():
    """The exact integers of both are the same: a seldom wrong sum would show in so many
    draws.
    """
    from dither.audit.questions import _plans, _sides
    from dither.query.collect.statements import Statements

    sql = "SELECT ward, COUNT(*) AS n, SUM(age) AS s, COUNT(DISTINCT id) AS u FROM data GROUP BY ward"
    with opened(FRAME) as database, opened(OTHERS) as without:
        plans = _plans(database, without, sql, {"epsilon": 1.0, "radius": 100})
        with (
            _sides((database, database), plans, "one") as left,
            _sides((database, without), plans, None) as true,
        ):
            runners = [left[1].runner, true[1].runner, true[0].runner]
            totals = [
                [one.totals(m, 50).tolist() for m in range(len(plans[0].measurements))]
                for one in runners
            ]
    assert type(runners[1].statements) is Statements
    assert totals[0] == totals[1] != totals[2]


@chance(1e-9)
def test_replaced_units_need_both_datasets():
    unit = dither.Unit("id", dither.Relation.REPLACE)
    other = FRAME.assign(ward=FRAME["ward"].where(FRAME["id"] != "one", "B"))
    with opened(FRAME, unit=unit) as database, opened(other, unit=unit) as without:
        with pytest.raises(
            ArgumentError,
            match="without is missing, because neighbours of this dataset replace",
        ):
            ask(database, COUNT, radius=5)
        assert not ask(database, COUNT, without=without, radius=5).refuted


@chance(1e-9)
def test_rows_that_are_units_need_both_datasets():
    with (
        opened(FRAME, unit="row") as database,
        opened(FRAME.iloc[1:], unit="row") as without,
    ):
        with pytest.raises(
            ArgumentError, match="without is missing, because rows do not have ids"
        ):
            ask(database, SUM, unit=0)
        assert not ask(database, SUM, without=without).refuted


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        ((3, COUNT), {"unit": "one"}, "dataset must be an open dataset, not int"),
        (
            (FRAME, COUNT),
            {"unit": "one"},
            "dataset must be an open dataset, not DataFrame",
        ),
        ((None, COUNT), {}, "unit is missing; pass the id"),
        ((None, COUNT), {"without": FRAME}, "without must be an open dataset"),
        ((None, COUNT, "one"), {"without": FRAME}, "one or the other"),
        (
            (None, COUNT, "nobody"),
            {},
            "the unit 'nobody' does not have a row in the data",
        ),
        ((None, COUNT, "ONE"), {}, "does not have a row"),
        ((None, COUNT, "one "), {}, "does not have a row"),
        ((None, COUNT, 7), {}, "^unit cannot contain 7"),
        (
            (None, COUNT, "one"),
            {"radius": 5, "what": 1},
            "what is not a known argument",
        ),
    ],
)
def test_what_cannot_be_asked_is_refused(data, arguments, options, words):
    dataset, *others = arguments
    with pytest.raises(ArgumentError, match=words):
        audit.query(
            data if dataset is None else dataset, *others, epsilon=1.0, **options
        )


def test_datasets_that_are_no_neighbours_are_refused(data):
    with (
        opened(FRAME, unit="row") as rows,
        pytest.raises(ArgumentError, match="without has the unit one row"),
    ):
        ask(data, COUNT, without=rows)
    with (
        opened(FRAME, name="others") as others,
        pytest.raises(ArgumentError, match="other tables or columns"),
    ):
        ask(data, COUNT, without=others)


def test_a_claim_about_another_unit_is_refused(data):
    with pytest.raises(UnitMismatch):
        ask(data, COUNT, radius=5, claimed=dither.PureDP(1.0))


def test_nothing_is_charged_in_any_book(tmp_path):
    book = tmp_path / "book.db"
    with (
        opened(FRAME, ledger=book) as database,
        opened(OTHERS, ledger=tmp_path / "other.db") as without,
    ):
        for options in ({"unit": "one"}, {"without": without}):
            audit.query(database, COUNT, epsilon=1.0, radius=5, draws=500, **options)
        for one in (database, without):
            assert one.account.spent == 0
            assert one.account.history() == ()
        # And it is still open
        assert database.sql(COUNT, epsilon=1.0, radius=5).replayed is False
