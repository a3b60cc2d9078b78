"""`label`, `label_votes` and `preview`: votes of teachers are one more release."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from dither.by_name import by_name
from dither.dataset import Account, Dataset
from dither.errors import ArgumentError
from dither.learn.encoding import Keyed, keyed
from dither.learn.estimators.base import classes_of
from dither.learn.names import EACH_ROW
from dither.learn.pate.display import Display
from dither.learn.pate.models import fresh, model_of
from dither.learn.pate.planning import Plan, plan_of, teachers_of
from dither.learn.pate.previewing import VotePreview
from dither.learn.pate.release import VoteRelease
from dither.learn.pate.sources import Source, queries_of, records_of
from dither.learn.pate.teachers import Crew, assigned
from dither.learn.pate.votes import counted, votes_of
from dither.learn.pate.voting import Voting
from dither.learn.pate.worker import Setup, labels_of
from dither.learn.silence import silently
from dither.ledger import Receipt
from dither.privacy import ROW
from dither.privacy.numbers import whole
from dither.progress import Tell
from dither.question import Asking, Paid
from dither.release import Release

__all__ = ["label", "label_votes", "preview"]

Integers = NDArray[np.int64]
Count = Callable[[Paid], Integers]
EXAMPLE = (
    "label((X, y), queries, model=model, classes=range(10), teachers=250, owner=ids, "
    "epsilon=2, delta=1e-6)"
)
VOTES = "label_votes(votes, classes=range(10), teachers=250, epsilon=2, delta=1e-6)"
PREVIEW = "preview(queries=500, classes=10, teachers=250, epsilon=2, delta=1e-6)"
CLASSES = "pass the number of classes, or a list of them"
MANY_CLASSES = 10_000
LIMIT = "pass the time limit of a teacher in seconds, such as 600"
MANY_SECONDS = 10**6
MANY_VOTES = 10**9


@by_name(EXAMPLE, Asking)
def label(
    data: Any,
    queries: Any,
    *,
    model: Any,
    teachers: int,
    classes: Any = None,
    owner: Any = None,
    voting: Voting | None = None,
    inputs: Any = None,
    target: Any = None,
    table: str | None = None,
    delta: float | None = None,
    display: Display | None = None,
    seconds: int = 600,
    processes: int | None = None,
    **cost: Unpack[Asking],
) -> VoteRelease:
    """Labels of public inputs, by teachers that learn from private records and vote with
    noise.

    `data` is a pair (X, y), a frame with `inputs` and `target`, or an opened dataset.
    `owner` says whose each row is: ids, a column, or "row". All rows of a unit are with
    one of the `teachers`, by a keyed hash of its id. `model` is an estimator with `fit`
    and `predict`, a module of PyTorch, or a function that makes one; each teacher is a
    fresh one in a process of its own, `processes` of them at a time (a module starts from
    the weights that it has, which are public). One that fails, or
    computes for more than its `seconds`, abstains. `classes` are all labels there can be,
    and `queries` are public inputs.

    `voting` is `GNMax()` (usual where there is a δ), `ConfidentGNMax(…)` or
    `NoisyMax()`. Its noise follows from `epsilon` (at the account's δ, or `delta`), `rho`
    or `share`; or it is stated, and nothing else is. `display` shows the ε of the votes
    on this data, with noise and at a cost of its own.

    Guarantee: that of the voting, for one unit with all of its rows. It is charged
    before records are read, and does not depend on votes.
    Why: a unit has one teacher, and teachers share nothing, so it changes the votes of
    that one (docs/proofs/pate.md).
    Assumes: `queries`, `classes`, `teachers` and `model` are public; what a model does is
    seen in its votes alone (it writes no files, and asks no network). How long it takes
    is not protected.
    """
    source = records_of(
        data, classes=classes, owner=owner, inputs=inputs, target=target, table=table
    )
    asked = queries_of(queries, source)
    plan = plan_of(
        source,
        cost,
        voting,
        queries=len(asked),
        classes=source.classes.width,
        teachers=teachers_of(teachers),
        delta=delta,
        display=display,
    )
    if plan.teachers * len(asked) > MANY_VOTES:
        raise ArgumentError(
            "queries",
            f"queries × teachers exceeds {MANY_VOTES:,} votes; pass fewer queries",
        )
    limit, side_by_side = _seconds(seconds), _processes(processes, plan.teachers)
    turns = -(-side_by_side // _cores())
    taught = fresh(model_of(model))
    setup = Setup(taught, asked, source.classes.keys, limit, turns)
    with Crew(setup, side_by_side) as crew:

        def count(paid: Paid) -> Integers:
            return _taught(crew, source, plan, paid.receipt, paid.tell)

        return _released(plan, source.classes, count, asked)


@by_name(VOTES, Asking)
def label_votes(
    votes: Any,
    *,
    teachers: int,
    classes: Any,
    queries: Any = None,
    voting: Voting | None = None,
    delta: float | None = None,
    display: Display | None = None,
    **cost: Unpack[Asking],
) -> VoteRelease:
    """Labels from votes that teachers have given elsewhere: a matrix with a line for each
    teacher and a column for each query, or `Counts`.

    A vote that is missing, or for none of the `classes`, is no vote. `queries` are the
    public inputs, for the student.

    Guarantee: that of the voting (see `label`), for a unit that has one teacher.
    Why: a line of the matrix is one teacher's, so a unit changes one line.
    Assumes: all records of a unit were with one teacher, and teachers shared nothing; the
    number of teachers and queries is public.
    """
    keys = keyed("classes", classes_of(classes))
    count_of = teachers_of(teachers)
    ready = votes_of(votes, keys, count_of)
    held = None if queries is None else np.asarray(queries)
    if held is not None and len(held) != ready.queries:
        raise ArgumentError(
            "queries",
            f"must have one row for each of the {ready.queries:,} votes of a teacher; "
            "pass the inputs that were voted on",
        )
    plan = plan_of(
        _Elsewhere(_owned(cost)),
        cost,
        voting,
        queries=ready.queries,
        classes=keys.width,
        teachers=count_of,
        delta=delta,
        display=display,
    )
    return _released(plan, keys, lambda _: ready.read(keys, count_of), held)


@by_name(PREVIEW, Asking)
def preview(
    *,
    queries: int,
    teachers: int,
    classes: Any = 10,
    data: Dataset | None = None,
    owner: str | None = None,
    voting: Voting | None = None,
    delta: float | None = None,
    display: Display | None = None,
    **cost: Unpack[Asking],
) -> VotePreview:
    """What votes on so many queries would cost, how large their noise would be, and how
    many queries can be answered. No record is read, and nothing is spent.

    `classes` is how many there are, or all of them. `data` is an opened dataset, where
    its account pays. `owner` is "row" where `label` will be told so, which matters to
    accounts about units that are replaced.
    """
    rows = data is None and owner == EACH_ROW
    owned = (_owned(cost) and not rows) if data is None else not data.single
    count = whole("queries", queries, "pass the number of inputs to label, such as 500")
    plan = plan_of(
        _Elsewhere(owned, data, draws=rows),
        cost,
        voting,
        queries=count,
        classes=_width(classes),
        teachers=teachers_of(teachers),
        delta=delta,
        display=display,
    )
    return VotePreview.of(plan)


@dataclass(frozen=True)
class _Elsewhere:
    """Records that are not here: units are those of the account."""

    owned: bool
    dataset: Dataset | None = None
    draws: bool = False
    owner: str | None = None
    table: str | None = None


def _owned(cost: Any) -> bool:
    account: Account | None = cost.get("budget")
    terms = getattr(account, "terms", None)
    return terms is None or terms.unit.name != ROW.name


def _width(classes: Any) -> int:
    if not isinstance(classes, int | np.integer):
        return len(classes_of(classes))
    found = whole("classes", classes, CLASSES)
    if not 2 <= found <= MANY_CLASSES:
        raise ArgumentError("classes", f"must be from 2 to {MANY_CLASSES:,}; {CLASSES}")
    return found


def _seconds(seconds: int) -> int:
    found = whole("seconds", seconds, LIMIT)
    if found > MANY_SECONDS:
        raise ArgumentError("seconds", f"must be at most {MANY_SECONDS:,}; {LIMIT}")
    return found


def _cores() -> int:
    """Processors that this process may use, where that is known."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _processes(processes: int | None, teachers: int) -> int:
    stated = _cores() if processes is None else processes
    return min(
        whole("processes", stated, "pass the number of processes, such as 2"), teachers
    )


def _taught(
    crew: Crew, source: Source, plan: Plan, receipt: Receipt | None, tell: Tell | None
) -> Integers:
    """The counts of what teachers vote."""
    with silently(), np.errstate(all="ignore"):
        found = source.records(receipt)
        of = assigned(found.owners, len(found.targets), plan.teachers)
        of[found.targets < 0] = -1
    shown = tell if tell is not None else (lambda _done, _total: None)
    votes = crew.votes(found.inputs, found.targets, of, plan.teachers, shown)
    return counted(votes, plan.classes)


def _released(
    plan: Plan, classes: Keyed, count: Count, inputs: NDArray[Any] | None
) -> VoteRelease:
    ignored = np.errstate(all="ignore")
    with plan.question.paying(plan.charged) as paid, silently(), ignored:
        counts = count(paid)
        numbers = plan.voting.answer(counts)
        shown = None
        if plan.display is not None:
            rest = plan.voting, counts, plan.teachers, plan.votes, plan.delta
            shown = plan.display.release(*rest)
    answered = numbers >= 0
    return VoteRelease(
        what="labels",
        value=labels_of(classes, numbers[answered]),
        sources=(paid.source,),
        notes=_notes(plan),
        answered=answered,
        classes=classes.keys,
        inputs=inputs,
        display=None if shown is None else _display(shown, plan, paid),
    )


def _display(shown: float, plan: Plan, paid: Paid) -> Release:
    assert plan.display is not None
    return Release(
        what="ε on this data",
        value=shown,
        sources=(paid.source,),
        notes=(
            f"at δ = {plan.delta:g} and order {plan.display.order:g}; the scale of its "
            "noise is private, so it has no interval; the account was charged the full "
            "cost, not this ε",
        ),
    )


def _notes(plan: Plan) -> tuple[str, ...]:
    said = [f"{plan.teachers:,} teachers: declared; teachers that failed abstained"]
    most = plan.voting.at_most(plan.queries)
    said.append(
        f"{plan.queries:,} queries: public; the cost covers answers to {most:,} of them"
    )
    return tuple(said)
