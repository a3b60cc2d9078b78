"""Every parcel is counted once or refused, and refused ones change nothing."""

from __future__ import annotations

import threading
import tracemalloc
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from dither import local
from dither.errors import ArgumentError, CollectorError
from dither.local import parcel
from dither.local.collector import CODES, Collector, recent
from dither.local.collector.rows import Rows
from dither.local.parcels import START
from dither.local.wire import Header, Messages
from dither.noise import secret_bytes
from tests.ledger.server import serving
from tests.local.collector.conftest import MONDAY

DAY = timedelta(days=1)


def state(collector):
    """Everything that is kept, but for the number of changes."""
    tables = ("task", "relay", "span", "seen", "fresh", "used", "tally", "cells")
    with collector._store.reading() as run:
        return {table: sorted(run(f"SELECT * FROM {table}")) for table in tables}


def codes(outcomes):
    return [outcome.code or outcome.status for outcome in outcomes]


# counting


def test_what_is_counted_is_what_was_sent(collector, task):
    token = collector.admit("relay", quota=10_000)
    batches = [task.randomize(list("abcd") * 25) for _ in range(4)]
    singles = task.randomize(list("abc"))
    for number, batch in enumerate(batches):
        outcome = collector.accept(parcel(batch), token)
        assert (outcome.status, outcome.messages, outcome.invalid) == (
            "accepted",
            100,
            0,
        ), number
    for one in singles:
        assert collector.accept(parcel(one, np.random.bytes(16))).messages == 1
    expected = task.tally([*batches, *singles])
    found = collector.tally(task)
    assert found.counts.tolist() == expected.counts.tolist()
    assert found.periods == expected.periods == {0: 403}
    assert found.strata.tolist() == [403]
    assert found.estimate().value.shape == (4,)


def test_a_group_is_counted_in_one_transaction(collector, task, singles):
    with collector._reading() as rows:
        (before,) = rows.run("SELECT seq FROM lineage")
    outcomes = collector.accept_all(singles(task, ["a"] * 300))
    with collector._reading() as rows:
        (after,) = rows.run("SELECT seq FROM lineage")
    assert codes(outcomes) == ["accepted"] * 300
    assert after[0] - before[0] == 1


def test_several_parcels_in_one_body(here, task, singles):
    first, second, third = singles(task, ["a"] * 3)
    assert here.accept(first + second).messages == 2
    assert here.accept(second + third).messages == 1
    assert here.accept(first + third).messages == 0
    assert here.tally(task).messages == 3
    before = state(here)
    assert here.accept(singles(task, ["a"])[0] + first[:-1]).code == "truncated"
    assert here.accept(b"").code == "malformed"
    assert state(here) == before


def test_a_body_has_a_limit_of_parcels(here, task, singles):
    most = b"".join(singles(task, ["a"] * 1000))
    before = state(here)
    assert here.accept(most + singles(task, ["a"])[0]).code == "too-large"
    assert state(here) == before
    assert here.accept(most).messages == 1000


def test_strata_and_periods_have_tallies_of_their_own(opened, place, make, today):
    task = make(strata=["north", "south"], minimum=3)
    collector = opened(place)
    collector.publish(task)
    token = collector.admit("relay", quota=1000)
    sent = {}
    for day in (0, 1):
        today.day = MONDAY + day * DAY
        for stratum, count in (("north", 5 + day), ("south", 2 * (day + 1))):
            messages = task.randomize(["a"] * count, period=day, stratum=stratum)
            sent[day, stratum] = messages
            assert collector.accept(parcel(messages), token).messages == count
    whole = collector.tally(task)
    assert whole.strata.tolist() == [11, 6]
    assert whole.periods == {0: 7, 1: 10}
    assert whole.counts.tolist() == task.tally(list(sent.values())).counts.tolist()
    # two messages are fewer than the minimum of three: nothing of them is shown
    first = collector.tally(task, period=0)
    assert first.strata.tolist() == [5, 0]
    assert first.periods == {0: 5}
    assert not first.counts[1].any()
    with pytest.raises(ArgumentError, match="has 0 messages"):
        first.of("south").estimate()


def test_large_tallies_are_kept_in_parts(opened, file, make):
    task = make(domain=5000, every=None, oracle="k-ary response")
    collector = opened(file)
    collector.publish(task)
    values = [0, 1, 4999] * 50
    messages = task.randomize(values)
    collector.accept(parcel(messages), collector.admit("relay", quota=1000))
    found = collector.tally(task)
    assert found.counts.tolist() == task.tally(messages).counts.tolist()


# repeats


def test_messages_for_many_large_tallies_do_not_fill_the_memory(
    opened, file, make, singles, monkeypatch
):
    """A few kilobytes that anybody can send, to as many strata as there are."""
    strata = [str(number) for number in range(100)]
    large = make(domain=100_000, every=None, oracle="k-ary response", strata=strata)
    here = opened(file)
    here.publish(large)
    sent = [
        one for name in large.strata for one in singles(large, [1, 2], stratum=name)
    ]
    here.accept_all(sent[:20])
    monkeypatch.setattr("dither.local.collector.counting.AHEAD", 2 * large.oracle.cells)
    tracemalloc.start()
    outcomes = here.accept_all(sent)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert codes(outcomes) == ["duplicate"] * 20 + ["accepted"] * 180
    assert most < 20 * 8 * large.oracle.cells
    one_process = large.tally([one[START:] for one in sent])
    assert np.array_equal(here.tally(large).counts, one_process.counts)


def test_a_repeat_is_not_counted_again(collector, task, singles):
    token = collector.admit("relay", quota=10)
    batch = parcel(task.randomize(["a"] * 4))
    (single,) = singles(task, ["b"])
    assert collector.accept(batch, token).messages == 4
    assert collector.accept(single).messages == 1
    before = state(collector)
    for _ in range(3):
        assert collector.accept(batch, token).status == "duplicate"
        assert collector.accept(single).status == "duplicate"
    assert state(collector) == before
    # in whatever order, and with others between them
    (other,) = singles(task, ["c"])
    assert codes(collector.accept_all([single, other, single])) == [
        "duplicate",
        "accepted",
        "duplicate",
    ]


def test_a_repeat_within_a_group(collector, task, singles):
    (one,) = singles(task, ["a"])
    assert codes(collector.accept_all([one] * 3)) == [
        "accepted",
        "duplicate",
        "duplicate",
    ]
    assert collector._rules is not None
    collector.accept_all(singles(task, ["a"] * 2))
    assert collector.tally(task).messages == 3


def test_one_id_in_two_versions_is_one_message(collector, task):
    """A restored device may have joined the next version meanwhile."""
    newer = task.changed(minimum=3).sign(local.SigningKey(b"k" * 32))
    collector.publish(newer)
    for number, one in enumerate((task, newer)):
        sent = parcel(next(iter(one.randomize(["a"]))), b"i" * 16)
        status = collector.accept(sent).status
        assert status == ("duplicate" if number else "accepted")


def test_ids_are_found_after_they_were_merged(
    opened, place, task, singles, monkeypatch
):
    monkeypatch.setattr("dither.local.collector.recent.MANY", 50)
    one, other = opened(place), opened(place)
    one.publish(task)
    sent = [singles(task, ["a"] * 20) for _ in range(12)]
    for number, some in enumerate(sent):
        collector = one if number % 2 else other
        assert codes(collector.accept_all(some)) == ["accepted"] * 20
    for collector in (one, other):
        for some in sent:
            assert codes(collector.accept_all(some)) == ["duplicate"] * 20
    assert one.tally(task).messages == 240
    kept = state(one)
    assert len(kept["seen"]) + sum(len(row[2]) // 16 for row in kept["fresh"]) == 240
    assert len(kept["seen"]) >= 150


def test_repeats_alone_do_not_merge_again_and_again(here, task, singles, monkeypatch):
    sent = singles(task, ["a"] * 60)
    here.accept_all(sent)
    monkeypatch.setattr("dither.local.collector.recent.MANY", 50)
    merged = []
    merge = Rows.merge
    monkeypatch.setattr(Rows, "merge", lambda rows: merged.append(merge(rows)))
    for _ in range(4):
        assert codes(here.accept_all(sent)) == ["duplicate"] * 60
    assert len(merged) == 1


def test_ids_are_known_while_another_thread_has_just_merged(
    opened, file, task, singles, monkeypatch
):
    """One thread has committed a merge when another reads what is new."""
    monkeypatch.setattr("dither.local.collector.recent.MANY", 2)
    here, other = opened(file), opened(file)
    here.publish(task)
    sent = singles(task, ["a"] * 4)
    committed, released = threading.Event(), threading.Event()
    writing, parted = Collector._writing, recent.parted

    @contextmanager
    def paused(collector):
        with writing(collector) as rows:
            yield rows
        if threading.current_thread().name == "first":
            committed.set()
            released.wait(30)

    first = threading.Thread(target=here.accept, args=(sent[2],), name="first")
    calls = []

    def let_go(ids):
        calls.append(ids)
        if len(calls) == 2:  # the ids of `first` were read before
            released.set()
            first.join(30)
        return parted(ids)

    here.accept_all(sent[:2])
    monkeypatch.setattr(Collector, "_writing", paused)
    first.start()
    assert committed.wait(30)
    other.accept(sent[3])
    monkeypatch.setattr(recent, "parted", let_go)
    assert here.accept(sent[2]).status == "duplicate"
    assert len(calls) == 2


def test_ids_are_read_again_after_an_error(opened, file, make, singles, monkeypatch):
    """One transaction of another process had ids of two periods."""
    tasks = [make("one"), make("two")]
    here, other = opened(file), opened(file)
    for task in tasks:
        other.publish(task)
    sent = [one for task in tasks for one in singles(task, ["a"])]
    other.accept_all(sent)
    parted, calls = recent.parted, []

    def fails_at_the_second(ids):
        calls.append(ids)
        if len(calls) == 2:
            raise MemoryError
        return parted(ids)

    monkeypatch.setattr(recent, "parted", fails_at_the_second)
    with pytest.raises(MemoryError):
        here.accept_all(sent)
    assert codes(here.accept_all(sent)) == ["duplicate"] * 2
    assert here.accept(b"".join(sent)).status == "duplicate"


# refusals


def test_every_code_has_a_reason():
    assert all(reason and not reason.endswith(".") for reason in CODES.values())


def header(task, **changes):
    values = {"tag": task.tag, "version": 1, "period": 0, "stratum": 0} | changes
    return Header(**values).to_bytes()


RECORD = b"\0"

WRONG = {
    "nothing": (lambda task: b"", "malformed"),
    "other bytes": (lambda task: b"hello, world, I am not a parcel", "malformed"),
    "a bare message": (lambda task: header(task) + RECORD, "malformed"),
    "another format": (
        lambda task: b"\xd4\x02" + bytes(16) + header(task) + RECORD,
        "malformed",
    ),
    "only an id": (lambda task: b"\xd4\x01" + bytes(16), "truncated"),
    "half an id": (lambda task: b"\xd4\x01" + bytes(7), "truncated"),
    "no record": (lambda task: b"\xd4\x01" + bytes(16) + header(task), "truncated"),
    "one byte too many": (
        lambda task: b"\xd4\x01" + bytes(16) + header(task) + RECORD + b"x",
        "truncated",
    ),
    "a tally": (lambda task: b"\xd4\x01" + bytes(16) + b"\xd3" * 40, "malformed"),
    "reserved byte": (
        lambda task: b"\xd4\x01" + bytes(16) + header(task)[:-1] + b"\1" + RECORD,
        "malformed",
    ),
    "another version": (
        lambda task: b"\xd4\x01" + bytes(16) + header(task, version=2) + RECORD,
        "malformed",
    ),
    "another task": (
        lambda task: b"\xd4\x01" + bytes(16) + header(task, tag=b"nothing!") + RECORD,
        "task-unknown",
    ),
    "no such stratum": (
        lambda task: b"\xd4\x01" + bytes(16) + header(task, stratum=1) + RECORD,
        "stratum-unknown",
    ),
    "no such period": (
        lambda task: b"\xd4\x01" + bytes(16) + header(task, period=60_000) + RECORD,
        "period-unknown",
    ),
    "a record that nobody sends": (
        lambda task: b"\xd4\x01" + bytes(16) + header(task) + b"\xff",
        "invalid",
    ),
    "a batch without a token": (
        lambda task: parcel(task.randomize(["a"])),
        "token-missing",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_refused(here, task, name):
    made, code = WRONG[name]
    before = state(here)
    outcome = here.accept(made(task))
    assert (outcome.status, outcome.code) == ("refused", code)
    assert outcome.reason == CODES[code]
    assert state(here) == before


def test_an_empty_batch_is_refused(here, task):
    token = here.admit("relay", quota=10)
    empty = Messages(Header(task.tag, 1), np.empty((0, task.oracle.record), np.uint8))
    assert here.accept(parcel(empty), token).code == "malformed"
    cut = parcel(task.randomize(["a"] * 4))[:-1]
    assert here.accept(cut, token).code == "truncated"
    huge = bytearray(parcel(task.randomize(["a"])))
    huge[START + 16 : START + 20] = b"\xff" * 4
    assert here.accept(bytes(huge), token).code == "truncated"


def test_a_broken_record_does_not_silence_the_others(collector, task):
    """The batch is counted without it, once."""
    token = collector.admit("relay", quota=10)
    messages = task.randomize(["a"] * 5)
    records = messages.records.copy()
    records[[1, 3]] = 0xFF
    broken = parcel(Messages(messages.header, records))
    outcome = collector.accept(broken, token)
    assert (outcome.status, outcome.messages, outcome.invalid) == ("accepted", 3, 2)
    assert collector.accept(broken, token).status == "duplicate"
    found = collector.tally(task)
    assert (found.messages, found.rejected) == (3, {"value": 2})
    kept = Messages(messages.header, messages.records[[0, 2, 4]])
    assert found.counts.tolist() == task.tally(kept).counts.tolist()


def test_broken_and_whole_parcels_in_a_group(collector, task, singles):
    good = singles(task, ["a"] * 3)
    bad = [one[:-1] + b"\xff" for one in singles(task, ["b"] * 2)]
    sent = [good[0], bad[0], good[1], bad[1], good[2], good[0]]
    assert codes(collector.accept_all(sent)) == [
        "accepted",
        "invalid",
        "accepted",
        "invalid",
        "accepted",
        "duplicate",
    ]
    assert collector.tally(task).messages == 3
    # an id that was refused is free
    assert collector.accept(bad[0]).code == "invalid"
    assert collector.accept(bad[0][:-1] + good[0][-1:]).status == "accepted"


# relays and quotas


def test_a_relay_has_a_quota_for_each_task_and_period(collector, make, task, today):
    other = make("other")
    collector.publish(other)
    token = collector.admit("relay", quota=10)
    first = parcel(task.randomize(["a"] * 8))
    assert collector.accept(first, token).messages == 8
    assert collector.accept(first, token).status == "duplicate", "costs nothing"
    second = parcel(task.randomize(["a"] * 3))
    before = state(collector)
    assert collector.accept(second, token).code == "quota-used"
    assert state(collector) == before
    assert collector.accept(parcel(task.randomize(["a"] * 2)), token).messages == 2
    assert collector.accept(parcel(task.randomize(["a"])), token).code == "quota-used"
    assert collector.accept(parcel(other.randomize(["a"] * 9)), token).messages == 9
    today.day += DAY
    later = parcel(task.randomize(["a"] * 10, period=1))
    assert collector.accept(later, token).messages == 10
    # a larger quota, and what was refused comes again
    bigger = collector.admit("relay", quota=13)
    assert collector.accept(second, token).code == "token-unknown"
    assert collector.accept(second, bigger).messages == 3


def test_a_quota_within_a_group(here, task, singles):
    token = here.admit("relay", quota=5)
    batches = [parcel(task.randomize(["a"] * 2)) for _ in range(4)]
    found = codes(here.accept_all([*batches, batches[0], batches[3]], token))
    assert found == ["accepted"] * 2 + ["quota-used"] * 2 + ["duplicate", "quota-used"]
    assert here.tally(task).messages == 4
    assert here.tally(task).counts.sum() == sum(
        task.tally(batch[START:], batches=True).counts.sum() for batch in batches[:2]
    )
    assert codes(here.accept_all(singles(task, ["a"]))) == ["accepted"]


def test_direct_messages_have_a_quota(opened, place, task, singles):
    collector = opened(place, direct=3)
    collector.publish(task)
    sent = singles(task, ["a"] * 5)
    assert codes(collector.accept_all(sent)) == ["accepted"] * 3 + ["quota-used"] * 2
    assert codes(collector.accept_all(sent)) == ["duplicate"] * 3 + ["quota-used"] * 2
    token = collector.admit("relay", quota=1)
    assert collector.accept(sent[4], token).status == "accepted"
    closed = opened(place, direct=0)
    assert closed.accept(sent[3]).code == "quota-used"


def test_tokens_are_kept_hashed_and_can_be_revoked(collector, task):
    token = collector.admit("relay", quota=10)
    kept = str(state(collector))
    assert token not in kept
    assert token not in repr(collector._rules)
    batch = parcel(task.randomize(["a"]))
    assert collector.accept(batch, "nothing").code == "token-unknown"
    assert collector.accept(batch, token[:-1]).code == "token-unknown"
    collector.revoke("relay")
    assert collector.accept(batch, token).code == "token-unknown"
    with pytest.raises(ArgumentError, match="not the name"):
        collector.revoke("nobody")
    assert collector.status().relays[0].state == "revoked"


def test_an_old_token_ends_at_once(collector, task):
    """A batch may be read before its relay gets another token and quota, and counted
    after that.
    """
    token = collector.admit("relay", quota=100)
    read = collector.read(parcel(task.randomize(["a"] * 10)), token)
    collector.admit("relay", quota=5)
    assert codes(collector.count(read)) == ["token-unknown"]
    assert not state(collector)["used"]


# tasks


def test_only_signed_tasks_are_collected(here, make):
    other = make("other", key=local.SigningKey(b"o" * 32))
    with pytest.raises(ArgumentError, match="another key"):
        here.publish(other)
    with pytest.raises(ArgumentError, match="not signed"):
        here.publish(make("third", key=None))
    with pytest.raises(ArgumentError, match="not valid JSON"):
        here.publish("{")


def test_versions_follow_one_another(collector, task, key, singles):
    newer = task.changed(minimum=3).sign(key)
    assert collector.publish(newer.to_json()).version == 2
    collector.publish(task)  # is known, and changes nothing
    assert collector.task("emoji").version == 2
    with pytest.raises(ArgumentError, match="version 2 is already collected"):
        collector.publish(task.changed(minimum=4).sign(key))
    for one in (task, newer):
        assert codes(collector.accept_all(singles(one, ["a"] * 4))) == ["accepted"] * 4
    assert collector.tally("emoji").messages == 4
    assert collector.tally("emoji", version=1).messages == 4
    with pytest.raises(ArgumentError, match="pass 2, the newest one"):
        collector.tally("emoji", version=3)
    with pytest.raises(ArgumentError, match="not collected"):
        collector.tally("nothing")


def test_a_stopped_task_takes_nothing_more(collector, task, key, singles):
    early, late = singles(task, ["a"] * 2)
    assert collector.accept(early).status == "accepted"
    collector.publish(task.stop().sign(key))
    assert collector.accept(late).code == "task-stopped"
    assert collector.accept(early).code == "task-stopped"
    with pytest.raises(ArgumentError, match="stopped permanently"):
        collector.publish(task.stop().changed(stopped=False).sign(key))


def test_a_retired_task_takes_nothing_more(collector, task, singles):
    collector.accept_all(singles(task, ["a"] * 3))
    collector.retire("emoji")
    assert collector.accept(singles(task, ["a"])[0]).code == "task-retired"
    assert collector.tally(task).messages == 3
    with pytest.raises(ArgumentError, match="not collected"):
        collector.retire("nothing")


def test_another_process_changes_what_is_collected(opened, place, task, key, singles):
    one, other = opened(place), opened(place)
    one.publish(task)
    first, second, third, fourth = singles(task, ["a"] * 4)
    assert other.accept(first).status == "accepted"
    token = one.admit("relay", quota=5)
    batch = parcel(task.randomize(["a"] * 2))
    assert other.accept(batch, token).messages == 2
    # read before the change, and counted after it: what holds is what holds then
    waiting = other.read(second)
    with_token = other.read(third, token)
    one.revoke("relay")
    assert codes(other.count(with_token)) == ["token-unknown"]
    one.publish(task.stop().sign(key))
    assert codes(other.count(waiting)) == ["task-stopped"]
    assert other.accept(fourth).code == "task-stopped"
    assert one.tally(task).messages == 3


# days


def test_clocks_that_are_days_off(collector, task, singles, today):
    today.day = MONDAY + 10 * DAY
    sent = {
        period: singles(task, ["a"], period=period)[0] for period in (2, 3, 10, 11, 12)
    }
    assert {period: collector.accept(one).code for period, one in sent.items()} == {
        2: "period-closed",
        3: "",
        10: "",
        11: "",
        12: "period-early",
    }
    today.day += DAY
    assert collector.accept(sent[12]).status == "accepted"
    assert collector.accept(sent[3]).code == "period-closed"


def test_a_closed_period_never_opens_again(collector, task, singles, today):
    (sent, late) = singles(task, ["a"] * 2)
    collector.accept(sent)
    today.day = MONDAY + 8 * DAY
    assert collector.accept(late).code == "period-closed"
    kept = state(collector)
    assert kept["seen"] == kept["fresh"] == []
    assert kept["span"][0][4] == 1
    assert len(kept["tally"]) == 1, "what was counted stays"
    today.day = MONDAY  # somebody sets the clock back: the ids are gone
    assert collector.accept(sent).code == "period-closed"
    assert collector.accept(late).code == "period-closed"
    with collector._reading() as rows:
        assert rows.run("SELECT messages FROM tally") == [(1,)]


def test_a_period_closes_with_the_version_that_closes_last(
    collector, make, key, singles, today
):
    """Also if that version has got no message yet."""
    weekly = make("walks", every="week")
    collector.publish(weekly)
    collector.accept_all(singles(weekly, ["a"]))
    longer = weekly.changed(every=28).sign(key)
    collector.publish(longer)
    today.day += 14 * DAY
    assert codes(collector.accept_all(singles(weekly, ["a"]))) == ["period-closed"]
    assert codes(collector.accept_all(singles(longer, ["a"]))) == ["accepted"]


def test_a_version_that_would_open_a_closed_period_is_refused(
    collector, make, key, singles, today
):
    weekly = make("walks", every="week")
    collector.publish(weekly)
    collector.accept_all(singles(weekly, ["a"]))
    today.day += 14 * DAY
    collector.tidy()
    with pytest.raises(ArgumentError, match="period from 2027-03-01 is closed"):
        collector.publish(weekly.changed(every=28).sign(key))
    collector.publish(weekly.changed(minimum=3).sign(key))
    later = weekly.changed(minimum=3).changed(every=28, starts=today.day)
    collector.publish(later.sign(key))
    assert codes(collector.accept_all(singles(later.sign(key), ["a"]))) == ["accepted"]


def test_grace_is_public(opened, place, task, singles, today):
    collector = opened(place, grace=0)
    collector.publish(task)
    first, second = singles(task, ["a"] * 2)
    assert collector.accept(first).status == "accepted"
    today.day += DAY
    assert collector.accept(second).code == "period-closed"


def test_a_task_expires(opened, place, make, today):
    once = make(every=None, expires=MONDAY + 5 * DAY)
    collector = opened(place, grace=2)
    collector.publish(once)
    made = (parcel(one, np.random.bytes(16)) for one in once.randomize(["a"] * 3))
    today.day = MONDAY + 6 * DAY
    assert collector.accept(next(made)).status == "accepted"
    today.day = MONDAY + 7 * DAY
    assert collector.accept(next(made)).code == "task-expired"
    assert collector.status().tasks[0].state == "expired"
    today.day = MONDAY - 2 * DAY
    assert collector.accept(next(made)).code == "period-early"


def test_old_tallies_are_deleted(opened, place, task, singles, today):
    collector = opened(place, grace=2, retention=5)
    collector.publish(task)
    collector.accept_all(singles(task, ["a"] * 3))
    today.day = MONDAY + 4 * DAY
    collector.accept_all(singles(task, ["a"] * 2, period=4))
    today.day = MONDAY + 8 * DAY
    collector.tidy()
    assert collector.tally(task).periods == {0: 3, 4: 2}
    today.day = MONDAY + 9 * DAY
    collector.tidy()
    assert collector.tally(task).periods == {4: 2}
    kept = state(collector)
    assert len(kept["cells"]) == len(kept["tally"]) == 1
    assert len(kept["used"]) == 1


def test_nothing_finer_than_a_day_is_kept(collector, task, singles):
    collector.accept_all(singles(task, ["a"] * 3))
    columns = {"lineage": ["seq", "head", "facts"], "fresh": ["number", "span", "ids"]}
    with collector._reading() as rows:
        for table, names in columns.items():
            rows.run(f"SELECT {', '.join(names)} FROM {table}")
        span = rows.run("SELECT first, closes FROM span")
    assert span == [("2027-03-01", "2027-03-09")]


# status


def test_ids_of_a_closed_period_are_gone_from_the_files(here, file, task, today):
    ids = [secret_bytes(16) for _ in range(20)]
    messages = task.randomize(["a"] * len(ids))
    here.accept_all([parcel(*both) for both in zip(messages, ids, strict=True)])
    today.day += 30 * DAY
    here.tidy()
    for path in (Path(file), Path(f"{file}-wal")):
        kept = path.read_bytes()
        assert not any(one in kept for one in ids)


def test_status_hides_what_is_too_little(opened, place, make, singles, today):
    task = make(minimum=4)
    collector = opened(place)
    collector.publish(task)
    token = collector.admit("relay", quota=9)
    collector.accept_all(singles(task, ["a"] * 5))
    today.day += DAY
    collector.accept(parcel(task.randomize(["a"] * 3, period=1)), token)
    found = collector.status()
    (shown,) = found.tasks
    assert (shown.name, shown.version, shown.state) == ("emoji", 1, "live")
    assert [(one.period, one.messages, one.open) for one in shown.periods] == [
        (0, 5, True),
        (1, None, True),
    ]
    assert found.direct.used == {"emoji, 2027-03-01": 4}
    assert found.relays[0].used == {"emoji, 2027-03-02": None}
    assert found.to_dict()["tasks"][0]["periods"][0]["first"] == "2027-03-01"
    if place.startswith("postgresql"):
        assert found.place.startswith("postgresql://")


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"grace": -1}, "grace"),
        ({"retention": 1.5}, "retention"),
        ({"direct": True}, "direct"),
        ({"trust": "nothing"}, "trust"),
    ],
)
def test_settings_are_checked(opened, file, settings, named):
    with pytest.raises(ArgumentError) as caught:
        opened(file, **settings)
    assert caught.value.argument == named


def test_quotas_are_checked(here):
    with pytest.raises(ArgumentError, match="quota"):
        here.admit("relay", quota=-1)
    with pytest.raises(ArgumentError, match="name"):
        here.admit("", quota=1)


# several at once


def test_two_collectors_on_one_store(opened, place, task, singles):
    """Both get half of the parcels twice, at the same time."""
    sent = [singles(task, ["a"] * 10) for _ in range(12)]
    first = opened(place)
    first.publish(task)
    both = [first, opened(place)]
    found = [[], []]

    def work(which):
        for number in range(len(sent)):
            some = sent[number if which else len(sent) - 1 - number]
            found[which] += codes(both[which].accept_all(some))

    threads = [threading.Thread(target=work, args=(which,)) for which in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counted = found[0].count("accepted") + found[1].count("accepted")
    assert counted == 120
    assert first.tally(task).messages == 120
    expected = task.tally([one[START:] for some in sent for one in some])
    assert first.tally(task).counts.tolist() == expected.counts.tolist()


# a full disk


def test_a_full_disk_counts_nothing_and_comes_back(here, task, singles):
    here.accept_all(singles(task, ["a"] * 3))
    connection = here._store._connection
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")
    sent = [singles(task, ["a"] * 200) for _ in range(10)]
    failed, said = 0, ""
    for some in sent:
        try:
            here.accept_all(some)
        except CollectorError as error:
            failed, said = failed + 1, str(error)
    assert "the disk is full, and nothing was counted" in said
    assert here.tally(task).messages == 3 + 200 * (len(sent) - failed)
    connection.execute("PRAGMA max_page_count = 1000000")
    for some in sent:
        here.accept_all(some)
    assert here.tally(task).messages == 2003


@pytest.mark.postgres
def test_a_database_that_comes_back_is_read_anew(server, opened, task, singles):
    """It may be a standby, which others have used meanwhile."""
    address = server.database()
    here = opened(address)
    here.publish(task)
    sent = singles(task, ["a"] * 3)
    for one in (*sent[:2], sent[0]):
        here.accept(one)
    with server.gone(address), pytest.raises(CollectorError):
        here.accept(sent[2])
    other = opened(address)
    with other._store.writing() as run:
        run("DELETE FROM fresh")
    other.accept(sent[2])
    with other._store.writing() as run:
        run("UPDATE fresh SET number = 1")
    assert here.accept(sent[2]).status == "duplicate"


@pytest.mark.postgres
def test_a_database_that_is_gone_for_a_while(server, opened, task, singles):
    address = server.database()
    collector = opened(address)
    collector.publish(task)
    sent = singles(task, ["a"] * 3)
    collector.accept(sent[0])
    with server.gone(address):
        for _ in range(2):
            with pytest.raises(CollectorError):
                collector.accept(sent[1])
    assert codes(collector.accept_all(sent)) == ["duplicate", "accepted", "accepted"]
    assert collector.tally(task).messages == 3


@pytest.mark.full
@pytest.mark.postgres
def test_a_server_that_is_gone_for_a_while(opened, task, singles):
    with serving() as server:
        collector = opened(server.database())
        collector.publish(task)
        sent = singles(task, ["a"] * 3)
        collector.accept(sent[0])
        server.crash()
        for _ in range(2):
            with pytest.raises(CollectorError):
                collector.accept(sent[1])
        server.start()
        found = codes(collector.accept_all(sent))
        assert found == ["duplicate", "accepted", "accepted"]
        assert collector.tally(task).messages == 3


def test_it_is_closed_once_and_for_all(opened, file, singles, task):
    found = opened(file)
    found.publish(task)
    found.close()
    found.close()
    with pytest.raises(CollectorError, match="open it again with Collector"):
        found.accept(singles(task, ["a"])[0])
    assert opened(file).task(task.name) == task


@pytest.mark.parametrize("period", [MONDAY, "0", 0.0, True])
def test_a_period_is_a_number(collector, task, period):
    with pytest.raises(ArgumentError, match=r"period must be a whole number; use task"):
        collector.tally(task, period=period)
