"""Kill the collector at a random moment under load, many times; then look whether every
acknowledged message was counted once.

Victims are forked from a warm parent and serve HTTP on a socket that stays open. The
parent sends parcels over several connections, each with the next one as soon as it is
answered. When something was acknowledged, it kills after a random short delay. What was
not answered is sent again with the same id, or, now and then, given up.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import random  # allowed: when to kill and what to send, not noise
import select
import signal
import socket
import time
import traceback
from collections import Counter, deque
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from dither import local
from dither.local.collector import Collector
from dither.local.collector.rows import parted
from dither.local.collector.serving import serve
from dither.local.parcels import START, parcel
from tests.clock import PATIENCE, until
from tests.ledger.crash import _others

__all__ = ["Outcome", "campaign"]

KEY = local.SigningKey(b"c" * 32)
CONNECTIONS = 12


@dataclass(frozen=True)
class Outcome:
    """What was found after all kills."""

    kills: int
    sent: int
    acknowledged: int
    counted: int
    repeated: int
    """Parcels that were answered as duplicates: counted, and killed before the answer."""


def made_task() -> local.Task:
    return local.task("crash", domain=40, epsilon=1, n=10_000, minimum=2, key=KEY)


@dataclass
class Connection:
    """One sender: what it has sent, and what has come back of the answer."""

    socket: socket.socket
    body: bytes = b""
    answer: bytes = b""


@dataclass
class Campaign:
    """One store, and everything that is done to it."""

    place: str
    kills: int
    processes: int
    longest: float
    chance: random.Random
    acknowledged: set[bytes] = field(default_factory=set)
    sent: dict[bytes, bytes] = field(default_factory=dict)
    again: deque[bytes] = field(default_factory=deque)
    said: Counter[str] = field(default_factory=Counter)

    def run(self) -> Outcome:
        self.task = made_task()
        with Collector(self.place, trust=KEY.public) as collector:
            collector.publish(self.task)
            self.token = collector.admit("relay", quota=1 << 30)
        # Many prepared messages, so that the load is light: only ids are new
        messages = self.task.randomize(np.arange(400) % 40)
        self.singles = list(messages)
        self.batch = messages.to_bytes()
        with socket.create_server(("127.0.0.1", 0), backlog=128) as listening:
            self.listening = listening
            for number in range(self.kills):
                self.kill_some()
                if number % 50 == 49:
                    self.check()
        return self.check()

    def kill_some(self) -> None:
        victims = [self.fork() for _ in range(self.processes)]
        senders = [self.connect() for _ in range(CONNECTIONS)]
        before = len(self.acknowledged)
        end = time.monotonic() + PATIENCE
        while len(self.acknowledged) == before:
            assert time.monotonic() < end, "nothing was acknowledged"
            assert not any(map(_has_ended, victims)), "a victim ended by itself"
            self.pump(senders, 0.05)
        for victim in victims:
            end = time.monotonic() + self.chance.uniform(0, self.longest)
            while time.monotonic() < end:
                self.pump(senders, 0.001)
            os.kill(victim, signal.SIGKILL)
            os.waitpid(victim, 0)
        for sender in senders:
            self.finish(sender)

    def fork(self) -> int:
        child = os.fork()
        if child == 0:
            try:
                _end_with_parent()
                with Collector(self.place, trust=KEY.public) as collector:
                    serve(collector, sockets=[self.listening])
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(1)
        return child

    def connect(self) -> Connection:
        made = Connection(socket.create_connection(self.listening.getsockname()))
        self.send_next(made)
        return made

    def send_next(self, sender: Connection) -> None:
        sender.body, sender.answer = self.next_body(), b""
        head = (
            "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\n"
            "content-type: application/octet-stream\r\n"
            f"authorization: Bearer {self.token}\r\n"
            f"content-length: {len(sender.body)}\r\n\r\n"
        )
        sender.socket.sendall(head.encode() + sender.body)

    def next_body(self) -> bytes:
        if self.again:
            return self.again.popleft()
        known = os.urandom(16)
        whole = self.chance.random() < 0.1
        body = parcel(self.batch if whole else self.chance.choice(self.singles), known)
        self.sent[known] = body
        return body

    def pump(self, senders: list[Connection], seconds: float) -> None:
        """Take answers that are there, and send what comes next."""
        there = [one for one in senders if one.body]
        ready, _, _ = select.select([one.socket for one in there], [], [], seconds)
        for one in there:
            if one.socket in ready and self.take(one):
                self.try_next(one)

    def try_next(self, sender: Connection) -> None:
        try:
            self.send_next(sender)
        except OSError:  # killed meanwhile
            self.repeat(sender)

    def take(self, sender: Connection) -> bool:
        """Read what is there; whether the answer is whole."""
        try:
            data = sender.socket.recv(4096)
        except OSError:
            data = b""
        if not data:
            self.repeat(sender)
            return False
        sender.answer += data
        head, _, said = sender.answer.partition(b"\r\n\r\n")
        if not said.endswith(b"}"):
            return False
        assert head.startswith(b"HTTP/1.1 200"), sender.answer
        self.said["duplicate" if b"duplicate" in said else "accepted"] += 1
        self.acknowledged.add(sender.body[2:START])
        sender.body = b""
        return True

    def repeat(self, sender: Connection) -> None:
        """What was not acknowledged is sent again, or given up."""
        if sender.body and self.chance.random() < 0.9:
            self.again.append(sender.body)
        sender.body = b""

    def finish(self, sender: Connection) -> None:
        """An answer that was on its way when the collector was killed counts. A
        connection that it had not accepted waits for the next one: nobody waits here.
        """
        sender.socket.setblocking(False)
        while sender.body and not self.take(sender):
            pass
        sender.socket.close()

    def check(self) -> Outcome:
        """Every acknowledged parcel is counted, nothing else than what was sent is,
        and all cells are the sum of what was counted.
        """
        if self.place.startswith("postgresql:"):
            until(lambda: not _others(self.place), "the server has finished")
        with Collector(self.place, trust=KEY.public) as collector:
            counted = self.counted(collector)
            assert self.acknowledged <= counted, "an acknowledged parcel is lost"
            assert counted <= self.sent.keys()
            bodies = [self.sent[one][START:] for one in counted]
            expected = self.task.tally(bodies, batches=True)
            found = collector.tally(self.task)
            assert found.messages == expected.messages
            assert np.array_equal(found.counts, expected.counts)
            # What was counted is known, whoever sends it again
            some = [self.sent[one] for one in list(counted)[:20]]
            again = collector.accept_all(some, self.token)
            assert {outcome.status for outcome in again} == {"duplicate"}
        numbers = (len(self.sent), len(self.acknowledged), len(counted))
        return Outcome(self.kills, *numbers, self.said["duplicate"])

    def counted(self, collector: Collector) -> set[bytes]:
        with collector._reading() as rows:
            older = [bytes(row[0]) for row in rows.run("SELECT id FROM seen")]
            newer = [one for _, _, ids in rows.fresh(-1) for one in parted(ids)]
        assert len(set(older + newer)) == len(older) + len(newer), "an id twice"
        return {*older, *newer}


def _end_with_parent() -> None:
    """Nothing is left where a campaign fails."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def _has_ended(victim: int) -> bool:
    return os.waitpid(victim, os.WNOHANG)[0] != 0


def campaign(
    place: str,
    kills: int,
    *,
    processes: int = 1,
    longest: float = 0.03,
    seed: int | None = None,
) -> Outcome:
    """Kill so many times; raises AssertionError if anything that must hold does not.

    Victims are forked from a fresh process: what other tests have loaded does not always
    survive a fork (a victim that collects their garbage crashed).
    """
    fresh = multiprocessing.get_context("spawn")
    chance = random.Random(seed)
    with ProcessPoolExecutor(1, mp_context=fresh) as pool:
        made = Campaign(place, kills, processes, longest, chance)
        return pool.submit(made.run).result()
