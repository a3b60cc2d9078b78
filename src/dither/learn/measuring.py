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
from dither.learn.failures import FAILED
from dither.learn.gradients.oracle import Inputs
from dither.learn.history import Tested
from dither.learn.names import is_frame
from dither.learn.probe import Probed
from dither.learn.records import source_of
from dither.learn.schema import arranged, plain, plain_targets, real
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
    """The measures of a run on public test data."""

    @property
    def public(self) -> Any: ...

    @property
    def loss(self) -> Any: ...


def tested_on(
    settings: Measured, model: nn.Module, source: Source, probed: Probed | None
) -> Tested | None:
    """Public test data, tried with the model; `probed` is None if the run does not know
    what rows are.
    """
    if settings.public is None:
        return None
    device = next(model.parameters()).device
    try:
        inputs, targets = _public(settings.public, source)
        if probed is not None:
            _check_targets(targets, source, probed)
        found = Tested(
            tree_map(methodcaller("to", device), inputs),
            targets.to(device),
            settings.loss,
        )
        found.measure(model)
    except FAILED as error:
        schema, rows = source.schema, ""
        if probed is not None:
            rows = (
                f" with rows of {schema.words} and {schema.target}, or a frame of the "
                "same columns"
            )
        raise ArgumentError(
            "public",
            f"cannot be used as test data ({error!s:.120}); pass (inputs, targets){rows}",
        ) from None
    return found


def _check_targets(targets: Tensor, source: Source, probed: Probed) -> None:
    """Public labels may be looked at: one that is not a class has neither loss nor
    score. Reals of another shape would be spread over the outputs.
    """
    if probed.classes is None:
        if targets.shape[1:] != source.schema.target.shape:
            raise ValueError(f"targets have rows of shape {tuple(targets.shape[1:])}")
        return
    if targets.is_floating_point():
        raise ValueError("labels are floats, but must be whole numbers")
    odd = (targets != IGNORED) & ((targets < 0) | (targets >= probed.classes))
    if bool(odd.any()):
        label = int(targets[odd][0])
        raise ValueError(f"label {label} is not one of {probed.classes:,} classes")


def _public(data: Any, source: Source) -> tuple[Inputs, Tensor]:
    """Test data as tensors: a pair of them, or a frame that is read as the records are."""
    if source.reading is None or not is_frame(data):
        inputs, targets = data
        return _as_run(source, arranged(inputs, plain), plain_targets(targets))
    rows = source.reading.rows(data)
    found = rows.take(np.flatnonzero(rows.there.numpy()))
    return _as_run(source, found.inputs, found.targets)


def _as_run(source: Source, inputs: Inputs, targets: Tensor) -> tuple[Inputs, Tensor]:
    """Real numbers in the type that the run has."""
    kind = source.real_type
    return tree_map(lambda one: real(one, kind), inputs), real(targets, kind)


def held_source(settings: Settings, source: Source, probed: Probed) -> Source | None:
    """How held-out records are read, if they are others than those of the run."""
    asked = settings.validation
    if asked is None:
        return None
    if asked.bound is None and probed.classes is None:
        raise ArgumentError(
            "validation",
            "needs a bound, because the targets are not classes and only a loss can be "
            "measured; pass Validation(…, bound=5.0) to clip losses to this bound",
        )
    if asked.part is not None:
        return None
    if source.dataset is not None or isinstance(asked.data, Dataset):
        raise ArgumentError(
            "validation",
            "must be a part of the units if the data is an opened dataset; pass "
            "Validation(0.2, noise=20)",
        )
    named = settings.owner if isinstance(settings.owner, str) else None
    whose = named if asked.owner is None else asked.owner
    found = run_source(asked.data, whose, settings).real(source.real_type)
    same = (found.schema, found.owned, found.owner)
    if same != (source.schema, source.owned, source.owner):
        raise ArgumentError(
            "validation",
            f"must have rows of {source.schema.words} and {source.schema.target}, as "
            "the run has; pass records of this form, with the same kind of owner",
        )
    return found
