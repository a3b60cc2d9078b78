"""Which group each row is in: its public keys by their places, its private keys by the
numbers that were given to them. Statements are written here, and none is run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dither.query.catalogue.limits import KEY_LENGTH
from dither.query.catalogue.model import Table
from dither.query.catalogue.types import Type
from dither.query.collect.rows import Writer
from dither.query.engines.protocol import Dialect
from dither.query.operations.calls import call, literal
from dither.query.operations.expressions import ColumnType, Expr, Ref
from dither.query.plan.plan import Measurement, Plan
from dither.query.plan.vectors import Kind
from dither.query.sql.question import Key

__all__ = [
    "NORMS",
    "PARTIALS",
    "Groups",
    "Statement",
    "looked_up",
    "lookup_name",
    "mixed",
]

PARTIALS, NORMS = "dither_partials", "dither_norms"
KEYS, PAIRS, OWNED = "dither_keys", "dither_pairs", "dither_owned"
CUTS, CANDIDATES, SHOWN = "dither_cuts", "dither_candidates", "dither_shown"


@dataclass(frozen=True)
class Statement:
    """A SELECT whose rows become the temporary table `name`; without one, they are
    fetched. `why` says what they are.
    """

    name: str | None
    sql: str
    parameters: tuple[Any, ...]
    why: str

    def __str__(self) -> str:
        into = "" if self.name is None else f"CREATE TEMP TABLE {self.name} AS\n"
        bound = "".join(
            f"\n-- ${place} = {value!r}"
            for place, value in enumerate(self.parameters, 1)
        )
        return f"-- {self.why}{bound}\n{into}{self.sql}"


@dataclass(frozen=True)
class Groups:
    """The groups of one question. `namings` counts how often private keys were named,
    and `named` is how many count now.

    A unit's rows and keys decide about that unit alone: numbers that depend on other
    units' rows serve to find things, never to choose among them.
    """

    plan: Plan
    dialect: Dialect
    table: Callable[[str], Table]
    salt: str
    named: int = 0
    namings: int = 0

    # What the rows hold

    @cached_property
    def args(self) -> list[Expr]:
        """The arguments of all vectors, each once."""
        found = (one.vector.args for one in self.plan.measurements)
        return list(dict.fromkeys(arg for args in found for arg in args))

    @cached_property
    def public(self) -> list[tuple[int, Key]]:
        keys = enumerate(self.plan.question.keys)
        return [(i, key) for i, key in keys if key.values is not None]

    @cached_property
    def private(self) -> list[int]:
        keys = enumerate(self.plan.question.keys)
        return [i for i, key in keys if key.values is None]

    @cached_property
    def publics(self) -> int:
        """Number of groups that the public keys make."""
        return self.plan.publics

    @cached_property
    def several(self) -> bool:
        """Whether there is more than one group for the public keys."""
        return self.publics > 1

    @cached_property
    def groups(self) -> int:
        """Number of groups; with private keys, of the named ones."""
        return (self.named if self.private else 1) * self.publics

    @cached_property
    def vectors(self) -> list[tuple[int, Measurement]]:
        """The measurements that are made from partial sums of units, with their
        numbers.
        """
        kinds = (Kind.TOTAL, Kind.UNITS, Kind.MOMENTS)
        measurements = enumerate(self.plan.measurements)
        return [(m, one) for m, one in measurements if one.vector.kind in kinds]

    def writer(self) -> Writer:
        """For one statement: its parameters are numbered from 1 on."""
        return Writer(self.dialect, self.table)

    def again(self, name: str) -> str:
        """The name of a table that depends on which keys were named."""
        return name if self.namings < 2 else f"{name}_{self.namings}"

    # Rows with their groups

    def lookups(self) -> list[Statement]:
        return [self._lookup(i, key) for i, key in self.public]

    def _lookup(self, i: int, key: Key) -> Statement:
        values = [value for value in key.values or () if value is not None]
        parameters: list[Any] = []
        listed = self.dialect.listed([values], [key.expr.type], parameters)
        why = "the declared values of a public key, with their places"
        return Statement(lookup_name(i), listed, tuple(parameters), why)

    def rows(self, writer: Writer, *, naming: bool) -> str:
        """u, the number d of the private key, the group g, and the arguments a… of each
        row.

        Rows whose public keys are not among the declared values are left out; so are
        rows with a private key that is NULL, or, when keys are named already, not among
        these.
        """
        question = self.plan.question
        read = {f"q{i}": key.expr for i, key in enumerate(question.keys)}
        read |= {f"a{i}": arg for i, arg in enumerate(self.args)}
        rows = (
            f"SELECT {', '.join(['u', *writer.named(read)])} FROM "
            f"({writer.select(question.rows)}) t"
        )
        joins, group, conditions = self._placed_keys()
        listed = ["r.u AS u", *(f"r.a{i} AS a{i}" for i in range(len(self.args)))]
        if self.private:
            on = " AND ".join(f"r.q{i} = d.k{n}" for n, i in enumerate(self.private))
            joins, listed = f"{joins} JOIN {KEYS} d ON {on}", [*listed, "d.i AS d"]
        if self.private and naming:
            joins = f"{joins} JOIN {self.named_table} w ON d.i = w.k0"
            group = f"(w.i * {self.publics} + {group})"
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        return (
            f"SELECT {', '.join([*listed, f'{group} AS g'])} FROM ({rows}) "
            f"r{joins}{where}"
        )

    def _placed_keys(self) -> tuple[str, str, list[str]]:
        """The joins that find the places of public keys, the number of their group, and
        what must hold.
        """
        joins, places, conditions = "", list[str](), list[str]()
        for i, key in self.public:
            place, join, condition = looked_up(i, key)
            joins += join
            places.append(place)
            conditions += condition
        sizes = [len(key.values or ()) for _, key in self.public]
        return joins, mixed(places, sizes), conditions

    # Private keys

    def dictionary(self) -> Statement:
        """A number and a hash for each private key in the data.

        Rows with a NULL among their keys, or a text of more than `KEY_LENGTH`
        characters, have no key.
        """
        writer, question = self.writer(), self.plan.question
        keys = writer.named(
            {f"k{n}": question.keys[i].expr for n, i in enumerate(self.private)}
        )
        names = [f"k{n}" for n in range(len(self.private))]
        rows = (
            f"SELECT DISTINCT {', '.join(keys)} FROM ({writer.select(question.rows)}) t"
        )
        present = [f"{name} IS NOT NULL" for name in names]
        there = " AND ".join([*present, *self._short(writer)])
        salt = self.dialect.literal(self.salt, Type.TEXT, writer.parameters)
        salted, number = self.dialect.hashed([*names, salt]), self.dialect.numbered()
        select = (
            f"SELECT {', '.join(names)}, {number} AS i, {salted} AS h FROM "
            f"({rows}) t WHERE {there}"
        )
        why = "private keys in the data, with a number and a salted hash"
        return Statement(KEYS, select, tuple(writer.parameters), why)

    def _short(self, writer: Writer) -> list[str]:
        """Check that no string among the private keys is too long."""
        types = enumerate(self.plan.question.keys[i].expr.type for i in self.private)
        texts = [
            Ref.to(n, ColumnType("", type_)) for n, type_ in types if type_ is Type.TEXT
        ]
        short = [
            call("le", call("length", text), literal(KEY_LENGTH)) for text in texts
        ]
        return [writer.expr(one, lambda ref: f"k{ref.index}") for one in short]

    @property
    def _pairs(self) -> tuple[str, str]:
        """The tables of each unit's private keys, and of how many each unit has.

        Without several public groups, partial sums and norms are just that.
        """
        ready = bool(self.vectors) and not self.several
        return (PARTIALS, NORMS) if ready else (PAIRS, OWNED)

    def candidate_tables(self) -> list[Statement]:
        """The dictionary's number d of each key that enough units keep
        (`KeyThreshold.at_least`), how many do, and its own number i from 0 on.

        A unit keeps at most `most` keys. Of a unit with more, those stay whose hash
        with the unit's id comes first. It is made from the key's value and a secret
        salt, never from the key's number: that would depend on other units' keys. Only
        what units *keep* decides which keys are left out (rule R31).
        """
        assert self.plan.keys is not None
        most, (pairs, owned) = self.plan.keys.groups, self._pairs
        hashed = f"{pairs} p JOIN {KEYS} d ON p.d = d.i"
        place = self.dialect.hashed(["p.u", "d.h"])
        over = f"SELECT u FROM {owned} WHERE keys > {most}"
        top = self.dialect.lowest(place, most + 1)
        cuts = (
            f"SELECT p.u AS u, {top} AS top FROM {hashed} WHERE p.u IN "
            f"({over}) GROUP BY p.u"
        )
        every = f"SELECT d, count(*) AS n FROM {pairs} GROUP BY d"
        beyond = f"{hashed} JOIN {CUTS} o ON p.u = o.u WHERE {place} >= o.top"
        given_up = f"SELECT p.d AS d, count(*) AS n FROM {beyond} GROUP BY p.d"
        left = f"({every}) e LEFT JOIN ({given_up}) l ON e.d = l.d"
        kept = f"SELECT e.d AS d, e.n - coalesce(l.n, 0) AS n FROM {left}"
        candidates = (
            f"SELECT d, n, {self.dialect.numbered()} AS i FROM ({kept}) t "
            f"WHERE n >= {self.plan.keys.at_least}"
        )
        cut_why = "from which hash on units with too many keys give them up"
        return [
            *(self._pair_tables() if pairs == PAIRS else []),
            Statement(CUTS, cuts, (), cut_why),
            Statement(CANDIDATES, candidates, (), "keys that enough units keep"),
        ]

    def _pair_tables(self) -> list[Statement]:
        writer = self.writer()
        source = PARTIALS if self.vectors else f"({self.rows(writer, naming=False)}) t"
        pairs = f"SELECT DISTINCT u, d FROM {source}"
        owned = f"SELECT u, count(*) AS keys FROM {PAIRS} GROUP BY u"
        why = "each unit's different private keys"
        return [
            Statement(PAIRS, pairs, tuple(writer.parameters), why),
            Statement(OWNED, owned, (), "how many private keys each unit has"),
        ]

    def candidates(self, first: int, end: int) -> Statement:
        """A block of candidates. They are fetched as plain integers: there can be as
        many as units keep keys.
        """
        within = f"i >= {first} AND i < {end}"
        select = f"SELECT i, n FROM {CANDIDATES} WHERE {within}"
        return Statement(None, select, (), "how many units keep each candidate")

    def every_key(self) -> Statement:
        """The values of all candidates: for audits alone, since these keys are private."""
        return self._values_of(f"{CANDIDATES} c")

    def keys_of(self, numbers: Sequence[int]) -> list[Statement]:
        """The values of the candidates with these numbers."""
        listed = self._listed(SHOWN, numbers)
        numbered = (
            f"(SELECT a.d AS d, b.i AS i FROM {CANDIDATES} a JOIN "
            f"{SHOWN} b ON a.i = b.k0) c"
        )
        return [listed, self._values_of(numbered)]

    def _values_of(self, numbered: str) -> Statement:
        """The keys of the dictionary's numbers d, with their numbers i."""
        keys = ", ".join(f"d.k{n}" for n in range(len(self.private)))
        select = f"SELECT {keys}, c.i FROM {numbered} JOIN {KEYS} d ON c.d = d.i"
        return Statement(None, select, (), "the values of these keys")

    @property
    def named_table(self) -> str:
        return self.again("dither_named")

    def naming_tables(self, numbers: Sequence[int]) -> list[Statement]:
        """The candidates that count from now on, in this order."""
        listed = self._listed(self.again("dither_listed"), numbers)
        pairs = (
            f"SELECT c.d AS k0, l.i AS i FROM {listed.name} l JOIN "
            f"{CANDIDATES} c ON l.k0 = c.i"
        )
        return [listed, Statement(self.named_table, pairs, (), "the named keys")]

    def _listed(self, name: str, numbers: Sequence[int]) -> Statement:
        parameters: list[Any] = []
        select = self.dialect.listed([list(numbers)], [Type.INTEGER], parameters)
        return Statement(name, select, tuple(parameters), "released keys, by number")


def lookup_name(i: int) -> str:
    return f"dither_lookup_{i}"


def looked_up(i: int, key: Key) -> tuple[str, str, list[str]]:
    """The place of a public key's value, the join that finds it, and what must hold for
    the row to count.
    """
    values, lookup = key.values or (), lookup_name(i)
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


def mixed(places: list[str], sizes: list[int]) -> str:
    """One number for the places of several keys, the last running fastest."""
    group = "0"
    for place, size in zip(places, sizes, strict=True):
        group = f"({group} * {size} + {place})" if group != "0" else place
    return group
