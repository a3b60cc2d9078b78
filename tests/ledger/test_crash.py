import pytest

from tests.ledger.crash import campaign


def test_killed_ten_times(place, tmp_path):
    outcome = campaign(place, tmp_path / "releases", kills=10)
    assert outcome.charges >= outcome.releases > 0


@pytest.mark.full
def test_killed_three_hundred_times(place, tmp_path):
    outcome = campaign(place, tmp_path / "releases", kills=300)
    assert outcome.charges >= outcome.releases > 20  # how many depends on how busy the machine is
    assert outcome.seconds < 240
