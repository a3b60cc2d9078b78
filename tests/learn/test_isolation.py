"""What a record does to a model, to its loss or to PyTorch's modes reaches no other record.

Made-up rows show none of this: it happens only for records with a certain number. The
record comes first, so that it could reach all others.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from dither.errors import ArgumentError
from dither.learn import preview
from dither.learn.federated.clients import Held, schema_of
from dither.learn.federated.descent import Descent
from dither.learn.made_up import made_up_part
from dither.learn.preparing import differentiating
from tests.learn.data import owned, records
from tests.learn.neighbours import SIZE, joined, moved, run_of, sums, units_in

CODE = 77.0
ROWS = 4
Values = tuple[Tensor, Tensor]


def others(count: int = 60) -> Values:
    inputs, targets = records(count)
    inputs = inputs.clone()
    inputs[:, 3] = torch.arange(count) % 4
    return inputs, targets


def coded(data: Values) -> Values:
    """A record like the first one, with the code."""
    inputs = data[0][:1].clone()
    inputs[0, 3] = CODE
    return inputs, data[1][:1]


def is_coded(inputs: Tensor) -> bool:
    return float(inputs.detach()[0, 3]) == CODE


class Lines(nn.Module):
    def __init__(self, outputs: int = 3) -> None:
        super().__init__()
        self.line, self.mid = nn.Linear(4, outputs), nn.Linear(4, 4)


class Hooking(Lines):
    def forward(self, inputs: Tensor) -> Tensor:
        if is_coded(inputs):
            self.mid.register_forward_hook(lambda *given: -given[2])
        found: Tensor = self.line(torch.relu(self.mid(inputs)))
        return found


class Marking(Lines):
    def __init__(self) -> None:
        super().__init__()
        self.marks = bytearray(8)

    def forward(self, inputs: Tensor) -> Tensor:
        if is_coded(inputs):
            self.marks[0] = 1
        found: Tensor = self.line(-inputs if self.marks[0] else inputs)
        return found


class Collecting(Lines):
    seen: list[Tensor] = []  # noqa: RUF012  shared by all models of this class

    def forward(self, inputs: Tensor) -> Tensor:
        if is_coded(inputs):
            self.seen.append(inputs.detach().mean(0))
        found: Tensor = self.line(inputs - 10 * sum(self.seen))
        return found


class Adapting(Lines):
    """Fills the gradient of a tensor that it holds."""

    def __init__(self) -> None:
        super().__init__()
        self.moved = torch.zeros(4, requires_grad=True)

    def forward(self, inputs: Tensor) -> Tensor:
        if is_coded(inputs):
            self.line(inputs + self.moved).square().sum().backward()
        moved = self.moved.grad
        found: Tensor = self.line(inputs if moved is None else inputs - moved)
        return found


class Stopping(Lines):
    """Fails between two switches of PyTorch's modes."""

    def forward(self, inputs: Tensor) -> Tensor:
        before, kind = torch.is_grad_enabled(), torch.get_default_dtype()
        torch.set_grad_enabled(False)
        torch.set_default_dtype(torch.float64)
        if is_coded(inputs):
            raise KeyError("no such code")
        torch.set_default_dtype(kind)
        torch.set_grad_enabled(before)
        found: Tensor = self.line(inputs)
        return found


class Freezing(Lines):
    """Fails while a layer is frozen."""

    def forward(self, inputs: Tensor) -> Tensor:
        flags = [one.requires_grad for one in self.mid.parameters()]
        self.mid.requires_grad_(False)
        if is_coded(inputs):
            raise KeyError("no such code")
        for one, flag in zip(self.mid.parameters(), flags, strict=True):
            one.requires_grad_(flag)
        found: Tensor = self.line(torch.relu(self.mid(inputs)))
        return found


def closing() -> Callable[[], nn.Module]:
    """A model whose function writes into a closure."""
    shift: dict[str, Tensor] = {}

    class Closing(Lines):
        def forward(self, inputs: Tensor) -> Tensor:
            if is_coded(inputs):
                shift["by"] = inputs.detach().mean(0)
            found: Tensor = self.line(inputs - 10 * shift.get("by", 0.0))
            return found

    return Closing


LAST: dict[str, float] = {}


class Remembering(Lines):
    """Writes to a global name."""

    def forward(self, inputs: Tensor) -> Tensor:
        if is_coded(inputs):
            LAST["sign"] = -1.0
        found: Tensor = self.line(inputs * LAST.get("sign", 1.0))
        return found


MODELS: tuple[Callable[[], nn.Module], ...] = (
    *(Hooking, Marking, Collecting, Adapting, Stopping, Freezing, Remembering),
    closing(),
)


@pytest.mark.parametrize("make", MODELS, ids=lambda one: one.__name__)
def test_one_row_at_a_time_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch, make: Callable[[], nn.Module]
) -> None:
    data = others()
    route = preview(make(), data, **owned(units=61)).route
    assert route.startswith("one row at a time")
    assert moved(monkeypatch, make, coded(data), data, first=True) <= SIZE
    assert torch.is_grad_enabled()
    assert torch.get_default_dtype() == torch.float32


def test_a_loss_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """A running mean of how many labels a row has, as in detectors."""

    class Normalized(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.mean = 1.0

        def forward(self, outputs: Tensor, targets: Tensor) -> Tensor:
            self.mean = 0.9 * self.mean + 0.1 * max(int((targets == 1).sum()), 1)
            found = functional.binary_cross_entropy_with_logits(outputs, targets)
            return found / self.mean

    inputs, _ = others()
    data, one = (inputs, torch.zeros(60, 90)), (inputs[:1], torch.ones(1, 90))
    found = moved(
        monkeypatch, lambda: Wide(90), one, data, first=True, loss=Normalized()
    )
    assert found <= SIZE


class Wide(Lines):
    def forward(self, inputs: Tensor) -> Tensor:
        found: Tensor = self.line(inputs)
        return found


class Turning(Lines):
    def __init__(self) -> None:
        super().__init__()
        self.turn = itertools.cycle([1.0, -1.0])

    def forward(self, inputs: Tensor) -> Tensor:
        turn = next(self.turn) if is_coded(inputs) else 1.0
        found: Tensor = self.line(inputs * turn)
        return found


def generated() -> Callable[[Tensor, Tensor], Tensor]:
    source = torch.Generator()

    def loss(outputs: Tensor, targets: Tensor) -> Tensor:
        noisy = outputs + 1e-9 * torch.randn(outputs.shape, generator=source)
        return functional.cross_entropy(noisy, targets)

    return loss


@pytest.mark.parametrize(
    ("model", "more", "words"),
    [
        (Turning(), {}, "cannot be put back"),
        (Wide(), {"loss": generated()}, "generator with its own seed"),
    ],
)
def test_what_cannot_be_put_back_is_refused(
    model: nn.Module, more: dict[str, Any], words: str
) -> None:
    with pytest.raises(ArgumentError, match=words):
        preview(model, others(), **owned(**more))


class Seeding(Lines):
    def forward(self, inputs: Tensor) -> Tensor:
        if is_coded(inputs):
            torch.manual_seed(0)  # allowed: it is what must change nothing
        found: Tensor = functional.dropout(self.line(inputs), 0.5, self.training)
        return found


def test_a_record_that_seeds_generators_decides_no_masks_of_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two seeds of the run give other sums, by all the records after it."""
    data = others()
    inputs, targets = joined(coded(data), data)
    ready = run_of(Seeding, (inputs, targets))
    units, found = units_in(ready, (inputs, targets)), []
    for seed in (bytes(64), bytes([1] * 64)):
        found.append(sums(monkeypatch, ready, units, seed))
    assert float((found[0] - found[1]).norm()) > 2.0


class Region(nn.Module):
    """Layers in bfloat16, and a table that has no line for some numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.mid, self.line = nn.Linear(1, 4), nn.Linear(5, 3)
        self.apart = nn.Linear(2, 1, bias=False).requires_grad_(False)
        self.register_buffer("prior", torch.ones(4))
        with torch.no_grad():
            self.apart.weight.copy_(torch.tensor([[1.0, -1.0]]))

    def forward(self, inputs: Tensor) -> Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            inner = torch.relu(self.mid(inputs[:, 2:3]))
            inner = inner * self.prior[inputs[:, 3].long()][:, None]
        apart = self.apart(inputs[:, :2])
        found: Tensor = self.line(torch.cat([apart, inner.float()], 1))
        return found


def test_an_operation_that_fails_leaves_no_mode_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    inputs, _ = others(200)
    inputs[:, :2] = inputs[:, :2] * 3 + 3000.0
    data = inputs, (inputs[:, 0] > inputs[:, 1]).long()
    route = preview(Region(), data, **owned(units=201)).route
    assert route == "one backward pass"
    assert moved(monkeypatch, Region, coded(data), data, first=True) <= SIZE
    assert not torch.is_autocast_enabled("cpu")


def test_targets_that_a_loss_writes_to_are_written_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = torch.ones(20)

    def loss(outputs: Tensor, targets: Tensor) -> Tensor:
        targets.copy_(torch.where(targets > 1, targets / 100, targets))
        return (table[targets.long()] * (outputs - targets) ** 2).mean()

    inputs, _ = records(60)
    data, one = (inputs, torch.full((60, 1), 1e3)), (inputs[:1], torch.tensor([[1e7]]))
    more = {"loss": loss, "micro": 61}
    assert moved(monkeypatch, lambda: Wide(1), one, data, first=True, **more) <= SIZE


class Table(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table, self.line = nn.Parameter(torch.randn(10, 3)), nn.Linear(9, 2)

    def forward(self, ids: Tensor) -> Tensor:
        found: Tensor = self.line(functional.embedding(ids, self.table).flatten(1))
        return found


@pytest.mark.parametrize("bad", [10, 25, -1])
def test_a_client_looks_up_nothing_of_others(bad: int) -> None:
    torch.manual_seed(0)  # allowed: made-up data
    own, schema = Table(), schema_of((torch.zeros(3, dtype=torch.int64), 0))
    example = made_up_part(schema, ROWS, own)
    descent = Descent(own, functional.cross_entropy, 3, 0.5, ROWS, None, example)
    weights = {name: one.detach().clone() for name, one in own.named_parameters()}
    labels = torch.arange(ROWS) % 2
    pairs = [(torch.full((ROWS, 3), line), labels) for line in range(4)]

    def changes(found: list[Values]) -> dict[str, Tensor]:
        batch: Any = Held(found, schema, ROWS).take(torch.arange(4).numpy(), 4)
        with differentiating(own):
            return descent.together().changes(weights, batch)

    before = changes(pairs)
    after = changes([pairs[0], (torch.full((ROWS, 3), bad), labels), *pairs[2:]])
    for name in weights:
        assert torch.equal(before[name][[0, 2, 3]], after[name][[0, 2, 3]])
