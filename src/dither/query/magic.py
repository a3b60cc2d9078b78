"""`%dither` and `%%dither` in notebooks: choose a database once, then write SQL in a
cell.

    %load_ext dither
    %dither clinic.toml

    %%dither --epsilon 0.5 wards =
    SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward
"""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn

from dither.errors import ArgumentError, DitherError
from dither.query.asker import answer as answer_to
from dither.query.asker import asking
from dither.table import check_confidence

__all__ = ["Magic", "load_ipython_extension"]

NAME = re.compile(r"(?<!\S)([^\W\d]\w*)\s*=(?=\s|$)")
FIRST = (
    "no database is chosen; run %dither with a catalogue, such as %dither clinic.toml, "
    "or with the name of an open database"
)


class Options(argparse.ArgumentParser):
    """The options on the line of a cell. A mistake is an error to read, not the end of
    the notebook.
    """

    def __init__(self) -> None:
        super().__init__(prog="%%dither", add_help=False, allow_abbrev=False)
        for name, kind in (
            ("epsilon", float),
            ("rho", float),
            ("share", float),
            ("expect", int),
            ("confidence", float),
        ):
            self.add_argument(f"--{name}", type=kind)
        for name in ("error", "by"):
            self.add_argument(f"--{name}")
        self.add_argument("--preview", action="store_true")

    def error(self, message: str) -> NoReturn:
        raise ArgumentError(
            "%%dither",
            f"the options of %%dither cannot be read ({message}); write for example "
            "%%dither --epsilon 0.5 name =",
        )


def split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        raise ArgumentError(
            "%dither", f"a quotation mark in {line!r} is not closed; close it"
        ) from error


@contextmanager
def in_words() -> Iterator[None]:
    """Inside IPython, a refusal is shown as its message alone, without a traceback."""
    try:
        yield
    except DitherError as error:
        if "IPython" not in sys.modules:
            raise
        from IPython.core.error import UsageError

        raise UsageError(str(error)) from error


@dataclass
class Magic:
    """The magic of one notebook, and the database that its cells ask."""

    shell: Any
    database: Any = None
    opened: bool = False

    def __call__(self, line: str, cell: str | None = None) -> Any:
        with in_words():
            return self.choose(line) if cell is None else self.ask(line, cell)

    def choose(self, line: str) -> None:
        """Take the database of that name in the notebook, or open the catalogue at that
        place; show the remaining budget.
        """
        words = split(line)
        if len(words) > 1:
            raise ArgumentError(
                "%dither",
                "%dither takes one argument; pass a catalogue, such as clinic.toml, or the "
                "name of an open database",
            )
        if words:
            self._take(words[0])
        elif self.database is None:
            raise ArgumentError("%dither", FIRST)
        print(self.database.account)

    def _take(self, name: str) -> None:
        import dither

        found = self.shell.user_ns.get(name)
        given = hasattr(found, "sql") and hasattr(found, "preview")
        database = found if given else dither.open(name)
        if self.opened and database is not self.database:
            self.database.close()
        self.database, self.opened = database, not given

    def ask(self, line: str, cell: str) -> Any:
        """The answer to the SQL in the cell, or its preview; also kept under the name
        on the line, if there is one.
        """
        if self.database is None:
            raise ArgumentError("%%dither", FIRST)
        names = NAME.findall(line)
        stated = vars(Options().parse_args(split(NAME.sub(" ", line))))
        confidence, preview = stated.pop("confidence"), stated.pop("preview")
        level = None if confidence is None else check_confidence(confidence)
        by = stated.pop("by")
        asked = {name: value for name, value in stated.items() if value is not None}
        with asking(self.database.account, by) as name:
            if preview:
                answer = self.database.preview(cell, by=name, **asked)
            else:
                answer = answer_to(self.database, cell, by=name, **asked)
        if level is not None and hasattr(answer, "at"):
            answer = answer.at(level)
        self.shell.user_ns.update(dict.fromkeys(names, answer))
        return answer


def load_ipython_extension(ipython: Any) -> None:
    """`%load_ext dither` calls this."""
    magic = Magic(ipython)

    def dither(line: str, cell: str | None = None) -> Any:
        """Ask a private database in SQL.

        %dither clinic.toml                    choose a catalogue, or an open database by its name; show the budget
        %%dither --epsilon 0.5 [name =]        the cell below is SQL; --rho, --share, --error, --expect,
                                               --confidence 0.99, --preview (cost and error, without spending),
                                               --by NAME (who asks; default: your login name)
        """
        return magic(line, cell)

    ipython.register_magic_function(dither, "line_cell", "dither")
