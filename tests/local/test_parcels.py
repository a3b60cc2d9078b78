"""A parcel is an id and what it stands for."""

import pytest

from dither import local
from dither.errors import ArgumentError
from dither.local.parcels import ID, PARCEL, START, parcel


@pytest.fixture(scope="module")
def messages():
    return local.task("t", domain=4, epsilon=1, n=1000).randomize([0, 1, 2])


def test_a_batch_gets_a_random_id(messages):
    one, other = parcel(messages), local.parcel(messages)
    assert one[:2] == other[:2] == bytes([PARCEL, 1])
    assert one[2:START] != other[2:START]
    assert len(one[2:START]) == ID == 16
    assert one[START:] == other[START:] == messages.to_bytes()


def test_an_id_can_be_given(messages):
    assert parcel(messages, b"i" * 16)[2:START] == b"i" * 16
    single = next(iter(messages))
    assert parcel(single, b"i" * 16) == b"\xd4\x01" + b"i" * 16 + single


@pytest.mark.parametrize("wrong", [b"short", "i" * 16, b"i" * 17])
def test_an_id_has_sixteen_bytes(messages, wrong):
    with pytest.raises(ArgumentError, match="16 bytes"):
        parcel(messages, wrong)


def test_a_device_has_its_own_ids(messages):
    with pytest.raises(ArgumentError, match=r"Sent\.id"):
        parcel(next(iter(messages)))


@pytest.mark.parametrize("other", [b"", b"\xd3", "text", None, 3])
def test_only_messages_are_sent(other):
    with pytest.raises(ArgumentError, match="must be the bytes of a message"):
        parcel(other, b"i" * 16)
