"""What the command line says about arguments that click cannot read."""

from __future__ import annotations

import shlex

import click
import pytest
from click.testing import CliRunner

from dither.cli import main
from dither.cli.usage import called

COSTS = "--epsilon, --n, --questions and --error"
SAID = {
    "explain epsilon abc": "EPSILON must be a number, not 'abc'; pass one such as 0.5",
    "explain epsilon -1": "write -- before a negative number, such as -- -1",
    "explain epsilon -- -1": "EPSILON must be 0 or more, not -1.0; pass an ε",
    "explain plan count --n 100": f"pass exactly three of {COSTS}, and the plan",
    "explain plan count --n 9 --error 0.1": "--epsilon and --questions are missing",
    "explain plan count --n": "--n needs a value; pass --n N (number of people",
    "attack linkage --k 0": "pass only --table, --columns, --epsilon",
    "query x.csv q --epsilon abc": "--epsilon must be a number, not 'abc'; pass one",
    "query": "SOURCE is missing; write dither query SOURCE [SQL]",
    "query x.csv q --epsilno 3": "`dither query`; did you mean --epsilon?",
    "query x.csv q --zzz": "run `dither query --help` to see all options",
    "query x.csv --json=3": "--json does not take a value; pass --json alone",
    "query x.csv q extra": "`dither query` does not take 'extra'; leave it out",
    "amend x.db --epsilon 5": "--reason is missing; pass why you do this, such as --rea",
    "freeze x.db": 'such as --reason "the data is wrong"',
    "log show x.db --last -5": "--last must be a whole number of at least 1, not '-5'",
    "completion fish2": "SHELL cannot be 'fish2'; pass one of bash, zsh, fish",
    "querry": "`dither` has no command 'querry'; did you mean query?",
    "xyzzy": "`dither` has no command 'xyzzy'; use one of",
    "--zzz": "--zzz is not an option of `dither`; run `dither --help`",
}


@pytest.mark.parametrize("line", SAID)
def test_what_click_cannot_read_is_said_with_a_way_out(line: str) -> None:
    done = CliRunner().invoke(main, shlex.split(line), prog_name="dither")
    assert done.exit_code == 2
    assert SAID[line] in done.stderr


def test_no_message_of_click_is_left() -> None:
    for line in SAID:
        done = CliRunner().invoke(main, shlex.split(line), prog_name="dither")
        for old in ("Missing ", "No such", "not a valid", "requires an", "unexpected"):
            assert old not in done.stderr, line


def test_the_called_command_is_below_its_groups() -> None:
    assert called(main, ["explain", "epsilon", "1"]).name == "epsilon"
    assert called(main, ["--zzz"]) is main
    assert called(click.Command("alone"), ["a"]).name == "alone"


def test_commands_that_print_json_take_the_option_too() -> None:
    plain, asked = (
        CliRunner().invoke(
            main,
            shlex.split(
                "local task minutes --numbers 0:120 --epsilon 4 --n 500 "
                f"--starts 2027-01-01 {option}"
            ),
        )
        for option in ("", "--json")
    )
    assert plain.stdout == asked.stdout != ""
