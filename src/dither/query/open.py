"""`dither.open`: private tables under a budget, from a file, a frame, a database or a
catalogue.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dither.by_name import by_name
from dither.dataset import Dataset
from dither.errors import ArgumentError, LedgerError
from dither.ledger import Account, Ledger
from dither.privacy import Unit
from dither.query.account import (
    Book,
    account_of,
    beside,
    book_of,
    check_book,
    promise_of,
)
from dither.query.catalogue.declare import declare
from dither.query.catalogue.declare_several import declare_several
from dither.query.catalogue.model import Catalogue
from dither.query.database import Database
from dither.query.engines.choice import apart, engine_for, engine_of, lookup_of, maker
from dither.query.engines.protocol import Engine
from dither.query.load import load_catalogue

__all__ = ["dataset_of", "open"]

SERVERS = ("postgres", "spark")
TABLES = 'pass frames or files by the names of their tables, such as {"visits": visits}'
BUDGET = "pass the total ε of all answers, such as budget=3.0"


@by_name('open(source, unit="patient_id", budget=3.0)')
def open(
    source: Any,
    *,
    unit: str | Unit | Mapping[str, str] | None = None,
    bounds: Mapping[str, Any] | None = None,
    keys: Mapping[str, Any] | None = None,
    types: Mapping[str, Any] | None = None,
    population: int | None = None,
    budget: float | tuple[float, float] | Account | None = None,
    delta: float | None = None,
    rows: int | Mapping[str, int] | None = None,
    totals: Mapping[str, Any] | None = None,
    public: str | Iterable[str] = (),
    links: Mapping[str, tuple[str, str]] | None = None,
    limits: Mapping[str, float] | None = None,
    ledger: str | Path | Ledger | None = None,
    table: str = "",
    name: str | None = None,
    version: str = "1",
    engine: str | None = None,
) -> Dataset:
    """Private tables to ask questions of.

    `source` is a catalogue (.toml), which says all the rest; or one table: a CSV, JSON
    or Parquet file, a pandas, Polars or Arrow frame, a DuckDB database file or
    connection, a postgresql://… address or a Spark session (these with `table`), a
    Spark data frame; or several of them by name, such as {"visits": frame, "patients":
    "patients.csv"}.

    Say what is public about a table: `unit` (the column with a person's id, or "row"
    where each row is a person; it must be said. `Unit("patient_id", "replace",
    given=["total of each ward"])` lists exact facts that are published beside all
    answers), `bounds`, `keys`, `types` of text columns (in CSV files, numbers with
    bounds are real unless "integer" is declared, which grouping by them needs), `rows`
    (the most that one unit has), `totals` (the most that its values of a column add up
    to), `population` (from which δ follows), and `budget`: the ε of its account,
    (ε, δ), or an open account. Of several tables it is said by table:
    bounds={"visits": {"age": (0, 110)}}, rows={"visits": 50}; `unit` is a column that
    all have, or {"visits": "patient_id", "patients": "id"}; `public` names tables that
    are about nobody, `links` how rows without an id find their owner: {"diagnoses":
    ("visit_id", "visits.visit_id")}. `limits` says what one question may take, such as
    {"seconds": 60, "memory": 1000} (docs/catalogue.md).

    The account is kept in `ledger`; if that is not given, in a book beside the file or
    the catalogue, so that it outlives the process (rule R18). A frame's is kept in
    memory, and its releases say so. A server's or a cluster's has no such place, and
    must be named.
    """
    told: dict[str, Any] = {
        "unit": unit,
        "bounds": bounds,
        "keys": keys,
        "types": types,
        "rows": rows,
        "totals": totals,
        "population": population,
        "delta": delta,
        "limits": limits,
    }
    several = {"public": public or None, "links": links}
    payer: dict[str, Any] = {"budget": budget, "ledger": ledger, "engine": engine}
    if isinstance(source, str | Path) and Path(source).suffix == ".toml":
        _only(source, **told, **several, name=name)
        return open_catalogue(load_catalogue(source), Path(source), **payer)
    if not isinstance(table, str):
        raise ArgumentError(
            "table", f"must be the name of a table, not {type(table).__name__}"
        )
    epsilon, stated = promise_of(budget, delta)
    told |= {"budget": epsilon, "delta": stated, "version": version}
    if isinstance(source, Mapping):
        if table:
            raise ArgumentError(
                "table",
                "cannot be passed with several sources; write "
                '{"visits": (connection, "visits")}',
            )
        told |= {"public": public, "links": links}
        return _open_several(source, name or "data", told, **payer)
    _only_several(**several)
    return _open_one(source, table, name, told, **payer)


def _open_one(
    source: Any,
    table: str,
    name: str | None,
    told: dict[str, Any],
    *,
    budget: Any,
    ledger: Any,
    engine: str | None,
) -> Dataset:
    """One table. The book of a file is beside it; a server's has to be named."""
    chosen = engine if engine is not None else engine_of(source)
    check_book(chosen in SERVERS, budget, ledger)
    lookup = lookup_of(chosen)
    called = name or lookup.name_of(source, table)
    catalogue = declare(called, lookup.schema_of(source, table), **told)
    file = isinstance(source, str | Path) and chosen == "duckdb"
    book = _paying(catalogue, budget, ledger, Path(source) if file else None)
    made = maker(chosen)(catalogue, {catalogue.tables[0].name: (source, table)})
    with _closing_on_error(made):
        return dataset_of(catalogue, made, *account_of(catalogue, book, BUDGET))


def _paying(
    catalogue: Catalogue, budget: Any, ledger: Any, file: Path | None
) -> Book | Account:
    """The account that was passed, or the book that holds one."""
    if isinstance(budget, Account):
        return budget
    return book_of(catalogue, ledger, beside(file), BUDGET)


def dataset_of(
    catalogue: Catalogue, engine: Engine, account: Account, book: Ledger | None = None
) -> Dataset:
    """The dataset of a catalogue whose tables an engine holds. A book that is passed is
    closed with it.
    """
    return Dataset(Database(catalogue, engine, account, book), account)


def _open_several(
    sources: Mapping[Any, Any],
    name: str,
    told: dict[str, Any],
    *,
    budget: Any,
    ledger: Any,
    engine: str | None,
) -> Dataset:
    """Several tables by their names. A book has no place beside them, so files need one
    that is named (rule R18).
    """
    places = _places(sources)
    chosen = engine if engine is not None else _common_engine(places)
    kept = chosen in SERVERS or any(
        isinstance(source, str | Path) for source, _ in places.values()
    )
    check_book(kept, budget, ledger)
    if chosen == "postgres":  # an address alone means the table of the same name there
        places = {
            table: (source, stored or table)
            for table, (source, stored) in places.items()
        }
    schemas = {
        table: lookup_of(chosen).schema_of(*place) for table, place in places.items()
    }
    catalogue = declare_several(name, schemas, **told)
    book = _paying(catalogue, budget, ledger, None)
    made = maker(chosen)(catalogue, places)
    with _closing_on_error(made):
        return dataset_of(catalogue, made, *account_of(catalogue, book, BUDGET))


def _places(sources: Mapping[Any, Any]) -> dict[str, tuple[Any, str]]:
    """Where the rows of each table are, and what it is called there if that is a
    database.
    """
    if not sources or not all(isinstance(name, str) for name in sources):
        raise ArgumentError(
            "source",
            f"must hold at least one table, under a string as its name; {TABLES}",
        )
    for name, source in sources.items():
        pair = (
            isinstance(source, tuple)
            and len(source) == 2
            and isinstance(source[1], str)
        )
        if isinstance(source, list | tuple) and not pair:
            raise ArgumentError(
                "source",
                f"the source of {name!r} is of type {type(source).__name__}, which "
                f"is not a table; {TABLES}",
            )
    return {
        name: source if isinstance(source, tuple) else (source, "")
        for name, source in sources.items()
    }


def _common_engine(places: Mapping[str, tuple[Any, str]]) -> str:
    found = {engine_of(source): table for table, (source, _) in places.items()}
    if len(found) > 1:
        raise ArgumentError(
            "source", f"{apart(found)}; put all tables where one engine can read them"
        )
    return next(iter(found))


def open_catalogue(
    catalogue: Catalogue,
    path: Path,
    *,
    budget: Any = None,
    ledger: str | Path | Ledger | None = None,
    engine: str | None = None,
) -> Dataset:
    """The tables of a catalogue, and its account with the shares of its analysts."""
    if budget is not None and not isinstance(budget, Account):
        raise ArgumentError(
            "budget",
            f"is declared in {path.name}; change it there, or pass an open account",
        )
    way_out = (
        f"declare the total cost of all answers in {path.name}: "
        "epsilon = 3.0 under [budget]"
    )
    book = (
        budget
        if budget is not None
        else book_of(catalogue, ledger, catalogue.book or beside(path), way_out)
    )
    made = maker(engine if engine is not None else engine_for(catalogue))(catalogue, {})
    with _closing_on_error(made):
        account, opened = _account_of(path, catalogue, book, way_out)
        dataset = dataset_of(catalogue, made, account, opened)
    with _closing_on_error(dataset):
        known = account.shares()
        for analyst, part in catalogue.analysts.items():
            if known.get(analyst) != part:
                account.share(analyst, part)
    return dataset


def _account_of(
    path: Path, catalogue: Catalogue, book: Book | Account, way_out: str
) -> tuple[Account, Ledger | None]:
    """The account of a catalogue; if they disagree, both files are named."""
    try:
        return account_of(catalogue, book, way_out)
    except LedgerError as error:
        raise type(error)(f"{path.name}: {error}") from error


@contextmanager
def _closing_on_error(opened: Engine | Dataset) -> Iterator[None]:
    """The book comes after the data: what cannot be opened leaves no account behind,
    and what has none is closed.
    """
    try:
        yield
    except BaseException:
        opened.close()
        raise


def _only(catalogue: str | Path, **given: Any) -> None:
    for argument, value in given.items():
        if value is not None:
            raise ArgumentError(
                argument,
                "cannot be passed with a catalogue; write the declaration in "
                f"{Path(catalogue).name}",
            )


def _only_several(**given: Any) -> None:
    for argument, value in given.items():
        if value is not None:
            raise ArgumentError(
                argument, f"cannot be used with a single table; {TABLES}"
            )
