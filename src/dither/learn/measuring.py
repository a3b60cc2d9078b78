"""Records that measure a run: public test data, and private held-out records. Both are
looked at by type and shape before the charge.
"""

from __future__ import annotations

from operator import methodcaller
from typing import Any, Protocol

import numpy as np
from torch import Tensor, nn
from torch.utils._pytree import tree_map

from dither.dataset import Dataset
from dither.errors import ArgumentError
from dither.learn.gradients.oracle import Inputs
from dither.learn.history import Tested
from dither.learn.names import is_frame
from dither.learn.probe import Probed
from dither.learn.records import source_of
from dither.learn.schema import arranged, plain
from dither.learn.settings import Settings
from dither.learn.source import Source
from dither.learn.targets import IGNORED

__all__ = ["held_source", "run_source", "tested_on"]


def run_source(data: Any, owner: Any, settings: Settings) -> Source:
    """How records are read as the run's arguments say."""
    return source_of(
        data,
        inputs=settings.inputs,
        target=settings.target,
        owner=owner,
        classes=settings.classes,
        table=settings.table,
        collate_fn=settings.collate_fn,
        example=settings.example,
    )


class Measured(Protocol):
    """What a run says about public test data."""

    @property
    def public(self) -> Any: ...

    @property
    def loss(self) -> Any: ...


def tested_on(
    settings: Measured, model: nn.Module, source: Source, probed: Probed
) -> Tested | None:
    if settings.public is None:
        return None
    device = next(model.parameters()).device
    try:
        inputs, targets = _public(settings.public, source)
        _check_targets(targets, source, probed)
        found = Tested(
            tree_map(methodcaller("to", device), inputs),
            targets.to(device),
            settings.loss,
        )
        found.measure(model)
    except Exception as error:
        schema = source.schema
        raise ArgumentError(
            "public",
            f"cannot be tested on ({error!s:.120}); pass (inputs, targets) with rows of "
            f"{schema.words} and {schema.target}, or a frame of the same columns",
        ) from None
    return found


def _check_targets(targets: Tensor, source: Source, probed: Probed) -> None:
    """Public labels may be looked at: one that is no class has neither loss nor score.
    Reals of another shape would be spread over the outputs.
    """
    if probed.classes is None:
        if targets.shape[1:] != source.schema.target.shape:
            raise ValueError(f"targets have rows of shape {tuple(targets.shape[1:])}")
        return
    if targets.is_floating_point():
        raise ValueError("labels are reals, and must be whole numbers")
    odd = (targets != IGNORED) & ((targets < 0) | (targets >= probed.classes))
    if bool(odd.any()):
        label = int(targets[odd][0])
        raise ValueError(f"label {label} is none of {probed.classes:,} classes")


def _public(data: Any, source: Source) -> tuple[Inputs, Tensor]:
    """Test data as tensors: a pair of them, or a frame that is read as the records are."""
    if source.reading is None or not is_frame(data):
        inputs, targets = data
        return arranged(inputs, plain), plain(targets)
    rows = source.reading.rows(data)
    found = rows.take(np.flatnonzero(rows.there.numpy()))
    return found.inputs, found.targets


def held_source(settings: Settings, source: Source, probed: Probed) -> Source | None:
    """How held-out records are read, if they are others than those of the run."""
    asked = settings.validation
    if asked is None:
        return None
    if asked.bound is None and probed.classes is None:
        raise ArgumentError(
            "validation",
            "counts what is right, and targets are no classes; pass Validation(…, "
            "bound=5.0), and the loss is measured, clipped to it",
        )
    if asked.part is not None:
        return None
    if source.dataset is not None or isinstance(asked.data, Dataset):
        raise ArgumentError(
            "validation",
            "of an opened dataset is a part of its units; pass Validation(0.2, noise=20)",
        )
    named = settings.owner if isinstance(settings.owner, str) else None
    found = run_source(
        asked.data, named if asked.owner is None else asked.owner, settings
    )
    same = (found.schema, found.owned, found.owner)
    if same != (source.schema, source.owned, source.owner):
        raise ArgumentError(
            "validation",
            f"must have rows of {source.schema.words} and {source.schema.target}, owned "
            "as those of the run are",
        )
    return found
