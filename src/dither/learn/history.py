"""What is known of a run beside its weights: public numbers, one line for each epoch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from dither.axes import Axes, Scale
from dither.errors import ArgumentError
from dither.frames import package
from dither.learn.gradients.oracle import Inputs, called
from dither.picture import Picture

__all__ = ["Epoch", "History", "Tested"]

WIDTH, HEIGHT = 560, 340


@dataclass(frozen=True)
class Epoch:
    """Where a run stood at the end of an epoch. `loss` and `accuracy` are of public test
    data, where there is any.
    """

    epoch: int
    step: int
    lr: float
    noise: float
    loss: float | None = None
    accuracy: float | None = None


@dataclass(frozen=True)
class History:
    """The epochs of a run. Nothing in it depends on private rows but through the noisy
    weights, which are released with it.
    """

    epochs: tuple[Epoch, ...]
    cost: Callable[[int], float] = field(repr=False)

    @classmethod
    def told(cls, epochs: tuple[Epoch, ...], epsilons: Sequence[float]) -> History:
        """A history whose costs are known."""
        pairs = zip(epochs, epsilons, strict=True)
        return cls(epochs, {one.step: cost for one, cost in pairs}.__getitem__)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy knows what was spent, and not the account."""
        return History.told, (self.epochs, self.epsilons)

    def __len__(self) -> int:
        return len(self.epochs)

    def __iter__(self) -> Iterator[Epoch]:
        return iter(self.epochs)

    def __getitem__(self, place: int) -> Epoch:
        return self.epochs[place]

    @cached_property
    def epsilons(self) -> tuple[float, ...]:
        """The ε of a run that had stopped after each epoch; computed when first asked
        for.
        """
        return tuple(self.cost(one.step) for one in self.epochs)

    def to_pandas(self) -> Any:
        """A pandas frame, one line for each epoch."""
        return package("pandas").DataFrame([asdict(one) for one in self.epochs])

    def plot(self) -> Picture:
        """Accuracy (or else loss) on public data against ε."""
        name = "accuracy" if self._has("accuracy") else "loss"
        if not self._has(name):
            raise ArgumentError(
                "plot", "shows public test data; pass public=(inputs, targets) to train"
            )
        found = [
            (x, getattr(one, name)) for x, one in zip(self.epsilons, self, strict=True)
        ]
        points = [(x, y) for x, y in found if math.isfinite(x) and math.isfinite(y)]
        xs, ys = [x for x, _ in points], [y for _, y in points]
        top = 1.0 if name == "accuracy" else max([*ys, 1e-9])
        scales = Scale(0.0, max([*xs, 1e-9])), Scale(0.0, top)
        axes = Axes(60, 14, WIDTH - 80, HEIGHT - 64, *scales)
        shapes = [*axes.frame("ε", f"{name} on public data"), axes.line(xs, ys)]
        shapes += [axes.dot(x, y) for x, y in points]
        return Picture.of(WIDTH, HEIGHT, shapes, f"{name} against ε")

    def _has(self, name: str) -> bool:
        return bool(self.epochs) and all(
            getattr(one, name) is not None for one in self.epochs
        )


@dataclass(frozen=True)
class Tested:
    """Public test data: whoever passes it says that it is about nobody who is protected."""

    inputs: Inputs
    targets: Tensor
    loss: Callable[[Tensor, Tensor], Tensor]

    def measure(self, model: nn.Module) -> tuple[float, float | None]:
        """The loss and, of classes, the accuracy, with the model in its final form."""
        modes = [(one, one.training) for one in model.modules()]
        model.eval()
        try:
            with torch.no_grad():
                outputs = called(model, self.inputs)
                loss = float(self.loss(outputs, self.targets))
        finally:
            for one, mode in modes:
                one.training = mode
        if self.targets.is_floating_point():
            return loss, None
        right = outputs.argmax(1) == self.targets
        return loss, float(right.to(torch.float64).mean())
