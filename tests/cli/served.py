"""`dither local serve` in a process of its own, as an operator starts it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HEADERS = {"content-type": "application/octet-stream"}
PATIENCE = 60  # seconds: only ever reached where something is broken


@dataclass
class Served:
    """A running collector: where it listens, and what it has printed."""

    process: subprocess.Popen[str]
    line: str
    log: Path

    @property
    def address(self) -> str:
        found = re.search(r"http://\S+:\d+", self.line)
        assert found is not None, self.line
        return found[0]

    def get(self, path: str) -> tuple[int, bytes]:
        return _asked(urllib.request.Request(self.address + path))

    def post(self, body: bytes, token: str | None = None) -> tuple[int, Any]:
        """Status and answer."""
        more = {} if token is None else {"authorization": f"Bearer {token}"}
        asked = urllib.request.Request(
            f"{self.address}/v1/messages", body, HEADERS | more
        )
        status, said = _asked(asked)
        return status, json.loads(said)

    def end(self, how: int = signal.SIGTERM) -> int:
        self.process.send_signal(how)
        return self.process.wait(PATIENCE)

    @property
    def events(self) -> list[str]:
        """What its log lines are about."""
        text = self.log.read_text(encoding="utf-8")
        return [json.loads(line)["event"] for line in text.splitlines()]


def _asked(request: urllib.request.Request) -> tuple[int, bytes]:
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as refusal:
        with refusal:
            return refusal.code, refusal.read()


@contextmanager
def serving(folder: Path, *words: str) -> Iterator[Served]:
    """`dither local serve …` on a free port, ended when this is left."""
    command = [sys.executable, "-W", "error", "-m", "dither.cli", "local", "serve"]
    log = folder / "log.txt"
    source = str(Path(__file__).parents[2] / "src")
    with (
        log.open("w", encoding="utf-8") as errors,
        subprocess.Popen(
            [*command, *words, "--port", "0"],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": source, "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=errors,
            encoding="utf-8",
        ) as process,
    ):
        assert process.stdout is not None
        served = Served(process, process.stdout.readline(), log)
        try:
            assert served.line, log.read_text(encoding="utf-8")
            yield served
        finally:
            if process.poll() is None:
                process.kill()
