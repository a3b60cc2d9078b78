"""`dither init`: a first catalogue from names and types alone, with questions where
somebody can answer them.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from dither.cli.completing import files
from dither.cli.source import sizes
from dither.errors import ArgumentError

if TYPE_CHECKING:
    from dither.query.draft.draft import Draft

__all__ = ["command"]


def name_of(source: str) -> str:
    """What the catalogue of a source is called: like its file, its folder or its
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
    """Where the catalogue goes: as stated, or beside the reader under the name of the
    first source.
    """
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
    """A new file; a catalogue that is there already holds declarations that nobody
    wants to lose.
    """
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise ArgumentError(
            "output", f"{path} is there already; name another file with -o"
        ) from error
    except OSError as error:
        raise ArgumentError(
            "output",
            f"{path} cannot be written ({error.strerror}); name another with -o",
        ) from error


def somebody_there() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def with_caps(draft: Draft, rows: dict[str, float]) -> Draft:
    """The draft with the stated caps on the rows of one unit."""
    known = {sheet.name: sheet for sheet in draft.open_sheets}
    for name, most in rows.items():
        if name not in known:
            raise ArgumentError(
                "rows", f"there is no open table {name}; there is {', '.join(known)}"
            )
        if draft.unit == "row" or not most.is_integer() or most < 1:
            raise ArgumentError(
                "rows",
                "must be a whole number of at least 1, and needs a unit that is "
                "not the row",
            )
    sheets = (
        replace(one, rows=int(rows[one.name])) if one.name in rows else one
        for one in draft.sheets
    )
    return replace(draft, sheets=tuple(sheets))


def said(draft: Draft, target: str) -> list[str]:
    """What was written, what was guessed in it, and what to do next."""
    from dither.query.draft.text import guesses

    closed = [sheet.name for sheet in draft.sheets if sheet.closed]
    lines = [
        (
            f"wrote {target}: "
            f"{', '.join(sheet.name for sheet in draft.open_sheets)}; unit: "
            f"{draft.unit}"
        )
    ]
    if closed:
        lines.append(f"not open yet: {', '.join(closed)}; {target} says why")
    found = guesses(draft)
    if found:
        lines.append(
            f"guessed from names, so check them in {target}: {', '.join(found)}"
        )
    first = next(
        sheet.name for sheet in draft.open_sheets if not sheet.link and not sheet.public
    )
    return [
        *lines,
        f"next: dither doctor --data {target}    what in the data does "
        "not fit (for you alone)",
        f"      dither preview {target} 'SELECT COUNT(*) FROM {first}' --epsilon 0.1",
    ]


@click.command("init", short_help="Draft a catalogue from a schema.")
@click.argument(
    "sources", nargs=-1, required=True, metavar="SOURCE…", shell_complete=files
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    shell_complete=files,
    help="The catalogue to write; - prints it. Named after SOURCE if absent.",
)
@click.option(
    "--unit",
    metavar="NAME",
    help="Whom to protect: the column with a person's id, or row.",
)
@click.option(
    "--budget",
    type=click.FloatRange(0, min_open=True),
    metavar="ε",
    help="What all answers may cost.",
)
@click.option(
    "--population",
    type=click.IntRange(1),
    metavar="N",
    help="A public size of the population; sets δ.",
)
@click.option(
    "--rows",
    multiple=True,
    callback=sizes,
    metavar="TABLE=N",
    help="A cap: no unit has more rows in this table.",
)
@click.option(
    "--ask/--no-ask",
    "asking",
    default=None,
    help="Ask questions; as if absent, where a terminal is there.",
)
def command(
    sources: tuple[str, ...],
    output: str | None,
    unit: str | None,
    budget: float | None,
    population: int | None,
    rows: dict[str, float],
    asking: bool | None,
) -> None:
    """Draft a catalogue for SOURCE: data files, folders of them, DuckDB databases,
    postgresql:// addresses.

    Names and types are taken over, and no value is read. What names suggest (unit,
    bounds, types of texts) is written down as a guess to be checked. On a terminal,
    questions are asked: unit, population, budget, caps on rows, and bounds and public
    values of each column. The catalogue opens as it is.
    """
    target = place(sources, output)
    if target != "-" and Path(target).exists():
        raise ArgumentError(
            "output", f"{target} is there already; name another file with -o"
        )
    from dither.cli.interview import interview
    from dither.query.draft.draft import drafted, first_guess
    from dither.query.draft.text import text

    folder = Path() if target == "-" else Path(target).parent
    found = drafted(
        [seen_from(folder, source) for source in sources], name_of(sources[0])
    )
    asked = target != "-" and (somebody_there() if asking is None else asking)
    found = first_guess(found, unit or "") if unit or not asked else found
    found = found.stating(epsilon=budget, population=population)
    found = interview(found, stated=bool(unit)) if asked else found
    found = with_caps(found, rows)
    if target == "-":
        click.echo(text(found), nl=False)
        return
    write(Path(target), text(found))
    for line in said(found, target):
        click.echo(line)
