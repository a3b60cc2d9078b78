"""Plan fixtures: text files of questions and what comes of them, and the function that
computes it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from dither.errors import ArgumentError
from dither.ledger.terms import Accounting, Terms
from dither.privacy import ApproxDP
from dither.query.catalogue.model import Catalogue
from dither.query.plan.choose import plan_of
from dither.query.plan.describe import describe, described
from dither.query.plan.request import request_of
from dither.query.sql.bind import bind
from tests.query.sql.clinic import CLINIC, REPLACED, SURVEY

__all__ = ["FOLDER", "Case", "catalogue_of", "outcome", "read", "write"]

FOLDER = Path(__file__).parents[2] / "fixtures" / "plan"
BETWEEN, ANSWER = "---", "--"


@dataclass(frozen=True)
class Case:
    """A question and the text that is expected of it. `file` is the fixture's name;
    rows_*.sql asks the survey, replaced_*.sql a clinic whose neighbours replace a unit.
    """

    file: str
    sql: str
    expected: str


TERMS = Terms.of(Accounting.RENYI, ApproxDP(4.0, 1e-6))


def catalogue_of(file: str) -> Catalogue:
    return {"rows": SURVEY, "replaced": REPLACED}.get(file.partition("_")[0], CLINIC)


def outcome(sql: str, file: str = "") -> str:
    """The plan in words, with its sensitivities and noise at ε = 1 of (4, 1e-6), or the
    exact error.
    """
    catalogue = catalogue_of(file)
    terms = replace(TERMS, total=replace(TERMS.total, unit=catalogue.unit))
    try:
        question = bind(sql, catalogue)
        return "\n".join(
            [
                describe(question),
                *described(plan_of(question, request_of({"epsilon": 1.0}), terms)),
            ]
        )
    except ArgumentError as error:
        return f"refused: {error.message}"


def read(path: Path) -> list[Case]:
    """The cases of a file: SQL, a line `--`, the outcome; a line `---` between two of
    them.
    """
    cases = []
    for block in path.read_text(encoding="utf-8").strip("\n").split(f"\n{BETWEEN}\n"):
        sql, _, expected = block.partition(f"\n{ANSWER}\n")
        cases.append(Case(path.stem, sql, expected.rstrip("\n")))
    return cases


def write(path: Path, cases: list[Case]) -> None:
    blocks = [f"{case.sql}\n{ANSWER}\n{case.expected}" for case in cases]
    path.write_text(f"\n{BETWEEN}\n".join(blocks) + "\n", encoding="utf-8")
