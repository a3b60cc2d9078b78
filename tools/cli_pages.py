"""Writes docs/cli.md, the reference of the command line, from the commands themselves:
`python tools/cli_pages.py`.

A test compares the page with the commands. Only the introduction, the meaning of exit
code 1 and the fields of JSON are typed in here; tests check the last two.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # as a script

import click

from dither.cli import main
from tools import pages as made

TOOL = "tools/cli_pages.py"
BOOST = 0.5
"""The weight in the search: pages that explain come first, then the commands."""
KEPT = "\b"
"""click's sign for a paragraph whose lines are kept."""
EXAMPLES = "Examples:"
"""The first line of such a paragraph if the others are examples."""
INTRODUCTION = """\
`dither COMMAND --help` (or `-h`) prints the same in a terminal, and `dither --version` prints the version. Repeat an option
for several values, such as `--bounds age=0:110 --bounds cost=0:5000`.

Results go to stdout. Errors go to stderr as one line that begins with `Error:`; for a wrong option, the usage is shown
above it, and for a question, the place in its SQL below it. The pages on [errors](errors/index.md) explain the messages.
"""
CODES = """\
| exit code | meaning |
|---|---|
| 0 | The command is done. |
| 1 | A check found a problem (the section of the command says which), or the command failed on the way. |
| 2 | The command was refused. |

A command fails on the way if the engine fails after the charge, if a file for its result cannot be written, or if it is
interrupted. It is refused, for example, because of a wrong option, a question that cannot be released, a missing file or a
budget that is spent.
"""
JSON_OUTPUT = """\
With `--json`, a command prints its result as one JSON document; `dither log show` prints one for each line. Names are those
of the Python API, amounts are numbers, and null stands for a missing value or a number without bound. JSON holds the same
release as the text, and reveals nothing else about the data. Errors stay text on stderr.

`dither local task` and `dither log export` always print JSON; the option changes nothing there. `dither completion` has
no such option: it prints a script for the shell.
"""


@dataclass(frozen=True)
class Json:
    """The fields of the JSON of a command, or of each part if it is a list. `more`:
    there are others, which depend on the options. `otherwise` describes other forms,
    and `like` names a command with the same form.
    """

    fields: str
    several: bool = False
    more: bool = False
    otherwise: str = ""
    like: str = ""

    def __str__(self) -> str:
        if self.like:
            return f"like `{self.like}`"
        named = ", ".join(f"`{one}`" for one in self.fields.split())
        first = "a list; each part has the fields" if self.several else "the fields"
        others = " and others" * self.more
        return f"{first} {named}{others}{self.otherwise}"


BUDGET = Json(
    "account epsilon delta unit relation given accounting charges remaining "
    "largest_epsilon largest_mu largest_rho largest_gaussian_epsilon counts_within_10 "
    "remaining_in_words "
    "frozen burn_down",
    several=True,
    otherwise="; with --analysts or --by, like `dither share`",
)
ACCOUNTS = replace(BUDGET, like="dither budget")
ANALYSTS = Json(
    "account analyst part charges failures may_ask remaining largest_epsilon largest_mu "
    "largest_rho largest_gaussian_epsilon counts_within_10 remaining_in_words frozen",
    several=True,
)
ANSWER = Json(
    "schema columns rows confidence about guarantee receipt notes replayed",
    more=True,
    otherwise="; for EXPLAIN, like `dither preview`",
)
RELEASE = replace(ANSWER, like="dither query")
JSON = {
    "dither amend": ACCOUNTS,
    "dither attack": Json(
        "attack title sentences rates kept notes",
        more=True,
        otherwise="; without NAME, a list with `name`, `attacks` and `options`",
    ),
    "dither audit": Json(
        "name refuted claimed measure stated lower epsilon_lower event right guesses "
        "draws false_alarm",
        several=True,
        otherwise="; with --command, one object without `name`, with `run_time` if "
        "--time is given",
    ),
    "dither backup": Json("backup lines head"),
    "dither budget": BUDGET,
    "dither demo": Json(
        "question sql release", several=True, otherwise="; with --copy, `catalogue`"
    ),
    "dither doctor": Json(
        "dither python base random_bytes parts", otherwise="; with --data, `facts`"
    ),
    "dither explain deployments": Json("beside deployments sentences notes"),
    "dither explain epsilon": Json(
        "epsilon delta prior group relation promise odds_factor posterior outside "
        "advantage total_variation guess power kl gaussian sentences notes"
    ),
    "dither explain plan": Json(
        "query bounds bins q confidence model epsilon delta n questions error width "
        "solved noise each curve sentences notes"
    ),
    "dither freeze": ACCOUNTS,
    "dither init": Json("catalogue unit tables closed guesses facts"),
    "dither local choose": Json("options detection_limit"),
    "dither local decode": RELEASE,
    "dither local estimate": RELEASE,
    "dither local publish": Json("task version state", several=True),
    "dither local relay": Json("relay state quota token"),
    "dither local retire": Json("task state"),
    "dither local serve": Json(
        "store address tasks", otherwise=", on one line when the collector is ready"
    ),
    "dither local simulate": Json(
        "devices invalid estimates",
        more=True,
        otherwise="; for shares, these are `values`, `covered` and `detection_limit`",
    ),
    "dither local status": Json("place tasks relays direct"),
    "dither log recheck": Json(
        "account charges recomputed epsilon delta fits", several=True
    ),
    "dither log show": Json(
        "seq time kind account body hash", otherwise=", on one line per line of the log"
    ),
    "dither log verify": Json("lines verified_before anchors head"),
    "dither preview": Json(
        "schema columns confidence groups guarantee cost epsilon_alone delta share "
        "affordable refused replay remaining notes"
    ),
    "dither query": ANSWER,
    "dither renew": ACCOUNTS,
    "dither report": Json("schema about title lead code sections words"),
    "dither restore": Json("ledger accounts"),
    "dither share": ANALYSTS,
    "dither tables": Json("unit given tables"),
    "dither thaw": ACCOUNTS,
    "dither write-off": ACCOUNTS,
}
"""The JSON of each command that has --json; a test compares it with the output."""
FINDINGS = {
    "dither audit": "a guarantee is refuted",
    "dither doctor": "a part that Dither needs does not work",
    "dither log recheck": "an account exceeds its budget, or the exported file was changed",
    "dither log verify": "a line of the ledger was changed, moved or removed",
}
"""When a check ends with exit code 1. Other commands do not."""


def commands() -> dict[str, tuple[click.Command, click.Context]]:
    """All commands and groups in alphabetical order, by what one types."""
    return dict(_below(main, click.Context(main, info_name="dither")))


def _below(
    command: click.Command, context: click.Context
) -> Iterator[tuple[str, tuple[click.Command, click.Context]]]:
    yield context.command_path, (command, context)
    if isinstance(command, click.Group):
        for name in sorted(command.commands):
            below = command.commands[name]
            yield from _below(below, click.Context(below, context, info_name=name))


def pages() -> made.Pages:
    """The page as the commands have it."""
    _, *listed = commands().items()
    ending = {path for path, (command, _) in listed if ends_with_one(command)}
    if ending != FINDINGS.keys():
        raise ValueError(f"FINDINGS must explain exactly {sorted(ending)}")
    return {
        "cli.md": made.page(
            TOOL,
            "Command line",
            INTRODUCTION,
            "## Exit codes",
            CODES,
            "## JSON",
            JSON_OUTPUT,
            "## Commands",
            _contents(main, "dither"),
            *(
                part
                for path, (command, context) in listed
                for part in _command(path, command, context)
            ),
            boost=BOOST,
        )
    }


def _contents(group: click.Group, path: str) -> str:
    """The commands of a group with a link to each."""
    rows = [
        f"| [`{path} {name}`](#{_anchor(f'{path} {name}')}) | "
        f"{made.cell(command.get_short_help_str(limit=200))} |"
        for name, command in sorted(group.commands.items())
    ]
    return "\n".join(["| command | what it does |", "|---|---|", *rows])


def _anchor(path: str) -> str:
    return path.replace(" ", "-")


def _command(
    path: str, command: click.Command, context: click.Context
) -> Iterator[str]:
    """Heading, usage, description, examples, arguments, options, JSON and exit code."""
    yield f"{'#' * (1 + path.count(' '))} {path} {{ #{_anchor(path)} }}"
    yield _block([f"{path} {' '.join(command.collect_usage_pieces(context))}"])
    for text in _paragraphs(command):
        if not text.startswith(KEPT):
            yield _prose(text)
            continue
        _, first, *rest = text.splitlines()
        if first == EXAMPLES:
            yield EXAMPLES
            yield _block([line.removeprefix("  ") for line in rest])
        else:
            yield _block([first, *rest])
    if isinstance(command, click.Group):
        yield _contents(command, path)
    yield from _parameters(command, context)
    if path in JSON:
        yield f"JSON: {JSON[path]}."
    if path in FINDINGS:
        yield f"Exit code 1: {FINDINGS[path]}."


def _paragraphs(command: click.Command) -> list[str]:
    return inspect.cleandoc(command.help or "").split("\n\n")


def examples_of(command: click.Command) -> list[str]:
    """The examples in the help of a command, without breaks of lines."""
    start = f"{KEPT}\n{EXAMPLES}\n"
    found = (one for one in _paragraphs(command) if one.startswith(start))
    whole = "\n".join(one.removeprefix(start) for one in found)
    joined = re.sub(r" \\\n *", " ", whole)
    return [line.strip() for line in joined.splitlines()]


def _prose(text: str) -> str:
    """A paragraph of a help text; what stands in backquotes there is code."""
    parts = re.split(r"`([^`]*)`", " ".join(text.split()))
    return "".join(
        f"`{part}`" if index % 2 else _plain(part) for index, part in enumerate(parts)
    )


def _plain(text: str) -> str:
    """Words of a help text, with the signs of Markdown shown and blanks kept."""
    return re.sub(r"([*_\[\]<])", r"\\\1", text)


def _block(lines: list[str]) -> str:
    return "\n".join(["```text", *lines, "```"])


def _parameters(command: click.Command, context: click.Context) -> Iterator[str]:
    shown = [one for one in command.params if not getattr(one, "hidden", False)]
    arguments = [one for one in shown if isinstance(one, click.Argument)]
    options = [one for one in shown if isinstance(one, click.Option)]
    if arguments:
        rows = [
            f"| {_code(_name(one, context))} | {'; '.join(_notes(one))} |"
            for one in arguments
        ]
        yield "\n".join(["| argument | value |", "|---|---|", *rows])
    if options:
        rows = [
            f"| {_code(_name(one, context))} | {made.cell(one.help or '')} | "
            f"{'; '.join(_notes(one))} |"
            for one in options
        ]
        yield "\n".join(["| option | what it does | value |", "|---|---|---|", *rows])


def _code(text: str) -> str:
    """Code in a cell of a table, where a bar would end the cell."""
    return f"`{text}`" if "|" not in text else made.cell(text)


def _name(one: click.Parameter, context: click.Context) -> str:
    """How it is written: an option with the word for its value, if it takes one."""
    if isinstance(one, click.Argument):
        chosen = isinstance(one.type, click.Choice)
        metavar = one.name.upper() if chosen and one.name else one.make_metavar(context)
        return metavar.strip("[]")
    names = ", ".join(one.opts)
    if one.secondary_opts:
        return f"{names} / {', '.join(one.secondary_opts)}"
    if isinstance(one, click.Option) and (one.is_flag or one.count):
        return names
    word = one.name.upper() if isinstance(one.type, click.Choice) and one.name else None
    return f"{names} {word or one.make_metavar(context)}"


def _notes(one: click.Parameter) -> list[str]:
    """Whether a value is required, its default, its choices or range, and whether there
    may be several.
    """
    found = []
    if one.required:
        found.append("required")
    elif _stated(one.default):
        found.append(f"default `{one.default}`")
    elif isinstance(one, click.Argument):
        found.append("optional")
    if isinstance(one.type, click.Choice):
        found.append(
            f"one of {', '.join(f'`{choice}`' for choice in one.type.choices)}"
        )
    if isinstance(one.type, click.IntRange | click.FloatRange):
        found.append(_range(one.type))
    if one.nargs == -1:
        found.append("one or more")
    if getattr(one, "multiple", False):
        found.append("may be repeated")
    return found


def _range(kind: click.IntRange | click.FloatRange) -> str:
    """The limits of a number, in words."""
    low, high = kind.min, kind.max
    if low is not None and high is not None:
        return f"from {low} to {high}"
    if low is not None:
        return f"above {low}" if kind.min_open else f"at least {low}"
    return f"below {high}" if kind.max_open else f"at most {high}"


def _stated(default: Any) -> bool:
    """Whether a default is a value that a reader can type."""
    number = isinstance(default, int | float) and not isinstance(default, bool)
    return number or (isinstance(default, str) and default != "")


def ends_with_one(command: click.Command) -> bool:
    """Whether a command, or a function of its module that it calls, raises SystemExit."""
    callback = inspect.unwrap(command.callback) if command.callback else None
    module = inspect.getmodule(callback)
    return (
        callback is not None
        and module is not None
        and _raises(callback.__name__, _functions(module), set())
    )


def _functions(module: ModuleType) -> dict[str, ast.FunctionDef]:
    tree = ast.parse(inspect.getsource(module))
    return {one.name: one for one in tree.body if isinstance(one, ast.FunctionDef)}


def _raises(name: str, functions: dict[str, ast.FunctionDef], seen: set[str]) -> bool:
    if name not in functions or name in seen:
        return False
    seen.add(name)
    named = {one.id for one in ast.walk(functions[name]) if isinstance(one, ast.Name)}
    return "SystemExit" in named or any(_raises(one, functions, seen) for one in named)


if __name__ == "__main__":
    made.write(pages())
