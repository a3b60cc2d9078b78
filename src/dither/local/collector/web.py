"""The collector over HTTP: a thin ASGI app.

    POST /v1/messages      one parcel, or several appended to one another
    GET  /v1/tasks/NAME    the signed document of a task, for devices
    GET  /healthz          200 if the store can be written, else 503
    GET  /metrics          counters for Prometheus

Refusals are JSON with a stable code and a reason (`CODES`). Nothing is logged about a
request: not the address it came from, not when, not what was in it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from dither.errors import ArgumentError, MissingExtra
from dither.local.collector.collector import Collector
from dither.local.collector.log import tell
from dither.local.collector.outcome import Outcome, refused
from dither.local.collector.writer import Writer

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import Message, Receive, Scope, Send

__all__ = ["LIMIT", "STATUS", "app"]

LIMIT = 8 << 20
"""Bytes of the largest body."""
READING = 256 << 20
"""Bytes of all bodies that have not come as a whole."""
SLOW = 60.0
"""Seconds for a body that comes in pieces."""

STATUS: dict[str, int] = {
    "malformed": 400,
    "truncated": 400,
    "invalid": 400,
    "stratum-unknown": 400,
    "period-unknown": 400,
    "token-missing": 401,
    "token-unknown": 403,
    "task-unknown": 404,
    "not-found": 404,
    "method": 405,
    "period-early": 409,
    "period-closed": 410,
    "task-stopped": 410,
    "task-retired": 410,
    "task-expired": 410,
    "too-large": 413,
    "content-type": 415,
    "content-encoding": 415,
    "quota-used": 429,
    "failed": 500,
    "busy": 503,
    "store-failed": 503,
}
"""The status of each code."""

AFTER = {"quota-used": b"86400", "busy": b"5", "store-failed": b"10"}
"""Seconds after which it is worth trying again."""

JSON = (b"content-type", b"application/json")
TEXT = (b"content-type", b"text/plain; charset=utf-8")
NOT_KEPT = (b"cache-control", b"no-store")

Headers = list[tuple[bytes, bytes]]
Answer = tuple[int, Headers, bytes]


@lru_cache(maxsize=256)
def _answer(outcome: Outcome) -> Answer:
    """Status, headers and body that state the outcome of a parcel."""
    status = 200 if outcome.counted else STATUS[outcome.code]
    more = [(b"retry-after", AFTER[outcome.code])] if outcome.code in AFTER else []
    return _written(status, outcome.to_dict(), more)


def _written(status: int, said: dict[str, Any], more: Headers) -> Answer:
    body = json.dumps(said).encode()
    length = (b"content-length", str(len(body)).encode())
    return status, [JSON, NOT_KEPT, length, *more], body


def _answer_all(outcomes: list[Outcome]) -> Answer:
    """One answer for several parcels. If the store failed, all are sent again."""
    if len(outcomes) == 1:
        return _answer(outcomes[0])
    for outcome in outcomes:
        if outcome.code and STATUS[outcome.code] >= 500:
            return _answer(outcome)
    said = {"outcomes": [outcome.to_dict() for outcome in outcomes]}
    return _written(200, said, [])


class Refused(Exception):
    """A request is refused before it is read; the argument is the code."""


class Slow(Exception):
    """A body takes too long, or too many bodies are half sent."""


class Messages:
    """POST /v1/messages, as plain ASGI: nothing is made for a request that is not
    needed.
    """

    def __init__(self, collector: Collector, limit: int) -> None:
        self.collector, self.limit = collector, limit
        self.writer = Writer(collector, self._finish)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._reading = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            answer = await self._answer(scope, receive)
        except Exception as error:
            tell("failed", error=type(error).__name__)
            answer = _answer(refused("failed"))
        if answer is not None:
            status, headers, body = answer
            start = {"type": "http.response.start", "status": status}
            await send(start | {"headers": headers})
            await send({"type": "http.response.body", "body": body})

    async def _answer(self, scope: Scope, receive: Receive) -> Answer | None:
        try:
            token = _checked(scope, self.limit)
            data = await self._body(receive)
        except Refused as why:
            return self._refuse(refused(str(why)))
        except Slow:
            status, headers, body = self._refuse(refused("busy"))
            # Nobody waits for the rest
            return status, [*headers, (b"connection", b"close")], body
        if data is None:
            return None  # whoever sent it is gone
        parcels = self.collector.read(data, token)
        if isinstance(parcels, Outcome):
            return self._refuse(parcels)
        if self._loop is None:
            self.start()
        assert self._loop is not None
        told = self._loop.create_future()
        if not self.writer.submit(parcels, len(data), told):
            return self._refuse(refused("busy"))
        return _answer_all(await told)

    async def _body(self, receive: Receive) -> bytes | None:
        """The whole body, as long as it is not too long; None if it never ends."""
        message: Message = await receive()
        if message["type"] == "http.request" and not message.get("more_body", False):
            body: bytes = message.get("body", b"")
            if len(body) > self.limit:
                raise Refused("too-large")
            return body
        parts: list[bytes] = []
        try:
            async with asyncio.timeout(SLOW):
                whole = await self._parts(message, receive, parts)
        except TimeoutError:
            raise Slow from None
        finally:
            self._reading -= sum(map(len, parts))
        return b"".join(parts) if whole else None

    async def _parts(
        self, message: Message, receive: Receive, parts: list[bytes]
    ) -> bool:
        """Read a body that comes in pieces; whether it came to its end."""
        size = 0
        while message["type"] == "http.request":
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            self._reading += len(parts[-1])
            if size > self.limit:
                raise Refused("too-large")
            if not message.get("more_body", False):
                return True
            if self._reading > READING:
                raise Slow
            message = await receive()
        return False

    def _refuse(self, outcome: Outcome) -> Answer:
        self.writer.metrics.count([outcome])
        return _answer(outcome)

    @asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        """From the first request to the last commit."""
        self.start()
        tell("started")
        yield
        await asyncio.to_thread(self.writer.stop)
        tell("stopped")

    def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.writer.start()

    def _finish(self, told: list[tuple[Any, list[Outcome]]]) -> None:
        """In the writer's thread: wake all who wait, with one call."""
        assert self._loop is not None
        self._loop.call_soon_threadsafe(_tell_all, told)


def _tell_all(told: list[tuple[asyncio.Future[list[Outcome]], list[Outcome]]]) -> None:
    for future, outcomes in told:
        if not future.done():
            future.set_result(outcomes)


def _checked(scope: Scope, limit: int) -> str | None:
    """The token of the request, if its headers are as they should be."""
    if scope["method"] != "POST":
        raise Refused("method")
    kind, token = b"", None
    for name, value in scope["headers"]:
        if name == b"content-type":
            kind = value
        elif name == b"content-encoding":
            # Nothing is ever unpacked, so nothing small becomes large
            raise Refused("content-encoding")
        elif name == b"content-length":
            if value.isdigit() and int(value[:20]) > limit:
                raise Refused("too-large")
        elif name == b"authorization":
            token = _token(value)
    if kind.partition(b";")[0].strip().lower() != b"application/octet-stream":
        raise Refused("content-type")
    return token


def _token(value: bytes) -> str:
    scheme, _, token = value.partition(b" ")
    if scheme.lower() != b"bearer":
        raise Refused("token-unknown")
    return token.strip().decode("latin-1")


class Pages:
    """The GET requests: tasks, health and metrics. None of them waits, so all of them
    run in the loop.
    """

    def __init__(self, collector: Collector, writer: Writer) -> None:
        self.collector, self.writer = collector, writer

    async def task(self, request: Request) -> Response:
        try:
            found = self.collector.task(request.path_params["name"])
        except ArgumentError:
            return _said(refused("task-unknown"))
        if self.collector.state(found) == "task-retired":
            return _said(refused("task-retired"))
        return _responded(
            (200, [JSON, (b"cache-control", b"max-age=300")], found.to_json().encode())
        )

    async def health(self, _: Request) -> Response:
        if self.writer.ready:
            return _responded(_written(200, {"status": "ready"}, []))
        return _said(refused("store-failed"))

    async def metrics(self, _: Request) -> Response:
        writer = self.writer
        text = writer.metrics.text(ready=writer.ready, waiting=writer.waiting)
        return _responded((200, [TEXT, NOT_KEPT], text.encode()))

    async def failed(self, _: Request, problem: Exception) -> Response:
        """Answer to a request that Starlette refuses by itself."""
        status = getattr(problem, "status_code", 500)
        codes = {404: "not-found", 405: "method"}
        return _said(refused(codes.get(status, "failed")))


def _said(outcome: Outcome) -> Response:
    return _responded(_answer(outcome))


def _responded(answer: Answer) -> Response:
    from starlette.responses import Response

    status, headers, body = answer
    response = Response(body, status)
    response.raw_headers = [*headers, *_length(headers, body)]
    return response


def _length(headers: Headers, body: bytes) -> Headers:
    known = any(name == b"content-length" for name, _ in headers)
    return [] if known else [(b"content-length", str(len(body)).encode())]


def app(
    collector: Collector, *, origins: Sequence[str] = (), limit: int = LIMIT
) -> Starlette:
    """The ASGI app of a collector. `origins` are the web pages that may send messages
    from a browser, such as https://app.example; `limit` is the largest body in bytes.
    """
    try:
        from starlette.applications import Starlette
        from starlette.exceptions import HTTPException
        from starlette.routing import Route
    except ImportError:
        raise MissingExtra("starlette", "serve") from None

    messages = Messages(collector, limit)
    pages = Pages(collector, messages.writer)
    made = Starlette(
        routes=[
            Route("/v1/messages", messages),
            Route("/v1/tasks/{name:path}", pages.task),
            Route("/healthz", pages.health),
            Route("/metrics", pages.metrics),
        ],
        middleware=[_allowed(origins)] if origins else [],
        exception_handlers={HTTPException: pages.failed},
        lifespan=messages.lifespan,
    )
    # Not to an address that whoever asks has named
    made.router.redirect_slashes = False
    made.state.writer = messages.writer
    return made


def _allowed(origins: Sequence[str]) -> Middleware:
    """Lets pages of these origins send messages."""
    from starlette.middleware import Middleware
    from starlette.middleware.cors import CORSMiddleware

    return Middleware(
        CORSMiddleware,
        allow_origins=list(origins),
        allow_methods=["GET", "POST"],
        allow_headers=["authorization", "content-type"],
        max_age=86_400,
    )
