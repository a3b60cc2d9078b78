"""What can be opened, and where its budget is kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dither
from dither.errors import ArgumentError, LedgerError
from dither.ledger import verify

ROWS = {
    "who": ["a", "a", "b", "c"],
    "age": [30, 31, 52, 70],
    "ward": ["x", "y", "x", "x"],
}
PUBLIC: dict[str, Any] = {
    "unit": "who",
    "bounds": {"age": (0, 110)},
    "keys": {"ward": ["x", "y"]},
    "budget": 3.0,
}
QUESTION = "SELECT ward, COUNT(*) AS n, AVG(age) AS age FROM visits GROUP BY ward"


def sources(folder: Path) -> dict[str, tuple[Any, dict[str, Any]]]:
    frame = pd.DataFrame(ROWS)
    frame.to_csv(folder / "visits.csv", index=False)
    frame.to_parquet(folder / "visits.parquet")
    frame.to_json(folder / "visits.json", orient="records", lines=True)
    with duckdb.connect(str(folder / "data.duckdb")) as connection:
        connection.execute("CREATE TABLE visits AS SELECT * FROM frame")
    memory = duckdb.connect()
    memory.execute("CREATE TABLE visits AS SELECT * FROM frame")
    return {
        "csv": (folder / "visits.csv", {}),
        "parquet": (str(folder / "visits.parquet"), {}),
        "json": (folder / "visits.json", {}),
        "database": (folder / "data.duckdb", {"table": "visits"}),
        "connection": (memory, {"table": "visits"}),
        "pandas": (frame, {"name": "visits"}),
        "polars": (pl.DataFrame(ROWS), {"name": "visits"}),
        "arrow": (pa.table(ROWS), {"name": "visits"}),
    }


@pytest.mark.parametrize(
    "kind",
    ["csv", "parquet", "json", "database", "connection", "pandas", "polars", "arrow"],
)
def test_every_kind_of_source_answers(kind: str, tmp_path: Path) -> None:
    source, how = sources(tmp_path)[kind]
    with dither.open(source, **PUBLIC, **how) as database:
        release = database.sql(QUESTION, epsilon=1.0)
    assert release.columns == ("ward", "n", "age")
    assert [row[0] for row in release] == ["x", "y"]


def test_several_tables_of_all_kinds_at_once(tmp_path: Path) -> None:
    pd.DataFrame({"ward": ["x", "y"], "beds": [10, 20]}).to_csv(
        tmp_path / "wards.csv", index=False
    )
    tables = {
        "visits": pd.DataFrame({"visit": [1, 2, 3, 4], **ROWS}),
        "people": pl.DataFrame({"id": ["a", "b", "c"], "born": [1990, 1971, 1953]}),
        "bills": pa.table({"visit": [1, 2, 2, 4], "sum": [5, 6, 7, 8]}),
        "wards": tmp_path / "wards.csv",
    }
    declared: dict[str, Any] = {
        "unit": {"visits": "who", "people": "id"},
        "links": {"bills": ("visit", "visits.visit")},
        "public": "wards",
        "bounds": {
            "people": {"born": (1900, 2025)},
            "bills": {"sum": (0, 10)},
            "wards": {"beds": (0, 50)},
        },
        "keys": {"visits": {"ward": ["x", "y"]}},
        "rows": {"visits": 3},
        "budget": (1e6, 1e-6),
    }
    with pytest.raises(
        ArgumentError,
        match="ledger is missing; pass the place where the account is kept",
    ):
        dither.open(tables, **declared)
    asked = [
        "SELECT COUNT(*) FROM visits JOIN people ON who = id WHERE born > 1960",
        "SELECT COUNT(*) FROM bills JOIN visits USING (visit) WHERE ward = 'x'",
        "SELECT COUNT(*) FROM visits JOIN wards USING (ward) WHERE beds = 20",
    ]
    with dither.open(
        tables, **declared, ledger=tmp_path / "book.db", name="clinic"
    ) as database:
        found = [database.sql(sql, epsilon=1e4, radius=9).rows for sql in asked]
        assert database.account.name == "clinic"
    assert found == [((3,),), ((2,),), ((1,),)]


def test_several_frames_have_a_budget_in_this_process() -> None:
    with dither.open(
        {"visits": pd.DataFrame(ROWS), "others": pa.table(ROWS)}, unit="who", budget=3.0
    ) as database:
        assert "this process only" in str(database.account)
        assert database.sql(
            "SELECT COUNT(*) FROM visits JOIN others USING (who)", epsilon=1.0
        ).rows


@pytest.mark.parametrize(
    ("source", "more", "words"),
    [
        (
            {"age": [1, 2], "ward": ["x", "y"]},
            {},
            "the source of 'age' is of type list, which is not a table; pass frames or files",
        ),
        ({1: pd.DataFrame(ROWS)}, {}, "source must hold at least one table"),
        (
            {"visits": pd.DataFrame(ROWS)},
            {"table": "visits"},
            "table cannot be passed with several sources",
        ),
        ({"visits": 5}, {}, "a source of type int cannot be opened"),
        (
            {"a": pd.DataFrame(ROWS), "b": "postgresql://x/y"},
            {},
            "are read by different engines",
        ),
        (
            pd.DataFrame(ROWS),
            {"public": "visits"},
            "public cannot be used with a single table",
        ),
    ],
)
def test_what_several_tables_are_not(
    source: Any, more: dict[str, Any], words: str
) -> None:
    with pytest.raises(ArgumentError, match=words):
        dither.open(source, unit="who", budget=3.0, **more)


def test_the_book_lies_beside_the_file_and_outlives_the_process(tmp_path: Path) -> None:
    source, _ = sources(tmp_path)["csv"]
    with dither.open(source, **PUBLIC) as first:
        answer = first.sql(QUESTION, epsilon=1.0)
    assert (tmp_path / "visits.dither.db").exists()
    with dither.open(source, **PUBLIC) as second:
        assert second.account.remaining.epsilon == 2.0
        again = second.sql(QUESTION, epsilon=1.0)
    assert again.replayed
    assert again.rows == answer.rows
    assert again.interval() == answer.interval()
    assert again.receipt == answer.receipt
    told = json.loads(again.to_json())
    assert told["cost"] == f"nothing, this is the stored answer of {answer.receipt}"
    assert told["share"] == 0
    assert told["remaining"].startswith("66.6 %")
    assert f"remaining: {told['remaining']}" in str(again).splitlines()


def test_a_frame_has_a_budget_in_this_process_only() -> None:
    with dither.open(pd.DataFrame(ROWS), **PUBLIC) as database:
        assert "this process only" in str(database.account)


def test_answers_of_a_process_only_budget_say_so() -> None:
    with dither.open(pd.DataFrame(ROWS), **PUBLIC) as database:
        assert "this process only" in str(
            database.sql("SELECT COUNT(*) FROM data", epsilon=1.0)
        )


def test_a_budget_cannot_be_opened_anew(tmp_path: Path) -> None:
    source, _ = sources(tmp_path)["csv"]
    with dither.open(source, **PUBLIC) as database:
        database.sql(QUESTION, epsilon=1.0)
    with pytest.raises(
        LedgerError, match=r"visits.dither.db: the account visits has ε = 3, not ε = 5"
    ) as problem:
        dither.open(source, **PUBLIC | {"budget": 5.0})
    book = tmp_path / "visits.dither.db"
    assert f"`dither amend {book} --account visits --epsilon 5 --reason …`" in str(
        problem.value
    )
    with dither.open(source, **PUBLIC | {"budget": None}) as database:
        assert database.account.epsilon == 3.0


def test_an_account_opens_at_its_first_charge(tmp_path: Path) -> None:
    """Until then a preview shows cost and what is left, and everything can still be
    declared otherwise.
    """
    source, _ = sources(tmp_path)["csv"]
    book = tmp_path / "visits.dither.db"
    with dither.open(source, **PUBLIC) as database:
        shown = database.preview(QUESTION, epsilon=1.0)
        assert shown.affordable
        assert shown.share == pytest.approx(1 / 3)
        assert "the first charge opens the account" in str(database.account)
        assert (
            database.account.spent,
            database.account.charges,
            database.account.burn_down(),
        ) == (0, 0, [1.0])
        assert database.account.history() == ()
        with pytest.raises(dither.BudgetExceeded):
            database.sql(QUESTION, epsilon=4.0)
    with dither.Ledger.open(book) as ledger:
        assert [entry.kind for entry in ledger.entries()] == ["book"]
    with dither.open(source, **PUBLIC | {"budget": 5.0}, population=2500) as database:
        database.sql(QUESTION, epsilon=1.0)
        assert "the first charge opens the account" not in str(database.account)
    with dither.Ledger.open(book) as ledger:
        assert [entry.kind for entry in ledger.entries()][:3] == [
            "book",
            "open",
            "charge",
        ]
        assert ledger.account("visits").terms.total.delta == 1e-7
        assert verify(ledger)


def test_the_first_charge_wins(tmp_path: Path) -> None:
    source, _ = sources(tmp_path)["csv"]
    with (
        dither.open(source, **PUBLIC) as first,
        dither.open(source, **PUBLIC | {"budget": 5.0}) as second,
    ):
        second.preview(QUESTION, epsilon=1.0)
        first.sql(QUESTION, epsilon=1.0)
        for ask in (second.sql, second.preview):
            with pytest.raises(LedgerError, match="visits has ε = 3, not ε = 5"):
                ask(QUESTION, epsilon=1.0)
        assert first.account.charges == 1


def test_a_book_without_an_account_says_so(tmp_path: Path) -> None:
    source, _ = sources(tmp_path)["csv"]
    dither.open(source, **PUBLIC).close()
    with pytest.raises(
        ArgumentError,
        match=r"budget is missing, and .*visits.dither.db has no account 'visits' yet; pass",
    ):
        dither.open(source, **PUBLIC | {"budget": None})
    (tmp_path / "visits.dither.db").unlink()
    dither.open(source, **PUBLIC).close()  # nothing was promised, so nothing is missed


def test_a_new_version_answers_anew_from_the_same_budget(tmp_path: Path) -> None:
    source, _ = sources(tmp_path)["csv"]
    with dither.open(source, **PUBLIC) as database:
        database.sql(QUESTION, epsilon=1.0)
    with dither.open(source, **PUBLIC, version="2") as database:
        assert not database.sql(QUESTION, epsilon=1.0).replayed
        assert database.account.remaining.epsilon == 1.0


def test_delta_follows_from_the_population() -> None:
    with dither.open(pd.DataFrame(ROWS), **PUBLIC, population=20_000) as database:
        assert 0 < database.account.terms.total.delta <= 1 / 20_000_000


def test_a_catalogue_brings_its_analysts(tmp_path: Path) -> None:
    path = dither.example(tmp_path / "clinic")
    text = path.read_text(encoding="utf-8").replace(
        "[tables.patients]\n", "[analysts]\nalice = 0.25\n\n[tables.patients]\n", 1
    )
    path.write_text(text, encoding="utf-8")
    with dither.open(path) as database:
        assert database.account.shares() == {"alice": 0.25}
        database.sql(
            "SELECT COUNT(DISTINCT patient_id) FROM visits", epsilon=0.5, by="alice"
        )
        for by in ("alice", "mallory"):
            with pytest.raises(dither.BudgetExceeded):
                database.sql(
                    "SELECT COUNT(DISTINCT visit_id) FROM visits", epsilon=0.9, by=by
                )
        assert not database.preview(
            "SELECT COUNT(*) FROM visits", epsilon=0.9, by="alice"
        ).affordable
        assert database.preview("SELECT COUNT(*) FROM visits", epsilon=0.9).affordable


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"bounds": {"age": (0, 9)}}, "bounds cannot be passed with a catalogue"),
        ({"unit": "row"}, "unit cannot be passed with a catalogue"),
        ({"budget": 3.0}, "budget is declared in clinic.toml"),
    ],
)
def test_a_catalogue_says_it_all(
    given: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ArgumentError, match=message):
        dither.open(dither.example(tmp_path), **given)


def test_a_budget_is_needed(tmp_path: Path) -> None:
    source, _ = sources(tmp_path)["csv"]
    with pytest.raises(ArgumentError, match="budget is missing; pass the total ε"):
        dither.open(source, unit="who")


def test_closing_lets_go_of_the_book_that_was_opened_with_it(tmp_path: Path) -> None:
    """A process that keeps it open loses its locks as soon as anybody in it copies the
    file.
    """
    source, _ = sources(tmp_path)["csv"]
    database = dither.open(source, **PUBLIC)
    database.close()
    with pytest.raises(LedgerError, match="closed"):
        database.account.charge(dither.PureDP(0.1, unit=database.account.unit))
    assert not (tmp_path / "visits.dither.db-wal").exists()


def test_closing_keeps_a_book_that_was_given_open(tmp_path: Path) -> None:
    source, _ = sources(tmp_path)["csv"]
    with dither.Ledger.open(tmp_path / "book.db") as book:
        with dither.open(source, **PUBLIC, ledger=book) as database:
            database.sql(QUESTION, epsilon=1.0)
        assert book.account("visits").frozen == ""


def test_a_replay_shows_nothing_of_another_analyst() -> None:
    with dither.open(pd.DataFrame(ROWS), **PUBLIC, name="visits") as database:
        mine = database.sql(f"{QUESTION} -- for the board", by="ana", epsilon=1.0)
        theirs = database.sql(QUESTION, by="bob", epsilon=1.0)
        again = database.sql(QUESTION, by="ana", epsilon=1.0)
    assert theirs.replayed
    assert theirs.rows == mine.rows
    assert theirs.receipt is not None
    assert (theirs.receipt.by, theirs.receipt.purpose) == (None, QUESTION)
    assert again.receipt == mine.receipt


def test_an_analyst_without_a_share_replays_nothing() -> None:
    with dither.open(pd.DataFrame(ROWS), **PUBLIC, name="visits") as database:
        database.sql(QUESTION, by="ana", epsilon=1.0)
        assert database.preview(QUESTION, by="bob", epsilon=1.0).replay
        database.account.share("ana", 0.5)
        assert not database.preview(QUESTION, by="bob", epsilon=1.0).replay
        with pytest.raises(dither.BudgetExceeded, match="bob does not have a share"):
            database.sql(QUESTION, by="bob", epsilon=1.0)


def test_an_analyst_whose_questions_fail_stops_only_herself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with dither.open(pd.DataFrame(ROWS), **PUBLIC, name="visits") as database:
        with monkeypatch.context() as broken:
            broken.setattr("dither.query.database.measure", lambda *_: 1 / 0)
            for epsilon in (0.1, 0.2, 0.3):
                with pytest.raises(dither.EngineFailed):
                    database.sql(QUESTION, by="eve", epsilon=epsilon)
        with pytest.raises(dither.AccountFrozen, match="eve is stopped"):
            database.sql(QUESTION, by="eve", epsilon=0.4)
        assert database.sql(QUESTION, by="ana", epsilon=0.4).rows


FACTS = ("visits of each ward",)
TOLD = dither.Unit("who", "replace", FACTS)


def test_every_answer_repeats_the_exact_facts_beside_it(tmp_path: Path) -> None:
    source, _ = sources(tmp_path)["csv"]
    with dither.open(source, **PUBLIC | {"unit": TOLD}) as database:
        assert database.unit == TOLD
        preview = database.preview(QUESTION, epsilon=1.0)
        release = database.sql(QUESTION, epsilon=1.0)
        again = database.sql(QUESTION, epsilon=1.0)
        plan = database.explain_plan(QUESTION, epsilon=1.0)
        said = (preview, release, again, database.account, plan)
        words = [*map(str, said), release._repr_html_()]
    for text in words:
        assert "given the exact visits of each ward" in text
    assert again.replayed
    assert release.guarantee == again.guarantee == release.receipt.guarantee
    assert release.guarantee.given == preview.guarantee.given == FACTS
    with dither.Ledger.open(tmp_path / "visits.dither.db") as book:
        assert book.account("visits").unit == TOLD
        verify(book)


@pytest.mark.parametrize(
    "unit", ["who", dither.Unit("who", "replace"), TOLD.with_facts(["all"])], ids=str
)
def test_exact_facts_do_not_change_once_the_account_is_open(
    tmp_path: Path, unit: Any
) -> None:
    source, _ = sources(tmp_path)["csv"]
    with dither.open(source, **PUBLIC | {"unit": TOLD}) as database:
        database.sql(QUESTION, epsilon=1.0)
        account = database.account
        stated = PUBLIC | {"unit": unit}
        with pytest.raises(LedgerError, match="declare the exact facts"):
            dither.open(source, **stated)
        for budget in (account, None):
            with pytest.raises(ArgumentError, match="declare the same exact facts"):
                dither.open(source, **stated | {"budget": budget})


def test_facts_can_be_declared_otherwise_before_the_first_charge(
    tmp_path: Path,
) -> None:
    source, _ = sources(tmp_path)["csv"]
    with dither.open(source, **PUBLIC) as database:
        database.preview(QUESTION, epsilon=1.0)
    with dither.open(source, **PUBLIC | {"unit": TOLD}) as database:
        assert database.sql(QUESTION, epsilon=1.0).guarantee.given == FACTS
