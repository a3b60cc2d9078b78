"""The collector over HTTP: what is answered, and what is not said."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
import threading

import pytest

from dither import local
from dither.local import parcel
from dither.local.collector import CODES, web
from dither.local.collector.log import LOG
from dither.local.collector.writer import Writer
from tests.clock import until
from tests.local.collector.asking import Web


@pytest.fixture
def serving():
    """Apps, until the end of the test."""
    running = []

    def serves(collector, **settings):
        asked = Web(web.app(collector, **settings))
        running.append(asked.__enter__())
        return asked

    yield serves
    for asked in running:
        asked.__exit__()


@pytest.fixture
def site(here, serving):
    return serving(here)


def code(answer):
    return answer.status, answer.said.get("code") or answer.said.get("status")


def test_every_code_has_a_status():
    assert set(web.STATUS) == set(CODES)
    assert set(web.AFTER) <= set(CODES)


def test_a_message_and_its_retry(site, here, task, singles):
    (sent,) = singles(task, ["a"])
    answer = site.post(sent)
    assert answer.status == 200
    assert answer.said == {"status": "accepted", "messages": 1}
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-store"
    assert int(answer.headers["content-length"]) == len(answer.body)
    assert code(site.post(sent)) == (200, "duplicate")
    assert code(site.post(sent[:10], sent[10:20], sent[20:])) == (200, "duplicate")
    assert here.status().tasks[0].periods[0].period == 0


def test_a_batch_of_a_relay(site, here, task):
    token = here.admit("relay", quota=10)
    batch = parcel(task.randomize(["a"] * 7))
    assert code(site.post(batch)) == (401, "token-missing")
    assert code(site.post(batch, token="nothing")) == (403, "token-unknown")
    basic = site.post(batch, authorization=f"Basic {token}")
    assert code(basic) == (403, "token-unknown")
    assert site.post(batch, token=token).said["messages"] == 7
    over = site.post(parcel(task.randomize(["a"] * 4)), token=token)
    assert code(over) == (429, "quota-used")
    assert int(over.headers["retry-after"]) > 0


def test_several_parcels_in_one_body(site, task, singles):
    first, second = singles(task, ["a", "b"])
    assert site.post(first + second).said == {
        "outcomes": [{"status": "accepted", "messages": 1}] * 2
    }
    (third,) = singles(task, ["c"])
    bad = third[:-1] + b"\xff"
    assert site.post(first + bad).said == {
        "outcomes": [
            {"status": "duplicate"},
            {"code": "invalid", "reason": CODES["invalid"]},
        ]
    }


def test_refusals_have_a_code_and_a_reason(site, task, singles):
    (sent,) = singles(task, ["a"])
    for body, expected in ((sent[:-1], "truncated"), (b"hello", "malformed")):
        answer = site.post(body)
        assert answer.status == 400
        assert answer.said == {"code": expected, "reason": CODES[expected]}
    unknown = sent[:22] + b"nothing!" + sent[30:]
    assert code(site.post(unknown)) == (404, "task-unknown")


def test_ended_tasks(site, here, task, key, singles):
    (sent,) = singles(task, ["a"])
    here.publish(task.stop().sign(key))
    assert code(site.post(sent)) == (410, "task-stopped")
    here.retire("emoji")
    assert code(site.post(sent)) == (410, "task-retired")


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"content_type": "application/json"}, "content-type"),
        ({"content_type": None}, "content-type"),
        ({"content_encoding": "gzip"}, "content-encoding"),
        ({"content_encoding": "identity"}, "content-encoding"),
    ],
)
def test_what_is_not_read(site, task, singles, headers, expected):
    (sent,) = singles(task, ["a"])
    assert code(site.post(sent, **headers)) == (415, expected)
    kind = "Application/Octet-Stream; charset=binary"
    assert site.post(sent, content_type=kind).status == 200


def test_a_compressed_bomb_is_not_opened(site):
    bomb = gzip.compress(bytes(50_000_000))
    assert code(site.post(bomb, content_encoding="gzip")) == (415, "content-encoding")
    assert code(site.post(bomb)) == (400, "malformed")


def test_the_body_has_a_limit(here, serving, task, singles):
    small = serving(here, limit=100)
    (sent,) = singles(task, ["a"])
    assert small.post(sent).status == 200
    assert code(small.post(sent, content_length="101")) == (413, "too-large")
    # and where the length is not told, or is a lie
    pieces = iter(range(1000))

    async def endless():
        scope = {
            "type": "http",
            "method": "POST",
            "path": "/v1/messages",
            "headers": [(b"content-type", b"application/octet-stream")],
            "query_string": b"",
        }
        sent = []

        async def receive():
            next(pieces)
            return {"type": "http.request", "body": bytes(40), "more_body": True}

        async def send(message):
            sent.append(message)

        await small.app(scope, receive, send)
        return sent

    answer = small.run(endless())
    assert answer[0]["status"] == 413
    assert next(pieces) == 3, "it stops reading as soon as it is too much"
    assert code(small.post(bytes(101))) == (413, "too-large")


@pytest.mark.parametrize("setting", ["SLOW", "READING"])
def test_half_sent_bodies_do_not_pile_up(site, task, singles, monkeypatch, setting):
    """They have a time and a size in all; then they are sent again."""
    (sent,) = singles(task, ["a"])

    async def half():
        answer = []
        pieces = asyncio.Queue()
        await pieces.put(sent[:9])

        async def receive():
            piece = await pieces.get()  # the second one never comes
            return {"type": "http.request", "body": piece, "more_body": True}

        async def send(message):
            answer.append(message)

        scope = {
            "type": "http",
            "method": "POST",
            "path": "/v1/messages",
            "headers": [(b"content-type", b"application/octet-stream")],
        }
        await site.app(scope, receive, send)
        return answer

    with monkeypatch.context() as patched:
        patched.setattr(web, setting, 0)
        start, body = site.run(half())
    assert (start["status"], json.loads(body["body"])["code"]) == (503, "busy")
    assert (b"connection", b"close") in start["headers"]
    assert site.post(sent[:9], sent[9:]).status == 200


def test_a_sender_who_goes_away_is_not_answered(site, here):
    async def leaves():
        async def receive():
            return {"type": "http.disconnect"}

        async def send(_):
            raise AssertionError

        scope = {
            "type": "http",
            "method": "POST",
            "path": "/v1/messages",
            "headers": [(b"content-type", b"application/octet-stream")],
        }
        await site.app(scope, receive, send)

    site.run(leaves())
    assert here.status().direct.used == {}


def test_tasks_can_be_fetched(site, here, task, key, make):
    answer = site.get("/v1/tasks/emoji")
    assert answer.status == 200
    assert local.Task.from_json(answer.body, trust=key.public) == task
    newer = task.changed(minimum=9).sign(key)
    here.publish(newer)
    assert local.Task.from_json(site.get("/v1/tasks/emoji").body).version == 2
    here.publish(make("a/b ü"))
    assert site.get("/v1/tasks/a/b ü").status == 200
    assert code(site.get("/v1/tasks/nothing")) == (404, "task-unknown")
    here.retire("emoji")
    assert code(site.get("/v1/tasks/emoji")) == (410, "task-retired")


def test_other_addresses(site):
    assert code(site.get("/")) == (404, "not-found")
    assert code(site.get("/v1/messages")) == (405, "method")
    assert code(site.run(site.asking("POST", "/healthz"))) == (405, "method")


def test_browsers_of_other_pages_are_not_answered_by_default(here, serving):
    page = "https://app.example"
    asked = [("origin", page), ("access-control-request-method", "POST")]
    closed, opened = serving(here), serving(here, origins=[page])
    assert (
        "access-control-allow-origin" not in closed.get("/healthz", origin=page).headers
    )
    answer = opened.run(opened.asking("OPTIONS", "/v1/messages", asked))
    assert answer.status == 200
    assert answer.headers["access-control-allow-origin"] == page
    other = opened.get("/healthz", origin="https://other.example")
    assert "access-control-allow-origin" not in other.headers


def test_metrics_are_rounded_and_name_nobody(site, here, task, singles):
    for one in singles(task, ["a"] * 3):
        site.post(one)
    site.post(b"hello")
    text = site.get("/metrics").body.decode()
    assert "dither_messages_total 0" in text
    assert "dither_ready 1" in text
    assert "emoji" not in text
    token = here.admit("relay", quota=1000)
    site.post(parcel(task.randomize(["a"] * 250)), token=token)
    text = site.get("/metrics").body.decode()
    assert "dither_messages_total 200" in text
    assert "relay" not in text
    for line in text.splitlines():
        assert line.startswith(("# HELP dither_", "# TYPE dither_", "dither_")), line


def test_metrics_do_not_tell_of_a_single_message(here, serving, task, singles):
    """Not by an average that moves, nor by a line that appears with the first one."""
    site = serving(here)
    before = site.get("/metrics").body
    for one in singles(task, ["a"] * 3):
        site.post(one)
        assert site.get("/metrics").body == before
    site.post(b"hello")
    assert site.get("/metrics").body == before


# the store fails


def test_a_full_disk_is_answered_and_comes_back(
    here, serving, task, singles, monkeypatch
):
    monkeypatch.setattr("dither.local.collector.writer.UPKEEP", 0.01)
    site = serving(here)
    assert code(site.get("/healthz")) == (200, "ready")
    connection = here._store._connection
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    token = here.admit("relay", quota=10_000)
    with here._store._lock:
        connection.execute(f"PRAGMA max_page_count = {pages}")
    sent = [b"".join(singles(task, ["a"] * 300)) for _ in range(8)]
    answers = [site.post(one, token=token) for one in sent]
    assert code(answers[-1]) == (503, "store-failed")
    assert int(answers[-1].headers["retry-after"]) > 0
    counted = sum(answer.status == 200 for answer in answers)
    assert here.tally(task).messages == 300 * counted if counted else True
    with here._store._lock:
        connection.execute("PRAGMA max_page_count = 1000000")
    until(lambda: site.get("/healthz").status == 200, "it is ready again")
    assert all(site.post(one, token=token).status == 200 for one in sent)
    assert here.tally(task).messages == 2400


@pytest.mark.postgres
def test_a_database_that_is_gone_for_a_while(
    server, opened, serving, task, singles, monkeypatch
):
    monkeypatch.setattr("dither.local.collector.writer.UPKEEP", 0.01)
    address = server.database()
    collector = opened(address)
    collector.publish(task)
    site = serving(collector)
    first, second = singles(task, ["a", "b"])
    assert site.post(first).status == 200
    with server.gone(address):
        assert code(site.post(second)) == (503, "store-failed")
        assert code(site.get("/healthz")) == (503, "store-failed")
    until(lambda: site.get("/healthz").status == 200, "it is ready again")
    assert code(site.post(second)) == (200, "accepted")
    assert code(site.post(first)) == (200, "duplicate")
    assert collector.tally(task).messages == 2


def test_too_much_that_waits_is_refused(here, serving, task, singles, monkeypatch):
    """A small parcel takes more memory than it has bytes."""
    monkeypatch.setattr("dither.local.collector.writer.WAITING", 1000)
    site = serving(here)
    sent = b"".join(singles(task, ["a"] * 4))
    assert len(sent) < 1000
    answer = site.post(sent)
    assert code(answer) == (503, "busy")
    assert here.status().direct.used == {}


def test_one_broken_parcel_does_not_take_others_with_it(
    here, serving, task, singles, monkeypatch
):
    """Whatever fails while counting, those who share the transaction are counted."""
    counting = here.count
    (bad,) = singles(task, ["a"])
    (broken,) = here.read(bad)

    def fails(parcels):
        if any(one.id == broken.id for one in parcels):
            raise ZeroDivisionError
        return counting(parcels)

    monkeypatch.setattr(here, "count", fails)
    site = serving(here)
    good = singles(task, ["b"] * 20)

    async def all_at_once():
        return await asyncio.gather(*(site.posting(one) for one in [*good, bad]))

    answers = site.run(all_at_once())
    assert [answer.status for answer in answers] == [200] * 20 + [500]
    assert here.tally(task).messages == 20


def test_many_senders_share_a_transaction(here, serving, task, singles):
    site = serving(here)
    sent = singles(task, ["a"] * 200)

    async def all_at_once():
        return await asyncio.gather(*(site.posting(one) for one in sent))

    assert {answer.status for answer in site.run(all_at_once())} == {200}
    assert here.tally(task).messages == 200
    assert site.app.state.writer.metrics.commits < 100


def test_what_was_received_is_counted_before_the_end(here, task, singles):
    sent = singles(task, ["a"] * 50)
    with Web(web.app(here)) as site:
        waiting = [
            asyncio.run_coroutine_threadsafe(site.posting(one), site._loop)
            for one in sent
        ]
        until(lambda: site.app.state.writer._queue or waiting[-1].done(), "it arrived")
    assert [one.result(60).status for one in waiting] == [200] * 50
    assert here.tally(task).messages == 50


def test_it_works_where_it_is_mounted(here, task, singles):
    """Inside another app, nobody calls its lifespan: the writer begins by itself."""
    from starlette.applications import Starlette
    from starlette.routing import Mount

    inner = web.app(here)
    with Web(Starlette(routes=[Mount("/devices", inner)])) as site:
        (sent,) = singles(task, ["a"])
        octets = [("content-type", "application/octet-stream")]
        asked = site.asking("POST", "/devices/v1/messages", octets, [sent])
        assert site.run(asked).status == 200
    inner.state.writer.stop()


def test_a_new_day_is_noticed(here, task, singles, today, monkeypatch):
    monkeypatch.setattr("dither.local.collector.writer.UPKEEP", 0.01)
    with Web(web.app(here)) as site:
        site.post(singles(task, ["a"])[0])
        today.day = today.day.replace(month=4)
        with here._store._lock:
            pass

        def closed():
            with here._reading() as rows:
                return rows.run("SELECT closed FROM span") == [(1,)]

        until(closed, "the period is closed")
        (late,) = singles(task, ["a"])
        assert code(site.post(late)) == (410, "period-closed")


# logs


def test_logs_have_no_content_no_time_and_no_address(
    here, task, singles, caplog, monkeypatch
):
    monkeypatch.setattr("dither.local.collector.writer.UPKEEP", 0.01)
    caplog.set_level(logging.DEBUG)
    token = here.admit("relay", quota=1000)
    with Web(web.app(here)) as site:
        (sent,) = singles(task, ["a"])
        site.post(sent)
        site.post(sent, token=token)
        site.post(b"secret words")
        with here._store._lock:
            here._store._connection.execute("PRAGMA query_only = 1")
        assert site.post(singles(task, ["a"])[0]).status == 503
        with here._store._lock:
            here._store._connection.execute("PRAGMA query_only = 0")
        until(lambda: site.get("/healthz").status == 200, "it is ready again")
    lines = [record for record in caplog.records if record.name == LOG.name]
    said = [json.loads(record.getMessage()) for record in lines]
    assert [line["event"] for line in said] == [
        "started",
        "store-failed",
        "store-back",
        "stopped",
    ]
    assert {line["day"] for line in said} == {"2027-03-01"}
    everything = caplog.text
    for hidden in (token, "203.0.113", "secret", sent[2:18].hex(), "emoji"):
        assert hidden not in everything


def test_the_writer_ends_with_nothing_left(here, task, singles):
    told = []
    writer = Writer(here, told.extend)
    for number, one in enumerate(singles(task, ["a"] * 30)):
        writer.submit(here.read(one), len(one), number)
    writer.start()
    writer.start()
    writer.stop()
    writer.stop()
    assert sorted(whom for whom, _ in told) == list(range(30))
    assert all(outcome.status == "accepted" for _, (outcome,) in told)
    assert threading.active_count() < 20
