"""`sys.exit()` in callers' code that reads private records is a failure like any other.

Where such code runs, and what takes its failures:

- models, losses (also on held-out rows and in a search): `parts.tried`
- datasets, collate functions, clients' functions and rows: `failures.read_or_none`
- names of clients that come, hospitals' updates, scoring functions: `failures.attempted`
- teachers: a process of their own (tests/learn/pate/test_teachers.py)
- values of a column, and weights that a hospital sent: `failures.attempted`
- values as numbers, as ids and as keys below that: `mechanisms.values`, `ids`, `items`

Callbacks, optimizers, schedulers and models of other grids see nothing private. There an
exit before the charge ends the run, and costs nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest
from torch import Tensor, nn
from torch.utils.data import Dataset, default_collate

from dither import Budget
from dither.ids import canonical, identity
from dither.learn import (
    GridSearch,
    LogisticRegression,
    Validation,
    federated,
    hospitals,
    search,
    train,
)
from dither.learn.encoding import floats, keyed
from dither.learn.hospitals import average
from dither.mechanisms.values import exact, place_of
from tests.learn.data import EXAMPLE, UNITS, Pairs, owned, records, run
from tests.learn.estimators.data import classified
from tests.learn.federated import data as clients
from tests.learn.hospitals import data as wards

LARGE = 1e7
SHARES = {"north": 1.0, "south": 2.0}


class Exiting(nn.Module):
    """Ends the process if a row has a large number."""

    def __init__(self) -> None:
        super().__init__()
        self.line = nn.Linear(4, 3)

    def forward(self, inputs: Tensor) -> Tensor:
        if bool((inputs > LARGE).any()):
            sys.exit(3)
        found: Tensor = self.line(inputs)
        return found


class Rows(Dataset[tuple[Tensor, Tensor]]):
    def __len__(self) -> int:
        return UNITS

    def __getitem__(self, place: int) -> tuple[Tensor, Tensor]:
        if place == 7:
            sys.exit(3)
        inputs, targets = records()
        return inputs[place], targets[place]


def large() -> tuple[Tensor, Tensor]:
    inputs, targets = records()
    inputs[3] = 10 * LARGE
    return inputs, targets


def collate(rows: list[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor]:
    if any(bool((inputs > LARGE).any()) for inputs, _ in rows):
        sys.exit(3)
    found: tuple[Tensor, Tensor] = default_collate(rows)
    return found


def collated() -> object:
    data = Pairs()
    data.inputs, data.targets = large()
    given = owned(example=EXAMPLE, collate_fn=collate, batch=UNITS)
    return train(nn.Linear(4, 3), data, **given)


def loss(outputs: Tensor, targets: Tensor) -> Tensor:
    if bool((outputs.detach().abs() > LARGE / 10).any()):
        sys.exit(3)
    return nn.functional.cross_entropy(outputs, targets)


def lost() -> object:
    inputs, targets = records()
    inputs[3] = 1e3 * LARGE
    return train(nn.Linear(4, 3), (inputs, targets), **owned(loss=loss, batch=UNITS))


class ExitingOnThree(Exiting):
    """For the records of hospitals: three numbers, two classes."""

    def __init__(self) -> None:
        super().__init__()
        self.line = nn.Linear(3, 2)


def of_hospitals() -> object:
    inputs, targets = wards.records()
    inputs[3] = 10 * LARGE
    members = [wards.hospital("north", (inputs, targets)), wards.hospital("south")]
    found = hospitals.train(ExitingOnThree(), members, **wards.asked(batch=wards.UNITS))
    assert found.members["north"].missed == ()
    return found


def scoring(*_: object) -> float:
    sys.exit(3)


def scored() -> object:
    inputs, labels = classified(400, 2)
    plain = LogisticRegression(bounds=(-3, 3), classes=[0, 1])
    public = classified(50, 2)
    given = {"epsilon": 9, "delta": 1e-6, "public": public, "scoring": scoring}
    return GridSearch(plain, {"max_iter": [5, 10]}, **given).fit(inputs, labels)


class Odd:
    """A value that ends the process, whatever is asked of it."""

    def end(self, *_: object) -> Any:
        sys.exit(3)

    __float__ = __int__ = __str__ = __repr__ = __hash__ = __eq__ = end  # type: ignore[assignment]
    __array__ = end
    real = property(end)


class OddId(int):
    """A whole number that does so."""

    real = property(Odd.end)  # type: ignore[assignment]

    def __int__(self) -> int:
        sys.exit(3)


def with_odd(values: Any, odd: Any) -> Any:
    found = np.empty(len(values), object)
    found[:] = list(values)
    found[3] = odd
    return found


def columns() -> object:
    inputs, labels = classified(400, 2)
    held = np.empty(inputs.shape, object)
    held[:] = inputs
    held[3, 0] = Odd()
    plain = LogisticRegression(bounds=(-3, 3), classes=[0, 1], epsilon=9, delta=1e-6)
    return plain.fit(held, with_odd(labels, Odd()))


def owners() -> object:
    return train(
        nn.Linear(4, 3),
        records(),
        **run(owner=list(with_odd(range(UNITS), OddId(3))), units=UNITS, rows=1),
    )


def client(weights: dict[str, Tensor], held: Any) -> Any:
    if held == 3:
        sys.exit(3)
    return clients.sent(weights, 1.0)


def came(number: int) -> Any:
    yield number
    sys.exit(3)


def held_out() -> object:
    checked = Validation(large(), noise=5.0)
    return train(Exiting(), records(), **owned(validation=checked))


def searched() -> object:
    options = owned(public=records(seed=2), epsilon=20.0, delta=1e-5, batch=UNITS)
    del options["noise"], options["lr"]
    return search(Exiting(), large(), {"lr": [0.1, 0.2]}, repetitions=2, **options)


RUNS: dict[str, Callable[[], object]] = {
    "columns": columns,
    "owners": owners,
    "weights of a hospital": lambda: average(
        ExitingOnThree(), {"north": [Odd(), Odd()], "south": Odd()}, SHARES
    ),
    "model": lambda: train(Exiting(), large(), **owned(batch=UNITS)),
    "dataset": lambda: train(
        nn.Linear(4, 3), Rows(), **owned(example=EXAMPLE, batch=UNITS)
    ),
    "collate function": collated,
    "loss": lost,
    "held-out records": held_out,
    "search": searched,
    "hospital": of_hospitals,
    "scoring function": scored,
    "client": lambda: federated.train(
        clients.number(),
        {name: name for name in range(4)},
        **clients.told(client=client),
    ),
    "names of clients": lambda: federated.train(
        clients.model(),
        clients.federation(),
        **clients.run(arrivals=came, participation=federated.Participation(1, 3)),
    ),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_ends_as_usual(name: str) -> None:
    assert RUNS[name]() is not None


def test_a_value_that_ends_the_process_is_none() -> None:
    assert np.isnan(floats([1.0, Odd()])).tolist() == [False, True]
    assert keyed("ward", ["a"]).numbers(["a", Odd()]).tolist() == [0, -1]
    assert exact(Odd()) is None
    assert place_of(Odd(), {"a": 0}) == -1
    assert identity(OddId(3)) is None
    assert canonical(OddId(3)) is None


class Interrupted(Exiting):
    """Somebody presses Ctrl-C in the second step, while a private row is computed."""

    pressed: ClassVar[bool] = False

    def forward(self, inputs: Tensor) -> Tensor:
        if self.pressed:
            raise KeyboardInterrupt
        return super().forward(inputs)


def test_an_interrupt_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    account = Budget(50.0, 1e-5)

    def press(_: object) -> None:
        monkeypatch.setattr(Interrupted, "pressed", True)

    given = owned(budget=account, batch=UNITS, callbacks=[press])
    with pytest.raises(KeyboardInterrupt):
        train(Interrupted(), records(), **given)
    assert account.remaining.share < 1
