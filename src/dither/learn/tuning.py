"""`search`: the best of several ways to train a model, with the cost of looking for it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

import torch
from torch import nn

from dither.by_name import by_name
from dither.errors import ArgumentError
from dither.learn.calibrating import Way, best_way
from dither.learn.candidates import Candidate, candidates_of
from dither.learn.draws import secretly
from dither.learn.failures import FAILED
from dither.learn.grids import TIME
from dither.learn.history import Epoch, History
from dither.learn.holding import Records
from dither.learn.loop import Loop
from dither.learn.planning import Asked, Plan, plan_with, way_of
from dither.learn.preparing import asked_for, differentiating, prepared
from dither.learn.ready import Ready
from dither.learn.release import ModelRelease
from dither.learn.run.course import keep_memory
from dither.learn.run.release import released
from dither.learn.settings import Settings, Training
from dither.learn.silence import muted
from dither.learn.training import EXAMPLE, notes_on
from dither.ledger import Receipt
from dither.privacy.repetition import Repetitions
from dither.question import Question

__all__ = ["SearchRelease", "search"]

RUNS = 2
"""Average number of runs for each candidate, unless stated."""
EACH = "each"
ACCURACY, LOSS = "accuracy", "loss"
GRIDDED = EXAMPLE.replace("train(model, data", 'search(model, data, {"lr": [0.1, 1.0]}')
USER_CODE = (
    "the model, loss, optimizer and scheduler see every run and are assumed to store "
    "nothing of it"
)


@dataclass(frozen=True, eq=False)
class SearchRelease(ModelRelease):
    """The best model that a search found. `best_params` are the settings that it was
    trained with, and `best_score` is what it reached; of other runs nothing is known.
    """

    best_params: dict[str, Any] = field(default_factory=dict)
    best_score: float = math.nan


@by_name(GRIDDED, Training)
def search(
    model: nn.Module | Callable[..., nn.Module],
    data: Any,
    grid: Any,
    *,
    scoring: str | None = None,
    repetitions: float | str | None = None,
    eta: float = 1.0,
    **options: Unpack[Training],
) -> SearchRelease:
    """Train a model with several settings, and show the best: `search(model, data,
    {"lr": [0.1, 1.0]}, public=(inputs, targets), loss=loss, epochs=20, batch=256,
    epsilon=3)`.

    It takes the arguments of `train`, and a grid of `batch`, `clip`, `epochs`, `lr`,
    `noise_schedule`, `optimizer` or `scheduler`. `model` may be a function that makes
    one; other names of the grid are its arguments. `epsilon` or `share` is what the whole
    search costs. Models are scored at their end, on `public` data, which costs nothing,
    or by a `Validation`, which is part of the cost and is measured once in each run.
    `scoring` is "accuracy", where there are classes, or "loss".

    A random number of runs is made, `repetitions` on average (by default twice the number
    of candidates), each with a candidate drawn at random, and only the best is shown.
    `eta` is the shape of that number's distribution: 1 is geometric, 0 logarithmic. Where
    running each candidate once leaves less noise, this is done; `repetitions="each"` asks
    for it. A run that fails has the lowest score there is. There are no callbacks and no
    checkpoints, and nothing is printed while runs last.

    Guarantee: the stated cost, for all runs together, for one unit with all of its rows.
    Why: the best of a random number of runs has the Rényi loss of one, and (1+η)·ln C +
    ln(mean)/(α−1) more at order α; as (ε, δ) it has the ε of one at δ/mean, and
    (1+η)·ln C more (docs/proofs/search.md). Candidates that run once each are composed.
    Assumes: what `train` assumes; `grid` is public; and the number of runs stays hidden:
    the model, the loss, the optimizer, the scheduler and a `Dataset` see every run, and
    keep nothing. Whoever can measure how long the search takes learns about it, and this
    is not protected.
    """
    tuning = Tuning.of(model, data, grid, scoring, repetitions, eta, dict(options))
    chosen = tuning.way.draw()
    with tuning.question.paying(tuning.way.charged) as paid:
        with muted():
            best = tuning.best(chosen, paid.receipt)
        ready, epochs = best.result()
        spent = tuning.way.charged.epsilon_at(ready.plan.delta)
        history = History(epochs, lambda _: spent)
        held = released(ready, paid.source, history, notes_on(ready, history))
    params = tuning.candidates[best.number].params
    held["notes"] = (*tuning.notes(params), *held["notes"])
    return SearchRelease(**held, best_params=dict(params), best_score=best.score)


@dataclass(frozen=True)
class Finished:
    """A run that is over: its score, and either its model or why it failed."""

    number: int
    rank: float
    score: float = math.nan
    ready: Ready | None = None
    epochs: tuple[Epoch, ...] = ()
    failed: Exception | None = None

    def or_better(self, other: Finished) -> Finished:
        """The better of two runs; the first of equals."""
        return other if other.rank > self.rank else self

    def result(self) -> tuple[Ready, tuple[Epoch, ...]]:
        """The best run. If all runs failed, raise the error of one of them, without
        naming the run.
        """
        if self.failed is not None:
            raise self.failed
        assert self.ready is not None
        return self.ready, self.epochs


@dataclass(frozen=True)
class Tuning:
    """A search that is settled: candidates, and how much noise each has."""

    data: Any
    candidates: tuple[Candidate, ...]
    plans: tuple[Plan, ...]
    way: Way
    scored: str
    device: torch.device

    @classmethod
    def of(
        cls,
        model: Any,
        data: Any,
        grid: Any,
        scoring: str | None,
        repetitions: float | str | None,
        eta: float,
        options: dict[str, Any],
    ) -> Tuning:
        """Everything that could be refused is refused here, for all candidates."""
        candidates = candidates_of(model, grid, options)
        ways = _ways(len(candidates), repetitions, eta)
        asked, scored = [], ""
        for one in candidates:
            ready, wanted = _tried(one, data)
            asked.append(wanted)
            scored = _scored(ready, scoring)
        way = best_way(asked, *way_of(candidates[0].settings.cost), ways)
        pairs = zip(asked, way.runs, strict=True)
        plans = tuple(plan_with(one, run, way.charged) for one, run in pairs)
        found = cls(data, tuple(candidates), plans, way, scored, ready.device)
        for number in range(len(candidates)):
            found.ready(number)  # with the noise that it will have
        return found

    @property
    def question(self) -> Question:
        return replace(self.plans[0].question, what="search")

    def ready(self, number: int) -> Ready:
        """A run of a candidate that can begin: all of it is new."""
        one = self.candidates[number]
        return prepared(
            one.model, self.data, one.settings, lambda *_: self.plans[number]
        )

    def best(self, chosen: Sequence[int], receipt: Receipt | None) -> Finished:
        """The best run. Of equals the first stays, which is any of them."""
        with secretly(self.device):
            keep_memory()
            records = Records.read(self.ready(chosen[0]), receipt)
        found = self._run(chosen[0], records)
        for number in chosen[1:]:
            found = found.or_better(self._run(number, records))
        return found

    def _run(self, number: int, records: Records) -> Finished:
        """One run. What optimizers and tests draw is seeded again: else a run would
        depend on how many there were before it, and callers could count them
        afterwards.
        """
        with secretly(self.device):
            return self._finished(number, records)

    def _finished(self, number: int, records: Records) -> Finished:
        """A failure is an output too, and the worst one: what a single run does must not
        end the search.
        """
        try:
            ready = self.ready(number)
            with differentiating(ready.model, ready.settings.precision):
                units, held = records.units(ready)
                if held is not None:
                    held = replace(held, runs=self.way.mean)
                # no bar: its steps would tell how many runs there are
                loop = Loop(ready, units, None, [], held)
                loop.run(1, ready.plan.steps)
            epochs = tuple(loop.epochs)
            value = _reached(epochs[-1], self.scored)
        except FAILED as error:
            if not isinstance(error, Exception):
                error = RuntimeError("the run ended itself with sys.exit()")
            return Finished(number, -math.inf, failed=error)
        rank = value if self.scored == ACCURACY else -value
        rank = -1e300 if math.isnan(rank) else max(rank, -1e300)
        return Finished(number, rank, value, ready, epochs)

    def notes(self, params: dict[str, Any]) -> tuple[str, ...]:
        many = len(self.candidates)
        named = ", ".join(f"{name} = {value!s:.60}" for name, value in params.items())
        where = "held-out units" if self.plans[0].validation else "public data"
        scored = f"scored by {self.scored} on {where}"
        best = f"best settings: {named}"
        if self.way.repetitions is None:
            return (f"the best of {many} candidates, {scored}", best)
        random = f"the best of a random number of runs of {many} candidates, {scored}"
        return (random, best, TIME, USER_CODE)


def _ways(
    count: int, repetitions: float | str | None, eta: float
) -> list[Repetitions | None]:
    """Each candidate once, which is None, or a random number of runs."""
    if isinstance(eta, str) or eta is None:
        raise ArgumentError("eta", "must be a number; pass 0 or 1")
    if repetitions == EACH or (count == 1 and repetitions is None):
        return [None]
    if isinstance(repetitions, str):
        raise ArgumentError("repetitions", f'must be a number, or "{EACH}"')
    if repetitions is not None:
        return [Repetitions.of_mean(repetitions, eta)]
    return [None, Repetitions.of_mean(RUNS * count, eta)]


def _tried(one: Candidate, data: Any) -> tuple[Ready, Asked]:
    """A candidate that was tried with made-up rows. Its noise is not known yet."""
    asked: list[Asked] = []

    def planned(source: Any, settings: Settings, _: Any) -> Plan:
        asked.append(asked_for(source, settings))
        wanted = asked[0].wanted
        return plan_with(asked[0], wanted, wanted.guarantee)

    return prepared(one.model, data, one.settings, planned), asked[0]


def _scored(ready: Ready, scoring: str | None) -> str:
    """Name of the score of runs, which must exist for each candidate."""
    validation = ready.plan.validation
    if validation is None:
        known = [LOSS] if ready.probed.classes is None else [ACCURACY, LOSS]
    else:
        known = [ACCURACY if validation.bound is None else LOSS]
    if scoring is None:
        return known[0]
    if scoring not in known:
        listed = " or ".join(f'"{one}"' for one in known)
        raise ArgumentError(
            "scoring", f"must be {listed} for this search; pass that, or leave it out"
        )
    return scoring


def _reached(last: Epoch, scored: str) -> float:
    """The final score of a run."""
    public, held = getattr(last, scored), getattr(last, f"validation_{scored}")
    value = public if held is None else held
    return math.nan if value is None else float(value)
