import pytest

from tests.ledger.crash import campaign


def test_killed_ten_times(place, tmp_path):
    outcome = campaign(place, tmp_path / "releases", kills=10)
    assert outcome.charges >= outcome.releases >= outcome.kills  # most victims are killed after several answers


@pytest.mark.full
def test_killed_three_hundred_times(place, tmp_path):
    outcome = campaign(place, tmp_path / "releases", kills=300)
    assert outcome.charges >= outcome.releases >= outcome.kills
