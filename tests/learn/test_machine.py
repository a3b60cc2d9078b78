"""Errors of the machine are never blamed on a record (rule R25)."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import pytest
import torch
from torch import Tensor, nn

from dither import Budget, Ledger
from dither.errors import ArgumentError, MachineFailed
from dither.learn import Validation, federated, history, preview, train
from dither.learn.failures import is_machine, read_or_none, words_of
from dither.learn.federated.descent import Descent
from dither.learn.gaussian import Noise, OnCpu
from dither.learn.gradients.program import Program
from dither.learn.mixing import check_batch_apart
from dither.learn.validation import STEPS, HeldOut
from tests.learn.data import EXAMPLE, UNITS, Pairs, owned, records
from tests.learn.federated import data as clients
from tests.learn.test_resuming import failures

ANY = 1 << 40
RARE = 1e7
UNKNOWN = "a library that nobody knows gave up"


class Hungry(nn.Module):
    """Takes more memory than there is for more than `most` rows; what it does for fewer
    is that of one layer.
    """

    most: ClassVar[int] = ANY
    words: ClassVar[str] = ""
    """Those of an error that does not read like the machine's, if not empty."""

    def __init__(self) -> None:
        super().__init__()
        self.line = nn.Linear(4, 3)
        nn.init.zeros_(self.line.weight)
        nn.init.zeros_(self.line.bias)

    def forward(self, inputs: Tensor) -> Tensor:
        eat(len(inputs))
        found: Tensor = self.line(inputs)
        return found


def eat(rows: int) -> None:
    if rows > Hungry.most:
        if Hungry.words:
            raise RuntimeError(Hungry.words)
        torch.empty(1 << 60, dtype=torch.uint8)


class Deciding(Hungry):
    """One row at a time, because it decides by what is in a row."""

    def forward(self, inputs: Tensor) -> Tensor:
        large = float(inputs.detach().sum()) > RARE
        return super().forward(inputs * 0 if large else inputs)


class Greedy(Hungry):
    """Some record needs more memory than there is."""

    def forward(self, inputs: Tensor) -> Tensor:
        if float(inputs.detach().abs().max()) > RARE:
            raise MemoryError
        return super().forward(inputs)


@pytest.fixture(autouse=True)
def fed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A traced model is as hungry as its own code."""
    run = Program.run

    def hungry(own: Program, rows: Any, count: int, *more: Any) -> Any:
        eat(count)
        return run(own, rows, count, *more)

    gradients = Descent._gradients

    def hungry_clients(own: Descent, moved: Any, part: Any, start: Any) -> Any:
        if own.operations is not None:
            eat(part.there.shape[1])
        return gradients(own, moved, part, start)

    monkeypatch.setattr(Program, "run", hungry)
    monkeypatch.setattr(Descent, "_gradients", hungry_clients)
    yield
    Hungry.most, Hungry.words = ANY, ""


def starving(most: int, words: str = "") -> Callable[[Any], None]:
    """A callback after which there is memory for so many rows."""

    def call(_: Any) -> None:
        Hungry.most, Hungry.words = most, words

    return call


class Silent(OnCpu):
    """Noise of 0, to see the sums."""

    def added(self, sums: Any, deviation: float, over: float) -> Any:
        return super().added(sums, 0 * deviation, over)


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> None:
    def made(_: torch.device) -> Noise:
        return Silent()

    monkeypatch.setattr("dither.learn.preparing.noise_on", made)


def everybody(**more: Any) -> dict[str, Any]:
    """A run whose steps take all units, so that its sums are always the same."""
    return owned(batch=UNITS, epochs=3, micro=16) | more


def weights(found: Any) -> Tensor:
    return torch.cat([one.flatten() for one in found.value.state_dict().values()])


@pytest.mark.parametrize(("kind", "words"), [(Hungry, ""), (Deciding, UNKNOWN)])
@pytest.mark.usefixtures("silent")
def test_a_machine_that_fails_leaves_nobody_out(kind: Any, words: str) -> None:
    whole = weights(train(kind(), records(), **everybody()))
    most = 1 if kind is Deciding else 9
    later = everybody(callbacks=[starving(most, words)])
    assert torch.allclose(weights(train(kind(), records(), **later)), whole, atol=1e-5)


@pytest.mark.parametrize(("kind", "words"), [(Hungry, ""), (Deciding, UNKNOWN)])
def test_a_machine_that_fails_for_good_ends_the_run(
    tmp_path: Path, kind: Any, words: str
) -> None:
    with Ledger.open(tmp_path / "book.db") as book:
        account = book.account("clinic", epsilon=500, delta=1e-6)
        given = owned(budget=account, micro=8, callbacks=[starving(0, words)])
        with pytest.raises(MachineFailed, match="no record is the cause") as error:
            train(kind(), records(), **given)
        assert account.remaining.share < 1
        assert failures(account) == 1
    assert error.value.__context__ is None  # it would hold private rows


def test_parts_stay_small_after_a_shortage(monkeypatch: pytest.MonkeyPatch) -> None:
    """A later step does not try the size again that had no memory."""
    run, sizes = Program.run, [list[int]()]

    def watched(own: Program, rows: Any, count: int, *more: Any) -> Any:
        sizes[-1].append(count)
        return run(own, rows, count, *more)

    def call(_: Any) -> None:
        Hungry.most = 9
        sizes.append([])

    monkeypatch.setattr(Program, "run", watched)
    train(Hungry(), records(), **everybody(callbacks=[call]))
    _, second, third, _ = sizes
    assert (max(second), max(third)) == (16, 8)


class Measured(Deciding):
    """Has no memory for its final form once an optimizer holds its state."""

    full: ClassVar[bool] = False

    def forward(self, inputs: Tensor) -> Tensor:
        if self.full and not self.training:
            raise MemoryError
        return super().forward(inputs)


class Holding(torch.optim.SGD):
    def __init__(self, parameters: Any, lr: float) -> None:
        super().__init__(parameters, lr)
        Measured.full = False

    def step(self, closure: Any = None) -> Any:
        Measured.full = True
        return super().step(closure)


@pytest.mark.parametrize(
    "measured",
    [
        {"public": records(20, seed=2)},
        {"validation": Validation(records(20, seed=2), noise=5.0)},
    ],
    ids=["public", "private"],
)
def test_a_measurement_is_rehearsed_before_anybody_pays(
    measured: dict[str, Any],
) -> None:
    account = Budget(50.0, 1e-5)
    given = owned(budget=account, micro=4, optimizer=Holding) | measured
    with pytest.raises(ArgumentError, match="more memory than this machine has"):
        train(Measured(), records(), **given)
    assert account.remaining.share == 1
    unmeasured = owned(budget=account, micro=4, optimizer=Holding)
    assert train(Measured(), records(), **unmeasured) is not None


def test_parts_fit_before_anybody_pays() -> None:
    Hungry.most = 9
    given = owned(batch=50, micro=16)
    assert preview(Hungry(), records(), **given).micro == 8
    assert train(Hungry(), records(), **given) is not None
    Hungry.most = 3  # what the first look takes
    assert preview(Hungry(), records(), **given).micro == 2


@pytest.mark.usefixtures("silent")
def test_a_record_that_takes_all_memory_is_left_out_alone() -> None:
    inputs, targets = records()
    inputs[5] = 10 * RARE
    others = torch.ones(UNITS, dtype=torch.bool)
    others[5] = False
    without = train(Greedy(), (inputs[others], targets[others]), **everybody())
    assert torch.allclose(
        weights(train(Greedy(), (inputs, targets), **everybody())),
        weights(without),
        atol=1e-5,
    )


def test_held_out_units_are_all_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    figure, seen = HeldOut._figure, []

    def look(held: HeldOut, sums: Any) -> Any:
        seen.append(sums.tolist())
        return figure(held, sums)

    monkeypatch.setattr(HeldOut, "_figure", look)
    given = everybody(epochs=1, validation=Validation(records(), noise=5.0))
    train(Hungry(), records(), **given)
    train(Hungry(), records(), **given | {"callbacks": [starving(9)]})
    assert [sum(one) for one in seen] == [UNITS * STEPS] * 2
    with pytest.raises(MachineFailed):
        train(Hungry(), records(), **given | {"callbacks": [starving(0)]})


class Stepping(torch.optim.SGD):
    """Has no memory left in a step, once parts are as large as this."""

    steps = 0

    def step(self, closure: Any = None) -> Any:
        self.steps += 1
        if self.steps > 1:
            raise MemoryError
        return super().step(closure)


def test_a_second_step_is_rehearsed_before_anybody_pays() -> None:
    account = Budget(50.0, 1e-5)
    with pytest.raises(ArgumentError, match="more memory than this machine has"):
        train(Hungry(), records(), **owned(budget=account, micro=4, optimizer=Stepping))
    assert account.remaining.share == 1
    with pytest.raises(ArgumentError, match="a step on made-up rows fails"):
        train(Hungry(), records(), **owned(optimizer=Broken))
    # A run of one step takes no second one.
    once = owned(epochs=1, batch=UNITS, optimizer=Stepping)
    assert train(Hungry(), records(), **once) is not None


class Broken(torch.optim.SGD):
    steps = 0

    def step(self, closure: Any = None) -> Any:
        self.steps += 1
        if self.steps > 1:
            raise RuntimeError("broken")
        return super().step(closure)


def test_memory_that_is_gone_in_a_late_step_ends_the_run() -> None:
    class Late(torch.optim.SGD):
        steps = 0

        def step(self, closure: Any = None) -> Any:
            self.steps += 1
            if self.steps > 4:
                raise MemoryError
            return super().step(closure)

    with pytest.raises(MachineFailed, match="Free memory"):
        train(Hungry(), records(), **owned(optimizer=Late))


def test_a_model_that_takes_no_few_rows_is_refused_for_its_memory() -> None:
    Hungry.most = 1
    with pytest.raises(ArgumentError, match="for a few made-up rows"):
        train(Hungry(), records(), **owned())


def test_nothing_of_a_rehearsal_remains() -> None:
    """Momentum, rates and weights begin as they would without it."""
    made: list[Any] = []

    class Seen(torch.optim.Adam):
        def __init__(self, parameters: Any, lr: float) -> None:
            super().__init__(parameters, lr)
            self.first = [
                one.detach().clone() for one in self.param_groups[0]["params"]
            ]
            made.append(self)

    train(Hungry(), records(), **owned(optimizer=Seen, epochs=1, batch=UNITS))
    (state, *_) = made[-1].state.values()
    assert int(state["step"]) == 1
    assert all(bool((one == 0).all()) for one in made[-1].first)


def test_public_data_is_measured_in_parts_that_fit() -> None:
    inputs, targets = records(10)
    tested = history.Tested(inputs, targets, nn.functional.cross_entropy)
    whole = tested.measure(Hungry())
    Hungry.most = 3
    assert tested.measure(Hungry()) == pytest.approx(whole)
    Hungry.most = 0
    with pytest.raises(RuntimeError, match="allocate"):
        tested.measure(Hungry())


def test_no_check_is_skipped_for_want_of_memory() -> None:
    Hungry.most = 7
    with pytest.raises(RuntimeError, match="allocate"):
        check_batch_apart(Hungry(), records(8)[0])


@pytest.mark.parametrize(("most", "words"), [(9, ""), (0, UNKNOWN)])
def test_clients_are_never_blamed(most: int, words: str) -> None:
    """All rows of a client are one batch, so memory for fewer is memory for none."""
    given = clients.run(callbacks=[starving(most, words)], block=4)
    if most:
        assert federated.train(Hungry3(), clients.federation(), **given) is not None
        return
    with pytest.raises(MachineFailed) as error:
        federated.train(Hungry3(), clients.federation(), **given)
    assert error.value.__context__ is None


class Hungry3(Hungry):
    """For two classes."""

    def __init__(self) -> None:
        super().__init__()
        self.line = nn.Linear(4, 2)


def test_a_client_whose_function_fails_has_sent_nothing() -> None:
    asked: list[int] = []

    def client(own: dict[str, Tensor], held: Any) -> Any:
        asked.append(held)
        if held == 2:
            raise MemoryError
        return clients.sent(own, 1.0)

    held = {name: name for name in range(4)}
    given = clients.told(client=client)
    assert federated.train(clients.number(), held, **given) is not None
    assert sorted(asked) == [0, 1, 2, 2, 3]


def test_errors_that_read_like_the_machines() -> None:
    with pytest.raises(RuntimeError) as real:
        torch.empty(1 << 60, dtype=torch.uint8)
    machine = (
        *(real.value, MemoryError(), torch.OutOfMemoryError("CUDA out of memory")),
        *(OSError(errno.ENOMEM, "no memory"), MachineFailed("made-up rows fail")),
        *(RuntimeError("CUDA error: an illegal memory access"),),
        *(RuntimeError("cuDNN error: CUDNN_STATUS_EXECUTION_FAILED"),),
        RuntimeError("NCCL error in: unhandled system error"),
    )
    assert all(map(is_machine, machine))
    others = (ValueError("out of memory"), RuntimeError("sizes"), OSError(2, "none"))
    assert not any(map(is_machine, (*others, Unspeakable(), SystemExit(3))))
    assert words_of(Unspeakable()) == ""


class Unspeakable(RuntimeError):
    def __str__(self) -> str:
        raise ValueError


def test_a_record_is_read_again_only_after_an_error_of_the_machine() -> None:
    tries: list[BaseException] = [MemoryError()]

    def read() -> str:
        if tries:
            raise tries.pop()
        return "a record"

    assert read_or_none(read) == "a record"
    tries[:] = [ValueError()]
    assert read_or_none(read) is None
    tries[:] = [MemoryError(), MemoryError()]
    assert read_or_none(read) is None


class Directions(nn.Module):
    """Fails on a row of zeros, which has no direction."""

    def __init__(self) -> None:
        super().__init__()
        self.line = nn.Linear(4, 1)
        nn.init.zeros_(self.line.weight)
        nn.init.zeros_(self.line.bias)

    def forward(self, inputs: Tensor) -> Tensor:
        directions = inputs / inputs.norm(dim=1, keepdim=True)
        return torch.sigmoid(self.line(directions)).squeeze(1)


def binary(count: int) -> tuple[Tensor, Tensor]:
    return records(count)[0], torch.ones(count)


BINARY = nn.functional.binary_cross_entropy


@pytest.mark.usefixtures("silent")
def test_how_many_fill_a_part_changes_nothing_for_others() -> None:
    """Parts were filled up with zeros: 15 of 16 units fell out, and 16 did not."""
    plain = owned(
        loss=BINARY, batch=40, units=40, epochs=1, lr=1.0, micro=16, noise=1.0
    )
    moved = [
        40 * weights(train(Directions(), binary(count), **plain))
        for count in (15, 16, 17)
    ]
    for one, other in pairwise(moved):
        assert float((other - one).norm()) <= 1 + 1e-5
    assert float(moved[-1].norm()) > 8
    # A record that fails by itself is left out alone.
    inputs, targets = binary(16)
    inputs[3] = 0
    odd = 40 * weights(train(Directions(), (inputs, targets), **plain))
    assert float((moved[1] - odd).norm()) <= 1 + 1e-5


def test_held_out_units_are_measured_beside_any_number_of_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[Any] = []
    figure = HeldOut._figure

    def look(held: HeldOut, sums: Any) -> Any:
        seen.append(sums)
        return figure(held, sums)

    monkeypatch.setattr(HeldOut, "_figure", look)
    plain = owned(loss=BINARY, batch=40, units=40, epochs=1, lr=1e-3, micro=16)
    for count in (15, 16, 17):
        checked = Validation(binary(count), noise=5.0, bound=5.0)
        train(Directions(), binary(40), **plain | {"validation": checked})
    for one, other in pairwise(seen):
        assert abs(other - one).max() <= 1.1 * STEPS


def test_all_held_out_units_are_measured_in_the_final_form(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Final(Hungry):
        def forward(self, inputs: Tensor) -> Tensor:
            found = super().forward(inputs)
            return found if self.training else found * 0 + torch.eye(3)[1]

    seen: list[Any] = []
    figure = HeldOut._figure

    def look(held: HeldOut, sums: Any) -> Any:
        seen.append(sums)
        return figure(held, sums)

    monkeypatch.setattr(HeldOut, "_figure", look)
    inputs, targets = records(64)
    checked = Validation((inputs, targets), noise=5.0)
    train(Final(), records(), **owned(epochs=1, batch=UNITS, validation=checked))
    assert seen[0][0] == STEPS * int((targets == 1).sum())


@pytest.mark.parametrize("kind", [Hungry, Deciding])
def test_a_record_cannot_end_a_run_at_weights_that_made_up_rows_do_not_bear(
    kind: Any,
) -> None:
    """Made-up rows are tried at the weights that they were tried at before the charge."""

    class Careful(kind):
        def forward(self, inputs: Tensor) -> Tensor:
            found = super().forward(inputs)
            if float(found.detach().abs().max()) > 40:
                raise OverflowError
            return found

    inputs, targets = torch.zeros(100, 4), torch.zeros(100, dtype=torch.long)
    inputs[5] = 1e6
    far = owned(batch=100, units=100, lr=1e4, noise=4.0, epochs=4)
    assert train(Careful(), (inputs, targets), **far) is not None


def test_a_client_whose_own_weights_are_infinite_is_left_out() -> None:
    class Careful(Hungry3):
        def forward(self, inputs: Tensor) -> Tensor:
            found = super().forward(inputs)
            if not bool(torch.isfinite(found.detach()).all()):
                raise ValueError
            return found

    held = clients.federation()
    held["c2"] = torch.full((6, 4), 3e38), held["c2"][1]
    given = clients.run(local_steps=3, local_lr=0.5, cohort=40)
    assert federated.train(Careful(), held, **given) is not None


class Panic(BaseException):
    """An error like those of extensions in Rust, which are no `Exception`."""


class Rusty(Pairs):
    def __getitem__(self, place: int) -> tuple[Tensor, Tensor]:
        if place == 7:
            raise Panic
        return super().__getitem__(place)


def test_errors_that_are_no_exceptions_end_nothing() -> None:
    found = train(Hungry(), Rusty(), **owned(epochs=1, batch=UNITS, example=EXAMPLE))
    assert found is not None


class NoNumber(OSError):
    @property
    def errno(self) -> int:  # type: ignore[override]
        raise ValueError


def test_any_error_is_judged() -> None:
    assert not is_machine(NoNumber())
