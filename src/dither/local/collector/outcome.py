"""Outcome of a parcel. Codes are stable; their reasons contain public facts only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["ACCEPTED", "CODES", "DUPLICATE", "REFUSED", "Outcome", "refused"]

ACCEPTED, DUPLICATE, REFUSED = "accepted", "duplicate", "refused"

CODES: dict[str, str] = {
    "malformed": "this is not a parcel of format 1: send what client.parcel returns",
    "truncated": "the length does not fit the task: send the whole parcel again",
    "invalid": "no device could have sent this: nothing in it was counted",
    "stratum-unknown": "the task declares no such stratum",
    "period-unknown": "the task has no such period",
    "period-early": "the period has not begun: check the clock, and send it later",
    "period-closed": "the period is closed: its messages were counted, and no more "
    "are accepted",
    "task-unknown": "no such task is collected here",
    "task-stopped": "the task was stopped: send nothing more",
    "task-retired": "the task is not collected any more: send nothing more",
    "task-expired": "the task has ended: send nothing more",
    "token-missing": "a batch needs the token of a relay",
    "token-unknown": "this is not the token of a relay",
    "quota-used": "no more messages are accepted for this task and period",
    "too-large": "the body is larger than this collector accepts",
    "content-type": "send application/octet-stream",
    "content-encoding": "send the body without a content encoding",
    "not-found": "there is nothing at this address",
    "method": "this address does not accept this HTTP method",
    "busy": "too many bytes are waiting: send the same bytes again later",
    "store-failed": "the store cannot be written now: send the same bytes again later",
    "failed": "it could not be counted: send the same bytes again later",
}
"""Every code of a refusal, and what it says."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one parcel.

    `messages` is how many of its messages are counted now, `invalid` how many were
    left out because no device could have sent them. A duplicate was counted before.
    """

    status: str
    messages: int = 0
    invalid: int = 0
    code: str = ""

    @property
    def reason(self) -> str:
        """Why it was refused; empty if it was not."""
        return CODES.get(self.code, "")

    @property
    def counted(self) -> bool:
        """Whether its messages are in the tally, by this parcel or one before it: it
        need not be sent again.
        """
        return self.status != REFUSED

    def to_dict(self) -> dict[str, Any]:
        """As it is answered over HTTP."""
        if self.status == REFUSED:
            return {"code": self.code, "reason": self.reason}
        if self.status == DUPLICATE:
            return {"status": DUPLICATE}
        said = {"status": ACCEPTED, "messages": self.messages}
        return said | ({"invalid": self.invalid} if self.invalid else {})


_REFUSED = {code: Outcome(REFUSED, code=code) for code in CODES}


def refused(code: str) -> Outcome:
    return _REFUSED[code]
