"""How a run reads columns, kept with the released model: new rows are read by the same
bounds, keys and words, and what the model says of them becomes labels again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map

from dither.errors import ArgumentError
from dither.learn.columns import Column, Columns, Keyed, Numeric, saved_key
from dither.learn.gradients.oracle import Inputs, called, real_type, scores_of
from dither.learn.history import evaluating
from dither.learn.made_up import guarded
from dither.learn.names import column_in
from dither.learn.rows import Tensors
from dither.learn.schema import real
from dither.learn.words import Words

__all__ = ["Reading"]

ROWS = "pass a frame, a dict of columns, or a list with one dict per row"


@dataclass(frozen=True)
class Reading:
    """The names of the columns to learn from and of the one to learn, and how each is
    read.
    """

    inputs: tuple[str, ...]
    target: str
    columns: Columns

    def rows(self, frame: Any) -> Tensors:
        """Inputs and targets; a row that cannot be read does not count."""
        wanted = (*self.inputs, self.target)
        return self.columns.rows([column_in(frame, "inputs", name) for name in wanted])

    def tensors(self, rows: Any) -> Inputs:
        """The inputs of new rows. A number that is missing, or infinite
        without bounds, is NaN."""
        held = _by_column(rows, self.inputs)
        columns = [_column(held, name) for name in self.inputs]
        if len({len(one) for one in columns}) > 1:
            raise ArgumentError("rows", f"must have columns of equal length; {ROWS}")
        return tree_map(_finite, self.columns.read(columns))

    def answers(self, model: nn.Module, rows: Any) -> list[Any]:
        """The prediction of a model for new rows: a declared class, or a number within
        the declared bounds' scale; None if a row cannot be read.
        """
        inputs = self.tensors(rows)
        weights = next(model.parameters(), None)
        if weights is not None:
            kind, device = real_type(model), weights.device
            inputs = tree_map(lambda one: real(one, kind).to(device), inputs)
        with evaluating(model), guarded(model), torch.no_grad():
            outputs = scores_of(called(model, inputs)).double().cpu()
        outputs = self._fitting(outputs)
        known = [one.cpu() for one in tree_leaves(inputs)] + [outputs]
        there = torch.stack([~one.isnan().any(1) for one in known]).all(0)
        pairs = zip(self._said(outputs), there.tolist(), strict=True)
        return [one if read else None for one, read in pairs]

    def _fitting(self, outputs: Tensor) -> Tensor:
        """One number for each class, or the one of a target."""
        count, width = len(outputs), self.columns.target.width
        if outputs.numel() != count * width:
            raise ArgumentError(
                "model",
                f"has outputs of shape {tuple(outputs.shape[1:])}, which do not fit a "
                f"target of size {width}; call .value on the result of .read, and "
                "interpret the outputs yourself",
            )
        return outputs.reshape(count, width)

    def _said(self, outputs: Tensor) -> list[Any]:
        target = self.columns.target
        if isinstance(target, Keyed):
            places: list[int] = outputs.argmax(1).tolist()
            return [target.keys[place] for place in places]
        low, high = target.bounds or (0.0, 1.0)
        values: list[float] = (low + outputs[:, 0] * (high - low)).tolist()
        return values

    @property
    def classes(self) -> int | None:
        """Number of classes of the target; None if it is a number."""
        target = self.columns.target
        return target.width if isinstance(target, Keyed) else None

    def saved(self) -> dict[str, Any]:
        """As a file holds it: lists, texts and numbers alone."""
        ways = [*self.columns.inputs, self.columns.target]
        return {
            "inputs": list(self.inputs),
            "target": self.target,
            "ways": [_saved(one) for one in ways],
        }

    @classmethod
    def loaded(cls, held: Mapping[str, Any]) -> Reading:
        *inputs, target = (_loaded(one) for one in held["ways"])
        assert not isinstance(target, Words)
        columns = Columns(tuple(inputs), target)
        return cls(tuple(held["inputs"]), held["target"], columns)


def _by_column(rows: Any, wanted: Sequence[str]) -> Any:
    """Rows as columns; a list of dicts has those that any row has."""
    if isinstance(rows, Sequence) and not isinstance(rows, str | bytes):
        if not all(isinstance(one, Mapping) for one in rows):
            raise ArgumentError(
                "rows", f"must be dicts if they are passed as a list; {ROWS}"
            )
        names = dict.fromkeys(name for one in rows for name in one) if rows else wanted
        return {name: [one.get(name) for one in rows] for name in names}
    if isinstance(rows, Mapping) or hasattr(rows, "columns"):
        return rows
    raise ArgumentError("rows", f"cannot be of type {type(rows).__name__}; {ROWS}")


def _column(held: Any, name: str) -> Any:
    found = column_in(held, "rows", name)
    if not hasattr(found, "__len__") or isinstance(found, str | bytes):
        raise ArgumentError("rows", f"{name!r} is a single value, not a column; {ROWS}")
    return found


def _finite(values: Tensor) -> Tensor:
    if not values.is_floating_point():
        return values
    return torch.where(values.isfinite(), values, torch.nan)


def _saved(way: Column) -> dict[str, Any]:
    if isinstance(way, Words):
        return {"words": list(way.vocabulary), "length": way.length}
    if isinstance(way, Keyed):
        return {"keys": [saved_key(one) for one in way.keys]}
    return {"bounds": way.bounds}


def _loaded(held: Mapping[str, Any]) -> Column:
    if "words" in held:
        return Words(held["words"], held["length"])
    if "keys" in held:
        return Keyed(tuple(held["keys"]))
    return Numeric(held["bounds"])
