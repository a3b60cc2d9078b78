"""Public facts about a run, next to its weights: numbers, one row for each epoch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map

from dither.axes import Axes, Scale
from dither.errors import ArgumentError
from dither.frames import package
from dither.learn.failures import FAILED, is_machine
from dither.learn.gradients.oracle import Inputs, called, row_losses, scores_of
from dither.learn.targets import IGNORED
from dither.picture import Picture
from dither.text import aligned

__all__ = ["NAMES", "Epoch", "Figure", "History", "Tested", "evaluating"]

WIDTH, HEIGHT = 560, 340


@dataclass(frozen=True)
class Epoch:
    """Where a run stood at the end of an epoch. `loss` and `accuracy` are of public
    test data, if there is any; those of private held-out records have noise, and lie
    between `low` and `high` without it, with 95 %.
    """

    epoch: int
    step: int
    lr: float
    noise: float
    loss: float | None = None
    accuracy: float | None = None
    validation_loss: float | None = None
    validation_accuracy: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Figure:
    """A noisy measurement on held-out records, with its 95 % interval."""

    kind: str
    value: float
    low: float
    high: float

    @property
    def fields(self) -> dict[str, Any]:
        """The value in the form that an epoch holds."""
        named = f"validation_{self.kind}"
        return {named: self.value, "low": self.low, "high": self.high}


NAMES = {
    "accuracy": "accuracy on public data",
    "validation_accuracy": "accuracy on held-out units",
    "loss": "loss on public data",
    "validation_loss": "loss on held-out units",
}
"""Results that may be shown, the most informative first."""
HEADS = {
    "loss": "loss",
    "accuracy": "accuracy",
    "validation_loss": "held-out loss",
    "validation_accuracy": "held-out accuracy",
}
SHOWN = 10
"""Number of epochs that are printed at most."""


def _told(epoch: Epoch, name: str) -> str:
    value = getattr(epoch, name)
    if value is None:
        return ""
    noisy = name.startswith("validation") and epoch.low is not None
    ends = f" ({epoch.low:.3g} to {epoch.high:.3g})" if noisy else ""
    return f"{value:.4g}{ends}"


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

    def __str__(self) -> str:
        """A small table: some epochs up to the last, with the ε that was spent by then
        and what was measured.
        """
        stride = math.ceil(len(self.epochs) / SHOWN)
        shown = self.epochs[::-1][:: stride or 1][::-1]
        names = [
            name
            for name in HEADS
            if any(getattr(one, name) is not None for one in shown)
        ]
        heads = ["epoch", "ε", *(HEADS[name] for name in names)]
        lines = [
            [str(one.epoch), f"{self._spent(one):.4g}", *(_told(one, n) for n in names)]
            for one in shown
        ]
        return "\n".join(aligned([heads, *lines], range(len(heads))))

    def stopped(self, steps: int, name: str = "steps") -> str:
        """Return a note if the run ended before its last step, and "" if it did not."""
        done = self.epochs[-1].step if self.epochs else 0
        if done >= steps:
            return ""
        return f"stopped after {done:,} of {steps:,} {name}; all {steps:,} were charged"

    def _spent(self, epoch: Epoch) -> float:
        """The ε of a run that had stopped there; not of all others, where few are
        shown.
        """
        known = self.__dict__.get("epsilons")
        if known is None:
            return self.cost(epoch.step)
        found: float = known[self.epochs.index(epoch)]
        return found

    @cached_property
    def epsilons(self) -> tuple[float, ...]:
        """The ε of a run that had stopped after each epoch; computed when first asked
        for.
        """
        return tuple(self.cost(one.step) for one in self.epochs)

    @property
    def shown(self) -> str | None:
        """The measure of this run: the first of `NAMES` that it has."""
        found = (
            name
            for name in NAMES
            if any(getattr(one, name) is not None for one in self.epochs)
        )
        return next(found, None)

    def curve(self) -> list[tuple[float, float, float, float]]:
        """What was measured against ε: (ε, value, low, high) for each epoch that has it.
        The ε is that of a run which had stopped there. Public figures are exact.
        """
        name = self.shown
        if name is None:
            raise ArgumentError(
                "curve",
                "the run has no measurements to show; pass public=(inputs, targets) to "
                "train, or validation=Validation(0.2, noise=20)",
            )
        found = []
        for epsilon, one in zip(self.epsilons, self.epochs, strict=True):
            value = getattr(one, name)
            if value is not None:
                noisy = name.startswith("validation") and one.low is not None
                ends = (one.low, one.high) if noisy else (value, value)
                found.append((epsilon, value, *ends))
        return found

    def to_pandas(self) -> Any:
        """A pandas frame, one line for each epoch, with the ε that was spent by then."""
        lines = [asdict(one) for one in self.epochs]
        frame = package("pandas").DataFrame(lines)
        frame.insert(2, "epsilon", list(self.epsilons))
        return frame

    def plot(self) -> Picture:
        """Accuracy (or else loss) against ε, with the ends of intervals where it is
        noisy.
        """
        curve = [one for one in self.curve() if all(map(math.isfinite, one))]
        name = self.shown or ""
        xs, ys = [one[0] for one in curve], [one[1] for one in curve]
        ends = [one for *_, low, high in curve for one in (low, high)]
        top = 1.0 if name.endswith("accuracy") else max([*ends, 1e-9])
        scales = Scale(0.0, max([*xs, 1e-9])), Scale(0.0, top)
        axes = Axes(60, 14, WIDTH - 80, HEIGHT - 64, *scales)
        shapes = [*axes.frame("ε", NAMES[name]), axes.line(xs, ys)]
        for x, y, low, high in curve:
            if high > low:
                shapes.append(axes.line([x, x], [low, high]))
            shapes.append(axes.dot(x, y))
        return Picture.of(WIDTH, HEIGHT, shapes, f"{NAMES[name]} against ε")


@dataclass(frozen=True)
class Tested:
    """Public test data: anyone who passes it says that it is about nobody who is
    protected.
    """

    inputs: Inputs
    targets: Tensor
    loss: Callable[[Tensor, Tensor], Tensor]

    def measure(self, model: nn.Module) -> tuple[float, float | None]:
        """The mean loss of a row (also of a loss that is a sum) and, of classes, the
        accuracy, with the model in its final form.
        """
        with evaluating(model), torch.no_grad():
            found = self._each(model, self.inputs, self.targets)
        each = torch.cat([losses for losses, _ in found])
        if self.targets.is_floating_point():
            return float(each.mean()), None
        # Rows without a label have no loss, as in PyTorch's own means.
        there = (self.targets != IGNORED).reshape(len(each), -1).any(1)
        loss = float(each[there].mean())
        right = torch.cat([named for _, named in found]) == self.targets
        return loss, float(right.to(torch.float64).mean())

    def _losses(
        self, model: nn.Module, inputs: Inputs, targets: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The loss of each row, and the class that the model names, if it does."""
        outputs = called(model, inputs)
        losses = row_losses(self.loss, outputs, targets)
        if targets.is_floating_point():
            return losses, targets
        return losses, scores_of(outputs).argmax(1)

    def _each(
        self, model: nn.Module, inputs: Inputs, targets: Tensor
    ) -> list[tuple[Tensor, Tensor]]:
        """Losses and classes of some rows; in halves, if they do not fit in memory."""
        try:
            return [self._losses(model, inputs, targets)]
        except FAILED as error:
            if not is_machine(error) or len(targets) < 2:
                raise
        middle = len(targets) // 2
        return [
            one
            for some in (slice(middle), slice(middle, None))
            for one in self._each(
                model, tree_map(itemgetter(some), inputs), targets[some]
            )
        ]


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """The model in its final form; then each layer in the mode that it was in."""
    modes = [(one, one.training) for one in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for one, mode in modes:
            one.training = mode
