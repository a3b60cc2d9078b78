"""Steps of a run that one charge paid for: each is taken once, in order, by the process
that resumes the run at that time (rule R24).

A run is declared with its charge. Its steps are claimed before they read anything. They
are numbered, and the next claim begins where the last one ended, so that no step is ever
taken twice, whoever holds which copy of what. Claims settle nothing: each attempt waits
for its end like a charge, and fails or lapses like one.

All here is pure: anyone who follows an exported book follows its claims too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from dither.errors import LedgerError
from dither.ledger.facts import Facts, Pending, RunFacts

__all__ = ["ENDS", "begun", "claim", "close", "followed", "go_on"]

ENDS = ("renew", "write off", "mark")
"""After these nothing more is taken: a new period promises again, and a book that may
be an older copy does not know what was taken since.
"""


class Line(Protocol):
    """A line of the log."""

    @property
    def seq(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def account(self) -> str: ...
    @property
    def body(self) -> Mapping[str, Any]: ...


def begun(line: Line) -> RunFacts:
    """The run that a charge declares: its number of steps, none of them taken."""
    body, run = line.body, line.body["run"]
    steps, plan = run["steps"], run["plan"]
    if not _number(steps) or steps < 1 or not isinstance(plan, str):
        raise LedgerError("the charge declares a run without steps")
    paid = _paid(body["guarantee"])
    if paid is not None and steps > paid:
        raise LedgerError("the charge declares more steps than its guarantee pays for")
    return RunFacts(line.account, body["by"], steps, plan, 0, line.seq)


def _paid(guarantee: Mapping[str, Any]) -> int | None:
    """The steps that a guarantee names; None if it names none."""
    if guarantee["kind"] == "declared":
        return _paid(guarantee["of"])
    if guarantee["kind"] == "composed":
        named = [_paid(part) for part in guarantee["parts"]]
        steps = [one for one in named if one is not None]
        return sum(steps) if steps else None
    found = guarantee.get("steps") if guarantee["kind"] == "poisson sampled" else None
    return int(found) if found is not None else None


def claim(facts: Facts, line: Line) -> None:
    """Take the next steps of a run."""
    body, run = line.body, facts.runs[line.body["charge"]]
    if body["attempt"] != run.attempt:
        raise LedgerError("another process has resumed this run")
    first, last = body["first"], body["last"]
    if not (_number(first) and _number(last)) or first != run.claimed + 1:
        raise LedgerError("steps are claimed twice, or out of order")
    if not first <= last <= run.steps:
        raise LedgerError("more steps are claimed than were paid for")
    facts.runs[body["charge"]] = replace(run, claimed=last)


def go_on(facts: Facts, line: Line) -> None:
    """A new attempt at a run. The one before has ended: as given, failed or lapsed."""
    body, run = line.body, facts.runs[line.body["charge"]]
    if run.attempt in facts.pending:
        raise LedgerError("a run is resumed before its last attempt has ended")
    facts.runs[body["charge"]] = replace(run, attempt=line.seq)
    facts.pending[line.seq] = Pending(
        line.account, run.analyst, body["deadline"], body["id"]
    )


def close(facts: Facts, account: str | None = None) -> None:
    """Nothing more is taken of runs that were begun: of one account, or of all."""
    for seq, run in facts.runs.items():
        if account is None or run.account == account:
            facts.runs[seq] = run.closed


def followed(lines: Iterable[Line]) -> RunFacts | None:
    """The state of a run: its charge, and the lines after it that may be about it. They
    were checked when they were written.
    """
    run, number = None, 0
    for line in lines:
        if run is None:
            run = begun(line) if "run" in line.body else None
            number = line.seq
            if run is None:
                return None
        elif line.kind in ENDS:
            run = run.closed
        elif line.body["charge"] == number:
            claims = line.kind == "claim"
            run = (
                replace(run, claimed=line.body["last"])
                if claims
                else replace(run, attempt=line.seq)
            )
    return run


def _number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
