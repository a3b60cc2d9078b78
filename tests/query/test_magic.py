"""The notebook magic, in a tiny stand-in and in a real IPython shell."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import dither
from dither.errors import ArgumentError, QueryError
from dither.privacy import PureDP
from dither.query import magic as magics
from dither.query.magic import Magic, load_ipython_extension
from dither.release import Source
from dither.table import TableRelease


class Shell:
    """As much of a notebook as the magic needs."""

    def __init__(self) -> None:
        self.user_ns: dict[str, Any] = {}
        self.magics: dict[str, Any] = {}

    def register_magic_function(self, function: Any, kind: str, name: str) -> None:
        assert kind == "line_cell"
        self.magics[name] = function


class Database:
    """As much of a database as the magic needs: it remembers what was asked."""

    account = "clinic: 10 % spent"

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, dict[str, Any]]] = []
        self.closed = False

    def sql(self, query: str, **cost: Any) -> TableRelease:
        self.asked.append(("sql", query, cost))
        if "SELEKT" in query:
            raise QueryError("this is no SQL; write SELECT", query, 1, 1)
        return TableRelease(
            ("n",), ((42,),), (Source(PureDP(1.0)),), lambda _: [[(40, 44)]], keys=()
        )

    def preview(self, query: str, **cost: Any) -> str:
        self.asked.append(("preview", query, cost))
        return "a preview"

    def close(self) -> None:
        self.closed = True


@pytest.fixture(autouse=True)
def login(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "login")


@pytest.fixture
def shell() -> Shell:
    return Shell()


@pytest.fixture
def magic(shell: Shell) -> Magic:
    return Magic(shell)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Database]:
    """Every database that the magic opens itself."""
    found: list[Database] = []

    def open_one(source: str) -> Database:
        assert source.endswith(".toml")
        found.append(Database())
        return found[-1]

    monkeypatch.setattr(dither, "open", open_one, raising=False)
    return found


def test_a_database_of_the_notebook(
    magic: Magic, shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    database = shell.user_ns["clinic"] = Database()
    assert magic("clinic") is None
    assert capsys.readouterr().out == "clinic: 10 % spent\n"
    release = magic("--epsilon 0.5 --by ana", "SELECT COUNT(*) FROM visits")
    assert release.value == 42
    assert database.asked == [
        ("sql", "SELECT COUNT(*) FROM visits", {"epsilon": 0.5, "by": "ana"})
    ]


def test_a_catalogue_is_opened_and_closed(
    magic: Magic, shell: Shell, opened: list[Database]
) -> None:
    magic("'my clinic.toml'")
    magic("--rho 0.01", "SELECT 1")
    assert opened[0].asked == [("sql", "SELECT 1", {"by": "login", "rho": 0.01})]
    mine = shell.user_ns["mine"] = Database()
    magic("mine")
    assert opened[0].closed
    magic("other.toml")
    assert not mine.closed


def test_the_one_in_use_is_shown_again(
    magic: Magic, shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.user_ns["clinic"] = Database()
    magic("clinic")
    magic("")
    assert capsys.readouterr().out == "clinic: 10 % spent\n" * 2


def test_all_options(magic: Magic, shell: Shell) -> None:
    database = shell.user_ns["clinic"] = Database()
    magic("clinic")
    magic("--share 0.1 --expect 500 --error '±50 at 95%'", "SELECT 1")
    assert database.asked[-1][2] == {
        "by": "login",
        "share": 0.1,
        "expect": 500,
        "error": "±50 at 95%",
    }
    assert magic("--preview --epsilon=1", "SELECT 1") == "a preview"
    assert database.asked[-1] == (
        "preview",
        "SELECT 1",
        {"by": "login", "epsilon": 1.0},
    )
    assert magic("--confidence 0.99", "SELECT 1").confidence == 0.99


@pytest.mark.parametrize(
    "line",
    ["wards =", "--epsilon 1 wards =", "wards = --epsilon 1", "wards= --epsilon 1"],
)
def test_an_answer_can_have_a_name(magic: Magic, shell: Shell, line: str) -> None:
    shell.user_ns["clinic"] = Database()
    magic("clinic")
    assert magic(line, "SELECT 1") is shell.user_ns["wards"]


@pytest.mark.parametrize(
    "line",
    ["--epsilon", "--epsilon much", "--nonsense 1", "clinic", "'", "--confidence 2"],
)
def test_mistakes_on_the_line_ask_nothing(
    magic: Magic, shell: Shell, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(magics, "in_words", contextlib.nullcontext)
    database = shell.user_ns["clinic"] = Database()
    magic("clinic")
    with pytest.raises(ArgumentError):
        magic(line, "SELECT 1")
    assert database.asked == []


def test_a_refusal_is_shown_without_a_traceback(magic: Magic, shell: Shell) -> None:
    shell.user_ns["clinic"] = Database()
    magic("clinic")
    with pytest.raises(UsageError, match="this is no SQL") as caught:
        magic("", "SELEKT 1")
    assert str(caught.value).endswith("\n  SELEKT 1\n  ^")


@pytest.mark.parametrize(
    ("line", "cell", "words"),
    [
        ("", None, "no database is chosen; run %dither with a catalogue"),
        ("", "SELECT 1", "no database is chosen; run %dither with a catalogue"),
        ("one two", None, "%dither takes one argument; pass a catalogue"),
    ],
)
def test_a_database_comes_first(
    magic: Magic, line: str, cell: str | None, words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        magic(line, cell)


def test_the_extension_registers_one_magic(shell: Shell) -> None:
    load_ipython_extension(shell)
    shell.user_ns["clinic"] = Database()
    shell.magics["dither"]("clinic")
    assert shell.magics["dither"]("--epsilon 1", "SELECT 1").value == 42
    assert "%%dither --epsilon" in shell.magics["dither"].__doc__


@pytest.fixture
def notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A real IPython shell that leaves nothing behind."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    shell = InteractiveShell(config=Config({"HistoryManager": {"enabled": False}}))
    load_ipython_extension(shell)
    yield shell
    shell.restore_sys_module_state()


def test_in_a_real_notebook(notebook: Any, capsys: pytest.CaptureFixture[str]) -> None:
    database = notebook.user_ns["clinic"] = Database()
    assert notebook.run_cell("%dither clinic").success
    done = notebook.run_cell(
        "%%dither --epsilon 0.5 wards =\nSELECT ward,\n  COUNT(*)\nFROM visits"
    )
    assert done.success
    assert done.result is notebook.user_ns["wards"]
    assert database.asked[-1] == (
        "sql",
        "SELECT ward,\n  COUNT(*)\nFROM visits\n",
        {"by": "login", "epsilon": 0.5},
    )
    assert "42 ±2" in capsys.readouterr().out
    assert "<table>" in notebook.display_formatter.format(done.result)[0]["text/html"]
    capsys.readouterr()
    assert not notebook.run_cell("%%dither\nSELEKT 1").success
    shown = capsys.readouterr()
    assert "Traceback" not in shown.out + shown.err
    assert "this is no SQL" in shown.out + shown.err


def test_a_real_catalogue_in_a_real_notebook(
    notebook: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clinic = shutil.copytree(
        str(files("dither") / "data" / "clinic"), tmp_path / "clinic"
    )
    assert notebook.run_cell("%load_ext dither").success
    assert notebook.run_cell(f"%dither '{clinic / 'clinic.toml'}'").success
    assert "one Laplace answer at ε = 4" in capsys.readouterr().out
    question = "SELECT ward, COUNT(DISTINCT patient_id) AS n FROM visits GROUP BY ward"
    preview = notebook.run_cell(f"%%dither --share 0.1 --preview\n{question}")
    assert preview.result.share == pytest.approx(0.1, abs=1e-6)
    done = notebook.run_cell(f"%%dither --share 0.1 wards =\n{question}")
    assert done.result is notebook.user_ns["wards"]
    assert done.result["n"]["emergency"].value == pytest.approx(10_010, abs=300)
    assert "emergency" in capsys.readouterr().out
    again = notebook.run_cell(f"%%dither --share 0.1\n{question}").result
    assert again.replayed
    assert again.rows == done.result.rows
    assert not notebook.run_cell(
        "%%dither --share 0.1\nSELECT COUNT(*) FROM visit"
    ).success
    assert "did you mean visits?" in capsys.readouterr().err
    with dither.Ledger.open(clinic / "clinic.dither.db") as book:
        assert [receipt.by for receipt in book.account("clinic").history()] == ["login"]
        book.account("clinic").share("ana", 0.5)
    assert not notebook.run_cell(
        "%%dither --share 0.1\nSELECT COUNT(*) FROM patients"
    ).success
    assert "pass --by" in capsys.readouterr().err
    assert notebook.run_cell(
        "%%dither --share 0.1 --by ana\nSELECT COUNT(*) FROM patients"
    ).success
