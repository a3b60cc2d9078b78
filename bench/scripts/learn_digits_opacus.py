"""Opacus 1.6 on digits: accuracy of one model on one split at one ε."""

from __future__ import annotations

import warnings
from functools import cache
from importlib import import_module
from typing import Any

import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

from bench.scripts.learn_digits import DELTA, hidden, linear, on_edges, split
from bench.scripts.loop import serve

opacus: Any = import_module("opacus")
calibration: Any = import_module("opacus.accountants.utils")
warnings.filterwarnings("ignore")
torch.set_num_threads(1)
MODELS = {"linear": linear, "hidden": hidden, "edges": on_edges}


@cache
def noise(epsilon: float, rate: float, steps: int) -> float:
    found: float = calibration.get_noise_multiplier(
        target_epsilon=epsilon,
        target_delta=DELTA,
        sample_rate=rate,
        steps=steps,
        accountant="prv",
    )
    return found


def answer(
    model: str,
    number: int,
    epsilon: float,
    epochs: int,
    batch: int,
    lr: float,
    momentum: float = 0.0,
    falling: bool = False,
) -> float:
    torch.manual_seed(number)  # allowed: the peer's own generator
    inputs, targets, tested, wanted = split(number)
    net: nn.Module = MODELS[model]()
    batch = min(batch, len(inputs))
    loader = DataLoader(TensorDataset(inputs, targets), batch_size=batch)
    steps = epochs * len(loader)
    net, optimizer, loader = opacus.PrivacyEngine().make_private(
        module=net,
        optimizer=torch.optim.SGD(net.parameters(), lr=lr, momentum=momentum),
        data_loader=loader,
        noise_multiplier=noise(epsilon, 1 / len(loader), steps),
        max_grad_norm=1.0,
    )
    done = 0
    for _ in range(epochs):
        for some, labels in loader:
            if falling:
                optimizer.param_groups[0]["lr"] = lr * (1 - done / steps)
            optimizer.zero_grad()
            functional.cross_entropy(net(some), labels).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            done += 1
    with torch.no_grad():
        return float((net(tested).argmax(1) == wanted).float().mean())


if __name__ == "__main__":
    serve(answer)
