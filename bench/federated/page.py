"""Tables of the page on federated training, from the results."""

from __future__ import annotations

from bench.harness import RESULTS, Row, load

__all__ = ["table"]

SYSTEMS = ("independent", "tree", "banded")


def table(name: str) -> str:
    rows = load(RESULTS / "learn_federated.json").rows
    return (
        "\n".join({"errors": errors, "digits": digits, "speed": speed}[name](rows))
        + "\n"
    )


def errors(rows: tuple[Row, ...]) -> list[str]:
    """Running sums by kind of noise."""
    found = {(row.case, row.system, row.metric): row.value for row in rows}
    metric = "error of running sums"
    lines = ["| | independent | tree | banded | bands |", "|---|---|---|---|---|"]
    for case in dict.fromkeys(row.case for row in rows if row.metric == metric):
        cells = [f"{found[case, one, metric]:,.1f}" for one in SYSTEMS]
        bands = found[case, "banded", "bands"]
        lines.append(f"| {case} | {' | '.join(cells)} | {bands:.0f} |")
    return lines


def digits(rows: tuple[Row, ...]) -> list[str]:
    """Accuracy, with its standard error."""
    found = {(row.case, row.system, row.metric): row.value for row in rows}
    lines = ["| | how | accuracy |", "|---|---|---|"]
    for row in rows:
        if row.metric == "accuracy":
            error = found[row.case, row.system, "standard error"]
            lines.append(
                f"| {row.case} | {row.system} | {row.value:.3f} ± {error:.3f} |"
            )
    return lines


def speed(rows: tuple[Row, ...]) -> list[str]:
    """CPU time beside a loop, and memory."""
    found = {(row.case, row.system, row.metric): row.value for row in rows}
    lines = [
        "| | CPU seconds | one client after the other, in plain PyTorch |",
        "|---|---|---|",
    ]
    for row in rows:
        if row.system == "dither" and row.metric == "CPU seconds":
            loop = found[row.case, "PyTorch, one by one", "CPU seconds"]
            lines.append(f"| {row.case} | {row.value:,.1f} | {loop:,.0f} |")
    lines += ["", "| rounds of 500 of | peak MB |", "|---|---|"]
    peaks = [row for row in rows if row.metric == "peak MB"]
    return lines + [f"| {row.case} | {row.value:,.0f} |" for row in peaks]
