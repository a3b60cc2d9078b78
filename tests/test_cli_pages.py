"""The reference of the command line shows every command, as the commands have it."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from tests.cli.support import run
from tools import cli_pages
from tools.cli_pages import (
    FINDINGS,
    JSON,
    commands,
    ends_with_one,
    examples_of,
    pages,
)
from tools.pages import outdated


def test_the_page_is_made_from_the_commands() -> None:
    assert outdated(pages()) == [], "run python tools/cli_pages.py"


def test_every_json_is_described() -> None:
    shown = pages()["cli.md"]
    assert shown.count("\nJSON: ") == len(JSON)
    assert all(f"\nJSON: {one}.\n" in shown for one in JSON.values())


def test_every_command_has_a_heading_and_every_option_a_row() -> None:
    shown = pages()["cli.md"]
    for path, (command, _) in list(commands().items())[1:]:
        _, heading, rest = shown.partition(
            f"# {path} {{ #{path.replace(' ', '-')} }}\n"
        )
        assert heading, path
        section = rest.partition("\n## ")[0].partition("\n### ")[0]
        for option in command.params:
            visible = not getattr(option, "hidden", False)
            assert visible == any(name in section for name in option.opts) or (
                isinstance(option, click.Argument)
            )


@click.command("made-up")
@click.argument("shell", type=click.Choice(["bash", "zsh"]))
@click.argument("files", nargs=-1, metavar="FILE…")
@click.option("--part", type=click.FloatRange(0, 1), default=0.5, help="A *part*.")
@click.option("--rows", type=click.IntRange(min=1), required=True, help="Rows.")
@click.option("--less", type=click.FloatRange(max=2, max_open=True), multiple=True)
@click.option("--on / --off", default=None, help="Whether.")
@click.option("--secret", hidden=True)
def made_up() -> None:
    """What it does, with a `word`
    and <signs>.

    \b
    Examples:
      dither made-up zsh \\
        --rows 3

    \b
    As it is.
    """


def test_a_command_is_described() -> None:
    context = click.Context(made_up, info_name="made-up")
    assert "\n".join(cli_pages._command("made-up", made_up, context)).splitlines() == [
        "# made-up { #made-up }",
        "```text",
        "made-up [OPTIONS] {bash|zsh} FILE…",
        "```",
        r"What it does, with a `word` and \<signs>.",
        "Examples:",
        "```text",
        "dither made-up zsh \\",
        "  --rows 3",
        "```",
        "```text",
        "As it is.",
        "```",
        "| argument | value |",
        "|---|---|",
        "| `SHELL` | required; one of `bash`, `zsh` |",
        "| `FILE…` | optional; one or more |",
        "| option | what it does | value |",
        "|---|---|---|",
        r"| `--part FLOAT RANGE` | A \*part\*. | default `0.5`; from 0 to 1 |",
        "| `--rows INTEGER RANGE` | Rows. | required; at least 1 |",
        "| `--less FLOAT RANGE` |  | below 2; may be repeated |",
        "| `--on / --off` | Whether. |  |",
    ]
    assert examples_of(made_up) == ["dither made-up zsh --rows 3"]


def test_commands_that_end_with_one_say_when(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {
        path for path, (command, _) in commands().items() if ends_with_one(command)
    }
    assert found == FINDINGS.keys()
    monkeypatch.delitem(FINDINGS, "dither doctor")
    with pytest.raises(ValueError, match="must explain exactly"):
        pages()


def test_exit_codes_are_as_the_page_says(tmp_path: Path) -> None:
    picture = tmp_path / "nowhere" / "picture.svg"
    assert run("explain", "0.5").exit_code == 0
    assert run("explain", "0.5", "--svg", str(picture)).exit_code == 1
    assert run("explain", "-1").exit_code == 2
    assert run("tables", str(tmp_path / "none.toml")).exit_code == 2
