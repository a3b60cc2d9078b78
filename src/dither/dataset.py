"""The one front door: private data, what is public about it, and the account that pays.

`dither.open` returns a `Dataset`, and every room of the work floor accepts one. Its
verbs are typed here and done in their rooms.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar, Unpack, cast

from dither.by_name import keywords
from dither.cost import Stated
from dither.errors import ArgumentError
from dither.ledger import Receipt
from dither.privacy import ROW, Guarantee, Unit

if TYPE_CHECKING:
    import numpy as np
    from ibis.expr.types import Table as IbisTable
    from numpy.typing import NDArray

    from dither.ledger import Account as LedgerAccount
    from dither.query.catalogue.model import Catalogue
    from dither.query.catalogue.tables import Tables
    from dither.query.database import Database
    from dither.query.engines.protocol import Engine
    from dither.query.plan.plan import Plan
    from dither.query.preview import Preview
    from dither.science.synth import Domain, Synthetic
    from dither.science.trials import TrialRelease
    from dither.table import TableRelease

__all__ = [
    "Account",
    "Axis",
    "CellCounts",
    "Column",
    "ColumnFacts",
    "Columns",
    "Dataset",
    "Kind",
    "PrivateRows",
    "QueryCost",
    "SpentBy",
    "kind_of",
]

Bounds = tuple[float, float]
Fitting = TypeVar("Fitting")


class Account(Protocol):
    """Something that charges can be made to."""

    @property
    def epsilon(self) -> float:
        """The total ε."""

    def charge(self, guarantee: Guarantee, *, purpose: str = "") -> Receipt:
        """Spend a guarantee, or raise and spend nothing."""

    def spending(
        self, guarantee: Guarantee, *, by: str | None = None, purpose: str = ""
    ) -> AbstractContextManager[Receipt]:
        """Charge, run what is inside, settle; failures inside are counted."""

    def holds(self, receipt: Receipt) -> bool:
        """Whether a receipt is of a charge to this account."""


class Kind(Enum):
    """The declaration of a column. It is part of the schema, so it is public."""

    INTEGERS = "integers"
    REALS = "reals"
    TRUTHS = "booleans"
    ANYTHING = "anything"
    OTHER = "other"


_KINDS = {
    ("int", "uint"): Kind.INTEGERS,
    ("float", "double", "halffloat", "decimal"): Kind.REALS,
    ("bool",): Kind.TRUTHS,
    ("object",): Kind.ANYTHING,
}


def kind_of(column: Any) -> Kind:
    """The declared kind of a numpy, pandas, Polars or Arrow column; a plain list
    declares nothing.
    """
    dtype = getattr(column, "dtype", getattr(column, "type", "object"))
    declared = str(dtype).lower()
    found = (kind for names, kind in _KINDS.items() if declared.startswith(names))
    return next(found, Kind.OTHER)


@dataclass(frozen=True)
class ColumnFacts:
    """Public facts about one column, and who declared it from what. `table` is None for
    columns in memory.
    """

    column: str
    table: str | None = None
    kind: Kind = Kind.ANYTHING
    bounds: Bounds | None = None
    keys: tuple[Any, ...] | None = None
    provenance: str = ""


@dataclass(frozen=True)
class PrivateRows:
    """Private rows, for the curator's own process: each row's owner in one byte-exact
    form, and the columns, clamped to their bounds. `owners` is None if every row is a
    unit of its own. Rows come in one order, whichever columns are fetched.
    """

    owners: Any
    columns: Mapping[str, Any]


@dataclass(frozen=True)
class CellCounts:
    """Exact counts in public cells: `axes` holds the values of each axis, in order."""

    axes: tuple[tuple[Any, ...], ...]
    counts: NDArray[np.int64]


@dataclass(frozen=True)
class Axis:
    """Public cells that are listed with the question: in cell i, each of the
    expressions has the value `columns[…][i]`. A geography lists its blocks so.
    """

    expressions: tuple[str, ...]
    columns: tuple[Sequence[Any], ...]

    @property
    def size(self) -> int:
        return len(self.columns[0])


class Data(Protocol):
    """The store of the rows: columns in memory, or an engine's tables."""

    @property
    def unit(self) -> Unit: ...

    @property
    def facts(self) -> Mapping[str, ColumnFacts]:
        """Public facts about each column, by name; "table.column" if there are several
        tables.
        """

    @property
    def caps(self) -> Mapping[str, int]:
        """The most rows that one unit has in a table, where that is declared."""

    @property
    def single(self) -> bool:
        """Whether every row is a unit of its own."""

    def read(self, column: ColumnFacts) -> Any:
        """One column, for the array functions, which clamp what they read."""

    def close(self) -> None: ...


@dataclass(frozen=True)
class Columns:
    """Columns in memory. `source` fetches them by name, after the charge. `owner` names
    the column that says which unit a row belongs to.
    """

    source: Callable[[Sequence[str]], Mapping[str, Any]]
    facts: Mapping[str, ColumnFacts]
    unit: Unit = ROW
    owner: str | None = None
    caps: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_known("owner", [self.owner] if self.owner is not None else [], self)

    @property
    def single(self) -> bool:
        return self.owner is None

    def read(self, column: ColumnFacts) -> Any:
        return self.source([column.column])[column.column]

    def close(self) -> None:
        """Nothing was opened."""


def _check_known(argument: str, names: Sequence[str], data: Columns) -> None:
    for name in names:
        if name not in data.facts:
            words = f"there is no column {name!r}, which {argument}= names"
            raise ArgumentError(argument, f"{words}; use one of {_listed(data)}")


def _listed(data: Data) -> str:
    return ", ".join(repr(name) for name in data.facts)


class QueryCost(Stated, total=False):
    """Keywords for the cost of a question and how it is spent."""

    error: float | str | Mapping[str, float | str] | None
    expect: int | None
    shares: Mapping[str, float] | None
    radius: float | Mapping[str, float] | None
    groups: int | None
    values: int | None
    mechanism: str | None
    by: str | None


class SpentBy(Stated, total=False):
    """Keywords for the cost of an answer and for the analyst who asks."""

    by: str | None


class Dataset:
    """Private data under a budget. `dither.open` makes one from files, frames,
    databases and servers; `Dataset.of` makes one from columns in memory.

    Every question takes what it may cost: `epsilon` (the stand-alone guarantee of its
    answer, at the account's δ), `rho`, a `share` of the account, or the wanted `error`
    (with `expect`, a public number of rows, where it matters). `shares` says how to
    split the cost over the columns of the answer, `radius` how much one unit may count
    for in a column; `groups` and `values` cap the private keys and the different values
    that one unit counts for. `by` is who asks.
    """

    def __init__(self, data: Data, account: Account | None = None) -> None:
        self._data, self._account = data, account

    @classmethod
    def of(
        cls,
        columns: Mapping[str, Any],
        *,
        unit: Unit = ROW,
        owner: str | None = None,
        bounds: Mapping[str, Bounds] | None = None,
        keys: Mapping[str, Sequence[Any]] | None = None,
        provenance: Mapping[str, str] | None = None,
        account: Account | None = None,
    ) -> Dataset:
        """A dataset from columns in memory:
        `Dataset.of({"age": ages}, bounds={"age": (0, 110)}, account=budget)`.
        """
        bounds, keys, said = bounds or {}, keys or {}, provenance or {}
        facts = {
            name: ColumnFacts(
                name,
                kind=kind_of(column),
                bounds=bounds.get(name),
                keys=tuple(keys[name]) if name in keys else None,
                provenance=said.get(name, ""),
            )
            for name, column in columns.items()
        }
        held = Columns(
            lambda names: {name: columns[name] for name in names}, facts, unit, owner
        )
        for argument, declared in (
            ("bounds", bounds),
            ("keys", keys),
            ("provenance", said),
        ):
            _check_known(argument, list(declared), held)
        return cls(held, account)

    # What is public about it

    @property
    def unit(self) -> Unit:
        """What one individual is, and which neighbours count."""
        return self._data.unit

    @property
    def single(self) -> bool:
        """Whether every row is a unit of its own."""
        return self._data.single

    @property
    def facts(self) -> Mapping[str, ColumnFacts]:
        """What is declared about each private column, by its name ("table.column" where
        there are several tables).
        """
        return self._data.facts

    @property
    def bounds(self) -> dict[str, Bounds]:
        """The public limits of columns that have any."""
        found = self.facts.items()
        return {name: one.bounds for name, one in found if one.bounds is not None}

    @property
    def keys(self) -> dict[str, tuple[Any, ...]]:
        """The public values of columns that have any."""
        found = self.facts.items()
        return {name: one.keys for name, one in found if one.keys is not None}

    @property
    def caps(self) -> Mapping[str, int]:
        """The most rows that one unit has in a table, where that is declared."""
        return self._data.caps

    @property
    def provenance(self) -> dict[str, str]:
        """Who declared what is public about a column, and from what."""
        found = self.facts.items()
        return {name: one.provenance for name, one in found if one.provenance}

    @property
    def account(self) -> LedgerAccount:
        """The account that pays."""
        if self._account is None:
            raise ArgumentError(
                "budget",
                "this dataset has no account; make it with Dataset.of(…, "
                "account=Budget(epsilon=1.0))",
            )
        return cast("LedgerAccount", self._account)

    @property
    def payer(self) -> Account | None:
        """The account that pays, if there is one."""
        return self._account

    @property
    def catalogue(self) -> Catalogue:
        """All that the curator declared."""
        return self._database.catalogue

    @property
    def tables(self) -> Tables:
        """What is declared about each table, to read."""
        return self._database.tables

    @property
    def engine(self) -> Engine:
        """Where the tables live. It hands out private rows: it is for the curator."""
        return self._database.engine

    @property
    def failure(self) -> Exception | None:
        """What last went wrong after a charge. It may hold private values: it is for
        the curator in this process.
        """
        return self._database.failure

    @property
    def _database(self) -> Database:
        if isinstance(self._data, Columns):
            raise ArgumentError(
                "sql",
                "this dataset consists of columns in memory, which only the array "
                "functions can read; open a data frame with dither.open instead",
            )
        return cast("Database", self._data)

    # Questions

    @keywords(QueryCost)
    def sql(self, query: str, **cost: Unpack[QueryCost]) -> TableRelease:
        """The answer, charged before any data is read; a repeated question is
        answered from the ledger, at no cost.

        Guarantee: the plan's, for one unit of the catalogue; `preview` shows it.
        Why: each measured vector is clipped to its radius for each unit, in integers,
        over all groups together; exact noise for that radius; the parts of the cost add
        up (docs/proofs/query.md).
        Assumes: the engine computes what it is asked, and parent keys are unique. How
        long it takes is not protected.
        """
        return self._database.sql(query, cost)

    @keywords(QueryCost)
    def ask(self, expression: Any, **cost: Unpack[QueryCost]) -> TableRelease:
        """The answer to an Ibis expression over tables from `ibis`: it becomes SQL, and
        all is as for `sql`.
        """
        return self._database.ask(expression, cost)

    def ibis(self, table: str) -> IbisTable:
        """A declared table as an Ibis table without data, to write expressions with."""
        return self._database.ibis(table)

    @keywords(QueryCost)
    def preview(self, query: Any, **cost: Unpack[QueryCost]) -> Preview:
        """What a question would cost and how far off its answer would be. Reads no
        private data and costs nothing.

        The question is SQL or an Ibis expression.
        """
        return self._database.preview(query, cost)

    @keywords(QueryCost)
    def plan(self, query: Any, **cost: Unpack[QueryCost]) -> Plan:
        """What a question will do, for audits and front ends: what is measured, and
        with how much of its cost. Nothing is read or spent.
        """
        return self._database.plan(query, cost)

    @keywords(QueryCost)
    def explain_plan(self, query: Any, **cost: Unpack[QueryCost]) -> str:
        """The plan in words: relations, keys, aggregates; with a cost, also
        sensitivities and noise.
        """
        return self._database.explain_plan(query, cost)

    def trial(
        self,
        test: str,
        *,
        outcome: str | None = None,
        arm: str | None = None,
        arms: Sequence[Any] | None = None,
        event: str | None = None,
        baseline: str | None = None,
        entry: str | None = None,
        where: Mapping[str, Any] | None = None,
        keep: str = "one",
        table: str | None = None,
        **study: Any,
    ) -> TrialRelease:
        """A test of `dither.science.trials` on columns of a private table:
        `trial("mannwhitneyu", outcome="pain", arm="arm", sizes=(200, 200), epsilon=1)`.

        `arms` are the labels to compare, in this order; those declared as the column's
        keys if left out. Of several rows of one person a random "one" is kept, or they
        are reduced to their "mean", "min" or "max" (`keep`); whose rows disagree about
        the arm counts for nobody. `where={"visit": 4}` looks at those rows only, and
        `where={"sex": "f"}` at a subgroup, whose size is private. `predictors` names
        the columns of `linregress`, `of` the test of `test_of_tests`. What else a test
        takes goes by its own names; its promise is stated there.
        """
        ask = importlib.import_module("dither.science.trials.verbs").ask
        columns = {
            "outcome": outcome,
            "arm": arm,
            "event": event,
            "baseline": baseline,
            "entry": entry,
        }
        how = {"arms": arms, "keep": keep, "table": table, "where": where}
        return cast("TrialRelease", ask(self, test, columns | how | study))

    @keywords(SpentBy)
    def synth(
        self,
        *,
        domain: Domain | Mapping[str, Any] | None = None,
        columns: Sequence[str] | None = None,
        table: str | None = None,
        rows: int | None = None,
        pairs: Sequence[tuple[str, str]] | None = None,
        n: int | None = None,
        bins: int | Mapping[str, Any] | None = None,
        check: float | None = None,
        **cost: Unpack[SpentBy],
    ) -> Synthetic:
        """A synthetic table of a private one (`dither.science.synth.mst`):
        `synth(rows=1, pairs=[("age", "ward")], epsilon=1)`.

        Without a `domain`, it is what is declared: keys are categories, and numbers and
        dates are in `bins` bins between their bounds (16, or what a mapping says by
        column: how many, or edges). `columns` are all but ids if left out. Of each unit
        at most `rows` rows count; the declared most if left out. `pairs` are measured
        in any case, `n` is how many rows are made, and `check` the share of the cost
        that measures how good they are.
        """
        ask = importlib.import_module("dither.science.synth.verbs").ask
        words = {"rows": rows, "pairs": pairs, "n": n, "check": check, **cost}
        found = ask(self, domain, columns, table, bins, words)
        return cast("Synthetic", found)

    def fit(
        self,
        estimator: Fitting,
        *,
        inputs: Sequence[str],
        target: str | None = None,
        table: str | None = None,
    ) -> Fitting:
        """An estimator of `dither.learn`, fitted to columns of a private table:
        `fit(LogisticRegression(epsilon=1), inputs=["age", "days"], target="ward")`.

        Bounds, classes, unit, rows of a unit and population are those declared, and the
        dataset's account pays: leave them out of the estimator. Declared keys become one
        column each, of 0 and 1, called `ward=A`.
        """
        ask = importlib.import_module("dither.learn.estimators.verbs").fit
        return cast("Fitting", ask(self, estimator, inputs, target, table))

    # Private rows, for other rooms

    def __getitem__(self, name: str) -> Column:
        if not isinstance(name, str) or name not in self.facts:
            words = f"there is no column {name!r}; use one of {_listed(self._data)}"
            raise ArgumentError("column", words)
        return Column(self, name)

    def fetch(
        self,
        columns: Sequence[str],
        *,
        table: str | None = None,
        receipt: Receipt | None = None,
    ) -> PrivateRows:
        """Owners and clamped columns of a private table, against the receipt of a
        charge to this dataset's account.

        Nothing that is computed from them may leave the curator's process but under the
        guarantee of that charge, which covers all reading for one release.
        """
        self._check_paid(receipt)
        return self._database.fetch(columns, table)

    def read(self, column: Column, receipt: Receipt | None) -> Any:
        """One column, for the array functions, which clamp what they read."""
        self._check_paid(receipt)
        return self._data.read(column.facts)

    def axes(
        self, cells: Sequence[str], *, table: str | None = None
    ) -> tuple[tuple[Any, ...], ...]:
        """The public values of each expression that `histogram` would count by. Nothing
        is read: what cannot be counted is refused before it is charged.
        """
        return self._database.axes(cells, table)

    def histogram(
        self,
        cells: Sequence[str],
        *,
        rows: int = 1,
        table: str | None = None,
        receipt: Receipt | None = None,
    ) -> CellCounts:
        """Exact counts of a table's rows in public cells, counted inside the engine
        against the receipt of a charge; one axis for each expression of `cells`.

        Each expression has public values: a column with declared keys, or what bounds
        make countable, such as `age // 10`. Of each unit at most `rows` rows count: a
        unit that comes or goes moves the counts by `rows` in L1, one that is replaced
        by twice that. Of a table whose rows find their owner through a key, this holds
        if that key is unique (rule R9).
        """
        self._check_paid(receipt)
        return self._database.histogram(cells, rows, table)

    def check_listed(self, axes: Sequence[Axis], *, table: str | None = None) -> None:
        """Refuse what `count_listed` could not count, before it is charged."""
        self._database.check_listed(axes, table)

    def count_listed(
        self,
        *histograms: Sequence[Axis],
        rows: int = 1,
        alone: bool = False,
        table: str | None = None,
        receipt: Receipt | None = None,
    ) -> list[NDArray[np.int64]]:
        """The same as `histogram` for cells that are listed with the question, of which
        there may be more than a query can have: an array for each histogram, all of
        the same state of the table, with an axis for each of its axes. With `alone`, a
        unit that has several rows in the table counts for nobody, so that the counts
        are a function of the table alone. Bounds of columns do not hold here: what is
        in no listed cell counts nowhere.
        """
        self._check_paid(receipt)
        return self._database.count_listed(histograms, rows, alone, table)

    def _check_paid(self, receipt: Receipt | None) -> None:
        """Data is read after a charge only; without an account there is no guarantee."""
        if self._account is None:
            return
        if receipt is None:
            raise ArgumentError(
                "receipt",
                "is missing; charge the dataset's account and pass the receipt",
            )
        if not self._account.holds(receipt):
            raise ArgumentError(
                "receipt",
                "does not belong to this dataset's account; charge that account and pass "
                "its receipt",
            )

    # Its life

    def close(self) -> None:
        """Let go of the engine, and of the book if it was opened with it."""
        self._data.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        if isinstance(self._data, Columns):
            return f"<Dataset: {', '.join(self.facts)}>"
        return repr(self._data)


@dataclass(frozen=True)
class Column:
    """One private column, with the public facts of its dataset."""

    dataset: Dataset
    name: str

    def fetch(self, receipt: Receipt | None = None) -> Any:
        """The column itself, against a receipt. One in memory comes as it is, and is
        not clamped.
        """
        return self.dataset.read(self, receipt)

    @property
    def facts(self) -> ColumnFacts:
        """Public facts about it."""
        return self.dataset.facts[self.name]
