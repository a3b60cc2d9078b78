"""Chromium, without a window, and a server that tells its page what to do."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.clients.node import CLIENT, program

PATIENCE = 120.0  # seconds for one scene, on a busy machine


class Served(ThreadingHTTPServer):
    """The client's files, some made-up ones, and what the page reports."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.made: dict[str, bytes] = {}
        self.results: queue.Queue[tuple[str, Any]] = queue.Queue()
        self.posted: list[tuple[str, bytes]] = []

    @property
    def address(self) -> str:
        return f"http://localhost:{self.server_port}"

    def result(self, name: str) -> Any:
        """What the page reports next; its own failure fails the test."""
        found, result = self.results.get(timeout=PATIENCE)
        assert found == name
        assert "failed" not in result, result["failed"]
        return result


class Handler(SimpleHTTPRequestHandler):
    server: Served

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, directory=str(CLIENT), **named)

    def log_message(self, *_: Any) -> None:
        """Tests are silent."""

    def guess_type(self, path: Any) -> str:
        # what the machine's own table says of .mjs differs
        return (
            "text/javascript" if str(path).endswith("js") else super().guess_type(path)
        )

    def do_GET(self) -> None:
        made = self.server.made.get(self.path)
        if made is None:
            super().do_GET()
        else:
            kind = "text/html" if self.path.endswith("html") else "application/json"
            self._answer(made, kind)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path.startswith("/result/"):
            name = self.path.removeprefix("/result/")
            self.server.results.put((name, json.loads(body)))
        else:
            self.server.posted.append((self.path, body))
        self._answer(b"{}", "application/json")

    def _answer(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def serving() -> Iterator[Served]:
    server = Served()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def browsing(profile: Path, address: str) -> Iterator[None]:
    """A browser at an address, killed at the end as a crash would."""
    running = subprocess.Popen(
        [
            program("chromium"),
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            f"--user-data-dir={profile}",
            address,
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield
    finally:
        # all of its processes at once, before they can write anything more
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
