"""A catalogue written as TOML: what `catalogue_file` reads."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict
from datetime import date
from typing import Any

from dither.privacy import Relation
from dither.query.catalogue.limits import Limits
from dither.query.catalogue.model import Catalogue, Field, Table
from dither.query.catalogue.values import value_at

__all__ = ["dump_catalogue", "key", "value"]

BARE = re.compile(r"[A-Za-z0-9_-]+")


def dump_catalogue(catalogue: Catalogue) -> str:
    """The text of a catalogue file. Read again, it gives an equal catalogue."""
    return (
        "\n".join(
            [
                *_top(catalogue),
                *(line for table in catalogue.tables for line in _table(table)),
            ]
        )
        + "\n"
    )


def value(item: Any) -> str:
    """A text, number, truth, date, time, list or inline table in TOML."""
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, str):
        return json.dumps(item, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(item, date):
        return item.isoformat()
    if isinstance(item, dict):
        return (
            f"{{ "
            f"{', '.join(f'{key(name)} = {value(one)}' for name, one in item.items())} "
            f"}}"
        )
    if isinstance(item, list | tuple):
        return f"[{', '.join(value(one) for one in item)}]"
    return repr(item)


def key(name: str) -> str:
    """A name on the left of an equals sign."""
    return name if BARE.fullmatch(name) else value(name)


def _lines(facts: dict[str, Any]) -> Iterator[str]:
    for name, fact in facts.items():
        if fact is not None and fact != "" and fact is not False:
            yield f"{key(name)} = {value(fact)}"


def _top(catalogue: Catalogue) -> Iterator[str]:
    replaced = catalogue.unit.relation is Relation.REPLACE
    facts = {
        "name": catalogue.name,
        "unit": catalogue.unit.name,
        "relation": "replace" if replaced else None,
        "given": catalogue.unit.given or None,
    }
    yield from _lines(facts)
    yield from _lines(
        {
            "population": catalogue.population,
            "version": catalogue.version,
            "book": catalogue.book,
        }
    )
    yield from _lines({"engine": catalogue.engine})
    parts: dict[str, dict[str, Any]] = {
        "budget": {"epsilon": catalogue.epsilon, "delta": catalogue.delta},
        "analysts": dict(catalogue.analysts),
        "policy": catalogue.policy.to_json(),
        "limits": {} if catalogue.limits == Limits() else asdict(catalogue.limits),
    }
    for name, part in parts.items():
        if part:
            yield from ("", f"[{name}]", *_lines(part))


def _table(table: Table) -> Iterator[str]:
    link = table.link and {
        "column": table.link.column,
        "to": f"{table.link.table}.{table.link.key}",
    }
    yield from ("", f"[tables.{key(table.name)}]")
    yield from _lines(
        {"source": table.source, "table": table.stored, "public": table.public}
    )
    yield from _lines({"owner": table.owner, "link": link, "rows": table.rows})
    if table.fields:
        yield from (
            "",
            f"[tables.{key(table.name)}.columns]",
            *_lines({one.name: _field(one) for one in table.fields}),
        )


def _field(field: Field) -> Any:
    facts: dict[str, Any] = {"type": field.type.value}
    for name, end in (("low", field.range.low), ("high", field.range.high)):
        if end is not None:
            facts[name] = value_at(end, field.type)
    if field.keys is not None:
        facts["keys"] = [one for one in field.keys if one is not None]
        facts |= {"null_key": True} if None in field.keys else {}
    if field.total is not None:
        facts["total"] = field.total
    if field.provenance:
        facts["by"] = field.provenance
    return facts if len(facts) > 1 else field.type.value
