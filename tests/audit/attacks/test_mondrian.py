"""The k-anonymizer keeps k alike, publishes what is true, and refuses what is
impossible.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dither import ArgumentError
from dither.audit import attacks
from dither.audit.attacks.clinic import countries, study

STUDY = study()


def anonymous(k: int) -> attacks.Anonymized:
    return attacks.anonymize(
        STUDY.people, STUDY.columns, secret="ward", k=k, hierarchies=STUDY.hierarchies
    )


@pytest.mark.parametrize("k", [2, 5, 40])
def test_every_line_looks_like_k_others(k: int) -> None:
    """Counted on the published table alone."""
    published = anonymous(k).table()
    lines = list(zip(*(published[one] for one in STUDY.columns), strict=True))
    counts = {line: lines.count(line) for line in set(lines)}
    assert min(counts.values()) >= k
    assert published["ward"] == list(STUDY.people["ward"])


def test_what_is_published_is_true() -> None:
    found = anonymous(5)
    above = countries()
    published = found.table()
    for place in range(0, found.people, 7):
        low, _, high = published["age"][place].partition(" to ")
        assert int(low) <= STUDY.people["age"][place] <= int(high or low)
        assert published["sex"][place] in ("*", STUDY.people["sex"][place])
        region = STUDY.people["region"][place]
        assert published["region"][place] in ("*", *above[region], region)
        person = {name: STUDY.people[name][place] for name in STUDY.columns}
        assert found.classes[place] in found.find(person)


def test_more_people_are_parted_further() -> None:
    sizes = [len(anonymous(k).labels) for k in (2, 5, 20, 100, 1000)]
    assert sizes == sorted(sizes, reverse=True)
    assert len(anonymous(len(STUDY.people["ward"])).labels) == 1


@pytest.mark.parametrize("diversity", [1, 2, 4, 6])
def test_classes_are_as_diverse_as_wanted(diversity: int) -> None:
    found = attacks.anonymize(
        STUDY.people,
        STUDY.columns,
        secret="ward",
        k=3,
        diversity=diversity,
        hierarchies=STUDY.hierarchies,
    )
    assert found.least_diversity >= diversity
    assert found.smallest >= 3
    assert (found.homogeneous > 0) == (diversity == 1)


def test_by_hand() -> None:
    table = {"age": [20, 21, 60, 61], "sex": ["f", "f", "m", "m"], "ill": [1, 0, 1, 1]}
    found = attacks.anonymize(table, ["age", "sex"], secret="ill", k=2)
    assert set(found.labels) == {("20 to 21", "f"), ("60 to 61", "m")}
    assert found.homogeneous == 0.5


def test_people_who_are_all_alike() -> None:
    table = {"age": [20] * 6, "sex": ["f"] * 6, "ill": [0] * 6}
    found = attacks.anonymize(table, ["age", "sex"], secret="ill", k=2)
    assert found.labels == (("20", "f"),)
    assert (found.least_diversity, found.closeness) == (1, 0)
    assert "6 people in 1 classes" in str(found)


def test_one_column_is_enough() -> None:
    table = {"age": np.arange(9), "ill": np.zeros(9)}
    found = attacks.anonymize(table, "age", secret="ill", k=3)
    assert found.smallest >= 3


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"k": 5}, "k must be at most 4, the number of people"),
        ({"k": 1}, "must be 2 or more"),
        ({"k": 0}, "k"),
        ({"k": 2.5}, "k"),
        (
            {"diversity": 3},
            "diversity must be at most 2, the number of different secrets",
        ),
        ({"diversity": 0}, "diversity"),
        ({"columns": ["age", "postcode"]}, "'postcode' is not a column"),
        ({"columns": []}, "must name 1 to 64 columns"),
        (
            {"columns": ["age", "ill"]},
            "secret must be a column that is not in columns=",
        ),
        ({"secret": "cancer"}, "'cancer' is not a column"),
        ({"secret": None}, "secret must be a column that is not in columns="),
        ({"hierarchies": {"region": {}}}, "must map columns from age, sex"),
        ({"hierarchies": 7}, "must map columns from"),
        ({"table": {"age": [], "sex": [], "ill": []}}, "has no rows"),
        ({"table": [1, 2]}, "table must be a table, not list"),
    ],
)
def test_what_is_impossible(change: dict[str, Any], problem: str) -> None:
    given: dict[str, Any] = {
        "table": {
            "age": [20, 21, 60, 61],
            "sex": ["f", "f", "m", "m"],
            "ill": [1, 0, 1, 1],
        },
        "columns": ["age", "sex"],
        "secret": "ill",
        "k": 2,
    }
    with pytest.raises(ArgumentError, match=problem):
        attacks.anonymize(**given | change)
