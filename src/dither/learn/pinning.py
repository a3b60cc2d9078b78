"""The parts of a run that are fixed when it is charged, so that the process that
resumes it runs the same: noise of each step, sampling, clipping, model, and data as
declared.

The book has the hash, and a checkpoint has the text.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

import torch
from torch import Tensor, nn

from dither.errors import ArgumentError
from dither.learn.clipping import Adapting
from dither.learn.gradients.oracle import trained
from dither.learn.planning import Plan, way_of
from dither.learn.schedules import factors_of
from dither.learn.settings import Settings
from dither.learn.source import Source
from dither.learn.validation import Validation
from dither.ledger import Pinned
from dither.ledger.entry import canonical
from dither.ledger.wire import relation_of

__all__ = ["Pins", "check_same", "fingerprint", "noises_in", "pinned", "texts_of"]

ADDRESS = re.compile(" at 0x[0-9a-f]+")
"""Address of an object in memory: different in each process."""
NAMES = {"cost": "epsilon", "schedule": "noise_schedule", "unit": "budget"}
"""Arguments that are named otherwise than what is pinned down."""
Pins = dict[str, Any]


def pinned(texts: Pins) -> Pinned:
    """The note of a run in the book."""
    steps = sum(count for _, count in texts["noises"])
    return Pinned(steps, _hash(canonical(texts)))


def texts_of(
    model: nn.Module,
    source: Source,
    held: Source | None,
    settings: Settings,
    plan: Plan,
    radius: Adapting,
) -> Pins:
    """All that is pinned down. What is not (optimizer, learning rate, loss) is applied
    to noisy sums only, or clipped.
    """
    way, amount = way_of(settings.cost)
    factors = factors_of(settings.noise_schedule, plan.steps)
    unit = plan.question.unit
    return {
        "model": fingerprint(model),
        "data": _hash(source.words),
        "units": plan.units,
        "batch": plan.batch,
        "epochs": plan.epochs,
        "rows": plan.rows,
        "unit": f"{unit.name}, {relation_of(unit)}",
        "validation": _measured(plan.validation, held),
        "clip": repr(radius.rule or radius.clipping),
        "cost": f"{way} = {float(amount)!r}",
        "schedule": _hash(canonical(_runs(factors))),
        "rate": plan.run.rate,
        "noises": _runs(plan.noises),
    }


def _measured(asked: Validation | None, held: Source | None) -> str:
    """Measurements on held-out records, which the charge pays for."""
    if asked is None or held is None:
        return ""
    return f"{asked}, {asked.bound!r}, {asked.noise!r}, {_hash(held.words)}"


def check_same(held: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Refuse to resume another run than the one that was paid for."""
    for name, one in now.items():
        if held.get(name) == one:
            continue
        argument = NAMES.get(name, name)
        words = "must be the same as in the run of the checkpoint"
        if name in ("units", "batch", "epochs", "rows", "clip", "cost"):
            words += f" ({held.get(name)!s:.60})"
        raise ArgumentError(
            argument,
            f"{words}; pass what the run began with, or leave resume out to start a "
            "new run with a new charge",
        )


def noises_in(texts: Mapping[str, Any]) -> tuple[float, ...]:
    """The noise of each step."""
    return tuple(noise for noise, count in texts["noises"] for _ in range(count))


def fingerprint(model: nn.Module) -> str:
    """What tells a model from others: its layers, the shapes of what is trained, and
    all that is not trained.
    """
    found = hashlib.sha256(ADDRESS.sub("", repr(model)).encode())
    learned = trained(model)
    for name, one in (*model.named_parameters(), *model.named_buffers()):
        found.update(f"{name} {tuple(one.shape)} {one.dtype};".encode())
        if name not in learned:
            found.update(_bytes(one))
    return found.hexdigest()


def _bytes(tensor: Tensor) -> bytes:
    held = tensor.detach().cpu().contiguous().view(-1)
    return held.view(torch.uint8).numpy().tobytes()


def _runs(numbers: Iterable[float]) -> list[list[float | int]]:
    """Equal numbers in a row, counted."""
    return [[one, len(list(group))] for one, group in groupby(numbers)]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
