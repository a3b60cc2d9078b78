"""The collector behind a socket: what is kept of requests that never end."""

from __future__ import annotations

import itertools
import socket
import threading

import pytest
import uvicorn

from dither.local import parcel
from dither.local.collector import web
from dither.local.collector.serving import _protocol, listen
from tests.clock import until

HEAD = b"POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Type: application/octet-stream\r\n"
MANY = 64 << 20
"""Bytes after which whoever reads them would read for ever."""


@pytest.fixture
def connect(here):
    """Connections to a server that has a small limit for bodies."""
    limit = 1 << 20
    settings = {"http": _protocol(limit), "log_config": None, "log_level": "critical"}
    server = uvicorn.Server(uvicorn.Config(web.app(here, limit=limit), **settings))
    listener = listen("127.0.0.1", 0)
    sockets = {"sockets": [listener]}
    thread = threading.Thread(target=server.run, kwargs=sockets)
    thread.start()
    until(lambda: server.started, "the server begins")
    with socket.create_connection(listener.getsockname(), timeout=60) as connection:
        yield connection
    server.should_exit = True
    thread.join()
    listener.close()


def endless(before, piece):
    yield before
    yield from itertools.repeat(piece * (60_000 // len(piece)))


@pytest.mark.parametrize(
    "pieces",
    [
        endless(b"GET /", b"a"),
        endless(HEAD, b"X: y\r\n"),
        endless(HEAD + b"X: ", b"y"),
        endless(HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"X: y\r\n"),
        endless(HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\nX: ", b"y"),
        endless(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nz\r\n"),
    ],
    ids=["address", "headers", "header", "trailers", "trailer", "chunks"],
)
def test_a_request_that_never_ends_is_cut_off(connect, pieces):
    with pytest.raises((ConnectionResetError, BrokenPipeError)):
        send_all(connect, pieces)


def send_all(connection, pieces):
    sent = 0
    while sent < MANY:
        piece = next(pieces)
        connection.sendall(piece)
        sent += len(piece)


def test_long_requests_are_answered(connect, here, task):
    """Several on one connection, each in many pieces."""
    token = here.admit("relay", quota=1_000_000)
    answers = connect.makefile("rb")
    for size in (300_000, 10, 500_000, 20):
        body = parcel(task.randomize(["a"] * size))
        more = f"Authorization: Bearer {token}\r\nContent-Length: {len(body)}\r\n\r\n"
        connect.sendall(HEAD + more.encode() + body)
        assert answers.readline() == b"HTTP/1.1 200 OK\r\n"
        while answers.readline() != b"\r\n":
            pass
        said = b'{"status": "accepted", "messages": %d}' % size
        assert answers.read(len(said)) == said
