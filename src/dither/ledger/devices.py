"""What devices were promised: lines in the book that list a task beside the accounts.

The noise of a task is added on the devices, so the book charges nothing for it. Only
where a trusted shuffler makes the messages central are they charged, like any release.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dither.errors import ArgumentError
from dither.ledger.receipt import check_text
from dither.ledger.wire import relation_of, unit_of
from dither.privacy import PureDP

if TYPE_CHECKING:
    from dither.ledger.ledger import Ledger

__all__ = ["DevicePromise", "promised", "record"]

KIND = "task"


@dataclass(frozen=True)
class DevicePromise:
    """What a task promises to every device that joins it.

    `document` is the SHA-256 of the signed task; `account` names the account about the
    same people, if there is one.
    """

    task: str
    version: int
    document: str
    once: PureDP
    lifetime: PureDP
    account: str | None = None

    def __str__(self) -> str:
        linked = (
            f", same people as in the account {self.account}" if self.account else ""
        )
        return (
            f"{self.task} (version {self.version}): ε = {self.once.epsilon:.6g} per "
            f"message, ε = {self.lifetime.epsilon:.6g} over all time, protects "
            f"{self.once.unit}{linked}"
        )


def record(ledger: Ledger, promise: DevicePromise) -> None:
    """List a promise in the book. Listed again, nothing changes."""
    check_text("task", promise.task, needed=True)
    if promise.account is not None:
        names = {account.name for account in ledger.accounts()}
        if promise.account not in names:
            raise ArgumentError(
                "account",
                f"must name an account of this ledger, not {promise.account!r}; open it "
                "first",
            )
    for known in promised(ledger):
        if known == promise:
            return
        same = (known.task, known.version) == (promise.task, promise.version)
        if same and known.document != promise.document:
            raise ArgumentError(
                "task",
                "is already listed with another document; give the changed task a new "
                "version",
            )
    body = {
        "task": promise.task,
        "version": promise.version,
        "document": promise.document,
        "unit": promise.once.unit.name,
        "relation": relation_of(promise.once.unit),
        "once": repr(promise.once.epsilon),
        "lifetime": repr(promise.lifetime.epsilon),
        "linked": promise.account,
    }
    with ledger.changing() as run:
        ledger.write(run, KIND, "", body)


def promised(ledger: Ledger) -> tuple[DevicePromise, ...]:
    """All promises to devices in the book, oldest first."""
    return tuple(_read(entry.body) for entry in ledger.entries() if entry.kind == KIND)


def _read(body: object) -> DevicePromise:
    assert isinstance(body, dict)
    unit = unit_of(body["unit"], body["relation"])
    once, lifetime = (
        PureDP(float(body[name]), unit=unit) for name in ("once", "lifetime")
    )
    about = (body["task"], body["version"], body["document"])
    return DevicePromise(*about, once, lifetime, body["linked"])
