"""Guarantees are the same after they were written to a book and read again."""

import json

import pytest

from dither.errors import LedgerError
from dither.ledger.wire import from_json, to_json
from dither.privacy import Guarantee, PureDP, Unit
from tests.ledger.support import EVERY_KIND

PATIENTS = PureDP(0.1, unit=Unit("patient", "replace"))


@pytest.mark.parametrize("guarantee", [*EVERY_KIND, PATIENTS], ids=str)
def test_every_kind_survives(guarantee):
    assert from_json(json.loads(json.dumps(to_json(guarantee)))) == guarantee


def test_an_unknown_kind_is_not_written():
    class Odd(PureDP):
        pass

    assert isinstance(Odd(0.1), Guarantee)
    with pytest.raises(LedgerError, match="kind Odd cannot be charged"):
        to_json(Odd(0.1))
