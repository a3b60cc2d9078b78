"""A device that is asked for numbers, attributes and words."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from dither import local
from dither.errors import ArgumentError
from tests.chance import chance
from tests.local.client.conftest import KEY, MONDAY

NUMBERS = local.Numbers(0, 100)
FIELDS = {"age": range(10), "sex": ["f", "m"], "minutes": NUMBERS}
RECORD = {"age": 3, "sex": "f", "minutes": 7}


def task_of(domain, **changes):
    usual = {"epsilon": 1, "n": 1000, "starts": MONDAY, "key": KEY}
    return local.task("t", **(usual | {"domain": domain} | changes))


def device(tmp_path, name="d"):
    path = tmp_path / name
    return local.Client(path, budget=20, trust=KEY.public)


@pytest.mark.usefixtures("today")
@pytest.mark.parametrize(
    ("domain", "value"),
    [
        (NUMBERS, 12.5),
        (local.Numbers(0, 100, ask="variance"), 12.5),
        (local.Numbers(0, 100, ask="distribution"), 12.5),
        (FIELDS, RECORD),
        (local.Vocabulary("abc", 4), "abba"),
    ],
    ids=["mean", "variance", "distribution", "attributes", "words"],
)
def test_an_answer_is_a_message_of_its_task(tmp_path, domain, value):
    task = task_of(domain)
    client = device(tmp_path)
    client.join(task)
    message = client.answer(task, value)
    assert client.answer(task, None) == message
    tally = task.tally([message])
    assert (tally.messages, tally.left_out) == (1, "")
    assert client.sent()[0].message == message
    assert client.left == pytest.approx(19)


def test_a_number_that_moves_is_kept_by_its_side(tmp_path, today):
    """However often it changes, the device keeps two answers."""
    task = task_of(NUMBERS, for_ever=2, every="day")
    assert task.lifetime.epsilon == pytest.approx(6)
    client = device(tmp_path)
    client.join(task)
    for day in range(30):
        today.set(MONDAY + timedelta(days=day))
        client.answer(task, 3 * day)
    with client._change() as rows:
        marks = rows._all("SELECT mark FROM marks")
    assert len(marks) <= 2
    assert client.left == pytest.approx(14)


@chance(1e-7)
def test_one_attribute_is_answered_for_ever(tmp_path, today):
    task = task_of(FIELDS, for_ever=2, every="day", distinct=2)
    seen = set()
    for number in range(16):
        client = device(tmp_path, f"d{number}")
        client.join(task)
        parts = set()
        for day in range(2):
            today.set(MONDAY + timedelta(days=day))
            parts.add(client.answer(task, RECORD)[16])
        assert len(parts) == 1
        seen |= parts
        today.set(MONDAY)
    assert len(seen) > 1


@pytest.mark.usefixtures("today")
def test_owners_read_what_was_sent_in_words(tmp_path):
    task = task_of({"age": range(3), "sex": ["f", "m"]}, epsilon=0.1)
    for number in range(8):
        client = device(tmp_path, f"d{number}")
        client.join(task)
        client.answer(task, {"age": 1, "sex": "f"})
        said = client.sent()[0].said
        assert said.startswith("question ")
        assert "{" not in said
        assert any(
            name in said for name in ("age", "sex", "f", "m", "none", "0", "1", "2")
        )


@pytest.mark.usefixtures("today")
def test_a_mean_is_low_or_high(tmp_path):
    task = task_of(NUMBERS, epsilon=0.5)
    client = device(tmp_path)
    client.join(task)
    client.answer(task, 99)
    assert client.sent()[0].said in ("low", "high")


@chance(1e-8)
@pytest.mark.usefixtures("today")
def test_many_devices_make_the_mean(tmp_path):
    task = task_of(NUMBERS, epsilon=8, minimum=2)
    messages = []
    for number in range(60):
        client = device(tmp_path, f"d{number}")
        client.join(task)
        messages.append(client.answer(task, 40 if number % 2 else 60))
    found = task.tally(messages).estimate()
    low, high = found.interval(1 - 1e-8)
    assert low <= 50 <= high


@pytest.mark.usefixtures("today")
def test_a_version_with_one_part_more_is_asked_for_again(tmp_path):
    """Its part is drawn anew, so that two parts may be told: both are paid for."""
    usual = {"for_ever": 2, "every": "day", "distinct": 2}
    first = task_of(FIELDS, **usual)
    more = task_of(FIELDS | {"plan": ["free", "paid"]}, **usual)
    second = replace(more, version=2, signature=b"").sign(KEY)
    client = device(tmp_path)
    client.join(first)
    client.answer(first, RECORD)
    with pytest.raises(ArgumentError, match="more than the owner of the device agreed"):
        client.update(second)
    client.join(second)
    assert client.left == pytest.approx(20 - 2 * 6)


@chance(2e-8)
@pytest.mark.usefixtures("today")
def test_copies_that_hold_other_values_tell_each(tmp_path):
    """The page on devices says so: a copy does not know what the other has told."""
    task = task_of(["a", "b"], epsilon=19)
    client = device(tmp_path)
    client.join(task)
    (tmp_path / "copy").write_bytes((tmp_path / "d").read_bytes())
    again, other = (device(tmp_path, name) for name in ("copy", "d"))
    told = {again.answer(task, "a"), other.answer(task, "b")}
    assert len(told) == 2


@pytest.mark.usefixtures("today")
def test_a_new_version_does_not_ask_about_what_another_task_asks(tmp_path):
    """Its memo is paid for; but the owner agreed to messages about it once a week."""
    usual = {"for_ever": 2, "n": 1000, "epsilon": 1, "starts": MONDAY, "key": KEY}
    pay, page = NUMBERS, ["a", "b"]
    weekly = local.task("w", domain=pay, attribute="pay", every="week", **usual)
    daily = local.task("d", domain=page, attribute="page", every="day", **usual)
    about_pay = {"attribute": "pay", "domain": pay, "distinct": 2}
    turned = replace(daily, version=2, oracle=weekly.oracle, **about_pay)
    client = device(tmp_path)
    client.join(weekly)
    client.join(daily)
    left = client.left
    with pytest.raises(ArgumentError, match="more than the owner of the device agreed"):
        client.update(turned.sign(KEY))
    client.join(turned.sign(KEY))
    assert client.left == left


@pytest.mark.usefixtures("today")
def test_a_new_version_tells_no_more_values_because_another_task_does(tmp_path):
    usual = {"domain": ["a", "b", "c"], "attribute": "page", "every": "day", "n": 1000}
    usual |= {"for_ever": 2, "epsilon": 1, "starts": MONDAY, "key": KEY}
    many, one = (
        local.task(name, distinct=distinct, **usual)
        for name, distinct in (("many", 3), ("one", 1))
    )
    client = device(tmp_path)
    client.join(many)
    client.join(one)
    with pytest.raises(ArgumentError, match="more than the owner of the device agreed"):
        client.update(one.changed(distinct=2).sign(KEY))
