"""A PostgreSQL server of our own for tests and benchmarks: local connections only,
durable commits, gone afterwards.
"""

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
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.clock import PATIENCE, until

__all__ = ["NoServer", "Server", "serving", "tested"]


class NoServer(Exception):
    """PostgreSQL or psycopg cannot be had here; the message says which."""


class Server:
    """A running server. `database()` makes an empty database and returns its address."""

    def __init__(self, folder: Path, settings: tuple[str, ...] = ()) -> None:
        self._folder, self._port = folder, _free_port()
        self._settings = (
            "listen_addresses=",
            "fsync=on",
            "synchronous_commit=on",
            *settings,
        )
        self._numbers = itertools.count(1)
        _call(
            [
                _binary("initdb"),
                "-D",
                folder / "data",
                "-U",
                "postgres",
                "--auth=trust",
                "--encoding=UTF8",
                "--locale=C",
            ]
        )
        self.start()

    def start(self) -> None:
        where = ["-D", self._folder / "data", "-k", self._folder, "-p", self._port]
        settings = [word for setting in self._settings for word in ("-c", setting)]
        with (self._folder / "log").open("ab") as log:
            command = _as_user([_binary("postgres"), *where, *settings])
            self._process = subprocess.Popen(command, stdout=log, stderr=log, cwd="/")
        self._wait()

    def crash(self) -> None:
        """End it at once, without writing what is still in its memory; a later start
        recovers from its log.
        """
        # To the server itself and not to `runuser`, which would leave it behind.
        os.kill(
            int((self._folder / "data" / "postmaster.pid").read_text().split()[0]),
            signal.SIGQUIT,
        )
        self._process.wait(PATIENCE)

    def address(self, database: str) -> str:
        return (
            f"postgresql://postgres@/{database}?host={self._folder}&port={self._port}"
        )

    def database(self) -> str:
        import psycopg

        name = f"book{os.getpid()}_{next(self._numbers)}"
        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return self.address(name)

    @contextmanager
    def gone(self, address: str) -> Iterator[None]:
        """Nobody reaches a database inside the block, and who was connected is not any
        more: as if the server were down, but at once.
        """
        import psycopg

        name = psycopg.conninfo.conninfo_to_dict(address)["dbname"]
        throw_out = (
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
        )
        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            for allowed in (b"false", b"true"):
                setting = f"ALTER DATABASE {name} ALLOW_CONNECTIONS ".encode()
                connection.execute(setting + allowed)
                if allowed == b"false":
                    connection.execute(throw_out, (name,))
                    yield

    def _wait(self) -> None:
        import psycopg

        def answers() -> bool:
            if self._process.poll() is not None:
                raise NoServer(
                    f"PostgreSQL did not start: {(self._folder / 'log').read_text()[-500:]}"
                )
            with suppress(psycopg.OperationalError):
                psycopg.connect(self.address("postgres")).close()
                return True
            return False

        until(answers, "PostgreSQL answers")


@contextmanager
def serving(*settings: str) -> Iterator[Server]:
    """A server in a folder that only its own user can enter, until the end of the
    block.
    """
    try:
        import psycopg  # noqa: F401
    except ImportError:
        raise NoServer(
            "psycopg is not installed: pip install 'psycopg[binary]'"
        ) from None
    # Not pytest's folder for temporary files: PostgreSQL's user may not enter that.
    folder = Path(tempfile.mkdtemp(prefix="dither-pg-"))
    try:
        if os.getuid() == 0:
            shutil.chown(folder, _user())
        server = Server(folder, settings)
        try:
            yield server
        finally:
            server.crash()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _binary(name: str) -> str:
    places = sorted(
        Path("/usr/lib/postgresql").glob("*/bin"),
        key=lambda place: float(place.parent.name),
        reverse=True,
    )
    found = shutil.which(
        name, path=os.pathsep.join([*map(str, places), os.environ.get("PATH", "")])
    )
    if found is None:
        raise NoServer(f"PostgreSQL's {name} was not found: install postgresql")
    return found


def _user() -> str:
    try:
        return pwd.getpwnam("postgres").pw_name
    except KeyError:
        raise NoServer(
            "there is no user postgres to run the server as: install postgresql"
        ) from None


def _as_user(command: list[object]) -> list[str]:
    """PostgreSQL refuses to run as root, so root runs it as the user `postgres`."""
    words = [str(word) for word in command]
    return ["runuser", "-u", _user(), "--", *words] if os.getuid() == 0 else words


def _call(command: list[object]) -> None:
    done = subprocess.run(
        _as_user(command), capture_output=True, text=True, check=False, cwd="/"
    )
    if done.returncode:
        raise NoServer(f"initdb failed: {done.stderr.strip()}")


def _free_port() -> int:
    """It only names the socket file, and the folder is our own; still, take one that
    nobody listens on.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def tested() -> Iterator[Server]:
    """A server for tests: without one they are skipped, but in CI they fail.

    It does not wait for the disk: hundreds of databases are made and thrown away here,
    and what a process has written outlives a crash of the process anyway.
    """
    import pytest

    running = serving("fsync=off")
    try:
        found = running.__enter__()
    except NoServer as error:
        if os.environ.get("CI"):
            pytest.fail(f"CI must test PostgreSQL too: {error}", pytrace=False)
        pytest.skip(f"PostgreSQL is not tested: {error}")
    try:
        yield found
    finally:
        running.__exit__(None, None, None)
