"""What is typed about the data, the question and the cost, and what becomes of it."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from dither.cli.source import Arguments, arguments, as_options, value


def read(*words: str, text: str | bytes | None = None) -> Arguments | str:
    """What a command gets to see, or the refusal."""
    found: list[Arguments] = []

    @click.command()
    @arguments
    def command(given: Arguments) -> None:
        found.append(given)

    done = CliRunner().invoke(command, words, input=text)
    if done.exit_code:
        assert (done.exit_code, done.stdout, found) == (2, "", [])
        return done.stderr
    return found[0]


def declared(*words: str) -> dict[str, Any]:
    given = read("visits.csv", "SELECT 1", *words)
    assert isinstance(given, Arguments), given
    return given.declared


@pytest.mark.parametrize(
    ("argument", "message", "shown"),
    [
        (
            "unit",
            'unit is missing; pass unit="patient id", or unit="row".',
            "--unit is missing; pass --unit patient id, or --unit row.",
        ),
        ("for_ever", "for_ever must be positive", "--for-ever must be positive"),
        (
            "",
            "clinic has shares: say who asks (by=).",
            "clinic has shares: say who asks (--by).",
        ),
        (
            "",
            "pass exactly one of epsilon, rho, share or error",
            "pass exactly one of --epsilon, --rho, --share or --error",
        ),
        ("", "unit names differ", "unit names differ"),
    ],
)
def test_a_message_speaks_of_options(argument: str, message: str, shown: str) -> None:
    assert as_options(message, argument) == shown


def test_nothing_is_made_up() -> None:
    assert read("clinic.toml", "SELECT 1") == Arguments(
        "clinic.toml", "SELECT 1", {}, {}
    )


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("age=0:110", (0, 110)),
        ("age = -1.5 : 2e3 ", (-1.5, 2000.0)),
        ("age=0..110", (0, 110)),
        ("age=2020-01-01:2024-12-31", (date(2020, 1, 1), date(2024, 12, 31))),
        (
            "age=2020-01-01T00:00..2020-01-02T12:30",
            (
                datetime.fromisoformat("2020-01-01T00:00"),
                datetime.fromisoformat("2020-01-02T12:30"),
            ),
        ),
    ],
)
def test_bounds(text: str, bounds: tuple[Any, Any]) -> None:
    assert declared("--bounds", text) == {"bounds": {"age": bounds}}


@pytest.mark.parametrize(
    "text",
    [
        "age",
        "=0:1",
        "age=",
        "age=5",
        "age=0:1:2",
        "age=a:b",
        "age=2020-13-01:2020-14-01",
    ],
)
def test_bad_bounds_are_refused(text: str) -> None:
    said = read("visits.csv", "SELECT 1", "--bounds", text)
    assert isinstance(said, str)
    assert "age=0:110" in said


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("ward=A,B", ["A", "B"]),
        ("ward=A , B b", ["A", "B b"]),
        ("ward=1,2", [1, 2]),
        ("ward=007,1.5", ["007", 1.5]),
        ('ward="1","B, or ""C""",D', ["1", 'B, or "C"', "D"]),
        ("ward=a=b,c", ["a=b", "c"]),
    ],
)
def test_keys(text: str, keys: list[Any]) -> None:
    assert declared("--keys", text) == {"keys": {"ward": keys}}


@pytest.mark.parametrize("text", ["ward", "ward=", 'ward="A', 'ward=A"B'])
def test_bad_keys_are_refused(text: str) -> None:
    assert isinstance(read("visits.csv", "SELECT 1", "--keys", text), str)


def test_everything_that_can_be_declared() -> None:
    words = "--unit patient_id --budget 3 --delta 1e-6 --population 5000 --ledger book.db --bounds a=0:1 --bounds b=0:2"
    words += " --types age=integer --types day=date --rows 40"
    assert declared(*words.split()) == {
        "unit": "patient_id",
        "budget": 3.0,
        "delta": 1e-6,
        "population": 5000,
        "ledger": "book.db",
        "bounds": {"a": (0, 1), "b": (0, 2)},
        "types": {"age": "integer", "day": "date"},
        "rows": 40,
    }


def test_every_cost() -> None:
    words = [
        "--epsilon",
        "0.5",
        "--rho",
        "0.1",
        "--share",
        "0.2",
        "--error",
        "50",
        "--expect",
        "9",
        "--by",
        "ana",
    ]
    given = read("clinic.toml", "SELECT 1", *words)
    assert isinstance(given, Arguments)
    assert given.cost == {
        "epsilon": 0.5,
        "rho": 0.1,
        "share": 0.2,
        "error": 50.0,
        "expect": 9,
    }
    assert given.by == "ana"
    words = [
        "--shares",
        "n=2",
        "--radius",
        "n=20",
        "--radius",
        "m=1.5",
        "--groups",
        "3",
        "--values",
        "4",
    ]
    sizes = read("clinic.toml", "SELECT 1", *words)
    assert isinstance(sizes, Arguments)
    assert sizes.cost == {
        "shares": {"n": 2.0},
        "radius": {"n": 20.0, "m": 1.5},
        "groups": 3,
        "values": 4,
    }
    assert "write it like n=2" in str(
        read("clinic.toml", "SELECT 1", "--radius", "n=many")
    )
    worded = read("clinic.toml", "SELECT 1", "--error", "±50 at 95%")
    assert isinstance(worded, Arguments)
    assert worded.cost == {"error": "±50 at 95%"}


def test_the_question_comes_from_one_place(tmp_path: Path) -> None:
    file = tmp_path / "ask.sql"
    file.write_text("SELECT 'größer'", encoding="utf-8")
    from_file = read("clinic.toml", "--file", str(file))
    from_input = read("clinic.toml", "-", text="SELECT 'größer'".encode())
    assert isinstance(from_file, Arguments)
    assert isinstance(from_input, Arguments)
    assert from_file.sql == from_input.sql == "SELECT 'größer'"
    for words in ([], ["SELECT 1", "--file", str(file)]):
        said = read("clinic.toml", *words)
        assert isinstance(said, str)
        assert "pass the question once" in said


def test_a_question_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ask.sql").write_bytes(b"SELECT \xff")
    said = read("clinic.toml", "--file", str(tmp_path / "ask.sql"))
    assert isinstance(said, str)
    assert "not UTF-8" in said


@pytest.mark.parametrize(
    "text", ["nan", "inf", "1_000", "007", "", ".", "-", "e3", "2024-W01", "2024-13-01"]
)
def test_what_only_looks_like_a_number_is_a_text(text: str) -> None:
    assert value(text) == text
