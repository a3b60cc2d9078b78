"""Records as people hold them: tensors, arrays, frames, a `Dataset` of PyTorch, an opened
dataset. What is looked at here is public: types, shapes, declared names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset, TensorDataset, default_collate
from torch.utils.data import Dataset as TorchDataset

from dither.dataset import Dataset
from dither.errors import ArgumentError
from dither.learn.columns import Columns, column_of
from dither.learn.rows import Rows, Samples, Schema, Tensors, plain
from dither.learn.sources import (
    EACH_ROW,
    column,
    facts_of,
    ids,
    is_frame,
    listed,
    named,
    owner_numbers,
    table_of,
)
from dither.ledger import Receipt

__all__ = ["EACH_ROW", "Source", "source_of", "unread"]

Collate = Callable[[list[Any]], Any]
Read = tuple[Rows, NDArray[np.int64] | None]
WAY_OUT = (
    "pass a pair (inputs, targets) of tensors or arrays, a frame with inputs= and "
    "target=, a map-style Dataset of PyTorch, or a dataset that dither.open returned"
)


@dataclass(frozen=True)
class Source:
    """Where rows come from. `read` is called after the charge, with its receipt."""

    schema: Schema
    read: Callable[[Receipt | None], Read]
    owned: bool
    owner: str | None = None
    dataset: Dataset | None = None
    table: str | None = None
    notes: tuple[str, ...] = ()


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
        return _opened(data, inputs, target, owner, table)
    _leave_out(table=table)
    if is_frame(data):
        _leave_out(collate_fn=collate_fn, example=example)
        return _frame(data, inputs, target, owner, classes)
    _leave_out(inputs=inputs, target=target, classes=classes)
    if isinstance(data, TensorDataset) and collate_fn is None:
        data = data.tensors
    if isinstance(data, tuple | list) and len(data) == 2:
        _leave_out(collate_fn=collate_fn, example=example)
        return _tensors(data[0], data[1], owner)
    return _samples(data, owner, collate_fn or default_collate, example)


def _leave_out(**arguments: Any) -> None:
    for name, value in arguments.items():
        if value is not None:
            raise ArgumentError(name, "is not for data of this type; leave it out")


def _tensors(inputs: Any, targets: Any, owner: Any) -> Source:
    both = _numbers("inputs", inputs), _numbers("targets", targets)
    try:
        first, second = (plain(one[:0]) for one in both)
    except TypeError:
        raise ArgumentError(
            "data", f"has numbers unknown to PyTorch; {WAY_OUT}"
        ) from None
    shapes = tuple(first.shape[1:]), tuple(second.shape[1:])
    schema = Schema(shapes[0], first.dtype, shapes[1], second.dtype)
    owners = ids(None, owner)

    def read(_: Receipt | None) -> Read:
        return Tensors.of(*map(plain, both)), owners()

    return Source(schema, read, owner != EACH_ROW if isinstance(owner, str) else True)


def _numbers(argument: str, values: Any) -> Tensor | NDArray[Any]:
    tensor = isinstance(values, Tensor)
    array = isinstance(values, np.ndarray) and not np.ma.isMaskedArray(values)
    if not (tensor or (array and values.dtype.kind in "biuf")) or values.ndim < 1:
        raise ArgumentError(
            "data", f"{argument} must be a tensor of numbers; {WAY_OUT}"
        )
    if tensor and (values.is_sparse or values.dtype.is_complex):
        raise ArgumentError("data", f"{argument} must be dense and real; {WAY_OUT}")
    found: Tensor | NDArray[Any] = values
    return found


def _samples(data: Any, owner: Any, collate: Collate, example: Any) -> Source:
    """A map-style dataset. A made-up example says what shape a row has: any row of the
    dataset is somebody's.
    """
    if isinstance(data, DataLoader):
        raise ArgumentError(
            "data",
            "is a DataLoader, which would choose rows by itself; training draws its own "
            "batches, so pass the loader's .dataset (and collate_fn)",
        )
    mapped = hasattr(data, "__getitem__") and hasattr(data, "__len__")
    foreign = isinstance(data, IterableDataset) or not isinstance(data, TorchDataset)
    if foreign or not mapped:
        raise ArgumentError(
            "data", f"of type {type(data).__name__} is unknown; {WAY_OUT}"
        )
    schema = _schema(example, collate)
    owners = ids(None, owner)

    def read(_: Receipt | None) -> Read:
        return Samples(data, collate, schema), owners()

    return Source(schema, read, owner != EACH_ROW if isinstance(owner, str) else True)


def _schema(example: Any, collate: Collate) -> Schema:
    way_out = "pass a made-up row of the dataset, such as (torch.zeros(4), 0)"
    if example is None:
        raise ArgumentError("example", f"is missing for a Dataset; {way_out}")
    try:
        one, target = (plain(part) for part in collate([example]))
        shapes = tuple(one[0].shape), tuple(target[0].shape)
    except Exception:
        raise ArgumentError(
            "example", f"does not collate into (inputs, target); {way_out}"
        ) from None
    return Schema(shapes[0], one.dtype, shapes[1], target.dtype)


def _frame(
    data: Any, inputs: Any, target: Any, owner: Any, classes: Sequence[Any] | None
) -> Source:
    names = listed(inputs)
    for argument, name in (*(("inputs", one) for one in names), ("target", target)):
        column(data, argument, named(name))
    columns = Columns(
        tuple(column_of("inputs") for _ in names), column_of("classes", classes)
    )
    owners = ids(data, owner)

    def read(_: Receipt | None) -> Read:
        held = [column(data, "inputs", one) for one in names]
        return columns.rows([*held, column(data, "target", target)]), owners()

    by_column = owner if isinstance(owner, str) and owner != EACH_ROW else None
    owned = by_column is not None or not isinstance(owner, str)
    return Source(columns.schema, read, owned, by_column)


def unread(data: Dataset, table: str | None) -> Source:
    """A dataset of which nothing is read: enough to say what a run costs."""
    nothing = Schema((), torch.float32, (), torch.float32)

    def read(_: Receipt | None) -> Read:
        raise AssertionError("nothing is read for a preview")

    return Source(nothing, read, not data.single, None, data, table)


def _opened(
    data: Dataset, inputs: Any, target: Any, owner: Any, table: str | None
) -> Source:
    """A dataset knows its unit, and what is public about its columns."""
    table = table_of(data, owner, table)
    names = [*listed(inputs), named(target)]
    facts = [facts_of(data, name, table) for name in names]
    columns = Columns.declared(facts)
    wanted = [one.column for one in facts]

    def read(receipt: Receipt | None) -> Read:
        found = data.fetch(list(dict.fromkeys(wanted)), table=table, receipt=receipt)
        rows = columns.rows([found.columns[name] for name in wanted])
        return rows, owner_numbers(found.owners)

    notes = (
        "inputs: numbers from their declared bounds to 0 to 1, declared keys one by one",
    )
    owned = not data.single
    return Source(columns.schema, read, owned, None, data, table, notes)
