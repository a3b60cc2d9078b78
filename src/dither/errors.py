"""Everything Dither raises on purpose.

    DitherError
    ├── ArgumentError        a question is wrong; names the argument and the way out  (is a ValueError)
    │   ├── UnitMismatch     guarantees for different units, relations or facts were mixed
    │   ├── NoConversion     the wanted kind of guarantee does not follow from this one
    │   └── QueryError       a SQL question cannot be asked like this; shows the place in the SQL
    ├── EngineFailed         the engine failed after the charge; says nothing about the data
    ├── MachineFailed        a training run failed on this machine after the charge; says nothing about the data
    ├── BudgetExceeded       the account cannot afford the charge; nothing was spent
    ├── LedgerError          the book cannot be used as it is: missing, locked, foreign, tampered with; says what to do
    │   └── AccountFrozen    the account waits for its curator
    ├── DeviceError          a device's file cannot be used as it is; nothing was sent
    ├── CollectorError       a collector's store cannot be used as it is; nothing was counted
    └── MissingExtra         an optional part is not installed; says which to install (is an ImportError)

Errors speak of the question, never of the data: no message carries a value taken from
private rows, and whether one is raised depends on public information only (rule R1).
"""

from __future__ import annotations

__all__ = [
    "AccountFrozen",
    "ArgumentError",
    "BudgetExceeded",
    "CollectorError",
    "DeviceError",
    "DitherError",
    "EngineFailed",
    "LedgerError",
    "MachineFailed",
    "MissingExtra",
    "NoConversion",
    "QueryError",
    "UnitMismatch",
]


class DitherError(Exception):
    """The root of every error Dither raises on purpose.

    Way out: catch it to catch them all.
    """


PREDICATES = frozenset(
    {
        "is",
        "are",
        "was",
        "were",
        "has",
        "have",
        "had",
        "must",
        "may",
        "can",
        "cannot",
        "could",
        "needs",
        "need",
        "does",
        "do",
        "did",
        "holds",
        "hold",
        "lacks",
        "lack",
        "takes",
        "take",
        "requires",
        "require",
        "contains",
        "contain",
        "exceeds",
        "exceed",
    }
)
"""Verbs that a message without a subject may begin with: its subject is the argument."""


class ArgumentError(DitherError, ValueError):
    """An argument is not usable. `argument` names it; the message says why and what to
    pass instead. A message that begins with one of PREDICATES is about the argument; any
    other message names its subject itself.

    Way out: change the argument that is named, and call again. Nothing was spent.
    """

    def __init__(self, argument: str, message: str) -> None:
        super().__init__(sentence(argument, message))
        self.argument = argument
        self.message = message

    def __reduce__(self) -> tuple[type[ArgumentError], tuple[str, str]]:
        return type(self), (self.argument, self.message)


def sentence(argument: str, message: str) -> str:
    """The whole sentence of a message about an argument."""
    return (
        f"{argument} {message}" if message.partition(" ")[0] in PREDICATES else message
    )


class UnitMismatch(ArgumentError):
    """Guarantees about different units, under different neighbour relations, or given
    different exact facts cannot be combined.

    Way out: state both for the same unit, or keep them on accounts of their own.
    """


class NoConversion(ArgumentError):
    """No theorem gives the wanted kind of guarantee from this one.

    Way out: convert to a weaker kind first, such as .approx(delta), or use an account
    that counts this kind.
    """


class QueryError(ArgumentError):
    """A question in SQL cannot be asked like this. The message ends with the line of
    SQL and a caret below it.

    Way out: change the question where the caret points. Nothing was spent.
    """

    def __init__(
        self, message: str, sql: str = "", line: int = 0, column: int = 0
    ) -> None:
        super().__init__("sql", message + _shown(sql, line, column))
        self.reason, self.sql, self.line, self.column = message, sql, line, column

    def __reduce__(self) -> tuple[type[QueryError], tuple[str, str, int, int]]:  # type: ignore[override]
        return type(self), (self.reason, self.sql, self.line, self.column)


WIDEST = 100


def _shown(sql: str, line: int, column: int) -> str:
    """The line of the question with a caret below a column (both counted from 1), cut
    between words to what fits a terminal; … marks each cut.
    """
    lines = sql.splitlines()
    if not 1 <= line <= len(lines):
        return ""
    text, place = lines[line - 1].replace("\t", " "), max(column - 1, 0)
    start = max(0, min(place - WIDEST // 2, len(text) - WIDEST))
    end = start + WIDEST
    before = after = ""
    if start > 0:
        start, before = max(start, text.find(" ", start, place) + 1), "… "
    if end < len(text):
        space = text.rfind(" ", place, end)
        end, after = (space if space > place else end), " …"
    cut = f"{before}{text[start:end]}{after}"
    return f"\n  {cut}\n  {' ' * (len(before) + place - start)}^"


class EngineFailed(DitherError):
    """The engine failed after the charge was made. The charge stays, and the failure is
    counted (rule R5).

    Way out: the curator looks at `database.failure` in the process that asked; ask a
    simpler question, or raise limits.
    """


class MachineFailed(DitherError):
    """A training run could not be finished on this machine: rows that were made up fail
    too, so no record is the cause. The charge stays, and the failure is counted
    (rules R5 and R25).

    Way out: free memory or use another device, then resume the run from its checkpoint.
    """


class BudgetExceeded(DitherError):
    """The account cannot afford the charge. Nothing was spent and nothing was read.

    Way out: ask for less; the message says how much fits. A curator can give a share,
    renew the account or amend it.
    """


class LedgerError(DitherError):
    """The ledger cannot be used as it is. Nothing was spent.

    Way out: the message names the file; look at it with `dither log verify`, or put a
    backup in place.
    """

    def at(self, place: str) -> LedgerError:
        """This error with the book's place in it, if it does not name it yet."""
        return self if place in str(self) else type(self)(f"{place}: {self}")


class AccountFrozen(LedgerError):
    """The account grants nothing until its curator has looked at it.

    Way out: the curator looks at `dither log` and thaws it with `dither thaw`.
    """


class DeviceError(DitherError):
    """The file of a device cannot be used as it is. Nothing was sent.

    Way out: the message names the file; make it writable, choose another one, or
    remove it to begin as a new device.
    """


class CollectorError(DitherError):
    """The store of a collector cannot be used as it is. Nothing was counted.

    Way out: the message names the store; make room or make it reachable, and what was
    not acknowledged is sent again. Open a store that was copied or restored as a new one.
    """


class MissingExtra(DitherError, ImportError):
    """An optional part of Dither is not installed.

    Way out: install the part that the message names.
    """

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f"this needs {package}; run pip install '.[{extra}]' in the checkout of "
            f"Dither, or install a wheel with [{extra}] after its path"
        )
        self.package = package
        self.extra = extra

    def __reduce__(self) -> tuple[type[MissingExtra], tuple[str, str]]:
        return type(self), (self.package, self.extra)
