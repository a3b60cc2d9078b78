"""Catalogue files: what they say, that they are written as they are read, and what is
wrong with the others.
"""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest

from dither.errors import ArgumentError
from dither.ledger import Policy
from dither.privacy import Unit
from dither.query.catalogue import file as catalogue_file
from dither.query.catalogue.file import KeysFrom, dump_catalogue, read_catalogue
from dither.query.catalogue.model import Field, Link
from dither.query.catalogue.types import Range, Type
from dither.query.catalogue.values import bounds_of
from dither.query.load import load_catalogue, parse_catalogue

SMALL = """
unit = "id"
[budget]
epsilon = 3
[tables.visits]
source = "visits.csv"
[tables.visits.columns]
id = "integer"
ward = { type = "text", keys = ["A", "B"] }
cost = { type = "integer", low = 0, high = 20000 }
"""


def changed(old: str, new: str) -> str:
    assert old in SMALL
    return SMALL.replace(old, new)


def test_a_small_one() -> None:
    found = parse_catalogue(SMALL, "clinic.toml")
    assert (found.name, found.unit, found.epsilon, found.delta, found.version) == (
        "clinic",
        Unit("id"),
        3,
        0,
        "1",
    )
    (table,) = found.tables
    assert (table.name, table.owner, table.source) == ("visits", "id", "visits.csv")
    assert table.fields == (
        Field("id", Type.INTEGER),
        Field("ward", Type.TEXT, keys=("A", "B")),
        Field("cost", Type.INTEGER, Range(0, 20000)),
    )


def test_the_one_in_the_documentation(tmp_path: Path) -> None:
    text = re.sub(
        "^    ",
        "",
        str(catalogue_file.__doc__).partition("\n\n")[2].rpartition("\n\n")[0],
        flags=re.MULTILINE,
    )
    columns = "\n[tables.{}.columns]\n{}\n"
    text += columns.format("diagnoses", 'visit_id = "integer"') + columns.format(
        "regions", 'region = "text"'
    )
    text = text.replace("cost = {", 'visit_id = "integer"\ncost = {')
    (tmp_path / "clinic.toml").write_text(text, encoding="utf-8")
    (tmp_path / "regions.csv").write_text("region\nSouth\nNorth\n\n", encoding="utf-8")
    found = load_catalogue(tmp_path / "clinic.toml")
    assert (found.population, found.delta, found.version) == (20000, 1e-8, "2026-01")
    assert (found.analysts, found.policy) == ({"alice": 0.25}, Policy(ceiling=1.0))
    assert found.book == str(tmp_path / "clinic.dither.db")
    visits, diagnoses, regions = found.tables
    assert (visits.owner, visits.rows, visits.source) == (
        "patient_id",
        40,
        str(tmp_path / "visits.csv"),
    )
    assert (
        visits.field("ward").provenance
        == "data protection officer, from the admission form"
    )
    assert visits.field("region").keys == ("North", "South")
    assert visits.field("outcome").keys == ("well", "ill", None)
    assert visits.field("day").range == bounds_of(
        "day", date(2023, 1, 1), date(2024, 12, 31), Type.DATE
    )
    assert (diagnoses.stored, diagnoses.link) == (
        "main.diagnoses",
        Link("visit_id", "visits", "visit_id"),
    )
    assert regions.public
    assert parse_catalogue(dump_catalogue(found)) == found


def test_delta_from_the_population() -> None:
    assert parse_catalogue("population = 2500\n" + SMALL).delta == 1e-7
    assert (
        parse_catalogue(
            "population = 2500\n" + changed("epsilon = 3", "epsilon = 3\ndelta = 0")
        ).delta
        == 0
    )


def test_exact_facts_beside_answers() -> None:
    given = 'relation = "replace"\ngiven = ["total of each ward", "a \\"b\\", c"]\n'
    found = parse_catalogue(given + SMALL)
    assert found.unit == Unit("id", "replace", ('a "b", c', "total of each ward"))
    assert parse_catalogue(dump_catalogue(found)) == found
    assert "given" not in dump_catalogue(parse_catalogue(SMALL))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            f'given = ["all"]\n{SMALL}',
            "in c.toml, given needs neighbours that replace one unit",
        ),
        (
            f'relation = "replace"\ngiven = "all"\n{SMALL}',
            "in c.toml, given must be a list, not 'all'",
        ),
        (
            f'relation = "replace"\ngiven = [1]\n{SMALL}',
            "in c.toml, given must be a list of at most 20 strings",
        ),
        ("unit =", "c.toml is not valid TOML"),
        ("", "in c.toml, unit is missing"),
        ('unit = "id"', "in c.toml, tables are missing"),
        (
            changed('"id"', '"?"'),
            """in c.toml, unit is still "?"; declare the column with a person's id, or "row\"""",
        ),
        (
            changed("= 3", '= "?"'),
            'in c.toml, epsilon is still "?"; declare the total cost',
        ),
        (
            changed('id = "integer"', 'id = "?"'),
            'in c.toml, in visits, in id, type is still "?"; declare it',
        ),
        ('units = "id"', "in c.toml, units is not a known entry; did you mean unit?"),
        (
            changed("epsilon", "epsilonn"),
            "in c.toml, epsilonn is not a known entry; did you mean epsilon?",
        ),
        (
            changed("source", "sauce"),
            "in c.toml, in visits, sauce is not a known entry; did you mean source?",
        ),
        (
            changed("low", "lo"),
            "in c.toml, in visits, in cost, lo is not a known entry; did you mean low?",
        ),
        (
            changed("= 3", '= "three"'),
            "in c.toml, epsilon must be a number, not 'three'",
        ),
        (changed("= 3", "= true"), "in c.toml, epsilon must be a number"),
        (changed("= 3", "= 0"), "in c.toml, epsilon must be positive"),
        (
            changed("[budget]", "version = 2\n[budget]"),
            "in c.toml, version must be a string in quotes, not 2",
        ),
        (
            changed("[budget]", 'relation = "swap"\n[budget]'),
            'in c.toml, relation must be "add/remove" or',
        ),
        (
            changed('"integer"', '"number"'),
            "in c.toml, in visits, in id, the type 'number' is unknown; use one of integer, real",
        ),
        (
            changed('"integer"', '"integr"'),
            "in c.toml, in visits, in id, the type 'integr' is unknown; did you mean integer?",
        ),
        (
            changed("low = 0", 'low = "0"'),
            "in c.toml, in visits, in cost, bounds cannot contain '0'; write a whole number",
        ),
        (
            changed("low = 0", "low = 30000"),
            "in c.toml, in visits, in cost, bounds cannot have a low bound above the high one",
        ),
        (
            changed('["A", "B"]', '"A"'),
            "in c.toml, in visits, in ward, keys must be a list",
        ),
        (
            changed('["A", "B"]', '["A", "A"]'),
            "in c.toml, in visits, ward must list each value once",
        ),
        (
            changed('["A", "B"]', '["A", 1]'),
            "in c.toml, in visits, ward cannot contain 1; write a string",
        ),
        (
            changed('keys = ["A", "B"]', "null_key = true"),
            "in c.toml, in visits, in ward, null_key needs keys",
        ),
        (
            changed('{ type = "text"', '{ by = "me"'),
            "in c.toml, in visits, in ward, type is missing",
        ),
        (
            changed('id = "integer"', "id = 5"),
            "in c.toml, in visits, id must be a table, not 5",
        ),
        (
            changed('source = "visits.csv"', "source = 5"),
            "in c.toml, in visits, source must be a string",
        ),
        (
            changed('source = "visits.csv"', 'owner = "nobody"'),
            "in c.toml, the table 'visits' has no column 'nobody'",
        ),
        (
            changed('source = "visits.csv"', "rows = 0"),
            "in c.toml, rows of 'visits' must be",
        ),
        (
            changed('source = "visits.csv"', 'link = { column = "id" }'),
            "in c.toml, in visits, link needs a column and the column",
        ),
        (
            changed('source = "visits.csv"', 'link = { column = "id", to = "x.id" }'),
            "in c.toml, in visits, to = 'x.id' does not name a table and its column",
        ),
        (changed("[tables.visits]", "tables = 5\n[tabels.visits]"), "in c.toml, "),
        (changed('"id"\n[b', '"ward"\n[b'), None),
        (SMALL + "[policy]\nceiling = 0\n", "in c.toml, ceiling must be positive"),
        (SMALL + "[analysts]\nalice = 2\n", "in c.toml, the share of 'alice'"),
        (SMALL + '[analysts]\nalice = "all"\n', "in c.toml, alice must be a number"),
    ],
)
def test_what_is_wrong(text: str, words: str | None) -> None:
    if words is None:
        parse_catalogue(text, "c.toml")
        return
    with pytest.raises(ArgumentError) as caught:
        parse_catalogue(text, "c.toml")
    assert str(caught.value).startswith(words)


def test_keys_are_listed_or_taken_from_a_table() -> None:
    both = changed('keys = ["A", "B"]', 'keys = ["A"], keys_from = "places.place"')
    with pytest.raises(ArgumentError, match="leave out keys or keys_from"):
        parse_catalogue(both)


@pytest.mark.parametrize(
    ("engine", "stored"), [(None, None), ("spark", None), (None, "main.places")]
)
def test_keys_of_a_public_table_are_asked_for(
    engine: str | None, stored: str | None
) -> None:
    """As the file has it; whoever reads it knows the engines."""
    asked: list[KeysFrom] = []

    def keys(wanted: KeysFrom) -> list[str]:
        asked.append(wanted)
        return ["a", "b"]

    text = changed('keys = ["A", "B"]', 'keys_from = "places.place"')
    text = (f'engine = "{engine}"\n' if engine else "") + text
    text += '[tables.places]\nsource = "places.csv"\npublic = true\n'
    text += f'table = "{stored}"\n' if stored else ""
    found = read_catalogue(text, keys, "c.toml", Path("/data"))
    assert found.table("visits").field("ward").keys == ("a", "b")
    place = "/data/places.csv"
    assert asked == [KeysFrom("places", "place", Type.TEXT, place, stored, engine)]


def test_what_is_no_catalogue_is_not_shown(tmp_path: Path) -> None:
    """A line of a data file is private; a line of a catalogue is the curator's own."""
    (tmp_path / "rows.csv").write_text("p1,30,A\np2,52,B\n", encoding="utf-8")
    with pytest.raises(
        ArgumentError, match=r"rows.csv is not a catalogue; name a file in TOML"
    ) as problem:
        load_catalogue(tmp_path / "rows.csv")
    assert "p1" not in str(problem.value)
    for text in (
        "epsilon = 3,0\n",
        "a = [\n",
        "a = '''",
        "[x\n",
        "a\x0b = 1\n=\n",
        "=",
        "\n\n=",
    ):
        with pytest.raises(
            ArgumentError, match=r"is not valid TOML: .*; write strings in quotes"
        ):
            parse_catalogue(text, "c.toml")
