"""A dataset that is asked the same again and again."""

from __future__ import annotations

from dither.audit.attacks.repeated import repeated


def test_the_same_words_cost_once_and_others_each_time() -> None:
    found = repeated(0.5, 2, 30)
    assert (found.asked, found.answers, found.charges) == (30, 1, 1)
    assert (found.paid, found.refused) == (1, True)
    assert "the next was refused" in str(found)
    assert found.to_dict()["paid"] == 1
