"""Types, public keys and ranges."""

from __future__ import annotations

import math

from dither.query.catalogue.types import ANY, Keys, Range, Type


def test_numbers_are_integers_and_reals() -> None:
    assert [type_ for type_ in Type if type_.numeric] == [Type.INTEGER, Type.REAL]


def test_ranges() -> None:
    assert (Range(-3, 2).bounded, Range(-3, 2).largest) == (True, 3)
    assert (Range(0).bounded, Range(0).largest) == (False, math.inf)
    assert Range(None, None) == ANY


def test_keys_are_equal_where_their_values_are() -> None:
    one, same, other = Keys(("a", None)), Keys(("a", None)), Keys(("b", None))
    assert one == same
    assert one == ("a", None)
    assert one != other
    assert (hash(one), one.digest) == (hash(same), same.digest)
    assert one.digest != other.digest


def test_keys_that_utf8_cannot_hold_have_a_digest() -> None:
    assert len(Keys(("\ud800",)).digest) == 32
