"""The table of the page on PATE, from the results."""

from __future__ import annotations

from bench.harness import RESULTS, load

__all__ = ["table"]

SYSTEMS = ("dither", "dither, all answered", "TF-Privacy's settings")


def table(name: str) -> str:
    """Answered queries, how many of their labels are right, and the student, by ε."""
    rows = load(RESULTS / "learn_pate.json").rows
    held = {(row.case, row.system, row.metric): row.value for row in rows}
    cases = [
        row.case
        for row in rows
        if row.case.startswith(f"{name}, ") and row.metric == "queries"
    ]
    lines = [["answered · labels right · student right", *SYSTEMS]]
    lines.append(["---"] * len(lines[0]))
    for case in dict.fromkeys(cases):
        cells = [_cell(held, case, system) for system in SYSTEMS]
        lines.append([case.removeprefix(f"{name}, "), *cells])
    lines.append(_plain(held, name))
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _cell(
    held: dict[tuple[str, str, str], float | None], case: str, system: str
) -> str:
    answered = held.get((case, system, "answered"))
    if not answered:
        return "nothing answered"
    parts = [f"{answered:,.0f}"]
    parts += [_share(held.get((case, system, one))) for one in ("labels", "student")]
    return " · ".join(parts)


def _plain(held: dict[tuple[str, str, str], float | None], name: str) -> list[str]:
    """What there is without privacy, in the last line."""
    figures = [
        f"{words} {_share(held.get((name, 'no privacy', metric)))}"
        for words, metric in (
            ("one teacher", "one teacher"),
            ("all teachers", "all teachers"),
            ("student with true labels", "student"),
        )
    ]
    return ["no privacy", *figures]


def _share(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"
