"""The arguments that runs on records have in common, as callers state them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dither.dataset import Account
from dither.errors import ArgumentError
from dither.learn.clipping import Adaptive, Clipping
from dither.learn.schedules import Schedule
from dither.question import Asking

__all__ = ["RunSettings", "Running"]


class Running(Asking, total=False):
    """The keywords of a run on records."""

    clip: float | Clipping | Adaptive
    inputs: Sequence[str] | Mapping[str, Any] | None
    target: str | None
    owner: Any
    classes: Sequence[Any] | None
    table: str | None
    example: tuple[Any, Any] | None
    units: int | None
    rows: int | None
    noise: float | None
    noise_schedule: Schedule | None
    public: Any
    callbacks: Sequence[Callable[[Any], Any]] | None
    delta: float | None


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """These settings, with the defaults for what is not stated."""

    loss: Any = None
    clip: Any = 1.0
    inputs: Any = None
    target: Any = None
    owner: Any = None
    classes: Any = None
    table: str | None = None
    example: Any = None
    units: int | None = None
    rows: int | None = None
    noise: float | None = None
    noise_schedule: Any = None
    public: Any = None
    callbacks: Any = ()
    delta: float | None = None
    epsilon: float | None = None
    rho: float | None = None
    share: float | None = None
    budget: Account | None = None
    by: str | None = None

    def __post_init__(self) -> None:
        if self.callbacks is None:
            object.__setattr__(self, "callbacks", ())

    def check_callbacks(self) -> None:
        if not all(callable(one) for one in self.callbacks):
            raise ArgumentError("callbacks", "must be a list of one-argument functions")

    def check_loss(self) -> None:
        if not callable(self.loss):
            raise ArgumentError(
                "loss",
                "must be a function; pass one such as "
                "torch.nn.functional.cross_entropy",
            )

    @property
    def cost(self) -> dict[str, Any]:
        names = ("epsilon", "rho", "share", "noise", "budget", "by")
        return {name: getattr(self, name) for name in names}
