"""The server's step from the noisy mean update of a round: post-processing, so it costs
nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from dither.errors import ArgumentError
from dither.privacy.numbers import positive

__all__ = ["FedAdam", "FedAvg", "Server", "Stepper", "server_of"]

Weights = dict[str, Tensor]


class Stepper(ABC):
    """A server at work, with what it remembers of earlier rounds."""

    @abstractmethod
    def step(self, weights: Weights, mean: Weights) -> None:
        """Move weights, in place, by a noisy mean update."""


class Server(ABC):
    """How a server steps."""

    lr: float

    @abstractmethod
    def begin(self) -> Stepper: ...


@dataclass(frozen=True)
class FedAvg(Server):
    """Weights move by `lr` times the mean update (McMahan, Moore, Ramage, Hampson,
    Agüera y Arcas 2017); with `momentum`, by a running sum of them.
    """

    lr: float = 1.0
    momentum: float = 0.0

    def __post_init__(self) -> None:
        positive("lr", self.lr, "pass a rate such as 1.0")
        _decay("momentum", self.momentum)

    def begin(self) -> Stepper:
        return _Averaging(self)


@dataclass
class _Averaging(Stepper):
    rule: FedAvg
    moving: Weights = field(default_factory=dict)

    def step(self, weights: Weights, mean: Weights) -> None:
        for name, one in mean.items():
            moved = one
            if self.rule.momentum:
                before = self.moving.get(name, torch.zeros_like(one))
                moved = self.moving[name] = self.rule.momentum * before + one
            weights[name] += self.rule.lr * moved


@dataclass(frozen=True)
class FedAdam(Server):
    """Adam at the server (Reddi, Charles, Zaheer, Garrett, Rush, Konečný, Kumar, McMahan
    2021): each number of the weights has a rate of its own. `tau` keeps a division away
    from 0; there is no correction of the first steps, as in the paper.
    """

    lr: float = 0.01
    beta1: float = 0.9
    beta2: float = 0.99
    tau: float = 1e-3

    def __post_init__(self) -> None:
        positive("lr", self.lr, "pass a rate such as 0.01")
        positive("tau", self.tau, "pass a small number such as 1e-3")
        _decay("beta1", self.beta1)
        _decay("beta2", self.beta2)

    def begin(self) -> Stepper:
        return _Adapting(self)


@dataclass
class _Adapting(Stepper):
    rule: FedAdam
    first: Weights = field(default_factory=dict)
    second: Weights = field(default_factory=dict)

    def step(self, weights: Weights, mean: Weights) -> None:
        rule = self.rule
        for name, one in mean.items():
            zero = torch.zeros_like(one)
            first = self.first.get(name, zero) * rule.beta1 + (1 - rule.beta1) * one
            square = (1 - rule.beta2) * one * one
            second = self.second.get(name, zero) * rule.beta2 + square
            self.first[name], self.second[name] = first, second
            weights[name] += rule.lr * first / (second.sqrt() + rule.tau)


def server_of(server: Any) -> Server:
    if type(server) not in (FedAvg, FedAdam):
        raise ArgumentError("server", "must be FedAvg(lr=1.0) or FedAdam(lr=0.01)")
    found: Server = server
    return found


def _decay(name: str, value: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ArgumentError(name, "must be a number such as 0.9")
    if not 0 <= value < 1:
        raise ArgumentError(
            name, "must be at least 0 and below 1; pass a number such as 0.9"
        )
