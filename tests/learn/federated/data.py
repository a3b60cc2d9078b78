"""Small made-up federations for tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from dither.learn.federated.clients import Clients
from dither.learn.federated.preparing import prepared
from dither.learn.federated.rounds import Ready
from dither.learn.federated.settings import Settings

torch.set_num_threads(1)
Pair = tuple[Tensor, Tensor]
NAN, INF = float("nan"), float("inf")


def federation(count: int = 40, rows: int = 6, seed: int = 2) -> dict[str, Pair]:
    """Clients whose rows have four numbers and one of two classes."""
    made = np.random.default_rng(seed)  # allowed: made-up data
    found = {}
    for client in range(count):
        inputs = made.normal(size=(rows, 4)).astype(np.float32)
        labels = (inputs[:, 0] > inputs[:, 1]).astype(np.int64)
        found[f"c{client}"] = torch.from_numpy(inputs), torch.from_numpy(labels)
    return found


def model() -> nn.Sequential:
    torch.manual_seed(3)  # allowed: starting weights are public
    return nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 2))


def run(**more: Any) -> dict[str, Any]:
    """Arguments of a short run that states its noise."""
    plain: dict[str, Any] = {
        "loss": functional.cross_entropy,
        "rounds": 3,
        "cohort": 20,
        "units": 40,
        "rows": 6,
        "local_steps": 2,
        "example": (torch.zeros(4), 0),
        "noise": 1.0,
    }
    return plain | more


def number() -> nn.Linear:
    """A model of one number, which is 0."""
    found = nn.Linear(1, 1, bias=False)
    nn.init.zeros_(found.weight)
    return found


def sent(_: dict[str, Tensor], held: Any) -> Any:
    """A client whose update is what it holds; of a pair, the second is its size."""
    update, size = held if isinstance(held, tuple) else (held, 1.0)
    return {"weight": torch.tensor([[update]], dtype=torch.float32)}, size


def told(**more: Any) -> dict[str, Any]:
    """Arguments of rounds in which all clients send what they hold."""
    plain: dict[str, Any] = {
        "client": sent,
        "rounds": 1,
        "cohort": 4,
        "units": 4,
        "noise": 1.0,
        "delta": 1e-5,
    }
    return plain | more


def ready(model: nn.Module, clients: Any, **options: Any) -> tuple[Ready, Clients]:
    found = prepared(model, clients, Settings(**options))
    return found, found.read(None)
