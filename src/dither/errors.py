"""Everything Dither raises on purpose.

    DitherError
    ├── ArgumentError        a question is wrong; names the argument and the way out  (is a ValueError)
    │   ├── UnitMismatch     guarantees for different units or relations were mixed
    │   └── NoConversion     the wanted kind of guarantee does not follow from this one
    ├── BudgetExceeded       the account cannot afford the charge; nothing was spent
    ├── LedgerError          the book cannot be used as it is: missing, locked, foreign, tampered with; says what to do
    │   └── AccountFrozen    the account waits for its curator
    └── MissingExtra         an optional part is not installed; says which to install (is an ImportError)

Errors speak of the question, never of the data: no message carries a value taken from private rows, and whether
one is raised depends on public information only (rule R1).
"""

from __future__ import annotations

__all__ = [
    "AccountFrozen",
    "ArgumentError",
    "BudgetExceeded",
    "DitherError",
    "LedgerError",
    "MissingExtra",
    "NoConversion",
    "UnitMismatch",
]


class DitherError(Exception):
    """The root of every error Dither raises on purpose."""


class ArgumentError(DitherError, ValueError):
    """An argument is not usable. `argument` names it; the message says why and what to pass instead."""

    def __init__(self, argument: str, message: str) -> None:
        super().__init__(f"{argument}: {message}")
        self.argument = argument
        self.message = message

    def __reduce__(self) -> tuple[type[ArgumentError], tuple[str, str]]:
        return type(self), (self.argument, self.message)


class UnitMismatch(ArgumentError):
    """Guarantees about different units, or under different neighbour relations, cannot be put together."""


class NoConversion(ArgumentError):
    """No theorem gives the wanted kind of guarantee from this one."""


class BudgetExceeded(DitherError):
    """The account cannot afford the charge. Nothing was spent and nothing was read."""


class LedgerError(DitherError):
    """The book cannot be used as it is. Nothing was spent."""


class AccountFrozen(LedgerError):
    """The account grants nothing until its curator has looked at it."""


class MissingExtra(DitherError, ImportError):
    """An optional part of Dither is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"this needs {package}; install it with: pip install 'dither[{extra}]'")
        self.package = package
        self.extra = extra

    def __reduce__(self) -> tuple[type[MissingExtra], tuple[str, str]]:
        return type(self), (self.package, self.extra)
