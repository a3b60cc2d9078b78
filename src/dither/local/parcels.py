"""Parcels: what is sent to a collector, a message or a batch behind an id.

    0xD4, format 1, 16 bytes of id, then one message or one batch (`wire`)

The id is what makes sending safe to repeat: a collector counts a parcel once, however
often it arrives. It is in the body, so that no access log of a web server holds it.
"""

from __future__ import annotations

from dither.errors import ArgumentError
from dither.local.wire import BATCH, FORMAT, SINGLE, Messages
from dither.noise import secret_bytes

__all__ = ["ID", "PARCEL", "START", "parcel"]

PARCEL = 0xD4
ID = 16
START = 2 + ID
HEAD = bytes([PARCEL, FORMAT])


def parcel(messages: Messages | bytes, id: bytes | None = None) -> bytes:
    """What to POST to a collector: a batch of messages, or one message.

    Keep the bytes until the collector has acknowledged them, and send the same bytes
    again if it has not: `id` is what keeps them from being counted twice. A batch gets
    a random one. A device's message has its own, from `Client.parcel` or `Sent.id`.
    """
    body = messages.to_bytes() if isinstance(messages, Messages) else messages
    if not isinstance(body, bytes) or body[:1] not in (b"\xd1", b"\xd2"):
        raise ArgumentError(
            "messages", "must be the bytes of a message, or task.randomize(…)"
        )
    if id is None and body[0] == SINGLE:
        raise ArgumentError(
            "id",
            "is required for a single message; pass its Sent.id from client.sent()",
        )
    assert body[0] in (SINGLE, BATCH)
    known = secret_bytes(ID) if id is None else id
    if not isinstance(known, bytes) or len(known) != ID:
        raise ArgumentError("id", f"must be {ID} bytes")
    return HEAD + known + body
