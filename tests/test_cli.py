from __future__ import annotations

import subprocess
import sys

import click
import pytest
from click.testing import CliRunner, Result

from dither import __version__
from dither.cli import Commands, main
from dither.errors import (
    ArgumentError,
    DitherError,
    EngineFailed,
    MissingExtra,
    QueryError,
)
from tests.cli.support import run, run_alone


def test_version() -> None:
    done = run_alone("--version")
    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        f"dither {__version__}\n",
        "",
    )


def test_the_package_is_the_command() -> None:
    command = [sys.executable, "-W", "error", "-m", "dither", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        f"dither {__version__}\n",
        "",
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["--version"],
        ["--help"],
        ["completion", "zsh"],
        ["doctor", "--json"],
        ["query", "-h"],
    ],
)
def test_looking_around_imports_nothing_heavy(arguments: list[str]) -> None:
    code = (
        "import sys; from dither.cli import main\n"
        f"try: main({arguments!r}, prog_name='dither')\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'duckdb', 'scipy', 'sqlglot', 'torch', 'pyspark', 'rich'} & set(sys.modules)\n"
        "print(heavy, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stderr == "set()\n"


def test_help_names_every_command() -> None:
    shown = CliRunner().invoke(main, ["--help"])
    assert shown.exit_code == 0
    assert all(
        name in shown.output
        for name in ("completion", "demo", "doctor", "init", "preview", "query")
    )


def failing(error: Exception) -> Result:
    """A command that ends with an error."""

    @click.group(cls=Commands)
    def group() -> None:
        pass

    @group.command()
    @click.option("--epsilon")
    def ask(epsilon: str) -> None:  # noqa: ARG001
        raise error

    return CliRunner().invoke(group, ["ask"])


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (
            ArgumentError("epsilon", "must be above 0;\npass a number such as 0.5"),
            2,
            "--epsilon must be above 0; pass a number such as 0.5",
        ),
        (ArgumentError("prior", "must be above 0"), 2, "prior must be above 0"),
        (ArgumentError("epsilon", "epsilon is small"), 2, "epsilon is small"),
        (MissingExtra("scipy", "accounting"), 2, "this needs scipy"),
        (DitherError("the ledger is locked"), 2, "the ledger is locked"),
        (EngineFailed("the engine\nfailed"), 1, "the engine failed"),
        (
            FileNotFoundError(2, "No such file", "x/y.svg"),
            1,
            "x/y.svg cannot be used (No such file); pass another path",
        ),
    ],
)
def test_an_error_is_one_line(error: Exception, code: int, said: str) -> None:
    shown = failing(error)
    assert (shown.exit_code, shown.stdout) == (code, "")
    assert shown.stderr.startswith(f"Error: {said}")
    assert shown.stderr.count("\n") == 1


def test_other_errors_of_the_system_are_not_hidden() -> None:
    assert isinstance(failing(OSError(12, "no memory")).exception, OSError)


def test_an_option_is_named_as_it_is_typed() -> None:
    words = ("local", "task", "t", "--domain", "5", "--epsilon", "1", "--n", "9")
    done = run(*words, "--for-ever", "-1", "--every", "day")
    assert "Error: --for-ever must be" in done.stderr


def test_a_refused_question_keeps_its_lines() -> None:
    shown = failing(QueryError("there is no column n", "SELECT\n  n", 2, 3))
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert shown.stderr == "Error: there is no column n\n    n\n    ^\n"
