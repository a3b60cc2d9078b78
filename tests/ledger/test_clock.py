"""Times are texts that sort like the times they say."""

from dither.ledger import clock


def test_times_sort_like_texts():
    first = clock.now()
    second = clock.now()
    assert first <= second
    assert len(first) == len("2024-01-01T00:00:00.000000+00:00")


def test_later_and_earlier():
    then = "2024-02-28T23:59:59.500000+00:00"
    assert clock.after(then, 1) == "2024-02-29T00:00:00.500000+00:00"
    assert clock.after(clock.after(then, 7.25), -7.25) == then


def test_charges_of_one_second_share_a_deadline():
    early, late = "2024-01-01T00:00:00.000001+00:00", "2024-01-01T00:00:00.999999+00:00"
    deadline = clock.deadline(early, 60)
    assert deadline == clock.deadline(late, 60) == "2024-01-01T00:01:01.000000+00:00"
    assert deadline >= clock.after(late, 60)
