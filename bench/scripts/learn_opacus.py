"""Opacus 1.6: one training step in each of its modes; peak memory of a few."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import torch
from torch.utils.data import DataLoader, TensorDataset

from bench.scripts.learn_models import loss, made
from bench.scripts.loop import peak, serve

opacus: Any = import_module("opacus")
warnings.filterwarnings("ignore")


LAYERS = {"LSTM": "DPLSTM", "GRU": "DPGRU", "RNN": "DPRNN"}


@cache
def stepping(model: str, mode: str) -> Callable[[], None]:
    net, inputs, targets = made(model)
    if model in LAYERS:  # Opacus has recurrent layers of its own
        kind = getattr(import_module("opacus.layers"), LAYERS[model])
        net.layer = kind(64, 128, batch_first=True)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    loader = DataLoader(TensorDataset(inputs, targets), batch_size=len(inputs))
    words: dict[str, Any] = {"grad_sample_mode": mode}
    if mode == "ghost":
        words["criterion"] = torch.nn.CrossEntropyLoss()
    net, optimizer, *rest = opacus.PrivacyEngine().make_private(
        module=net,
        optimizer=optimizer,
        data_loader=loader,
        noise_multiplier=1.0,
        max_grad_norm=1.0,
        poisson_sampling=False,
        **words,
    )
    criterion = rest[0] if mode == "ghost" else loss

    def step() -> None:
        optimizer.zero_grad()
        criterion(net(inputs), targets).backward()
        optimizer.step()

    return step


def answer(model: str, mode: str, metric: str) -> float | str | None:
    try:
        step = stepping(model, mode)
        if metric == "memory":
            for _ in range(3):
                step()
            return peak()
        began = time.process_time()
        step()
        return time.process_time() - began
    except Exception as error:  # a mode that does not take this model
        return f"{type(error).__name__}: {error}"[:200]


if __name__ == "__main__":
    serve(answer)
