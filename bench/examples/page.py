"""Tables of the pages that train a model, from the results."""

from __future__ import annotations

from bench.harness import RESULTS, load

__all__ = [
    "COMMONEST",
    "ERROR",
    "MEAN",
    "NAMES",
    "ORDINARY",
    "case_of",
    "private_of",
    "table",
]

NAMES = ("digits", "income", "text")
MEAN, ERROR = "accuracy, mean of runs", "accuracy, standard error"
FILES = {"hospitals": "learn_hospitals"}
"""Pages with results of their own."""
COMMONEST, ORDINARY = "the commonest class", "the same model without privacy"


def case_of(name: str) -> str:
    return f"page on {name}"


def private_of(epsilon: float) -> str:
    return f"private, ε = {epsilon:g}"


def table(name: str) -> str:
    """Accuracy of one example, in the order in which it was measured."""
    rows = load(RESULTS / f"{FILES.get(name, 'learn_examples')}.json").rows
    mine = [row for row in rows if row.case == case_of(name)]
    held = {(row.system, row.metric): row.value or 0.0 for row in mine}
    lines = ["| measured | accuracy |", "|---|---|"]
    lines += [
        f"| {system} | {held[system, MEAN]:.3f} ± {2 * held[system, ERROR]:.3f} |"
        for system in dict.fromkeys(row.system for row in mine)
    ]
    return "\n".join(lines) + "\n"
