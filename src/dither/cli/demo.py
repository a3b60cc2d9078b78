"""`dither demo`: private answers from bundled synthetic data, on embedded DuckDB."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import as_file, files
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dither.ledger import Budget
    from dither.release import Release

__all__ = ["command"]

WARDS = ("cardiology", "emergency", "maternity", "oncology", "surgery")
AGE = (0, 110)
BUDGET = 2.0

# One row per patient, made from that patient's rows alone, so that a row and a person are the same unit.
ONE_ROW_PER_PATIENT = """
    SELECT min(age)::BIGINT AS age, arg_max(ward, (days, ward)) AS ward
    FROM read_csv(?) GROUP BY patient_id ORDER BY patient_id
"""


def load() -> tuple[NDArray[np.int64], list[str]]:
    """Age, and the ward of the longest stay, of each patient."""
    import duckdb

    with as_file(files("dither") / "data" / "visits.csv") as path, duckdb.connect() as connection:
        table = connection.execute(ONE_ROW_PER_PATIENT, [str(path)]).fetchnumpy()
    return table["age"], list(table["ward"])


def answers(ages: NDArray[np.int64], wards: list[str]) -> tuple[list[tuple[str, Release]], Budget]:
    """Four questions with their releases, and the budget that paid for them."""
    import dither

    unit = dither.Unit("patient")
    budget = dither.Budget(epsilon=BUDGET, unit=unit)
    questions = [
        ("How many patients?", dither.count(ages, epsilon=0.25, budget=budget, unit=unit)),
        ("Their mean age?", dither.mean(ages, bounds=AGE, epsilon=0.5, budget=budget, unit=unit)),
        ("Half are younger than?", dither.quantile(ages, 0.5, bounds=AGE, epsilon=0.5, budget=budget, unit=unit)),
        ("Patients by ward?", dither.histogram(wards, keys=WARDS, epsilon=0.5, budget=budget, unit=unit)),
    ]
    return questions, budget


def lines(question: str, release: Release) -> Iterator[tuple[str, str, str, str]]:
    """One line for a number; for a histogram, one for each ward below the question."""
    cost = str(release.guarantee).partition(",")[0]  # the unit is the same for all and stands below the table
    found = release.rows()
    if len(found) > 1:
        yield question, "", "", cost
        question, cost = "", ""
    for key, value, low, high in found:
        yield question or f"  {key}", f"{value:.4g}", f"{low:.4g} to {high:.4g}", cost


def show(questions: list[tuple[str, Release]], budget: Budget) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title="Private answers about 'visits', synthetic hospital data", title_justify="left")
    for heading in ("question", "answer", "95 % interval", "cost"):
        table.add_column(heading)
    for question, release in questions:
        for line in lines(question, release):
            table.add_row(*line)
    console = Console()
    console.print(table)
    console.print(str(budget), markup=False, highlight=False)


@click.command("demo", short_help="Show private answers from bundled synthetic data.")
def command() -> None:
    """Show private answers from bundled synthetic data. Noise is fresh in every run, so no two runs agree."""
    show(*answers(*load()))
