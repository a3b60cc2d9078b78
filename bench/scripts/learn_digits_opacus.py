"""Opacus 1.6 on digits: accuracy of one model on one split with one noise."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

from bench.scripts.learn_digits import MODELS, Setting, split
from bench.scripts.loop import serve

opacus: Any = import_module("opacus")
warnings.filterwarnings("ignore")
torch.set_num_threads(1)


class Rows(TensorDataset):
    """Rows that are taken all at once: one by one they cost most of the time."""

    def __getitems__(self, numbers: list[int]) -> tuple[Tensor, ...]:
        found: tuple[Tensor, ...] = self[numbers]
        return found


def _as_taken(rows: Any) -> Any:
    return rows


def answer(number: int, noise: float, setting: dict[str, Any]) -> float:
    torch.manual_seed(number)  # allowed: the peer's own generator
    how = Setting(**setting)
    inputs, targets, tested, wanted = split(number)
    net: nn.Module = MODELS[how.model]()
    batch = -(-len(inputs) // how.parts)
    rows = Rows(inputs, targets)
    loader = DataLoader(rows, batch_size=batch, collate_fn=_as_taken)
    net, optimizer, loader = opacus.PrivacyEngine().make_private(
        module=net,
        optimizer=torch.optim.SGD(net.parameters(), lr=how.lr, momentum=how.momentum),
        data_loader=loader,
        noise_multiplier=noise,
        max_grad_norm=how.clip,
    )
    done, steps = 0, how.epochs * how.parts
    for _ in range(how.epochs):
        for some, labels in loader:
            if how.falling:
                optimizer.param_groups[0]["lr"] = how.lr * (1 - done / steps)
            optimizer.zero_grad()
            functional.cross_entropy(net(some), labels).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            done += 1
    assert done == steps
    with torch.no_grad():
        return float((net(tested).argmax(1) == wanted).float().mean())


if __name__ == "__main__":
    serve(answer)
