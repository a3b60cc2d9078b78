"""`dither init`: a first catalogue from names, types and the values of text files, with
questions on a terminal.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from dither.cli.completing import files
from dither.cli.output import json_option, print_json
from dither.cli.source import sizes
from dither.errors import ArgumentError

if TYPE_CHECKING:
    from dither.query.draft.draft import Draft

__all__ = ["command"]


def name_of(source: str) -> str:
    """Name of the catalogue of a source: that of its file, its folder or its
    database.
    """
    if "://" in source:
        return Path(urlsplit(source).path).name or "catalogue"
    path = Path(source)
    return (
        path.resolve().name
        if path.is_dir()
        else path.name.partition(".")[0] or path.stem
    )


def place(sources: tuple[str, ...], output: str | None) -> str:
    """File of the catalogue: `output`, or one here with the name of the first source."""
    return output or f"{name_of(sources[0])}.toml"


def seen_from(folder: Path, source: str) -> str:
    """A source as a catalogue in that folder has to name it: files are looked for
    beside the catalogue.
    """
    return (
        source
        if folder.absolute() == Path.cwd() or "://" in source
        else str(Path(source).absolute())
    )


def write(path: Path, text: str) -> None:
    """Write a new file. An existing catalogue is never overwritten."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise ArgumentError(
            "output", f"{path} already exists; pass another file with -o"
        ) from error
    except OSError as error:
        raise ArgumentError(
            "output",
            f"{path} cannot be written ({error.strerror}); pass another file with -o",
        ) from error


def somebody_there() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def with_caps(draft: Draft, rows: dict[str, float]) -> Draft:
    """The draft with the stated caps on the rows of one unit."""
    known = {sheet.name: sheet for sheet in draft.open_sheets}
    for name, most in rows.items():
        if name not in known:
            raise ArgumentError(
                "rows",
                f"{name!r} is not a table of the draft; its tables are: "
                f"{', '.join(known)}",
            )
        if draft.unit == "row" or not most.is_integer() or most < 1:
            raise ArgumentError(
                "rows",
                "must be a whole number of at least 1 and needs a unit other than the "
                "row; pass --rows TABLE=N and --unit NAME",
            )
    sheets = (
        replace(one, rows=int(rows[one.name])) if one.name in rows else one
        for one in draft.sheets
    )
    return replace(draft, sheets=tuple(sheets))


def as_data(draft: Draft, target: str) -> dict[str, Any]:
    """The tables of the draft, its guesses, and what the curator should see."""
    from dither.query.draft.text import guesses, unlike

    return {
        "catalogue": target,
        "unit": draft.unit,
        "tables": [sheet.name for sheet in draft.open_sheets],
        "closed": [sheet.name for sheet in draft.sheets if sheet.closed],
        "guesses": guesses(draft),
        "facts": list(unlike(draft)),
    }


def said(draft: Draft, target: str) -> list[str]:
    """The tables of the draft, its guesses, and the next commands."""
    found = as_data(draft, target)
    opened, closed, guessed = (
        ", ".join(found[name]) for name in ("tables", "closed", "guesses")
    )
    lines = [f"wrote {target}: {opened}; unit: {draft.unit}"]
    if closed:
        lines.append(f"not open yet: {closed}; comments in {target} explain why")
    if guessed:
        lines.append(f"guessed, so check them in {target}: {guessed}")
    if found["facts"]:
        lines.append("exact facts about private rows, for you only:")
        lines += [f"  {fact}" for fact in found["facts"]]
    first = next(
        sheet.name for sheet in draft.open_sheets if not sheet.link and not sheet.public
    )
    return [
        *lines,
        f"next: dither doctor --data {target}    checks the data (for you only)",
        f"      dither preview {target} 'SELECT COUNT(*) FROM {first}' --epsilon 0.1",
    ]


@click.command("init", short_help="Draft a catalogue from the schema of your data.")
@click.argument(
    "sources", nargs=-1, required=True, metavar="SOURCE…", shell_complete=files
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    shell_complete=files,
    help="File for the catalogue; - prints it (default: named after SOURCE).",
)
@click.option(
    "--unit",
    metavar="NAME",
    help="Column with the id of the person to protect, or 'row' if each row is another "
    "person.",
)
@click.option(
    "--budget",
    type=click.FloatRange(0, min_open=True),
    metavar="ε",
    help="Total ε of all answers (default: 1).",
)
@click.option(
    "--population",
    type=click.IntRange(1),
    metavar="N",
    help="Public number of people that the data is about; sets δ.",
)
@click.option(
    "--rows",
    multiple=True,
    callback=sizes,
    metavar="TABLE=N",
    help="Largest number of rows per unit in a table, a public fact.",
)
@click.option(
    "--ask/--no-ask",
    "asking",
    default=None,
    help="Ask questions, or do not (default: ask on a terminal).",
)
@json_option
def command(
    sources: tuple[str, ...],
    output: str | None,
    unit: str | None,
    budget: float | None,
    population: int | None,
    rows: dict[str, float],
    asking: bool | None,
    as_json: bool,
) -> None:
    """Draft a catalogue for one or more SOURCEs: data files, folders of data files,
    DuckDB databases or postgresql:// addresses.

    The unit and the bounds are guessed from names, and the types of columns in text
    files (CSV, TSV) from names and values; check them. What does not fit a type is shown
    to you and not written into the catalogue. On a terminal, the command asks for
    the unit, the population, the budget, the largest number of rows per unit, and the
    bounds and public values of each column. The catalogue can be used at once.

    \b
    Examples:
      dither init visits.csv --unit patient_id --budget 3 --population 25000
      dither init visits.parquet patients.parquet -o hospital.toml --rows visits=90
      dither init visits.csv -o -
    """
    target = place(sources, output)
    if as_json and (target == "-" or asking):
        raise click.UsageError(
            "--json prints no catalogue and asks no questions; leave -o - and --ask out"
        )
    if target != "-" and Path(target).exists():
        raise ArgumentError(
            "output", f"{target} already exists; pass another file with -o"
        )
    from dither.cli.interview import interview
    from dither.query.draft.draft import drafted, first_guess
    from dither.query.draft.text import text

    folder = Path() if target == "-" else Path(target).parent
    found = drafted(
        [seen_from(folder, source) for source in sources], name_of(sources[0])
    )
    asked = not as_json and target != "-"
    asked = asked and (somebody_there() if asking is None else asking)
    found = first_guess(found, unit or "") if unit or not asked else found
    found = found.stating(epsilon=budget, population=population)
    found = interview(found, stated=bool(unit)) if asked else found
    found = with_caps(found, rows)
    if target == "-":
        click.echo(text(found), nl=False)
        return
    write(Path(target), text(found))
    if as_json:
        print_json(as_data(found, target))
        return
    for line in said(found, target):
        click.echo(line)
