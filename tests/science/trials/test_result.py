"""What a test returns."""

import json

import numpy as np
import pytest

from dither.errors import ArgumentError
from dither.privacy import PureDP, Unit
from dither.release import Release, Source
from dither.science.trials import TrialRelease

SOURCE = Source(PureDP(1.0, unit=Unit("patient", "replace")))


class Ends:
    def __init__(self, low, high):
        self.low, self.high = low, high

    def ends(self, confidence):  # noqa: ARG002
        return self.low, self.high


def released(value=3.0, ends=(0.2, np.inf)):
    return TrialRelease(
        "U",
        value,
        (SOURCE,),
        Ends(2.0, 4.0),
        pvalue=0.03,
        population=Ends(*ends),
        estimand="superiority",
    )


def test_it_reads_like_scipys():
    found = released()
    assert (found.statistic, found.pvalue, found.alternative) == (
        3.0,
        0.03,
        "two-sided",
    )
    assert found.confidence_interval(confidence_level=0.9) == (0.2, np.inf)
    assert found.confidence_interval().low == 0.2
    assert found.interval() == (2.0, 4.0)


def test_it_says_what_it_stands_on():
    lines = str(released()).splitlines()
    assert lines[0] == "U: 3 (95 % interval 2 to 4)"
    assert lines[1] == "superiority in the population: 0.2 to inf (95 % interval)"
    assert lines[2] == "p = 0.03 (two-sided)"
    assert lines[-1] == "note: assumes one record for each patient"


def test_it_is_written_with_its_pvalue():
    frame = released().to_pandas()
    assert frame.pvalue.tolist() == [0.03]
    assert frame.population_high.tolist() == [np.inf]
    told = json.loads(released().to_json())["test"]
    assert told["pvalue"] == 0.03
    assert told["confidence_interval"] == [0.2, None]
    many = released(np.array([1.0, 2.0]), (np.zeros(2), np.array([1.0, np.nan])))
    told = json.loads(many.to_json())["test"]
    assert told["confidence_interval"] == [[0.0, 0.0], [1.0, None]]


def test_what_is_derived_has_no_pvalue():
    twice = released() * 2
    assert type(twice) is Release
    assert twice.interval() == (4.0, 8.0)


@pytest.mark.parametrize("level", [0, 1, 1.2, -1, np.nan, "x", None])
def test_a_rate_lies_between_0_and_1(level):
    with pytest.raises(ArgumentError, match="confidence_level"):
        released().confidence_interval(level)


def test_a_result_without_population_says_so():
    found = TrialRelease("U", 3.0, (SOURCE,))
    with pytest.raises(ArgumentError, match="for U; read its statistic and pvalue"):
        found.confidence_interval()
    found = TrialRelease("U", 3.0, (SOURCE,), Ends(2.0, 4.0))
    with pytest.raises(ArgumentError, match="value of these people"):
        found.confidence_interval()
