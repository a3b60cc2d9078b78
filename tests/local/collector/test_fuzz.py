"""Random and mutated parcels: no failure, and what is refused changes nothing."""

from __future__ import annotations

import asyncio
import logging
import random  # allowed: what strangers send, not noise

import numpy as np
import pytest

from dither import local
from dither.local import parcel
from dither.local.collector import CODES, web
from dither.local.collector.web import STATUS
from tests.local.collector.asking import Web
from tests.local.collector.conftest import MONDAY
from tests.local.collector.test_collector import state

TOGETHER = 250
SECRET = b"a secret that was sent by mistake"


class Stranger:
    """Sends what nobody should."""

    def __init__(self, tasks, seed):
        self.chance = random.Random(seed)
        self.bases = []
        for task in tasks:
            for period in (0, 3):
                where = {"period": period % task.periods}
                where |= {"stratum": task.strata[0]} if task.strata else {}
                messages = task.randomize([0, 1, 2], **where)
                self.bases += [parcel(messages), *self.single(messages)]

    def single(self, messages):
        return [parcel(one, self.chance.randbytes(16)) for one in messages]

    def body(self):
        chance, base = self.chance, bytearray(self.chance.choice(self.bases))
        at = chance.randrange(len(base))
        kind = chance.randrange(8)
        made = {
            0: chance.randbytes(chance.randrange(200)),
            1: base[:at],
            2: base + chance.randbytes(chance.randrange(1, 9)),
            3: base + SECRET,
            4: base + chance.choice(self.bases),
            5: base[:at] + base[at + chance.randrange(1, 9) :],
        }
        if kind in made:
            return bytes(made[kind])
        for _ in range(chance.randrange(1, 4)):
            base[chance.randrange(len(base))] = chance.randrange(256)
        if kind == 6:
            base[2:18] = chance.randbytes(16)
        return bytes(base)


def campaign(collector, tasks, rounds, seed, caplog):
    caplog.set_level(logging.DEBUG)
    token = collector.admit("relay", quota=1 << 30)
    stranger = Stranger(tasks, seed)
    seen = set()
    expected = Counter()
    with Web(web.app(collector, limit=4096)) as site:

        async def together(bodies):
            asked = (site.posting(body, token=one) for body, one in bodies)
            return await asyncio.gather(*asked)

        for _ in range(rounds):
            tokens = (stranger.chance.choice([token, None]) for _ in range(TOGETHER))
            bodies = [(stranger.body(), one) for one in tokens]
            for sent, answer in zip(bodies, site.run(together(bodies)), strict=True):
                assert answer.status < 500, answer
                assert SECRET not in answer.body
                outcomes = answer.said.get("outcomes", [answer.said])
                if "code" in answer.said:
                    assert answer.status == STATUS[answer.said["code"]]
                for number, said in enumerate(outcomes):
                    seen.add(said.get("code", said.get("status")))
                    if "code" in said:
                        reason = CODES[said["code"]]
                        assert said == {"code": said["code"], "reason": reason}
                    elif said["status"] == "accepted":
                        add(expected, collector.read(*sent)[number], said["messages"])
    # What was refused is in no tally, no list of ids and no quota
    kept = state(collector)
    found = {(row[1], row[2], row[3]): row[0] for row in kept["tally"]}
    assert set(found) == set(expected)
    for key, counts in expected.items():
        with collector._reading() as rows:
            assert np.array_equal(rows.cells(found[key], len(counts)), counts)
    ids = len(kept["seen"]) + sum(len(row[2]) // 16 for row in kept["fresh"])
    assert ids == expected.total
    assert SECRET.decode() not in caplog.text
    return seen


class Counter(dict):
    """What should have been counted, and how many parcels that was."""

    total = 0


def add(expected, sent, messages):
    oracle = sent.place.task.oracle
    records = np.frombuffer(sent.records, np.uint8).reshape(-1, oracle.record)
    valid = records[oracle.valid(records)]
    assert len(valid) == messages
    expected[sent.place.key] = expected.get(sent.place.key, 0) + oracle.tally(valid)
    expected.total += 1


def tasks_of(make):
    return [
        make(domain=4, minimum=2),
        make("bits", domain=20, every=None, oracle="optimized unary"),
        make("subset", domain=20, every=None, oracle="subset selection"),
        make("open", domain=None, every=None, none=True),
        make("weekly", domain=3, every="week", strata=["x", "y"]),
    ]


EXPECTED = {"accepted", "duplicate", "malformed", "truncated", "task-unknown"}


def test_some_thousands(opened, file, make, caplog):
    collector = opened(file)
    tasks = [collector.publish(task) for task in tasks_of(make)]
    seen = campaign(collector, tasks, 10, 1, caplog)
    assert seen >= EXPECTED


@pytest.mark.full
def test_a_hundred_thousand(opened, file, make, caplog):
    collector = opened(file)
    tasks = [collector.publish(task) for task in tasks_of(make)]
    seen = campaign(collector, tasks, 410, 2, caplog)
    more = {"invalid", "stratum-unknown", "period-unknown", "token-missing"}
    assert seen >= EXPECTED | more | {"period-early"}


def test_parcels_of_everybody_are_made_in_one_way():
    """What the stranger begins with are good parcels."""
    task = local.task("t", domain=4, epsilon=1, n=100, starts=MONDAY)
    for body in Stranger([task], 3).bases:
        assert body[:2] == b"\xd4\x01"
