"""Asks an ASGI app in this process, without a socket."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Coroutine, Iterable
from dataclasses import dataclass
from typing import Any

__all__ = ["Answer", "Web"]

OCTETS = ("content-type", "application/octet-stream")


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def said(self) -> Any:
        return json.loads(self.body)


class Web:
    """A running app: its event loop has a thread of its own until the block ends."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._ended = asyncio.Event()

    def __enter__(self) -> Web:
        self._thread.start()
        self.run(self._begin())
        return self

    def __exit__(self, *_: object) -> None:
        self.run(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(120)

    async def _begin(self) -> None:
        self._inbox: asyncio.Queue[Any] = asyncio.Queue()
        self._outbox: asyncio.Queue[Any] = asyncio.Queue()
        scope = {"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}
        self._life = asyncio.ensure_future(
            self.app(scope, self._inbox.get, self._outbox.put)
        )
        await self._inbox.put({"type": "lifespan.startup"})
        assert (await self._outbox.get())["type"] == "lifespan.startup.complete"

    async def _end(self) -> None:
        await self._inbox.put({"type": "lifespan.shutdown"})
        assert (await self._outbox.get())["type"] == "lifespan.shutdown.complete"
        await self._life

    def post(
        self, *parts: bytes, token: str | None = None, **headers: str | None
    ) -> Answer:
        """Send a body, in as many pieces as are given."""
        return self.run(self.posting(*parts, token=token, **headers))

    def posting(
        self, *parts: bytes, token: str | None = None, **headers: str | None
    ) -> Coroutine[Any, Any, Answer]:
        named = dict([OCTETS])
        if token is not None:
            named["authorization"] = f"Bearer {token}"
        for name, value in headers.items():
            named[name.replace("_", "-")] = value
        pairs = [(name, value) for name, value in named.items() if value is not None]
        return self.asking("POST", "/v1/messages", pairs, parts)

    def get(self, path: str, **headers: str) -> Answer:
        return self.run(self.asking("GET", path, headers.items()))

    async def asking(
        self,
        method: str,
        path: str,
        headers: Iterable[tuple[str, str]] = (),
        parts: Iterable[bytes] = (),
    ) -> Answer:
        pieces = list(parts) or [b""]
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": b"",
            "headers": [(k.encode(), v.encode("latin-1")) for k, v in headers],
            "client": ("203.0.113.9", 40_000),
            "server": ("localhost", 80),
        }
        sent: list[Any] = []

        async def receive() -> Any:
            if not pieces:
                return {"type": "http.disconnect"}
            body = pieces.pop(0)
            return {"type": "http.request", "body": body, "more_body": bool(pieces)}

        async def send(message: Any) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        if not sent:
            return Answer(0, {}, b"")
        start, *bodies = sent
        named = {k.decode(): v.decode() for k, v in start["headers"]}
        body = b"".join(one.get("body", b"") for one in bodies)
        return Answer(start["status"], named, body)
