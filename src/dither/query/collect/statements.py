"""The statements of one question, in order. They are written from the plan and from
what was released so far, and none is run here.

Rows become partial sums for each unit and group. A unit's norm over all groups decides
whether its part is scaled down. Sums over all units come first, and what clipping takes
off the few units above the radius is added to them: the result is the same, for a
fraction of the work. What one unit can move is bounded here, in integers (rules R11 to
R15).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

from dither.query.collect.groups import NORMS, PARTIALS, Groups, Statement
from dither.query.collect.integers import held, leaf, sums, unit_sums
from dither.query.collect.rows import Writer
from dither.query.plan.plan import Measurement
from dither.query.plan.vectors import Kind, Vector

__all__ = ["Statement", "Statements"]


@dataclass(frozen=True)
class Statements(Groups):
    """The stages, each of which needs what the one before it released:

    1. `first`: tables about all rows, and the candidates for private keys;
    2. `naming`: once private keys are named, the tables of what counts;
    3. `histogram`: how many units have which norm, where a radius is chosen;
    4. `totals` and `hidden`: once it is, the clipped sums and what clipping hid.
    """

    def first(self) -> list[Statement]:
        found = self.lookups()
        if self.private:
            found.append(self.dictionary())
        if any(not _direct(one) for _, one in self.vectors) or (
            self.private and self.vectors
        ):
            found.append(self._partials())
        if self._norms_are_kept:
            found.append(self._norms())
        return [*found, *(self.candidate_tables() if self.private else self.second())]

    def naming(self, numbers: list[int]) -> tuple[Self, list[Statement]]:
        """The same question, in which only the candidates with these numbers count, and
        the tables that it needs for that.
        """
        after = replace(self, named=len(numbers), namings=self.namings + 1)
        return after, [*after.naming_tables(numbers), *after.second()]

    def second(self) -> list[Statement]:
        """What is needed of the rows that count, for all that is not made from partial
        sums.
        """
        found = []
        for m, one in enumerate(self.plan.measurements):
            if one.vector.kind is Kind.TREE and not one.vector.sure:
                found.append(self._row_counts(m))
            if one.vector.kind is Kind.DISTINCT and not one.vector.sure:
                found.append(self._values(m))
        return found

    def histogram(self, m: int) -> Statement:
        """Number of units with their norm in each bin, for the private choice of a
        radius.
        """
        one = self.plan.measurements[m]
        if one.vector.kind is Kind.TREE:
            source, norm, power = self._counted(m), f"n * {one.vector.row}", 2
        else:
            # Squares double twice as fast as norms
            power = 1 if self.plan.spend.gaussian else 2
            source, norm = self._norm_table, f"q{m}"
        first = one.bins.first >> one.vector.shift
        place = self.dialect.doublings(norm, first ** (2 // power), power)
        bins = (
            f"SELECT {held(place, 0, one.bins.count - 1)} AS b FROM {source} "
            f"WHERE {norm} > 0"
        )
        select = f"SELECT b, count(*) FROM ({bins}) t GROUP BY b"
        return Statement(None, select, (), "units by the bin of their norm")

    def totals(self, m: int, radius: int) -> list[Statement]:
        """The sums of each group, to be added up: one statement for all rows, and one
        for what clipping to the radius changes.
        """
        one = self.plan.measurements[m]
        match one.vector.kind:
            case Kind.TREE:
                return self._leaves(m, radius)
            case Kind.DISTINCT:
                return [self._distinct(m, radius)]
        if _direct(one):
            return [self._row_sums(m)]
        parts = _columns(m, one.vector)
        added = self.dialect.totals(parts)
        select = f"SELECT g, {added} FROM {self._counted_partials} p GROUP BY g"
        whole = Statement(None, select, (), "sums of all units")
        return [whole] if one.vector.sure else [whole, self._clipped(m, parts, radius)]

    def hidden(self, m: int, radius: int) -> list[Statement]:
        """The part that clipping to the radius takes off each group, a unit's share of it
        clipped in its turn: a table, and two statements to be added up.

        A unit that keeps what was declared about it is within that second radius, so
        nothing is lost a second time.
        """
        one = self.plan.measurements[m]
        most, shift = self.plan.hidden_radius(one, radius), one.vector.shift
        cut, parts = self._cut(m, radius), _lost(one.vector)
        place = "g, leaf" if one.vector.kind is Kind.TREE else "g"
        if self._in_squares(one.vector):
            norm, above = self.dialect.root_above("q"), f"q > {(most >> shift) ** 2}"
        else:
            norm, above = "q", f"q > {most >> shift}"
        norm, added = self._whole(norm, shift), self._size(one.vector)
        norms = f"SELECT u, {added} AS q FROM {cut.name} GROUP BY u"
        over = f"SELECT u, {norm} AS n FROM ({norms}) t WHERE {above}"
        lost = self.dialect.totals(parts)
        whole = f"SELECT {place}, {lost} FROM {cut.name} GROUP BY {place}"
        scaled = self.dialect.scaled(parts, most, "n")
        pairs = zip(scaled, parts, strict=True)
        less = self.dialect.totals([f"{less} - {part}" for less, part in pairs])
        twice = (
            f"SELECT {place}, {less} FROM {cut.name} p JOIN ({over}) o ON p.u = o.u "
            f"GROUP BY {place}"
        )
        return [
            cut,
            Statement(None, whole, (), "what clipping took off each group"),
            Statement(None, twice, (), "less what exceeds the second radius"),
        ]

    def _in_squares(self, vector: Vector) -> bool:
        """Whether what is cut off is clipped in L2. Leaf counts are clipped in L1,
        whatever their noise (rule R11).
        """
        return self.plan.spend.gaussian and vector.kind is not Kind.TREE

    def _size(self, vector: Vector) -> str:
        """The sum of squares (L2) or of magnitudes (L1) of what was cut off a unit."""
        sizes = [f"abs({r})" for r in _lost(vector)]
        if vector.shift:
            short = self.dialect.without_low_bits
            sizes = [short(size, vector.shift) for size in sizes]
        if self._in_squares(vector):
            sizes = [f"{self.dialect.wide(size)} * {size}" for size in sizes]
        return self.dialect.total(" + ".join(sizes))

    # Totals, units and moments: partial sums

    def _names(self, vector: Vector) -> list[str]:
        return [f"a{self.args.index(arg)}" for arg in vector.args]

    def _partials(self) -> Statement:
        """Partial sums for each unit, private key d and public group g."""
        writer = self.writer()
        rows = self.rows(writer, naming=False)
        parts = [
            f"{x} AS v{m}_{j}"
            for m, one in self.vectors
            for j, x in enumerate(
                unit_sums(one.vector, self._names(one.vector), self.dialect)
            )
        ]
        private, public = ["d"] * bool(self.private), ["g"] * self.several
        grouped = ["u", *private, *public]
        listed = ", ".join([*grouped, *([] if self.several else ["0 AS g"]), *parts])
        select = f"SELECT {listed} FROM ({rows}) t GROUP BY {', '.join(grouped)}"
        why = "partial sums for each unit and group"
        return Statement(PARTIALS, select, tuple(writer.parameters), why)

    @property
    def _counted_partials(self) -> str:
        """The partial sums of the keys that count, with the number g of their group."""
        if not self.private:
            return PARTIALS
        columns = [name for m, one in self.vectors for name in _columns(m, one.vector)]
        parts = "".join(f", p.{name} AS {name}" for name in columns)
        group = f"w.i * {self.publics} + p.g AS g"
        return (
            f"(SELECT p.u AS u, {group}{parts} FROM {PARTIALS} p JOIN "
            f"{self.named_table} w ON p.d = w.k0)"
        )

    @property
    def _alone(self) -> bool:
        """Whether a unit has one part, so that its norm need not be kept."""
        return not self.several and not self.private

    @property
    def _norms_are_kept(self) -> bool:
        clipped = any(not one.vector.sure for _, one in self.vectors)
        # Candidates look up here how many keys a unit has
        counted = bool(self.private and self.vectors) and not self.several
        return (clipped and not self._alone) or counted

    def _norms(self) -> Statement:
        """Each unit's norm over all groups and private keys: q… is the sum of squares
        (L2) or of magnitudes (L1), without the low bits that do not enter a norm.
        """
        listed = ", ".join(["u", *self._norm_columns, "count(*) AS keys"])
        select = f"SELECT {listed} FROM {PARTIALS} GROUP BY u"
        return Statement(NORMS, select, (), "each unit's norms over all groups")

    @cached_property
    def _norm_table(self) -> str:
        if not self._alone:
            return NORMS
        return f"(SELECT {', '.join(['u', *self._norm_columns])} FROM {PARTIALS}) n"

    @property
    def _norm_columns(self) -> list[str]:
        clipped = [(m, one) for m, one in self.vectors if not one.vector.sure]
        return [f"{self._norm(m, one.vector)} AS q{m}" for m, one in clipped]

    def _norm(self, m: int, vector: Vector) -> str:
        parts = _columns(m, vector)
        if vector.shift:
            # Parts of means and more are never negative
            sizes = (
                parts if vector.kind is Kind.MOMENTS else [f"abs({v})" for v in parts]
            )
            short = self.dialect.without_low_bits
            parts = [short(size, vector.shift) for size in sizes]
        if self.plan.spend.gaussian:
            norm = " + ".join(f"{self.dialect.wide(v)} * {v}" for v in parts)
        else:
            # Parts are held within ± CAP: a few of them fit the narrow type, which is
            # faster to add
            norm = " + ".join(v if vector.shift else f"abs({v})" for v in parts)
        return self.dialect.wide(norm) if self._alone else self.dialect.total(norm)

    def _clipped(self, m: int, parts: list[str], radius: int) -> Statement:
        """What clipping adds to each group's sums: scaled parts less whole ones, of the
        units above the radius.

        A part becomes sign(v) · ⌊|v| · C / N⌋ with an integer N that is at least the
        norm, so the scaled norm is at most C (rule R12).
        """
        scaled = self.dialect.scaled(parts, radius, "n")
        pairs = zip(scaled, parts, strict=True)
        less = self.dialect.totals([f"{less} - {whole}" for less, whole in pairs])
        select = (
            f"SELECT g, {less} FROM {self._counted_partials} p JOIN "
            f"({self._over(m, radius)}) o ON p.u = o.u GROUP BY g"
        )
        return Statement(None, select, (), "what clipping changes of these sums")

    def _over(self, m: int, radius: int) -> str:
        """The units above a radius, with an integer n that is at least their norm.

        If norms lack low bits, n is a multiple of 2^shift, and so above C if and
        only if n / 2^shift is above ⌊C / 2^shift⌋.
        """
        shift = self.plan.measurements[m].vector.shift
        most = radius >> shift
        if self.plan.spend.gaussian:
            above, norm = f"q{m} > {most * most}", self.dialect.root_above(f"q{m}")
        else:
            above, norm = f"q{m} > {most}", f"q{m}"
        norm = self._whole(norm, shift)
        return f"SELECT u, {norm} AS n FROM {self._norm_table} WHERE {above}"

    def _whole(self, norm: str, shift: int) -> str:
        """A norm with its low bits, all of which are 0."""
        return f"({self.dialect.wide(norm)} * {1 << shift})" if shift else norm

    def _row_sums(self, m: int) -> Statement:
        """Sums over rows, where every unit has one row at most."""
        vector, writer = self.plan.measurements[m].vector, self.writer()
        added = ", ".join(sums(vector, self._names(vector), self.dialect))
        rows = self.rows(writer, naming=True)
        select = f"SELECT g, {added} FROM ({rows}) t GROUP BY g"
        return Statement(None, select, tuple(writer.parameters), "sums of all rows")

    # What clipping hides

    def _cut(self, m: int, radius: int) -> Statement:
        """u, the group g (and leaf) and what clipping takes off there, r0, …, of the
        units above the radius.
        """
        vector, writer = self.plan.measurements[m].vector, self.writer()
        if vector.kind is Kind.TREE:
            lost = self.dialect.total(f"{vector.row} - w")
            select = (
                f"SELECT r.u AS u, g, leaf, CAST({lost} AS BIGINT) AS r0 FROM "
                f"{self._weighed(m, radius, writer)} GROUP BY r.u, g, leaf"
            )
        else:
            parts = _columns(m, vector)
            scaled = self.dialect.scaled(parts, radius, "n")
            pairs = zip(parts, scaled, strict=True)
            lost = ", ".join(
                f"CAST({whole} - {less} AS BIGINT) AS r{j}"
                for j, (whole, less) in enumerate(pairs)
            )
            select = (
                f"SELECT p.u AS u, g, {lost} FROM {self._counted_partials} p JOIN ({self._over(m, radius)}) "
                "o ON p.u = o.u"
            )
        name = self.again(f"dither_hidden_{m}_{radius}")
        why = "what clipping takes off each unit and group"
        return Statement(name, select, tuple(writer.parameters), why)

    # Trees: leaf counts

    def _counted(self, m: int) -> str:
        return self.again(f"dither_rows_{m}")

    def _row_counts(self, m: int) -> Statement:
        """Number of rows of each unit, over all groups."""
        writer = self.writer()
        placed = self._placed(m, writer)
        select = f"SELECT u, count(*) AS n FROM ({placed}) t GROUP BY u"
        parameters = tuple(writer.parameters)
        return Statement(self._counted(m), select, parameters, "rows of each unit")

    def _placed(self, m: int, writer: Writer) -> str:
        """u, g and the leaf of each row that has a value."""
        vector = self.plan.measurements[m].vector
        place = leaf(vector, self._names(vector)[0], self.dialect)
        rows = f"SELECT u, g, {place} AS leaf FROM ({self.rows(writer, naming=True)}) t"
        return f"SELECT * FROM ({rows}) t WHERE leaf IS NOT NULL"

    def _leaves(self, m: int, radius: int) -> list[Statement]:
        """Leaf counts in steps. Each row of a unit with n rows counts ⌊C / n⌋ steps, if
        a whole one is too much.
        """
        vector, writer = self.plan.measurements[m].vector, self.writer()
        count = f"{self.dialect.wide('count(*)')} * {vector.row}"
        placed = self._placed(m, writer)
        select = f"SELECT g, leaf, {count} FROM ({placed}) t GROUP BY g, leaf"
        whole = Statement(None, select, tuple(writer.parameters), "rows at each leaf")
        if vector.sure:
            return [whole]
        writer = self.writer()
        rows = self._weighed(m, radius, writer)
        change = self.dialect.total(f"w - {vector.row}")
        select = f"SELECT g, leaf, {change} FROM {rows} GROUP BY g, leaf"
        why = "what clipping changes of these counts"
        return [whole, Statement(None, select, tuple(writer.parameters), why)]

    def _weighed(self, m: int, radius: int, writer: Writer) -> str:
        """The rows of units for which a whole row each is too much, with how many steps
        each counts, w.
        """
        weights = (
            f"SELECT u, {self.dialect.divided(str(radius), 'n')} AS w FROM "
            f"{self._counted(m)}"
        )
        row = self.plan.measurements[m].vector.row
        heavy = f"{weights} WHERE n * {row} > {radius}"
        return f"({self._placed(m, writer)}) r JOIN ({heavy}) o ON r.u = o.u"

    # Distinct values

    def _values(self, m: int) -> Statement:
        writer = self.writer()
        select, name = self._different(m, writer), self.again(f"dither_values_{m}")
        why = "different values of each unit and group"
        return Statement(name, select, tuple(writer.parameters), why)

    def _different(self, m: int, writer: Writer) -> str:
        (value,) = self._names(self.plan.measurements[m].vector)
        rows = self.rows(writer, naming=True)
        there = f"WHERE {value} IS NOT NULL"
        return f"SELECT DISTINCT u, g, {value} AS x FROM ({rows}) t {there}"

    def _distinct(self, m: int, most: int) -> Statement:
        """Distinct values in each group, of at most this number of pairs of group and
        value for each unit (rule R15).
        """
        writer = self.writer()
        if self.plan.measurements[m].vector.sure:
            kept = self._different(m, writer)
        else:
            values = f"SELECT * FROM {self.again(f'dither_values_{m}')}"
            kept = self.dialect.kept(
                values, ["g", "x"], most, self.salt, writer.parameters
            )
        select = f"SELECT g, count(DISTINCT x) FROM ({kept}) t GROUP BY g"
        why = "different values of each group"
        return Statement(None, select, tuple(writer.parameters), why)


def _direct(measurement: Measurement) -> bool:
    """Whether sums are taken over rows: every unit has one at most."""
    vector = measurement.vector
    return vector.sure and vector.kind is not Kind.UNITS


def _lost(vector: Vector) -> list[str]:
    """The columns of what clipping takes off."""
    return [f"r{j}" for j in range(vector.size if vector.kind is Kind.MOMENTS else 1)]


def _columns(m: int, vector: Vector) -> list[str]:
    return [f"v{m}_{j}" for j in range(vector.size)]
