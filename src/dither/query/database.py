"""Private tables opened under a budget: an analyst who need not be trusted asks, and
only releases come out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from dither.dataset import Axis, CellCounts, ColumnFacts, Kind, PrivateRows, QueryCost
from dither.errors import (
    ArgumentError,
    DitherError,
    EngineFailed,
    LedgerError,
    QueryError,
)
from dither.ledger import Account, Ledger, Receipt
from dither.ledger.receipt import check_text
from dither.ledger.replay import replay_key
from dither.noise import token
from dither.privacy import Unit
from dither.query.answer.assemble import Answer
from dither.query.answer.details import details_of
from dither.query.answer.noisy import Noisy, measure
from dither.query.answer.notes import Notes
from dither.query.answer.solve import solve
from dither.query.answer.widths import widths
from dither.query.catalogue.model import Catalogue, Field, Table
from dither.query.catalogue.tables import Tables
from dither.query.catalogue.types import Type
from dither.query.cells import axes_of, cells_of, counted
from dither.query.collect.public import PublicSizes
from dither.query.engines.protocol import Engine
from dither.query.fetch import fetched, fields_of, private_table
from dither.query.ibis import sql_of, table_of
from dither.query.listed import Listed, counted_in, listed_of, unclipped
from dither.query.operations.expressions import KeyLeaf
from dither.query.plan.choose import plans_of
from dither.query.plan.describe import describe, described
from dither.query.plan.fan_out import check_fan_out, most_rows
from dither.query.plan.plan import Plan
from dither.query.plan.public_keys import with_public_keys
from dither.query.plan.request import Request, request_of
from dither.query.plan.spend import check_minimum, least_epsilon
from dither.query.plugins import mechanism_named
from dither.query.preview import Preview, PreviewColumn
from dither.query.sql.bind import bind
from dither.query.sql.parse import NESTED, Parsed, parse
from dither.query.sql.question import Output, Question
from dither.query.sql.reserved import with_quotes
from dither.release import Source
from dither.table import TableRelease
from dither.wording import foreseen

if TYPE_CHECKING:
    import numpy as np
    from ibis.expr.types import Table as IbisTable
    from numpy.typing import NDArray

__all__ = ["Database"]

PURPOSE = 500
SALT_BYTES = 16
STACK = 350
"""Number of levels of the interpreter's stack that measuring the deepest plan may need.
"""


class Database:
    """What a `Dataset` of tables is made of: its catalogue, its engine and its account.
    It answers in the order of rule R4: plan, charge, read, release.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        engine: Engine,
        account: Account,
        book: Ledger | None = None,
    ) -> None:
        if account.unit != catalogue.unit:
            words = (
                f"is for {account.unit}, but the dataset protects "
                f"{catalogue.unit}; {_another(account.unit, catalogue.unit)}"
            )
            raise ArgumentError("budget", words)
        self.catalogue, self.account, self.engine = catalogue, account, engine
        self._book = book
        self._sizes = PublicSizes(engine, catalogue.table)
        self.failure: Exception | None = None

    @property
    def unit(self) -> Unit:
        return self.catalogue.unit

    @property
    def single(self) -> bool:
        return self.catalogue.rows_are_units

    @property
    def tables(self) -> Tables:
        """The declarations of each table."""
        return Tables(self.catalogue)

    @cached_property
    def facts(self) -> dict[str, ColumnFacts]:
        """The declarations of the columns of private tables."""
        tables = self.catalogue.private
        return {
            one.name if len(tables) == 1 else f"{table.name}.{one.name}": _facts(
                table, one
            )
            for table in tables
            for one in table.fields
        }

    @property
    def caps(self) -> dict[str, int]:
        """The declared most rows of a unit, by table."""
        tables = self.catalogue.private
        return {table.name: table.rows for table in tables if table.rows is not None}

    def sql(self, query: str, cost: QueryCost) -> TableRelease:
        """The answer to a question in SQL: see `Dataset.sql`."""
        with self._quoting():
            parsed = parse(query)
        if parsed.explain:
            raise QueryError(
                "a question with EXPLAIN asks for a preview; call preview() instead, or "
                "leave EXPLAIN out"
            )
        request, by = _stated(cost)
        plan = self._plan(parsed, request, by)
        purpose = " ".join(query.split())[:PURPOSE]
        stored = self.account.stored(self._key(plan), by=by)
        if stored is not None:
            found = self._read(plan, stored, by, purpose)
            left = self.account.remaining_for(by).in_words()
            return replace(self._release(plan, *found, replayed=True), remaining=left)
        self._check_minimum(plan)
        with self.account.spending(plan.guarantee, by=by, purpose=purpose) as receipt:
            kept = self._keep(plan, self._measured(plan), receipt)
        return self._release(plan, *kept)

    def ask(self, expression: Any, cost: QueryCost) -> TableRelease:
        """The answer to an Ibis expression."""
        return self.sql(sql_of(expression), cost)

    def ibis(self, table: str) -> IbisTable:
        """A declared table as an Ibis table without data, to write expressions with."""
        return table_of(self.catalogue, table)

    def preview(self, query: Any, cost: QueryCost) -> Preview:
        """The cost and the error of a question in SQL or in Ibis."""
        return self._preview(self._parsed(query), *_stated(cost))

    def plan(self, query: Any, cost: QueryCost) -> Plan:
        """The measurements of a question."""
        return self._plan(self._parsed(query), *_stated(cost))

    def explain_plan(self, query: Any, cost: QueryCost) -> str:
        """The plan in words; without a cost, what does not depend on it."""
        parsed = self._parsed(query)
        if not cost:
            with _shallow():
                return describe(self._listed_keys(self._bound(parsed)))
        plan = self._plan(parsed, *_stated(cost))
        self._check_minimum(plan)
        with _shallow():
            return "\n".join([describe(plan.question), *described(plan)])

    def fetch(self, columns: Sequence[str], table: str | None) -> PrivateRows:
        """Owners and clamped columns of a private table."""
        found = private_table(self.catalogue, table)
        fields = fields_of(found, columns)
        with self._remembering():
            return fetched(self.catalogue, self.engine, fields, found)

    def read(self, column: ColumnFacts) -> Any:
        """One clamped column of a private table."""
        return self.fetch([column.column], column.table).columns[column.column]

    def axes(
        self, cells: Sequence[str], table: str | None
    ) -> tuple[tuple[Any, ...], ...]:
        """The public values of cells."""
        return axes_of(self._cells(cells, table))

    def _cells(self, cells: Sequence[str], table: str | None) -> Question:
        found = private_table(self.catalogue, table)
        with _shallow(), self._quoting():
            return cells_of(self.catalogue, cells, found)

    def histogram(
        self, cells: Sequence[str], rows: int, table: str | None
    ) -> CellCounts:
        """Exact counts of a private table's rows in public cells."""
        question = self._cells(cells, table)
        with self._remembering():
            return counted(self.catalogue, self.engine, question, rows, _salt())

    def _listed(self, axes: Sequence[Axis], table: str | None) -> Question:
        found = private_table(self.catalogue, table)
        with _shallow(), self._quoting():
            return listed_of(unclipped(self.catalogue), axes, found)

    def check_listed(self, axes: Sequence[Axis], table: str | None) -> None:
        """Refuse cells that cannot be counted."""
        self._listed(axes, table)

    def count_listed(
        self,
        histograms: Sequence[Sequence[Axis]],
        rows: int,
        alone: bool,
        table: str | None,
    ) -> list[NDArray[np.int64]]:
        """Exact counts of a private table's rows in listed cells."""
        cells = [
            Listed(self._listed(axes, table), tuple(axes), rows, alone)
            for axes in histograms
        ]
        with self._remembering():
            return counted_in(unclipped(self.catalogue), self.engine, cells, _salt())

    @contextmanager
    def _remembering(self) -> Iterator[None]:
        """Errors of the engine are kept for the curator."""
        try:
            yield
        except EngineFailed as problem:
            self.failure = problem
            raise

    def _parsed(self, query: Any) -> Parsed:
        with self._quoting():
            return _parsed(query)

    def _bound(self, parsed: Parsed) -> Question:
        with self._quoting():
            return bind(parsed, self.catalogue)

    @contextmanager
    def _quoting(self) -> Iterator[None]:
        """An error beside a column that is named like a word of SQL says to quote it."""
        try:
            yield
        except QueryError as error:
            raise with_quotes(
                error,
                {one.name for table in self.catalogue.tables for one in table.fields},
            ) from None

    def _plan(self, parsed: Parsed, request: Request, by: str | None = None) -> Plan:
        question, terms = self._bound(parsed), self.account.terms
        request = request.spelled(question.outputs)
        stated = request.mechanism
        plugin = None if stated is None else mechanism_named(stated)
        with _shallow():
            question = self._listed_keys(question)
            most = most_rows(question.rows, self._sizes)
            plans = partial(plans_of, question, terms=terms, plugin=plugin, most=most)
            if request.cost.error is None:
                plan = self._fitting(plans(request), by)
            else:
                plan = solve(
                    question, request, terms, lambda: self._epsilons(question), plans
                )
            plan.identity  # noqa: B018 - goes through the whole plan, before anything is charged
            # Measuring goes deeper than planning, and must not fail after the charge
            _go_down(STACK)
        return plan

    def _listed_keys(self, question: Question) -> Question:
        """The question with the public values that its keys have in public tables,
        whose joins were found to be small enough.
        """
        check_fan_out(question.rows, self._sizes, self.catalogue.limits.fan_out)
        return with_public_keys(question, self._sizes)

    def _fitting(self, plans: Sequence[Plan], by: str | None) -> Plan:
        """The best plan that the account affords; one that was answered before, where
        it does not afford the best.
        """
        best, *others = plans
        if not others or self._affordable(best, by):
            return best
        stored = (plan for plan in plans if self._is_stored(plan, by))
        return next(
            stored, next((plan for plan in others if self._affordable(plan, by)), best)
        )

    def _epsilons(self, question: Question) -> tuple[float, float]:
        """The least and the largest ε that a question can be asked with."""
        terms = self.account.terms
        least = least_epsilon(
            terms, self.account.policy.minimum, keys=question.private_keys
        )
        return least, terms.total.epsilon

    def _check_minimum(self, plan: Plan) -> None:
        terms, minimum = self.account.terms, self.account.policy.minimum
        check_minimum(
            plan.guarantee,
            plan.request.cost,
            terms,
            minimum,
            keys=plan.keys is not None,
        )

    def _measured(self, plan: Plan) -> Noisy:
        """The measurements of the engine. An error there may depend on the data, so
        none of it is passed on.
        """
        try:
            return measure(plan, self.engine, self.catalogue.table, _salt())
        except Exception as problem:
            self.failure = problem
        # Raised here and not where the problem was caught, so that it carries no trace
        # of it.
        raise EngineFailed(
            "the engine could not finish this question; ask the curator to look at the "
            "cause"
        )

    def _preview(self, parsed: Parsed, request: Request, by: str | None) -> Preview:
        plan = self._plan(parsed, request, by)
        replay = self._is_stored(plan, by)
        if not replay:
            self._check_minimum(plan)
        delta = self.account.terms.total.delta
        affordable = self.account.affords(plan.guarantee, by=by)
        charged = affordable and not replay
        cost = foreseen(self.account, plan.guarantee, by, charged=charged)
        return Preview(
            columns=tuple(_column(plan, output) for output in plan.question.outputs),
            guarantee=plan.guarantee,
            epsilon_alone=plan.guarantee.epsilon_at(delta),
            share=cost.share,
            groups="one per private key that is released"
            if plan.groups is None
            else plan.groups,
            notes=_notes(plan),
            affordable=affordable,
            cost=cost.cost,
            remaining=cost.remaining,
            refused=cost.refused,
            replay=replay,
            delta=delta,
        )

    def _affordable(self, plan: Plan, by: str | None) -> bool:
        return self.account.affords(plan.guarantee, by=by)

    def _key(self, plan: Plan) -> str:
        return replay_key(
            plan=plan.identity,
            dataset=self.account.name,
            version=self.catalogue.version,
            scope="",
            catalogue=self.catalogue.digest,
        )

    def _keep(
        self, plan: Plan, noisy: Noisy, receipt: Receipt
    ) -> tuple[Noisy, Receipt]:
        """Store the release durably before it is shown. If someone else was faster,
        theirs is the answer.
        """
        about = {
            "number": receipt.number,
            "by": receipt.by,
            "time": receipt.time,
            "head": receipt.head,
        }
        text = json.dumps(
            {
                "receipt": about | {"purpose": receipt.purpose},
                "noisy": json.loads(noisy.to_json()),
            }
        )
        try:
            self.account.store(receipt, self._key(plan), text)
        except LedgerError:
            stored = self.account.stored(self._key(plan), by=receipt.by)
            if stored is None:
                raise
            return self._read(plan, stored, receipt.by, receipt.purpose)
        return noisy, receipt

    def _is_stored(self, plan: Plan, by: str | None) -> bool:
        """Whether the answer would come from the book; whoever may not have it is not
        told that it is there.
        """
        try:
            return self.account.stored(self._key(plan), by=by) is not None
        except DitherError:
            return False

    def _read(
        self, plan: Plan, text: str, by: str | None, purpose: str
    ) -> tuple[Noisy, Receipt]:
        """A stored release with the receipt of its charge. Who else asked, and in which
        words, is not shown.
        """
        stored = json.loads(text)
        about = stored["receipt"]
        if by is not None and about["by"] != by:
            about |= {"by": None, "purpose": purpose}
        receipt = Receipt(
            guarantee=plan.guarantee,
            book=self.account.place,
            account=self.account.name,
            **about,
        )
        return Noisy.from_json(json.dumps(stored["noisy"]), plan), receipt

    def _release(
        self, plan: Plan, noisy: Noisy, receipt: Receipt, *, replayed: bool = False
    ) -> TableRelease:
        answer = Answer(plan, noisy)
        notes = Notes(plan, noisy, answer.selected_from, answer.absent)
        outputs = plan.question.outputs
        return TableRelease(
            columns=tuple(output.name for output in outputs),
            rows=answer.rows,
            sources=(Source(plan.guarantee, receipt, self.account.terms.total.delta),),
            spread=answer.spread,
            notes=notes.all(),
            replayed=replayed,
            noise=answer.noise,
            first=notes.first(),
            keys=tuple(
                output.name for output in outputs if isinstance(output.expr, KeyLeaf)
            ),
            details=partial(details_of, plan),
            words=answer.words,
            known=answer.known,
        )

    def close(self) -> None:
        """Let go of the engine, and of the book if it was opened with it."""
        self.engine.close()
        if self._book is not None:
            self._book.close()

    def __repr__(self) -> str:
        return (
            f"<Dataset {self.catalogue.name}: {', '.join(self.tables)}; "
            f"{self.account!r}>"
        )


def _another(theirs: Unit, mine: Unit) -> str:
    """Advice if the account is for another unit."""
    if theirs.name == mine.name and theirs.given != mine.given:
        return "declare the same exact facts (given=) as when the account was opened"
    return "pass an account for that unit"


def _go_down(levels: int) -> None:
    if levels:
        _go_down(levels - 1)


@contextmanager
def _shallow() -> Iterator[None]:
    """A plan that the interpreter cannot go down into is refused like one that cannot
    be read.
    """
    try:
        yield
    except RecursionError:
        raise QueryError(NESTED) from None


def _parsed(query: Any) -> Parsed:
    """A question in SQL, or an Ibis expression (known by where its class comes from, so
    that nothing is loaded).
    """
    return parse(sql_of(query) if type(query).__module__.startswith("ibis.") else query)


def _stated(cost: QueryCost) -> tuple[Request, str | None]:
    """Keywords for the cost of a question and for the analyst who asks."""
    words: dict[str, Any] = {**cost}
    by = _analyst(words.pop("by", None))
    return request_of(words), by


def _analyst(by: Any) -> str | None:
    if by is None:
        return None
    if not isinstance(by, str):
        raise ArgumentError(
            "by", f"must be the name of an analyst, not {type(by).__name__}"
        )
    check_text("by", by, needed=True)
    return by


def _salt() -> str:
    return token(SALT_BYTES)


KINDS = {
    Type.INTEGER: Kind.INTEGERS,
    Type.REAL: Kind.REALS,
    Type.BOOLEAN: Kind.TRUTHS,
}


def _facts(table: Table, field: Field) -> ColumnFacts:
    """A declared column as other rooms see it; bounds of dates are left out there."""
    low, high = field.range.low, field.range.high
    numeric = field.type.numeric and low is not None and high is not None
    return ColumnFacts(
        field.name,
        table.name,
        KINDS.get(field.type, Kind.OTHER),
        (low, high) if numeric else None,  # type: ignore[arg-type]
        field.keys,
        field.provenance,
    )


def _column(plan: Plan, output: Output) -> PreviewColumn:
    found = widths(plan, output)
    texts = [plan.question.aggregates[index].text for index in sorted(output.needs)]
    return PreviewColumn(output.name, ", ".join(texts) or "key", found)


def _notes(plan: Plan) -> tuple[str, ...]:
    """The plan in words, and why its noise was chosen."""
    noise, *others = described(plan)[1:]
    return (f"{noise} ({plan.why})" if plan.why else noise, *others)
