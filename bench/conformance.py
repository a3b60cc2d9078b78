"""All questions of the conformance suite on a Spark cluster, and many neighbouring
databases there.
"""

from __future__ import annotations

from bench.harness import Report, Row, at_least, versions
from tests.conformance.asking import questions
from tests.neighbours.neighbour_checks import campaign
from tests.query.engines.spark.cluster_questions import ask

CLUSTER = "Spark, a cluster of two machines"
NOTES = (
    "Each answer is computed without noise and compared with plain SQL in DuckDB.",
    "A wrong one ends the run without a result.",
    "`make test-full` asks a twelfth of the questions on the "
    "cluster, and a local Spark every second one of the others.",
)
WORLDS, QUESTIONS, VERSIONS = 10, 3, 9
NEIGHBOURS = "Spark, neighbouring databases"
NEIGHBOUR_NOTES = (
    "A pair is two neighbouring databases and one question. No "
    "integer may move by more than the plan says.",
    "One that does ends the run without a result.",
)


def run() -> Report:
    asked, found = len(questions()), ask(1)
    right = len(found["right"])
    rows = (
        Row(CLUSTER, "dither", "questions", asked),
        Row(CLUSTER, "dither", "answers that are the plain ones", right),
        Row(CLUSTER, "dither", "machines", found["machines"]),
    )
    goal = at_least("Spark cluster: answers that are the plain ones", asked, right)
    return Report(rows, (goal,), NOTES, versions("dither", "pyspark", "duckdb"))


def neighbours() -> Report:
    """Worlds from seeds, each with a unit in several versions, in a local Spark."""
    pairs = campaign(
        range(WORLDS), engine="spark", questions=QUESTIONS, versions=VERSIONS
    )
    rows = (
        Row(NEIGHBOURS, "dither", "worlds", WORLDS),
        Row(NEIGHBOURS, "dither", "pairs", pairs),
    )
    goal = at_least(
        "Spark: pairs of neighbouring databases within the plan's bounds", 1_000, pairs
    )
    return Report(rows, (goal,), NEIGHBOUR_NOTES, versions("dither", "pyspark"))
