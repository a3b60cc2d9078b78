"""A PostgreSQL server of our own for tests and benchmarks: local connections only, durable commits, gone afterwards."""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["NoServer", "Server", "serving"]


class NoServer(Exception):
    """PostgreSQL or psycopg cannot be had here; the message says which."""


class Server:
    """A running server. `database()` makes an empty database and returns its address."""

    def __init__(self, folder: Path, port: int) -> None:
        self._folder, self._port = folder, port
        self._numbers = itertools.count(1)

    def address(self, database: str) -> str:
        return f"postgresql://postgres@/{database}?host={self._folder}&port={self._port}"

    def database(self) -> str:
        import psycopg

        name = f"book{os.getpid()}_{next(self._numbers)}"
        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return self.address(name)


@contextmanager
def serving() -> Iterator[Server]:
    """Start a server in a folder that only its own user can enter, and stop it at the end."""
    try:
        import psycopg  # noqa: F401
    except ImportError:
        raise NoServer("psycopg is not installed: pip install 'psycopg[binary]'") from None
    initdb, postgres = _binary("initdb"), _binary("postgres")
    # Not pytest's folder for temporary files: PostgreSQL's user may not enter that.
    folder = Path(tempfile.mkdtemp(prefix="dither-pg-"))
    try:
        if os.getuid() == 0:
            shutil.chown(folder, "postgres")
        data, port = folder / "data", _free_port()
        _call([initdb, "-D", data, "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C"])
        with (folder / "log").open("wb") as log:
            command = [postgres, "-D", data, "-k", folder, "-p", port, "-c", "listen_addresses=", "-c", "fsync=on"]
            process = subprocess.Popen(_as_user(command), stdout=log, stderr=log, cwd="/")
        try:
            server = Server(folder, port)
            _wait(server, process, folder / "log")
            yield server
        finally:
            # To the server itself and not to `runuser`, which would leave it behind; nothing of it is to be kept.
            os.kill(int((data / "postmaster.pid").read_text().split()[0]), signal.SIGQUIT)
            process.wait(30)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _binary(name: str) -> str:
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda place: float(place.parent.name), reverse=True)
    found = shutil.which(name, path=os.pathsep.join([*map(str, places), os.environ.get("PATH", "")]))
    if found is None:
        raise NoServer(f"PostgreSQL's {name} was not found: install postgresql")
    return found


def _as_user(command: list[object]) -> list[str]:
    """PostgreSQL refuses to run as root, so root runs it as the user `postgres`."""
    words = [str(word) for word in command]
    if os.getuid() != 0:
        return words
    try:
        pwd.getpwnam("postgres")
    except KeyError:
        raise NoServer("there is no user postgres to run the server as: install postgresql") from None
    return ["runuser", "-u", "postgres", "--", *words]


def _call(command: list[object]) -> None:
    done = subprocess.run(_as_user(command), capture_output=True, text=True, check=False, cwd="/")
    if done.returncode:
        raise NoServer(f"initdb failed: {done.stderr.strip()}")


def _free_port() -> int:
    """It only names the socket file, and the folder is our own; still, take one that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(server: Server, process: subprocess.Popen[bytes], log: Path) -> None:
    import time

    import psycopg

    for _ in range(300):
        if process.poll() is not None:
            break
        try:
            psycopg.connect(server.address("postgres")).close()
        except psycopg.OperationalError:
            time.sleep(0.1)
        else:
            return
    raise NoServer(f"PostgreSQL did not start: {log.read_text()[-500:]}")
