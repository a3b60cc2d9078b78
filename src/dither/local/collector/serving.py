"""A collector as a process that answers at an address, until it is told to end."""

from __future__ import annotations

import asyncio
import errno
import socket
import sys
from collections.abc import Callable, Sequence
from types import FrameType, ModuleType

from dither.errors import ArgumentError, MissingExtra
from dither.local.collector.collector import Collector
from dither.local.collector.web import LIMIT, app

__all__ = ["listen", "serve"]

HEAD = 1 << 16
"""Bytes that may come before the head of a request is complete."""
HEADERS = 1_000
PACKED = 16
"""Bytes of a body in tiny chunks, for each that is in it."""
NOT_HERE = "the host {!r} is not an address of this machine; pass its own address"


def serve(
    collector: Collector,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    sockets: Sequence[socket.socket] | None = None,
    origins: Sequence[str] = (),
    limit: int = LIMIT,
    listening: Callable[[str], None] | None = None,
) -> None:
    """Answer requests until the process is told to end (SIGTERM, Ctrl-C); what was
    received by then is counted and answered.

    `sockets` that listen already, perhaps in several processes, take the place of
    `host` and `port`. `listening` is called with the address once requests are
    answered.
    """
    uvicorn = _uvicorn()

    class Server(uvicorn.Server):  # type: ignore[name-defined,misc]
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if listening is not None:
                listening(_address(opened[0]))

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            """End, and return to the caller, who closes the collector: uvicorn would
            send itself the signal once more.
            """
            super().handle_exit(sig, frame)
            self._captured_signals.clear()

    config = uvicorn.Config(
        app(collector, origins=origins, limit=limit),
        http=_protocol(limit),
        ws="none",
        access_log=False,
        log_config=None,
        log_level="error",
        server_header=False,
        # Whatever a proxy says about who sent something is not looked at
        proxy_headers=False,
        timeout_keep_alive=30,
        # Whoever has sent half a request by then sends it again
        timeout_graceful_shutdown=5,
    )
    opened = list(sockets or [listen(host, port)])
    _collect_less_garbage()
    Server(config).run(sockets=opened)
    for one in opened:
        one.close()


def _protocol(limit: int) -> type[asyncio.Protocol] | str:
    """How HTTP is read: with a bound for everything that is kept of a request before
    the app sees it. The fast reader has none; the other one has.
    """
    try:
        from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
    except ImportError:
        return "h11"

    class Bounded(HttpToolsProtocol):
        state: tuple[object, bool] = (None, False)
        """The last request of which the head has come, and whether its body comes."""
        received = 0
        """Bytes that came in this state."""

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            cycle = self.cycle
            state = (cycle, cycle is not None and cycle.more_body)
            if state != self.state:
                self.state, self.received = state, 0
                return
            self.received += len(data)
            most = PACKED * limit if state[1] else HEAD
            # Headers come after a body, too
            if self.received > most or len(self.headers) > HEADERS:
                self.send_400_response("The request is too large.")

    return Bounded


def _collect_less_garbage() -> None:
    """Hundreds of requests that wait for a commit are not garbage, but by Python's
    usual thresholds they are looked at again and again: a fifth of all time.
    """
    import gc

    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def _uvicorn() -> ModuleType:
    try:
        import uvicorn
    except ImportError:
        raise MissingExtra("uvicorn", "serve") from None
    return uvicorn


def listen(host: str, port: int) -> socket.socket:
    """Take an address before anything else is done, so that a second process does
    nothing where a first one listens. Port 0 takes a free one; connections wait until
    they are served.
    """
    _uvicorn()
    try:
        family, kind, number, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (OSError, UnicodeError):
        raise ArgumentError("host", NOT_HERE.format(host)) from None
    listener = socket.socket(family, kind, number)
    try:
        if sys.platform != "win32":  # there, it would let two share a port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(2048)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRNOTAVAIL:
            raise ArgumentError("host", NOT_HERE.format(host)) from None
        why = (error.strerror or str(error)).lower()
        raise ArgumentError(
            "port",
            f"the port {port} of {host} cannot be used ({why}); pass another port",
        ) from None
    return listener


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
