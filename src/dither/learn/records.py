"""Records as people hold them: tensors, arrays, frames, a `Dataset` of PyTorch, an opened
dataset. What is looked at here is public: types, shapes, declared names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor
from torch.utils._pytree import tree_map
from torch.utils.data import DataLoader, IterableDataset, TensorDataset, default_collate
from torch.utils.data import Dataset as TorchDataset

from dither.dataset import Dataset
from dither.errors import ArgumentError
from dither.learn.names import EACH_ROW, ids_of, is_frame
from dither.learn.rows import Samples, Tensors
from dither.learn.schema import Schema, arranged, plain, plain_targets
from dither.learn.source import Read, Source
from dither.learn.tables import frame_source, opened_source
from dither.ledger import Receipt

__all__ = ["source_of"]

Collate = Callable[[list[Any]], Any]
WAY_OUT = (
    "pass a pair (inputs, targets) of tensors or arrays, a frame with inputs= and "
    "target=, a map-style Dataset of PyTorch, or a dataset that dither.open returned"
)
NUMBERS = (
    "pass a tensor or an array of numbers, such as np.asarray(values, dtype=float) with "
    "NaN for missing values (several inputs as a tuple or a dict of them)"
)


def source_of(
    data: Any,
    *,
    inputs: Any = None,
    target: Any = None,
    owner: Any = None,
    classes: Sequence[Any] | None = None,
    table: str | None = None,
    collate_fn: Collate | None = None,
    example: Any = None,
) -> Source:
    """How to read records, by their type."""
    if isinstance(data, Dataset):
        _leave_out(collate_fn=collate_fn, classes=classes, example=example)
        return opened_source(data, inputs, target, owner, table)
    _leave_out(table=table)
    if is_frame(data):
        _leave_out(collate_fn=collate_fn, example=example)
        return frame_source(data, inputs, target, owner, classes)
    _leave_out(inputs=inputs, target=target, classes=classes)
    if isinstance(data, TensorDataset) and collate_fn is None:
        *first, last = data.tensors
        data = (first[0] if len(first) == 1 else tuple(first), last)
    if isinstance(data, tuple | list) and len(data) == 2:
        _leave_out(collate_fn=collate_fn, example=example)
        return _tensors(data[0], data[1], owner)
    return _samples(data, owner, collate_fn or default_collate, example)


def _leave_out(**arguments: Any) -> None:
    for name, value in arguments.items():
        if value is not None:
            raise ArgumentError(
                name, "cannot be used with data of this type; leave it out"
            )


def _tensors(inputs: Any, targets: Any, owner: Any) -> Source:
    held = _arranged(inputs), _numbers("targets", targets)
    try:
        schema = Schema.of(tree_map(_first_none, held[0]), plain_targets(held[1][:0]))
    except TypeError:
        raise ArgumentError(
            "data",
            f"has numbers of a type that PyTorch does not support; {NUMBERS}",
        ) from None
    ids = ids_of(None, owner)

    def read(_: Receipt | None) -> Read:
        return Tensors.of(tree_map(plain, held[0]), plain_targets(held[1])), ids()

    return Source(schema, read, owner != EACH_ROW if isinstance(owner, str) else True)


def _first_none(values: Any) -> Tensor:
    """Of the right shape and type, without any row."""
    return plain(values[:0])


def _arranged(inputs: Any) -> Any:
    named = isinstance(inputs, Mapping)
    if named and not (inputs and all(isinstance(one, str) for one in inputs)):
        raise ArgumentError(
            "data",
            "the keys of a dict of inputs must be the names of the model's arguments; "
            'pass one such as {"image": images}',
        )
    return arranged(inputs, partial(_numbers, "inputs"))


def _numbers(argument: str, values: Any) -> Tensor | NDArray[Any]:
    """What its type says is a tensor of numbers. An array of objects says nothing, and
    its values are not looked at before the charge.
    """
    tensor = isinstance(values, Tensor)
    array = isinstance(values, np.ndarray) and not np.ma.isMaskedArray(values)
    if not (tensor or (array and values.dtype.kind in "biuf")) or values.ndim < 1:
        kind = f"{values.dtype} array" if array else type(values).__name__
        raise ArgumentError(
            "data", f"the {argument} must have a numeric type, not {kind!r}; {NUMBERS}"
        )
    if tensor and (values.is_sparse or values.dtype.is_complex):
        raise ArgumentError("data", f"the {argument} must be dense and real; {NUMBERS}")
    found: Tensor | NDArray[Any] = values
    return found


def _samples(data: Any, owner: Any, collate: Collate, example: Any) -> Source:
    """A map-style dataset. A made-up example says what shape a row has: any row of the
    dataset is somebody's.
    """
    if isinstance(data, DataLoader):
        raise ArgumentError(
            "data",
            "cannot be a DataLoader, because training draws its own batches; pass the "
            "loader's .dataset (and its collate_fn)",
        )
    mapped = hasattr(data, "__getitem__") and hasattr(data, "__len__")
    foreign = isinstance(data, IterableDataset) or not isinstance(data, TorchDataset)
    if foreign or not mapped:
        raise ArgumentError(
            "data", f"cannot be of type {type(data).__name__}; {WAY_OUT}"
        )
    schema = _schema(example, collate)
    ids = ids_of(None, owner)

    def read(_: Receipt | None) -> Read:
        return Samples(data, collate, schema), ids()

    return Source(schema, read, owner != EACH_ROW if isinstance(owner, str) else True)


def _schema(example: Any, collate: Collate) -> Schema:
    way_out = "pass a made-up row of the dataset, such as (torch.zeros(4), 0)"
    if example is None:
        raise ArgumentError(
            "example",
            f"is missing for a Dataset of PyTorch, whose rows are private; {way_out}",
        )
    try:
        inputs, target = collate([example])
        found = Schema.of(arranged(inputs, plain), plain_targets(target))
        found.blank(1)
    except Exception:
        raise ArgumentError(
            "example", f"must collate into a pair (inputs, target); {way_out}"
        ) from None
    return found
