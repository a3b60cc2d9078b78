"""What models do that no ordinary one does: rows that meet, shapes that follow values,
draws and gradients of their own.
"""

from __future__ import annotations

import random  # allowed: a model decides by it
from typing import Any

import torch
from torch import Tensor, nn

from tests.learn.zoo.made import ALONE, REFUSED, Built, Model, ids, kept, reals

__all__ = ["TRICKS"]

trick = kept("tricks")
numbers, words = reals(6), ids(6)
DATA = "values of a row decide what is done, or a shape"


def normed() -> nn.Module:
    return nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))


def centred(m: Any, x: Tensor) -> Any:
    return m.line(x - x.mean(0))


def contrasted(m: Any, x: Tensor) -> Any:
    """How alike each row is to all others."""
    found = nn.functional.normalize(m.body(x), dim=-1)
    return m.out(torch.softmax(found @ found.T, -1) @ found)


def imputed(m: Any, x: Tensor) -> Any:
    """What is missing, written as -1, is the mean of the batch."""
    missing = x == -1
    mean = (x * ~missing).sum(0) / (~missing).sum(0).clamp_min(1)
    return m.line(torch.where(missing, mean, x))


def selected(m: Any, x: Tensor) -> Any:
    """Only words that are there are computed."""
    there = x != 0
    seen = m.words(x)
    found = torch.tanh(m.inner(seen[there]))
    spread = torch.zeros_like(seen).masked_scatter(there[..., None], found)
    return m.out(spread.sum(1))


def routed(m: Any, x: Tensor) -> Any:
    """Each expert computes the rows that chose it."""
    best = m.gate(x).softmax(-1).max(-1)
    found = torch.zeros(len(x), 3)
    for place, one in enumerate(m.experts):
        own = torch.nonzero(best.indices == place).flatten()
        found = found.index_add(0, own, one(x[own]) * best.values[own, None])
    return found


def routed_model() -> nn.Module:
    experts = nn.ModuleList(nn.Linear(6, 3) for _ in range(3))
    return Built(routed, gate=nn.Linear(6, 3), experts=experts)


def dropped(m: Any, x: Tensor) -> Any:
    """A layer that Python's generator leaves out."""
    seen = m.first(x)
    if not m.training or random.random() < 0.5:
        seen = seen + torch.relu(m.second(seen))
    return m.out(seen)


class Reversed(torch.autograd.Function):
    """Gradients with their sign turned, for adversarial domains."""

    @staticmethod
    def forward(_: Any, inputs: Tensor) -> Tensor:
        return inputs.clone()

    @staticmethod
    def backward(_: Any, gradient: Tensor) -> Tensor:
        return -gradient


def adversarial(m: Any, x: Tensor) -> Any:
    seen = torch.relu(m.body(x))
    return m.out(seen) + m.domain(Reversed.apply(seen))  # type: ignore[no-untyped-call]


def dropped_model() -> nn.Module:
    first, second = nn.Linear(6, 6), nn.Linear(6, 6)
    return Built(dropped, first=first, second=second, out=nn.Linear(6, 3))


TRICKS: tuple[Model, ...] = (
    trick(
        "BatchNorm in training mode",
        make=normed,
        inputs=numbers,
        expected=REFUSED,
        reason="the layer '1' (BatchNorm1d) mixes the rows of a batch",
    ),
    trick(
        "The mean of the batch taken off",
        make=lambda: Built(centred, line=nn.Linear(6, 3)),
        inputs=numbers,
        expected=REFUSED,
        reason="mixes the rows of a batch",
    ),
    trick(
        "Attention between the rows of a batch",
        make=lambda: Built(contrasted, body=nn.Linear(6, 4), out=nn.Linear(4, 3)),
        inputs=numbers,
        expected=REFUSED,
        reason="mixes the rows of a batch",
    ),
    trick(
        "Missing values, written as -1, replaced by the mean of the batch",
        make=lambda: Built(imputed, line=nn.Linear(6, 3)),
        inputs=numbers,
        note="no made-up row holds -1, so it is not noticed; the mean of one row alone "
        "is used",
    ),
    trick(
        "Words chosen by a mask, x[mask]",
        make=lambda: Built(
            selected,
            words=nn.Embedding(11, 4),
            inner=nn.Linear(4, 4),
            out=nn.Linear(4, 3),
        ),
        inputs=words,
        expected=ALONE,
        reason=DATA,
    ),
    trick(
        "Mixture of experts that routes by nonzero",
        make=routed_model,
        inputs=numbers,
        expected=ALONE,
        reason=DATA,
    ),
    trick(
        "A layer left out by Python's random",
        make=dropped_model,
        inputs=numbers,
        expected=ALONE,
        reason="a model that draws by Python or NumPy",
        draws=True,
    ),
    trick(
        "A gradient of one's own (autograd.Function)",
        make=lambda: Built(
            adversarial,
            body=nn.Linear(6, 8),
            out=nn.Linear(8, 3),
            domain=nn.Linear(8, 3),
        ),
        inputs=numbers,
        expected=ALONE,
        reason="the autograd function Reversed",
    ),
)
