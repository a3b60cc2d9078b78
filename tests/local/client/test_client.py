"""A device agrees, answers once a period, and stays within its budget."""

from __future__ import annotations

import hmac
import multiprocessing
import os
import shutil
import sqlite3
import threading
from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import pytest

from dither import local
from dither.errors import ArgumentError, BudgetExceeded, DeviceError
from dither.local.client import clock
from dither.local.client.memo import message_id
from dither.local.client.store import Store
from dither.local.oracles import KAryResponse, Loloha
from dither.local.rappor.oracle import Rappor
from dither.local.wire import HEADER, Header
from tests.chance import chance

MONDAY = date(2027, 3, 1)
DAY = timedelta(days=1)


def refused(words):
    return pytest.raises(ArgumentError, match=words)


# one message


def test_a_message_belongs_to_its_task_and_period(client, make, today):
    task = make()
    client.join(task)
    today.set(MONDAY + 3 * DAY)
    message = client.answer(task, "🎉")
    assert Header.from_bytes(message) == Header(task.tag, 1, 3, 0)
    assert len(message) == HEADER + task.oracle.record
    assert task.tally([message], period=3).messages == 1


def test_all_period_the_same_bytes_whatever_is_asked(client, make, today):
    task = make(every="week")
    client.join(task)
    message = client.answer(task, "🎉")
    for number, value in enumerate(["👍", None, 7, "🎉"]):
        today.set(MONDAY + number * 2 * DAY, hour=23)
        assert client.answer(task, value) == message
    assert len(client.sent()) == 1


@chance(1e-30)
def test_periods_have_noise_of_their_own(client, make, today):
    task = make(domain=range(200), none=False, oracle="longitudinal unary")
    client.join(task)
    said = set()
    for number in range(5):
        today.set(MONDAY + number * DAY)
        said.add(client.answer(task, 3)[HEADER:])
    assert len(said) == 5


def test_a_kept_response_is_the_same_in_every_period(client, make, today):
    task = make(oracle=KAryResponse.at(5, 2), epsilon=2)
    client.join(task)
    said = {}
    for number in range(12):
        value = ("🎉", "👍")[number % 2]
        today.set(MONDAY + number * DAY)
        said.setdefault(value, set()).add(client.answer(task, value)[HEADER:])
    assert all(len(records) == 1 for records in said.values())


@chance(1e-30)
def test_slots_are_messages_of_their_own(client, make):
    task = make(messages=2, domain=range(200), none=False, oracle="longitudinal unary")
    client.join(task)
    first, second = (client.answer(task, 3, slot=slot) for slot in (0, 1))
    assert first != second
    assert client.answer(task, 4, slot=1) == second
    for slot in (2, -1, True, "0", None):
        with refused("slot must be a whole number from 0 to 1"):
            client.answer(task, 3, slot=slot)


def test_declared_strata_are_in_the_message(client, make):
    task = make(strata=["1.0", "2.0"])
    client.join(task)
    with refused("stratum"):
        client.answer(task, "🎉")
    with refused("stratum"):
        client.answer(task, "🎉", stratum="3.0")
    assert Header.from_bytes(client.answer(task, "🎉", stratum="2.0")).stratum == 1


class Awkward:
    """Raises whatever one does with it."""

    __hash__ = None

    def __getattribute__(self, name):
        raise RuntimeError(name)

    def __eq__(self, other):
        raise RuntimeError

    def __str__(self):
        raise RuntimeError


ODD = [
    None,
    "",
    "\ud800",
    "x" * 100_000,
    float("nan"),
    3.5,
    10**5000,
    b"bytes",
    [],
    {},
    object(),
    Awkward(),
    np.array([1, 2]),
    np.float64("nan"),
    np.str_("\udfff"),
    type("Text", (str,), {"encode": lambda self: 1 / 0})("é"),
]


@pytest.mark.parametrize("domain", [["🎉", "👍"], range(3), None])
@pytest.mark.parametrize("none", [True, False])
def test_no_error_depends_on_the_value(client, make, today, domain, none):
    """Everything that is not counted is the one memoized "none"."""
    open_ended = domain is None
    task = make(
        domain=domain,
        none=none,
        oracle=None if not open_ended else "Hadamard sketch",
        **({"every": None, "for_ever": None, "distinct": 1} if open_ended else {}),
    )
    client.join(task)
    kept = set()
    for number, value in enumerate(ODD):
        if not open_ended:
            today.set(MONDAY + number * DAY)
        message = client.answer(task, value)
        assert len(message) == HEADER + task.oracle.record
        kept.add(message)
    if open_ended:
        assert len(kept) == 1


def test_every_value_that_is_not_counted_has_one_memo(client, make, today):
    task = make(oracle=KAryResponse.at(5, 2), epsilon=2)
    client.join(task)
    said = set()
    for number, value in enumerate(ODD):
        today.set(MONDAY + number * DAY)
        said.add(client.answer(task, value)[HEADER:])
    assert len(said) == 1


@chance(1e-7)
@pytest.mark.usefixtures("today")
def test_without_none_a_random_item_stands_for_it(tmp_path, key, make):
    """It has noise of its own, and is fair over devices."""
    task = make(oracle=KAryResponse(4, 2**32 - 1), none=False, epsilon=30, for_ever=30)
    said = []
    for number in range(64):
        one = local.Client(tmp_path / f"{number}.db", budget=90, trust=key.public)
        one.join(task)
        said.append(one.answer(task, "unknown")[HEADER])
    assert set(said) == set(range(4))


def test_forms_of_one_text_are_one_value(client, make, today):
    task = make(domain=["é", "x"], oracle=KAryResponse.at(3, 2), epsilon=2, distinct=1)
    client.join(task)
    said = set()
    for number, value in enumerate(["é", "e\u0301", np.str_("é")]):
        today.set(MONDAY + number * DAY)
        said.add(client.answer(task, value)[HEADER:])
    assert len(said) == 1
    assert len(marks(client)) == 1


# distinct values


def marks(client):
    with client._store.change() as rows:
        return rows._all("SELECT task, mark FROM marks")


def sure(make, **changes):
    """A task that hardly lies, so that one sees what was answered."""
    settings = {"oracle": KAryResponse(5, 2**32 - 1), "epsilon": 30, "for_ever": 30}
    return make(**(settings | changes))


@pytest.fixture
def rich(path, key, today):  # noqa: ARG001 - the clock is set before anything is asked
    return local.Client(path, budget=1000, trust=key.public)


@chance(1e-8)
def test_beyond_distinct_values_the_answer_is_none(rich, make, today):
    task = sure(make, distinct=2)
    rich.join(task)
    asked = ["🎉", "nothing", "👍", "❤️", "🎉", "😂", "👍"]
    said = []
    for number, value in enumerate(asked):
        today.set(MONDAY + number * DAY)
        said.append(rich.answer(task, value)[HEADER])
    assert said == [0, 4, 1, 4, 0, 4, 1]
    assert len(marks(rich)) == 2


def test_no_value_is_stored(client, make, path):
    task = make(domain=["unmistakable", "x"])
    client.join(task)
    client.answer(task, "unmistakable")
    with client._store.change() as rows:
        rows._all("UPDATE tasks SET document = ''")  # it lists the domain
        rows._all("UPDATE messages SET said = ''")  # what was said is not the value
    assert b"unmistakable" not in path.read_bytes()


@chance(1e-8)
def test_two_tasks_of_one_attribute_keep_to_their_own_numbers(rich, make, today):
    few = sure(make, name="few", attribute="emoji", distinct=1)
    more = sure(make, name="more", attribute="emoji", distinct=2)
    for task in (few, more):
        rich.join(task)
    said = []
    for number, (task, value) in enumerate(
        [(few, "🎉"), (more, "👍"), (more, "❤️"), (few, "👍"), (more, "🎉"), (few, "🎉")]
    ):
        today.set(MONDAY + number * DAY)
        said.append(rich.answer(task, value)[HEADER])
    # together they may keep two values: ❤️ would be a third
    assert said == [0, 1, 4, 4, 0, 0]


# the budget


def test_joining_reserves_the_lifetime(client, make):
    task = make(distinct=2)
    client.join(task)
    assert task.lifetime.epsilon == pytest.approx(6)
    assert client.budget == 20
    assert client.left == pytest.approx(14)
    assert client.left <= 20 - task.lifetime.epsilon + 1e-9


def test_joining_again_reserves_nothing(client, make):
    client.join(make())
    before = client.left
    client.join(make())
    assert client.left == before


def test_what_does_not_fit_is_refused_and_says_what_is_left(client, make):
    client.join(make("one", distinct=2))
    client.join(make("two", distinct=3))
    with pytest.raises(BudgetExceeded, match=r"'three' reserves ε = 8 .* only 6 of"):
        client.join(make("three", distinct=3))
    client.join(make("four", distinct=2))
    with refused("has not been joined"):
        client.answer(make("three", distinct=3), "🎉")


@pytest.mark.usefixtures("today")
def test_a_budget_is_used_to_the_last(path, key, make):
    """Costs are rounded up and budgets down, in units of 1e-9."""
    task = make(oracle=KAryResponse(5, 2**31), epsilon=2, distinct=1)
    need = task.lifetime.epsilon
    short = local.Client(path, budget=need - 2e-9, trust=key.public)
    with pytest.raises(BudgetExceeded):
        short.join(task)
    enough = local.Client(f"{path}2", budget=need + 2e-9, trust=key.public)
    enough.join(task)
    assert 0 <= enough.left < 4e-9


def test_only_instantaneous_noise_differs_one_memo_one_reservation(client, make):
    quiet, loud = Loloha.at(5, 1, 2), Loloha.at(5, 0.5, 2)
    loud = replace(quiet, sent=(quiet.sent + 2**32 // 5) // 2)
    client.join(make("quiet", attribute="emoji", oracle=quiet))
    before = client.left
    client.join(make("loud", attribute="emoji", oracle=loud))
    assert client.left == before
    client.join(make("wide", attribute="emoji", oracle=quiet, distinct=3))
    assert client.left == pytest.approx(before - 2)


@pytest.mark.parametrize(
    "change",
    [
        {"oracle": Loloha.at(5, 1, 1.9)},
        {"domain": ["🎉", "👍", "❤️", "other"]},
        {"attribute": "other"},
    ],
)
def test_other_permanent_parameters_are_a_new_memo_and_a_new_charge(
    client, make, change
):
    oracle = Loloha.at(5, 1, 2)
    client.join(make("one", attribute="emoji", oracle=oracle))
    before = client.left
    second = make("two", **({"attribute": "emoji", "oracle": oracle} | change))
    client.join(second)
    assert client.left == pytest.approx(before - second.lifetime.epsilon)


@chance(1e-30)
def test_a_task_that_is_answered_once_shares_no_memo(client, make):
    """Its message comes in many kinds: the same one twice would link two tasks."""
    once = {"every": None, "for_ever": None, "distinct": 1, "attribute": "emoji"}
    once |= {"domain": range(1000), "oracle": "optimized unary"}
    one, two = make("one", **once), make("two", **once)
    client.join(one)
    client.join(two)
    assert client.left == pytest.approx(18)
    assert client.answer(one, 7)[HEADER:] != client.answer(two, 7)[HEADER:]


# consent and versions


def test_only_the_trusted_key_may_ask(client, make):
    other = local.SigningKey(b"o" * 32)
    with refused("another key"):
        client.join(make(key=other))
    with refused("not signed"):
        client.join(make(key=None))
    with refused("changed after it was signed"):
        client.join(replace(make(), distinct=1))
    with refused("must be a Task"):
        client.join("emoji")
    with refused("trust"):
        local.Client("x.db", budget=1, trust="no key")


def test_the_same_version_with_another_document_is_refused(client, make, key):
    task = make()
    client.join(task)
    resigned = make(minimum=7)
    for act in (client.join, client.update, lambda task: client.answer(task, "🎉")):
        with refused("another document"):
            act(resigned)
    newer = task.changed(minimum=7).sign(key)
    with refused("update"):
        client.answer(newer, "🎉")
    client.update(newer)
    for act in (client.join, client.update, lambda task: client.answer(task, "🎉")):
        with refused("older than version 2"):
            act(task)
    client.update(newer)  # again: nothing happens
    assert client.answer(newer, "🎉")


def test_a_new_version_goes_on_with_the_memo(client, make, key, today):
    task = make(oracle=KAryResponse.at(5, 2), epsilon=2)
    client.join(task)
    first, before = client.answer(task, "🎉"), client.left
    newer = task.changed(minimum=50).sign(key)
    client.update(newer)
    assert client.answer(newer, "👍") == first  # this period has its message
    today.set(MONDAY + DAY)
    second = client.answer(newer, "🎉")
    assert Header.from_bytes(second).version == 2
    assert second[HEADER:] == first[HEADER:]
    assert client.left == before


@pytest.mark.parametrize(
    "change",
    [
        {"distinct": 3},
        {"messages": 2},
        {"oracle": Loloha.at(5, 1, 1.9)},
        {"strata": ("1.0", "2.0")},
        {"expires": date(2060, 1, 1)},
    ],
)
def test_a_version_that_asks_for_more_needs_consent(client, make, key, change):
    task = make(oracle=Loloha.at(5, 1, 2))
    client.join(task)
    newer = task.changed(**change).sign(key)
    with refused("more than the owner of the device agreed to"):
        client.update(newer)
    client.answer(task, "🎉")
    client.join(newer)
    assert client.answer(newer, "🎉", stratum=next(iter(newer.strata), None))


def test_growing_distinct_reserves_the_difference(client, make, key):
    task = make(distinct=2)
    client.join(task)
    before = client.left
    client.join(task.changed(distinct=4).sign(key))
    assert client.left == pytest.approx(before - 4)


def test_a_stopped_task_is_never_answered_again(client, make, key, today):
    task = make()
    client.join(task)
    client.answer(task, "🎉")
    stop = task.stop().sign(key)
    client.update(stop)
    client.update(stop)
    today.set(MONDAY + DAY)
    for one in (task, stop):
        with refused("stopped permanently"):
            client.answer(one, "🎉")
    revived = replace(stop, version=3, stopped=False).sign(key)
    for act in (client.join, client.update):
        with refused("stopped"):
            act(revived)
    assert len(client.sent()) == 1  # its owner can still see that
    client.leave(task)
    assert client.sent() == []
    with refused("stopped"):
        client.join(revived)


def test_a_stop_counts_before_anybody_joins(client, make, key):
    task = make()
    client.update(task.stop().sign(key))
    with refused("stopped"):
        client.join(task)


def test_a_stop_needs_the_key(client, make):
    task = make()
    client.join(task)
    with refused("another key"):
        client.update(task.stop().sign(local.SigningKey(b"o" * 32)))
    assert client.answer(task, "🎉")


def test_what_is_not_joined_is_not_answered(client, make):
    task = make()
    for act in (client.answer, client.update, client.when, client.leave):
        with refused("not been joined"):
            act(*((task, "🎉") if act == client.answer else (task,)))


def test_a_task_that_no_device_can_answer_cannot_be_made(make):
    google = Rappor.of(f=0.5, p=0.5, q=0.75, bits=32, family="md5-byte")
    with refused("only Google's clients use"):
        make(domain=None, oracle=google, epsilon=9, for_ever=9)


def test_rappor_goes_through_the_client(client, make, today):
    oracle = Rappor.of(f=0.5, p=0.25, q=0.75, cohorts=8, bits=64, hashes=2)
    task = make(domain=None, oracle=oracle, epsilon=9, for_ever=9, distinct=1)
    client.join(task)
    cohorts = set()
    for number, value in enumerate(["a.example", "b.example", None, "\ud800"]):
        today.set(MONDAY + number * DAY)
        message = client.answer(task, value)
        cohorts.add(message[HEADER])
        assert task.tally([message]).messages == 1
    assert len(cohorts) == 1  # a device keeps its cohort
    assert len(marks(client)) == 1


# leaving


def test_leaving_deletes_and_gives_nothing_back(client, make, path):
    task = make(oracle=KAryResponse.at(5, 2), epsilon=2)
    client.join(task)
    message, before = client.answer(task, "🎉"), client.left
    with client._store.change() as rows:
        salt = rows._one("SELECT salt FROM memos")[0]
        secret = rows.device.secret
    client.leave(task)
    held = path.read_bytes()
    assert message not in held
    assert salt not in held
    assert secret in held
    assert marks(client) == []
    assert client.sent() == []
    assert client.left == before
    with refused("was left"):
        client.answer(task, "🎉")
    with refused("left already"):
        client.leave(task)


def test_joining_again_after_leaving_is_a_new_memo(client, make, today):
    task = make(domain=range(200), none=False, oracle="longitudinal unary", distinct=1)
    client.join(task)
    first, before = client.answer(task, 3), client.left
    client.leave(task)
    client.join(task)
    assert client.left == pytest.approx(before - task.lifetime.epsilon)
    with refused("answered until before 2027-03-02"):
        client.answer(task, 3)  # one message for one period, left or not
    today.set(MONDAY + DAY)
    assert client.answer(task, 3) != first


def test_a_task_that_asks_once_cannot_be_answered_twice(client, make, key):
    task = make(every=None, for_ever=None, distinct=1)
    client.join(task)
    client.answer(task, "🎉")
    before = client.left
    client.leave(task)
    with refused("has no period left"):
        client.join(task)
    with refused("has no period left"):
        client.join(task.changed(expires=date(2029, 1, 1)).sign(key))
    assert client.left == before


def test_a_shared_memo_stays_while_a_task_needs_it(client, make, today):
    oracle = KAryResponse.at(5, 2)
    one, two = (
        make(name, attribute="emoji", oracle=oracle, epsilon=2, distinct=1)
        for name in ("one", "two")
    )
    client.join(one)
    client.join(two)
    record, before = client.answer(one, "🎉")[HEADER:], client.left
    client.leave(one)
    assert client.answer(two, "🎉")[HEADER:] == record
    client.join(one)
    today.set(MONDAY + DAY)
    assert client.answer(one, "🎉")[HEADER:] == record
    assert client.left == before


# time


def test_a_task_is_answered_while_it_runs(client, make, today):
    task = make(starts=MONDAY + DAY, expires=MONDAY + 3 * DAY)
    client.join(task)
    for act in (lambda: client.answer(task, "🎉"), lambda: client.when(task)):
        with refused("answer it from 2027-03-02"):
            act()
    today.set(MONDAY + DAY)
    client.answer(task, "🎉")
    today.set(MONDAY + 3 * DAY)
    with refused("ran until before 2027-03-04"):
        client.answer(task, "🎉")
    with refused("cannot be joined"):
        client.join(make("late", expires=MONDAY + 3 * DAY))


def test_a_clock_that_goes_back_gets_stored_messages_only(client, make, today):
    task = make()
    client.join(task)
    first = client.answer(task, "🎉")
    today.set(MONDAY + 5 * DAY)
    client.answer(task, "👍")
    today.set(MONDAY)
    assert client.answer(task, "👍") == first
    today.set(MONDAY + 2 * DAY)
    with refused("answered until before 2027-03-07"):
        client.answer(task, "🎉")
    today.set(MONDAY + 6 * DAY)
    assert client.answer(task, "🎉")


def test_a_version_that_counts_periods_anew_sends_no_second_message(
    client, make, key, today
):
    task = make(every="week")
    client.join(task)
    first = client.answer(task, "🎉")
    shifted = task.changed(starts=MONDAY + DAY).sign(key)
    client.update(shifted)
    today.set(MONDAY + DAY)
    assert client.answer(shifted, "👍") == first
    today.set(MONDAY + 7 * DAY)
    with refused("answered until before 2027-03-08"):
        client.answer(shifted, "👍")
    today.set(MONDAY + 8 * DAY)
    assert client.answer(shifted, "👍") != first


@chance(1e-9)
def test_the_moment_of_sending_lies_in_the_period_and_stays(client, make, today):
    task = make(messages=3)
    client.join(task)
    moment = client.when(task)
    assert today.moment <= moment < clock.midnight(MONDAY + DAY)
    assert {client.when(task, slot=slot) for slot in (1, 2)} != {moment}
    today.set(MONDAY, hour=22)
    assert client.when(task) == moment
    today.set(MONDAY + DAY)
    assert client.when(task) > moment
    with refused("slot"):
        client.when(task, slot=3)


@chance(5e-8)
def test_moments_of_sending_are_spread_over_what_is_left(client, make, today):
    task = make(expires=date(2030, 1, 1))
    client.join(task)
    shares = []
    for number in range(60):
        today.set(MONDAY + number * DAY, hour=6)
        left = clock.midnight(MONDAY + (number + 1) * DAY) - today.moment
        shares.append((client.when(task) - today.moment) / left)
    assert 0 <= min(shares) < 0.3
    assert 0.7 < max(shares) < 1
    assert abs(np.mean(shares) - 0.5) < 0.21


# the file


def test_a_copy_answers_alike(client, make, path, key, today):
    task = make(domain=range(200), none=False, oracle="longitudinal unary")
    client.join(task)
    shutil.copy(path, f"{path}.copy")
    copy = local.Client(f"{path}.copy", budget=20, trust=key.public)
    for number in range(3):
        today.set(MONDAY + number * DAY)
        assert copy.answer(task, number) == client.answer(task, number)
        assert copy.when(task) == client.when(task)


@chance(1e-30)
def test_a_lost_file_is_a_new_device(client, make, path, key):
    task = make(domain=range(200), none=False, oracle="longitudinal unary")
    client.join(task)
    message = client.answer(task, 3)
    path.unlink()
    with pytest.raises(DeviceError, match="cannot be opened"):
        client.answer(task, 3)
    assert not path.exists()  # and no file was made in passing
    new = local.Client(path, budget=20, trust=key.public)
    assert new.left == 20
    with refused("not been joined"):
        new.answer(task, 3)
    new.join(task)
    assert new.answer(task, 3) != message


def test_a_reopened_file_goes_on(client, make, path, key):
    task = make()
    client.join(task)
    message = client.answer(task, "🎉")
    again = local.Client(str(path), budget=20, trust=key.public.upper())
    assert again.answer(task, "👍") == message
    assert again.left == client.left
    with refused("budget is 20.0 for this device"):
        local.Client(path, budget=21, trust=key.public)
    with refused("trust must be the public key"):
        local.Client(path, budget=20, trust=local.SigningKey(b"o" * 32).public)


@pytest.mark.parametrize("budget", [0, -1, float("nan"), float("inf"), True, "8"])
def test_budgets_are_positive_numbers(path, key, budget):
    with refused("budget"):
        local.Client(path, budget=budget, trust=key.public)
    assert not path.exists()


def test_what_cannot_be_written_is_not_sent(client, make, monkeypatch):
    """A message of several kilobytes needs more pages than a full file has."""
    task = make(domain=range(60_000), none=False, oracle="longitudinal unary")
    client.join(task)
    connect = Store._connect

    def spoiled(pragma):
        def opened(self):
            file = connect(self)
            file.execute(pragma)
            return file

        return opened

    for pragma, words in (
        ("PRAGMA query_only = ON", "cannot be written"),
        ("PRAGMA max_page_count = 1", "no room on the disk"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(Store, "_connect", spoiled(pragma))
            with pytest.raises(DeviceError, match=f"nothing was sent: .* {words}"):
                client.answer(task, "🎉")
    assert client.sent() == []


def test_an_interrupted_answer_leaves_nothing(client, make, monkeypatch):
    task = make()
    client.join(task)
    with monkeypatch.context() as patch:
        patch.setattr("dither.local.client.client.in_words", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            client.answer(task, "🎉")
    assert marks(client) == []
    assert client.sent() == []


# several at once


def race(path, trust, text, number, out):
    task = local.Task.from_json(text)
    client = local.Client(path, budget=20, trust=trust)
    try:
        client.join(task)
    except BudgetExceeded:
        out.put((number, None))
    else:
        out.put((number, client.answer(task, number)))


def run_at_once(path, key, tasks):
    context = multiprocessing.get_context("fork")
    out = context.SimpleQueue()
    processes = [
        context.Process(target=race, args=(path, key.public, text, number, out))
        for number, text in enumerate(tasks)
    ]
    for one in processes:
        one.start()
    found = [out.get() for _ in processes]
    for one in processes:
        one.join()
    return dict(found)


def running(make, name="emoji", **changes):
    """A task that runs by the real clock: processes of their own have no other."""
    wide = {"domain": range(200), "none": False, "oracle": "longitudinal unary"}
    return make(
        name,
        starts=date(2020, 1, 1),
        expires=date(2100, 1, 1),
        every=366,
        **wide,
        **changes,
    )


def test_processes_send_one_message_for_one_period(path, key, make):
    text = running(make).to_json()
    found = run_at_once(path, key, [text] * 4)
    assert len(set(found.values())) == 1
    client = local.Client(path, budget=20, trust=key.public)
    assert client.left == pytest.approx(14)
    assert len(client.sent()) == 1


def crash(path, trust, text):
    """Answer, and end before the app has the message."""
    task = local.Task.from_json(text)
    local.Client(path, budget=20, trust=trust).answer(task, 1)
    os._exit(9)


def test_a_crash_after_the_answer_does_not_lead_to_a_second_one(path, key, make):
    task = running(make)
    client = local.Client(path, budget=20, trust=key.public)
    client.join(task)
    child = multiprocessing.get_context("fork").Process(
        target=crash, args=(path, key.public, task.to_json())
    )
    child.start()
    child.join()
    assert child.exitcode == 9
    (sent,) = client.sent()
    assert client.answer(task, 2) == sent.message


def test_processes_cannot_spend_twice(path, key, make):
    """20 are there; each of five tasks reserves 6."""
    tasks = [running(make, name=f"task {number}").to_json() for number in range(5)]
    found = run_at_once(path, key, tasks)
    assert sum(message is not None for message in found.values()) == 3
    client = local.Client(path, budget=20, trust=key.public)
    assert client.left == pytest.approx(2)


def test_threads_send_one_message_for_one_period(client, make):
    task = make(domain=range(200), none=False, oracle="longitudinal unary")
    client.join(task)
    found = set()
    threads = [
        threading.Thread(target=lambda i=i: found.add(client.answer(task, i)))
        for i in range(8)
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(found) == 1


# parcels


def test_a_parcel_is_the_message_with_its_id(client, make):
    task = make()
    client.join(task)
    sent = client.parcel(task, "🎉")
    (shown,) = client.sent()
    assert sent == b"\xd4\x01" + shown.id + shown.message
    assert len(shown.id) == 16
    assert client.answer(task, "👍") == shown.message
    assert client.parcel(task, None) == sent, "a retry sends the same bytes"


def test_ids_differ_by_task_period_and_slot(client, make, today):
    one, other = make(messages=2), make("other", attribute="more", distinct=1)
    client.join(one)
    client.join(other)
    for day in (MONDAY, MONDAY + timedelta(days=1)):
        today.set(day)
        for slot in (0, 1):
            client.parcel(one, "🎉", slot=slot)
        client.parcel(other, "🎉")
    ids = [sent.id for sent in client.sent()]
    assert len(set(ids)) == len(ids) == 6


def test_a_restored_device_has_the_same_ids(client, make, path, tmp_path, key):
    task = make()
    client.join(task)
    copy = tmp_path / "copy.db"
    copy.write_bytes(path.read_bytes())
    restored = local.Client(copy, budget=20, trust=key.public)
    assert restored.parcel(task, "🎉") == client.parcel(task, "🎉")


def test_the_id_is_that_of_every_client(client, make, path):
    """Clients in other languages derive the same: the vector is written out here."""
    task = make()
    client.join(task)
    with sqlite3.connect(path) as file:
        (secret,) = file.execute("SELECT secret FROM device").fetchone()
    parts = (b"message id", b"emoji", b"2027-03-01", bytes(4))
    framed = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    expected = hmac.new(secret, framed, "sha256").digest()[:16]
    assert client.parcel(task, "🎉")[2:18] == expected
    assert message_id(b"s" * 32, "emoji", MONDAY, 1).hex() == (
        hmac.new(b"s" * 32, framed[:-1] + b"\1", "sha256").digest()[:16].hex()
    )
