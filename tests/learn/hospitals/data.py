"""Small hospitals for tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

import dither
from dither.learn import hospitals
from dither.learn.gaussian import Noise
from dither.ledger import Account, Ledger

torch.set_num_threads(1)

UNITS = 60
PATIENT = dither.Unit("patient")


def records(count: int = UNITS, seed: int = 1) -> tuple[Tensor, Tensor]:
    made = np.random.default_rng(seed)  # allowed: made-up data
    inputs = made.normal(size=(count, 3)).astype(np.float32)
    return torch.from_numpy(inputs), torch.from_numpy((inputs.sum(1) > 0).astype(int))


def model() -> nn.Module:
    torch.manual_seed(3)  # allowed: starting weights are public
    return nn.Linear(3, 2)


def account(name: str = "north", book: Ledger | None = None, **more: Any) -> Account:
    where = Ledger.open(":memory:") if book is None else book
    terms: dict[str, Any] = {"epsilon": 50.0, "delta": 1e-6, "unit": PATIENT}
    return where.account(name, **terms | more)


def hospital(name: str = "north", data: Any = None, **more: Any) -> hospitals.Hospital:
    plain: dict[str, Any] = {"owner": np.arange(UNITS), "units": UNITS, "rows": 1}
    if "budget" not in more:
        more["budget"] = account(name)
    data = records() if data is None else data
    return hospitals.Hospital(name, data, **plain | more)


def asked(**more: Any) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "loss": functional.cross_entropy,
        "rounds": 4,
        "steps": 2,
        "batch": 20,
        "lr": 0.5,
        "noise": 1.0,
    }
    return plain | more


def lines(found: Account, *kinds: str) -> list[dict[str, Any]]:
    return [dict(one.body) for one in found._ledger.entries() if one.kind in kinds]


class Silent(Noise):
    """No noise: what a hospital would send without it."""

    def added(self, sums: Any, deviation: float, over: float) -> Any:  # noqa: ARG002
        yield from ((name, one.to(torch.float32) / over) for name, one in sums.items())
