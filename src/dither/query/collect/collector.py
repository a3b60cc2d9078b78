"""Exact integers from the engine: what one unit can move in them is bounded here, in
integers (rules R11 to R15).

Each statement is written anew from the plan. Rows become partial sums for each unit and
group; a unit's norm over all groups decides whether its part is scaled down. Sums over
all units come first, and what clipping takes off the few units above the radius is
subtracted: the result is the same, for a fraction of the work.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.query.catalogue.limits import KEY_LENGTH
from dither.query.catalogue.model import Table
from dither.query.catalogue.types import Type
from dither.query.collect.rows import Writer, held
from dither.query.collect.sums import leaf, sums
from dither.query.engines.protocol import Dialect, Session
from dither.query.operations.calls import call, literal
from dither.query.operations.expressions import Column, Expr, Ref
from dither.query.plan.plan import Item, Plan
from dither.query.plan.vectors import CAP, Kind, Measure
from dither.query.sql.question import Key

__all__ = ["Collector"]

LARGEST = (1 << 62) - 1
BLOCK = 100_000
"""So many rows of numbers are fetched at a time."""
Integers = NDArray[np.int64]


class Collector:
    """One question's statements in one session of an engine."""

    def __init__(
        self,
        plan: Plan,
        session: Session,
        dialect: Dialect,
        table: Callable[[str], Table],
        salt: Callable[[], str],
    ) -> None:
        self.plan, self.session, self.dialect, self.table, self.salt = (
            plan,
            session,
            dialect,
            table,
            salt,
        )
        self.named = 0 if plan.keys is not None else 1
        self._made = 0

    # What the rows hold

    @cached_property
    def _args(self) -> list[Expr]:
        return list(
            dict.fromkeys(arg for item in self.plan.items for arg in item.measure.args)
        )

    @cached_property
    def _public(self) -> list[tuple[int, Key]]:
        return [
            (i, key)
            for i, key in enumerate(self.plan.question.keys)
            if key.values is not None
        ]

    @cached_property
    def _private(self) -> list[int]:
        return [
            i for i, key in enumerate(self.plan.question.keys) if key.values is None
        ]

    @cached_property
    def _publics(self) -> int:
        """How many groups the public keys make."""
        return math.prod(len(key.values or ()) for _, key in self._public)

    @property
    def groups(self) -> int:
        return self.named * self._publics

    @cached_property
    def _vectors(self) -> list[tuple[int, Item]]:
        kinds = (Kind.TOTAL, Kind.UNITS, Kind.MOMENTS)
        return [
            (m, item)
            for m, item in enumerate(self.plan.items)
            if item.measure.kind in kinds
        ]

    def _names(self, measure: Measure) -> list[str]:
        return [f"a{self._args.index(arg)}" for arg in measure.args]

    # Statements

    def _writer(self) -> Writer:
        return Writer(self.dialect, self.table)

    def _create(self, writer: Writer, select: str) -> str:
        self._made += 1
        name = f"dither_{self._made}"
        self.session.create(name, select, writer.parameters)
        return name

    def _fetch(self, writer: Writer, select: str) -> list[tuple[Any, ...]]:
        return self.session.fetch(select, writer.parameters)

    @cached_property
    def _lookups(self) -> dict[int, str]:
        """A table of value and place for each public key."""
        found = {}
        for i, key in self._public:
            writer = self._writer()
            values = [value for value in key.values or () if value is not None]
            listed = self.dialect.listed([values], [key.expr.type], writer.parameters)
            found[i] = self._create(writer, listed)
        return found

    def _rows(self, writer: Writer, *, naming: bool) -> str:
        """u, the number d of the private key, the group g, and the arguments a… of each
        row.

        Rows whose public keys are not among the declared values are left out; so are
        rows with a private key that is NULL, or, when keys are named already, not among
        these.
        """
        question = self.plan.question
        columns = [
            f"{writer.expr(key.expr)} AS q{i}" for i, key in enumerate(question.keys)
        ]
        columns += [f"{writer.expr(arg)} AS a{i}" for i, arg in enumerate(self._args)]
        rows = (
            f"SELECT {', '.join(['u', *columns])} FROM "
            f"({writer.relation(question.relation)}) t"
        )
        joins, places, conditions = "", list[str](), list[str]()
        for i, key in self._public:
            place, join, condition = _looked_up(i, key, self._lookups[i])
            joins, places, conditions = (
                joins + join,
                [*places, place],
                [*conditions, *condition],
            )
        group = _mixed(places, [len(key.values or ()) for _, key in self._public])
        listed = ["r.u AS u", *(f"r.a{i} AS a{i}" for i in range(len(self._args)))]
        if self._private:
            on = " AND ".join(f"r.q{i} = d.k{n}" for n, i in enumerate(self._private))
            joins, listed = (
                f"{joins} JOIN {self._dictionary} d ON {on}",
                [*listed, "d.i AS d"],
            )
        if self._private and naming:
            joins, group = (
                f"{joins} JOIN {self._named} w ON d.i = w.k0",
                f"(w.i * {self._publics} + {group})",
            )
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        return (
            f"SELECT {', '.join([*listed, f'{group} AS g'])} FROM ({rows}) "
            f"r{joins}{where}"
        )

    # Keys

    def candidates(self) -> Integers:
        """How many units keep each private key that enough of them keep
        (`KeyThreshold.at_least`), by the key's number.

        They are brought here a block at a time, as plain integers: there can be as many
        as units keep keys.
        """
        blocks: list[Integers] = []
        while not blocks or len(blocks[-1]) == BLOCK:
            first = BLOCK * len(blocks)
            within = f"i >= {first} AND i < {first + BLOCK}"
            rows = self.session.fetch(
                f"SELECT i, n FROM {self._candidates} WHERE {within}"
            )
            block = np.zeros(len(rows), np.int64)
            for i, n in rows:
                block[int(i) - first] = int(n)
            blocks.append(block)
        return np.concatenate(blocks)

    @cached_property
    def _candidates(self) -> str:
        """The dictionary's number d of each key that enough units keep, how many do,
        and its own number i from 0 on.

        A unit keeps at most `most` keys. Of a unit with more, those stay whose hash
        with the unit's id comes first. It is made from the key's value and a secret
        salt, never from the key's number: that would depend on other units' keys. Only
        what units *keep* decides which keys are left out (rule R31).
        """
        assert self.plan.keys is not None
        most, pairs = self.plan.keys.most, self._pairs
        hashed = f"{pairs} p JOIN {self._dictionary} d ON p.d = d.i"
        place = self.dialect.hashed(["p.u", "d.h"])
        over = f"SELECT u FROM {self._owned} WHERE keys > {most}"
        top = self.dialect.lowest(place, most + 1)
        cuts = (
            f"SELECT p.u AS u, {top} AS top FROM {hashed} WHERE p.u IN "
            f"({over}) GROUP BY p.u"
        )
        cut = self._create(self._writer(), cuts)
        every = f"SELECT d, count(*) AS n FROM {pairs} GROUP BY d"
        beyond = f"{hashed} JOIN {cut} o ON p.u = o.u WHERE {place} >= o.top"
        given_up = f"SELECT p.d AS d, count(*) AS n FROM {beyond} GROUP BY p.d"
        left = f"({every}) e LEFT JOIN ({given_up}) l ON e.d = l.d"
        kept = f"SELECT e.d AS d, e.n - coalesce(l.n, 0) AS n FROM {left}"
        enough = f"n >= {self.plan.keys.at_least}"
        return self._create(
            self._writer(),
            (
                f"SELECT d, n, {self.dialect.numbered()} AS i FROM ({kept}) t "
                f"WHERE {enough}"
            ),
        )

    @cached_property
    def found(self) -> list[tuple[Any, ...]]:
        """The private keys that enough units keep, by their numbers."""
        return self._keys(f"{self._candidates} c")

    def keyed(self, numbers: Sequence[int]) -> list[tuple[Any, ...]]:
        """The private keys with these numbers."""
        writer = self._writer()
        listed = self._create(
            writer,
            self.dialect.listed([list(numbers)], [Type.INTEGER], writer.parameters),
        )
        return self._keys(
            f"(SELECT a.d AS d, b.i AS i FROM {self._candidates} a JOIN "
            f"{listed} b ON a.i = b.k0) c"
        )

    def _keys(self, numbered: str) -> list[tuple[Any, ...]]:
        """The keys of the dictionary's numbers d, by their numbers i."""
        keys = ", ".join(f"d.k{n}" for n in range(len(self._private)))
        rows = self.session.fetch(
            f"SELECT {keys}, c.i FROM {numbered} JOIN {self._dictionary} d ON c.d = d.i"
        )
        found: list[tuple[Any, ...]] = [()] * len(rows)
        for *values, i in rows:
            found[int(i)] = tuple(values)
        return found

    @cached_property
    def _dictionary(self) -> str:
        """A number and a hash for each private key in the data.

        Rows with a NULL among their keys, or a text of more than `KEY_LENGTH`
        characters, have no key.
        """
        writer = self._writer()
        question = self.plan.question
        keys = [
            f"{writer.expr(question.keys[i].expr)} AS k{n}"
            for n, i in enumerate(self._private)
        ]
        names = [f"k{n}" for n in range(len(self._private))]
        rows = (
            f"SELECT DISTINCT {', '.join(keys)} FROM "
            f"({writer.relation(question.relation)}) t"
        )
        there = " AND ".join(
            [*(f"{name} IS NOT NULL" for name in names), *self._short(writer)]
        )
        salt = self.dialect.literal(self.salt(), Type.TEXT, writer.parameters)
        salted, number = self.dialect.hashed([*names, salt]), self.dialect.numbered()
        return self._create(
            writer,
            (
                f"SELECT {', '.join(names)}, {number} AS i, {salted} AS h FROM "
                f"({rows}) t WHERE {there}"
            ),
        )

    def _short(self, writer: Writer) -> list[str]:
        """That no text among the private keys is too long."""
        types = enumerate(self.plan.question.keys[i].expr.type for i in self._private)
        texts = [
            Ref.to(n, Column("", type_)) for n, type_ in types if type_ is Type.TEXT
        ]
        short = [
            call("le", call("length", text), literal(KEY_LENGTH)) for text in texts
        ]
        return [writer.expr(one, lambda ref: f"k{ref.index}") for one in short]

    @cached_property
    def _pairs(self) -> str:
        """Each unit's different private keys."""
        if self._vectors and not self._grouped:
            return self._partials
        if self._vectors:
            return self._create(
                self._writer(), f"SELECT DISTINCT u, d FROM {self._partials}"
            )
        writer = self._writer()
        return self._create(
            writer, f"SELECT DISTINCT u, d FROM ({self._rows(writer, naming=False)}) t"
        )

    @cached_property
    def _owned(self) -> str:
        """How many private keys each unit has."""
        if self._vectors and not self._grouped:
            return self._norms
        return self._create(
            self._writer(), f"SELECT u, count(*) AS keys FROM {self._pairs} GROUP BY u"
        )

    def name(self, numbers: Sequence[int]) -> None:
        """From now on only the private keys with these numbers count, in this order."""
        writer = self._writer()
        listed = self._create(
            writer,
            self.dialect.listed([list(numbers)], [Type.INTEGER], writer.parameters),
        )
        pairs = (
            f"SELECT c.d AS k0, l.i AS i FROM {listed} l JOIN "
            f"{self._candidates} c ON l.k0 = c.i"
        )
        self._named = self._create(self._writer(), pairs)
        self.named = len(numbers)

    # Vectors: totals, units, moments

    @cached_property
    def _partials(self) -> str:
        """Partial sums for each unit, private key d and public group g."""
        writer = self._writer()
        rows = self._rows(writer, naming=False)
        parts = [
            f"{x} AS v{m}_{j}"
            for m, item in self._vectors
            for j, x in enumerate(self._sums(item.measure))
        ]
        grouped = [
            "u",
            *(["d"] if self._private else []),
            *(["g"] if self._grouped else []),
        ]
        listed = ", ".join([*grouped, *([] if self._grouped else ["0 AS g"]), *parts])
        return self._create(
            writer, f"SELECT {listed} FROM ({rows}) t GROUP BY {', '.join(grouped)}"
        )

    @property
    def _counted_partials(self) -> str:
        """The partial sums of the keys that count, with the number g of their group."""
        if not self._private:
            return self._partials
        parts = "".join(f", p.{name} AS {name}" for name in self._columns)
        group = f"w.i * {self._publics} + p.g AS g"
        return (
            f"(SELECT p.u AS u, {group}{parts} FROM {self._partials} p JOIN "
            f"{self._named} w ON p.d = w.k0)"
        )

    @cached_property
    def _columns(self) -> list[str]:
        return [
            f"v{m}_{j}" for m, item in self._vectors for j in range(item.measure.size)
        ]

    def _sums(self, measure: Measure) -> list[str]:
        """What the rows of one unit and group add up to, held where sums of squares
        stay exact.
        """
        found = sums(measure, self._names(measure), self.dialect)
        if measure.kind is Kind.UNITS:
            return found
        return [f"CAST({held(total, -CAP, CAP)} AS BIGINT)" for total in found]

    @property
    def _grouped(self) -> bool:
        """Whether there is more than one group for the public keys."""
        return self._publics > 1

    @cached_property
    def _norms(self) -> str:
        """Each unit's norm over all groups and private keys: q… is the sum of squares
        (L2) or of magnitudes (L1).
        """
        alone = not self._grouped and not self._private
        norms = [
            f"{self._norm(item, m, alone)} AS q{m}"
            for m, item in self._vectors
            if not item.measure.sure
        ]
        if alone:  # a unit has one part, so its norm need not be kept
            return f"(SELECT {', '.join(['u', *norms])} FROM {self._partials}) n"
        listed = ", ".join(["u", *norms, "count(*) AS keys"])
        return self._create(
            self._writer(), f"SELECT {listed} FROM {self._partials} GROUP BY u"
        )

    def _norm(self, item: Item, m: int, alone: bool) -> str:
        parts = [f"v{m}_{j}" for j in range(item.measure.size)]
        if self.plan.spend.gaussian:
            norm = " + ".join(f"{self.dialect.wide(v)} * {v}" for v in parts)
        else:
            # parts are held within ± CAP: a few of them fit the narrow type, which is
            # faster to add
            norm = " + ".join(f"abs({v})" for v in parts)
        return self.dialect.wide(norm) if alone else self.dialect.total(norm)

    # What a question needs, item by item

    def units(self, m: int) -> list[int]:
        """How many units have their norm in each bin, for the private choice of a
        radius.
        """
        item = self.plan.items[m]
        if item.measure.kind is Kind.TREE:
            source, norm, power = self._row_counts(m), f"n * {item.measure.row}", 2
        else:
            source, norm, power = (
                self._norms,
                f"q{m}",
                1 if self.plan.spend.gaussian else 2,
            )
        place = self.dialect.doublings(norm, item.bins.first ** (2 // power), power)
        bins = (
            f"SELECT {held(place, 0, item.bins.count - 1)} AS b FROM {source} "
            f"WHERE {norm} > 0"
        )
        counts = [0] * item.bins.count
        for b, count in self.session.fetch(
            f"SELECT b, count(*) FROM ({bins}) t GROUP BY b"
        ):
            counts[int(b)] = int(count)
        return counts

    def totals(self, m: int, radius: int) -> Integers:
        """The exact sums of an item, each unit's part clipped to the radius: one row
        for each group.
        """
        item = self.plan.items[m]
        match item.measure.kind:
            case Kind.TREE:
                return self._leaves(m, radius)
            case Kind.DISTINCT:
                return self._distinct(m, radius)
        if item.measure.sure and item.measure.kind is not Kind.UNITS:
            return self._direct(m)
        parts = [f"v{m}_{j}" for j in range(item.measure.size)]
        totals = ", ".join(map(self.dialect.total, parts))
        rows = self.session.fetch(
            f"SELECT g, {totals} FROM {self._counted_partials} p GROUP BY g"
        )
        clipped = (
            []
            if item.measure.sure
            else self.session.fetch(self._clipped(m, parts, radius))
        )
        return self._filled(item.measure.size, [*rows, *clipped])

    def _clipped(self, m: int, parts: list[str], radius: int) -> str:
        """What clipping adds to each group's sums: scaled parts less whole ones, of the
        units above the radius.

        A part becomes sign(v) · ⌊|v| · C / N⌋ with an integer N that is at least the
        norm, so the scaled norm is at most C (rule R12).
        """
        less = ", ".join(
            self.dialect.total(f"{self._scaled(v, radius)} - {v}") for v in parts
        )
        over = self._over(m, radius)
        return (
            f"SELECT g, {less} FROM {self._counted_partials} p JOIN ({over}) "
            "o ON p.u = o.u GROUP BY g"
        )

    def hidden(self, m: int, radius: int) -> Integers:
        """What clipping to the radius takes off each group, one number each, a unit's
        part in it clipped in its turn.

        A unit that keeps what was declared about it is within that second radius, so
        nothing is lost a second time.
        """
        most = self.plan.hidden_radius(self.plan.items[m], radius)
        cut = self._create(*self._cut(m, radius))
        square, norm = (
            self.dialect.total(f"{self.dialect.wide('r')} * r"),
            self.dialect.root_above("q"),
        )
        norms = f"SELECT u, {square} AS q FROM {cut} GROUP BY u"
        over = f"SELECT u, {norm} AS n FROM ({norms}) t WHERE q > {most * most}"
        rows = self.session.fetch(
            f"SELECT g, {self.dialect.total('r')} FROM {cut} GROUP BY g"
        )
        scaled = self.dialect.divided(f"({self.dialect.wide('r')} * {most})", "n")
        less = self.dialect.total(f"{scaled} - r")
        twice = self.session.fetch(
            f"SELECT g, {less} FROM {cut} p JOIN ({over}) o ON p.u = o.u GROUP BY g"
        )
        return self._filled(1, [*rows, *twice])

    def _cut(self, m: int, radius: int) -> tuple[Writer, str]:
        """u, the group g and what clipping takes off there, r, of the units above the
        radius.
        """
        item, writer = self.plan.items[m], self._writer()
        if item.measure.kind is Kind.TREE:
            rows = (
                f"({self._placed(m, writer)}) r JOIN ({self._weights(m, radius)}) "
                "o ON r.u = o.u"
            )
            lost = self.dialect.total(f"{item.measure.row} - w")
            return (
                writer,
                (
                    f"SELECT r.u AS u, g, CAST({lost} AS BIGINT) AS r FROM {rows} "
                    "GROUP BY r.u, g"
                ),
            )
        parts = [f"v{m}_{j}" for j in range(item.measure.size)]
        lost = " + ".join(f"{v} - {self._scaled(v, radius)}" for v in parts)
        rows = (
            f"{self._counted_partials} p JOIN ({self._over(m, radius)}) o ON p.u = o.u"
        )
        return writer, f"SELECT p.u AS u, g, CAST({lost} AS BIGINT) AS r FROM {rows}"

    def _over(self, m: int, radius: int) -> str:
        """The units above a radius, with an integer n that is at least their norm."""
        if self.plan.spend.gaussian:
            above, norm = f"q{m} > {radius * radius}", self.dialect.root_above(f"q{m}")
        else:
            above, norm = f"q{m} > {radius}", f"q{m}"
        return f"SELECT u, {norm} AS n FROM {self._norms} WHERE {above}"

    def _scaled(self, part: str, radius: int) -> str:
        return self.dialect.divided(f"({self.dialect.wide(part)} * {radius})", "n")

    def _direct(self, m: int) -> Integers:
        """Sums over rows, where every unit has one row at most."""
        item, writer = self.plan.items[m], self._writer()
        totals = ", ".join(sums(item.measure, self._names(item.measure), self.dialect))
        rows = self._rows(writer, naming=True)
        return self._filled(
            item.measure.size,
            self._fetch(writer, f"SELECT g, {totals} FROM ({rows}) t GROUP BY g"),
        )

    def _filled(self, size: int, rows: Sequence[tuple[Any, ...]]) -> Integers:
        """The sums of each group. They are held within 64 bits at last, all together:
        each alone could be beyond.
        """
        result = [[0] * size for _ in range(self.groups)]
        for g, *totals in rows:
            result[int(g)] = [
                before + int(total or 0)
                for before, total in zip(result[int(g)], totals, strict=True)
            ]
        held_sums = [
            [max(-LARGEST, min(LARGEST, total)) for total in row] for row in result
        ]
        return np.array(held_sums, np.int64).reshape(self.groups, size)

    # Trees: leaf counts

    def _placed(self, m: int, writer: Writer) -> str:
        """u, g and the leaf of each row whose value is there."""
        measure = self.plan.items[m].measure
        place = leaf(measure, self._names(measure)[0], self.dialect)
        rows = (
            f"SELECT u, g, {place} AS leaf FROM ({self._rows(writer, naming=True)}) t"
        )
        return f"SELECT * FROM ({rows}) t WHERE leaf IS NOT NULL"

    def _row_counts(self, m: int) -> str:
        """How many rows each unit has, over all groups."""
        if m not in self._counted:
            writer = self._writer()
            select = (
                f"SELECT u, count(*) AS n FROM ({self._placed(m, writer)}) t GROUP BY u"
            )
            self._counted[m] = self._create(writer, select)
        return self._counted[m]

    @cached_property
    def _counted(self) -> dict[int, str]:
        return {}

    def _leaves(self, m: int, radius: int) -> Integers:
        """Leaf counts in steps. Each row of a unit with n rows counts ⌊C / n⌋ steps, if
        a whole one is too much.
        """
        measure, writer = self.plan.items[m].measure, self._writer()
        count = f"{self.dialect.wide('count(*)')} * {measure.row}"
        counts = (
            f"SELECT g, leaf, {count} FROM ({self._placed(m, writer)}) t "
            "GROUP BY g, leaf"
        )
        found = self._fetch(writer, counts)
        if measure.sure:
            return self._leaf_counts(measure, found)
        writer = self._writer()
        rows = (
            f"({self._placed(m, writer)}) r JOIN ({self._weights(m, radius)}) "
            "o ON r.u = o.u"
        )
        change = self.dialect.total(f"w - {measure.row}")
        less = self._fetch(
            writer, f"SELECT g, leaf, {change} FROM {rows} GROUP BY g, leaf"
        )
        return self._leaf_counts(measure, [*found, *less])

    def _weights(self, m: int, radius: int) -> str:
        """How many steps each row of a unit counts, w, of the units for which a whole
        row each is too much.
        """
        weights = (
            f"SELECT u, {self.dialect.divided(str(radius), 'n')} AS w FROM "
            f"{self._row_counts(m)}"
        )
        return f"{weights} WHERE n * {self.plan.items[m].measure.row} > {radius}"

    def _leaf_counts(
        self, measure: Measure, rows: Sequence[tuple[Any, ...]]
    ) -> Integers:
        """The counts of each leaf, held within 64 bits at last: what clipping takes off
        is added before.
        """
        totals, limit = (
            np.zeros((self.groups, measure.size), object),
            LARGEST // measure.size,
        )
        for g, t, count in rows:
            totals[g, t] += int(count)
        held_counts: Integers = np.clip(totals, -limit, limit).astype(np.int64)
        return held_counts

    # Distinct values

    def _distinct(self, m: int, most: int) -> Integers:
        """Different values in each group, of at most so many pairs of group and value
        for each unit (rule R15).
        """
        item, writer = self.plan.items[m], self._writer()
        value = self._names(item.measure)[0]
        rows = self._rows(writer, naming=True)
        pairs = (
            f"SELECT DISTINCT u, g, {value} AS x FROM ({rows}) t WHERE "
            f"{value} IS NOT NULL"
        )
        if item.measure.sure:
            kept = pairs
        else:
            name, writer = self._create(writer, pairs), self._writer()
            kept = self.dialect.kept(
                f"SELECT * FROM {name}",
                ["g", "x"],
                most,
                self.salt(),
                writer.parameters,
            )
        counts = f"SELECT g, count(DISTINCT x) FROM ({kept}) t GROUP BY g"
        return self._filled(1, self._fetch(writer, counts))


def _looked_up(i: int, key: Key, lookup: str) -> tuple[str, str, list[str]]:
    """The place of a public key's value, the join that finds it, and what must hold for
    the row to count.
    """
    values = key.values or ()
    if None not in values:
        return f"k{i}.i", f" JOIN {lookup} k{i} ON r.q{i} = k{i}.k0", []
    null = values.index(None)
    # The lookup lists the values without the NULL: places behind it are one further on.
    place = (
        f"(CASE WHEN r.q{i} IS NULL THEN {null} WHEN k{i}.i >= {null} "
        f"THEN k{i}.i + 1 ELSE k{i}.i END)"
    )
    return (
        place,
        f" LEFT JOIN {lookup} k{i} ON r.q{i} = k{i}.k0",
        [f"{place} IS NOT NULL"],
    )


def _mixed(places: list[str], sizes: list[int]) -> str:
    """One number for the places of several keys, the last running fastest."""
    group = "0"
    for place, size in zip(places, sizes, strict=True):
        group = f"({group} * {size} + {place})" if group != "0" else place
    return group
