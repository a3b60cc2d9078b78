"""A run needs as much memory at its end as at its beginning."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from dither import Budget
from dither.learn import Adaptive, PerLayer, federated, pate, search, train
from dither.learn.gradients.clipping import Flat
from dither.learn.gradients.recorder import Recorder
from dither.learn.pate.teachers import Done
from dither.learn.tuning import Finished, Tuning
from tests.each import each
from tests.learn.data import UNITS, model, owned, records, run
from tests.learn.federated import data as clients
from tests.learn.gradients.models import CASES, ROWS, Case
from tests.learn.gradients.test_oracle import ROUTES
from tests.learn.pate.data import Nearest

EARLY, LATE = 12, 30
"""Steps at whose beginning objects are counted."""
FEW = 30
"""Tensors that caches may keep. A step that is not freed keeps six or more."""
TEACHERS = 30


def alive() -> tuple[int, int]:
    """Living recorders and tensors. A cycle through a gradient's graph is never freed, and
    the objects in it stay visible to the collector.
    """
    gc.collect()
    kinds = [type(one) for one in gc.get_objects()]
    return kinds.count(Recorder), sum(issubclass(kind, Tensor) for kind in kinds)


def counting(seen: list[tuple[int, int]]) -> type[torch.optim.SGD]:
    """An optimizer that counts objects at two of its steps."""

    class Counting(torch.optim.SGD):
        steps = 0

        def step(self, closure: Any = None) -> Any:
            Counting.steps += 1
            if Counting.steps in (EARLY, LATE):
                seen.append(alive())
            return super().step(closure)

    return Counting


def test_no_route_keeps_its_recorder() -> None:
    before, _ = alive()

    def check(case: Case) -> None:
        torch.manual_seed(1)
        inputs, targets = case.inputs(ROWS), case.targets(ROWS)
        for route in ROUTES:
            oracle = route(case, case.model())
            for _ in range(3):
                oracle.sums(inputs, targets, torch.ones(ROWS), Flat(0.3))

    each(((case.name, case) for case in CASES), check)
    assert alive()[0] <= before


FULL = pytest.mark.full
OWNERS = [number // 2 for number in range(200)]
NAMES = [name for name, _ in model().named_parameters()]
WAYS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "flat": lambda _: owned(),
    "adaptive": lambda _: owned(clip=Adaptive()),
    "per layer": lambda _: owned(clip=PerLayer(dict.fromkeys(NAMES, 0.5))),
    "two rows": lambda _: run(owner=OWNERS, units=100, rows=2, batch=25),
    "checkpoints": lambda folder: owned(
        budget=Budget(50.0, 1e-5), checkpoint=folder / "run.pt", every=4
    ),
}


@pytest.mark.parametrize(
    "way",
    [
        way if way in ("flat", "checkpoints") else pytest.param(way, marks=FULL)
        for way in WAYS
    ],
)
def test_a_run_keeps_nothing_of_a_step(way: str, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    before = alive()
    given = WAYS[way](tmp_path) | {"epochs": 8, "optimizer": counting(seen)}
    found = train(model(), records(), **given)
    early, late = seen
    assert late[0] <= early[0] <= before[0]
    assert late[1] <= early[1] + FEW
    del found, given
    assert alive()[0] <= before[0]


def searched() -> object:
    options = owned(public=records(seed=2), epsilon=20.0, delta=1e-5, batch=50)
    del options["noise"], options["lr"]
    return search(model(), records(), {"lr": [0.1, 0.5]}, repetitions=2, **options)


def joined() -> object:
    return federated.train(clients.model(), clients.federation(), **clients.run())


def labelled() -> object:
    inputs, labels = records(60)
    given: dict[str, Any] = {"voting": pate.GNMax(sigma=1.0), "delta": 1e-6}
    given |= {"teachers": TEACHERS, "classes": range(3), "owner": "row", "processes": 1}
    held = inputs.numpy().astype(float), labels.numpy()
    return pate.label(held, held[0][:5], model=Nearest(), **given)


@pytest.mark.parametrize(
    "trained", [pytest.param(searched, marks=FULL), joined, labelled]
)
def test_several_runs_give_their_memory_back(trained: Callable[[], object]) -> None:
    trained()
    before = alive()
    trained()
    recorders, tensors = alive()
    assert recorders <= before[0]
    assert tensors <= before[1] + FEW


def test_nothing_of_a_teacher_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process that counts votes sees the records of one teacher after the other."""
    seen: list[int] = []
    another = Done.another

    def looked(own: Done) -> None:
        another(own)
        if own.seen in (EARLY, TEACHERS):
            gc.collect()
            seen.append(len(gc.get_objects()))

    monkeypatch.setattr(Done, "another", looked)
    labelled()
    early, late = seen
    assert late <= early + 5  # there are 18 teachers between


def test_a_search_holds_the_best_run_and_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs: list[weakref.ref[Finished]] = []
    held: list[int] = []
    run = Tuning._run

    def watched(own: Tuning, number: int, given: Any) -> Finished:
        held.append(sum(one() is not None for one in runs))
        found = replace(run(own, number, given), rank=-number)  # the first is the best
        runs.append(weakref.ref(found))
        return found

    monkeypatch.setattr(Tuning, "_run", watched)
    options = owned(public=records(seed=2), epsilon=20.0, delta=1e-5, batch=UNITS)
    del options["noise"], options["lr"]
    grid = {"lr": [0.1, 0.2, 0.3]}
    search(model(), records(), grid, repetitions="each", **options)
    assert held == [0, 1, 1]
