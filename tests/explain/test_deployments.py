"""Published ε values: what is listed, and how it is shown."""

from __future__ import annotations

import json
import xml.etree.ElementTree as Xml

import pytest

from dither import explain
from dither.errors import ArgumentError
from dither.explain.deployments import PUBLISHED
from dither.privacy import ZeroConcentratedDP


def test_every_row_says_unit_time_model_and_source() -> None:
    for one in PUBLISHED:
        assert one.model in ("central", "local")
        assert all((one.who, one.what, one.unit, one.period, one.source))
        assert one.epsilon is None or one.epsilon > 0
        assert one.numbers


def test_the_census_figures_follow_from_its_rho() -> None:
    """Read at δ = 1e-10. The ρ are published with two digits."""
    rows = [one for one in PUBLISHED if one.who == "US Census Bureau"]
    for one, rho in zip(rows, (2.56, 0.07), strict=True):
        assert f"ρ = {rho}" in one.note
        read = ZeroConcentratedDP(rho).epsilon_at(1e-10)
        assert one.epsilon == pytest.approx(read, rel=0.05)


def test_the_parts_of_the_mobility_reports_add_up() -> None:
    found = next(one for one in PUBLISHED if "Mobility" in one.what)
    assert found.epsilon == pytest.approx(1.76 + 0.44 + 0.44)


def test_one_s_own_is_placed() -> None:
    found = explain.deployments(3.0)
    below = sum(one.epsilon is not None and one.epsilon < 3 for one in PUBLISHED)
    known = sum(one.epsilon is not None for one in PUBLISHED)
    placed = f"larger than {below} of them, and no larger than {known - below}."
    assert placed in found.sentences[0]
    assert "yours: ε = 3" in found.svg()


def test_the_ends_are_placed_in_plain_words() -> None:
    assert "no larger than any of them" in explain.deployments(0.1).sentences[0]
    assert "larger than all of them" in explain.deployments(100).sentences[0]


def test_smallest_first_and_unknown_ones_last() -> None:
    order = [one["epsilon"] for one in explain.deployments().to_dict()["deployments"]]
    known = [one for one in order if one is not None]
    assert known == sorted(known)
    assert order == [*known, *[None] * (len(order) - len(known))]


def test_words_data_and_picture() -> None:
    found = explain.deployments()
    assert "not an endorsement" in found.notes[0]
    assert len(json.loads(found.to_json())["deployments"]) == len(found.rows)
    drawn = Xml.fromstring(found.svg())
    marks = [one for one in drawn.iter() if one.tag.endswith("circle")]
    assert len(marks) == sum(one.epsilon is not None for one in PUBLISHED)


def test_an_epsilon_that_is_none() -> None:
    with pytest.raises(ArgumentError, match="epsilon"):
        explain.deployments(-1)
