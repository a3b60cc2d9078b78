"""Parquet files with columns in their bare form: numbers for times, bytes for strings.

DuckDB stops at a file as a whole where a time does not fit its own (milliseconds beyond
the year 294,247) or an id is not UTF-8. Read as numbers and bytes, such values can be
left out one by one. The last part of a file, its footer, says what a column stands for;
a copy of the file with another footer says that it stands for nothing.

The footer is a struct of Thrift's compact protocol (parquet.thrift, FileMetaData). Only
its list of columns is written again; all else keeps its bytes.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["bare_copy"]

MAGIC = b"PAR1"
SCHEMA = 2
NAME, CHILDREN, CONVERTED, LOGICAL = 4, 5, 6, 10
"""Fields of a column: its name, how many columns it holds, and the two ways to say what
its values stand for.
"""
STOP, BYTE, DOUBLE, BINARY, LIST, SET, MAP, STRUCT, UUID = 0, 3, 7, 8, 9, 10, 11, 12, 13
WIDTHS = {1: 0, 2: 0, BYTE: 1, DOUBLE: 8, UUID: 16}
LONG_LIST = 15


def bare_copy(source: Path, target: Path, columns: Collection[str]) -> None:
    """A copy of a Parquet file in which some columns of the topmost level have no
    meaning.
    """
    shutil.copyfile(source, target)
    with target.open("r+b") as file:
        file.seek(-8, 2)
        length = int.from_bytes(file.read(4), "little")
        file.seek(-8 - length, 2)
        footer = bared(file.read(length), columns)
        file.seek(-8 - length, 2)
        file.truncate()
        file.write(footer + len(footer).to_bytes(4, "little") + MAGIC)


@dataclass(frozen=True)
class Field:
    """A field of a struct: its number, its type, and where its value lies."""

    id: int
    type: int
    start: int
    end: int


def bared(footer: bytes, columns: Collection[str]) -> bytes:
    """A footer in which some columns have lost their meaning."""
    schema = next(field for field in _struct(footer, 0) if field.id == SCHEMA)
    count, place = _list(footer, schema.start)[:2]
    elements = []
    for _ in range(count):
        fields = list(_struct(footer, place))
        elements.append(fields)
        place = (fields[-1].end if fields else place) + 1
    top = _topmost(footer, elements)
    parts = [
        _written(
            footer,
            [one for one in fields if not (bare and one.id in (CONVERTED, LOGICAL))],
        )
        for fields, bare in (
            (fields, top.get(i) in columns) for i, fields in enumerate(elements)
        )
    ]
    begin = _list(footer, schema.start)[1]
    return footer[:begin] + b"".join(parts) + footer[place:]


def _topmost(footer: bytes, elements: list[list[Field]]) -> dict[int, str]:
    """The columns that are parts of no other one, by their place in the list, in which
    parts follow their whole.
    """
    found, place = {}, 1
    while place < len(elements):
        name = next(field for field in elements[place] if field.id == NAME)
        length, start = _varint(footer, name.start)
        found[place] = footer[start : start + length].decode("utf-8", "replace")
        place = _behind(footer, elements, place)
    return found


def _behind(footer: bytes, elements: list[list[Field]], place: int) -> int:
    children = [
        _varint(footer, field.start)[0] // 2
        for field in elements[place]
        if field.id == CHILDREN
    ]
    place += 1
    for _ in range(children[0] if children else 0):
        place = _behind(footer, elements, place)
    return place


def _varint(data: bytes, place: int) -> tuple[int, int]:
    """A number and the place behind it."""
    value = shift = 0
    while True:
        byte = data[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return value, place


def _struct(data: bytes, place: int) -> Iterator[Field]:
    """The fields of a struct."""
    id = 0
    while data[place]:
        delta, type_ = divmod(data[place], 16)
        place += 1
        if delta:
            id += delta
        else:
            written, place = _varint(data, place)
            id = (written >> 1) ^ -(written & 1)
        end = _end(data, place, type_)
        yield Field(id, type_, place, end)
        place = end


def _list(data: bytes, place: int) -> tuple[int, int, int]:
    """Number of items in a list, where they begin, and their type."""
    count, type_ = divmod(data[place], 16)
    if count == LONG_LIST:
        count, place = _varint(data, place + 1)
        return count, place, type_
    return count, place + 1, type_


def _end(data: bytes, place: int, type_: int) -> int:
    """End of a value."""
    if type_ in WIDTHS:
        return place + WIDTHS[type_]
    if type_ == BINARY:
        length, place = _varint(data, place)
        return place + length
    if type_ in (LIST, SET):
        count, place, item = _list(data, place)
        for _ in range(count):
            place = _item_end(data, place, item)
        return place
    if type_ == MAP:
        return _map_end(data, place)
    if type_ == STRUCT:
        for field in _struct(data, place):
            place = field.end
        return place + 1
    return _varint(data, place)[1]


def _item_end(data: bytes, place: int, type_: int) -> int:
    # In a list, a truth is a byte
    return place + 1 if type_ in (1, 2) else _end(data, place, type_)


def _map_end(data: bytes, place: int) -> int:
    count, place = _varint(data, place)
    if not count:
        return place
    key, value = divmod(data[place], 16)
    place += 1
    for _ in range(count):
        place = _item_end(data, _item_end(data, place, key), value)
    return place


def _written(data: bytes, fields: list[Field]) -> bytes:
    """A struct of some fields, in rising order of their numbers."""
    parts, last = [], 0
    for field in fields:
        parts.append(
            bytes([(field.id - last) << 4 | field.type]) + data[field.start : field.end]
        )
        last = field.id
    return b"".join(parts) + bytes([STOP])
