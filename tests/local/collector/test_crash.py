"""An acknowledged message is counted once, whatever is killed."""

import pytest

from tests.local.collector.crash import campaign


def test_killed_four_times(place):
    found = campaign(place, kills=4)
    assert found.counted >= found.acknowledged > 0


@pytest.mark.full
@pytest.mark.parametrize("processes", [1, 2])
def test_killed_fifty_times(place, processes):
    found = campaign(place, kills=50 // processes, processes=processes)
    assert found.counted >= found.acknowledged > 100
    assert found.sent >= found.counted
