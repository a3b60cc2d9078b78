"""`dither init`: a first draft of a catalogue, from the schema alone; the curator fills in the rest."""

from __future__ import annotations

from pathlib import Path

import click

from dither.errors import ArgumentError

__all__ = ["command"]


def place(sources: tuple[str, ...], output: str | None) -> str:
    """Where the catalogue goes: as stated, or beside the reader under the name of the first source."""
    return output or f"{Path(sources[0]).stem}.toml"


def seen_from(folder: Path, source: str) -> str:
    """A source as a catalogue in that folder has to name it: files are looked for beside the catalogue."""
    return source if folder.absolute() == Path.cwd() or "://" in source else str(Path(source).absolute())


def write(path: Path, text: str) -> None:
    """A new file; a catalogue that is there already holds declarations that nobody wants to lose."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise ArgumentError("output", f"{path} is there already; name another file with -o") from error
    except OSError as error:
        raise ArgumentError("output", f"{path} cannot be written ({error.strerror}); name another with -o") from error


@click.command("init", short_help="Draft a catalogue from a schema.")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE…")
@click.option(
    "-o", "--output", metavar="FILE", help="The catalogue to write; - prints it. Named after SOURCE if absent."
)
def command(sources: tuple[str, ...], output: str | None) -> None:
    """Draft a catalogue for data files or a DuckDB database, from the schema alone.

    Names and types of columns are taken over; bounds, public values and the unit are for the curator to declare:
    reading them off the data would reveal it.
    """
    target = place(sources, output)
    if target != "-" and Path(target).exists():
        raise ArgumentError("output", f"{target} is there already; name another file with -o")
    from dither.query.draft import draft

    folder = Path() if target == "-" else Path(target).parent
    text = draft([seen_from(folder, source) for source in sources])
    if target == "-":
        click.echo(text, nl=False)
        return
    write(Path(target), text)
    click.echo(
        f"wrote {target}: declare unit, bounds and public values in it, then ask with: dither preview {target} …"
    )
