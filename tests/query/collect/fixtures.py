"""Statement fixtures: text files of questions and the statements that DuckDB would run
for them, and the function that writes these.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from dither.ledger.terms import Accounting, Terms
from dither.privacy import ApproxDP
from dither.query.collect.statements import Statement, Statements
from dither.query.engines.duckdb.dialect import DuckDBDialect
from dither.query.plan.choose import plans_of
from dither.query.plan.request import request_of
from dither.query.sql.bind import bind
from tests.query.sql.clinic import CATALOGUES

__all__ = ["FOLDER", "Case", "outcome", "read", "statements_of", "write"]

FOLDER = Path(__file__).parents[2] / "fixtures" / "statements"
BETWEEN, ANSWER, NEXT = "---", "--", "\n\n"
CLAUSE = r"[()]| (FROM|JOIN|LEFT JOIN|WHERE|GROUP BY) "
TERMS = Terms.of(Accounting.RENYI, ApproxDP(4.0, 1e-6))
NAMED = [1, 0]
"""The private keys that noise is taken to have named."""
ROWS = 3
"""A radius that noise chooses is taken to be so many rows."""


@dataclass(frozen=True)
class Case:
    """A question and its statements. A first line `-- about NAME, noise Laplace` says
    which catalogue is asked and with which noise.
    """

    about: str
    sql: str
    expected: str


def outcome(about: str, sql: str) -> str:
    """All statements as text, each after its reason."""
    found = statements_of(about, sql)
    return NEXT.join(str(replace(one, sql=folded(one.sql))) for one in found)


def folded(sql: str) -> str:
    """A line for each clause, indented by the parentheses around it."""
    lines, depth, last = [""], 0, 0
    for found in re.finditer(CLAUSE, sql):
        lines[-1] += sql[last : found.start()]
        last = found.end()
        if found[1]:
            lines.append("  " * depth + found[1] + " ")
        else:
            depth += 1 if found[0] == "(" else -1
            lines[-1] += found[0]
    return "\n".join([*lines[:-1], lines[-1] + sql[last:]])


def statements_of(about: str, sql: str) -> list[Statement]:
    """All statements in the order in which they would run."""
    name, noise = about.removeprefix("-- about ").split(", noise ")
    catalogue = CATALOGUES[name]
    terms = replace(TERMS, total=replace(TERMS.total, unit=catalogue.unit))
    plans = plans_of(bind(sql, catalogue), request_of({"epsilon": 1.0}), terms)
    plan = next(one for one in plans if one.spend.gaussian == (noise == "Gaussian"))
    return _in_order(Statements(plan, DuckDBDialect(), catalogue.table, "salt"))


def _in_order(statements: Statements) -> list[Statement]:
    found = statements.first()
    if statements.private:
        found += [statements.candidates(0, 100_000), *statements.keys_of(NAMED)]
        statements, tables = statements.naming(NAMED)
        found += tables
    for m, one in enumerate(statements.plan.measurements):
        radius = one.radius
        if radius is None:
            found.append(statements.histogram(m))
            radius = ROWS * one.vector.row
        if one.hides(radius):
            found += statements.hidden(m, radius)
        found += statements.totals(m, radius)
    return found


def read(path: Path) -> list[Case]:
    """The cases of a file: a line about the catalogue, SQL, a line `--`, the
    statements; a line `---` between two of them.
    """
    cases = []
    for block in path.read_text(encoding="utf-8").strip("\n").split(f"\n{BETWEEN}\n"):
        asked, _, expected = block.partition(f"\n{ANSWER}\n")
        about, _, sql = asked.partition("\n")
        cases.append(Case(about, sql, expected.rstrip("\n")))
    return cases


def write(path: Path, cases: list[Case]) -> None:
    blocks = [f"{case.about}\n{case.sql}\n{ANSWER}\n{case.expected}" for case in cases]
    path.write_text(f"\n{BETWEEN}\n".join(blocks) + "\n", encoding="utf-8")
