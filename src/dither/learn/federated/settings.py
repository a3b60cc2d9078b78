"""The arguments of a federated run, as callers state them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from dither.errors import ArgumentError
from dither.learn.clipping import Adaptive
from dither.learn.federated.factorizations import Factorization
from dither.learn.federated.participation import Participation, check_told
from dither.learn.federated.servers import FedAvg, Server, server_of
from dither.learn.federated.weighing import Weighted, weight_of
from dither.learn.gradients.oracle import Loss
from dither.learn.run.settings import Running, RunSettings
from dither.privacy.numbers import positive, whole

__all__ = ["Federated", "Settings"]


class Federated(Running, total=False):
    """The keywords of a federated run."""

    loss: Loss | None
    rounds: int
    cohort: int | None
    local_steps: int
    local_lr: float
    local_batch: int | None
    server: Server
    weight: Weighted | None
    participation: Participation | None
    factorization: Factorization | None
    arrivals: Callable[[int], Iterable[Any]] | None
    client: Callable[[dict[str, Any], Any], Any] | None
    block: int | None


PLAIN = FedAvg()


@dataclass(frozen=True, kw_only=True)
class Settings(RunSettings):
    """These settings, with the defaults for what is not stated."""

    rounds: Any = None
    cohort: Any = None
    local_steps: int = 5
    local_lr: float = 0.1
    local_batch: int | None = None
    server: Server = PLAIN
    weight: Weighted | None = None
    participation: Participation | None = None
    factorization: Factorization | None = None
    arrivals: Any = None
    client: Any = None
    block: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rounds is None:
            raise ArgumentError("rounds", "is missing; pass a number such as 100")
        whole("rounds", self.rounds, "pass the number of rounds, such as 100")
        whole("local_steps", self.local_steps, "pass a number of steps such as 5")
        positive("local_lr", self.local_lr, "pass a rate such as 0.1")
        for name in ("local_batch", "cohort", "block"):
            if getattr(self, name) is not None:
                whole(name, getattr(self, name), "pass a whole number such as 100")
        server_of(self.server)
        weight_of(self.weight)
        self.check_callbacks()
        self._check_work()
        check_told(self.arrivals, self.participation)
        self._check_kinds()

    def _check_work(self) -> None:
        """Check the work of clients: a loss to train by, or a function."""
        if self.client is not None and not callable(self.client):
            raise ArgumentError(
                "client", "must be a function of weights and a client's data"
            )
        if self.client is not None and self.rows is None:
            object.__setattr__(self, "rows", 1)  # what a client holds is one thing
        if self.client is None:
            self.check_loss()

    def _check_kinds(self) -> None:
        """Check which arguments go with correlated noise, and which with sampling."""
        if self.participation is None:
            if self.factorization is not None:
                raise ArgumentError(
                    "factorization",
                    "needs participation, because noise of sampled rounds is not "
                    "correlated; pass participation= too, or leave it out",
                )
            if self.cohort is None:
                raise ArgumentError(
                    "cohort",
                    "is missing; pass the average number of clients per round, such "
                    "as 100",
                )
            return
        if isinstance(self.clip, Adaptive):
            raise ArgumentError(
                "clip",
                "must not change from round to round if noise is correlated; pass a "
                "radius such as 1.0",
            )
        if self.noise_schedule is not None:
            raise ArgumentError(
                "noise_schedule", "cannot be used with participation; leave it out"
            )
        if self.arrivals is not None and self.cohort is None:
            raise ArgumentError(
                "cohort",
                "is missing; pass the publicly known number of clients per round",
            )
