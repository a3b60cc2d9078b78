"""Attacks on genotypes succeed on exact data, and on releases find no more than the
guarantee allows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dither import ArgumentError, Release
from dither.audit import attacks
from dither.science import genomes
from tests.chance import chance
from tests.science.genomes.cohort import frequency, names

PEOPLE, VARIANTS = 300, 3000


def pool() -> tuple[Any, Any, Any]:
    """People of one population, who of them is in the study by a coin each, and the
    population's frequencies.
    """
    source = np.random.default_rng(11)
    background = source.uniform(0.1, 0.9, VARIANTS)
    table = source.binomial(2, background, (PEOPLE, VARIANTS)).astype(np.int8)
    return table, source.random(PEOPLE) < 0.5, background


TABLE, INSIDE, BACKGROUND = pool()
MEMBERS, OUTSIDERS = TABLE[INSIDE], TABLE[~INSIDE]


def released(**cost: float) -> Any:
    """Frequencies of the whole roster, with the genotypes of outsiders missing: then
    members and outsiders differ by what the guarantee is about.
    """
    table = np.where(INSIDE[:, None], TABLE, np.int8(-1))
    return genomes.frequencies(
        table, panel=names(VARIANTS), samples=PEOPLE, coarse=True, **cost
    )


def test_exact_frequencies_tell_who_is_in_the_study() -> None:
    found = attacks.membership(
        frequency(MEMBERS), MEMBERS, OUTSIDERS, reference=BACKGROUND
    )
    assert found.area > 0.99
    assert found.roc.rate(0.05) > 0.95
    assert found.bound is None


@chance(1e-8)
@pytest.mark.parametrize("cost", [{"rho": 0.005}, {"rho": 0.5}, {"epsilon": 1.0}])
def test_releases_tell_no_more_than_the_guarantee_allows(
    cost: dict[str, float],
) -> None:
    """The published values, and both ends of the intervals beside them.

    The area lies six standard errors above the bound with probability 1e-9.
    """
    found = released(**cost)
    low, high = found.interval()
    for published in (found, low, high):
        attack = attacks.membership(published, MEMBERS, OUTSIDERS, reference=BACKGROUND)
        bound = attacks.Roc(MEMBERS, OUTSIDERS, found.guarantee).bound
        assert bound is not None
        assert attack.area <= bound + 6 * attack.roc.standard_error


@chance(1e-12)
def test_a_release_without_much_noise_is_attacked_like_exact_frequencies() -> None:
    """So the attack does not fail because it is a weak one."""
    found = attacks.membership(
        released(rho=1e6), MEMBERS, OUTSIDERS, reference=BACKGROUND
    )
    assert found.area > 0.99


def test_a_handful_of_markers_finds_a_person_in_a_table() -> None:
    found = attacks.markers(MEMBERS, MEMBERS, OUTSIDERS)
    shares = dict(zip(found.counts, found.matched, strict=True))
    assert shares[2] < 0.1
    assert shares[16] > 0.95
    assert found.areas[-1] == 1
    assert found.mistaken[-1] == 0
    assert "members matched" in str(found)


@chance(1e-8)
def test_markers_find_nobody_in_a_release() -> None:
    """The area lies six standard errors above the bound with probability 1e-9; one of
    150 records that are made up agrees with a member in 64 markers with 1e-15.
    """
    published = released(rho=0.005)
    found = attacks.markers(published, MEMBERS, OUTSIDERS, counts=(4, 16, 64))
    assert found.bound is not None
    for roc in found.rocs:
        assert roc.area <= found.bound + 6 * roc.standard_error
    assert found.matched[-1] == found.mistaken[-1] == 0


def test_missing_calls_count_for_nothing() -> None:
    gone = np.full_like(MEMBERS, -1)
    found = attacks.membership(BACKGROUND, gone, gone, reference=BACKGROUND)
    assert found.area == 0.5


def test_pictures_and_words() -> None:
    published = released(rho=0.5)
    found = attacks.membership(published, MEMBERS, OUTSIDERS, reference=BACKGROUND)
    assert "allowed" in found.plot().svg()
    assert "The guarantee allows" in str(found)
    exact = attacks.membership(BACKGROUND, MEMBERS, OUTSIDERS, reference=BACKGROUND)
    assert "allowed" not in exact.plot().svg()
    assert (
        "markers known" in attacks.markers(published, MEMBERS, OUTSIDERS).plot().svg()
    )


@pytest.mark.parametrize(
    ("change", "argument"),
    [
        ({"published": BACKGROUND[:5]}, "reference"),
        ({"published": 2 * BACKGROUND}, "published"),
        ({"members": MEMBERS[:, :4]}, "members"),
        ({"outsiders": MEMBERS[0]}, "outsiders"),
        ({"reference": [np.nan]}, "reference"),
    ],
)
def test_bad_questions(change: dict[str, Any], argument: str) -> None:
    plain: dict[str, Any] = {
        "published": BACKGROUND,
        "members": MEMBERS,
        "outsiders": OUTSIDERS,
        "reference": BACKGROUND,
    }
    with pytest.raises(ArgumentError) as refused:
        attacks.membership(**{**plain, **change})
    assert refused.value.argument == argument


@pytest.mark.parametrize("counts", [[], [0], [VARIANTS + 1]])
def test_counts_of_markers_are_checked(counts: list[int]) -> None:
    with pytest.raises(ArgumentError, match="counts"):
        attacks.markers(BACKGROUND, MEMBERS, OUTSIDERS, counts=counts)


def test_frequencies_of_several_clusters_are_attacked_one_by_one() -> None:
    found: Release = released(rho=0.5)
    with pytest.raises(ArgumentError, match="published"):
        attacks.markers(found.value[:7], MEMBERS, OUTSIDERS)
