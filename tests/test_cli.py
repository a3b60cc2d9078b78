from __future__ import annotations

import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from dither import __version__
from dither.cli import Commands, main
from dither.errors import ArgumentError, DitherError, MissingExtra, QueryError
from tests.cli.support import run_alone


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


@pytest.mark.parametrize(
    "error",
    [
        ArgumentError("epsilon", "must be above 0;\npass a number such as 0.5"),
        MissingExtra("scipy", "accounting"),
    ],
)
def test_a_refusal_is_one_line(error: DitherError) -> None:
    @click.group(cls=Commands)
    def group() -> None:
        pass

    @group.command()
    def ask() -> None:
        raise error

    shown = CliRunner().invoke(group, ["ask"])
    assert shown.exit_code == 2
    assert shown.stdout == ""
    words = " ".join(str(error).split())
    # An argument is an option here
    assert shown.stderr in (
        f"Error: {words}\n",
        f"Error: --{words}\n",
    )


def test_a_refused_question_keeps_its_lines() -> None:
    @click.group(cls=Commands)
    def group() -> None:
        pass

    @group.command()
    def ask() -> None:
        raise QueryError("there is no column n", "SELECT\n  n", 2, 3)

    shown = CliRunner().invoke(group, ["ask"])
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert shown.stderr == "Error: sql: there is no column n\n    n\n    ^\n"
