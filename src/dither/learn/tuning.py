"""`search`: the best of several ways to train a model, with the cost of looking for it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from torch import nn

from dither.by_name import by_name
from dither.errors import ArgumentError
from dither.learn.grids import TIME, drawn, grid_of
from dither.learn.history import Epoch, History
from dither.learn.planning import Plan
from dither.learn.preparing import Ready, prepared
from dither.learn.release import ModelRelease
from dither.learn.settings import Settings, Training
from dither.learn.training import EXAMPLE, finished, rounds
from dither.ledger import Receipt
from dither.ledger.declaring import share_taken
from dither.ledger.shares import part_of
from dither.privacy import Guarantee, RenyiDP
from dither.privacy.numbers import positive
from dither.privacy.repetition import Repetitions, largest, repeated
from dither.privacy.training import Run

__all__ = ["Tuned", "search"]

TUNED = (
    "batch",
    "clip",
    "epochs",
    "lr",
    "micro",
    "noise_schedule",
    "optimizer",
    "scheduler",
)
"""What may differ between candidates; all else is the same for all of them."""
RUNS = 2
"""So many runs for each candidate on average, unless stated."""
ORDERS = (1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128)
"""Rényi orders that are enough to state an ε, beside the account's; each takes time."""
REFERENCE = 3.0
SMALL = "is too small for so many runs; ask for more"
GRIDDED = EXAMPLE.replace("train(model, data", 'search(model, data, {"lr": [0.1, 1.0]}')


@dataclass(frozen=True)
class Tuned:
    """The best model that was found: its release, and the settings it was trained
    with.
    """

    release: ModelRelease
    params: dict[str, Any]

    @property
    def value(self) -> nn.Module:
        """The model."""
        found: nn.Module = self.release.value
        return found


@by_name(GRIDDED, Training)
def search(
    model: nn.Module,
    data: Any,
    grid: Any,
    *,
    repetitions: float | None = None,
    eta: float | str = 1.0,
    **options: Unpack[Training],
) -> Tuned:
    """Train a model with several settings, and show the best: `search(model, data,
    {"lr": [0.1, 1.0]}, public=(inputs, targets), loss=loss, epochs=20, batch=256,
    epsilon=3)`.

    Takes the arguments of `train`, and a grid of `batch`, `clip`, `epochs`, `lr`,
    `micro`, `noise_schedule`, `optimizer` or `scheduler`. Models are scored on `public`
    data, which is needed: by accuracy, or else by loss. `epsilon` or `share` is what the
    whole search costs. A random number of runs is made, `repetitions` on average (by
    default twice the number of candidates), each with a candidate drawn at random, and
    only the best is shown. `eta` is the shape of that number's distribution: 1 is
    geometric, 0 logarithmic.

    Guarantee: the stated cost, for all runs together, for one unit with all of its rows.
    Why: the best of a random number of runs has the Rényi loss of one, and (1+η)·ln C +
    ln(mean)/(α−1) more at order α (docs/proofs/search.md).
    Assumes: what `train` assumes; `grid` is public; and the number of runs stays hidden.
    Whoever can measure how long the search takes learns about it, and this is not
    protected.
    """
    tuning = Tuning.of(model, data, grid, repetitions, eta, dict(options))
    question = tuning.plans[0].question
    chosen = drawn(len(tuning.candidates), tuning.repetitions)
    with question.paying(tuning.guarantee) as paid:
        number, ready, epochs = tuning.best(chosen, paid.receipt)
        plan = ready.plan
        stated = tuning.guarantee.epsilon_at(plan.delta)
        history = History(epochs, lambda _: stated)
        many = len(tuning.candidates)
        notes = (f"the best of a random number of runs of {many} candidates", TIME)
        release = finished(ready, paid.source, history, notes)
    return Tuned(release, tuning.candidates[number])


@dataclass(frozen=True)
class Tuning:
    """A search that is settled: candidates, and how much noise each has."""

    model: nn.Module
    data: Any
    settings: tuple[Settings, ...]
    candidates: tuple[dict[str, Any], ...]
    plans: tuple[Plan, ...]
    repetitions: Repetitions
    guarantee: Guarantee

    @classmethod
    def of(
        cls,
        model: nn.Module,
        data: Any,
        grid: Any,
        repetitions: float | None,
        eta: float | str,
        options: dict[str, Any],
    ) -> Tuning:
        candidates = grid_of(grid)
        _check(candidates, options)
        cost = {name: options.pop(name, None) for name in ("epsilon", "share")}
        mean = RUNS * len(candidates) if repetitions is None else repetitions
        many = Repetitions.of_mean(max(mean, 2), None if eta == "poisson" else eta)  # type: ignore[arg-type]
        if many.eta is None:
            raise ArgumentError("eta", "must be a number here; pass 0 or 1")
        plain = [Settings(**(options | one | {"noise": 1.0})) for one in candidates]
        plans = [prepared(model, data, one).plan for one in plain]
        noises, promised = Costs(plans, many, **cost).solved()
        pairs = zip(candidates, noises, strict=True)
        settings = [Settings(**(options | one | {"noise": n})) for one, n in pairs]
        final = [prepared(model, data, one).plan for one in settings]
        return cls(
            model,
            data,
            tuple(settings),
            tuple(candidates),
            tuple(final),
            many,
            promised,
        )

    def best(
        self, chosen: Sequence[int], receipt: Receipt | None
    ) -> tuple[int, Ready, tuple[Epoch, ...]]:
        """The best run. Of equals the first stays, which is any of them."""
        found: tuple[int, Ready, tuple[Epoch, ...]] | None = None
        highest = -math.inf
        for number in chosen:
            ready = prepared(self.model, self.data, self.settings[number])
            epochs = rounds(ready, receipt, None)  # a bar would tell how many runs
            score = _score(epochs)
            if found is None or score > highest:
                found, highest = (number, ready, epochs), score
        assert found is not None
        return found


def _score(epochs: tuple[Epoch, ...]) -> float:
    """What a run reached on public data; the worst where that is no number."""
    last = epochs[-1]
    loss = math.inf if last.loss is None else last.loss
    value = -loss if last.accuracy is None else last.accuracy
    return -math.inf if math.isnan(value) else value


def _check(candidates: Sequence[dict[str, Any]], options: dict[str, Any]) -> None:
    for name in {name for one in candidates for name in one}:
        if name not in TUNED:
            listed = ", ".join(TUNED)
            raise ArgumentError("grid", f"{name!r} is not searched; there are {listed}")
        if options.get(name) is not None:
            raise ArgumentError(name, "is in the grid; leave it out beside it")
    if options.get("public") is None:
        raise ArgumentError(
            "public", "data is needed to score by; pass (inputs, targets)"
        )
    if options.get("callbacks"):
        raise ArgumentError(
            "callbacks", "would tell how many runs there are; leave them out"
        )
    if options.get("noise") is not None:
        raise ArgumentError("noise", "follows from the cost; state epsilon or share")


@dataclass(frozen=True)
class Costs:
    """The noise of each candidate, so that the search costs what was stated. All
    candidates cost about the same by themselves.
    """

    plans: Sequence[Plan]
    repetitions: Repetitions
    epsilon: float | None = None
    share: float | None = None

    def solved(self) -> tuple[list[float], Guarantee]:
        """The noise multipliers, and what all runs together promise."""
        if (self.epsilon is None) == (self.share is None):
            raise ArgumentError("epsilon", "state what it may cost: epsilon, or share")
        if self.epsilon is not None:
            positive("epsilon", self.epsilon, "pass a finite ε such as 3.0")
        alike = self._alike(REFERENCE if self.epsilon is None else self.epsilon)
        precision = largest(lambda one: self._fits(alike, one), 1e-4, 1e2, 1e-6)
        if not precision:
            raise ArgumentError("epsilon", SMALL)
        noises = [noise / precision for noise in alike]
        return noises, self._promised(noises)

    def _fits(self, alike: Sequence[float], precision: float) -> bool:
        """Whether runs with so much less noise are not too much."""
        promised = self._promised([noise / precision for noise in alike])
        plan = self.plans[0]
        if self.epsilon is not None:
            return promised.epsilon_at(plan.delta) <= self.epsilon
        if plan.terms is None:
            raise ArgumentError(
                "share", "is of a budget; pass budget=, or state epsilon"
            )
        part = part_of(self.share or 0.0)
        return share_taken(plan.terms.cost(promised), plan.terms) <= part

    def _alike(self, epsilon: float) -> list[float]:
        """The noise at which each candidate has this ε, by Rényi losses."""
        delta = self.plans[0].delta
        found = []
        for plan in self.plans:

            def fits(precision: float, run: Run = plan.run) -> bool:
                return (
                    self._losses(run.times(1 / precision)).epsilon_at(delta) <= epsilon
                )

            found.append(1 / (largest(fits, 1e-4, 1e2, 1e-4) or 1e-4))
        return found

    def _promised(self, noises: Sequence[float]) -> Guarantee:
        pairs = zip(self.plans, noises, strict=True)
        curves = [self._losses(plan.run.times(noise)) for plan, noise in pairs]
        worst = {
            order: max(curve.renyi(order) for curve in curves)
            for order in min((curve.orders for curve in curves), key=len)
        }
        return repeated(RenyiDP(worst, unit=curves[0].unit), self.repetitions)

    def _losses(self, run: Run) -> RenyiDP:
        promised, terms = run.guarantee, self.plans[0].terms
        orders = {*map(float, ORDERS), *([] if terms is None else [float(terms.order)])}
        pairs = [
            (order, promised.renyi(order)) for order in sorted(orders) if order > 1
        ]
        fine = [(order, loss) for order, loss in pairs if math.isfinite(loss)]
        return RenyiDP(fine, unit=promised.unit)
