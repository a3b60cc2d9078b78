"""How commands find a book: by its own name, or by what it belongs to."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dither.cli import main
from dither.cli.book import place_of
from dither.ledger import Ledger

CATALOGUE = """\
name = "clinic"
unit = "row"
{book}
[budget]
epsilon = 2.0
[tables.visits]
source = "visits.csv"
[tables.visits.columns]
age = {{ type = "integer", low = 0, high = 110 }}
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "140")
    return tmp_path


def declare(book: str = "") -> None:
    Path("clinic.toml").write_text(CATALOGUE.format(book=book), encoding="utf-8")


def begin(place: str) -> None:
    with Ledger.open(place) as ledger:
        ledger.account("clinic", epsilon=2.0)


def run(*words: str) -> Result:
    return CliRunner().invoke(main, words)


def test_names_and_addresses_stay_as_they_are() -> None:
    assert place_of("book.db") == "book.db"
    assert place_of("postgresql://host/book.toml") == "postgresql://host/book.toml"
    assert place_of("visits.csv") == "visits.csv"


def test_a_catalogue_names_its_book(here: Path) -> None:
    declare('book = "kept/elsewhere.db"')
    assert place_of("clinic.toml") == str(here / "kept" / "elsewhere.db")
    declare('book = "postgresql://host/book"')
    assert place_of("clinic.toml") == "postgresql://host/book"


def test_a_book_may_be_beside() -> None:
    declare()
    begin("clinic.dither.db")
    assert place_of("clinic.toml") == place_of("clinic.csv") == "clinic.dither.db"


@pytest.mark.parametrize(
    "words", [["budget"], ["log"], ["log", "verify"], ["log", "export"]]
)
def test_commands_take_a_catalogue(words: list[str]) -> None:
    declare()
    begin("clinic.dither.db")
    done = run(*words, "clinic.toml")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "clinic" in done.stdout


def test_a_catalogue_that_was_never_asked_has_no_book(here: Path) -> None:
    declare()
    done = run("budget", "clinic.toml")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "there is no ledger at clinic.dither.db" in done.stderr
    assert [path.name for path in here.iterdir()] == ["clinic.toml"]


def test_a_missing_catalogue() -> None:
    done = run("log", "clinic.toml")
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)


@pytest.mark.parametrize(
    "arguments", [["budget"], ["log"], ["log", "verify"], ["log", "export"]]
)
def test_a_missing_book_is_an_error_and_stays_missing(
    arguments: list[str], tmp_path: Path
) -> None:
    done = run(*arguments, "nowhere.db")
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "there is no ledger at nowhere.db" in done.stderr
    assert not (tmp_path / "nowhere.db").exists()


@pytest.mark.parametrize(
    "content", [b"", b"not a book at all, only text of some length" * 100]
)
def test_a_file_that_is_no_book_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "other.db").write_bytes(content)
    for arguments in (["budget"], ["log"], ["log", "verify"]):
        done = run(*arguments, "other.db")
        assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert (tmp_path / "other.db").read_bytes() == content
