"""How diverse the secrets of classes are, against the definitions."""

from __future__ import annotations

import math
import xml.etree.ElementTree as Xml

import numpy as np
import pytest

from dither.audit import attacks

TABLE = {
    "age": [20, 21, 22, 23, 60, 61, 62, 63],
    "ill": ["flu", "flu", "cold", "cold", "flu", "flu", "flu", "none"],
    "pay": [1, 1, 2, 2, 3, 3, 4, 4],
}


def test_diversity_by_hand() -> None:
    found = attacks.anonymize(TABLE, ["age"], secret="ill", k=4)
    assert sorted(found.diversity.tolist()) == [2, 2]
    parts = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))
    assert sorted(found.entropy) == pytest.approx(sorted([2, math.exp(parts)]))
    # All: flu 5/8, cold 2/8, none 1/8. The classes: 1/2, 1/2, 0 and 3/4, 0, 1/4.
    assert sorted(found.distances) == pytest.approx([0.25, 0.25])
    assert found.closeness == pytest.approx(0.25)


def test_closeness_of_numbers_minds_their_order() -> None:
    """The classes have 1, 2 and 3, 4: half moves by two places of three."""
    found = attacks.anonymize(TABLE, ["age"], secret="pay", k=4)
    assert found.secrets == (1, 2, 3, 4)
    assert found.closeness == pytest.approx((0.25 + 0.5 + 0.25) / 3)


def test_even_secrets_have_their_number_as_entropy() -> None:
    table = {"age": [1] * 6, "ill": ["a", "b", "c"] * 2}
    found = attacks.anonymize(table, ["age"], secret="ill", k=2)
    assert found.least_entropy == pytest.approx(3)
    assert found.homogeneous == 0
    assert np.array_equal(found.counts, [[2, 2, 2]])


def test_a_secret_that_is_no_number_or_nothing() -> None:
    table = {"age": [1, 1, 2, 2], "pay": [math.nan, 1.0, math.inf, math.nan]}
    found = attacks.anonymize(table, ["age"], secret="pay", k=2)
    assert not found.ordered
    assert len(found.secrets) == 3


def test_words_and_a_picture() -> None:
    found = attacks.anonymize(TABLE, ["age"], secret="ill", k=4)
    assert (
        "8 people in 2 classes of 4 to 4 with the same quasi-identifiers (4-anonymous)."
        in str(found)
    )
    assert "Distinct l-diversity 2" in str(found)
    Xml.fromstring(found.plot().svg())
