"""Messages per second of a collector over HTTP, durably counted, beside a bare handler
that only reads the body.
"""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.harness import Report, Row, at_least, at_most, medians, versions
from dither import local
from dither.local.collector import Collector
from dither.local.parcels import HEAD, START, parcel
from tests.ledger.server import Server
from tests.ledger.server import serving as database_server
from tests.local.collector.crash import Outcome, campaign

ITEMS, EPSILON, BATCH = 1_000, 2.0, 1_000
SECONDS = 4.0
REPEATS = 5
LONG = 10_000_000
CONNECTIONS = {"batches": 64, "singles": 512}
KEY = local.SigningKey(b"benchmark" + bytes(23))
ROOT = Path(__file__).parent.parent

NOTES = (
    f"Optimized unary encoding of {ITEMS:,} values, ε = {EPSILON:g}: "
    f"{ITEMS // 8} bytes a record. SQLite with a durable commit; uvicorn with uvloop "
    "and httptools, one process; the load comes from another process on the same "
    "cores.",
    "Bare: a Starlette handler that reads the body and answers. It takes turns with "
    "the collector, and gets the same bytes; medians. Wall time.",
    "Singles: one message a request, 512 connections. Batches: "
    f"{BATCH:,} messages a request, 64 connections.",
)


def made_task() -> local.Task:
    return local.task(
        "bench",
        domain=ITEMS,
        none=False,
        epsilon=EPSILON,
        n=1_000_000,
        oracle="optimized unary",
        key=KEY,
    )


def serve_collector(place: str, port: int) -> None:
    """The process that is measured."""
    from dither.local.collector.serving import serve

    with Collector(place, trust=KEY.public, direct=1 << 40) as collector:
        serve(collector, port=port)


def serve_bare(port: int) -> None:
    """What it is compared with."""
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    async def take(request: Request) -> Response:
        await request.body()
        return Response(b'{"status": "accepted"}', media_type="application/json")

    app = Starlette(routes=[Route("/v1/messages", take, methods=["POST"])])
    uvicorn.run(app, port=port, access_log=False, log_level="error")


@dataclass
class Served:
    """A server in a process of its own."""

    process: subprocess.Popen[bytes]
    port: int

    @property
    def memory(self) -> float:
        """Megabytes that are resident."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1024

    @property
    def cpu(self) -> float:
        """CPU-seconds that it has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii")
        user, system = fields.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serving(call: str) -> Iterator[Served]:
    port = free_port()
    code = f"from bench import collect; collect.{call.format(port=port)}"
    process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT)
    try:
        wait_for(port, process)
        yield Served(process, port)
    finally:
        process.terminate()
        process.wait(60)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        assert process.poll() is None, "the server ended"
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise TimeoutError("the server does not answer")


class Load:
    """Requests with prepared bytes over a few connections, each of which sends the
    next one when it is answered. Only the ids are new.
    """

    def __init__(self, body: bytes, token: str, connections: int) -> None:
        assert body[:2] == HEAD
        lines = (
            "POST /v1/messages HTTP/1.1",
            "host: localhost",
            "content-type: application/octet-stream",
            f"authorization: Bearer {token}",
            f"content-length: {len(body)}",
        )
        self.head = "\r\n".join(lines).encode() + b"\r\n\r\n" + HEAD
        self.rest, self.connections = body[START:], connections

    def run(self, port: int, enough: Callable[[int], bool]) -> tuple[int, float]:
        """How many requests were answered well, in how many seconds."""
        sockets = [self._connect(port) for _ in range(self.connections)]
        by_number = {one.fileno(): one for one in sockets}
        poll = select.epoll()
        for one in sockets:
            poll.register(one.fileno(), select.EPOLLIN)
        ids = os.urandom
        head, rest, done, open_ = self.head, self.rest, 0, len(sockets)
        began = time.perf_counter()
        for one in sockets:
            one.sendall(b"".join((head, ids(16), rest)))
        while open_:
            for number, _ in poll.poll():
                one = by_number[number]
                answer = one.recv(4096)
                assert answer.startswith((b"HTTP/1.1 200", b'{"status":')), answer
                if not answer.endswith(b"}"):
                    continue  # the headers; the body is on its way
                done += 1
                if enough(done):
                    open_ -= 1
                else:
                    one.sendall(b"".join((head, ids(16), rest)))
        took = time.perf_counter() - began
        poll.close()
        for one in sockets:
            one.close()
        return done, took

    def _connect(self, port: int) -> socket.socket:
        made = socket.socket()
        made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        made.connect(("127.0.0.1", port))
        return made

    def rate(self, port: int, seconds: float) -> float:
        """Requests per second."""
        end = time.perf_counter() + seconds
        done, took = self.run(port, lambda _: time.perf_counter() > end)
        return done / took


def loads(token: str) -> dict[str, Load]:
    messages = made_task().randomize([number % ITEMS for number in range(BATCH)])
    single = parcel(next(iter(messages)), bytes(16))
    return {
        "batches": Load(parcel(messages), token, CONNECTIONS["batches"]),
        "singles": Load(single, token, CONNECTIONS["singles"]),
    }


def prepared(place: str) -> str:
    """A new collector's token."""
    with Collector(place, trust=KEY.public) as collector:
        collector.publish(made_task())
        return collector.admit("relay", quota=1 << 40)


def counted(place: str) -> int:
    with Collector(place, trust=KEY.public) as collector:
        return collector.tally("bench").messages


def run() -> Report:
    with tempfile.TemporaryDirectory() as folder:
        place = f"{folder}/collector.db"
        token = prepared(place)
        made = loads(token)
        ours = f"serve_collector({place!r}, {{port}})"
        rates: dict[str, dict[str, float]] = {}
        with serving(ours) as collector, serving("serve_bare({port})") as bare:
            for kind, load in made.items():
                systems = {
                    "dither": lambda load=load: load.rate(collector.port, SECONDS),
                    "bare handler": lambda load=load: load.rate(bare.port, SECONDS),
                }
                rates[kind] = medians(systems, REPEATS)
            memory = steady(made["batches"], collector)
        total = counted(place)
    return report(rates, memory, total)


def steady(load: Load, server: Served) -> dict[int, float]:
    """Megabytes of the server after so many messages."""
    found = {0: server.memory}
    requests = LONG // BATCH // 10
    for step in range(1, 11):
        load.run(server.port, lambda done: done > requests - CONNECTIONS["batches"])
        found[step * LONG // 10] = server.memory
    return found


KILLS = 130
"""Of one campaign."""
CAMPAIGNS = (
    *[("SQLite", 1)] * 4,
    *[("PostgreSQL", 1)] * 4,
    *[("SQLite", 2)] * 4,
    *[("PostgreSQL", 2)] * 4,
)
"""The store, and how many collectors share it; where two do, each kill is of two."""

CRASH_NOTES = (
    "An acknowledged message that is not counted, one that is counted twice, a cell "
    "that is not the sum of what was counted, or a collector that does not open again "
    "ends the run without a result.",
    "SIGKILL under load over HTTP, 12 connections, at a random moment after the first "
    "answer; what was not answered is sent again with the same id, or given up.",
    "Repeated: counted, and killed before the answer; the retry was told so.",
)


def crash() -> Report:
    with database_server() as server:
        return crashes(
            [attacked(store, processes, server) for store, processes in CAMPAIGNS]
        )


def attacked(store: str, processes: int, server: Server) -> Outcome:
    """One campaign on a store of its own."""
    with tempfile.TemporaryDirectory() as folder:
        place = f"{folder}/collector.db" if store == "SQLite" else server.database()
        return campaign(place, KILLS // processes, processes=processes)


def crashes(found: list[Outcome]) -> Report:
    rows: list[Row] = []
    for store, processes in dict.fromkeys(CAMPAIGNS):
        case = f"{store}, {processes} at once"
        of_case = [
            outcome
            for outcome, which in zip(found, CAMPAIGNS, strict=True)
            if which == (store, processes)
        ]
        for metric in ("sent", "acknowledged", "counted", "repeated"):
            total = sum(getattr(outcome, metric) for outcome in of_case)
            rows.append(Row(case, "dither", f"parcels {metric}", total))
        killed = processes * sum(outcome.kills for outcome in of_case)
        rows.append(Row(case, "dither", "collectors killed", killed))
    total = sum(row.value or 0 for row in rows if row.metric == "collectors killed")
    goals = (
        at_least("collectors killed", 2_000, total),
        at_most("acknowledged parcels lost, or counted twice", 0, 0),
    )
    return Report(tuple(rows), goals, CRASH_NOTES, versions("dither", "psycopg"))


def report(
    rates: dict[str, dict[str, float]], memory: dict[int, float], total: int
) -> Report:
    batches, singles = rates["batches"], rates["singles"]
    rows = [
        Row(f"batches of {BATCH:,}", system, "messages per second", BATCH * rate)
        for system, rate in batches.items()
    ]
    rows += [
        Row("single messages", system, "messages per second", rate)
        for system, rate in singles.items()
    ]
    rows += [
        Row(f"after {messages:,} messages more", "dither", "resident MB", size)
        for messages, size in memory.items()
    ]
    rows.append(Row("all", "dither", "messages counted", total))
    # The first tenth fills caches and the allocator
    grown = memory[LONG] - memory[LONG // 10]
    return Report(
        tuple(rows),
        (
            at_least(
                f"batches of {BATCH:,}: messages per second",
                500_000,
                BATCH * batches["dither"],
            ),
            at_least(
                f"batches of {BATCH:,}: share of the bare handler",
                0.5,
                batches["dither"] / batches["bare handler"],
            ),
            at_least(
                "single messages: share of the bare handler",
                0.7,
                singles["dither"] / singles["bare handler"],
            ),
            at_most(f"MB grown over {LONG:,} messages", 8, grown),
        ),
        NOTES,
        versions("dither", "numpy", "starlette", "uvicorn", "uvloop", "httptools"),
    )
