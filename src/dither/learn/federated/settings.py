"""The arguments of a federated run, as callers state them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dither.dataset import Account
from dither.errors import ArgumentError
from dither.learn.clipping import Adaptive, Clipping
from dither.learn.federated.factorizations import Factorization
from dither.learn.federated.participation import Participation, check_told
from dither.learn.federated.servers import FedAvg, Server, server_of
from dither.learn.federated.weighing import Weighted, weight_of
from dither.learn.gradients.oracle import Loss
from dither.learn.schedules import Schedule
from dither.privacy.numbers import positive, whole
from dither.question import Asking

__all__ = ["Federated", "Settings"]


class Federated(Asking, total=False):
    """The keywords of a federated run."""

    loss: Loss | None
    rounds: int
    cohort: int | None
    units: int | None
    rows: int | None
    clip: float | Clipping | Adaptive
    local_steps: int
    local_lr: float
    local_batch: int | None
    server: Server
    weight: Weighted | None
    participation: Participation | None
    factorization: Factorization | None
    arrivals: Callable[[int], Iterable[Any]] | None
    client: Callable[[dict[str, Any], Any], Any] | None
    example: tuple[Any, Any] | None
    inputs: Sequence[str] | Mapping[str, Any] | None
    target: str | None
    owner: Any
    classes: Sequence[Any] | None
    table: str | None
    block: int | None
    noise: float | None
    noise_schedule: Schedule | None
    public: Any
    callbacks: Sequence[Callable[[Any], Any]] | None
    delta: float | None


PLAIN = FedAvg()


@dataclass(frozen=True)
class Settings:
    """The same with what holds where nothing is stated."""

    loss: Any = None
    rounds: Any = None
    cohort: Any = None
    units: int | None = None
    rows: int | None = None
    clip: Any = 1.0
    local_steps: int = 5
    local_lr: float = 0.1
    local_batch: int | None = None
    server: Server = PLAIN
    weight: Weighted | None = None
    participation: Participation | None = None
    factorization: Factorization | None = None
    arrivals: Any = None
    client: Any = None
    example: Any = None
    inputs: Any = None
    target: Any = None
    owner: Any = None
    classes: Any = None
    table: str | None = None
    block: int | None = None
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
        if self.rounds is None:
            raise ArgumentError("rounds", "is missing; pass how many, such as 100")
        whole("rounds", self.rounds, "pass how many rounds there are, such as 100")
        whole("local_steps", self.local_steps, "pass a number of steps such as 5")
        positive("local_lr", self.local_lr, "pass a rate such as 0.1")
        for name in ("local_batch", "cohort", "block"):
            if getattr(self, name) is not None:
                whole(name, getattr(self, name), "pass a whole number such as 100")
        server_of(self.server)
        weight_of(self.weight)
        if self.callbacks is None:
            object.__setattr__(self, "callbacks", ())
        if not all(callable(one) for one in self.callbacks):
            raise ArgumentError("callbacks", "must be functions of one argument")
        self._check_work()
        check_told(self.arrivals, self.participation)
        self._check_kinds()

    def _check_work(self) -> None:
        """What clients do: train by a loss, or whatever a function does."""
        if self.client is not None and not callable(self.client):
            raise ArgumentError(
                "client", "must be a function of weights and a client's data"
            )
        if self.client is not None and self.rows is None:
            object.__setattr__(self, "rows", 1)  # what a client holds is one thing
        if self.client is None and not callable(self.loss):
            raise ArgumentError(
                "loss", "must be a function, such as torch.nn.functional.cross_entropy"
            )

    def _check_kinds(self) -> None:
        """What goes with correlated noise, and what with sampling."""
        if self.participation is None:
            if self.factorization is not None:
                raise ArgumentError(
                    "factorization",
                    "is of noise for clients that are not sampled; pass participation= "
                    "too, or leave it out",
                )
            if self.cohort is None:
                raise ArgumentError(
                    "cohort",
                    "is missing; pass how many clients a round has on average, such as "
                    "100",
                )
            return
        if isinstance(self.clip, Adaptive):
            raise ArgumentError(
                "clip",
                "must not change from round to round where noise is correlated; pass a "
                "radius such as 1.0",
            )
        if self.noise_schedule is not None:
            raise ArgumentError(
                "noise_schedule", "is for sampled rounds; leave it out here"
            )
        if self.arrivals is not None and self.cohort is None:
            raise ArgumentError(
                "cohort",
                "is missing; pass how many clients come to a round by public knowledge",
            )

    @property
    def cost(self) -> dict[str, Any]:
        names = ("epsilon", "rho", "share", "noise", "budget", "by")
        return {name: getattr(self, name) for name in names}
