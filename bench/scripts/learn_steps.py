"""Memory before a run, at an early and a late step of it, and after it, in a process of
its own.
"""

from __future__ import annotations

import gc
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from bench.scripts.learn_models import MODELS, loss
from bench.scripts.loop import serve
from dither import Ledger
from dither.learn import Adaptive, PerLayer, federated, pate, search, train
from dither.learn.pate.teachers import Done

EARLY, LATE = 10, 1000
UNITS, BATCH = 64, 8
MEGABYTE = 1 << 20
RATES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
EACH = 300
"""Steps of each run of a search."""


class Deciding(nn.Module):
    """A recurrent model that decides by what is in a row, so it sees one at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.cell, self.out = nn.GRUCell(28, 32), nn.Linear(32, 10)

    def forward(self, inputs: Tensor) -> Tensor:
        state = inputs.new_zeros(len(inputs), 32)
        for place in range(8):
            state = self.cell(inputs[:, 0, place], state)
        if float(state.detach().sum()) > 1e6:
            state = state * 0
        found: Tensor = self.out(state)
        return found


def resident() -> float:
    with Path("/proc/self/statm").open(encoding="ascii") as held:
        return int(held.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / MEGABYTE


def tensors() -> int:
    return sum(issubclass(type(one), Tensor) for one in gc.get_objects())


@dataclass
class Watch:
    """What is held on a device: resident memory of the process on the CPU, what PyTorch
    has allocated on a GPU.
    """

    device: str = "cpu"
    seen: list[float] = field(default_factory=list)

    def __call__(self, step: int) -> None:
        if step in (EARLY, LATE):
            self.look()

    def look(self) -> None:
        gc.collect()
        self.seen += [round(self._held(), 2), tensors()]

    def _held(self) -> float:
        if self.device == "cpu":
            return resident()
        torch.cuda.synchronize()
        return torch.cuda.memory_allocated() / MEGABYTE

    @property
    def told(self) -> dict[str, Any]:
        """Where a run computes, and who looks at its steps."""
        return {"device": self.device, "callbacks": [lambda now: self(now.step)]}


def rows(make: Callable[[], Tensor]) -> Tensor:
    made = make()
    return torch.cat([made] * -(-UNITS // len(made)))[:UNITS]


def options(**more: Any) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "loss": loss,
        "owner": "row",
        "units": UNITS,
        "batch": BATCH,
        "epochs": LATE * BATCH // UNITS,
        "lr": 0.1,
        "noise": 1.0,
    }
    return plain | more


def run(watch: Watch, model: nn.Module, inputs: Tensor, **more: Any) -> None:
    data = inputs, torch.arange(len(inputs)) % 10
    train(model, data, **options(**watch.told) | more)


def usual(name: str, watch: Watch) -> None:
    model, inputs = MODELS[name]
    run(watch, model(), rows(inputs))


def small(watch: Watch, **more: Any) -> None:
    model, inputs = MODELS["CNN"]
    run(watch, model(), rows(inputs), **more)


def two_rows(watch: Watch) -> None:
    owners = [place // 2 for place in range(UNITS)]
    half = {"units": UNITS // 2, "batch": BATCH // 2}
    small(watch, owner=owners, rows=2, **half)


def per_layer(watch: Watch) -> None:
    names = [name for name, _ in MODELS["CNN"][0]().named_parameters()]
    small(watch, clip=PerLayer(dict.fromkeys(names, 0.5)))


def checkpoints(watch: Watch) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        Ledger.open(Path(folder) / "book.db") as book,
    ):
        account = book.account("images", epsilon=5000, delta=1e-6)
        file = Path(folder) / "run.pt"
        small(watch, budget=account, checkpoint=file, every=50)


def clients(watch: Watch) -> None:
    model, inputs = MODELS["CNN"]
    images, targets = rows(inputs), torch.arange(UNITS) % 10
    held = {
        place: (images[place : place + 2], targets[place : place + 2])
        for place in range(0, UNITS, 2)
    }
    federated.train(
        model(),
        held,
        loss=loss,
        rounds=LATE,
        cohort=8,
        units=len(held),
        rows=2,
        local_steps=2,
        example=(torch.zeros(1, 28, 28), 0),
        noise=1.0,
        delta=1e-5,
        **watch.told,
    )


def searched(watch: Watch) -> None:
    """Six runs, one after the other. A search takes no callbacks, so its optimizer looks.
    The third run is its first step, because the best run until then is held besides; each
    run, and before the first one each candidate twice, takes two steps in its rehearsal.
    """
    taken = [-4 * len(RATES) - 2 * (2 + EACH) - 2]

    class Looking(torch.optim.SGD):
        def step(self, closure: Any = None) -> Any:
            taken[0] += 1
            watch(taken[0])
            return super().step(closure)

    model, inputs = MODELS["CNN"]
    data = rows(inputs), torch.arange(UNITS) % 10
    given = options(epochs=-(-EACH * BATCH // UNITS), delta=1e-5)
    del given["noise"], given["lr"]
    more: dict[str, Any] = {"epsilon": 1000.0, "public": data, "device": watch.device}
    grid = {"lr": list(RATES)}
    search(model(), data, grid, repetitions="each", optimizer=Looking, **given, **more)


def teachers(watch: Watch) -> None:
    """A teacher is a step; what is watched is the process that counts their votes."""
    from sklearn.neighbors import KNeighborsClassifier  # not in the memory of others

    another = Done.another

    def looked(own: Done) -> None:
        another(own)
        watch(own.seen)

    Done.another = looked  # type: ignore[assignment, method-assign]
    inputs = rows(MODELS["MLP"][1]).repeat(LATE // UNITS + 1, 1)[:LATE, :20]
    targets = torch.arange(LATE) % 10
    pate.label(
        (inputs.numpy(), targets.numpy()),
        inputs[:20].numpy(),
        model=KNeighborsClassifier(1),
        classes=range(10),
        teachers=LATE,
        owner="row",
        voting=pate.GNMax(sigma=50.0),
        delta=1e-5,
        processes=1,
    )
    Done.another = another  # type: ignore[method-assign]


CASES: dict[str, Callable[[Watch], None]] = {
    **{name: partial(usual, name) for name in MODELS},
    "recurrent, one row at a time": lambda watch: run(
        watch, Deciding(), rows(MODELS["CNN"][1])
    ),
    "CNN, two rows a unit": two_rows,
    "CNN, adaptive clipping": partial(small, clip=Adaptive()),
    "CNN, a radius for each layer": per_layer,
    "CNN, checkpoints": checkpoints,
    "CNN, federated": clients,
    "CNN, search": searched,
    "PATE, a teacher a step": teachers,
}


def answer(case: str, device: str = "cpu") -> list[float]:
    """Megabytes and tensors before the run, at its early step, at its late one, and
    after it.
    """
    torch.set_num_threads(1)
    watch = Watch(device)
    watch.look()
    CASES[case](watch)
    watch.look()
    return watch.seen


if __name__ == "__main__":
    serve(answer)
