"""What every attack returns."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from dither.audit import attacks
from tests.audit.attacks.support import shown_well
from tests.chance import chance


@chance(1e-9)
def test_words_numbers_and_a_picture(tmp_path: Path) -> None:
    found = attacks.differencing(tries=500)
    shown_well(found)
    assert found.heading == ("attack on", "right", "± at 95 %", "guessing", "allowed")
    found.save(tmp_path / "attack.svg")
    assert (tmp_path / "attack.svg").read_text(encoding="utf-8") == found.svg()
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.epsilon = 2.0  # type: ignore[misc]


@chance(1e-9)
def test_a_broken_promise_is_seen() -> None:
    found = attacks.differencing(tries=500)
    assert found.kept
    broken = dataclasses.replace(found.found[-1], right=500.0)
    changed = dataclasses.replace(found, found=(*found.found[:-1], broken))
    assert not changed.kept
    assert "the guarantee looks broken" in changed.notes[0]


@chance(1e-9)
def test_a_rate_a_little_above_its_bound_is_explained() -> None:
    found = attacks.differencing(tries=500)
    bound = found.found[-1].bound or 0.0
    high = dataclasses.replace(found.found[-1], right=500 * bound + 10)
    changed = dataclasses.replace(found, found=(*found.found[:-1], high))
    assert changed.kept
    assert "1.0 standard errors above what the guarantee allows" in changed.notes[0]
    assert "chance explains" in changed.notes[0]
    assert changed.notes[-1].startswith("Not stopped")
