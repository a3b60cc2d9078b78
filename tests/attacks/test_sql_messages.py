"""Attacks through words: errors, notes, previews, plans, receipts and logs must not
hold a value of the data.

The table holds values that stand nowhere else. They are looked for in all that an
analyst, a receipt or the book gets.
"""

from __future__ import annotations

import io
import traceback
from datetime import date, datetime
from functools import partial

import duckdb
import pytest
from click.testing import CliRunner

import dither
from dither.cli import main
from dither.errors import AccountFrozen, EngineFailed
from dither.query.asker import answer
from dither.query.engines.duckdb.engine import DuckDBSession
from dither.query.open import dataset_of
from tests.attacks.analyst import log, row, visits

CANARY = row(
    "CANARY-ID-7f3a",
    ward="CANARY-WARD-91c2",
    cost=48151623,
    points=7390415528,
    rating=31337.4242,
    weight=27182.8182,
    note="CANARY-NOTE-55de",
    day=date(1871, 6, 17),
    at=datetime(1873, 9, 18, 7, 51, 43),
)
VALUES = [
    "CANARY",
    "48151623",
    "7390415528",
    "31337.42",
    "27182.81",
    "1871-06-17",
    "1873-09-18",
]
GOOD = [
    "SELECT COUNT(*), SUM(cost), AVG(rating), MIN(cost), MAX(day), MEDIAN(rating) FROM visits",
    "SELECT ward, COUNT(DISTINCT note), COUNT(DISTINCT patient_id) FROM visits GROUP BY ward",
    "SELECT note, COUNT(*) FROM visits GROUP BY note",
    "SELECT day, COUNT(*) FROM visits GROUP BY day HAVING COUNT(*) > 1000000 ORDER BY 2 DESC LIMIT 3",
    "SELECT CAST(note AS INTEGER) AS k, COUNT(*) FROM visits GROUP BY k",
    "SELECT points, COUNT(*) FROM visits GROUP BY points",
    "SELECT SUM(LEAST(GREATEST(points * points * weight, 0), 1)) FROM visits WHERE CAST(patient_id AS DATE) IS NULL",
    "SELECT AVG(LEAST(n, 3)) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id)",
]
BAD = [
    "SELECT * FROM visits",
    "SELECT note FROM visits",
    "SELECT nope, COUNT(*) FROM visits GROUP BY nope",
    "SELECT patient_id, COUNT(*) FROM visits GROUP BY patient_id",
    "SELECT SUM(points) FROM visits",
    "SELECT SUM(note) FROM visits",
    "SELECT COUNT(*) FROM visits WHERE note = 5",
    "SELECT COUNT(*) FROM visits WHERE CAST(note AS INTEGER)",
    "SELECT COUNT(*) FROM visits WHERE cost / 0 > (SELECT MAX(cost) FROM visits)",
    "SELECT COUNT(* FROM visits",
    "SELECT 'unfinished",
    "SELECT weight, COUNT(*) FROM visits GROUP BY weight",
]
FAILED = (
    "the engine could not finish this question; ask the curator to look at the cause"
)


def told(error):
    """All that an exception carries: its words, its arguments, its causes and its
    trace.
    """
    parts = [
        str(error),
        repr(error),
        repr(error.args),
        repr(vars(error)),
        "".join(traceback.format_exception(error)),
    ]
    for other in (error.__cause__, error.__context__):
        parts += [] if other is None else [told(other)]
    return "\n".join(parts)


def shown(answer):
    """All that a release or a preview can be shown as, besides its numbers."""
    parts = [repr(answer), str(answer), answer._repr_html_(), answer.to_json()]
    if hasattr(answer, "notes"):
        parts += list(answer.notes)
    if hasattr(answer, "receipt"):
        parts += [
            repr(answer.receipt),
            str(answer.receipt),
            repr(answer.guarantee),
            str(answer.about()),
        ]
    return "\n".join(parts)


def ask(call, sql, **cost):
    try:
        found = call(sql, **cost)
        return found if isinstance(found, str) else shown(found)
    except dither.DitherError as error:
        return told(error)


def clean(text):
    """Whether no value of the data is in a text. (A noisy number of eight digits is not
    expected to be one.)
    """
    return [value for value in VALUES if value in text] == []


@pytest.mark.parametrize("sql", [*GOOD, *BAD, *(f"EXPLAIN {sql}" for sql in GOOD)])
def test_a_value_stood_in_a_message(sql, tmp_path):
    book = tmp_path / "book.db"
    with visits([CANARY], ledger=book) as database:
        texts = [
            ask(call, sql, epsilon=0.25)
            for call in (database.preview, database.explain_plan, database.sql)
        ]
        texts += [
            ask(database.sql, sql, epsilon=0.25, radius=1),
            ask(database.sql, sql, error="±50", expect=100),
        ]
        texts += [
            repr(database),
            str(database.tables),
            str(database.account),
            repr(database.account.history()),
        ]
        texts += [line for _, line in log(database)]
        database.account._ledger.close()
    texts += [path.read_bytes().decode(errors="replace") for path in tmp_path.iterdir()]
    assert all(map(clean, texts))
    assert any("visits" in text for text in texts)


@pytest.mark.parametrize("words", [[], ["--json"], ["--csv"]], ids=" ".join)
def test_a_value_stood_on_the_terminal(words, tmp_path):
    path = tmp_path / "visits.csv"
    head = ["patient_id", "cost", "note"]
    path.write_text(
        "\n".join([",".join(head), ",".join(str(CANARY[name]) for name in head)]) + "\n"
    )
    told_by = []
    for command in ("query", "preview"):
        for sql in (
            "SELECT COUNT(*), SUM(cost) FROM visits",
            "SELECT note FROM visits",
            "SELECT SUM(note) FROM visits",
        ):
            options = [
                "--unit",
                "patient_id",
                "--bounds",
                "cost=0:100",
                "--budget",
                "5",
                "--epsilon",
                "0.5",
            ]
            known = [word for word in words if command == "query" or word != "--csv"]
            told_by.append(
                CliRunner().invoke(main, [command, str(path), sql, *options, *known])
            )
    assert [done.exit_code for done in told_by] == [0, 2, 2, 0, 2, 2]
    assert all(clean(done.output) and clean(done.stderr) for done in told_by)
    assert all(
        done.exception is None or isinstance(done.exception, SystemExit)
        for done in told_by
    )


PROBLEMS = [
    duckdb.ConversionException("Could not convert string 'CANARY-NOTE-55de' to INT32"),
    duckdb.OutOfRangeException(
        "Overflow in multiplication of INT64 (48151623 * 18014398509481984)!"
    ),
    duckdb.OutOfMemoryException("failed to allocate 48151623"),
    MemoryError("48151623"),
    ValueError("CANARY-NOTE-55de"),
    ZeroDivisionError("48151623"),
    OverflowError("7390415528"),
    RecursionError("CANARY"),
    AssertionError("CANARY"),
    dither.ArgumentError("x", "CANARY"),
    EngineFailed("CANARY"),
]


class Broken:
    """An engine of somebody else's that raises whatever it wants."""

    def __init__(self, engine, problem):
        self.dialect, self.problem = engine.dialect, problem

    def session(self):
        raise self.problem

    def close(self):
        pass


@pytest.mark.parametrize(
    "problem", PROBLEMS, ids=lambda problem: type(problem).__name__
)
@pytest.mark.parametrize("where", ["in a statement", "in another engine"])
def test_the_words_of_the_engine_reached_the_analyst(problem, where, monkeypatch):
    """One constant sentence, without a trace of what happened; the charge stays, and
    the failure is in the log.
    """

    def fail(_self, _sql, _parameters):
        raise problem

    with visits([CANARY], budget=1.0) as database:
        if where == "in a statement":
            monkeypatch.setattr(DuckDBSession, "_execute", fail)
        else:
            broken = Broken(database.engine, problem)
            monkeypatch.setattr(database._database, "engine", broken)
        with pytest.raises(EngineFailed) as failed:
            database.sql("SELECT COUNT(*) FROM visits", epsilon=0.25)
        assert str(failed.value) == FAILED
        assert (failed.value.__cause__, failed.value.__context__) == (None, None)
        assert clean(told(failed.value))
        assert [kind for kind, _ in log(database)][-2:] == ["charge", "fail"]
        assert clean("".join(line for _, line in log(database)))
        assert database.account.remaining.epsilon == 0.75


def test_a_question_was_tried_until_it_failed_no_more(monkeypatch):
    """Each failure is charged and counted, and the account freezes for its curator
    after three (rule R5).
    """

    def fail(_self, _sql, _parameters):
        raise duckdb.Error("CANARY")

    with visits([CANARY], budget=1.0) as database:
        working = DuckDBSession._execute
        monkeypatch.setattr(DuckDBSession, "_execute", fail)
        for number in range(3):
            with pytest.raises(EngineFailed):
                database.sql("SELECT COUNT(*) FROM visits", epsilon=0.125)
            assert len(database.account.history()) == number + 1
        monkeypatch.setattr(DuckDBSession, "_execute", working)
        with pytest.raises(AccountFrozen) as frozen:
            database.sql("SELECT COUNT(*) FROM visits", epsilon=0.125)
        assert clean(told(frozen.value))
        assert not database.preview(
            "SELECT COUNT(*) FROM visits", epsilon=0.125
        ).affordable
        database.account.thaw("looked at it")
        assert len(database.sql("SELECT COUNT(*) FROM visits", epsilon=0.125).rows) == 1
        assert len(database.account.history()) == 4


def test_the_terminal_showed_the_words_of_the_engine(tmp_path, monkeypatch):
    def fail(_self, _sql, _parameters):
        raise duckdb.ConversionException(
            "Could not convert string 'CANARY-NOTE-55de' to INT32"
        )

    path = tmp_path / "visits.csv"
    path.write_text("patient_id,note\n1,CANARY-NOTE-55de\n")
    monkeypatch.setattr(DuckDBSession, "_execute", fail)
    words = [
        "query",
        str(path),
        "SELECT COUNT(*) FROM visits",
        "--unit",
        "patient_id",
        "--budget",
        "1",
        "--epsilon",
        "1",
    ]
    done = CliRunner().invoke(main, words)
    assert (done.exit_code, done.stdout, done.stderr) == (1, "", f"Error: {FAILED}\n")
    assert clean(done.output)


class Untouchable:
    """An engine whose data nobody may touch."""

    def __init__(self, dialect):
        self.dialect = dialect

    def session(self):
        raise AssertionError("the data was touched")

    def close(self):
        pass


@pytest.mark.parametrize("sql", [*GOOD, *BAD])
def test_a_preview_looked_at_the_data(sql):
    with visits([CANARY], budget=(3.0, 1e-6)) as plain:
        database = dataset_of(
            plain.catalogue, Untouchable(plain.engine.dialect), plain.account
        )
        for call in (database.preview, database.explain_plan):
            assert ask(call, sql, epsilon=0.25) == ask(
                getattr(plain, call.__name__), sql, epsilon=0.25
            )
            assert "the data was touched" not in ask(call, sql, epsilon=0.25)
        assert ask(partial(answer, database), f"EXPLAIN {sql}", epsilon=0.25) == ask(
            partial(answer, plain), f"EXPLAIN {sql}", epsilon=0.25
        )
        assert plain.account.history() == ()


def test_nothing_is_printed_on_the_way(capfd, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO())
    with visits([CANARY]) as database:
        for sql in [*GOOD, *BAD]:
            ask(database.sql, sql, epsilon=0.25)
    assert capfd.readouterr() == ("", "")
