import pytest

from tests.ledger.crash import campaign


def test_killed_ten_times(place, tmp_path):
    outcome = campaign(place, tmp_path / "releases", kills=10)
    assert outcome.charges >= outcome.releases > 0


def test_killed_ten_times_while_files_are_handled(tmp_path):
    outcome = campaign(
        str(tmp_path / "book.db"), tmp_path / "releases", kills=12, files=True
    )
    assert outcome.charges >= outcome.releases > 0
    assert outcome.restores == 1


@pytest.mark.full
def test_killed_three_hundred_times(place, tmp_path):
    outcome = campaign(place, tmp_path / "releases", kills=300)
    assert outcome.charges >= outcome.releases > 20


@pytest.mark.full
def test_killed_two_hundred_times_while_files_are_handled(tmp_path):
    outcome = campaign(
        str(tmp_path / "book.db"), tmp_path / "releases", kills=200, files=True
    )
    assert outcome.charges >= outcome.releases > 20
    assert outcome.restores == 20
