"""Columns of frames and of opened datasets as records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from itertools import groupby
from operator import itemgetter
from typing import Any

import torch

from dither.dataset import Dataset
from dither.ids import StoredIds
from dither.learn.columns import (
    Column,
    Columns,
    declared,
    declared_target,
    stated,
    target_of,
)
from dither.learn.names import (
    EACH_ROW,
    check_apart,
    column_in,
    facts_of,
    ids_of,
    listed,
    named,
    table_of,
)
from dither.learn.reading import Reading
from dither.learn.schema import Field, Schema
from dither.learn.source import Read, Source
from dither.ledger import Receipt

__all__ = ["frame_source", "opened_source", "unread"]

OTHERWISE = (
    'or a dict of how each is read, such as {"age": (0, 110), "sex": ["F", "M"]}'
)
FEW = 3
"""More neighbouring columns than this, read alike, are not named one by one."""


def frame_source(
    data: Any, inputs: Any, target: Any, owner: Any, classes: Sequence[Any] | None
) -> Source:
    names = listed(inputs, OTHERWISE)
    wanted = [*names, named(target)]
    for name in names:
        column_in(data, "inputs", name)
    column_in(data, "target", target)
    check_apart(names, target)
    how = [stated(name, _how(inputs, name)) for name in names]
    columns = Columns(tuple(how), target_of(classes))
    reading = Reading(tuple(names), target, columns)
    ids = ids_of(data, owner)
    column = owner if isinstance(owner, str) and owner != EACH_ROW else None
    owned = column is not None or not isinstance(owner, str)
    return Source(
        columns.schema,
        lambda _: (reading.rows(data), ids()),
        owned,
        column,
        notes=_notes(names, how),
        reading=reading,
        columns=_in_full(wanted, columns),
    )


def _notes(names: Sequence[str], how: Sequence[Any]) -> tuple[str, ...]:
    """How each column is read: a text among numbers has none, which nobody may be told
    after the rows were read.
    """
    pairs = zip(map(str, how), names, strict=True)
    alike = groupby(pairs, key=itemgetter(0))
    said = (_read_as(one, [name for _, name in few]) for one, few in alike)
    return (f"inputs: {', '.join(said)}",)


def _in_full(names: Sequence[str], columns: Columns) -> tuple[str, ...]:
    """Every column, and how it is read, to tell two runs apart."""
    how = map(_stated, (*columns.inputs, columns.target))
    return tuple(f"{name}: {one}" for name, one in zip(names, how, strict=True))


def _stated(one: Column) -> str:
    """The declared parts, without anything that an object came to hold by being used."""
    held = {each.name: getattr(one, each.name) for each in fields(one)}
    return f"{type(one).__name__} {held}"


def _read_as(how: str, names: list[str]) -> str:
    """Neighbours that are read alike, in few words: pixels may be hundreds."""
    if len(names) > FEW:
        return f"{len(names):,} columns from {names[0]} to {names[-1]}, each as {how}"
    return ", ".join(f"{name} as {how}" for name in names)


def unread(data: Dataset, table: str | None) -> Source:
    """A dataset of which nothing is read: enough to say what a run costs."""
    nothing = Schema(Field((), torch.float32), Field((), torch.float32))

    def read(_: Receipt | None) -> Read:
        raise AssertionError("nothing is read for a preview")

    return Source(nothing, read, not data.single, None, data, table)


def opened_source(
    data: Dataset, inputs: Any, target: Any, owner: Any, table: str | None
) -> Source:
    """A dataset knows its unit, and what is public about its columns."""
    table = table_of(data, owner, table)
    names = listed(inputs, OTHERWISE)
    wanted = [*names, named(target)]
    facts = [facts_of(data, name, table) for name in wanted]
    pairs = zip(names, facts, strict=False)
    how = [declared(one, _how(inputs, name)) for name, one in pairs]
    columns = Columns(tuple(how), declared_target(facts[-1]))
    fetched = [one.column for one in facts]
    check_apart(fetched[:-1], fetched[-1])
    reading = Reading(tuple(fetched[:-1]), fetched[-1], columns)

    def read(receipt: Receipt | None) -> Read:
        found = data.fetch(list(dict.fromkeys(fetched)), table=table, receipt=receipt)
        rows = columns.rows([found.columns[name] for name in fetched])
        return rows, None if found.owners is None else StoredIds(found.owners)

    return Source(
        columns.schema,
        read,
        not data.single,
        None,
        data,
        table,
        _notes(names, how),
        reading,
        _in_full(wanted, columns),
    )


def _how(inputs: Any, name: str) -> Any:
    return inputs[name] if isinstance(inputs, Mapping) else None
