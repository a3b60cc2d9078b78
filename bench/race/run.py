"""The questions of `query` asked of every system one could take instead, each in an
environment of its own. `python -m bench query --peers` runs it.
"""

from __future__ import annotations

from collections.abc import Sequence

from bench.harness import RESULTS, Report, load, save, versions
from bench.peers import PEERS
from bench.race.entrants import ENTRANTS, HEATS, NOTES
from bench.race.goals import goals
from bench.race.heat import Heat
from bench.race.tables import tables

NAME = "query_peers"


def label(rows: int) -> str:
    return f"{rows // 1_000_000} M rows" if rows >= 1_000_000 else f"{rows:,} rows"


def merged(old: Report | None, heat: Heat) -> Report:
    """What was measured before, with this heat in the place of what it measured again."""
    again = {(row.case, row.system) for row in heat.rows}
    rows = [
        row for row in (old.rows if old else ()) if (row.case, row.system) not in again
    ]
    kept = tuple(f"{name}: " for name in ENTRANTS if name not in heat.names)
    notes = [note for note in (old.notes if old else ()) if note.startswith(kept)]
    rows += heat.rows
    return Report(
        tuple(rows), goals(rows), (*NOTES, *notes, *dict.fromkeys(heat.notes)), used()
    )


def used() -> dict[str, str]:
    pins = [
        line
        for one in ENTRANTS.values()
        if one.peer
        for line in PEERS[one.peer].requirements
        if "==" in line
    ]
    return versions("dither", "duckdb", "psycopg") | dict(
        pin.split("==") for pin in pins
    )


def race(
    heats: Sequence[tuple[int, Sequence[str]]] = HEATS, old: Report | None = None
) -> Report:
    """Saved after every heat, so that what was measured is not lost with what was not."""
    with tables(sorted({rows for rows, _ in heats})) as made:
        for rows, names in heats:
            heat = Heat(made[rows], names)
            heat.run(label(rows))
            old = merged(old, heat)
            save(NAME, old)
    if old is None:
        raise ValueError("no heat was asked for")
    return old


def main(wanted: Sequence[str]) -> None:
    path = RESULTS / f"{NAME}.json"
    heats = [
        (rows, names)
        for rows, names in HEATS
        if not wanted or set(wanted) & {*names, label(rows)}
    ]
    race(heats, load(path) if path.exists() else None)
